/* Mixed precision: which values become halves, and what they cost in digits, forwards and in gradients, on every
 * target. Tests of graph/ see no autodiff; this one goes through the public interface.
 * ctest: Og */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N_WEIGHT = 8, MOST = 512 };
static const struct {
    const char *name;
    int rank;
    int64_t dim[4];
    double mean, spread;
} weights[N_WEIGHT] = {{"filter", 4, {16, 4, 3, 3}, 0, 0.4}, {"q", 2, {16, 16}, 0, 0.4},  {"k", 2, {16, 16}, 0, 0.4},
                       {"v", 2, {16, 16}, 0, 0.4},           {"scale", 1, {16}, 1, 0.1},  {"up", 2, {16, 32}, 0, 0.4},
                       {"offset", 1, {32}, 0, 0.1},          {"down", 2, {32, 5}, 0, 0.4}};

typedef struct net {
    graph *g;
    ts_tensor w[N_WEIGHT], x, soft, norm, loss, grad[N_WEIGHT];
} net;

/* A convolution of x[2, 4, 5, 5], whose pixels attend to each other; a residual, a norm, a layer, a loss. */
static void make(net *n)
{
    graph *g = n->g = ts_graph_make();
    for (int i = 0; i < N_WEIGHT; i++)
        n->w[i] = ts_weight(g, weights[i].name, TS_F32, weights[i].rank, weights[i].dim, weights[i].mean,
                            weights[i].spread, (uint64_t)i);
    n->x = ts_input(g, "x", TS_F32, 4, (int64_t[]){2, 4, 5, 5});
    const ts_tensor image = ts_call2(g, "conv2d pads=[1,1,1,1]", n->x, n->w[0]),
                    rows = ts_call1(g, "transpose axes=[0,2,1]", ts_call1(g, "reshape shape=[2,16,25]", image)),
                    q = ts_call2(g, "matmul", rows, n->w[1]), k = ts_call2(g, "matmul", rows, n->w[2]),
                    v = ts_call2(g, "matmul", rows, n->w[3]),
                    scores = ts_call2(g, "matmul", q, ts_call1(g, "transpose axes=[0,2,1]", k));
    n->soft = ts_call1(g, "softmax axis=-1", ts_call2(g, "multiply", scores, ts_scalar(g, TS_F32, 0.25)));
    n->norm = ts_call2(g, "layer_norm axis=-1", ts_call2(g, "add", rows, ts_call2(g, "matmul", n->soft, v)), n->w[4]);
    const ts_tensor up = ts_call2(g, "add", ts_call2(g, "matmul", n->norm, n->w[5]), n->w[6]),
                    y = ts_call2(g, "matmul", ts_call1(g, "gelu", up), n->w[7]);
    n->loss = ts_call1(g, "mean", ts_call1(g, "logsumexp axes=[-1]", y));
}

static bool narrow(net *n, dtype to)
{
    bool ok = to == TS_F32 || ts_mixed_precision(n->g, 1, &n->loss, to, &n->loss);
    ok = ok && ts_chain_rule(n->g, 1, &n->loss, NULL, N_WEIGHT, n->w, n->grad);
    if (!CHECK(ok && ts_graph_ok(n->g, NULL)))
        printf("%s\n", n->g->err.text);
    return ok;
}

/* The loss, then all gradients if wanted, as numbers in a row. */
static int values(const net *n, const char *target, bool all, double *out)
{
    ts_given x = {.name = "x"};
    ts_tensor t[N_WEIGHT + 1] = {n->loss};
    ts_array y[N_WEIGHT + 1] = {{0}};
    ts_error e = {0};
    int count = 0;
    const int n_t = all ? N_WEIGHT + 1 : 1;
    memcpy(t + 1, n->grad, sizeof n->grad);
    bool ok = ts_array_make(&x.value, TS_F32, 4, ts_shape(n->x), &e);
    ts_array_random(&x.value, 9, 0);
    ok = ok && ts_eval(n_t, t, 1, &x, &(ts_options){.target = target, .threads = 1}, y, &e);
    if (!CHECK(ok))
        printf("%s: %s\n", target, e.text);
    for (int i = 0; ok && i < n_t; i++)
        for (int64_t k = 0; k < ts_array_count(&y[i]) && count < 4096; k++)
            out[count++] = ts_array_at(&y[i], k);
    for (int i = 0; ok && i < n_t; i++)
        ts_array_free(&y[i]);
    ts_array_free(&x.value);
    return count;
}

