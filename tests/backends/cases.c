#include "tests/backends/cases.h"
#include "backends/backend.h"
#include "graph/ir/problem.h"
#include "schedule/make.h"
#include "schedule/schema/schemas.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 24, MOST_INPUTS = 1024 };

typedef struct batch {
    const backend *by;
    const target *on;
    bool kept;
    ts_graph *g;
    int n, n_given;
    const node *root[TOGETHER];
    ts_array want[TOGETHER];
    ts_given given[MOST_INPUTS];
    text what;
} batch;
static struct {
    int compared, left, plans;
} total;

/* ---- values ---- */
static bool is_given(const batch *b, const node *n)
{
    bool any = false;
    for (int i = 0; i < b->n_given; i++)
        any = any || !strcmp(b->given[i].name, n->label);
    return any;
}

static void give(batch *b, const node *root)
{
    const int n = g_reach(1, &root, NULL);
    const node **need = calloc((size_t)n + 1, sizeof *need);
    err e = {0};
    MUST(need);
    g_reach(1, &root, need);
    for (int i = 0; i < n; i++) {
        const node *x = need[i];
        if (!x->leaf || x->leaf->kind != LEAF_INPUT || is_given(b, x))
            continue;
        MUST(b->n_given < MOST_INPUTS);
        ts_given *v = &b->given[b->n_given++];
        *v = (ts_given){.name = x->label};
        MUST(ts_array_make(&v->value, x->type.dtype, x->type.rank, x->type.dim, &e));
        ts_array_random(&v->value, (uint64_t)b->n_given, x->leaf->below);
    }
    free(need);
}

/* Of f32 and f64 some units in the last place of functions, and sums in another order; of what is stored in fewer bits
 * a unit in their last place, or of the shortest of those that have as many. */
static double tolerance(dtype d)
{
    static const double shorter[] = {0, 0, 0, 0, 0.5, 0, 0, 0, 1};
    const int bits = dtype_bits(d);
    return dtype_class(d) != D_REAL ? 0 : bits == 64 ? 1e-12 : bits == 32 ? 2e-5 : bits == 16 ? 0x1p-7 : shorter[bits];
}

static int64_t differs(const ts_array *want, const ts_array *got)
{
    const double most = tolerance(want->dtype);
    for (int64_t i = 0; i < ts_array_count(want); i++) {
        const double a = ts_array_at(want, i), b = ts_array_at(got, i);
        if (!(a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= most * (1 + fabs(a))))
            return i;
    }
    return -1;
}

int cases_schemas(const char *name, const char *schema[MOST_SCHEMAS])
{
    int n = 0;
    schema[n++] = NULL;
    for (const builtin_schema *s = builtin_schemas; s->name; s++)
        if (!strcmp(s->target, name)) {
            MUST(n < MOST_SCHEMAS);
            schema[n++] = s->name;
        }
    return n;
}

/* ---- a batch ---- */
static void compare(batch *b, const char *schema)
{
    const ts_options own = {.target = b->by->name, .schema = schema, .cache_folder = b->kept ? NULL : "none"};
    const char *under = schema ? schema : "guess", *at = text_str(&b->what);
    ts_array got[TOGETHER] = {0};
    err e = {0};
    if (!CHECK(ts_eval(b->n, b->root, b->n_given, b->given, &own, got, &e)))
        printf("  %s: %s\n%s", under, e.text, text_str(&b->what));
    char line[200];
    for (int i = 0; i < b->n && !err_is(&e) && line_next(&at, line, sizeof line); i++) {
        const int64_t k = differs(&b->want[i], &got[i]);
        if (!CHECK(k < 0))
            printf("  %s: %s: element %lld is %.9g, not %.9g\n", under, line, (long long)k, ts_array_at(&got[i], k),
                   ts_array_at(&b->want[i], k));
        total.compared++;
    }
    total.plans++;
    for (int i = 0; i < b->n; i++)
        ts_array_free(&got[i]);
}

static void run(batch *b)
{
    const char *schema[MOST_SCHEMAS];
    const int n = b->n ? cases_schemas(b->by->name, schema) : 0;
    for (int i = 0; i < n; i++)
        compare(b, schema[i]);
    for (int i = 0; i < b->n; i++)
        ts_array_free(&b->want[i]);
    for (int i = 0; i < b->n_given; i++)
        ts_array_free(&b->given[i].value);
    text_free(&b->what), ts_graph_free(b->g);
    *b = (batch){.by = b->by, .on = b->on, .kept = b->kept, .g = ts_graph_make()};
}

static bool takes(const batch *b, ts_graph *g, const node *y)
{
    err e = {0};
    plan *p = plan_make(g, 1, &y, &(plan_options){.on = b->on, .target = b->by->name}, &e);
    const bool ok = p && (!b->by->takes || b->by->takes(p, &e));
    plan_free(p);
    if (!ok && !CHECK(e.code == TS_UNSUPPORTED))
        printf("  %s\n", e.text);
    return ok;
}

static bool builds(const batch *b, const op *o, const char *line,
                   size_t n) /* of a graph that failed, nothing is built */
{
    ts_graph *g = ts_graph_make();
    problem p;
    problem_build(g, o, line, n, TS_N_DTYPE, &p);
    const bool built = p.y && ts_graph_ok(g, NULL), ok = built && takes(b, g, p.y);
    total.left += built && !ok;
    ts_graph_free(g);
    return ok;
}

static void add(batch *b, const op *o, const char *line, size_t n)
{
    const ts_options interp = {.target = "interp"};
    err e = {0};
    problem p;
    if (!builds(b, o, line, n))
        return;
    problem_build(b->g, o, line, n, TS_N_DTYPE, &p);
    const int n_before = b->n_given;
    give(b, p.y);
    ts_given need[MOST_INPUTS];
    int n_need = 0;
    for (int i = 0; i < b->n_given; i++)
        for (int k = 0; k < p.n; k++)
            if (p.in[k] && !strcmp(p.in[k]->label, b->given[i].name)) {
                need[n_need++] = b->given[i];
                break;
            }
    if (!ts_eval(1, &p.y, n_need, need, &interp, &b->want[b->n], &e)) { /* indices that are outside */
        while (b->n_given > n_before)
            ts_array_free(&b->given[--b->n_given].value);
        return;
    }
    b->root[b->n++] = p.y;
    text_line(&b->what, "%s %.*s", o->name, (int)n, line);
    if (b->n == TOGETHER)
        run(b);
}

void cases_check(const char *name, bool kept, int share, int first)
{
    arena mem = {0};
    err e = {0};
    batch b = {.by = backend_find(name, &e), .kept = kept, .g = ts_graph_make()};
    int number = 0;
    if (!CHECK(b.by && (b.on = b.by->target(&mem, &(machine_options){0}, &e))))
        printf("  %s\n", e.text);
    for (const op *o = op_next(NULL); b.on && o; o = op_next(o)) {
        const char *at = o->cases, *line;
        size_t n;
        while (at && (line = problem_next(&at, &n)))
            if (number++ % share == first)
                add(&b, o, line, n);
    }
    run(&b);
    ts_graph_free(b.g), arena_free(&mem);
    printf("%d problems in %d plans, %d left out\n", total.compared, total.plans, total.left);
    CHECK(total.compared > 10 * total.left);
}
