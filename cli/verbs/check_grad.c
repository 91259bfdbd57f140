/* check_grad.c - tessera check-grad: gradients of a model against differences of its values. */
#include "cli/say.h"
#include "cli/session.h"
#include "graph/base/dtype.h"

#include <float.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART "check_grad_part" /* a function of the graph */
enum { WAYS = 8 };             /* directions that each input is moved along */
typedef struct place {         /* where the gradient is checked: an input, or a weight as an input of its name */
    ts_tensor x, weight;       /* weight: in place of which it stands; NULL: it is an input of the model */
    ts_array value, slope;
    bool owned;   /* the value: an input's is the session's */
    double worst; /* relative error; -1: nothing to compare with */
} place;
typedef struct checking {
    session s;
    ts_graph *g;
    const char *only; /* a pattern of names; NULL: all */
    int n_in, n_out;  /* real ones */
    place *at;
    ts_tensor *out, *seed, *grad;
    ts_tensor *part;  /* outputs times seeds, f64: not rounded as outputs of f32 are */
    ts_array *weight; /* values of seeds */
    ts_plan *plan;    /* of parts, then gradients */
    double tolerance;
} checking;

static bool can_move(ts_dtype d) /* halves are too coarse to take differences of */
{
    return d == TS_F32 || d == TS_F64;
}

/* ---- what is asked ---- */
static bool is_asked(const checking *c, const char *name)
{
    return !c->only || fnmatch(c->only, name, 0) == 0;
}

/* The model's input of that name, as its graph has it: a bound model's graph has them as leaves. -1: it is none */
static int input_called(const checking *c, const char *name)
{
    ts_port p;
    int i = ts_model_inputs(c->s.model) - 1;
    while (i >= 0 && !(ts_model_input(c->s.model, i, &p) && !strcmp(p.name, name)))
        i--;
    return i;
}

/* Inputs first, then weights, which become inputs. */
static bool find_places(checking *c, ts_error *e)
{
    const int n = ts_leaves(c->n_out, c->out, NULL);
    ENDED_BY(heap_free) ts_tensor *all = heap_array((size_t)n + 1, sizeof *all);
    bool ok = true;
    ts_leaves(c->n_out, c->out, all);
    c->at = heap_array((size_t)n + 1, sizeof *c->at);
    for (int weights = 0; weights < 2; weights++)
        for (int k = 0; k < n && ok; k++) {
            const char *name = ts_name(all[k]);
            const int input = input_called(c, name);
            place *at = &c->at[c->n_in];
            if (strcmp(ts_op_name(all[k]), weights ? "weight" : "input") || !*name || (input >= 0) == weights ||
                !can_move(ts_type(all[k])) || !is_asked(c, name))
                continue;
            *at = (place){.x = all[k], .owned = weights};
            if (weights)
                at->weight = all[k], at->x = ts_input(c->g, name, ts_type(all[k]), ts_rank(all[k]), ts_shape(all[k]));
            ok = weights ? at->x && ts_leaf_value(at->weight, &at->value, e) : (at->value = c->s.value[input], true);
            c->n_in++;
        }
    return ok && ts_graph_ok(c->g, e);
}

static bool with_weights(checking *c, ts_error *e)
{
    ts_tensor *from = heap_array((size_t)c->n_in + 1, sizeof *from), *to = heap_array((size_t)c->n_in + 1, sizeof *to);
    int n = 0;
    for (int k = 0; k < c->n_in; k++)
        if (c->at[k].weight)
            from[n] = c->at[k].weight, to[n++] = c->at[k].x;
    const bool ok = !n || ts_replace(c->g, c->n_out, c->out, n, from, to, c->out) || ts_graph_ok(c->g, e);
    free(from), free(to);
    return ok;
}

