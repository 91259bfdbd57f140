/* cached.c - inputs by their names and shapes, a plan for the prompt, one for a token behind any past. */
#include "train/cached.h"

#include "graph/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long long ll;

/* ---- what the ports are ---- */
/* What stands behind "past_key_values", "present" and the like: ".3.key"; NULL: another name. */
static const char *behind(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strncmp(name, *words, strlen(*words)) == 0)
            return name + strlen(*words);
    return NULL;
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* The output that a past becomes: of the same name behind the word, else the same in order. */
static int present_of(const ts_model *m, const char *past, int nth)
{
    static const char *const words[] = {"present_key_values", "present_key_value", "present", "past_key_values", NULL};
    int in_order = -1;
    for (int i = 0, k = 0; i < ts_model_outputs(m); i++) {
        ts_port p;
        ts_model_output(m, i, &p);
        const char *rest = behind(p.name, words);
        if (rest && strcmp(rest, past) == 0)
            return i;
        if (rest && k++ == nth)
            in_order = i;
    }
    return in_order;
}

/* The one free axis that is not the batch. */
static int past_axis(const cached *c, const ts_port *p)
{
    const char *batch = c->in[c->tokens].port.symbol[0];
    int axis = -1, count = 0;
    for (int i = p->rank - 1; i >= 0; i--)
        if (p->dim[i] < 0 && !same(p->symbol[i], batch))
            count++, axis = axis < 0 ? i : axis;
    return count == 1 || (count == 2 && p->dim[0] < 0) ? axis : -1;
}

static bool refuse(const ts_port *p, ts_error *e)
{
    err_set(e, TS_UNSUPPORTED, "input \"%s\", %s of rank %d, is not recognised", p->name, ts_dtype_name(p->dtype),
            p->rank);
    return err_hint(e, "tokens, masks, types and positions are integers [batch, sequence] with \"mask\", \"type\" or "
                       "\"position\" in their names; a past begins with \"past\", has one free axis beside the batch, "
                       "and an output \"present\" of the same name");
}

static bool know_input(cached *c, int i, ts_error *e)
{
    static const char *const words[] = {"past_key_values", "past_key_value", "past", NULL};
    cached_port *f = &c->in[i];
    ts_port *p = &f->port;
    ts_model_input(c->model, i, p);
    const char *rest = behind(p->name, words);
    f->role = FEED_ARRAY;
    if (p->rank == 2 && net_is_integer(p))
        f->role = net_role(p);
    else if (p->rank == 1 && net_is_integer(p) && strstr(p->name, "position"))
        f->role = FEED_POSITIONS; /* [sequence] */
    else if (rest && p->rank >= 3 && !net_is_integer(p)) {
        f->role = FEED_EMPTY;
        f->present = present_of(c->model, rest, c->n_past++);
        return f->present >= 0 || refuse(p, e);
    }
    c->tokens = f->role == FEED_IDS ? i : c->tokens;
    return true;
}

static bool know_outputs(cached *c, ts_error *e)
{
    c->logits = -1;
    for (int i = ts_model_outputs(c->model) - 1; i >= 0; i--) {
        ts_port p;
        bool present = false;
        ts_model_output(c->model, i, &p);
        for (int k = 0; k < c->n; k++)
            present = present || (c->in[k].role == FEED_EMPTY && c->in[k].present == i);
        if (!present && (c->logits < 0 || i == 0 || strcmp(p.name, "logits") == 0))
            c->logits = i;
    }
    return c->logits >= 0 || err_set(e, TS_UNSUPPORTED, "the model has no output but its presents: logits are wanted");
}

static void copy_texts(ts_port *p)
{
    p->name = strdup(p->name);
    MUST(p->name);
    for (int i = 0; i < p->rank; i++)
        if (p->symbol[i]) {
            p->symbol[i] = strdup(p->symbol[i]);
            MUST(p->symbol[i]);
        }
}

