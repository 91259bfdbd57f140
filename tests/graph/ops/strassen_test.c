/* A product with a matrix that is known, in fewer products: the same integers, and only where that is fewer. */
#include "graph/strassen.h"
#include "tests/check.h"

#include <stdio.h>

typedef struct shape {
    int64_t batch, m, k, n;
    bool turned, constant; /* the weight is a transpose; a constant */
} shape;

static const node *product(graph *g, const shape *s, bool known)
{
    const type x = {.dtype = TS_F32, .rank = 3, .dim = {s->batch, s->m, s->k}},
               w = {.dtype = TS_F32, .rank = 2, .dim = {s->turned ? s->n : s->k, s->turned ? s->k : s->n}};
    float *data = arena_array(&g->mem, (size_t)type_count(&w), sizeof *data);
    for (int64_t i = 0; i < type_count(&w); i++)
        data[i] = (float)(i * 7 % 11 - 5);
    const node *weight = s->constant ? g_const(g, "w", &w, data)
                         : known     ? g_weight(g, "w", &w, data)
                                     : g_input(g, "w", &w, NULL);
    return g_call2(g, "matmul", g_input(g, "x", &x, NULL), s->turned ? g_call1(g, "transpose", weight) : weight);
}

static void same_values(const shape *s, const char *target, int threads)
{
    graph *g = ts_graph_make();
    const node *plain = product(g, s, true), *root[] = {plain, plain ? strassen_matmul(g, plain) : NULL};
    const ts_options o = {.target = target, .threads = threads}, interp = {.target = "interp"};
    ts_array x = {0}, got[2] = {0};
    ts_error e = {0};
    if (CHECK(root[1] && type_equal(&root[0]->type, &root[1]->type)) &&
        CHECK(ts_array_make(&x, TS_F32, 3, plain->in[0]->type.dim, &e))) {
        for (int64_t i = 0; i < ts_array_count(&x); i++)
            ((float *)x.data)[i] = (float)(i * 5 % 13 - 6);
        if (!CHECK(ts_eval(1, root, 1, &(ts_given){"x", x}, &interp, got, &e) &&
                   ts_eval(1, root + 1, 1, &(ts_given){"x", x}, &o, got + 1, &e)))
            printf("  %s\n", e.text);
        for (int64_t i = 0; got[1].data && i < ts_array_count(&got[0]); i++)
            if (!CHECK(ts_array_at(&got[0], i) == ts_array_at(&got[1], i)))
                break;
    }
    ts_array_free(&x), ts_array_free(&got[0]), ts_array_free(&got[1]);
    ts_graph_free(g);
}

static void left_alone(const shape *s, bool known)
{
    graph *g = ts_graph_make();
    const node *plain = product(g, s, known);
    CHECK(plain && !strassen_matmul(g, plain));
    ts_graph_free(g);
}

int main(void)
{
    static const shape gaining[] = {{1, 64, 768, 1024, false, false},
                                    {2, 129, 1000, 2001, false, false}, /* odd rows, columns that do not fill a run */
                                    {1, 129, 1026, 2047, true, false},
                                    {3, 40, 1024, 1024, true, false},
                                    {1, 80, 1024, 768, false, true}},
                       others[] = {{1, 63, 1024, 1024, false, false}, /* few rows: bound by the weights */
                                   {1, 128, 384, 1536, false, false},
                                   {1, 128, 769, 768, false, false}};
    for (size_t i = 0; i < sizeof gaining / sizeof *gaining; i++) {
        same_values(&gaining[i], "c", 1 + (int)i % 3);
        if (i < 1)
            same_values(&gaining[i], "interp", 1);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        left_alone(&others[i], true);
    left_alone(&gaining[0], false); /* a weight that is not known would be turned in every run */
    return check_done();
}
