/* step.c - the optimizer's recipe is applied to every parameter, and what it rewrites are the plan's states; nothing
 * is copied between steps. */
#include "train/shards.h"
#include "graph/base/suggest.h"

#include <float.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the optimizer, as it was asked for ---- */
enum { N_SETTING = 6 };
typedef struct wanted {
    const char *option, *setting;
    double value; /* below 0: the optimizer's own */
    double least; /* what works begins here */
    bool below_1; /* and ends before 1: averages that take nothing in, divided by 1 - beta^step */
} wanted;

static void settings_of(const train_options *w, wanted out[N_SETTING])
{
    const wanted all[N_SETTING] = {{"weight-decay", "decay", w->weight_decay, 0, false},
                                   {"beta1", "beta1", w->beta1, 0, true},
                                   {"beta2", "beta2", w->beta2, 0, true},
                                   {"eps", "eps", w->eps, FLT_MIN, false}, /* weights are f32: less divides 0 by 0 */
                                   {"momentum", "momentum", w->momentum, 0, false},
                                   {"nesterov", "nesterov", w->nesterov ? 1 : -1, 0, false}};
    memcpy(out, all, sizeof all);
}

const char *step_setting(const char *option)
{
    wanted all[N_SETTING];
    settings_of(&(train_options){0}, all);
    for (int i = 0; i < N_SETTING; i++)
        if (strcmp(all[i].option, option) == 0)
            return all[i].setting;
    return NULL;
}

const char *step_value(const char *settings, const char *name)
{
    const size_t n = strlen(name);
    for (const char *s = settings; *s; s += strcspn(s, " "), s += strspn(s, " "))
        if (strncmp(s, name, n) == 0 && s[n] == '=')
            return s + n + 1;
    return NULL;
}

/* Values with which no step can work, whatever the data. */
static bool works(const wanted *x, ts_error *e)
{
    if (x->value < 0 || (x->value >= x->least && !(x->below_1 && x->value >= 1)))
        return true;
    err_set(e, TS_USAGE, "--%s %.9g: must be at least %.3g%s", x->option, x->value, x->least,
            x->below_1 ? " and below 1" : "");
    return err_hint(e, "left out, it is the optimizer's own");
}

static bool takes_settings(const train_options *w, const char *own, ts_error *e)
{
    wanted all[N_SETTING];
    ENDED_BY(text_free) text list = {0};
    settings_of(w, all);
    for (int i = 0; i < N_SETTING; i++)
        if (step_value(own, all[i].setting))
            text_add(&list, "%s--%s", list.length ? ", " : "", all[i].option);
    for (int i = 0; i < N_SETTING; i++)
        if (all[i].value >= 0 && !step_value(own, all[i].setting)) {
            err_set(e, TS_USAGE, "--%s: %s has no such setting", all[i].option, w->optimizer);
            return err_hint(e, "its own are %s", text_str(&list));
        }
    for (int i = 0; i < N_SETTING; i++)
        if (!works(&all[i], e))
            return false;
    if (!w->nesterov || w->momentum > 0)
        return true;
    err_set(e, TS_USAGE, "--nesterov goes with --momentum, which is not given");
    return err_hint(e, "as in --momentum 0.9");
}

static bool optimizer_fits(const train_options *w, ts_error *e)
{
    ENDED_BY(suggest_free) suggestion near = {.word = w->optimizer};
    const char *name;
    for (int i = 0; (name = ts_optimizer_name(i)); i++) {
        if (strcmp(name, w->optimizer) == 0)
            return takes_settings(w, ts_optimizer_settings(i), e);
        suggest_offer(&near, name);
    }
    err_set(e, TS_USAGE, "there is no optimizer \"%s\"", w->optimizer);
    return suggest_hint(&near, "those there are", e);
}

/* "adamw decay=0.1": settings that nobody gave are the optimizer's own. */
static void recipe(const train_options *w, char *out, size_t n)
{
    wanted all[N_SETTING];
    settings_of(w, all);
    size_t at = (size_t)snprintf(out, n, "%s", w->optimizer);
    for (int i = 0; i < N_SETTING; i++)
        if (all[i].value >= 0 && at < n)
            at += (size_t)snprintf(out + at, n - at, " %s=%.17g", all[i].setting, all[i].value);
}

