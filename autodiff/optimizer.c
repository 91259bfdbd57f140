/* optimizer.c - recipes of optimizers become updates: of parameters, of their states, of averages. */
#include "autodiff/optimizer.h"
#include "graph/ir/rule.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* numbers and states that a formula knows; settings; bytes of a word; states */
enum { MAX_NAMED = 32, MAX_SETTING = 12, MAX_WORD = 32, MAX_USED = 8 };

/* A number of a recipe, as "beta1=0.9": it stands in formulas by its name. */
typedef struct setting {
    char name[MAX_WORD];
    double value;
} setting;
typedef struct named {
    char name[MAX_WORD];
    const node *value, *state; /* state: the input that it is the next value of; NULL: none */
} named;
/* What one parameter's update is made with: the names that its formulas may use, and the states that it asked for. */
struct recipe {
    graph *g;
    const node *parameter;
    const char *label;
    int n_setting, n;
    setting setting[MAX_SETTING];
    named named[MAX_NAMED];
};

/* ---- settings ---- */
static bool refuse_setting(recipe *r, const char *who, const char *at)
{
    ENDED_BY(text_free) text known = {0};
    for (int i = 0; i < r->n_setting; i++)
        text_add(&known, "%s%s=%.9g", i ? ", " : "", r->setting[i].name, r->setting[i].value);
    g_fail(r->g, TS_BAD_INPUT, "%s: no setting \"%.*s\" with a number", who, (int)strcspn(at, " "), at);
    return err_hint(&r->g->err, "its settings: %s", known.length ? text_str(&known) : "none");
}

/* r->n_setting where there is none: the place of the next one. */
static int setting_of(const recipe *r, const char *name, size_t n)
{
    int i = 0;
    while (i < r->n_setting && (strlen(r->setting[i].name) != n || memcmp(r->setting[i].name, name, n)))
        i++;
    return i;
}

/* "name=1e-3 other=2" over what is there; unknown says whether a new name is one. */
static bool read_settings(recipe *r, const char *from, bool unknown, const char *who)
{
    for (const char *at = from + strspn(from, " "); *at;) {
        char *end;
        const size_t n = strcspn(at, "= ");
        const int i = setting_of(r, at, n);
        const bool fits = n > 0 && n < MAX_WORD && at[n] == '=' && (i < r->n_setting || (unknown && i < MAX_SETTING));
        const double v = fits ? strtod(at + n + 1, &end) : 0;
        if (!fits || end == at + n + 1 || (*end && *end != ' '))
            return refuse_setting(r, who, at);
        if (i == r->n_setting)
            snprintf(r->setting[r->n_setting++].name, MAX_WORD, "%.*s", (int)n, at);
        r->setting[i].value = v;
        at = end + strspn(end, " ");
    }
    return true;
}

/* Of a setting that the optimizer's own line declares, so that it is there. */
double r_setting(const recipe *r, const char *name)
{
    const int i = setting_of(r, name, strlen(name));
    MUST(i < r->n_setting);
    return r->setting[i].value;
}

const type *r_type(const recipe *r)
{
    return &r->parameter->type;
}

/* ---- names ---- */
/* r->n where there is none: the place of the next one. */
static int find(const recipe *r, const char *name)
{
    int i = 0;
    while (i < r->n && strcmp(r->named[i].name, name))
        i++;
    return i;
}

static void bind(recipe *r, const char *name, const node *value)
{
    const int i = find(r, name);
    MUST(i < MAX_NAMED && strlen(name) < MAX_WORD);
    if (i == r->n)
        snprintf(r->named[r->n++].name, MAX_WORD, "%s", name);
    r->named[i].value = value;
}

/* Labelled PARAMETER.NAME, which is what checkpoints know it by. */
static void add_state(recipe *r, const char *name, const type *t)
{
    char *label = arena_format(&r->g->mem, "%s.%s", r->label, name);
    const node *state = g_input(r->g, label, t, NULL);
    bind(r, name, state);
    r->named[find(r, name)].state = state;
}

void r_state(recipe *r, const char *name)
{
    add_state(r, name, &r->parameter->type);
}