static bool seed(checking *c, int i, ts_error *e)
{
    const ts_tensor t = c->out[i];
    char name[64];
    snprintf(name, sizeof name, "check-grad.seed%d", i);
    c->seed[i] = ts_input(c->g, name, ts_type(t), ts_rank(t), ts_shape(t));
    if (!ts_array_make(&c->weight[i], ts_type(t), ts_rank(t), ts_shape(t), e))
        return false;
    ts_array_random(&c->weight[i], 11 + (uint64_t)i, 0);
    snprintf(name, sizeof name, "check-grad.weight%d", i);
    c->part[i] = ts_call2(c->g, PART, t, ts_input(c->g, name, TS_F64, ts_rank(t), ts_shape(t)));
    return true;
}

static bool ask(checking *c, ts_error *e)
{
    const int n = ts_model_outputs(c->s.model);
    c->g = ts_model_graph(c->s.model);
    c->out = heap_array((size_t)n + 1, sizeof *c->out), c->seed = heap_array((size_t)n + 1, sizeof *c->seed);
    c->weight = heap_array((size_t)n + 1, sizeof *c->weight), c->part = heap_array((size_t)n + 1, sizeof *c->part);
    if (!ts_function(c->g, PART "(y, w)", "y * w", NULL))
        return ts_graph_ok(c->g, e);
    for (int i = 0; i < n; i++) {
        const ts_tensor t = ts_model_tensor(c->s.model, i);
        if (dtype_has_gradient(ts_type(t)))
            c->out[c->n_out++] = t;
    }
    if (!find_places(c, e))
        return false;
    if (!c->n_in || !c->n_out) {
        err_set(e, TS_BAD_INPUT, "check-grad: no %s of the model is of real numbers%s%s",
                c->n_out ? "input or weight" : "output", c->only ? " and matches " : "", c->only ? c->only : "");
        return err_hint(e, "tessera show MODEL lists them");
    }
    bool ok = with_weights(c, e);
    for (int i = 0; i < c->n_out && ok; i++)
        ok = seed(c, i, e);
    ENDED_BY(heap_free) ts_tensor *x = heap_array((size_t)c->n_in, sizeof *x);
    c->grad = heap_array((size_t)c->n_in, sizeof *c->grad);
    for (int k = 0; k < c->n_in; k++)
        x[k] = c->at[k].x;
    return ok && (ts_chain_rule(c->g, c->n_out, c->out, c->seed, c->n_in, x, c->grad) || ts_graph_ok(c->g, e));
}

/* ---- values ---- */
static bool set_all(checking *c, ts_error *e)
{
    for (int i = 0; i < c->s.n_inputs; i++) {
        ts_port p;
        ts_model_input(c->s.model, i, &p);
        const int at = ts_plan_find(c->plan, p.name);
        if (at >= 0 && !ts_plan_set(c->plan, at, &c->s.value[i], e))
            return false;
    }
    for (int k = 0; k < c->n_in; k++) {
        const int at = c->at[k].weight ? ts_plan_find(c->plan, ts_name(c->at[k].x)) : -1;
        if (at >= 0 && !ts_plan_set(c->plan, at, &c->at[k].value, e))
            return false;
    }
    for (int i = 0; i < c->n_out; i++) {
        char name[64];
        snprintf(name, sizeof name, "check-grad.weight%d", i);
        const int at = ts_plan_find(c->plan, ts_name(c->seed[i])), wide = ts_plan_find(c->plan, name);
        ts_array all;
        if (at >= 0 && !ts_plan_set(c->plan, at, &c->weight[i], e))
            return false;
        if (wide < 0 || !ts_array_make(&all, TS_F64, c->weight[i].rank, c->weight[i].dim, e))
            continue;
        for (int64_t k = 0; k < ts_array_count(&all); k++)
            ts_array_set(&all, k, ts_array_at(&c->weight[i], k));
        const bool ok = ts_plan_set(c->plan, wide, &all, e);
        ts_array_free(&all);
        if (!ok)
            return false;
    }
    return !err_is(e);
}

typedef struct sums { /* of the outputs, weighted, and of their magnitudes; the slope times the move to there */
    double value, scale, by;
} sums;

