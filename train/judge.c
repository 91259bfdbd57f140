/* judge.c - the trained values take the places of weights in a graph of their own, whose plan is as short as the
 * longest example allows. */
#include "train/judge.h"

#include "graph/base/base.h"
#include "train/step.h"
#include "train/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every weight becomes what it is after training. */
static bool put_weights(judge *j, int n, const ts_given *weights, ts_tensor *out, ts_error *e)
{
    net *t = &j->net;
    int count, k = 0;
    ENDED_BY(heap_free) ts_tensor *all = leaves_make(1, &t->logits, &count);
    ENDED_BY(heap_free) ts_tensor *from = heap_array(2 * ((size_t)count + 2), sizeof *from);
    ts_tensor *to = from + count + 2;
    bool ok = true;
    if (t->head_weight)
        all[count++] = t->head_weight, all[count++] = t->head_bias;
    for (int i = 0; ok && i < count; i++) {
        if (strcmp(ts_op_name(all[i]), "input") == 0)
            continue;
        from[k] = all[i], to[k] = parameter_trained(t->g, all[i], n, weights);
        ok = to[k] ? true : ts_graph_ok(t->g, e);
        k += from[k] != to[k];
    }
    return ok && (ts_replace(t->g, 1, &t->logits, k, from, to, out) || ts_graph_ok(t->g, e));
}

/* Norms over batches with the statistics that the model has. */
static bool as_trained(net *n, ts_error *e)
{
    ts_update *none;
    return ts_batch_statistics(n->g, 1, &n->logits, &(ts_statistics){false, NULL}, &n->logits, &none) >= 0 ||
           ts_graph_ok(n->g, e);
}

