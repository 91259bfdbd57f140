/* cost_test.c - what a kernel cannot avoid to read and write: each value once, however many of its parts it loads. */
/* ctest: fast */
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>

static const node *half(graph *g, const node *x, int from)
{
    char call[64];
    snprintf(call, sizeof call, "slice starts=[%d,0] sizes=[32,48]", from);
    return ts_call(g, call, 1, &x);
}

static const node *halves(graph *g) /* of halves of x that overlap, and w, which is read twice */
{
    const node *x = ts_input(g, "x", TS_F32, 2, (const int64_t[]){64, 48}),
               *w = ts_input(g, "w", TS_F32, 2, (const int64_t[]){32, 48}), *a = half(g, x, 0), *b = half(g, x, 32);
    b = ts_call2(g, "add", b, half(g, x, 16));
    return ts_call2(g, "add", ts_call2(g, "add", a, b), ts_call2(g, "add", ts_call2(g, "multiply", a, w), w));
}

int main(void)
{
    planned b;
    if (make_plan(&b, &(setting){halves, two_cores, "avx2", NULL, 1})) {
        CHECK(b.p->n_kernel == 1);
        CHECK(b.p->kernel[0].bytes == 4 * (64 * 48 + 2 * 32 * 48)); /* x, w, the result */
    }
    free_plan(&b);
    return check_done();
}
