/* Forward mode: over every case of every operation <v, J u> is the same by forward and by reverse mode, and tangents of
 * tangents are what gradients of tangents say; Hessian-vector products against differences; what is refused. */
#include "tests/autodiff/rows.h"
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *only;
static int n_product;

static double eps_of(const node *n) /* of the narrowest reals on the way */
{
    static const double eps[TS_N_DTYPE] = {[TS_F64] = 1e-16, [TS_F32] = 6e-8, [TS_F16] = 5e-4, [TS_BF16] = 4e-3};
    const node **all = calloc((size_t)n->id + 1, sizeof *all);
    double most = 0;
    MUST(all);
    for (int i = g_reach(1, &n, all); i-- > 0;)
        most = fmax(most, eps[all[i]->type.dtype]);
    return free(all), most;
}

/* The sum of the products, and of their magnitudes. */
static bool dot(const values *v, const node *a, const node *b, double *sum, double *scale)
{
    ts_array x, y;
    if (!values_of(v, a, &x, NULL))
        return false;
    const bool ok = values_of(v, b, &y, NULL);
    for (int64_t i = 0; ok && i < ts_array_count(&x); i++) {
        const double p = ts_array_at(&x, i) * ts_array_at(&y, i);
        *sum += p, *scale += fabs(p);
    }
    ts_array_free(&x);
    if (ok)
        ts_array_free(&y);
    return ok;
}

typedef struct probe {
    row r;
    values v;
    int n;
    const node *x[ROW_OPERANDS], *u[ROW_OPERANDS], *seed;
} probe;

static void compare(probe *p, const char *name, const char *line)
{
    graph *g = p->r.g;
    const node *y = p->r.y, *t, *grad[ROW_OPERANDS];
    double forward = 0, reverse = 0, scale = 1;
    if (!ts_chain_rule(g, 1, &y, &p->seed, p->n, p->x, grad))
        return;
    if (!CHECK(ts_pushforward(g, p->n, p->x, p->u, 1, &y, &t) && type_equal(&t->type, &y->type))) {
        printf("  %s: %s: %s\n", name, line, g->err.text);
        return;
    }
    if (only) {
        char *shown = ts_print(1, &t);
        printf("# %s\n%s", line, shown), ts_free(shown);
    }
    bool ok = dot(&p->v, t, p->seed, &forward, &scale);
    for (int k = 0; ok && k < p->n; k++)
        ok = dot(&p->v, grad[k], p->u[k], &reverse, &scale);
    if (!ok)
        return;
    n_product++;
    const double eps = fmax(eps_of(t), eps_of(y));
    if (!CHECK(fabs(forward - reverse) <= (eps > 1e-10 ? 30 * eps : 1e-12) * scale || !isfinite(scale)))
        printf("  %s: %s: forward %.17g, reverse %.17g of %.3g\n", name, line, forward, reverse, scale);
}

static void check_case(const op *o, const char *line, const double range[2])
{
    probe p = {.r = row_make(ts_graph_make(), o->name, line)};
    graph *g = p.r.g;
    const node *y = p.r.y;
    if (y && dtype_class(y->type.dtype) == D_REAL) {
        p.v = values_make(&p.r, range[0], range[1], 7);
        p.seed = g_input(g, "seed", &y->type, NULL);
        bool ok = values_add(&p.v, p.seed, 11);
        for (int k = 0; k < p.r.n && ok; k++)
            if (p.r.in[k]->leaf->kind == LEAF_INPUT && p.r.in[k]->type.dtype == TS_F64) {
                char label[16];
                snprintf(label, sizeof label, "u%d", k);
                p.x[p.n] = p.r.in[k], p.u[p.n] = g_input(g, label, &p.r.in[k]->type, NULL);
                ok = values_add(&p.v, p.u[p.n++], 13 + (uint64_t)k);
            }
        if (ok && p.n)
            compare(&p, o->name, line);
        values_free(&p.v);
    }
    ts_graph_free(g);
}

static void check_op(const op *o)
{
    static const double range[][2] = {{-2, 2}, {0.1, 0.9}};
    for (const char *at = o->cases; at && *at;) {
        char line[1024];
        const size_t n = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, at);
        at += n + (at[n] == '\n');
        for (int i = 0; i < COUNT(range); i++)
            check_case(o, line, range[i]);
    }
}

