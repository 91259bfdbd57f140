/* Derivatives and batches composed: a Hessian times a vector by tangents of gradients, gradients of tangents and a
 * Jacobian; tangents of tangents against differences; and each of them over a batch against one after another. */
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 6, BATCH = 3, MOST = N * N };
typedef ts_tensor function(ts_graph *g, ts_tensor x);
static double at[BATCH * N], along[BATCH * N];

static ts_tensor rows(ts_graph *g, ts_tensor x)
{
    return ts_call1(g, "reshape shape=[2,3]", x);
}

/* ---- functions of six numbers ---- */
static ts_tensor softmax(ts_graph *g, ts_tensor x)
{
    return ts_call1(g, "softmax axis=0", x);
}

static ts_tensor product(ts_graph *g, ts_tensor x)
{
    const ts_tensor m = rows(g, x);
    return ts_call3(g, "einsum equation=ij,kj,il->kl", m, m, m);
}

static ts_tensor conv(ts_graph *g, ts_tensor x)
{
    const ts_tensor taps = ts_call1(g, "slice starts=[0] sizes=[3]", x);
    return ts_call2(g, "conv pads=[1,1]", ts_call1(g, "reshape shape=[1,1,6]", x),
                    ts_call1(g, "reshape shape=[1,1,3]", taps));
}

static ts_tensor places(ts_graph *g, int rank)
{
    int64_t place[] = {3, 0, 5, 3, 1, 1};
    return ts_constant(g, NULL, &(ts_array){TS_I64, rank, {6, 1}, place});
}

static ts_tensor gather(ts_graph *g, ts_tensor x)
{
    return ts_call1(g, "square", ts_call2(g, "gather axis=0", x, places(g, 1)));
}

static ts_tensor scatter(ts_graph *g, ts_tensor x)
{
    return ts_call1(g, "square", ts_call3(g, "scatter_nd reduce=add", x, places(g, 2), ts_call1(g, "sin", x)));
}

static ts_tensor scan(ts_graph *g, ts_tensor x) /* h = tanh(h x[i] + x[i]) */
{
    ts_scan *s = ts_scan_begin(g, N);
    const ts_tensor h = ts_scan_state(s, ts_scalar(g, TS_F64, 0.3)), r = ts_scan_slice(s, x, false);
    const ts_tensor next = ts_call1(g, "formula text=tanh(a)", ts_call2(g, "formula text=a*b+b", h, r));
    ts_tensor out[2] = {NULL, NULL};
    ts_scan_step(s, h, next), ts_scan_gather(s, next, false), ts_scan_end(s, out);
    return out[1];
}

static ts_tensor fold(ts_graph *g, ts_tensor x) /* log of the sum of exponentials, online */
{
    return ts_call1(g,
                    "fold dims=[2] folds=[3] start=\"-inf,0\" step=\"max(s0,a[i0,i1]), "
                    "s1*exp(s0-max(s0,a[i0,i1]))+exp(a[i0,i1]-max(s0,a[i0,i1]))\" text=\"s0+log(s1)\"",
                    rows(g, x));
}

static ts_tensor own(ts_graph *g, ts_tensor x)
{
    ts_function(g, "w(x)", "let t = x; while (t > 0.01, 5) t = t*t*0.5; x < 0 ? x*x : t + sin(x)", NULL);
    return ts_call1(g, "formula text=\"a * w(a)\"", x);
}

static ts_tensor products(ts_graph *g, ts_tensor x)
{
    return ts_call1(g, "cumprod axis=0", x);
}

static ts_tensor sorted(ts_graph *g, ts_tensor x)
{
    return ts_call2(g, "multiply", ts_call1(g, "sort axis=0", x), x);
}

static ts_tensor attention(ts_graph *g, ts_tensor x)
{
    const ts_tensor q = ts_call1(g, "reshape shape=[1,1,3,2]", x);
    return ts_call3(g, "attention", q, q, q);
}

static ts_tensor determinant(ts_graph *g, ts_tensor x)
{
    return ts_call1(g, "det", ts_call2(g, "matmul", rows(g, x), ts_call1(g, "transpose", rows(g, x))));
}