static void say(cached *c)
{
    static const char *const what[] = {"tokens", "mask", "types", "positions", "past", ""};
    ENDED_BY(text_free) text t = {0};
    bool past = false;
    ts_port p = {.name = ""};
    for (int i = 0; i < c->n; i++) {
        const cached_port *f = &c->in[i];
        if (f->role == FEED_ARRAY || (f->role == FEED_EMPTY && past))
            continue;
        text_add(&t, "%s%s \"%s\"", t.length ? ", " : "", what[f->role], f->port.name);
        if (f->role == FEED_EMPTY) {
            ts_model_output(c->model, f->present, &p);
            text_add(&t, " to \"%s\" and %d more", p.name, c->n_past - 1);
        }
        past = past || f->role == FEED_EMPTY;
    }
    ts_model_output(c->model, c->logits, &p);
    text_add(&t, "; logits \"%s\"", p.name);
    snprintf(c->said, sizeof c->said, "%s", text_str(&t));
}

bool cached_open(cached *c, const char *model, ts_error *e)
{
    *c = (cached){.tokens = -1};
    if (!(c->model = ts_model_open(model, e)))
        return false;
    const int n = ts_model_inputs(c->model);
    if (n > MOST_PORTS)
        return err_set(e, TS_UNSUPPORTED, "the model has %d inputs, at most %d can be fed", n, MOST_PORTS);
    for (int i = 0; i < n; i++) {
        const bool ok = know_input(c, i, e);
        copy_texts(&c->in[i].port), c->n++;
        if (!ok)
            return false;
    }
    if (!know_outputs(c, e))
        return false;
    say(c);
    for (int i = 0; i < n; i++) /* a past that is none, for good */
        for (int k = 0; c->in[i].role == FEED_EMPTY && k < c->in[i].port.rank; k++)
            c->n_past = c->in[i].port.dim[k] ? c->n_past : 0;
    for (int i = 0; c->n_past && i < n; i++) {
        cached_port *f = &c->in[i];
        if (c->tokens < 0 || f->role == FEED_ARRAY || (f->role == FEED_EMPTY && (f->axis = past_axis(c, &f->port)) < 0))
            return refuse(&f->port, e);
    }
    const int64_t length = c->n_past ? c->in[c->tokens].port.dim[1] : -1;
    if (length < 0)
        return true;
    err_set(e, TS_UNSUPPORTED, "input \"%s\" takes %lld tokens, no other number", c->in[c->tokens].port.name,
            (ll)length);
    return err_hint(e, "export the model with that dimension free");
}

/* ---- plans ---- */
/* The value of input i, without data, for `now` tokens behind `past` ones. */
static ts_array shape_of(const cached *c, int i, int64_t past, int64_t now)
{
    const cached_port *f = &c->in[i];
    const char *sequence = c->in[c->tokens].port.symbol[1];
    ts_array a = {.dtype = f->port.dtype, .rank = f->port.rank};
    for (int k = 0; k < a.rank; k++)
        a.dim[k] = f->port.dim[k] >= 0                                          ? f->port.dim[k]
                   : f->role == FEED_EMPTY                                      ? (k == f->axis ? past : c->batch)
                   : k == 0 && a.rank == 2                                      ? c->batch
                   : f->role == FEED_MASK && !same(f->port.symbol[k], sequence) ? past + now
                                                                                : now;
    return a;
}

/* How --dim calls an axis: by its symbol, or by its input and place. */
static void put_axis(text *t, const ts_port *p, int k)
{
    if (p->symbol[k])
        text_add(t, "%s", p->symbol[k]);
    else
        text_add(t, "%s.%d", p->name, k);
}

/* Every free axis of the inputs for one token behind 1 to most - 1, a line each; those without a name, too, or as they
 * follow from the others. */
static void put_dims(const cached *c, bool unnamed, text *t)
{
    ENDED_BY(text_free) text past = {0}, line = {0};
    for (int i = 0; i < c->n && !past.length; i++)
        if (c->in[i].role == FEED_EMPTY)
            put_axis(&past, &c->in[i].port, c->in[i].axis);
    for (int i = 0; i < c->n; i++) {
        const ts_array a = shape_of(c, i, 2, 1);
        for (int k = 0; k < a.rank; k++) {
            const ts_port *p = &c->in[i].port;
            if (p->dim[k] >= 0 || (p->symbol[k] ? strpbrk(p->symbol[k], "+ ") != NULL : !unnamed))
                continue; /* a sum of others is tied already */
            line.length = 0;
            text_add(&line, "\n"), put_axis(&line, p, k), text_add(&line, "=");
            if (strstr(text_str(t), text_str(&line)))
                continue;
            text_add(t, "%s", text_str(&line));
            if (c->in[i].role == FEED_EMPTY && k == c->in[i].axis)
                text_add(t, "1..%lld", (ll)c->most - 1);
            else if (c->in[i].role == FEED_MASK && a.dim[k] == 3)
                text_add(t, "%s+1", text_str(&past));
            else
                text_add(t, "%lld", (ll)a.dim[k]);
        }
    }
}

