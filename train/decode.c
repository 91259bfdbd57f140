/* decode.c - two ways behind one function: the whole window for every token, or one place with kept values, which is
 * given up where a trial shows that places depend on later ones. */
#include "train/decode.h"

#include "graph/base/base.h"
#include "train/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- inputs ---- */
/* A batch of one window that begins with the last `length` of n tokens; others are `rest`. */
static bool give_window(decoder *d, ts_plan *p, const int64_t *id, int64_t n, int64_t rest, ts_error *e)
{
    const net *w = &d->judge.net;
    const int64_t kept = n < d->length ? n : d->length;
    data one = {.n = d->length + 1, .text.id = heap_array((size_t)d->length + 1, sizeof *one.text.id)};
    ts_array all[MOST_FED] = {{0}};
    for (int64_t i = 0; i < d->length; i++)
        one.text.id[i] = (int32_t)(i < kept ? id[n - kept + i] : rest);
    const bool ok = net_arrays(w, &one, &(int64_t){0}, 1, all, e) && net_set(w, p, all, e);
    net_arrays_free(w, all);
    free(one.text.id);
    return ok;
}

/* The logits of a row of y, [.., row, class]. */
static void take_row(decoder *d, const ts_array *y, int64_t row)
{
    for (int64_t i = 0; i < d->classes; i++)
        d->logit[i] = ts_array_at(y, row * d->classes + i);
}

/* ---- the whole window for every token ---- */
static bool next_of_window(decoder *d, const int64_t *id, int64_t n, ts_error *e)
{
    ENDED_BY(ts_array_free) ts_array y = {0};
    const bool ok = give_window(d, d->judge.plan, id, n, 0, e) && ts_plan_run(d->judge.plan, e) &&
                    ts_plan_get(d->judge.plan, 0, &y, e);
    if (ok)
        take_row(d, &y, (n < d->length ? n : d->length) - 1);
    return ok;
}

/* ---- kept places ---- */
static void give_up(decoder *d, const char *why)
{
    snprintf(d->note, sizeof d->note, "every token runs the whole window: %.500s", why);
    ts_plan_free(d->step), ts_plan_free(d->window);
    d->step = d->window = NULL;
}

/* Whether the first n places along an axis have the same bits. */
static bool same_places(const ts_array *a, const ts_array *b, int axis, int64_t n)
{
    size_t outer = 1, inner = (size_t)ts_dtype_bytes(a->dtype);
    for (int i = 0; i < a->rank; i++)
        outer *= i < axis ? (size_t)a->dim[i] : 1, inner *= i > axis ? (size_t)a->dim[i] : 1;
    for (size_t o = 0; o < outer; o++) {
        const size_t at = o * (size_t)a->dim[axis] * inner;
        if (memcmp((const char *)a->data + at, (const char *)b->data + at, (size_t)n * inner) != 0)
            return false;
    }
    return true;
}

static bool run_window(decoder *d, const int64_t *id, int64_t n, int64_t rest, ts_array *out, ts_error *e)
{
    bool ok = give_window(d, d->window, id, n, rest, e) && ts_plan_run(d->window, e);
    for (int i = 0; ok && i <= d->steps.n; i++)
        ok = ts_plan_get(d->window, i, &out[i], e);
    return ok;
}

/* What earlier places leave must not depend on later ones: with other tokens behind, all has the same bits. */
static bool looks_back(decoder *d, const ts_array *a, const ts_array *b, int64_t n)
{
    bool same = same_places(&a[0], &b[0], 1, n);
    for (int i = 0; same && i < d->steps.n; i++)
        same = same_places(&a[i + 1], &b[i + 1], d->steps.axis[i], n);
    return same;
}

/* All tokens at once; keeps what they leave. */
static bool begin(decoder *d, const int64_t *id, int64_t n, ts_error *e)
{
    const int count = d->steps.n + 1;
    ts_array *a = heap_array(2 * (size_t)count, sizeof *a), *b = a + count;
    bool ok = run_window(d, id, n, 0, a, e) && (n == d->length || run_window(d, id, n, 1, b, e));
    if (ok && n < d->length && !looks_back(d, a, b, n))
        give_up(d, "places of the model depend on later ones");
    for (int i = 0; ok && d->step && i < d->steps.n; i++)
        ok = step_give(d->step, ts_name(d->steps.state[i].from), &a[i + 1], e);
    if (ok)
        take_row(d, &a[0], n - 1), d->known = n;
    for (int i = 0; i < 2 * count; i++)
        ts_array_free(&a[i]);
    free(a);
    return ok;
}