static const struct {
    const char *name;
    function *f;
} functions[] = {{"softmax", softmax},  {"einsum", product}, {"conv", conv},           {"gather", gather},
                 {"scatter", scatter},  {"scan", scan},      {"fold", fold},           {"function", own},
                 {"cumprod", products}, {"sort", sorted},    {"attention", attention}, {"determinant", determinant}};

/* ---- what is composed, of x and a direction v ---- */
typedef ts_tensor composed(ts_graph *g, function *f, ts_tensor x, ts_tensor v);
static ts_tensor flat(ts_graph *g, ts_tensor y)
{
    return ts_call1(g, "reshape shape=[-1]", y);
}

static ts_tensor weighted(ts_graph *g, ts_tensor y) /* a sum of squares has curvature everywhere */
{
    return ts_call1(g, "sum", ts_call1(g, "formula text=a*a+a", flat(g, y)));
}

static ts_tensor moved(ts_graph *g, ts_tensor y, ts_tensor x, ts_tensor v)
{
    ts_tensor t = NULL;
    return y && ts_pushforward(g, 1, &x, &v, 1, &y, &t) ? flat(g, t) : NULL;
}

static ts_tensor gradient(ts_graph *g, ts_tensor y, ts_tensor x)
{
    ts_tensor d = NULL;
    return y && ts_chain_rule(g, 1, &y, NULL, 1, &x, &d) ? d : NULL;
}

static ts_tensor tangent(ts_graph *g, function *f, ts_tensor x, ts_tensor v)
{
    return moved(g, f(g, x), x, v);
}

static ts_tensor twice(ts_graph *g, function *f, ts_tensor x, ts_tensor v)
{
    return moved(g, tangent(g, f, x, v), x, v);
}

static ts_tensor forward_of_reverse(ts_graph *g, function *f, ts_tensor x, ts_tensor v)
{
    return moved(g, gradient(g, weighted(g, f(g, x)), x), x, v);
}

static ts_tensor reverse_of_forward(ts_graph *g, function *f, ts_tensor x, ts_tensor v)
{
    return gradient(g, ts_call1(g, "reshape shape=[]", moved(g, weighted(g, f(g, x)), x, v)), x);
}

static ts_tensor hessian(ts_graph *g, function *f, ts_tensor x, ts_tensor v)
{
    const ts_tensor d = gradient(g, weighted(g, f(g, x)), x);
    return ts_call2(g, "matmul", d ? ts_jacobian(g, d, x, NULL, NULL) : NULL, v);
}

static ts_tensor tangent_of_jacobian(ts_graph *g, function *f, ts_tensor x, ts_tensor v)
{
    const ts_tensor y = flat(g, f(g, x)), j = y ? ts_jacobian(g, y, x, NULL, NULL) : NULL;
    return ts_call2(g, "matmul", ts_call1(g, "reshape shape=[-1,6]", moved(g, j, x, v)), v);
}

/* ---- values ---- */
typedef struct points { /* of x and v: from `first` on, in `all` rows; x NULL: `at` */
    int first, all;
    const double *x;
} points;

/* Of t there; how many; 0: it said why. */
static int64_t values(const char *what, ts_graph *g, ts_tensor t, const points *r, double *out)
{
    ts_error e = {0};
    ts_array y = {0};
    ts_tensor leaf[8];
    const ts_array from = {
        TS_F64, r->all > 1 ? 2 : 1, {r->all > 1 ? r->all : N, N}, (void *)(uintptr_t)(r->x ? r->x : at + r->first * N)};
    ts_given given[2] = {{"x", from}, {"v", from}}, used[2];
    given[1].value.data = along + r->first * N;
    int n = t ? ts_leaves(1, &t, NULL) : 0, n_used = 0;
    if (CHECK(ts_graph_ok(g, &e) && t && n <= 8 && ts_leaves(1, &t, leaf) == n))
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < n; i++)
                if (!strcmp(ts_name(leaf[i]), given[k].name))
                    used[n_used++] = given[k];
    if (!CHECK(!e.code && ts_eval(1, &t, n_used, used, &(ts_options){.target = "interp"}, &y, &e)))
        return printf("  %s: %s\n", what, e.text), 0;
    const int64_t count = ts_array_count(&y);
    CHECK(count <= BATCH * MOST);
    for (int64_t i = 0; i < count && i < BATCH * MOST; i++)
        out[i] = ts_array_at(&y, i);
    ts_array_free(&y);
    return count;
}

