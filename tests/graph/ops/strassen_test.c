/* ctest: large
 * Products in fewer products: the same integers, and only where that is fewer. */
#include "tests/check.h"
#include "tests/graph/ops/way.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* Of x [batch, m, k] and w, neither of which is known: what a layer computes ('y'), its gradient for x ('a'), and, w
 * having x's rows, that for its weights ('b') */
static const node *changing(graph *g, const shape *s, char way)
{
    const type x = {.dtype = TS_F32, .rank = 3, .dim = {s->batch, s->m, s->k}}, matrix = {TS_F32, 2, {s->k, s->n}},
               turned = {TS_F32, 2, {s->n, s->k}}, rows = {TS_F32, 3, {s->batch, s->m, s->n}};
    const node *a = g_input(g, "x", &x, NULL), *b = g_input(g, "w",
                                                            way == 'y'   ? &matrix
                                                            : way == 'a' ? &turned
                                                                         : &rows,
                                                            NULL);
    if (way == 'b') {
        a = g_call1(g, "transpose", g_callf(g, 1, &a, "reshape shape=[%d,%d]", (int)(s->batch * s->m), (int)s->k));
        b = g_callf(g, 1, &b, "reshape shape=[%d,%d]", (int)(s->batch * s->m), (int)s->n);
    }
    return g_call2(g, "matmul", a, way == 'a' ? g_call1(g, "transpose", b) : b);
}

static void changes(const shape *s, char way, const char *target, int threads)
{
    graph *g = ts_graph_make();
    way_is_same(g, changing(g, s, way), target, threads);
    ts_graph_free(g);
}

static void is_same(const shape *s, const char *target, int threads)
{
    graph *g = ts_graph_make();
    way_is_same(g, product(g, s, true), target, threads);
    ts_graph_free(g);
}

static void is_none(const shape *s, bool known)
{
    graph *g = ts_graph_make();
    way_is_none(product(g, s, known));
    ts_graph_free(g);
}

static void changes_none(const shape *s, char way)
{
    graph *g = ts_graph_make();
    way_is_none(changing(g, s, way));
    ts_graph_free(g);
}

static void apart_is_none(void) /* neighbours in a row of the left matrix lie apart */
{
    const type x = {TS_F32, 3, {1, 1200, 1280}}, w = {TS_F32, 2, {1200, 1280}};
    graph *g = ts_graph_make();
    const node *a = g_input(g, "x", &x, NULL);
    way_is_none(g_call2(g, "matmul", g_callf(g, 1, &a, "transpose axes=[0,2,1]"), g_input(g, "w", &w, NULL)));
    ts_graph_free(g);
}

/* What a file may say of the sums: extents as large as numbers are, roles that there are not. */
static void is_refused(const char *call, const char *why)
{
    graph *g = ts_graph_make();
    err e = {0};
    g_call1(g, call, g_input(g, "x", &(type){TS_F32, 3, {7, 2, 16}}, NULL));
    if (!CHECK(!ts_graph_ok(g, &e) && strstr(e.text, why)))
        printf("  %s\n", e.text);
    ts_graph_free(g);
}

/* An activation of 24 meets a weight of 8 where others are of 1 and 0.05: what is rounded off there stays there. */
static void keeps_digits(void)
{
    enum { M = 64, K = 1024, N = 768, ROW = 0, AT = 8, COLUMN = 99 };
    const type x = {TS_F32, 2, {M, K}}, w = {TS_F32, 2, {K, N}};
    graph *g = ts_graph_make();
    float *b = arena_array(&g->mem, K * N, sizeof *b);
    ts_given a = {.name = "x"};
    ts_array y = {0};
    ts_error e = {0};
    double worst = 0;
    if (!CHECK(ts_array_make(&a.value, TS_F32, 2, x.dim, &e)))
        return;
    float *v = a.value.data;
    for (int i = 0; i < M * K; i++)
        v[i] = (float)sin(i * 0.7 + i % 17);
    for (int i = 0; i < K * N; i++)
        b[i] = 0.07F * (float)sin(i * 1.3 + i % 23);
    v[ROW * K + AT] = 24, b[AT * N + COLUMN] = 7.91F;
    const node *product = g_call2(g, "matmul", g_input(g, "x", &x, NULL), g_weight(g, "w", &w, b)),
               *other = product->op->alternative(g, product);
    const ts_options o = {.target = "c", .threads = 1};
    if (!CHECK(other && ts_eval(1, &other, 1, &a, &o, &y, &e)))
        printf("  %s\n", e.text);
    for (int m = 0; y.data && m < M; m++)
        for (int n = 0; n < N; n++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)v[m * K + k] * b[k * N + n];
            const double off = fabs(sum - ((float *)y.data)[m * N + n]);
            if ((m != ROW || n != COLUMN) && off > worst)
                worst = off;
        }
    if (!CHECK(worst < 8e-6))
        printf("  off by %g\n", worst);
    ts_array_free(&a.value), ts_array_free(&y), ts_graph_free(g);
}

int main(void)
{
    static const shape gaining[] = {{1, 64, 768, 1024, false, false},
                                    {2, 129, 1000, 2001, false, false}, /* odd rows, columns that do not fill a run */
                                    {1, 129, 1026, 2047, true, false},
                                    {3, 40, 1024, 1024, true, false},
                                    {1, 80, 1024, 768, false, true}},
                       others[] = {{1, 24, 1024, 1024, false, false}, /* few rows: bound by the weights */
                                   {1, 128, 256, 256, false, false},
                                   {1, 128, 769, 768, false, false}};
    for (size_t i = 0; i < sizeof gaining / sizeof *gaining; i++) {
        is_same(&gaining[i], "c", 1 + (int)i % 3);
        if (i < 1)
            is_same(&gaining[i], "interp", 1);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_none(&others[i], true);
    is_none(&gaining[0], false); /* a weight that is not known is summed in every run */
    static const shape back = {3, 401, 1279, 1210, false, false},
                       step = {3, 401, 1210, 1279, false, false}; /* rows and columns that do not fill pairs and runs */
    changes(&step, 'y', "c", 1);
    changes(&back, 'a', "c", 2);
    changes(&step, 'b', "c", 2);
    changes_none(&(shape){1, 1200, 1201, 1280, false, false}, 'y'); /* halves of an odd axis */
    changes_none(&(shape){1, 1200, 1201, 1280, false, false}, 'b');
    changes_none(&(shape){1, 1200, 1280, 1201, false, false}, 'a');
    changes_none(&(shape){1, 256, 768, 3072, false, false}, 'y');
    apart_is_none();
    is_refused("strassen_sums role=y extents=[4,9223372036854775807]", "does not take blocks of 2 x 16");
    is_refused("strassen_sums role=y extents=[9223372036854775807,32]", "does not take blocks of 2 x 16");
    is_refused("strassen_sums role=b extents=[3,32]", "does not take blocks of 2 x 16");
    is_refused("strassen_sums role=z extents=[4,32]", "role=z: a, b and y are known");
    is_refused("strassen_blocks role=ab", "role=ab: a, b and y are known");
    keeps_digits();
    return check_done();
}