enum { MOST_RULES = 64, MOST_NAME = 1024 }; /* globs of what takes no decay; bytes of a name */
/* Which parameters do not decay, by default biases and scales; line holds the names. */
static int no_decay(const train_options *w, ts_rule *rule, char (*line)[OPTION_LINE])
{
    int n = 0;
    if (!w->no_decay) {
        rule[0] = (ts_rule){.names = "*", .settings = "decay=0", .below_rank = 2};
        return 1;
    }
    for (const char *at = option_none(w->no_decay) ? NULL : w->no_decay; n < MOST_RULES && option_line(&at, line[n]);
         n++)
        rule[n] = (ts_rule){.names = line[n], .settings = "decay=0"};
    return n;
}

/* By the same rules. */
bool step_decays(const train_options *w, ts_tensor t)
{
    char line[OPTION_LINE];
    for (const char *at = option_none(w->no_decay) ? NULL : w->no_decay; option_line(&at, line);)
        if (fnmatch(line, ts_name(t), 0) == 0)
            return false;
    return w->no_decay || ts_rank(t) >= 2;
}

/* ---- the graph ---- */
static ts_tensor fine_of(ts_graph *g, ts_tensor norm) /* norm [] -> [], of truth values */
{
    const ts_tensor zero = ts_call2(g, "subtract", norm, norm); /* []; NaN where it is not finite */
    return ts_call2(g, "equal", zero, ts_scalar(g, ts_type(norm), 0));
}

bool step_optimize(step *s, net *n, const step_optimizing *of, ts_updates *out, ts_error *e)
{
    const train_options *w = s->asked;
    char name[400];
    const ts_tensor number = ts_input(n->g, "train.step", TS_F64, 0, NULL); /* [] */
    const bool falls = s->total_steps > s->warmup;
    const ts_schedule_kind kind = {falls ? w->schedule : "constant", w->lr, (double)s->warmup, (double)s->total_steps,
                                   0};
    s->rate = ts_schedule(n->g, &kind, number);
    recipe(w, name, sizeof name);
    const ts_optimizer o = {.recipe = name,
                            .rate = s->rate,
                            .step = number,
                            .clip = of->clip,
                            .average = w->ema,
                            .n_rule = of->n_rule,
                            .rule = of->rule};
    return ts_graph_ok(n->g, e) && (ts_optimize(n->g, &o, of->n, of->parameter, of->grad, out) || ts_graph_ok(n->g, e));
}

static bool optimize(step *s, net *n, const ts_tensor *in, const ts_tensor *grad, ts_updates *out, ts_error *e)
{
    ts_rule rule[MOST_RULES];
    ENDED_BY(heap_free) char(*line)[OPTION_LINE] = heap_array(MOST_RULES, sizeof *line);
    const step_optimizing all = {.n = s->n_parameter,
                                 .parameter = in,
                                 .grad = grad,
                                 .clip = s->asked->clip,
                                 .n_rule = no_decay(s->asked, rule, line),
                                 .rule = rule};
    return step_optimize(s, n, &all, out, e);
}

/* A statistic before the update, where that takes several batches: each moves it, and one that is not finite undoes
 * what those before it did. */
static ts_tensor before_of(const step *s, net *n, int i)
{
    const ts_tensor now = s->parameter[s->n_parameter + i].input; /* as the statistic */
    char name[MOST_NAME];
    if (!s->last)
        return now;
    snprintf(name, sizeof name, "%s.before", ts_name(now));
    return ts_input(n->g, name, ts_type(now), ts_rank(now), ts_shape(now));
}

static void add_statistics(step *s, net *n, ts_tensor fine, ts_state *state, int *count)
{
    for (int i = 0; i < s->n_weight - s->n_parameter; i++) {
        const ts_tensor to = ts_call3(n->g, "where", fine, s->follow[i], before_of(s, n, i)); /* as the statistic */
        state[(*count)++] = (ts_state){s->parameter[s->n_parameter + i].input, to};
    }
}

static void add_befores(step *s, net *n, ts_tensor steps, ts_state *state, int *count)
{
    for (int i = 0; s->last && i < s->n_weight - s->n_parameter; i++) {
        const ts_tensor from = before_of(s, n, i); /* as the statistic */
        state[(*count)++] = (ts_state){from, ts_call3(n->g, "where", steps, s->follow[i], from)};
        s->state[s->n_state++] = (slot){.input = from, .of = s->n_parameter + i};
    }
}

