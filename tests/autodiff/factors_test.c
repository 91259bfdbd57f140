/* Factors of low rank in place of a weight, and gradients summed over batches: by hand on small numbers. */
/* ctest: fast */
#include "graph/ir/rule.h"
#include "tests/autodiff/rows.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const node *input(graph *g, const char *name, int64_t rows, int64_t columns)
{
    return g_input(g, name, &(type){.dtype = TS_F64, .rank = 2, .dim = {rows, columns}}, NULL);
}

/* At the start b is zeros: the value is that of w alone, b has a gradient, a has none. */
static void test_lora(void)
{
    graph *g = ts_graph_make();
    row r = {.g = g, .n = 4, .fixed = {NAN, NAN, NAN, 0}};
    ts_update f[2];
    const node *x = r.in[0] = input(g, "x", 5, 4), *w = r.in[1] = input(g, "w", 4, 6), *grad[2], *merged, *put;
    const node *y = g_call2(g, "matmul", x, w);
    CHECK((merged = ts_lora(g, w, 2, 16, f)) != NULL);
    CHECK(type_equal(&merged->type, &w->type) && f[0].from->type.dim[1] == 2 && f[1].from->type.dim[0] == 2);
    CHECK_TEXT(f[0].from->label, "w.lora_a");
    CHECK(f[0].start->leaf && f[0].start->leaf->scale == 0.5);
    CHECK(ts_replace(g, 1, &y, 1, &w, &merged, &put));
    r.in[2] = f[0].from, r.in[3] = f[1].from;
    const node *loss = g_call1(g, "sum", put), *both[2] = {f[0].from, f[1].from};
    CHECK(ts_chain_rule(g, 1, &loss, NULL, 2, both, grad));
    values v = values_make(&r, -1, 1, 9);
    ts_array a[4] = {{0}};
    const node *ask[] = {y, put, grad[0], grad[1]};
    double off = 0, size[2] = {0};
    for (int i = 0; i < 4; i++)
        CHECK(values_of(&v, ask[i], &a[i], NULL));
    for (int64_t i = 0; i < ts_array_count(&a[0]); i++)
        off = fmax(off, fabs(ts_array_at(&a[0], i) - ts_array_at(&a[1], i)));
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < ts_array_count(&a[2 + k]); i++)
            size[k] = fmax(size[k], fabs(ts_array_at(&a[2 + k], i)));
    CHECK(off < 1e-12 && size[0] == 0 && size[1] > 0.1);
    for (int i = 0; i < 4; i++)
        ts_array_free(&a[i]);
    CHECK(!ts_lora(g, w, 5, 1, f));
    CHECK_TEXT(g->err.text, "w: factors of rank 5 need a real matrix that is at least as large");
    values_free(&v), ts_graph_free(g);
}

static double work(int n, const node *const *root, int64_t largest, int *large)
{
    const int count = g_reach(n, root, NULL);
    const node **all = calloc((size_t)count, sizeof *all);
    double flops = 0;
    MUST(all);
    g_reach(n, root, all);
    *large = 0;
    for (int i = 0; i < count; i++)
        if (!node_is_leaf(all[i]))
            flops += node_flops(all[i]), *large += node_flops(all[i]) > 0 && type_count(&all[i]->type) >= largest;
    return free(all), flops;
}

/* Two layers, of which one has its weight transposed, with factors beside them: the same values and gradients as with
 * the sums in place of the weights, and nothing of a weight's size is computed. */