static int64_t one(const char *what, composed *c, function *f, int row, const double *x, double *out)
{
    ts_graph *g = ts_graph_make();
    const int64_t dim = N;
    const ts_tensor in[] = {ts_input(g, "x", TS_F64, 1, &dim), ts_input(g, "v", TS_F64, 1, &dim)};
    const int64_t n = values(what, g, c(g, f, in[0], in[1]), &(points){row, 1, x}, out);
    ts_graph_free(g);
    return n;
}

static int64_t batch(const char *what, composed *c, function *f, double *out)
{
    static const int64_t dim[] = {BATCH, N};
    ts_graph *g = ts_graph_make();
    const ts_tensor from[] = {ts_input(g, "one x", TS_F64, 1, dim + 1), ts_input(g, "one v", TS_F64, 1, dim + 1)},
                    to[] = {ts_input(g, "x", TS_F64, 2, dim), ts_input(g, "v", TS_F64, 2, dim)};
    ts_tensor y = c(g, f, from[0], from[1]), all = NULL;
    CHECK(y && ts_batch(g, 1, &y, 2, from, to, &all));
    const int64_t n = values(what, g, all, &(points){0, BATCH, NULL}, out);
    ts_graph_free(g);
    return n;
}

static void same(const char *what, const char *name, int64_t n, const double *got, const double *want, double within)
{
    double worst = 0;
    for (int64_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(got[i] - want[i]) / (1 + fabs(want[i])));
    if (!CHECK(n > 0 && worst <= within))
        printf("  %s of %s: off by %g\n", what, name, worst);
}

static void test_function(const char *name, function *f)
{
    static const struct {
        const char *name;
        composed *c;
    } all[] = {{"tangent", tangent},
               {"tangent of tangent", twice},
               {"tangent of gradient", forward_of_reverse},
               {"gradient of tangent", reverse_of_forward},
               {"jacobian of gradient", hessian},
               {"tangent of jacobian", tangent_of_jacobian}};
    static double got[6][BATCH * MOST], side[2][BATCH * MOST], each[BATCH * MOST];
    double x[2][N];
    int64_t n[6];
    for (int k = 0; k < 6; k++) {
        n[k] = one(name, all[k].c, f, 0, NULL, got[k]);
        const int64_t count = batch(name, all[k].c, f, each);
        CHECK(count == BATCH * n[k]);
        for (int i = 0; i < BATCH && count == BATCH * n[k]; i++) {
            one(name, all[k].c, f, i, NULL, side[0]);
            same("batch", name, n[k], each + i * n[k], side[0], 1e-10);
        }
    }
    for (int i = 0; i < N; i++)
        x[0][i] = at[i] + 1e-6 * along[i], x[1][i] = at[i] - 1e-6 * along[i];
    for (int k = 0; k < 2; k++)
        one(name, tangent, f, 0, x[k], side[k]);
    for (int64_t i = 0; i < n[1]; i++)
        side[0][i] = (side[0][i] - side[1][i]) / 2e-6;
    same(all[1].name, name, n[1], got[1], side[0], 1e-6);
    same(all[3].name, name, N, got[3], got[2], 1e-10);
    same(all[4].name, name, N, got[4], got[2], 1e-10);
    same(all[5].name, name, n[5], got[5], got[1], 1e-10); /* (dJ v) v is the second tangent */
}

int main(int argc, char **argv)
{
    for (int i = 0; i < BATCH * N; i++)
        at[i] = sin(1 + 3.7 * i) * 1.3 + 0.05, along[i] = cos(2 + 1.3 * i);
    for (int i = 0; i < (int)(sizeof functions / sizeof *functions); i++)
        if (argc < 2 || !strcmp(argv[1], functions[i].name))
            test_function(functions[i].name, functions[i].f);
    return check_done();
}