/* ---- nested ---- */
static double value_at(ts_tensor t, const double *x, int64_t n, int64_t i)
{
    ts_error e = {0};
    ts_array in = {TS_F64, 1, {n}, (void *)(uintptr_t)x}, out = {0};
    if (!CHECK(ts_eval(1, &t, 1, &(ts_given){"x", in}, &(ts_options){.target = "interp"}, &out, &e)))
        printf("  %s\n", e.text);
    const double v = out.data ? ts_array_at(&out, i) : 0;
    ts_array_free(&out);
    return v;
}

/* Hessian times a direction: forward over reverse, reverse over forward, forward over forward; against differences. */
static void test_nested(void)
{
    enum { N = 4 };
    const double at[N] = {0.3, -0.7, 1.1, 0.2}, way[N] = {1, 2, -1, 0.5};
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F64, 1, (const int64_t[]){N}), d, hv[2], s, t, tt;
    ts_tensor u = ts_constant(g, "u", &(ts_array){TS_F64, 1, {N}, (void *)(uintptr_t)way});
    ts_tensor lse = ts_call1(g, "log", ts_call1(g, "sum", ts_call1(g, "exp", ts_call1(g, "formula text=a*a*a", x))));
    ts_tensor y = ts_call2(g, "add", lse, ts_call1(g, "prod", x));
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &x, &d) && ts_pushforward(g, 1, &x, &u, 1, &d, &hv[0]));
    CHECK(ts_pushforward(g, 1, &x, &u, 1, &y, &t) && ts_chain_rule(g, 1, &t, NULL, 1, &x, &hv[1]));
    CHECK(ts_pushforward(g, 1, &x, &u, 1, &t, &tt));
    s = ts_call1(g, "sum", ts_call2(g, "multiply", hv[0], u));
    if (!CHECK(ts_graph_ok(g, &e)))
        printf("  %s\n", e.text);
    for (int i = 0; i < N; i++) {
        const double h = 1e-5;
        double more[N], less[N];
        for (int k = 0; k < N; k++)
            more[k] = at[k] + h * way[k], less[k] = at[k] - h * way[k];
        const double want = (value_at(d, more, N, i) - value_at(d, less, N, i)) / (2 * h);
        for (int k = 0; k < 2; k++)
            CHECK(fabs(value_at(hv[k], at, N, i) - want) <= 1e-6 * (1 + fabs(want)));
        CHECK(fabs(value_at(hv[0], at, N, i) - value_at(hv[1], at, N, i)) <= 1e-12 * (1 + fabs(want)));
    }
    CHECK(fabs(value_at(s, at, N, 0) - value_at(tt, at, N, 0)) <= 1e-12 * (1 + fabs(value_at(s, at, N, 0))));
    ts_graph_free(g);
}

/* Tangents of inner tensors, of several inputs, of an input that nothing needs; functions of the graph. */
static void test_ways(void)
{
    const double at[] = {0.5, 2};
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F64, 1, (const int64_t[]){2}), t[3], in[2], along[2], other;
    other = ts_input(g, "other", TS_F64, 1, (const int64_t[]){2});
    CHECK(ts_function(g, "relu3(x)", "x < 0 ? 0.0 : x < 1 ? x*x*x/3 : x - 2/3.0", NULL));
    ts_tensor inner = ts_call1(g, "relu3", x), y = ts_call2(g, "multiply", inner, x);
    ts_tensor two = ts_call1(g, "formula text=a*0+2", x), one = ts_call1(g, "formula text=a*0+1", x);
    in[0] = x, in[1] = inner, along[0] = one, along[1] = two;
    CHECK(ts_pushforward(g, 2, in, along, 1, &y, t)); /* (f + x f') + 2 x */
    CHECK(fabs(value_at(t[0], at, 2, 0) - (1 / 24.0 + 0.125 + 1)) < 1e-15);
    CHECK(fabs(value_at(t[0], at, 2, 1) - (4 / 3.0 + 2 + 4)) < 1e-14);
    CHECK(ts_pushforward(g, 1, &other, &two, 1, &y, t) && ts_rank(t[0]) == 1);
    CHECK(value_at(ts_call2(g, "add", t[0], x), at, 2, 0) == 0.5);
    ts_tensor shifted = ts_call2(g, "add", x, ts_call1(g, "exp", other)), less = ts_call2(g, "subtract", other, x);
    CHECK(ts_pushforward(g, 1, &x, &two, 1, &shifted, t) && t[0] == two); /* no zeros are added */
    CHECK(ts_pushforward(g, 1, &x, &two, 1, &less, t) && t[0]->n_in == 1 &&
          value_at(ts_call2(g, "add", t[0], x), at, 2, 0) == -1.5);
    ts_graph_free(g);
}