static bool make_prompt(cached *c, int64_t n, const ts_options *o, ts_error *e)
{
    ts_array shape[MOST_PORTS];
    for (int i = 0; i < c->n; i++)
        shape[i] = shape_of(c, i, 0, n);
    if (!ts_model_bind(c->model, 0, NULL, shape, e))
        return false;
    ts_port p;
    ts_model_output(c->model, c->logits, &p);
    if (p.rank < 2 || p.rank > 3)
        return err_set(e, TS_UNSUPPORTED, "output \"%s\" has rank %d, logits [batch, sequence, vocabulary] are wanted",
                       p.name, p.rank);
    c->classes = p.dim[p.rank - 1];
    ts_model_input(c->model, c->tokens, &p);
    c->vocabulary = p.below && p.below < c->classes ? p.below : c->classes;
    c->prompt = ts_plan_make(c->model, o, e);
    c->bound = ts_model_take(c->model);
    return c->prompt && ts_plan_build(c->prompt, e);
}

static bool try_next(cached *c, bool unnamed, const ts_options *o, ts_error *e)
{
    ENDED_BY(text_free) text all = {0};
    ENDED_BY(heap_free) char *own = NULL;
    const char *dim[64];
    put_dims(c, unnamed, &all);
    const int n = option_lines_make(text_str(&all), COUNT(dim), dim, &own);
    c->next = ts_plan_make_varying(c->model, n, dim, o, e);
    return c->next && ts_plan_build(c->next, e);
}

/* With pasts that stay where they are; without, where outputs are not the pasts and more behind. */
static bool make_next(cached *c, const ts_options *o, ts_error *e)
{
    ts_error none[3] = {{0}};
    ts_options kept = *o;
    ts_append all[MOST_PORTS];
    for (int i = 0; i < c->n; i++)
        if (c->in[i].role == FEED_EMPTY)
            all[kept.n_append++] = (ts_append){i, c->in[i].present, c->most};
    kept.append = all;
    c->appends = true;
    if (try_next(c, true, &kept, &none[0]) || try_next(c, false, &kept, &none[1]))
        return true;
    c->appends = false;
    return try_next(c, true, o, &none[2]) || try_next(c, false, o, e);
}

/* The end of a range of the past in --dim, "past=1..511", and one for the token behind it; 0: none is given. */
static bool asked_most(const cached *c, const char *dims, int64_t *most, ts_error *e)
{
    char line[OPTION_LINE];
    *most = 0;
    for (const char *at = dims; option_line(&at, line);) {
        const char *dots = strstr(line, ".."), *symbol = NULL;
        for (int i = 0; i < c->n; i++)
            if (c->in[i].role == FEED_EMPTY)
                symbol = c->in[i].port.symbol[c->in[i].axis];
        if (!symbol || !dots || !option_names(line, symbol)) {
            err_set(e, TS_USAGE, "--dim %s: only a range of the past, \"%s=1..N\", is taken", line,
                    symbol ? symbol : "past");
            return err_hint(e, "--batch says how many texts there are, the prompt how long they begin");
        }
        *most = strtoll(dots + 2, NULL, 10) + 1;
    }
    return true;
}

bool cached_make(cached *c, const cached_want *w, const ts_options *o, ts_error *e)
{
    c->batch = w->batch;
    if (!asked_most(c, w->dims, &c->most, e))
        return false;
    if (c->most && w->prompt > c->most) {
        err_set(e, TS_BAD_INPUT, "the prompt has %lld tokens, --dim allows %lld", (ll)w->prompt, (ll)c->most);
        return err_hint(e, "give a range that ends later, or a shorter prompt");
    }
    if (!c->most)
        c->most = w->prompt + w->tokens;
    c->most = c->most < 3 ? 3 : c->most;
    if (!make_prompt(c, w->prompt, o, e) || !make_next(c, o, e))
        return false;
    const size_t n = strlen(c->said);
    snprintf(c->said + n, sizeof c->said - n, "%s", c->appends ? "; pasts stay in place" : "; pasts are copied");
    return true;
}

