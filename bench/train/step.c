#include "bench/train/step.h"

#include "bench/failure.h"
#include "bench/train/optimizer.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */
static bool is_real(ts_dtype d)
{
    return d == TS_F32 || d == TS_F64 || d == TS_F16 || d == TS_BF16;
}

static bool listed(const char *globs, const char *name)
{
    char line[WISH_LINE];
    for (const char *at = globs; wish_line(&at, line);)
        if (fnmatch(line, name, 0) == 0)
            return true;
    return false;
}

static bool is_param(const net *n, ts_tensor t)
{
    return t == n->head_weight || t == n->head_bias ||
           (strcmp(ts_op_name(t), "weight") == 0 && is_real(ts_type(t)) && *ts_name(t));
}

static int64_t count_of(ts_tensor t)
{
    int64_t n = 1;
    for (int i = 0; i < ts_rank(t); i++)
        n *= ts_shape(t)[i];
    return n;
}

/* Letters that differ, at most: for names that were meant. */
static int distance(const char *a, const char *b)
{
    int row[128];
    const int n = (int)strlen(b);
    if (n >= 127)
        return 1000;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            const int up = row[j], change = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = change < up + 1 ? change : up + 1;
            row[j] = row[j] < row[j - 1] + 1 ? row[j] : row[j - 1] + 1;
            diagonal = up;
        }
    }
    return row[n];
}

/* A glob that matches no parameter is a mistake of typing. */
static bool check_globs(const char *option, const char *globs, int n, const ts_tensor *all, ts_error *e)
{
    char line[WISH_LINE];
    for (const char *at = globs; wish_line(&at, line);) {
        const char *near = NULL;
        int best = 1000;
        bool found = false;
        for (int i = 0; i < n && !found; i++) {
            const int d = distance(line, ts_name(all[i]));
            found = fnmatch(line, ts_name(all[i]), 0) == 0;
            if (d < best)
                best = d, near = ts_name(all[i]);
        }
        if (found)
            continue;
        bench_fail(e, TS_USAGE, "--%s '%s' matches none of the %d parameters", option, line, n);
        return bench_hint(e, "the nearest is %s", near ? near : "none");
    }
    return true;
}

static bool decays(const train_wish *w, ts_tensor t)
{
    return w->no_decay ? !listed(w->no_decay, ts_name(t)) : ts_rank(t) > 1;
}

static bool collect(step *s, const net *n, ts_error *e)
{
    const train_wish *w = s->wish;
    const int most = ts_leaves(1, &n->loss, NULL);
    ts_tensor *all = calloc((size_t)most + 3, sizeof *all);
    s->param = calloc((size_t)most + 3, sizeof *s->param);
    if (!all || !s->param)
        return free(all), bench_fail(e, TS_MEMORY, "no memory for %d parameters", most);
    ts_leaves(1, &n->loss, all);
    int k = 0;
    for (int i = 0; i < most; i++)
        if (is_param(n, all[i]) && all[i] != n->head_weight && all[i] != n->head_bias)
            all[k++] = all[i];
    if (n->head_weight)
        all[k++] = n->head_weight, all[k++] = n->head_bias;
    for (int i = 0; i < k; i++) {
        const bool frozen = listed(w->freeze, ts_name(all[i]));
        s->n_frozen += frozen;
        *(frozen ? &s->frozen : &s->trained) += count_of(all[i]);
        if (!frozen)
            s->param[s->n_param++] = (param){.name = ts_name(all[i]), .from = all[i], .decays = decays(w, all[i])};
    }
    bool good = check_globs("freeze", w->freeze, k, all, e) && check_globs("no-decay", w->no_decay, k, all, e);
    if (good && !s->n_param) {
        good = bench_fail(e, TS_USAGE, "there is nothing to train: the loss depends on no weight that is not frozen");
        bench_hint(e, "--freeze leaves out what it names");
    }
    free(all);
    return good;
}

/* ---- the graph ---- */
/* Rows are summed in f32, what they give in f64: long sums of small numbers keep their digits. */
static ts_tensor square_sum(ts_graph *g, ts_tensor t)
{
    ts_tensor y = ts_call1(g, "square", t);
    if (ts_rank(t) > 1)
        y = ts_call1(g, "sum axes=[-1]", y);
    return ts_call1(g, "sum", ts_call1(g, "cast to=f64", y));
}

static ts_tensor sum_all(ts_graph *g, int n, const ts_tensor *t)
{
    return n == 1 ? t[0] : ts_call2(g, "add", sum_all(g, n / 2, t), sum_all(g, n - n / 2, t + n / 2));
}

static ts_tensor scalar_input(ts_graph *g, const char *name)
{
    return ts_input(g, name, TS_F32, 0, NULL);
}

/* t where the step stands, `was` where it must not. */
static ts_tensor kept(ts_graph *g, ts_tensor fine, ts_tensor t, ts_tensor was)
{
    return ts_call3(g, "where", fine, t, was);
}

