/* runner.c - a model at whatever extents it is asked for: plans by the shapes of the inputs, made once. Where memory is
 * short, or there are many, the plans that were used longest ago go. A plan comes with the graph that it is about. */
#include "graph/ir/type.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLANS = 16 };

typedef struct entry {
    ts_plan *plan;
    ts_bound *bound;
    type *input; /* by input of the model */
    int64_t used;
} entry;

struct ts_runner {
    ts_model *model;
    ts_options options;
    int n_dim, n_input, n, made;
    char **dim;
    entry entry[MOST_PLANS];
    int64_t clock;
};

/* ---- entries ---- */
static void drop(ts_runner *r, int i)
{
    ts_plan_free(r->entry[i].plan);
    ts_bound_free(r->entry[i].bound);
    free(r->entry[i].input);
    r->entry[i] = r->entry[--r->n];
}

static void drop_oldest(ts_runner *r)
{
    int oldest = 0;
    for (int i = 1; i < r->n; i++)
        if (r->entry[i].used < r->entry[oldest].used)
            oldest = i;
    drop(r, oldest);
}

static type type_of(const ts_array *a)
{
    type t = {.dtype = a->dtype, .rank = a->rank};
    memcpy(t.dim, a->dim, (size_t)a->rank * sizeof *t.dim);
    return t;
}

static bool is_for(const ts_runner *r, const entry *x, const ts_array *in)
{
    for (int i = 0; i < r->n_input; i++) {
        const type t = type_of(&in[i]);
        if (!type_equal(&x->input[i], &t))
            return false;
    }
    return true;
}

/* Values that shapes were derived from must be those of the plan: then another one is wanted, TS_USAGE says. */
static bool feed(const ts_runner *r, const entry *x, const ts_array *in, err *e)
{
    for (int i = 0; i < r->n_input; i++)
        if (!ts_plan_set(x->plan, i, &in[i], e))
            return false;
    return true;
}

/* ---- making ---- */

/* in NULL: at the largest extents of the ranges. */
static bool make_once(ts_runner *r, const ts_array *in, entry *out, err *e)
{
    ts_port port;
    if (!ts_model_bind(r->model, r->n_dim, (const char *const *)r->dim, in, e))
        return false;
    *out = (entry){.used = r->clock, .input = calloc((size_t)r->n_input + 1, sizeof *out->input)};
    MUST(out->input);
    for (int i = 0; i < r->n_input; i++) {
        ts_model_input(r->model, i, &port);
        out->input[i] = (type){.dtype = port.dtype, .rank = port.rank};
        memcpy(out->input[i].dim, port.dim, (size_t)port.rank * sizeof *port.dim);
    }
    out->plan = ts_plan_make(r->model, &r->options, e);
    out->bound = ts_model_take(r->model);
    if (out->plan && (!in || ts_plan_build(out->plan, e)))
        return true;
    ts_plan_free(out->plan), ts_bound_free(out->bound), free(out->input);
    return false;
}

static entry *make(ts_runner *r, const ts_array *in, err *e)
{
    entry made;
    err own = {0};
    if (r->n == MOST_PLANS)
        drop_oldest(r);
    while (!make_once(r, in, &made, &own)) {
        if (own.code != TS_MEMORY || r->n == 0)
            return err_set(e, own.code, "%s", own.text), NULL;
        own = (err){0};
        drop_oldest(r);
    }
    r->made++;
    r->entry[r->n] = made;
    return &r->entry[r->n++];
}

/* What is not bound without values, or not known, waits for them. */
static bool try_largest(ts_runner *r, err *e)
{
    err own = {0};
    if (make(r, NULL, &own) || own.code == TS_USAGE || own.code == TS_UNSUPPORTED)
        return true;
    return err_set(e, own.code, "%s", own.text);
}

ts_runner *ts_runner_make(ts_model *m, int n, const char *const *dim, const ts_options *o, ts_error *e)
{
    ts_runner *r = calloc(1, sizeof *r);
    bool range = false;
    MUST(r);
    ts_bound_free(ts_model_take(m)); /* ports are those of the unbound model */
    *r = (ts_runner){.model = m, .n_dim = n, .n_input = ts_model_inputs(m)};
    r->options = o ? *o : (ts_options){0};
    r->dim = calloc((size_t)n + 1, sizeof *r->dim);
    MUST(r->dim);
    for (int i = 0; i < n; i++) {
        range = range || strstr(dim[i], "..");
        r->dim[i] = strdup(dim[i]);
        MUST(r->dim[i]);
    }
    if (!range || try_largest(r, e))
        return r;
    ts_runner_free(r);
    return NULL;
}

void ts_runner_free(ts_runner *r)
{
    if (!r)
        return;
    while (r->n)
        drop(r, 0);
    for (int i = 0; i < r->n_dim; i++)
        free(r->dim[i]);
    free(r->dim), free(r);
}

int ts_runner_made(const ts_runner *r)
{
    return r->made;
}

/* ---- running ---- */
static entry *find(ts_runner *r, const ts_array *in, err *e)
{
    for (int i = 0; i < r->n; i++) {
        err own = {0};
        if (is_for(r, &r->entry[i], in) && ts_plan_build(r->entry[i].plan, e) && feed(r, &r->entry[i], in, &own))
            return &r->entry[i];
        if (err_is(e))
            return NULL;
    }
    entry *made = make(r, in, e);
    return made && feed(r, made, in, e) ? made : NULL;
}

bool ts_runner_run(ts_runner *r, const ts_array *in, int n, ts_array *out, ts_error *e)
{
    r->clock++;
    entry *x = find(r, in, e);
    if (!x || !ts_plan_run(x->plan, e))
        return false;
    x->used = r->clock;
    for (int i = 0; i < n; i++)
        if (!ts_plan_get(x->plan, i, &out[i], e)) {
            while (i > 0)
                ts_array_free(&out[--i]);
            return false;
        }
    return true;
}