static bool one_more(decoder *d, int64_t id, ts_error *e)
{
    int32_t small = (int32_t)id;
    ts_array row = {.dtype = ts_type(d->steps.row), .rank = ts_rank(d->steps.row)}, y = {0};
    for (int i = 0; i < row.rank; i++)
        row.dim[i] = 1;
    row.data = row.dtype == TS_I32 ? (void *)&small : (void *)&id;
    const ts_array place = {.dtype = TS_I64, .data = &d->known};
    const bool ok = step_give(d->step, ts_name(d->steps.place), &place, e) &&
                    step_give(d->step, ts_name(d->steps.row), &row, e) && ts_plan_run(d->step, e) &&
                    ts_plan_get(d->step, 0, &y, e);
    if (ok)
        take_row(d, &y, 0), d->known++;
    ts_array_free(&y);
    return ok;
}

bool decoder_next(decoder *d, const int64_t *id, int64_t stride, int64_t n, ts_error *e)
{
    if (d->cache.next)
        return cached_next(&d->cache, id, stride, n, d->logit, e);
    if (!d->step || n > d->length)
        return next_of_window(d, id, n, e);
    if (d->known == 0)
        return begin(d, id, n, e);
    while (d->known < n)
        if (!one_more(d, id[d->known], e))
            return false;
    return true;
}

/* ---- making it ---- */
/* The logits with every input but the tokens as what a window has there: it is the same for all. */
static ts_tensor of_tokens(decoder *d, ts_error *e)
{
    const net *n = &d->judge.net;
    ts_tensor from[MOST_FEEDS], to[MOST_FEEDS], y = NULL; /* inputs as the window has them; y as the logits */
    ts_array all[MOST_FED] = {{0}};
    data one = {.n = d->length + 1, .text.id = heap_array((size_t)d->length + 1, sizeof *one.text.id)};
    int count, k = 0, found = 0;
    ENDED_BY(heap_free) ts_tensor *leaf = leaves_make(1, &d->judge.logits, &count);
    bool ok = net_arrays(n, &one, &(int64_t){0}, 1, all, e);
    for (int i = 0; ok && i < count; i++)
        for (int f = 0; f < n->n_feed; f++) {
            if (strcmp(ts_op_name(leaf[i]), "input") != 0 || strcmp(ts_name(leaf[i]), n->feed[f].port.name) != 0)
                continue;
            if (n->feed[f].role == FEED_IDS)
                d->ids = leaf[i], found++;
            else
                from[k] = leaf[i], to[k++] = ts_constant(n->g, NULL, &all[f]);
        }
    if (ok && found == 1)
        ok = ts_replace(n->g, 1, &d->judge.logits, k, from, to, &y) || ts_graph_ok(n->g, e);
    net_arrays_free(n, all);
    free(one.text.id);
    return ok ? y : NULL;
}

/* Plans of the window and of one place, or a note on why there are none. */
static bool make_steps(decoder *d, const ts_options *o, ts_error *e)
{
    ts_error why = {0};
    ts_graph *g = d->judge.net.g;
    const ts_tensor logits = of_tokens(d, e); /* [batch, length, vocabulary] */
    if (e->code)
        return false;
    if (!logits)
        return give_up(d, "the model has not just one input of tokens"), true;
    if (!ts_advance(g, (ts_sequence){logits, 1}, (ts_sequence){d->ids, 1}, &d->steps, &why))
        return give_up(d, why.text), true;
    ENDED_BY(heap_free) ts_tensor *all = heap_array((size_t)d->steps.n + 1, sizeof *all);
    all[0] = logits;
    memcpy(all + 1, d->steps.of, (size_t)d->steps.n * sizeof *all);
    d->window = ts_plan_of(g, d->steps.n + 1, all, 0, NULL, o, e);
    d->step = d->window ? ts_plan_of(g, 1, &d->steps.out, d->steps.n, d->steps.state, o, e) : NULL;
    /* not while the second token is waited for, nor the first one is timed */
    return d->step && ts_plan_build(d->step, e) && ts_plan_build(d->window, e);
}

static bool room(decoder *d, int64_t rows, ts_error *e)
{
    d->logit = calloc((size_t)(d->classes * rows), sizeof *d->logit);
    return d->logit ||
           err_memory(e, (size_t)(d->classes * rows) * sizeof *d->logit, "%lld logits", (long long)d->classes);
}