/* Where the last of several batches is not reached, or a number is not finite, all stays as it was. */
static void add_states(step *s, net *n, const ts_updates *u, ts_tensor loss, ts_state *state, int *count)
{
    const ts_tensor fine = fine_of(n->g, ts_call2(n->g, "add", u->norm, ts_call1(n->g, "cast to=f64", loss))); /* [] */
    const ts_tensor steps = s->last ? ts_call2(n->g, "logical_and", fine, s->last) : fine;                     /* [] */
    for (int i = 0; i < u->n - 1; i++) { /* the last one is the number of the step, which is given */
        const ts_update *is = &u->update[i];
        state[(*count)++] = (ts_state){is->from, ts_call3(n->g, "where", steps, is->to, is->from)};
        if (i == s->n_parameter - 1)
            add_statistics(s, n, fine, state, count);
        if (i < s->n_parameter)
            continue;
        slot *own = &s->state[s->n_state++];
        *own = (slot){.input = is->from, .of = -1};
        for (int k = 0; k < s->n_parameter; k++)
            if (is->start == s->parameter[k].input)
                own->of = k, s->parameter[k].average = is->from;
    }
    add_befores(s, n, steps, state, count);
    precision_states(s, n, fine, steps, state, count);
}

/* Sums over batches: begun again after the last one. */
static void add_sums(step *s, net *n, const ts_update *sums, ts_state *state, int *count)
{
    for (int i = 0; i < s->n_parameter; i++) {
        s->sum[i] = sums[i].from;
        state[(*count)++] = (ts_state){sums[i].from, ts_call3(n->g, "where", s->last, sums[i].start, sums[i].to)};
    }
}

bool step_gradients(step *s, net *n, ts_tensor *in, ts_tensor *grad, ts_error *e)
{
    for (int i = 0; i < s->n_parameter; i++)
        in[i] = s->parameter[i].input;
    return precision_mixed(s, n, e) && precision_grad(s, n, in, grad, e);
}

static bool make_plan(step *s, net *n, const ts_options *o, ts_error *e)
{
    const size_t n_parameter = (size_t)s->n_parameter;
    ENDED_BY(heap_free) ts_tensor *in = heap_array(4 * n_parameter + 5, sizeof *in);
    ts_tensor *grad = in + n_parameter, *mean = grad + n_parameter; /* as in, each as its parameter */
    ts_tensor *out = mean + n_parameter;
    ENDED_BY(heap_free) ts_update *sums = heap_array(n_parameter, sizeof *sums);
    ts_updates u = {0};
    bool ok = step_gradients(s, n, in, grad, e);
    if (ok && s->asked->accumulate > 1) {
        s->last = ts_input(n->g, "train.last", TS_BOOL, 0, NULL);
        ok = ts_accumulate(n->g, s->n_parameter, grad, (double)s->asked->accumulate, sums, mean) ||
             ts_graph_ok(n->g, e);
    }
    ok = ok && optimize(s, n, in, s->last ? mean : grad, &u, e);
    const size_t most = (size_t)u.n + 2 * (size_t)s->n_weight + 3;
    ENDED_BY(heap_free) ts_state *state = heap_array(most, sizeof *state);
    s->state = heap_array(most, sizeof *s->state), s->sum = heap_array(n_parameter + 1, sizeof *s->sum);
    if (ok) {
        int count = 0;
        add_states(s, n, &u, s->loss, state, &count);
        if (s->last)
            add_sums(s, n, sums, state, &count);
        out[0] = ts_call1(n->g, "cast to=f64", s->loss), out[1] = u.norm, out[2] = s->rate;
        memcpy(out + 3, u.square, n_parameter * sizeof *out);
        out[3 + s->n_parameter] = s->scale;
        if (ts_graph_ok(n->g, e))
            s->plan = ts_plan_of(n->g, 3 + s->n_parameter + (s->scale != NULL), out, count, state, o, e);
    }
    return s->plan != NULL;
}

static bool check(const train_options *w, ts_error *e)
{
    if (w->lora && !w->on) {
        err_set(e, TS_USAGE, "--lora %lld: nothing says which weights get factors", (long long)w->lora);
        return err_hint(e, "--on GLOB names matrices, as in --on '*query*'");
    }
    if (w->on && !w->lora) {
        err_set(e, TS_USAGE, "--on goes with --lora, which is not given");
        return err_hint(e, "--lora N is the rank of the factors");
    }
    return optimizer_fits(w, e) && precision_known(w, e);
}

bool step_make(step *s, net *n, const step_span *span, const ranks *r, const ts_options *o, ts_error *e)
{
    *s = (step){.asked = n->asked, .total_steps = span->total, .warmup = span->warmup};
    return check(n->asked, e) && parameters_make(s, n, e) &&
           (s->asked->shards > 1 ? shards_make(s, n, r, o, e) : make_plan(s, n, o, e));
}

bool step_runs(const step *s, ts_error *e)
{
    return s->shards ? devices_run(s->shards, e) : ts_plan_runs(s->plan, e);
}

bool step_build(step *s, ts_error *e)
{
    return s->shards ? devices_build(s->shards, e) : ts_plan_build(s->plan, e);
}