static bool make_inputs(step *s, net *n, ts_tensor *grad, ts_error *e)
{
    ts_tensor *from = calloc((size_t)s->n_param + 1, sizeof *from), *to = calloc((size_t)s->n_param + 1, sizeof *to);
    bool good = from && to;
    for (int i = 0; good && i < s->n_param; i++) {
        param *p = &s->param[i];
        p->input = ts_input(n->g, p->name, ts_type(p->from), ts_rank(p->from), ts_shape(p->from));
        from[i] = p->from, to[i] = p->input;
    }
    good = good && ts_graph_ok(n->g, e) && ts_replace(n->g, 1, &n->loss, s->n_param, from, to, &s->loss) &&
           ts_chain_rule(n->g, 1, &s->loss, NULL, s->n_param, to, grad);
    free(from), free(to);
    return good || ts_graph_ok(n->g, e);
}

static ts_tensor fine_of(ts_graph *g, ts_tensor norm)
{
    const ts_tensor zero = ts_call2(g, "subtract", norm, norm); /* NaN where it is not finite */
    return ts_call2(g, "equal", zero, ts_scalar(g, ts_type(norm), 0));
}

static bool make_updates(step *s, net *n, const ts_tensor *grad, ts_state *state, int *n_state, ts_error *e)
{
    ts_graph *g = n->g;
    const train_wish *w = s->wish;
    for (int i = 0; i < s->n_param; i++)
        s->square[i] = square_sum(g, grad[i]);
    s->norm = ts_call1(g, "sqrt", sum_all(g, s->n_param, s->square));
    const ts_tensor loss = ts_call1(g, "cast to=f64", s->loss), fine = fine_of(g, ts_call2(g, "add", s->norm, loss));
    ts_tensor scale = NULL;
    if (w->clip > 0) {
        const ts_tensor size = ts_call2(g, "add", s->norm, ts_scalar(g, TS_F64, 1e-6)),
                        share = ts_call2(g, "divide", ts_scalar(g, TS_F64, w->clip), size);
        scale = ts_call1(g, "cast to=f32", ts_call2(g, "minimum", share, ts_scalar(g, TS_F64, 1)));
    }
    optimizer o = {.g = g,
                   .wish = w,
                   .lr = scalar_input(g, "train.lr"),
                   .first = scalar_input(g, "train.first"),
                   .second = scalar_input(g, "train.second")};
    for (int i = 0; i < s->n_param; i++) {
        param *p = &s->param[i];
        ts_tensor next[MOST_STATES + 1];
        const ts_tensor clipped = scale ? ts_call2(g, "multiply", grad[i], scale) : grad[i];
        if (!optimizer_apply(&o, p, clipped, next, e))
            return false;
        state[(*n_state)++] = (ts_state){p->input, kept(g, fine, next[0], p->input)};
        for (int k = 0; k < p->n_state; k++)
            state[(*n_state)++] = (ts_state){p->state[k], kept(g, fine, next[k + 1], p->state[k])};
    }
    return ts_graph_ok(g, e);
}

bool step_make(step *s, net *n, int64_t total_steps, int64_t warmup, const ts_options *o, ts_error *e)
{
    *s = (step){.wish = n->wish, .total_steps = total_steps, .warmup = warmup};
    if (!collect(s, n, e))
        return false;
    const size_t most = (size_t)s->n_param + 1;
    ts_tensor *grad = calloc(most, sizeof *grad), *out = calloc(most + 1, sizeof *out);
    ts_state *state = calloc(most * (MOST_STATES + 1), sizeof *state);
    int n_state = 0;
    s->square = calloc(most, sizeof *s->square);
    bool good = (grad && out && state && s->square) || bench_fail(e, TS_MEMORY, "no memory for the step");
    good = good && make_inputs(s, n, grad, e) && make_updates(s, n, grad, state, &n_state, e);
    if (good) {
        out[0] = s->loss, out[1] = s->norm;
        memcpy(out + 2, s->square, (size_t)s->n_param * sizeof *out);
        s->plan = ts_plan_of(n->g, 2 + s->n_param, out, n_state, state, o, e);
    }
    free(grad), free(out), free(state);
    return s->plan != NULL;
}

void step_free(step *s)
{
    ts_plan_free(s->plan);
    for (int i = 0; i < s->n_param; i++)
        for (int k = 0; k < s->param[i].n_state; k++)
            free((char *)(uintptr_t)s->param[i].state_name[k]);
    free(s->param), free(s->square);
    *s = (step){0};
}

/* ---- values ---- */
static bool set(step *s, const char *name, const ts_array *a, ts_error *e)
{
    const int at = ts_plan_find(s->plan, name);
    return at < 0 || ts_plan_set(s->plan, at, a, e);
}