/* ---- what derivatives cost ---- */
static double flops(int n, const ts_tensor *t)
{
    const int count = g_reach(n, t, NULL);
    const node **all = calloc((size_t)count, sizeof *all);
    double sum = 0;
    MUST(all);
    g_reach(n, t, all);
    for (int i = 0; i < count; i++)
        sum += node_is_leaf(all[i]) ? 0 : node_flops(all[i]);
    return free(all), sum;
}

/* With the function itself: a tangent at most so many times its operations, a gradient 4 times. Where both operands of
 * products move, as an LSTM's weights and states do, a tangent is two products beside the one. (Of long formulas what
 * value and tangent share is counted twice.) */
static void test_cost(const char *name, int n_in, double most)
{
    ts_error e = {0};
    ts_model *m = ts_model_open(name, &e);
    CHECK(m && ts_model_bind(m, 0, NULL, NULL, &e));
    ts_graph *g = ts_model_graph(m);
    ts_tensor y = ts_model_tensor(m, 0), x[8], all[9] = {y}, need[16];
    int n = ts_leaves(1, &y, NULL), k = 0;
    if (!CHECK(n <= COUNT(need)))
        return;
    ts_leaves(1, &y, need);
    for (int i = 0; i < n && k < n_in; i++)
        if (ts_type(need[i]) == TS_F64)
            x[k++] = need[i];
    CHECK(k == n_in && ts_pushforward(g, k, x, x, 1, &y, &all[1]));
    const double own = flops(1, &y), jvp = flops(2, all) / own;
    CHECK(ts_chain_rule(g, 1, &y, &y, k, x, all + 1));
    const double vjp = flops(1 + k, all) / own;
    printf("%s: tangent %.2f, gradient %.2f times the function\n", name, jvp, vjp);
    CHECK(jvp <= most && vjp <= 4);
    ts_model_free(m);
}

static void refused(ts_graph *g, bool done, const char *want)
{
    ts_error e = {0};
    CHECK(!done && !ts_graph_recover(g, &e));
    CHECK_TEXT(e.text, want);
}

static bool kernel(const ts_use *u, ts_error *e)
{
    return (void)u, (void)e, true;
}

static void test_refusals(void)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F64, 1, (const int64_t[]){2}), t;
    ts_tensor i = ts_input(g, "i", TS_I64, 1, (const int64_t[]){2}), s = ts_call1(g, "sum", x);
    refused(g, ts_pushforward(g, 1, &i, &i, 1, &x, &t),
            "tangent along \"i\": values of dtype i64 have none, expected reals");
    refused(g, ts_pushforward(g, 1, &x, &s, 1, &x, &t), "tangent along \"x\": the direction is f64[], expected f64[2]");
    CHECK(ts_define(g, &(ts_operation){.name = "mine", .n_in = 1, .kernel = kernel}));
    ts_tensor y = ts_call1(g, "mine", x);
    refused(
        g, ts_pushforward(g, 1, &x, &x, 1, &y, &t),
        "tangent of mine: gradient of mine: kernel mine has none of its own\n  hint: give its ts_operation a gradient");
    ts_graph_free(g);
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : NULL;
    for (const op *o = op_next(NULL); o; o = op_next(o))
        if (!only || !strcmp(only, o->name))
            check_op(o);
    printf("%d products\n", n_product);
    CHECK(only || n_product > 1000);
    test_nested();
    test_ways();
    test_cost("adbench-gmm", 3, 2.5);
    test_cost("adbench-ba", 3, 3.5);
    test_cost("adbench-lstm", 2, 3.5);
    test_refusals();
    return check_done();
}
