/* Factors against arithmetic by hand: they multiply to the estimate, whatever the order, and each is what it should be
 * where the others are alike. */
/* ctest: fast */
#include "bench/report/factors.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const kernel good = {.flops = 2e9,
                            .calls = 1,
                            .ns = 10e6,
                            .traffic = {1e6, 1e6, 1e6},
                            .dtype = "f32",
                            .tile = {8, 8, 12, 8, 12, 0.5, 2}};

static report machine(void)
{
    report r = {.best = -1};
    r.environment = cJSON_Parse("{\"threads\":2}");
    r.ceilings = cJSON_Parse("{\"fma_f32_gflops\":200,\"l2_gbs\":200,\"l3_gbs\":100,\"read_gbs\":40}");
    return r;
}

static void done(report *r)
{
    cJSON_Delete((cJSON *)r->environment), cJSON_Delete((cJSON *)r->ceilings);
}

static bool about(double got, double want)
{
    const bool ok = fabs(got - want) <= 1e-9 * want;
    if (!ok)
        printf("got %.12g, want %.12g\n", got, want);
    return ok;
}

/* Only property i differs: all of the estimate is its. */
static void only(const kernel *slow, property i, double want)
{
    report r = machine();
    const factors f = factors_of(&r, slow, &good);
    for (int k = 0; k < N_PROPERTIES; k++)
        CHECK(about(f.of[k], k == (int)i ? want : 1));
    CHECK(about(f.estimated, want));
    done(&r);
}

static void test_one_by_one(void)
{
    kernel k = good;
    k.tile.lanes = 1;
    only(&k, VECTORS, 8);
    k = good, k.tile.sums = 2;
    only(&k, SUMS, 4); /* eight are wanted */
    k = good, k.tile.loads = 3;
    only(&k, LOADS, 3); /* against one slot for the multiply-add itself */
    k = good, k.tile.multiply_adds = 1;
    only(&k, UNROLLING, 1.75); /* a multiply-add, half a load, two for the loop, two at a time */
    k = good, k.waste = 0.25;
    only(&k, EDGES, 1.25);
    k = good, k.tile.cores = 1;
    only(&k, CORES, 2);
    k = good, k.traffic[1] = 5e9; /* 50 ms from L3, where arithmetic takes 10 */
    only(&k, TRAFFIC, 5);
}

static void test_together(void)
{
    report r = machine();
    kernel k = good;
    k.tile = (tile){1, 8, 1, 8, 1, 2, 2};
    k.ns = 640e6;
    factors f = factors_of(&r, &k, &good);
    double product = 1;
    for (int i = 0; i < N_PROPERTIES; i++)
        product *= f.of[i];
    CHECK(about(product, f.estimated) && about(f.estimated, 64) && about(f.measured, 64)); /* 8 lanes, 8 sums */
    CHECK(about(f.of[VECTORS], 8) && f.of[SUMS] > 3 && f.of[LOADS] > 1.1);
    /* both at the speed of memory: nothing of the arithmetic matters */
    kernel fast = good;
    k.traffic[2] = fast.traffic[2] = 1e12;
    f = factors_of(&r, &k, &fast);
    for (int i = 0; i < N_PROPERTIES; i++)
        CHECK(about(f.of[i], 1));
    /* what a plan does not say is not made up */
    k.tile.lanes = (double)NAN;
    CHECK(isnan(factors_of(&r, &k, &good).estimated));
    done(&r);
}

int main(void)
{
    test_one_by_one();
    test_together();
    return check_done();
}