static double distance(int n, const double *a, const double *b) /* of all gradients, against the size of a */
{
    double away = 0, size = 0;
    for (int i = 1; i < n; i++)
        away += (a[i] - b[i]) * (a[i] - b[i]), size += a[i] * a[i];
    return sqrt(away / size);
}

static int count(const node *root, const char *op_name, dtype d)
{
    const node *all[MOST];
    int found = 0;
    const int n = g_reach(1, &root, NULL);
    MUST(n <= MOST);
    g_reach(1, &root, all);
    for (int i = 0; i < n; i++)
        found += !strcmp(all[i]->op->name, op_name) && all[i]->type.dtype == d;
    return found;
}

/* Products are halves, what recipes do inside is not, and their results on the way to products are. */
static void test_what(dtype to)
{
    net n;
    make(&n);
    const int groups = n.g->n_group;
    CHECK(ts_mixed_precision(n.g, 1, &n.loss, to, &n.loss) && n.loss->type.dtype == TS_F32);
    CHECK(count(n.loss, "matmul", to) == 7 && count(n.loss, "matmul", TS_F32) == 0);
    CHECK(count(n.loss, "conv2d", to) == 1 && count(n.loss, "conv2d", TS_F32) == 0);
    CHECK(count(n.loss, "exp", TS_F32) == 2 && count(n.loss, "exp", to) == 0);
    CHECK(count(n.loss, "transpose", to) == 2 && count(n.loss, "transpose", TS_F32) == 0);
    /* casts: 6 matrices and the filter, x, and results: scaled scores, softmax, residual, norm, bias, gelu */
    CHECK(count(n.loss, "cast", to) <= 14);
    int soft = 0;
    for (int i = groups; i < n.g->n_group; i++)
        soft += !strcmp(n.g->group[i].op->name, "softmax") && n.g->group[i].result->type.dtype == TS_F32;
    CHECK(soft == 1);
    ts_graph_free(n.g);
}

/* unit: half a step between halves near 1. Units of f16 take long to compile, so the loss alone is of them. */
static void test_digits(dtype to, double unit, bool gradients_in_c)
{
    static double exact[4096], got[4096];
    net n;
    make(&n);
    narrow(&n, TS_F32);
    const int all = values(&n, "interp", true, exact);
    ts_graph_free(n.g);
    make(&n);
    narrow(&n, to);
    for (int in_c = 0; in_c < 2; in_c++) {
        const int want = in_c && !gradients_in_c ? 1 : all;
        const int is = values(&n, in_c ? "c" : "interp", want > 1, got);
        const double far = want > 1 ? distance(all, exact, got) : unit, off = fabs(got[0] / exact[0] - 1);
        if (!CHECK(is == want && all > 1000 && off < unit && far < 4 * unit && far > unit / 64))
            printf("%s, %d: %d values, loss %g off, gradients %g; unit %g\n", ts_dtype_name(to), in_c, is, off, far,
                   unit);
    }
    ts_graph_free(n.g);
}

static void test_refusals(void)
{
    net n;
    make(&n);
    CHECK(!ts_mixed_precision(n.g, 1, &n.loss, TS_F64, &n.loss));
    ts_error e = {0};
    ts_graph_ok(n.g, &e);
    CHECK_TEXT(e.text, "products are narrowed to f16 or bf16, not f64");
    ts_graph_free(n.g);
}

int main(void)
{
    test_what(TS_BF16);
    test_what(TS_F16);
    test_digits(TS_BF16, 0x1p-8, true);
    test_digits(TS_F16, 0x1p-11, false);
    test_refusals();
    return check_done();
}