/* The longest text, in steps of eight tokens: shorter plans are faster ones. */
static int64_t length_for(const train_options *w, const data *d)
{
    int64_t most = 1;
    const bool pairs = task_of(w)->label == LABEL_TEXT;
    if (!d->text.at || task_of(w)->stream)
        return w->length;
    for (int64_t i = 0; i < d->n; i++) {
        const int64_t a = d->text.at[i + 1] - d->text.at[i], b = pairs ? d->second.at[i + 1] - d->second.at[i] : 0;
        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    most = (most + 7) / 8 * 8;
    return most < w->length ? most : w->length;
}

/* Over fewer and shorter examples than in training, where the data and the model allow it. */
static bool fit_net(net *n, train_options *own, const data *d, int64_t classes, ts_error *e)
{
    const int64_t length = own->length, batch = d->n < own->batch ? d->n : own->batch;
    ts_error fixed = {0};
    own->length = length_for(own, d);
    if (net_make(n, own, d, batch, classes, &fixed))
        return true;
    net_free(n);
    own->length = length;
    return net_make(n, own, d, own->batch, classes, e);
}

bool judge_make(judge *j, const train_options *w, const data *d, int64_t classes, int n, const ts_given *weights,
                ts_error *e)
{
    *j = (judge){0};
    train_options *own = heap_array(1, sizeof *own); /* as w, with another length; borrows its texts */
    *own = *w;
    own->dropout = own->smoothing = 0, own->dropout_on = NULL;
    const bool ok = fit_net(&j->net, own, d, classes, e) && as_trained(&j->net, e) &&
                    put_weights(j, n, weights, &j->logits, e);
    if (!j->net.asked)
        free(own);
    return ok;
}

bool judge_plan(judge *j, const ts_options *o, ts_error *e)
{
    j->plan = ts_plan_of(j->net.g, 1, &j->logits, 0, NULL, o, e);
    return j->plan != NULL;
}

void judge_free(judge *j)
{
    train_options *own = (train_options *)(uintptr_t)j->net.asked;
    ts_plan_free(j->plan), net_free(&j->net);
    free(own);
    *j = (judge){0};
}

typedef struct tally {
    double loss, right;
    int64_t n, bad, bad_first;
    bool classes;
    int n_fact; /* values that are told of an example */
} tally;

/* One more example; says whether the outputs for it are numbers. `of` is none if one of those that matter is. */
static bool add_example(tally *t, double of)
{
    const bool fine = isfinite(of);
    if (!fine && !t->bad++)
        t->bad_first = t->n;
    t->n++;
    return fine;
}

/* What is to be known of a row of logits x[c]: numbers for each, so that a vocabulary of them never leaves the plan. */
enum { MOST, SUM, SAID, LABEL, FACTS, SHARE = FACTS, ALL_FACTS };
/* max x, sum of exp(x - max x), the place of max x, x at the label; where asked for all probabilities [c] */

static bool plan_of_facts(judge *j, int n_fact, const ts_options *o, ts_error *e)
{
    const net *n = &j->net;
    const ts_tensor x = j->logits, most = ts_call1(n->g, "max axes=[-1] keepdims=1", x),
                    power = ts_call1(n->g, "exp",
                                     ts_call2(n->g, "subtract", x, most)); /* [..., c], [..., 1], [..., c] */
    const ts_tensor fact[ALL_FACTS] = {
        [MOST] = most,
        [SUM] = ts_call1(n->g, "sum axes=[-1]", power),
        [SAID] = ts_call2(n->g, "place axis=-1", x, most),
        [LABEL] = ts_call2(n->g, "pick axis=-1", x, n->label), /* [..., 1] the first, [...] the others */
        [SHARE] = ts_call1(n->g, "softmax axis=-1", x)};
    if (!ts_graph_ok(n->g, e))
        return false;
    j->plan = ts_plan_of(n->g, n_fact, fact, 0, NULL, o, e);
    return j->plan != NULL;
}

typedef struct reading {
    double score, sure;
    int64_t said;
} reading;
static reading add_row(const ts_array *fact, int64_t row, int64_t label, tally *t)
{
    const double log_sum = log(ts_array_at(&fact[SUM], row)),
                 logp = ts_array_at(&fact[LABEL], row) - ts_array_at(&fact[MOST], row) - log_sum;
    const reading r = {exp(logp), exp(-log_sum), (int64_t)ts_array_at(&fact[SAID], row)};
    const bool fine = add_example(t, log_sum);
    t->loss -= logp, t->right += fine && r.said == label, t->classes = true;
    return r;
}

/* A loss of the model's own is one number for the whole batch. */
static reading add_value(const net *n, const ts_array *y, int64_t row, const ts_array *label, tally *t)
{
    const bool own = n->asked->loss != NULL;
    const reading r = {.score = ts_array_at(y, own ? 0 : row)};
    const double away = own ? 0 : r.score - ts_array_at(label, row);
    t->loss += own ? r.score : away * away;
    add_example(t, r.score);
    return r;
}

static bool has_classes(const net *n)
{
    return !n->asked->loss && n->task->classes;
}

/* Labels are of the data: of pairs they are places in the batch, of a stream tokens. */
static bool counts_classes(const net *n)
{
    return has_classes(n) && n->task->label == LABEL_CLASS;
}

static double ratio(int64_t a, int64_t b)
{
    return b ? (double)a / (double)b : 0;
}

double class_precision(const class_count *c)
{
    return ratio(c->right, c->said);
}

double class_recall(const class_count *c)
{
    return ratio(c->right, c->have);
}

double class_f1(const class_count *c)
{
    return ratio(2 * c->right, c->have + c->said);
}

static void mean_classes(verdict *v)
{
    int64_t n = 0;
    v->precision = v->recall = v->f1 = v->of ? 0 : NAN;
    for (int64_t i = 0; v->of && i < v->classes; i++) {
        const class_count *c = &v->of[i];
        if (!c->have && !c->said)
            continue;
        v->precision += class_precision(c), v->recall += class_recall(c), v->f1 += class_f1(c), n++;
    }
    if (n)
        v->precision /= (double)n, v->recall /= (double)n, v->f1 /= (double)n;
}

/* An example more; of no class where its outputs are no numbers. */
static void count_class(verdict *v, int64_t label, const reading *is)
{
    v->of[label].have++;
    if (is->said < 0 || is->said >= v->classes || !isfinite(is->sure))
        return;
    v->of[is->said].said++;
    v->of[is->said].right += is->said == label;
}

static bool add_batch(judge *j, int64_t first, int64_t count, const ts_array *label, verdict *v, tally *t, ts_error *e)
{
    const net *n = &j->net;
    const int64_t rows = n->stream ? count * n->length : count;
    const int n_fact = t->n_fact;
    ts_array fact[ALL_FACTS] = {{0}};
    bool ok = true;
    for (int i = 0; ok && i < n_fact; i++)
        ok = ts_plan_get(j->plan, i, &fact[i], e);
    for (int64_t r = 0; ok && r < rows; r++) {
        const int64_t class = n_fact >= FACTS ? (int64_t)ts_array_at(label, r) : 0;
        const reading is = n_fact >= FACTS ? add_row(fact, r, class, t) : add_value(n, fact, r, label, t);
        if (v->of)
            count_class(v, class, &is);
        for (int64_t k = 0; v->share && k < n->classes; k++)
            v->share[(first + r) * n->classes + k] = ts_array_at(&fact[SHARE], r * n->classes + k);
        if (v->score && !n->stream)
            v->score[first + r] = is.score, v->said[first + r] = is.said, v->sure[first + r] = is.sure;
    }
    for (int i = 0; i < n_fact; i++)
        ts_array_free(&fact[i]);
    return ok;
}

static bool make_room(verdict *out, const net *n, int64_t whole, judge_depth depth, ts_error *e)
{
    const size_t examples = (size_t)whole + 1, classes = (size_t)n->classes + 1;
    const bool each = depth != JUDGE_MEANS, all = depth == JUDGE_CLASSES && counts_classes(n);
    *out = (verdict){.classes = has_classes(n) ? n->classes : 0};
    if (each) {
        out->score = calloc(examples, sizeof *out->score), out->said = calloc(examples, sizeof *out->said);
        out->sure = calloc(examples, sizeof *out->sure);
    }
    if (counts_classes(n))
        out->of = calloc(classes, sizeof *out->of);
    if (all)
        out->share = calloc(examples * classes, sizeof *out->share);
    return ((!each || (out->score && out->said && out->sure)) && (out->of || !counts_classes(n)) &&
            (out->share || !all)) ||
           err_memory(e, examples * sizeof(double) * (3 + (all ? classes : 0)), "what is said of %lld examples",
                      (long long)whole);
}

bool judge_data(judge *j, const data *d, judge_depth depth, const ts_options *o, verdict *out, ts_error *e)
{
    const net *n = &j->net;
    const int64_t whole = n->stream ? (d->n - 1) / n->length : d->n;
    ENDED_BY(heap_free) int64_t *which = heap_array((size_t)n->batch, sizeof *which);
    ts_array all[MOST_FED] = {{0}};
    tally t = {0};
    bool ok = make_room(out, n, whole, depth, e);
    t.n_fact = !has_classes(n) ? 1 : out->share ? ALL_FACTS : FACTS;
    ok = ok && (has_classes(n) ? plan_of_facts(j, t.n_fact, o, e) : judge_plan(j, o, e));
    for (int64_t first = 0; ok && first < whole; first += n->batch) {
        const int64_t count = whole - first < n->batch ? whole - first : n->batch;
        for (int64_t i = 0; i < count; i++)
            which[i] = n->stream ? (first + i) * n->length : first + i;
        ok = net_arrays(n, d, which, count, all, e) && net_set(n, j->plan, all, e) && ts_plan_run(j->plan, e) &&
             add_batch(j, first, count, &all[n->n_feed + 1], out, &t, e);
        net_arrays_free(n, all);
        if (o->progress)
            o->progress(o->user, "judging batch", (int)(first / n->batch) + 1, (int)((whole - 1) / n->batch) + 1);
    }
    out->n = t.n, out->bad = t.bad, out->bad_first = t.bad_first;
    mean_classes(out);
    out->loss = t.n ? t.loss / (double)t.n : NAN, out->accuracy = t.classes ? t.right / (double)t.n : NAN;
    if (!ok)
        verdict_free(out);
    return ok;
}

bool judge_bytes(const train_options *w, const data *d, int64_t classes, const ts_options *o, double *out, ts_error *e)
{
    judge j = {0};
    const bool ok = judge_make(&j, w, d, classes, 0, NULL, e) && judge_plan(&j, o, e);
    ENDED_BY(js_free) cJSON *plan = ok ? plan_facts(j.plan, e) : NULL;
    *out = js_get_number(plan, "memory/resident_weights_bytes", 0) + js_get_number(plan, "memory/arena_bytes", 0);
    judge_free(&j);
    return plan != NULL;
}

void verdict_free(verdict *v)
{
    free(v->score), free(v->said), free(v->sure), free(v->of), free(v->share);
    v->score = v->sure = v->share = NULL, v->said = NULL, v->of = NULL;
}

bool verdict_warns(const verdict *v, char out[VERDICT_TEXT])
{
    snprintf(out, VERDICT_TEXT, "for %lld of %lld examples the outputs are NaN or infinite, first for example %lld",
             (long long)v->bad, (long long)v->n, (long long)v->bad_first);
    return v->bad > 0;
}