void step_free(step *s)
{
    shards_free(s);
    ts_plan_free(s->plan);
    free(s->parameter), free(s->state), free(s->sum), free(s->follow);
    *s = (step){0};
}

/* ---- values ---- */
bool step_give(ts_plan *p, const char *name, const ts_array *a, ts_error *e)
{
    const int at = ts_plan_find(p, name);
    return at < 0 || ts_plan_set(p, at, a, e);
}

static bool set(step *s, const char *name, const ts_array *a, ts_error *e)
{
    return step_give(s->plan, name, a, e);
}

static bool set_zeros(step *s, ts_tensor t, ts_error *e)
{
    ENDED_BY(ts_array_free) ts_array a = {0};
    return ts_array_make(&a, ts_type(t), ts_rank(t), ts_shape(t), e) && set(s, ts_name(t), &a, e);
}

static bool set_number(step *s, ts_tensor t, double v, ts_error *e)
{
    float small = (float)v;
    return ts_rank(t) || ts_type(t) != TS_F32 ? set_zeros(s, t, e)
                                              : set(s, ts_name(t), &(ts_array){.dtype = TS_F32, .data = &small}, e);
}

static bool begin_at(step *s, ts_tensor t, ts_tensor leaf, ts_error *e)
{
    ts_array a = {0};
    if (!leaf)
        return set_zeros(s, t, e);
    const bool ok = ts_leaf_value(leaf, &a, e) && set(s, ts_name(t), &a, e);
    ts_array_free(&a);
    return ok;
}

/* Of shards, sums begin by themselves. */
static bool no_sums(step *s, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && s->last && i < s->n_parameter; i++)
        ok = set_zeros(s, s->sum[i], e);
    return ok;
}

bool step_begin(step *s, ts_error *e)
{
    bool ok = no_sums(s, e);
    for (int i = 0; ok && i < s->n_weight; i++)
        ok = begin_at(s, s->parameter[i].input, s->parameter[i].from, e);
    if (s->shards)
        return ok && shards_begin(s, NULL, e);
    for (int i = 0; ok && i < s->n_state; i++)
        ok = s->state[i].of < 0 ? set_number(s, s->state[i].input, s->state[i].begin, e)
                                : begin_at(s, s->state[i].input, s->parameter[s->state[i].of].from, e);
    return ok;
}

static bool load_one(step *s, const ts_tensors *from, ts_tensor t, ts_error *e)
{
    ts_array a = {0};
    if (!ts_tensors_get(from, ts_name(t), &a, e))
        return false;
    ts_array want = {.dtype = ts_type(t), .rank = ts_rank(t)};
    memcpy(want.dim, ts_shape(t), (size_t)want.rank * sizeof *want.dim);
    bool ok = a.dtype == want.dtype && a.rank == want.rank &&
              memcmp(a.dim, want.dim, (size_t)a.rank * sizeof *a.dim) == 0;
    ok = ok ? set(s, ts_name(t), &a, e)
            : err_set(e, TS_BAD_INPUT, "\"%s\" is %s in the checkpoint, %s expected, as the model has it", ts_name(t),
                      array_type(&a).s, array_type(&want).s);
    ts_array_free(&a);
    return ok;
}

bool step_load(step *s, const ts_tensors *weights, const ts_tensors *optimizer_state, ts_error *e)
{
    bool ok = no_sums(s, e);
    for (int i = 0; ok && i < s->n_weight; i++)
        ok = load_one(s, weights, s->parameter[i].input, e);
    if (s->shards)
        return ok && shards_begin(s, optimizer_state, e);
    for (int i = 0; ok && i < s->n_state; i++)
        ok = load_one(s, optimizer_state, s->state[i].input, e);
    return ok;
}

static bool read_value(step *s, ts_tensor t, const char *name, ts_given *out, ts_error *e)
{
    out->name = name;
    return ts_plan_view(s->plan, ts_plan_find(s->plan, ts_name(t)), &out->value, e);
}

ts_given *step_state_make(step *s, ts_error *e)
{
    const int count = s->n_weight + s->n_state;
    ts_given *all = heap_array((size_t)count + 1, sizeof *all);
    step_settle(s);
    bool ok = true;
    for (int i = s->n_weight; s->shards && i < count; i++)
        shards_state_at(s, i - s->n_weight, &all[i]);
    for (int i = 0; ok && i < (s->shards ? s->n_weight : count); i++) {
        const ts_tensor t = i < s->n_weight ? s->parameter[i].input : s->state[i - s->n_weight].input;
        ok = read_value(s, t, ts_name(t), &all[i], e);
    }
    if (ok)
        return all;
    free(all);
    return NULL;
}

