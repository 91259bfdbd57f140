/* Loops that kernels could have: each is legal, is what a rule makes of it, and has the time that was said; drawn ones
 * are the same again by the same seed. And what is predicted, against counting by hand. */
/* ctest: fast */
#include "schedule/explain/explain.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char asked[24]; /* of the kernel that was asked for last */

static cJSON *nests_for(const planned *b, int k, int most, uint64_t seed)
{
    ENDED_BY(text_free) text t = {0};
    plan_nests(b->p, &b->p->kernel[k], most, seed, &t);
    snprintf(asked, sizeof asked, "%s", b->p->kernel[k].op);
    return cJSON_Parse(text_str(&t));
}

static cJSON *nests_of(maker *make, const char *set, int most, uint64_t seed)
{
    planned b;
    cJSON *list = make_plan(&b, &(setting){make, two_cores, set, NULL, 2}) ? nests_for(&b, 0, most, seed) : NULL;
    free_plan(&b);
    return list;
}

static prediction predicted(maker *make, const char *set, const char *of, const char *loops)
{
    char rule[600];
    planned b;
    prediction f = {0};
    snprintf(rule, sizeof rule, "{\"match\":{\"op\":\"%s\"},\"loops\":\"%s\"}", of, loops);
    if (make_plan(&b, &(setting){make, two_cores, set, rule, 2}))
        f = kernel_predict(b.p, &b.p->kernel[0], NULL, NULL);
    free_plan(&b);
    return f;
}

/* Each is taken by a rule, as it stands, and no two are alike; so many at least. Beside written loops the guess may
 * give a kernel's other stages others than it had. */
static void all_legal(maker *make, const char *set, int most, uint64_t seed, int least)
{
    cJSON *list = nests_of(make, set, most, seed);
    double before = 0;
    const cJSON *one, *other;
    CHECK(cJSON_GetArraySize(list) >= least && cJSON_GetArraySize(list) <= most);
    cJSON_ArrayForEach(one, list)
    {
        const char *loops = cJSON_GetStringValue(cJSON_GetObjectItem(one, "loops"));
        const double ns = cJSON_GetNumberValue(cJSON_GetObjectItem(one, "predicted_ns"));
        const prediction f = predicted(make, set, asked, loops);
        const double off = fabs(f.seconds * 1e9 / ns - 1);
        if (!CHECK(off <= (strchr(loops, ';') ? 0.1 : 1e-2)) || !CHECK(seed || ns >= before))
            printf("  %s: %g ns, planned %g ns, after %g\n", loops, ns, f.seconds * 1e9, before);
        cJSON_ArrayForEach(other, list) if (other != one)
            CHECK(strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(other, "loops")), loops) != 0);
        before = ns;
    }
    cJSON_Delete(list);
}

/* Of Strassen's kernels, whose joined pieces alternate by rows and by vectors: what is looked for is not predicted to
 * take much longer than the guess's loops. */
static void as_quick(const char *set)
{
    planned b;
    CHECK(make_plan(&b, &(setting){product, two_cores, set, "{\"match\":{},\"alternative\":true}", 2}));
    for (int i = 0; b.p && i < b.p->n_kernel; i++) {
        const double guess = kernel_predict(b.p, &b.p->kernel[i], NULL, NULL).seconds * 1e9;
        cJSON *list = nests_for(&b, i, 1, 0);
        const double best = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 0), "predicted_ns"));
        if (!CHECK(best < 1.2 * guess))
            printf("  %s %s: %g ns, the guess %g\n", set, asked, best, guess);
        cJSON_Delete(list);
    }
    free_plan(&b);
}

static void drawn_alike(void)
{
    cJSON *a = nests_of(product, "avx2", 20, 7), *b = nests_of(product, "avx2", 20, 7),
          *c = nests_of(product, "avx2", 20, 8);
    CHECK(cJSON_Compare(a, b, true) && !cJSON_Compare(a, c, true));
    cJSON_Delete(a), cJSON_Delete(b), cJSON_Delete(c);
}

