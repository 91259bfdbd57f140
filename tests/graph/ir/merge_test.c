/* Merges of folds of several values: which follow from the steps, and that each gives, whichever parts the points are
 * dealt to, what the fold gives in order: whole numbers exactly. */
/* ctest: fast */
#include "graph/eval/eval.h"
#include "graph/ir/problem.h"
#include "tests/check.h"
#include "tests/tuples.h"

#include <math.h>
#include <stdio.h>

enum { SPLITS = 12 };

static bool has_merge(const node *n)
{
    arena mem = {0};
    defn d;
    err e = {0};
    const bool has = g_defn(n, &mem, &d, &e) && d.value->kind == X_SCAN && x_merge(d.value, 0);
    arena_free(&mem);
    return has;
}

static double largest_gap(const ts_array *a, const ts_array *b)
{
    double gap = 0;
    for (int64_t i = 0; i < ts_array_count(a); i++) {
        const double x = load_real(a->dtype, a->data, i), y = load_real(b->dtype, b->data, i);
        if (x != y && !(isnan(x) && isnan(y)))
            gap = fmax(gap, fabs(x - y) / (1 + fabs(x)));
    }
    return gap;
}

/* The node's value under random deals of its points, against that of points in order. */
static void judge(const node *n, const ts_array *const *in, double tolerance)
{
    ts_array want = {0}, got = {0};
    err e = {0};
    CHECK(node_eval(n, in, &want, &e));
    for (uint64_t seed = 0; seed < SPLITS; seed++) {
        int of[31];
        const int parts = 2 + (int)(random_bits(seed, 99) % (EVAL_PARTS - 1));
        for (int i = 0; i < COUNT(of); i++)
            of[i] = (int)(random_bits(seed, (uint64_t)i) % (uint64_t)parts);
        const eval_parts deal = {parts, 1 + (int64_t)(random_bits(seed, 77) % COUNT(of)), of};
        CHECK(node_eval_parts(n, in, &deal, &got, &e));
        const double gap = largest_gap(&want, &got);
        if (!CHECK(gap <= tolerance))
            printf("  %s: %g apart, in %d parts\n", n->op->name, gap, parts);
        ts_array_free(&got);
    }
    ts_array_free(&want);
}

/* Of whole numbers from -3 to 3; of f32 some are no numbers, where asked. */
static ts_array operand(const type *t, bool odd)
{
    ts_array a;
    err e = {0};
    CHECK(ts_array_make(&a, t->dtype, t->rank, t->dim, &e));
    for (int64_t i = 0; i < type_count(t); i++) {
        const int64_t v = (int64_t)(random_bits(5, (uint64_t)i) % 7) - (dtype_signed(t->dtype) ? 3 : 0);
        if (dtype_class(t->dtype) == D_REAL)
            store_real(t->dtype, a.data, i, odd && i % 11 == 7 ? NAN : (double)v);
        else
            store_whole(t->dtype, a.data, i, v);
    }
    return a;
}

static void test_form(const op *o, ts_dtype of, int64_t length, double tolerance)
{
    graph *g = ts_graph_make();
    const type t = {.dtype = of, .rank = 2, .dim = {3, length}};
    const node *x = g_input(g, "x", &t, NULL), *y = g_make(g, o, 1, &x, NULL, 0);
    ts_array a = operand(&t, false);
    if (CHECK(y && has_merge(y)))
        judge(y, (const ts_array *const[]){&a}, tolerance);
    ts_array_free(&a);
    ts_graph_free(g);
}

static void test_none(const op *o)
{
    graph *g = ts_graph_make();
    const type t = {.dtype = TS_F32, .rank = 1, .dim = {9}};
    const node *x = g_input(g, "x", &t, NULL), *y = g_make(g, o, 1, &x, NULL, 0);
    CHECK(y && !has_merge(y));
    ts_graph_free(g);
}

/* Every case of every operation whose definition is such a fold. */
static int test_table(void)
{
    int n = 0;
    for (const op *o = op_next(NULL); o; o = op_next(o)) {
        size_t length;
        for (const char *at = o->cases, *line; at && (line = problem_next(&at, &length));) {
            graph *g = ts_graph_make();
            problem p;
            problem_build(g, o, line, length, TS_N_DTYPE, &p);
            const ts_array *in[PROBLEM_OPERANDS];
            ts_array all[PROBLEM_OPERANDS];
            const bool has = p.y && !node_is_leaf(p.y) && has_merge(p.y);
            for (int i = 0; has && i < p.y->n_in; i++)
                all[i] = operand(&p.y->in[i]->type, true), in[i] = &all[i];
            if (has)
                judge(p.y, in, 0), n++;
            for (int i = 0; has && i < p.y->n_in; i++)
                ts_array_free(&all[i]);
            ts_graph_free(g);
        }
    }
    return n;
}

int main(void)
{
    test_form(&tuple_place, TS_I32, 40, 0), test_form(&tuple_place, TS_F32, 7, 0);
    test_form(&tuple_both, TS_I64, 50, 0), test_form(&tuple_both, TS_F32, 3, 0);
    test_form(&tuple_softmax, TS_F32, 60, 1e-12), test_form(&tuple_softmax, TS_F64, 2, 1e-12);
    test_form(&tuple_variance, TS_F64, 60, 1e-12), test_form(&tuple_variance, TS_F32, 5, 1e-12);
    test_form(&tuple_signs, TS_I64, 30, 0);
    test_none(&tuple_fading), test_none(&tuple_digits);
    CHECK(test_table() >= 10);
    return check_done();
}