/* The same options for a window that holds the text, without a past. */
static bool make_own(decoder *d, const run_weights *from, const decoding *how, ts_error *e)
{
    const cached *c = &d->cache;
    ts_port p;
    char line[OPTION_LINE];
    const char *symbol = c->tokens >= 0 ? c->in[c->tokens].port.symbol[1] : NULL;
    const int64_t fixed = c->tokens >= 0 ? c->in[c->tokens].port.dim[1] : -1;
    d->own = heap_array(1, sizeof *d->own);
    option_make(d->own);
    option_set_text(&d->own->model, from->asked.model), option_set_text(&d->own->task, "lm");
    ts_model_output(c->model, c->logits, &p);
    option_set_text(&d->own->output, p.name);
    d->own->batch = 1, d->own->length = fixed > 0 ? fixed : how->prompt + how->tokens;
    for (const char *at = from->asked.dims; option_line(&at, line);)
        if (symbol && option_names(line, symbol)) {
            const char *dots = strstr(line, "..");
            d->own->length = strtoll(dots ? dots + 2 : line + strlen(symbol) + 1, NULL, 10);
        } else if (!strstr(line, "..")) /* a range of the past says nothing here */
            option_add_line(&d->own->dims, line);
    cached_no_past(c, &d->own->dims);
    return d->own->length > 0 || err_set(e, TS_USAGE, "--dim: no room for a token");
}

/* A model file with its own cache, if it has one that one program can serve. */
static bool make_cached(decoder *d, const run_weights *from, const decoding *how, const ts_options *o, ts_error *e)
{
    const cached_want want = {from->asked.dims, how->batch, how->prompt, how->tokens};
    ts_error why = {0};
    if (!cached_open(&d->cache, from->asked.model, e))
        return false;
    if (!d->cache.n_past || how->whole)
        return make_own(d, from, how, e);
    if (cached_make(&d->cache, &want, o, &why)) {
        d->classes = d->cache.classes, d->vocabulary = d->cache.vocabulary, d->length = d->cache.most;
        return room(d, how->batch, e);
    }
    if (why.code != TS_UNSUPPORTED)
        return err_set(e, why.code, "%s", why.text);
    snprintf(d->note, sizeof d->note, "the model's own cache is not used: %.500s", why.text);
    return make_own(d, from, how, e);
}

static bool one_text(const decoder *d, const decoding *how, ts_error *e)
{
    if (how->batch == 1)
        return true;
    err_set(e, TS_USAGE, "--batch %lld: only a model file that takes a past goes on with several texts at once",
            (long long)how->batch);
    return err_hint(e, "%.*s%sleave --batch out, and call it once for each --seed", (int)strcspn(d->note, "\n"),
                    d->note, *d->note ? "; " : "");
}

bool decoder_make(decoder *d, const run_weights *from, const decoding *how, const ts_options *o, ts_error *e)
{
    const data one = {.n = 1};
    ts_options apart = *o; /* cheaper products add rows, which are places, to one another */
    apart.as_written = true, o = &apart;
    *d = (decoder){.note = ""};
    if (how->file && !make_cached(d, from, how, o, e))
        return false;
    if (d->cache.next)
        return true;
    const train_options *asked = d->own ? d->own : &from->asked;
    d->length = asked->length;
    if (!one_text(d, how, e) || !judge_make(&d->judge, asked, &one, from->classes, from->n, from->all, e) ||
        !judge_plan(&d->judge, o, e))
        return false;
    d->classes = d->judge.net.classes, d->vocabulary = d->judge.net.vocabulary;
    return room(d, 1, e) && (how->whole || make_steps(d, o, e)) && (d->step || ts_plan_build(d->judge.plan, e));
}

void decoder_file(const char *model, const char *tokenizer, const char *dims, run_weights *out)
{
    *out = (run_weights){.note = ""};
    option_make(&out->asked);
    option_set_text(&out->asked.model, model), option_set_text(&out->asked.task, "lm");
    option_set_text(&out->asked.tokenizer, tokenizer), option_set_text(&out->asked.dims, dims);
}

void decoder_again(decoder *d)
{
    d->known = d->cache.known = 0;
}

void decoder_free(decoder *d)
{
    ts_plan_free(d->step), ts_plan_free(d->window);
    judge_free(&d->judge);
    cached_free(&d->cache);
    if (d->own)
        option_free(d->own), free(d->own);
    free(d->logit);
    *d = (decoder){0};
}
