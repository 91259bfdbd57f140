/* ctest: large timeout=1800
 * operations_test [SHARE FIRST | NAME]: the problems that operations state, of one operation in SHARE or of that one,
 * on the stand-in for the driver with all its checks, against the interpreter: whole numbers to the bit, reals within
 * a few roundings. No finding is allowed. What calls a routine of C is computed by the processor within the same plan.
 * The long run: operations_test 1 0. */
#include "graph/ir/problem.h"
#include "tests/backends/cases.h"
#include "tests/backends/cuda/rig.h"
#include "tests/backends/row.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, LANES = 3, DEFAULT_SHARE = 5 };
static int compared;

typedef struct batch { /* problems of one operation, in one graph */
    ts_graph *g;
    int n, n_given;
    ts_tensor root[MOST];
    ts_given given[MOST * PROBLEM_OPERANDS];
} batch;

static void give(batch *b, const node *n)
{
    ts_array a;
    if (!n->leaf || n->leaf->kind != LEAF_INPUT)
        return;
    for (int i = 0; i < b->n_given; i++)
        if (!strcmp(b->given[i].name, n->label))
            return;
    MUST(ts_array_make(&a, n->type.dtype, n->type.rank, n->type.dim, NULL));
    ts_array_random(&a, (uint64_t)n->id + 1, LANES);
    b->given[b->n_given++] = (ts_given){n->label, a};
}

static void fill(batch *b, const op *o)
{
    const char *at = o->cases, *line;
    size_t n;
    *b = (batch){.g = ts_graph_make()};
    while (at && b->n < MOST && (line = problem_next(&at, &n))) {
        problem p;
        problem_build(b->g, o, line, n, TS_N_DTYPE, &p);
        if (!p.y)
            continue;
        for (int i = 0; i < p.n; i++)
            give(b, p.in[i]);
        b->root[b->n++] = p.y;
    }
}

static void empty(batch *b)
{
    for (int i = 0; i < b->n_given; i++)
        ts_array_free(&b->given[i].value);
    ts_graph_free(b->g);
}

/* tf32: of ten bits behind the first, each operand of a product is off by up to 2^-11 of itself. */
static double tolerance_of(const type *t, const char *schema)
{
    static const double least[TS_N_DTYPE] = {[TS_F32] = 4e-6, [TS_F64] = 1e-12, [TS_F16] = 2e-3, [TS_BF16] = 2e-2};
    return schema && t->dtype == TS_F32 ? 0x1p-9 : least[t->dtype];
}

/* The first element that differs, or -1; not-a-numbers are alike. */
static int64_t differs(const ts_array *want, const ts_array *got, double tolerance)
{
    const int64_t n = ts_array_count(want);
    if (dtype_class(want->dtype) != D_REAL)
        return row_differs(want, got, 0);
    for (int64_t i = 0; i < n; i++) {
        const double w = ts_array_at(want, i), g = ts_array_at(got, i);
        const bool alike = isnan(w) ? isnan(g) : w == g || fabs(w - g) <= tolerance * (1 + fabs(w));
        if (!alike)
            return i;
    }
    return -1;
}

static void same(const batch *b, const ts_array *want, const ts_array *got, const char *name, const char *schema)
{
    for (int i = 0; i < b->n; i++) {
        const int64_t at = differs(&want[i], &got[i], tolerance_of(&b->root[i]->type, schema));
        compared++;
        if (CHECK(at < 0))
            continue;
        printf("  %s, problem %d, schema %s: element %lld is %.9g, not %.9g\n", name, i, schema ? schema : "guess",
               (long long)at, ts_array_at(&got[i], at), ts_array_at(&want[i], at));
    }
}

/* How many products the plan has matrix units form; -1: there is no plan. */
static int units(const batch *b, const char *schema)
{
    const ts_options o = {.target = "cuda", .schema = schema};
    err e = {0};
    ts_plan *p = ts_plan_of(b->g, b->n, b->root, 0, NULL, &o, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL;
    const int n = json ? check_count(json, "\"unit\":") : -1;
    free(json);
    ts_plan_free(p);
    return n;
}

/* The guess, and the schemas that come with the target where they change which units form products: elsewhere kernels
 * are those of the guess. */
static bool try_schemas(const batch *b, const ts_array *want, const char *name, err *e)
{
    const char *schema[MOST_SCHEMAS];
    const int n = cases_schemas("cuda", schema);
    ts_array got[MOST];
    for (int k = 0; k < n; k++) {
        const ts_options o = {.target = "cuda", .schema = schema[k]};
        if (k && units(b, schema[k]) == units(b, NULL))
            continue;
        if (!ts_eval(b->n, b->root, b->n_given, b->given, &o, got, e))
            return false;
        same(b, want, got, name, schema[k]);
        for (int i = 0; i < b->n; i++)
            ts_array_free(&got[i]);
    }
    return true;
}

/* False: the target does not take it, as e says. */
static bool try_batch(const batch *b, const char *name, err *e)
{
    ts_array want[MOST];
    err own = {0};
    const bool there = ts_eval(b->n, b->root, b->n_given, b->given, &(ts_options){.target = "interp"}, want, &own);
    if (!there) /* values of operands that make no sense: what it does then is asked elsewhere */
        return true;
    const bool ok = try_schemas(b, want, name, e);
    for (int i = 0; i < b->n; i++)
        ts_array_free(&want[i]);
    return ok;
}

static void try_op(const op *o)
{
    batch b;
    err e = {0};
    fill(&b, o);
    if (b.n && !CHECK(try_batch(&b, o->name, &e)))
        printf("  %s: %s\n", o->name, e.text);
    empty(&b);
}

int main(int argc, char **argv)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    const int share = argc == 3 ? (int)strtol(argv[1], NULL, 10) : argc == 2 ? 1 : DEFAULT_SHARE;
    const int first = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
    int number = 0;
    for (const op *o = op_next(NULL); o; o = op_next(o))
        if (argc == 2 ? !strcmp(o->name, argv[1]) : number++ % share == first)
            try_op(o);
    printf("%d results compared\n", compared);
    CHECK(argc == 2 || compared > 1000 / share);
    return check_done();
}
