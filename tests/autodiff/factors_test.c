/* Factors of low rank in place of a weight, and gradients summed over batches: by hand on small numbers. */
#include "graph/rule.h"
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
    test_accumulate();
    return check_done();
}