static void test_beside(void)
{
    enum { ROWS = 12, WIDTH = 32, RANK = 2 };
    graph *g = ts_graph_make();
    const node *x = input(g, "x", ROWS, WIDTH), *w[2] = {input(g, "v", WIDTH, WIDTH), input(g, "w", WIDTH, WIDTH)};
    const node *y = g_call1(g, "tanh", g_call2(g, "matmul", x, w[0])), *loss[2], *factor[4], *grad[2][4], *merged[2];
    y = g_call1(g, "sum", g_call1(g, "tanh", g_call2(g, "matmul", y, g_call1(g, "transpose", w[1]))));
    ts_factors of[2];
    for (int i = 0; i < 2; i++) {
        ts_update f[2];
        merged[i] = ts_lora(g, w[i], RANK, 6, f);
        of[i] = (ts_factors){w[i], f[0].from, f[1].from, merged[i], 3};
        factor[2 * i] = f[0].from, factor[2 * i + 1] = f[1].from;
    }
    CHECK(ts_replace(g, 1, &y, 2, w, merged, &loss[0]) && ts_lora_apply(g, 1, &y, 2, of, &loss[1]));
    row r = {.g = g, .n = 7, .in = {x, w[0], w[1], factor[0], factor[1], factor[2], factor[3]}};
    for (int i = 0; i < r.n; i++)
        r.fixed[i] = NAN;
    values v = values_make(&r, -0.3, 0.3, 9);
    for (int i = 0; i < 2; i++)
        CHECK(ts_chain_rule(g, 1, &loss[i], NULL, 4, factor, grad[i]));
    for (int i = 0; i < 4; i++) {
        ts_array a, b;
        CHECK(values_of(&v, grad[0][i], &a, NULL) && values_of(&v, grad[1][i], &b, NULL));
        for (int64_t k = 0; k < ts_array_count(&a); k++)
            CHECK(fabs(ts_array_at(&a, k) - ts_array_at(&b, k)) < 1e-12);
        ts_array_free(&a), ts_array_free(&b);
    }
    int large[2];
    const double summed = work(4, grad[0], WIDTH * WIDTH, &large[0]),
                 beside = work(4, grad[1], WIDTH * WIDTH, &large[1]);
    /* x w and y w' forward, one product back through w: all else is of rank 2. Sums: two products more, for dw */
    const double product = 2.0 * ROWS * WIDTH * WIDTH;
    if (!CHECK(large[0] > 4 && large[1] == 0))
        printf("  %d, %d large, %g and %g of %g\n", large[0], large[1], summed, beside, product);
    CHECK(summed > 5 * product && beside < 4.5 * product);
    /* read element by element: the sum stands for the weight */
    const node *square = g_call1(g, "square", w[0]), *put;
    CHECK(ts_lora_apply(g, 1, &square, 1, of, &put) && put->in[0] == merged[0]);
    values_free(&v), ts_graph_free(g);
}

/* Two halves of a batch give the gradient of the whole. */
static void test_accumulate(void)
{
    graph *g = ts_graph_make();
    row r = {.g = g, .n = 3, .fixed = {NAN, NAN, NAN}};
    const node *x = r.in[0] = input(g, "x", 3, 2), *grad = g_call1(g, "square", x), *mean;
    ts_update u;
    CHECK(ts_accumulate(g, 1, &grad, 2, &u, &mean));
    r.in[1] = u.from, r.n = 2;
    values v = values_make(&r, -1, 1, 9);
    ts_array got[2], sum;
    CHECK(values_of(&v, u.to, &got[0], NULL) && values_of(&v, mean, &got[1], NULL) &&
          values_of(&v, u.start, &sum, NULL));
    for (int i = 0; i < 6; i++) {
        const double a = ts_array_at(&v.of[x->id], i), b = ts_array_at(&v.of[u.from->id], i);
        CHECK(fabs(ts_array_at(&got[0], i) - (b + a * a)) < 1e-12);
        CHECK(fabs(ts_array_at(&got[1], i) - (b + a * a) / 2) < 1e-12);
        CHECK(ts_array_at(&sum, i) == 0);
    }
    ts_array_free(&got[0]), ts_array_free(&got[1]), ts_array_free(&sum);
    CHECK(!ts_accumulate(g, 1, &grad, 0, &u, &mean));
    values_free(&v), ts_graph_free(g);
}

int main(void)
{
    test_lora();
    test_beside();
    test_accumulate();
    return check_done();
}