bool step_begin(step *s, const net *n, ts_error *e)
{
    (void)n;
    for (int i = 0; i < s->n_param; i++) {
        const param *p = &s->param[i];
        ts_array a = {0};
        bool good = ts_leaf_value(p->from, &a, e) && set(s, p->name, &a, e);
        ts_array_free(&a);
        for (int k = 0; good && k < p->n_state; k++) {
            const ts_tensor t = p->state[k];
            good = ts_array_make(&a, ts_type(t), ts_rank(t), ts_shape(t), e) && set(s, ts_name(t), &a, e);
            ts_array_free(&a);
        }
        if (!good)
            return false;
    }
    return true;
}

static bool load_one(step *s, const ts_tensors *from, const char *name, ts_tensor t, ts_error *e)
{
    ts_array a = {0};
    if (!ts_tensors_get(from, name, &a, e))
        return false;
    bool good = a.dtype == ts_type(t) && a.rank == ts_rank(t) &&
                memcmp(a.dim, ts_shape(t), (size_t)a.rank * sizeof *a.dim) == 0;
    good = good ? set(s, ts_name(t), &a, e)
                : bench_fail(e, TS_BAD_INPUT, "\"%s\" has another shape in the checkpoint than in the model", name);
    ts_array_free(&a);
    return good;
}

bool step_load(step *s, const ts_tensors *weights, const ts_tensors *optimizer_state, ts_error *e)
{
    for (int i = 0; i < s->n_param; i++) {
        const param *p = &s->param[i];
        if (!load_one(s, weights, p->name, p->input, e))
            return false;
        for (int k = 0; k < p->n_state; k++)
            if (!load_one(s, optimizer_state, p->state_name[k], p->state[k], e))
                return false;
    }
    return true;
}

ts_given *step_state(step *s, int *n_weight, int *n_all, ts_error *e)
{
    ts_given *all = calloc((size_t)s->n_param * (MOST_STATES + 1) + 1, sizeof *all);
    bool good = all || bench_fail(e, TS_MEMORY, "no memory for the state");
    *n_all = 0;
    for (int i = 0; good && i < s->n_param; i++) {
        all[*n_all].name = s->param[i].name;
        good = ts_plan_value(s->plan, ts_plan_find(s->plan, s->param[i].name), &all[*n_all].value, e) && ++*n_all;
    }
    *n_weight = *n_all;
    for (int i = 0; good && i < s->n_param; i++)
        for (int k = 0; good && k < s->param[i].n_state; k++) {
            all[*n_all].name = s->param[i].state_name[k];
            good = ts_plan_value(s->plan, ts_plan_find(s->plan, s->param[i].state_name[k]), &all[*n_all].value, e) &&
                   ++*n_all;
        }
    if (good)
        return all;
    step_state_free(all, *n_all);
    return NULL;
}

void step_state_free(ts_given *all, int n)
{
    for (int i = 0; all && i < n; i++)
        ts_array_free(&all[i].value);
    free(all);
}

/* ---- running ---- */
bool step_first_bad(step *s, char *out, size_t n)
{
    (void)s, (void)out, (void)n;
    return false;
}

double step_lr(const step *s, int64_t number)
{
    const train_wish *w = s->wish;
    const double total = (double)s->total_steps, warm = (double)s->warmup, at = (double)(number - 1);
    if (at < warm)
        return w->lr * (double)number / warm;
    if (strcmp(w->schedule, "constant") == 0 || total <= warm)
        return w->lr;
    const double left = at < total ? (total - at) / (total - warm) : 0;
    return strcmp(w->schedule, "cosine") == 0 ? w->lr * 0.5 * (1 - cos(M_PI * left)) : w->lr * left;
}

static bool set_scalar(step *s, const char *name, double v, ts_error *e)
{
    float f = (float)v;
    return set(s, name, &(ts_array){.dtype = TS_F32, .data = &f}, e);
}

static bool get_scalar(step *s, int output, double *v, ts_error *e)
{
    ts_array a = {0};
    if (!ts_plan_get(s->plan, output, &a, e))
        return false;
    *v = ts_array_at(&a, 0);
    ts_array_free(&a);
    return true;
}

bool step_run(step *s, const net *n, const ts_array *batch, int64_t number, step_result *r, ts_error *e)
{
    const train_wish *w = s->wish;
    r->lr = step_lr(s, number);
    if (!set_scalar(s, "train.lr", r->lr, e) ||
        !set_scalar(s, "train.first", 1 / (1 - pow(w->beta1, (double)number)), e) ||
        !set_scalar(s, "train.second", 1 / sqrt(1 - pow(w->beta2, (double)number)), e))
        return false;
    if (!net_set(n, s->plan, batch, e) || !ts_plan_run(s->plan, e) || !get_scalar(s, 0, &r->loss, e) ||
        !get_scalar(s, 1, &r->norm, e))
        return false;
    for (int i = 0; r->norms && i < s->n_param; i++) {
        if (!get_scalar(s, 2 + i, &r->norms[i], e))
            return false;
        r->norms[i] = sqrt(r->norms[i]);
    }
    return true;
}