/* small_product: m=24 n=36 k=40. 6 rows of 2 vectors of 8: 4 x 3 tiles, the last column of which is 4 of 16 wide. */
static void by_hand(void)
{
    planned b;
    if (make_plan(
            &b, &(setting){small_product, two_cores, "avx2", "{\"loops\":\"m/6@core n/16 k m@unroll n@vector\"}", 2})) {
        const costs *c = &b.on.cost;
        const double steps = 24.0 * 48 * 40 / 8 * (40.0 / 48), clock = c->cycles_per_second; /* 5 vectors of 6 */
        const double least = steps / c->fma_per_cycle / 2 / clock,
                     got = kernel_predict(b.p, b.p->kernel, NULL, NULL).seconds - c->start_seconds;
        if (!CHECK(got > least && got < 3 * least))
            printf("  %g s, multiplying alone %g s\n", got, least);
    }
    free_plan(&b);
    /* half vectors take half the time on some machines */
    if (make_plan(&b, &(setting){product, two_cores, "avx512",
                                 "{\"loops\":\"n/24@core m/8 k m@unroll n/8@unroll n@vector\"}", 1})) {
        const double alike = kernel_predict(b.p, b.p->kernel, NULL, NULL).seconds;
        b.on.halves = 1;
        CHECK(kernel_predict(b.p, b.p->kernel, NULL, NULL).seconds < 0.9 * alike);
    }
    free_plan(&b);
    /* what should cost something does: no vectors, sums that are no registers, one worker, a copy for each trip */
    static const char *const order[][2] = {{"m/6@core n/16 k m@unroll n@vector", "m/6@core n k m@unroll"},
                                           {"m/6@core n/16 k m@unroll n@vector", "m/5@core n/24 k m@unroll n@vector"},
                                           {"m/6@core n/16 k m@unroll n@vector", "m/6 n/16 k m@unroll n@vector"},
                                           {"m/6@core n/16 k m@unroll n@vector", "m/6@core n/16+b k m@unroll n@vector"},
                                           {"m/6@core n/16 k m@unroll n@vector", "m@core n/8 k n@vector"}};
    for (int i = 0; i < COUNT(order); i++)
        if (!CHECK(predicted(small_product, "avx2", "matmul", order[i][0]).seconds <
                   predicted(small_product, "avx2", "matmul", order[i][1]).seconds))
            printf("  %s is not predicted to be slower\n", order[i][1]);
    /* a panel's tiles under a cut fold read neighbours as vectors, not one by one */
    CHECK(predicted(product, "avx512", "matmul", "n/128@core k/256 n/32 m/8 k m@unroll n@vector").seconds <
          1.5 * predicted(product, "avx512", "matmul", "n/32@core m/8 k m@unroll n@vector").seconds);
    /* elements that vectors are gathered of for eight columns together are read once */
    const double four = predicted(strided, "avx2", "conv2d", "n@core oc/4 oh ic kh kw oc@unroll ow@vector").seconds,
                 one = predicted(strided, "avx2", "conv2d", "n@core oc oh ic kh kw ow@vector").seconds;
    if (!CHECK(four > 0 && four < 0.6 * one))
        printf("  four channels %g s, one %g s\n", four, one);
    CHECK_TEXT(predicted(product, "avx512", "matmul", "n/32@core m/14 k m@unroll n@vector").bound, "multiplying");
    CHECK_TEXT(predicted(product, "avx512", "matmul", "n/128@core m k n@vector").bound, "L2");
}

/* What was several times as slow, whatever the machine, is predicted to be: times of a product of 96 rows on a Xeon. */
static void by_far(void)
{
    static const struct {
        const char *quick, *slow;
        double least;                                                               /* as slow as that */
    } pairs[] = {{"n/16@core m/6 k/4 k@unroll m@unroll n@vector", "m@core n k", 4}, /* textbook loops */
                 {"n/8@core m/8 k m@unroll n@vector", "n/8@core m k n@vector", 2},  /* sums that wait: 3 to 5 */
                 {"m@core n/64 k n@vector", "m@core n/64+b k n@vector", 3},         /* copies each row: 10 */
                 {"n/16@core m/6 k m@unroll n@vector", "m@core k/256 n/128 n/32+b k n@vector", 8}, /* the same: 40 */
                 {"n/16@core m/6 k m@unroll n@vector", "n/16 m/6 k m@unroll n@vector", 1.7}}; /* one worker of two */
    static const char *const sets[] = {"avx2", "avx512"};
    for (int i = 0; i < COUNT(pairs) * COUNT(sets); i++) {
        const char *set = sets[i % COUNT(sets)], *quick = pairs[i / COUNT(sets)].quick,
                   *slow = pairs[i / COUNT(sets)].slow;
        const double times = predicted(product, set, "matmul", slow).seconds /
                             predicted(product, set, "matmul", quick).seconds;
        if (!CHECK(times >= pairs[i / COUNT(sets)].least))
            printf("  %s: %s is predicted to take %g times as long as %s\n", set, slow, times, quick);
    }
}

int main(void)
{
    by_hand();
    by_far();
    as_quick("avx2");
    as_quick("avx512");
    drawn_alike();
    all_legal(product, "avx512", 40, 0, 40);
    all_legal(product, "avx2", 40, 1, 40);
    all_legal(convolution, "avx2", 30, 0, 10);
    all_legal(strided, "avx512", 30, 3, 10);
    all_legal(normalized, "avx2", 10, 2, 2);
    all_legal(attention, "avx512", 20, 0, 5);
    return check_done();
}
