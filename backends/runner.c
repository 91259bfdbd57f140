/* runner.c - a model at whatever extents it is asked for: plans by the shapes of the inputs, made once. Where memory is
 * short, or there are many, the plans that were used longest ago go. A plan comes with the graph that it is about.
 *
 * Where ranges are given and the model can vary within them, one program serves every extent at once; extents that are
 * met often get a plan of their own, which a thread makes meanwhile. Only that thread uses the model while it runs. */
#include "graph/ir/type.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PLANS = 16,
    MOST_MET = 64,
    OFTEN = 16
}; /* OFTEN: runs at the same extents, among the last MOST_MET others */

typedef struct entry {
    ts_plan *plan;
    ts_bound *bound;
    type *input; /* by input of the model */
    int64_t used;
} entry;

typedef struct met { /* extents that the program for all of them served */
    uint64_t shapes; /* a hash */
    int64_t runs, used;
} met;

typedef struct making { /* a plan that a thread makes */
    pthread_t thread;
    bool under_way;
    atomic_bool done;
    ts_array *shape; /* of each input, without data */
    entry made;
    bool ok;
} making;

struct ts_runner {
    ts_plan *varying; /* for all extents; or NULL */
    ts_bound *bound;  /* that it is about */
    met met[MOST_MET];
    making making;
    bool full; /* a plan more did not fit */
    ts_model *model;
    ts_options options;
    int n_dim, n_input, n, made;
    char **dim;
    entry entry[MOST_PLANS];
    int64_t clock;
};

/* ---- entries ---- */
/* The last entry takes its place: their order says nothing. */
static void drop(ts_runner *r, int i)
{
    ts_plan_free(r->entry[i].plan);
    ts_bound_free(r->entry[i].bound);
    free(r->entry[i].input);
    r->entry[i] = r->entry[--r->n];
}

/* By when it was used, counted in runs. */
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

/* Plans are by dtypes and shapes of all inputs. */
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

/* ---- what is met often ---- */
/* Two shapes of one hash would share a count: a plan made a little early, nothing worse. */
static uint64_t shapes_of(const ts_runner *r, const ts_array *in)
{
    uint64_t h = 0;
    for (int i = 0; i < r->n_input; i++)
        h = quick_hash(in[i].dim, (size_t)in[i].rank * sizeof in[i].dim[0], h);
    return h;
}

static bool often(ts_runner *r, const ts_array *in) /* counts this one */
{
    const uint64_t shapes = shapes_of(r, in);
    met *m = &r->met[0];
    for (int i = 0; i < MOST_MET && m->shapes != shapes; i++)
        if (r->met[i].shapes == shapes || (r->met[i].used < m->used))
            m = &r->met[i];
    if (m->shapes != shapes)
        *m = (met){.shapes = shapes};
    m->used = r->clock;
    return ++m->runs >= OFTEN;
}

/* ---- making ---- */

