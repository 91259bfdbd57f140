/* What a choice does not take has no part in a gradient, whatever its derivative is there: 0, not 0 * inf. */
/* ctest: fast */
#include "graph/ir/rule.h"
#include "tests/autodiff/rows.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4 };
static const double at[N] = {-1, 0, 1, 4};

typedef struct choosing {
    const char *name;
    const node *(*make)(graph *g, const node *x);
    double want[N];
} choosing;

/* The gradient of the sum of y, a computation on x = at, by x. */
static void gradient_is(graph *g, const node *x, const choosing *c)
{
    const node *y = c->make(g, x);
    const node *total = y && y->type.rank ? g_call1(g, "sum", y) : y, *grad = NULL;
    ts_array got;
    err e = {0};
    if (!CHECK(total && ts_chain_rule(g, 1, &total, NULL, 1, &x, &grad))) {
        printf("  %s: %s\n", c->name, g->err.text);
        return;
    }
    values v = {.n = g->n, .of = calloc((size_t)g->n + 1, sizeof *v.of)};
    MUST(v.of);
    for (int i = 0; i < g->n; i++)
        if (g->node[i]->leaf && g->node[i]->leaf->kind == LEAF_INPUT) {
            CHECK(ts_array_make(&v.of[i], TS_F64, 1, (int64_t[]){N}, NULL));
            memcpy(v.of[i].data, at, sizeof at);
        }
    if (!CHECK(values_of(&v, grad, &got, &e)))
        printf("  %s\n", e.text);
    for (int i = 0; got.data && i < N; i++)
        if (!CHECK(fabs(ts_array_at(&got, i) - c->want[i]) < 1e-12))
            printf("  %s: gradient at %g is %g, not %g\n", c->name, at[i], ts_array_at(&got, i), c->want[i]);
    ts_array_free(&got), values_free(&v);
}

static const node *zero(graph *g)
{
    return g_scalar(g, TS_F64, 0);
}

static const node *positive(graph *g, const node *x)
{
    return g_call2(g, "greater", x, zero(g));
}

static const node *kept(graph *g, const node *c, const node *y) /* c ? y : 0 */
{
    return g_call3(g, "where", c, y, zero(g));
}

static const node *root(graph *g, const node *x)
{
    return kept(g, positive(g, x), g_call1(g, "sqrt", x));
}

static const node *other_side(graph *g, const node *x)
{
    return g_call3(g, "where", g_call2(g, "less_equal", x, zero(g)), zero(g), g_call1(g, "sqrt", x));
}

static const node *root_of_scaled(graph *g, const node *x) /* through what follows from a number alone */
{
    const node *two = g_call2(g, "multiply", x, g_scalar(g, TS_F64, 4));
    return kept(g, positive(g, x),
                g_call1(g, "negative", g_call1(g, "sqrt", g_call1(g, "negative", g_call1(g, "negative", two)))));
}

static const node *root_turned(graph *g, const node *x) /* through ways of reading */
{
    const node *y = g_call1(g, "reshape shape=[2,2]", g_call1(g, "sqrt", x));
    return kept(g, g_call1(g, "reshape shape=[2,2]", positive(g, x)), y);
}

static const node *root_part(graph *g, const node *x) /* and through a part of it */
{
    const node *y = g_call1(g, "slice starts=[1] sizes=[3]", g_call1(g, "sqrt", x));
    return kept(g, g_call1(g, "slice starts=[1] sizes=[3]", positive(g, x)), y);
}

static const node *quotient(graph *g, const node *x) /* a product with what is infinite */
{
    const node *y = g_call2(g, "multiply", x, g_call1(g, "reciprocal", x));
    return kept(g, positive(g, x), g_call2(g, "multiply", y, x));
}

static const node *logarithm(graph *g, const node *x)
{
    return kept(g, positive(g, x), g_call2(g, "multiply", g_call1(g, "log", x), g_call1(g, "sqrt", x)));
}

static const node *nested(graph *g, const node *x)
{
    const node *one = g_call2(g, "less", x, g_scalar(g, TS_F64, 2));
    return kept(g, one, root(g, x));
}

static const node *formulas(graph *g, const node *x)
{
    const node *y = g_formula(g, 1, &x, "sqrt(a)");
    return g_formula(g, 2, (const node *[]){x, y}, "a<=0?0:b*b*b");
}

static const node *both_sides(graph *g, const node *x) /* a choice between two functions, neither of them 0 */
{
    return g_call3(g, "where", positive(g, x), g_call1(g, "sqrt", x), g_call2(g, "multiply", x, x));
}

static const node *norm(graph *g, const node *x) /* of elements that are put to 0: a root of 0 that is not taken */
{
    const node *none = g_call2(g, "multiply", x, zero(g));
    const node *y = g_call1(g, "sqrt", g_call1(g, "sum", g_call2(g, "multiply", none, none)));
    return kept(g, g_call2(g, "greater", y, zero(g)), y);
}

static const node *rows(graph *g, const node *x) /* softmax of a row that is all NaN */
{
    const node *y = g_call1(g, "softmax", g_call1(g, "reshape shape=[4,1]", g_call1(g, "sqrt", x)));
    return kept(g, g_call1(g, "reshape shape=[4,1]", positive(g, x)), y);
}

static void test_taken(void)
{
    static const choosing all[] = {
        {"where(x > 0, sqrt x, 0)", root, {0, 0, 0.5, 0.25}},
        {"where(x <= 0, 0, sqrt x)", other_side, {0, 0, 0.5, 0.25}},
        {"scaled", root_of_scaled, {0, 0, -1, -0.5}},
        {"reshaped", root_turned, {0, 0, 0.5, 0.25}},
        {"a slice", root_part, {0, 0, 0.5, 0.25}},
        {"x (1 / x) x", quotient, {0, 0, 1, 1}},
        {"log x sqrt x", logarithm, {0, 0, 1, 0.5 + 0.25 * 1.3862943611198906}},
        {"where in where", nested, {0, 0, 0.5, 0}},
        {"formulas", formulas, {0, 0, 1.5, 3}},
        {"two functions", both_sides, {-2, 0, 0.5, 0.25}},
        {"a norm of nothing", norm, {0, 0, 0, 0}},
        {"rows of softmax", rows, {0, 0, 0, 0}},
    };
    for (int i = 0; i < COUNT(all); i++) {
        graph *g = ts_graph_make();
        const node *x = g_input(g, "x", &(type){.dtype = TS_F64, .rank = 1, .dim = {N}}, NULL);
        gradient_is(g, x, &all[i]);
        ts_graph_free(g);
    }
}

int main(void)
{
    test_taken();
    return check_done();
}
