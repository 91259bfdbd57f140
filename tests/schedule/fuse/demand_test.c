/* demand_test.c - what nobody reads is not computed: of each kernel the extents that are left. Numbers are compared in
 * tests/backends/exact_test. */
/* ctest: fast */
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <string.h>

static const node *input(graph *g, int64_t rows, int64_t columns)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {rows, columns}};
    return g_input(g, "x", &t, NULL);
}

static const node *times(graph *g, const node *x, const char *label, int64_t a, int64_t b)
{
    return g_call2(g, "matmul", x, ts_weight(g, label, TS_F32, 2, (const int64_t[]){a, b}, 0, 1, 1));
}

static const node *last_row(graph *g) /* two products, of which the last row goes into a third */
{
    const node *y = g_call1(g, "relu", times(g, input(g, 100, 40), "v", 40, 48));
    y = g_call1(g, "slice starts=[99,0] sizes=[1,50] steps=[1,1]", times(g, y, "w", 48, 50));
    return times(g, y, "u", 50, 30);
}

static const node *two_parts(graph *g) /* rows 10...19 and 40...44: what lies between is computed, too */
{
    const node *y = times(g, input(g, 100, 40), "w", 40, 48);
    return g_call2(g, "concat axis=0",
                   times(g, g_call1(g, "slice starts=[10,0] sizes=[10,48] steps=[1,1]", y), "u", 48, 8),
                   times(g, g_call1(g, "slice starts=[44,0] sizes=[5,48] steps=[-1,1]", y), "v", 48, 8));
}

static const node *most_rows(graph *g) /* little would be left out */
{
    return times(g,
                 g_call1(g, "slice starts=[0,0] sizes=[80,48] steps=[1,1]", times(g, input(g, 100, 40), "w", 40, 48)),
                 "u", 48, 8);
}

static const node *columns(graph *g) /* along which the weights lie */
{
    return times(g,
                 g_call1(g, "slice starts=[0,0] sizes=[100,8] steps=[1,1]", times(g, input(g, 100, 40), "w", 40, 48)),
                 "u", 8, 8);
}

static const node *places(graph *g) /* rows given by a constant; those of an input may be any */
{
    const node *at = g_ints(g, 2, (const int64_t[]){7, 9});
    return times(g, g_call2(g, "gather axis=0", times(g, input(g, 100, 40), "w", 40, 48), at), "u", 48, 8);
}

static void extents(maker *make, const char *want) /* of the kernels' stages, axis by axis */
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){make, two_cores, "avx512", NULL, 1}))
        for (int k = 0; k < b.p->n_kernel; k++)
            for (int i = 0; i < b.p->kernel[k].n_stage; i++) {
                const stage *s = &b.p->kernel[k].stage[i];
                text_add(&t, "%s%s", t.length ? "; " : "", s->name);
                for (int a = 0; a < s->n_axis; a++)
                    text_add(&t, " %s=%lld", s->letter[a], (long long)s->extent[a]);
            }
    CHECK_TEXT(text_str(&t), want);
    text_free(&t);
    free_plan(&b);
}

static void check_note(void)
{
    planned b;
    if (make_plan(&b, &(setting){two_parts, two_cores, "avx512", NULL, 1}))
        CHECK(strstr(b.p->kernel[0].notes, "matmul: of dimension 0 of its result 35 of 100 are read, from 10 on; the "
                                           "others are not computed\n"));
    free_plan(&b);
}

int main(void)
{
    extents(last_row, "matmul n=48 k=40; matmul n=50 k=48; matmul n=30 k=50");
    extents(two_parts, "matmul m=35 n=48 k=40; matmul m=5 n=8 k=48; matmul m=10 n=8 k=48; concat r=15 c=8");
    extents(most_rows, "matmul m=100 n=48 k=40; matmul m=80 n=8 k=48");
    extents(columns, "matmul m=100 n=48 k=40; matmul m=100 n=8 k=8");
    extents(places, "matmul m=3 n=48 k=40; matmul m=2 n=8 k=48");
    check_note();
    return check_done();
}