/* in NULL: at the largest extents of the ranges. */
static bool make_once(ts_runner *r, const ts_array *in, entry *out, err *e)
{
    ts_port port;
    if (!ts_model_bind(r->model, r->n_dim, (const char *const *)r->dim, in, e))
        return false;
    *out = (entry){.used = r->clock, .input = heap_array((size_t)r->n_input + 1, sizeof *out->input)};
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

static void *make_apart(void *arg)
{
    ts_runner *r = arg;
    err e = {0};
    r->making.ok = make_once(r, r->making.shape, &r->making.made, &e);
    atomic_store(&r->making.done, true);
    return NULL;
}

static void begin_making(ts_runner *r, const ts_array *in)
{
    making *m = &r->making;
    if (m->under_way || r->full)
        return;
    m->shape = heap_array((size_t)r->n_input + 1, sizeof *m->shape);
    for (int i = 0; i < r->n_input; i++)
        m->shape[i] = in[i], m->shape[i].data = NULL;
    atomic_store(&m->done, false);
    m->under_way = !pthread_create(&m->thread, NULL, make_apart, r);
    if (!m->under_way)
        free(m->shape);
}

/* Takes the plan that was made; waits for one that is being made if it must. */
static void end_making(ts_runner *r, bool wait)
{
    making *m = &r->making;
    if (!m->under_way || (!wait && !atomic_load(&m->done)))
        return;
    pthread_join(m->thread, NULL);
    free(m->shape);
    m->under_way = false, r->full = r->full || !m->ok; /* what failed once is not tried again and again */
    if (!m->ok)
        return;
    if (r->n == MOST_PLANS)
        drop_oldest(r);
    r->made++;
    r->entry[r->n++] = m->made;
}

/* One program for all extents of the ranges: where there is none, plans are made as extents are met. */
static bool try_varying(ts_runner *r)
{
    err own = {0};
    r->varying = ts_plan_make_varying(r->model, r->n_dim, (const char *const *)r->dim, &r->options, &own);
    r->bound = ts_model_take(r->model);
    if (r->varying && ts_plan_build(r->varying, &own)) {
        r->options.progress = NULL; /* what a thread makes is told to nobody */
        return r->made++, true;
    }
    ts_plan_free(r->varying), ts_bound_free(r->bound);
    return r->varying = NULL, r->bound = NULL, false;
}

/* What is not bound without values, or not known, waits for them. */
static bool try_largest(ts_runner *r, err *e)
{
    err own = {0};
    if (try_varying(r))
        return true;
    if (make(r, NULL, &own) || own.code == TS_USAGE || own.code == TS_UNSUPPORTED)
        return true;
    return err_set(e, own.code, "%s", own.text);
}

ts_runner *ts_runner_make(ts_model *m, int n, const char *const *dim, const ts_options *o, ts_error *e)
{
    if (!err_given(m, "the model", e) || (n && !err_given(dim, "the list of dimensions", e)))
        return NULL;
    ts_runner *r = heap_array(1, sizeof *r);
    bool range = false;
    ts_bound_free(ts_model_take(m)); /* ports are those of the unbound model */
    *r = (ts_runner){.model = m, .n_dim = n, .n_input = ts_model_inputs(m), .options = o ? *o : (ts_options){0}};
    r->dim = heap_array((size_t)n + 1, sizeof *r->dim);
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
    end_making(r, true);
    while (r->n)
        drop(r, 0);
    ts_plan_free(r->varying), ts_bound_free(r->bound);
    for (int i = 0; i < r->n_dim; i++)
        free(r->dim[i]);
    free(r->dim), free(r);
}

int ts_runner_made(const ts_runner *r)
{
    return r ? r->made : 0;
}

/* ---- running ---- */
static entry *find(ts_runner *r, const ts_array *in, err *e)
{
    end_making(r, true);
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

static entry *own_plan(ts_runner *r, const ts_array *in) /* of exactly these extents, if there is one */
{
    for (int i = 0; i < r->n; i++) {
        err ignored = {0};
        if (is_for(r, &r->entry[i], in) && feed(r, &r->entry[i], in, &ignored))
            return &r->entry[i];
    }
    return NULL;
}

/* The plan that is to run, with its values; NULL with e set. */
static ts_plan *choose(ts_runner *r, const ts_array *in, err *e)
{
    entry *own = NULL;
    if (r->varying) {
        end_making(r, false);
        own = own_plan(r, in);
        if (!own && !feed(r, &(entry){.plan = r->varying}, in, e))
            return NULL;
        if (!own && often(r, in))
            begin_making(r, in);
    } else if (!(own = find(r, in, e)))
        return NULL;
    if (own)
        own->used = r->clock;
    return own ? own->plan : r->varying;
}

bool ts_runner_run(ts_runner *r, const ts_array *in, int n, ts_array *out, ts_error *e)
{
    if (!err_given(r, "the runner", e) || (r->n_input && !err_given(in, "the list of values", e)) ||
        (n && !err_given(out, "the list of arrays", e)))
        return false;
    for (int i = 0; i < r->n_input; i++)
        if (!array_sound(&in[i], "a value", e))
            return err_in(e, "input %d", i);
    r->clock++;
    ts_plan *p = choose(r, in, e);
    if (!p || !ts_plan_run(p, e))
        return false;
    for (int i = 0; i < n; i++)
        if (!ts_plan_get(p, i, &out[i], e)) {
            while (i > 0)
                ts_array_free(&out[--i]);
            return false;
        }
    return true;
}
