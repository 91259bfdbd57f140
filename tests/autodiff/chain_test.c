/* The chain rule as a whole: what it costs, what stops it, what it refuses, and that gradients are tensors like any
 * other. */
/* ctest: fast */
#include "autodiff/autodiff.h"
#include "graph/ir/problem.h"
#include "graph/ir/rule.h"
#include "tests/autodiff/rows.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const node *input(graph *g, const char *name, dtype d, int64_t rows, int64_t columns)
{
    return g_input(g, name, &(type){.dtype = d, .rank = 2, .dim = {rows, columns}}, NULL);
}

static int count(const node *root, const char *op_name)
{
    const int n = g_reach(1, &root, NULL);
    const node **all = calloc((size_t)n, sizeof *all);
    int found = 0;
    MUST(all);
    g_reach(1, &root, all);
    for (int i = 0; i < n; i++)
        found += !strcmp(all[i]->op->name, op_name);
    return free(all), found;
}

/* Three layers; with the first two frozen, one product makes the gradient of the third. */
static void test_frozen(void)
{
    graph *g = ts_graph_make();
    const node *x = input(g, "x", TS_F32, 8, 4), *w[3], *y = x, *grad[3];
    for (int i = 0; i < 3; i++) {
        w[i] = input(g, (const char *[]){"w0", "w1", "w2"}[i], TS_F32, 4, 4);
        y = g_call1(g, "tanh", g_call2(g, "matmul", y, w[i]));
    }
    const node *loss = g_call1(g, "sum", y);
    const int before = g->n;
    CHECK(ts_chain_rule(g, 1, &loss, NULL, 1, &w[2], grad));
    CHECK(count(grad[0], "matmul") == 3 + 1);
    CHECK(g->n - before <= 8); /* seed, sum, tanh, transpose, product: nothing for what is frozen */
    CHECK(ts_chain_rule(g, 1, &loss, NULL, 3, w, grad));
    CHECK(count(grad[0], "matmul") == 3 + 2 + 1); /* two back through the layers, one for w0 */
    CHECK(g_reach(3, grad, NULL) <= 32);
    ts_graph_free(g);
}

/* A norm has a corner where all is 0, as has a deviation where all is alike: the gradient there is 0, not 0 / 0. */
static void test_corner(const char *call, double at)
{
    graph *g = ts_graph_make();
    row r = {.g = g, .n = 1, .fixed = {at}};
    const node *x = r.in[0] = input(g, "x", TS_F64, 2, 3), *y = g_call1(g, call, x), *grad;
    values v = values_make(&r, -1, 1, 3);
    ts_array got;
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &x, &grad));
    if (CHECK(values_of(&v, grad, &got, NULL))) {
        for (int i = 0; i < 6; i++)
            if (!CHECK(ts_array_at(&got, i) == 0))
                printf("  %s at %g: %g\n", call, at, ts_array_at(&got, i));
        ts_array_free(&got);
    }
    values_free(&v);
    ts_graph_free(g);
}

/* Who has the gradient where elements are alike, as tessera.h says: of x, all ones, its first row. */
static void test_alike(const char *call, bool beside, double first, double second)
{
    graph *g = ts_graph_make();
    row r = {.g = g, .n = 1, .fixed = {1}};
    const node *x = r.in[0] = input(g, "x", TS_F64, 2, 3), *one = g_filled(g, &x->type, 1), *grad;
    const node *y = g_call1(g, "sum", beside ? g_call2(g, call, x, one) : g_call1(g, call, x));
    values v = values_make(&r, 1, 1, 3);
    ts_array got;
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &x, &grad));
    if (CHECK(values_of(&v, grad, &got, NULL))) {
        if (!CHECK(ts_array_at(&got, 0) == first && ts_array_at(&got, 1) == second))
            printf("  %s: %g %g\n", call, ts_array_at(&got, 0), ts_array_at(&got, 1));
        ts_array_free(&got);
    }
    values_free(&v);
    ts_graph_free(g);
}