/* For states that are one number along some axes, as Adafactor's rows and columns of squares. */
void r_state_over(recipe *r, const char *name, int n, const int64_t *axes)
{
    type t = r->parameter->type;
    for (int i = 0; i < n; i++)
        t.dim[axes[i]] = 1;
    add_state(r, name, &t);
}

/* ---- formulas ---- */
/* Learning rate and step are f64, so that 1 - beta^t keeps its digits; formulas over tensors take them in the
 * parameter's dtype. */
static bool scalar(const node *n)
{
    return n && n->type.rank == 0 && n->type.dtype == TS_F64;
}

/* The formula with settings as numbers and names as letters of the operands. */
static bool spell(recipe *r, const char *formula, text *t, int *n, const node **in)
{
    for (const char *s = formula; *s;) {
        const size_t length = isalpha((unsigned char)*s) ? strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789") : 0;
        char word[MAX_WORD];
        if (!length || length >= MAX_WORD || s[length] == '(') {
            text_bytes(t, s, length ? length : 1), s += length ? length : 1;
            continue;
        }
        snprintf(word, sizeof word, "%.*s", (int)length, s), s += length;
        int i = setting_of(r, word, length);
        if (i < r->n_setting) {
            text_add(t, "%.17g", r->setting[i].value);
            continue;
        }
        const int at = find(r, word);
        MUST(at < r->n);
        for (i = 0; i < *n && in[i] != r->named[at].value; i++)
            ;
        MUST(i < MAX_USED);
        if (i == *n)
            in[(*n)++] = r->named[at].value;
        text_add(t, "%c", 'a' + i);
    }
    return !err_is(&r->g->err);
}

/* Of numbers alone it stays a number in f64; else numbers are brought to the parameter's dtype first. */
void r_let(recipe *r, const char *name, const char *formula)
{
    const node *in[MAX_USED];
    ENDED_BY(text_free) text t = {0};
    int n = 0;
    bool numbers = true;
    if (!spell(r, formula, &t, &n, in))
        return;
    for (int i = 0; i < n; i++)
        numbers = numbers && scalar(in[i]);
    for (int i = 0; i < n && !numbers; i++)
        if (scalar(in[i]))
            in[i] = g_fitted(r->g, in[i], &(type){.dtype = r->parameter->type.dtype});
    bind(r, name, g_formula(r->g, n, in, t.s));
}

/* Over the axes named, which stay with extent 1; over all of them to a number where n is 0. */
void r_mean(recipe *r, const char *name, const char *of, int n, const int64_t *axes)
{
    const node *x = r->named[find(r, of)].value;
    if (!x)
        return;
    int64_t all[MAX_RANK], count = 1;
    for (int i = 0; i < x->type.rank; i++)
        all[i] = i;
    const node *sum = n ? g_summed(r->g, x, n, axes, true) : g_summed(r->g, x, x->type.rank, all, false);
    for (int i = 0; i < (n ? n : x->type.rank); i++)
        count *= x->type.dim[n ? axes[i] : i];
    char formula[64];
    snprintf(formula, sizeof formula, "a/%lld", (long long)(count ? count : 1));
    sum = g_formula(r->g, 1, &sum, formula);
    bind(r, name, n ? sum : g_fitted(r->g, sum, &(type){.dtype = TS_F64}));
}

/* ---- the whole ---- */
typedef struct optimizing {
    graph *g;
    const ts_optimizer *o;
    const optimizer *how;
    const char *settings; /* after the name */
    const node *rate, *scale;
    ts_updates *out;
    int cap;
} optimizing;

/* The first word of the call; settings follow. */
static const optimizer *find_optimizer(graph *g, const char *call)
{
    const size_t n = strcspn(call, " ");
    ENDED_BY(text_free) text known = {0};
    for (const optimizer *const *o = optimizers; *o; o++) {
        if (strlen((*o)->name) == n && !memcmp((*o)->name, call, n))
            return *o;
        text_add(&known, "%s%s", known.length ? ", " : "", (*o)->name);
    }
    g_fail(g, TS_BAD_INPUT, "no optimizer \"%.*s\"; there are: %s", (int)n, call, text_str(&known));
    return NULL;
}

