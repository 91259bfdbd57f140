/* The innermost loops as numbers, of the statements that are printed, against counting by hand. */
/* ctest: fast */
#include "backends/c/explain.h"
#include "schedule/explain/explain.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>

static void loops_say(maker *make, const char *loops, const char *want)
{
    char rule[200];
    snprintf(rule, sizeof rule, "{\"match\":{\"op\":[\"matmul\",\"softmax\"]},\"loops\":\"%s\"}", loops);
    planned b;
    if (!make_plan(&b, &(setting){make, two_cores, "avx2", rule, 2}))
        return;
    text got = {0};
    op_counts n;
    CHECK(c_count(b.p, &b.p->kernel[0], &n, NULL));
    tile_explain(&got, b.p, &b.p->kernel[0], &n);
    if (!CHECK_TEXT(text_str(&got), want))
        printf("  %s\n", loops);
    text_free(&got);
    free_plan(&b);
}

int main(void)
{
    /* one sum in order: scalar; two operands for each product */
    loops_say(
        small_product, "m@core n k",
        "\"tile\":{\"cores\":2,\"lanes\":1,\"lanes_of\":8,\"sums\":1,\"sums_of\":8,\"multiply_adds\":1,\"loads\":2}");
    /* 4 rows and 2 vectors: 8 sums; for each step of k 4 elements of a and 2 vectors of b; of 36 columns 4 are left
     * over, where one vector comes with as many elements of a: (6 + 6 + 5) / (8 + 8 + 4) */
    loops_say(
        small_product, "m/4@core n/16 k m@unroll n@vector",
        "\"tile\":{\"cores\":2,\"lanes\":8,\"lanes_of\":8,\"sums\":8,\"sums_of\":8,\"multiply_adds\":8,\"loads\":0."
        "85}");
    /* the same with four steps of k written out: four times of each */
    loops_say(
        small_product, "m/4 n/16 k/4 k@unroll m@unroll n@vector",
        "\"tile\":{\"cores\":1,\"lanes\":8,\"lanes_of\":8,\"sums\":8,\"sums_of\":8,\"multiply_adds\":32,\"loads\":"
        "0.85}");
    /* sums wait in the result while k goes by outside: fetched for every product, as b is, and a, since nothing says
     * that it stays */
    loops_say(
        small_product, "m k n",
        "\"tile\":{\"cores\":1,\"lanes\":1,\"lanes_of\":8,\"sums\":1,\"sums_of\":8,\"multiply_adds\":1,\"loads\":3}");
    /* a block of k: 8 sums fetched and put back every 10 steps of 8 multiply-adds */
    loops_say(
        small_product, "k/10 m/4 n/16 k m@unroll n@vector",
        "\"tile\":{\"cores\":1,\"lanes\":8,\"lanes_of\":8,\"sums\":8,\"sums_of\":8,\"multiply_adds\":8,\"loads\":0."
        "95}");
    /* one row: a vector of sums for each load of b */
    loops_say(
        small_product, "n/8 m k n@vector",
        "\"tile\":{\"cores\":1,\"lanes\":8,\"lanes_of\":8,\"sums\":1,\"sums_of\":8,\"multiply_adds\":1,\"loads\":2}");
    return check_done();
}