/* Weights that lie transposed, as frameworks have them: their gradient is a product, nothing is turned afterwards. */
static void test_transposed_weight(void)
{
    graph *g = ts_graph_make();
    const node *x = input(g, "x", TS_F32, 8, 4), *w = input(g, "w", TS_F32, 6, 4), *grad;
    const node *y = g_call1(g, "sum", g_call1(g, "tanh", g_call2(g, "matmul", x, g_call1(g, "transpose", w))));
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &w, &grad));
    CHECK(!strcmp(grad->op->name, "matmul") && type_equal(&grad->type, &w->type));
    CHECK_TEXT(grad->label, "gradient of w");
    ts_graph_free(g);
}

/* One matrix read twice, as itself and transposed: its gradients add up. By hand: y = sum(x w w') */
static void test_tied(void)
{
    graph *g = ts_graph_make();
    row r = {.g = g, .n = 2, .fixed = {NAN, NAN}};
    const node *x = r.in[0] = input(g, "x", TS_F64, 2, 3), *w = r.in[1] = input(g, "w", TS_F64, 3, 3), *grad;
    const node *y = g_call1(g, "sum", g_call2(g, "matmul", g_call2(g, "matmul", x, w), g_call1(g, "transpose", w)));
    values v = values_make(&r, -1, 1, 3);
    ts_array got;
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &w, &grad));
    if (CHECK(values_of(&v, grad, &got, NULL))) {
        const ts_array *a = &v.of[x->id], *b = &v.of[w->id];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double want = 0; /* sum over r of x[r,i] sum over k of w[k,j], and (x w)[r,j] for every row of w */
                for (int q = 0; q < 2; q++)
                    for (int k = 0; k < 3; k++)
                        want += ts_array_at(a, q * 3 + i) * ts_array_at(b, k * 3 + j) +
                                ts_array_at(a, q * 3 + k) * ts_array_at(b, k * 3 + j);
                CHECK(fabs(ts_array_at(&got, i * 3 + j) - want) < 1e-12);
            }
        ts_array_free(&got);
    }
    values_free(&v), ts_graph_free(g);
}

/* A table read by rows and multiplied with: its rows' gradients are put into that of the product, which is as large. */
static void test_tied_rows(void)
{
    graph *g = ts_graph_make();
    const node *w = input(g, "w", TS_F32, 6, 4), *place = input(g, "place", TS_I64, 2, 3), *grad;
    const node *x = g_call2(g, "gather", w, place);
    const node *y = g_call1(g, "sum", g_call1(g, "tanh", g_call2(g, "matmul", x, g_call1(g, "transpose", w))));
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &w, &grad));
    CHECK_TEXT(grad->op->name, "scatter");
    CHECK(grad->in[0] != g_filled(g, &w->type, 0));
    ts_graph_free(g);
}

