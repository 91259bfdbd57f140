/* What the interpreter keeps: a value until its last reader has run, a result until it is asked for. Twice, as values
 * come back in the next run. */
#include "tests/check.h"

#include "tessera.h"

#include <stdio.h>
#include <sys/resource.h>

enum { N = 1 << 20, STEPS = 24 };

static double peak_mib(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)r.ru_maxrss / 1024;
}

#ifdef __SANITIZE_ADDRESS__
enum { KEEPS_FREED = 1 };
#else
enum { KEEPS_FREED = 0 };
#endif

/* A chain, one value of which is a result too and read again at the end. */
static void test_chain(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 1, (int64_t[]){N}), y = x, middle = NULL;
    for (int i = 0; i < STEPS; i++) {
        y = ts_call1(g, i % 2 ? "negative" : "abs", y);
        middle = i == 4 ? y : middle;
    }
    const ts_tensor out[] = {ts_call2(g, "subtract", y, middle), middle};
    ts_plan *p = ts_plan_of(g, 2, out, 0, NULL, &(ts_options){.target = "interp", .threads = 1}, &e);
    ts_array in = {0}, got[2] = {{0}};
    CHECK(p && ts_array_make(&in, TS_F32, 1, (int64_t[]){N}, &e));
    for (int run = 1; p && run <= 2; run++) {
        ((float *)in.data)[N - 1] = (float)run;
        CHECK(ts_plan_set(p, 0, &in, &e));
        const double before = peak_mib();
        CHECK(ts_plan_run(p, &e) && ts_plan_get(p, 0, &got[0], &e) && ts_plan_get(p, 1, &got[1], &e));
        CHECK(ts_array_at(&got[0], N - 1) == -2 * run && ts_array_at(&got[1], N - 1) == run);
        const double grown = peak_mib() - before, each = N * 4.0 / (1 << 20);
        if (!CHECK(KEEPS_FREED || grown < 8 * each))
            printf("  run %d: %.0f MiB more, a value is %.0f MiB\n", run, grown, each);
        ts_array_free(&got[0]), ts_array_free(&got[1]);
    }
    ts_array_free(&in);
    ts_plan_free(p);
    ts_graph_free(g);
}

int main(void)
{
    test_chain();
    return check_done();
}