/* ---- runs ---- */
static void fill(const cached *c, int i, const int64_t *id, int64_t stride, ts_array *a)
{
    const feed_role role = c->in[i].role;
    const int64_t width = a->dim[a->rank - 1], n = ts_array_count(a);
    for (int64_t k = 0; k < n; k++) {
        const int64_t place = c->known + k % width;
        ts_array_set(a, k,
                     role == FEED_IDS         ? (double)id[k / width * stride + place]
                     : role == FEED_POSITIONS ? (double)place
                     : role == FEED_MASK      ? 1
                                              : 0);
    }
}

static void take_logits(const cached *c, const ts_array *y, double *logit)
{
    const int64_t rows = y->rank == 3 ? y->dim[1] : 1;
    for (int64_t r = 0; r < c->batch; r++)
        for (int64_t k = 0; k < c->classes; k++)
            logit[r * c->classes + k] = ts_array_at(y, (r * rows + rows - 1) * c->classes + k);
}

/* `now` tokens behind those that are known. */
static bool run(cached *c, const int64_t *id, int64_t stride, int64_t now, double *logit, ts_error *e)
{
    ts_plan *p = c->known ? c->next : c->prompt;
    bool ok = true;
    for (int i = 0; ok && i < c->n; i++) {
        ts_array own = {0}, shape = shape_of(c, i, c->known, now);
        const bool past = c->in[i].role == FEED_EMPTY, kept = past && c->known;
        if (kept && !c->in[i].kept.data) /* the plan has it */
            continue;
        ok = kept || ts_array_make(&own, shape.dtype, shape.rank, shape.dim, e);
        if (ok && !past)
            fill(c, i, id, stride, &own);
        ok = ok && ts_plan_set(p, i, kept ? &c->in[i].kept : &own, e);
        ts_array_free(&own);
    }
    ENDED_BY(ts_array_free) ts_array y = {0};
    ok = ok && ts_plan_run(p, e) && ts_plan_get(p, c->logits, &y, e);
    if (ok)
        take_logits(c, &y, logit), c->known += now;
    for (int i = 0; ok && i < c->n; i++)
        if (c->in[i].role == FEED_EMPTY) {
            ts_array_free(&c->in[i].kept);
            if (p == c->next && c->appends)
                continue;
            ok = ts_plan_get(p, c->in[i].present, &c->in[i].kept, e);
        }
    return ok;
}

bool cached_next(cached *c, const int64_t *id, int64_t stride, int64_t n, double *logit, ts_error *e)
{
    if (n > c->most)
        return err_set(e, TS_USAGE, "%lld tokens, the cache has room for %lld", (ll)n, (ll)c->most);
    if (!c->known)
        return run(c, id, stride, n, logit, e);
    while (c->known < n)
        if (!run(c, id, stride, 1, logit, e))
            return false;
    return true;
}

void cached_no_past(const cached *c, char **dims)
{
    for (int i = 0; i < c->n; i++) {
        ENDED_BY(text_free) text t = {0};
        if (c->n_past && c->in[i].role == FEED_EMPTY) {
            put_axis(&t, &c->in[i].port, c->in[i].axis), text_add(&t, "=0");
            if (!*dims || !strstr(*dims, text_str(&t)))
                option_add_line(dims, text_str(&t));
        }
    }
}

void cached_free(cached *c)
{
    ts_plan_free(c->prompt), ts_plan_free(c->next);
    ts_bound_free(c->bound);
    ts_model_free(c->model);
    for (int i = 0; i < c->n; i++) {
        ts_array_free(&c->in[i].kept);
        free((void *)(uintptr_t)c->in[i].port.name);
        for (int k = 0; k < c->in[i].port.rank; k++)
            free((void *)(uintptr_t)c->in[i].port.symbol[k]);
    }
    *c = (cached){0};
}