/* The well-known small example: c = a + b; ... g = 24.7041, dg/da = 138.8338, dg/db = 645.5773 at a = -4, b = 2. */
static void test_micrograd(void)
{
    graph *g = ts_graph_make();
    const node *in[] = {g_input(g, "a", &(type){.dtype = TS_F64}, NULL),
                        g_input(g, "b", &(type){.dtype = TS_F64}, NULL)};
    const node *c = g_formula(g, 2, in, "a+b"), *d = g_formula(g, 2, in, "a*b+b*b*b"), *grad[2];
    c = g_formula(g, 1, &c, "a+a+1"), c = g_formula(g, 2, (const node *const[]){c, in[0]}, "a+1+a-b");
    d = g_formula(g, 3, (const node *const[]){d, in[0], in[1]}, "a+a*2+max(c+b,0)");
    d = g_formula(g, 3, (const node *const[]){d, in[0], in[1]}, "a+3*a+max(c-b,0)");
    const node *f = g_formula(g, 2, (const node *const[]){c, d}, "(a-b)*(a-b)");
    f = g_formula(g, 1, &f, "a/2+10/a");
    values v = {.n = 2, .of = calloc(2, sizeof *v.of)};
    const double at[] = {-4, 2}, want[] = {24.7041, 138.8338, 645.5773};
    MUST(v.of);
    for (int i = 0; i < 2; i++)
        CHECK(ts_array_make(&v.of[i], TS_F64, 0, NULL, NULL)), *(double *)v.of[i].data = at[i];
    CHECK(ts_chain_rule(g, 1, &f, NULL, 2, in, grad));
    for (int i = 0; i < 3; i++) {
        ts_array a;
        if (CHECK(values_of(&v, i ? grad[i - 1] : f, &a, NULL))) {
            if (!CHECK(fabs(ts_array_at(&a, 0) - want[i]) < 1e-4))
                printf("  %.6f, not %.4f\n", ts_array_at(&a, 0), want[i]);
            ts_array_free(&a);
        }
    }
    values_free(&v), ts_graph_free(g);
}

/* What integers and truth values carry is cut; f64 stays f64 though f32 stands beside it. */
static void test_dtypes(void)
{
    graph *g = ts_graph_make();
    const node *x = input(g, "x", TS_F64, 2, 3), *y = input(g, "y", TS_F32, 2, 3), *grad[2];
    const node *cut = g_call1(g, "cast to=f64", g_call1(g, "cast to=i64", x));
    const node *total = g_call1(g, "sum", g_call2(g, "multiply", g_call2(g, "multiply", x, cut), y));
    CHECK(ts_chain_rule(g, 1, &total, NULL, 2, (const node *const[]){x, y}, grad));
    CHECK(grad[0]->type.dtype == TS_F64 && grad[1]->type.dtype == TS_F32);
    for (int i = 0; i < 2; i++)
        CHECK(type_equal(&grad[i]->type, i ? &y->type : &x->type));
    const node *all[64];
    const int n = g_reach(1, &grad[0], all);
    for (int i = 0; i < n; i++)
        CHECK(all[i]->type.dtype != TS_F32 || all[i] == y || !strcmp(all[i]->op->name, "cast"));
    const node *lost = g_call1(g, "sum", cut); /* no way but through integers: zeros */
    CHECK(ts_chain_rule(g, 1, &lost, NULL, 1, &x, grad));
    CHECK(count(grad[0], "broadcast_to") == 1 && g_reach(1, grad, NULL) == 2);
    ts_graph_free(g);
}

/* Gradients print, parse, and hash as any tensor. */
static void test_text(void)
{
    graph *g = ts_graph_make(), *h = ts_graph_make();
    const node *x = input(g, "x", TS_F32, 4, 5), *grad, *again;
    const node *y = g_call1(g, "sum", g_call1(g, "gelu", g_call1(g, "softmax", x)));
    char a[65], b[65];
    err e = {0};
    int n;
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &x, &grad));
    char *t = ts_print(1, &grad);
    if (!CHECK(ts_parse(h, t, 1, &again, &n, &e)))
        printf("  %s\n", e.text);
    else {
        ts_hash(1, &grad, a), ts_hash(1, &again, b);
        CHECK_TEXT(a, b);
    }
    ts_free(t), ts_graph_free(g), ts_graph_free(h);
}

static void refuse(graph *g, int n_in, const node *const *in, const node *y, const node *seed, const char *want)
{
    const node *grad[4] = {y, y, y, y};
    CHECK(!ts_chain_rule(g, 1, &y, seed ? &seed : NULL, n_in, in, grad));
    CHECK_TEXT(g->err.text, want);
    CHECK(!grad[0]);
    g->err = (err){0};
}