static bool sum(checking *c, sums *out, ts_error *e)
{
    out->value = out->scale = 0;
    if (!ts_plan_run(c->plan, e))
        return false;
    for (int i = 0; i < c->n_out; i++) {
        ts_array a;
        if (!ts_plan_get(c->plan, i, &a, e))
            return false;
        for (int64_t k = 0; k < ts_array_count(&a); k++)
            out->value += ts_array_at(&a, k), out->scale += fabs(ts_array_at(&a, k));
        ts_array_free(&a);
    }
    return true;
}

/* The sums with place k moved by h along way; what storing rounds off is taken into the move. */
static bool moved(checking *c, int k, const ts_array *way, double h, sums *out, ts_error *e)
{
    const ts_array *x = &c->at[k].value;
    ts_array to;
    if (!ts_array_make(&to, x->dtype, x->rank, x->dim, e))
        return false;
    out->by = 0;
    for (int64_t i = 0; i < ts_array_count(x); i++) {
        ts_array_set(&to, i, ts_array_at(x, i) + h * ts_array_at(way, i));
        out->by += (ts_array_at(&to, i) - ts_array_at(x, i)) * ts_array_at(&c->at[k].slope, i);
    }
    const bool ok = ts_plan_set(c->plan, ts_plan_find(c->plan, ts_name(c->at[k].x)), &to, e) && sum(c, out, e);
    ts_array_free(&to);
    return ok;
}

/* A step of h as a share of what is moved: what is left out is in proportion to its square, what values round off to
 * their eps divided by h, so that the cube root of eps is best. Inputs of f32 are moved by what f32 holds, and values
 * are computed in f64: their eps is that of f64, but a step is to be many times that of f32. */
static double step_of(const checking *c, int k)
{
    return c->at[k].value.dtype == TS_F64 ? cbrt(DBL_EPSILON) : sqrt(FLT_EPSILON);
}

/* Three steps have to agree better with each other than with the gradient: at a jump or a corner they do not, and what
 * is there says nothing. */
static bool check_way(checking *c, int k, const ts_array *way, ts_error *e)
{
    double error = 0, off[3];
    for (int i = 0; i < 3; i++) {
        const double h = step_of(c, k) / (1 << i);
        sums up, down;
        if (!moved(c, k, way, h, &up, e) || !moved(c, k, way, -h, &down, e))
            return false;
        const double difference = up.value - down.value, want = up.by - down.by, noise = 16 * DBL_EPSILON * down.scale;
        const double size = fabs(difference) + fabs(want) + noise;
        off[i] = (difference - want) / h;
        error = size > 0 ? fmax(0, fabs(difference - want) - noise) / size : 0;
    }
    const bool agree = fabs(off[0] - off[2]) <= 0.2 * fabs(off[2]) && fabs(off[1] - off[2]) <= 0.2 * fabs(off[2]);
    if (isfinite(error) && (agree || error <= c->tolerance))
        c->at[k].worst = fmax(c->at[k].worst, error);
    return true;
}

static bool check_place(checking *c, int k, ts_error *e)
{
    const ts_array *x = &c->at[k].value;
    c->at[k].worst = -1;
    if (ts_plan_find(c->plan, ts_name(c->at[k].x)) < 0)
        return c->at[k].worst = 0, true;
    if (c->s.options.progress)
        c->s.options.progress(c->s.options.user, ts_name(c->at[k].x), k, c->n_in);
    for (int i = 0; i < WAYS; i++) {
        ts_array way;
        if (!ts_array_make(&way, TS_F64, x->rank, x->dim, e))
            return false;
        ts_array_random(&way, 101 + (uint64_t)i, 0);
        for (int64_t j = 0; i && j < ts_array_count(&way); j++) /* each one after the first moves a share of all */
            if (j % WAYS != i)
                ((double *)way.data)[j] = 0;
        const bool ok = check_way(c, k, &way, e);
        ts_array_free(&way);
        if (!ok)
            return false;
    }
    return ts_plan_set(c->plan, ts_plan_find(c->plan, ts_name(c->at[k].x)), x, e);
}