const void *step_state_part(step *s, const ts_given *all, int k, size_t from, size_t n, ts_error *e)
{
    return s->shards ? shards_part(s, k, from, n, e) : (const char *)all[s->n_weight + k].value.data + from;
}

bool step_state_done(step *s, ts_error *e)
{
    return !s->shards || shards_done(s, e);
}

ts_given *step_trained_make(step *s, ts_error *e)
{
    ts_given *all = heap_array((size_t)s->n_weight + 1, sizeof *all);
    step_settle(s);
    bool ok = !s->shards || s->asked->ema <= 0 || shards_averages(s, e);
    for (int i = 0; ok && i < s->n_weight; i++) {
        const parameter *p = &s->parameter[i];
        all[i].name = p->name;
        if (s->shards && s->asked->ema > 0 && shards_average(s, i, &all[i].value))
            continue;
        ok = read_value(s, p->average ? p->average : p->input, p->name, &all[i], e);
    }
    if (ok)
        return all;
    free(all);
    return NULL;
}

static bool is_finite(const ts_array *a)
{
    const int64_t n = ts_array_count(a);
    bool ok = true;
    if (a->dtype == TS_F32) { /* NaN and infinities have all bits of the exponent */
        const uint32_t *bits = a->data;
        for (int64_t i = 0; i < n; i++)
            ok &= (bits[i] & 0x7F800000) != 0x7F800000;
        return ok;
    }
    for (int64_t i = 0; ok && i < n; i++)
        ok = isfinite(ts_array_at(a, i));
    return ok;
}

const ts_given *step_bad(const ts_given *all, int n)
{
    for (int i = 0; i < n; i++)
        if (!is_finite(&all[i].value))
            return &all[i];
    return NULL;
}

/* ---- running ---- */
bool step_scalar(ts_plan *p, int output, double *v, ts_error *e)
{
    ts_array a = {0};
    if (!ts_plan_get(p, output, &a, e))
        return false;
    *v = ts_array_at(&a, 0);
    ts_array_free(&a);
    return true;
}

bool step_run_plan(ts_plan *p, const step_result *r, ts_error *e)
{
    return r->kernels ? ts_plan_run_timed(p, r->kernels, r->n_kernel, e) : ts_plan_run(p, e);
}

/* Which of the run's random numbers a batch, or a shard of it, takes: of its examples, however the step is cut. */
bool step_random(const step *s, ts_plan *p, int64_t number, ts_error *e)
{
    const int64_t parts = s->asked->accumulate * s->asked->shards, from = (int64_t)((uint64_t)s->asked->seed << 32);
    int64_t random[] = {from + number / parts + 1, number % parts};
    return step_give(p, "train.random", &(ts_array){TS_I64, 1, {2}, random}, e);
}

bool step_number(const step *s, ts_plan *p, int64_t at, ts_error *e)
{
    double number = (double)(at / s->asked->accumulate + 1); /* of the update, from 1 */
    return step_give(p, "train.step", &(ts_array){.dtype = TS_F64, .data = &number}, e);
}

bool step_run(step *s, const net *n, const ts_array *batch, int64_t at, step_result *r, ts_error *e)
{
    const int64_t parts = s->asked->accumulate, part = at % parts;
    double loss;
    bool last = part == parts - 1;
    if (part == 0)
        r->loss = 0;
    if (!step_number(s, s->plan, at, e) || !step_random(s, s->plan, at, e) ||
        !set(s, "train.last", &(ts_array){.dtype = TS_BOOL, .data = &last}, e) || !net_set(n, s->plan, batch, e) ||
        !step_run_plan(s->plan, r, e) || !step_scalar(s->plan, 0, &loss, e) || !step_scalar(s->plan, 1, &r->norm, e) ||
        !step_scalar(s->plan, 2, &r->lr, e))
        return false;
    r->loss += loss / (double)parts;
    const bool fine = isfinite(loss) && isfinite(r->norm), tells = !fine || s->asked->grad_norms;
    for (int i = 0; r->norms && tells && i < s->n_parameter; i++) {
        if (!step_scalar(s->plan, 3 + i, &r->norms[i], e))
            return false;
        r->norms[i] = sqrt(r->norms[i]);
    }
    if (s->scale && !step_scalar(s->plan, 3 + s->n_parameter, &r->scale, e))
        return false;
    return fine || no_sums(s, e);
}

bool step_strays(step *s, ts_stray *nan, ts_stray *infinite, ts_error *e)
{
    return ts_plan_strays(s->plan, nan, infinite, e) && no_sums(s, e);
}