static void test_refusals(void)
{
    graph *g = ts_graph_make();
    const node *x = input(g, "x", TS_F32, 2, 3), *i = input(g, "ids", TS_I64, 2, 3);
    const node *many[8] = {x};
    for (int k = 1; k < COUNT(many); k++)
        many[k] = input(g, (const char[]){(char)('a' + k), 0}, TS_F32, 2, 3);
    refuse(g, 1, &i, g_call1(g, "sum", x), NULL,
           "gradient with respect to \"ids\": values of dtype i64 have none, expected reals");
    refuse(g, 1, &x, x, NULL, "gradient of output 0: it has 6 elements, so a seed must say how they count");
    refuse(g, 1, &x, i, NULL, "gradient of output 0: values of dtype i64 have none, expected reals");
    refuse(g, 1, &x, x, i, "gradient of output 0: the seed is i64[2,3], expected f32[2,3]");
    refuse(g, 1, &x, g_call1(g, "sum", g_formula(g, COUNT(many), many, "exp(a*b*c*d*e*f*g*h)")), NULL,
           "gradient of formula: what is spelled out reads 1 to 8 tensors, this more");
    ts_graph_free(g);
}

/* Gradients written beside an operation against those that its definition gives: how many could be compared. */
static int compare_written(const op *o, const char *line)
{
    int tested = 0;
    row r = row_make(ts_graph_make(), o->name, line);
    values v = r.y ? values_make(&r, 0.1, 0.9, 3) : (values){0};
    for (int k = 0; r.y && k < r.n; k++) {
        const bool known = r.in[k]->leaf && r.in[k]->leaf->kind != LEAF_INPUT;
        if (r.in[k]->type.dtype != TS_F64 || r.y->type.dtype != TS_F64 || known || !type_count(&r.y->type) ||
            (o->grad_for && !o->grad_for(r.y, k)))
            continue;
        const node *dy = g_filled(r.g, &r.y->type, 0.7), *both[2];
        both[0] = derive_gradient(r.g, r.y, &(arriving){.dy = dy, .first = r.g->n}, r.in[k], &(bool){false});
        ts_array a[2] = {{0}};
        r.g->err = (err){0}; /* some cannot be derived */
        bool ok = both[0] && CHECK(ts_chain_rule(r.g, 1, &r.y, &dy, 1, &r.in[k], &both[1]));
        for (int i = 0; ok && i < 2; i++)
            ok = CHECK(values_of(&v, both[i], &a[i], NULL));
        for (int64_t i = 0; ok && i < ts_array_count(&a[0]); i++)
            if (!CHECK(fabs(ts_array_at(&a[0], i) - ts_array_at(&a[1], i)) < 1e-9)) {
                printf("  %s %s, operand %d: derived and written gradients differ\n", o->name, line, k);
                break;
            }
        tested += ok;
        ts_array_free(&a[0]), ts_array_free(&a[1]);
    }
    return values_free(&v), ts_graph_free(r.g), tested;
}

static void test_written(void)
{
    static const char *const windows[] = {
        "f64[2,3,9,8] f64[4,3,3,3] strides=[2,2] pads=[1,1,1,1]", "f64[1,4,7,9] f64[6,2,1,1] strides=[2,3] group=2",
        "f64[1,2,9,8] f64[3,2,2,3] strides=[3,2] dilations=[2,3] pads=[0,1,2,3]",
        "f64[2,4,8,8] f64[4,1,3,3] group=4 strides=[1,2] pads=[1,0,0,1]", "f64[1,2,11,7] f64[2,2,3,2] dilations=[4,2]"};
    int tested = 0;
    for (const op *o = op_next(NULL); o; o = op_next(o)) {
        const char *at = o->cases, *line;
        size_t n;
        while (o->grad && o->body && (line = problem_next(&at, &n))) {
            char one[1024];
            snprintf(one, sizeof one, "%.*s", (int)n, line);
            tested += compare_written(o, one);
        }
    }
    for (int i = 0; i < COUNT(windows); i++)
        tested += compare_written(op_find("conv2d"), windows[i]);
    CHECK(tested > 50);
    printf("%d written gradients against derived ones\n", tested);
    CHECK(tested >= 8);
}