/* Any of several, as "*.bias,*norm*". */
static bool matches(const char *globs, const char *name)
{
    char one[256];
    for (const char *at = globs; *at;) {
        const size_t n = strcspn(at, ",");
        snprintf(one, sizeof one, "%.*s", (int)n, at);
        if (!fnmatch(one, name, 0))
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

/* The first that fits: special rules stand before general ones. */
static const ts_rule *rule_of(const ts_optimizer *o, const char *name, int rank)
{
    for (int i = 0; i < o->n_rule; i++)
        if (matches(o->rule[i].names, name) && (!o->rule[i].below_rank || rank < o->rule[i].below_rank))
            return &o->rule[i];
    return NULL;
}

/* start: the state's first value; of a parameter NULL, since it has one. */
static void add_update(optimizing *z, const node *from, const node *to, const node *start)
{
    ts_updates *out = z->out;
    out->update = arena_grown(&z->g->mem, out->update, out->n, &z->cap, sizeof *out->update);
    out->update[out->n++] = (ts_update){from, to, start};
}

/* The parameter's next value; its states are added behind the parameters. */
static const node *update_one(optimizing *z, const node *parameter, const node *grad, const char *label)
{
    graph *g = z->g;
    const ts_rule *rule = rule_of(z->o, label, parameter ? parameter->type.rank : 0);
    recipe r = {.g = g, .parameter = parameter, .label = label};
    if (rule && rule->frozen)
        return parameter;
    if (!read_settings(&r, z->how->settings, true, z->how->name) ||
        !read_settings(&r, z->settings, false, z->how->name) ||
        (rule && rule->settings && !read_settings(&r, rule->settings, false, rule->names)))
        return NULL;
    bind(&r, "p", parameter), bind(&r, "g", grad), bind(&r, "t", z->o->step), bind(&r, "lr", z->rate);
    if (z->scale)
        bind(&r, "scale", z->scale), r_let(&r, "g", "g*scale");
    if (rule && rule->rate > 0) {
        char formula[64];
        snprintf(formula, sizeof formula, "lr*%.17g", rule->rate);
        r_let(&r, "lr", formula);
    }
    z->how->update(&r);
    for (int i = 0; i < r.n; i++)
        if (r.named[i].state)
            add_update(z, r.named[i].state, r.named[i].value, g_filled(g, &r.named[i].state->type, 0));
    return r.named[find(&r, "p")].value;
}

/* average' = keep * average + (1 - keep) * next, from the parameter's first value on. */
static void add_average(optimizing *z, const node *parameter, const node *next, const char *label)
{
    char formula[96];
    const double keep = z->o->average;
    const node *average = g_input(z->g, arena_format(&z->g->mem, "%s.average", label), &parameter->type, NULL);
    snprintf(formula, sizeof formula, "a*%.17g+b*%.17g", keep, 1 - keep);
    add_update(z, average, g_formula(z->g, 2, (const node *const[]){average, next}, formula), parameter);
}

/* The sum of squares: over the last axis in f32, of what that gives in f64, so that long sums keep their digits. */
static const node *square_sum(graph *g, const node *grad)
{
    const int rank = grad->type.rank, rest = rank > 1 ? rank - 1 : rank;
    int64_t axes[MAX_RANK];
    const node *sum = g_formula(g, 1, &grad, grad->type.dtype == TS_F64 ? "a*a" : "f32(a)*f32(a)");
    for (int k = 0; k < rank; k++)
        axes[k] = k;
    if (rank > 1)
        sum = g_summed(g, sum, 1, &axes[rank - 1], false);
    return g_summed(g, g_formula(g, 1, &sum, "f64(a)"), rest, axes, false);
}

/* sqrt of the sum of all squares of gradients that are used, and the factor that limits it. */
static bool measure(optimizing *z, int n, const ts_tensor *parameter, const ts_tensor *grad, char *const *label)
{
    const node *sum = NULL;
    const int begin = z->g->n;
    char formula[64];
    for (int i = 0; i < n; i++) {
        const ts_rule *rule = rule_of(z->o, label[i], parameter[i] ? parameter[i]->type.rank : 0);
        if (rule && rule->frozen)
            continue;
        if (!parameter[i] || !grad[i])
            return g_fail(z->g, TS_BAD_INPUT, "%s: its %s is missing", label[i], parameter[i] ? "gradient" : "value"),
                   false;
        if (!type_equal(&parameter[i]->type, &grad[i]->type))
            return g_differs(z->g, arena_format(&z->g->mem, "the gradient of %s", label[i]), &grad[i]->type,
                             &parameter[i]->type);
        const int first = z->g->n;
        const node *one = z->out->square[i] = square_sum(z->g, grad[i]);
        g_label_new(z->g, first, arena_format(&z->g->mem, "norm of the gradient of %s", label[i]));
        sum = sum ? g_formula(z->g, 2, (const node *const[]){sum, one}, "a+b") : one;
    }
    if (!sum)
        return g_fail(z->g, TS_BAD_INPUT, "0 parameters are to be trained, at least 1 expected"), false;
    z->out->norm = g_formula(z->g, 1, &sum, "sqrt(a)");
    snprintf(formula, sizeof formula, "min(%.17g/(a+1e-06),1)", z->o->clip);
    z->scale = z->o->clip > 0 ? g_formula(z->g, 1, &z->out->norm, formula) : NULL;
    g_label_new(z->g, begin, "norm of all gradients");
    return !err_is(&z->g->err);
}

/* An average of 1 would keep the first value for ever. */
static bool check(graph *g, const ts_optimizer *o)
{
    if (!scalar(o->rate) || !scalar(o->step)) {
        err e = {0};
        operands_refuse(2, (const node *const[]){o->rate, o->step}, &e, "a learning rate and a step of type f64[]");
        return g_fail(g, TS_BAD_INPUT, "the optimizer is %s", e.text), false;
    }
    for (int i = 0; i < o->n_rule; i++)
        if (!o->rule[i].names)
            return g_fail(g, TS_BAD_INPUT, "rule %d of the optimizer has no names, globs of parameters expected", i),
                   false;
    return (o->average >= 0 && o->average < 1) ||
           (g_fail(g, TS_BAD_INPUT, "average: %g is not in 0...1", o->average), false);
}

/* Updates 0..n-1 are the parameters', in order; those of states follow. */
bool ts_optimize(ts_graph *g, const ts_optimizer *o, int n, const ts_tensor *parameter, const ts_tensor *grad,
                 ts_updates *out)
{
    if (out)
        *out = (ts_updates){0};
    if (!g_given(g, "what an optimizer gives", out) || !g_given(g, "an optimizer", o) ||
        !g_given(g, "the recipe of an optimizer", o->recipe))
        return false;
    optimizing z = {.g = g, .o = o, .how = find_optimizer(g, o->recipe), .rate = o->rate, .out = out};
    char **label = arena_array(&g->mem, (size_t)n + 1, sizeof *label);
    *out = (ts_updates){.square = arena_array(&g->mem, (size_t)n + 1, sizeof *out->square)};
    for (int i = 0; i < n; i++) {
        const bool plain = parameter[i] && *parameter[i]->label;
        label[i] = plain ? arena_string(&g->mem, parameter[i]->label) : arena_format(&g->mem, "parameter%d", i);
    }
    if (!z.how || !check(g, o) || !g_holds(g, "optimizer", n, parameter) || !g_holds(g, "optimizer", n, grad) ||
        !measure(&z, n, parameter, grad, label))
        return false;
    z.settings = o->recipe + strlen(z.how->name);
    for (int i = 0; i < n; i++)
        add_update(&z, parameter[i], parameter[i], NULL);
    for (int i = 0; i < n && !err_is(&g->err); i++) {
        const int first = g->n;
        const node *next = update_one(&z, parameter[i], grad[i], label[i]);
        out->update[i].to = next;
        if (o->average > 0 && next != parameter[i])
            add_average(&z, parameter[i], next, label[i]);
        g_label_new(g, first, arena_format(&g->mem, "update of %s", label[i]));
    }
    add_update(&z, o->step, g_formula(g, 1, &o->step, "a+1"), g_scalar(g, TS_F64, 1));
    return !err_is(&g->err);
}

static const optimizer *at(int i)
{
    for (const optimizer *const *o = optimizers; i >= 0 && *o; o++)
        if (i-- == 0)
            return *o;
    return NULL;
}

const char *ts_optimizer_name(int i)
{
    return at(i) ? at(i)->name : NULL;
}

const char *ts_optimizer_settings(int i)
{
    return at(i) ? at(i)->settings : NULL;
}