static bool check(checking *c, ts_error *e)
{
    const int n = c->n_out + c->n_in;
    ENDED_BY(heap_free) ts_tensor *all = heap_array((size_t)n, sizeof *all);
    memcpy(all, c->part, (size_t)c->n_out * sizeof *all);
    memcpy(all + c->n_out, c->grad, (size_t)c->n_in * sizeof *all);
    c->s.options.reference = true;
    c->plan = ts_plan_of(c->g, n, all, 0, NULL, &c->s.options, e);
    bool ok = c->plan && ts_plan_build(c->plan, e) && set_all(c, e) && ts_plan_run(c->plan, e);
    for (int k = 0; k < c->n_in && ok; k++)
        ok = ts_plan_get(c->plan, c->n_out + k, &c->at[k].slope, e);
    for (int k = 0; k < c->n_in && ok; k++)
        ok = check_place(c, k, e);
    return ok;
}

/* ---- the verb ---- */
static bool show(const checking *c, const args *a)
{
    bool ok = true;
    cJSON *root = reply_make("check-grad/1"), *list = js_array(root, "inputs");
    for (int k = 0; k < c->n_in; k++) {
        const place *at = &c->at[k];
        const bool within = at->worst <= c->tolerance;
        ok = ok && within;
        js_row(list, "name:%s,of:%s,error:%g,tolerance:%g,verdict:%s", ts_name(at->x), at->weight ? "weight" : "input",
               at->worst < 0 ? NAN : at->worst, c->tolerance,
               at->worst < 0 ? "unknown"
               : within      ? "good"
                             : "wrong");
    }
    reply_give(a, root,
               "[inputs*{name}\t{of}\t[error?{error:%.2g}\t{verdict}|unknown: every difference met a jump or a "
               "corner]\n]");
    return ok;
}

static void finish(checking *c)
{
    for (int i = 0; i < c->n_out; i++)
        ts_array_free(&c->weight[i]);
    for (int k = 0; k < c->n_in; k++) {
        ts_array_free(&c->at[k].slope);
        if (c->at[k].owned)
            ts_array_free(&c->at[k].value);
    }
    ts_plan_free(c->plan);
    free(c->out), free(c->part), free(c->seed), free(c->weight), free(c->grad), free(c->at);
    session_close(&c->s);
}

static int run(const args *a, ts_error *e)
{
    checking c = {.tolerance = args_number(a, "tolerance"), .only = args_text(a, "only")};
    int code = TS_OK;
    if (session_open(&c.s, a, args_noun(a, 0), e) && session_fill(&c.s, 1, e) && ask(&c, e) && check(&c, e))
        code = show(&c, a) ? TS_OK : TS_FAILED;
    finish(&c);
    return code;
}

/* What is left out is some eps of f32 of what a derivative is, in either dtype, times how fast derivatives change: up
 * to ten thousand times as much as they are. */
static const option options[] = {
    {"tolerance", 0, NUMBER, "X", "largest relative error that passes", "1e-3", false, 0, 1},
    {"only", 0, WORD, "GLOB", "inputs and weights of that name, as in 'layer.0*'", ONCE},
    {0},
};

const verb verb_check_grad = {
    .name = "check-grad",
    .brief = "Check gradients against finite differences",
    .usage = "MODEL",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = "tessera check-grad resnet-tiny --dim batch=1\n"
                "tessera check-grad mine.json --tolerance 1e-6 # exit 1: one is wrong\n"
                "tessera check-grad gpt2-tiny --dim seq=8 --only '*bias'",
    .details = "For each input and weight of real numbers the worst relative error |d - g| / (|d| + |g|) over "
               "directions, d the "
               "difference of a weighted sum of all outputs, g what its gradient says. Values are computed in f64.",
    .run = run,
};