/* Factors and updates that meet at one place, by hand: zeros do no harm, ties share. */
static void scattered(const char *how, const double want_a[3], const double want_x[5])
{
    static const double a[3] = {2, 7, -1}, x[5] = {3, 0, 4, 2, 2};
    static const int64_t place[5] = {0, 1, 1, -1, 2};
    graph *g = ts_graph_make();
    const type t = {.dtype = TS_F64, .rank = 1, .dim = {3}}, u = {.dtype = TS_F64, .rank = 1, .dim = {5}},
               p = {.dtype = TS_I64, .rank = 1, .dim = {5}};
    const node *in[] = {g_const(g, NULL, &t, a), g_const(g, NULL, &p, place), g_const(g, NULL, &u, x)};
    const node *y = g_callf(g, 3, in, "scatter reduce=%s", how), *seed = g_filled(g, &t, 10), *grad[2];
    CHECK(ts_chain_rule(g, 1, &y, &seed, 2, (const node *const[]){in[0], in[2]}, grad));
    for (int k = 0; k < 2; k++) {
        ts_array got;
        if (!CHECK(values_of(&(values){0}, grad[k], &got, NULL)))
            continue;
        for (int i = 0; i < (k ? 5 : 3); i++)
            if (!CHECK(fabs(ts_array_at(&got, i) - (k ? want_x : want_a)[i]) < 1e-12))
                printf("  scatter %s, operand %d, element %d: %g\n", how, 2 * k, i, ts_array_at(&got, i));
        ts_array_free(&got);
    }
    ts_graph_free(g);
}

static void test_scattered(void)
{
    scattered("mul", (const double[]){30, 0, 40}, (const double[]){20, 280, 0, -20, -20});
    scattered("max", (const double[]){0, 10, 0}, (const double[]){10, 0, 0, 5, 5});
    scattered("min", (const double[]){10, 0, 10}, (const double[]){0, 10, 0, 0, 0});
    scattered("set", (const double[]){0, 0, 0}, (const double[]){10, 0, 10, 0, 10});
}

/* y[i] = x[3 i] x[3 i + 1] x[3 i + 4]: of the last places not all neighbours are there. */
static void test_steps(void)
{
    enum { N = 14, ROWS = 4 };
    double x[N], want[N] = {0};
    graph *g = ts_graph_make();
    for (int i = 0; i < N; i++)
        x[i] = 1 + i;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0, at[] = {0, 1, 4}; k < 3; k++)
            want[3 * i + at[k]] += x[3 * i + at[(k + 1) % 3]] * x[3 * i + at[(k + 2) % 3]];
    const node *in = g_const(g, NULL, &(type){.dtype = TS_F64, .rank = 1, .dim = {N}}, x), *grad;
    const node *y = ts_call1(g, "sum", ts_call1(g, "element dims=[4] text=a[3*i0]*a[3*i0+1]*a[3*i0+4]", in));
    ts_array got = {0};
    if (!CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &in, &grad) && values_of(&(values){0}, grad, &got, NULL)))
        printf("  %s\n", g->err.text);
    for (int i = 0; i < N && got.data; i++)
        CHECK(ts_array_at(&got, i) == want[i]);
    ts_array_free(&got);
    ts_graph_free(g);
}

int main(void)
{
    test_scattered();
    test_steps();
    test_alike("max axes=[0]", false, 0.5, 0.5);
    test_alike("maximum", true, 0, 0);
    test_alike("cummax axis=1", false, 3, 0);
    test_corner("norm2", 0);
    test_corner("std", 0);
    test_corner("std", 3);
    test_frozen();
    test_transposed_weight();
    test_tied();
    test_tied_rows();
    test_micrograd();
    test_dtypes();
    test_text();
    test_refusals();
    test_written();
    return check_done();
}
