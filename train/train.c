/* train.c - one step after the other: saving, judging, what becomes of numbers that are not finite, the end. */
#include "graph/base/base.h"
#include "graph/base/clock.h"
#include "train/blame.h"
#include "train/checkpoint.h"
#include "train/forecast.h"
#include "train/misjudged.h"
#include "train/program.h"
#include "train/report.h"
#include "train/train_parts.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const double PROBE_AFTER = 10; /* seconds of training that make up to a second of probing worth it */

enum { MOST_SKIPPED = 10 }; /* steps in a row */

/* ---- going on ---- */
static void where_saved(const training *t, char out[200])
{
    if (t->saved >= 0)
        snprintf(out, 200, "the last state that is saved is that after step %lld", (long long)t->saved);
    else
        snprintf(out, 200, "no state of the run is saved");
}

/* Finite gradients can make weights that are not: by a learning rate beyond all measure. */
static bool not_saved(const training *t, const char *name, ts_error *e)
{
    char where[200];
    where_saved(t, where);
    err_set(e, TS_DIVERGED, "after step %lld \"%s\" is no longer finite: it is not saved", (long long)t->done, name);
    return err_hint(e, "%s; train anew with a smaller --lr or --weight-decay", where);
}

typedef struct writing {
    training *t;
    const ts_given *all;
} writing;

static const void *part_of(void *user, int k, size_t from, size_t n, ts_error *e)
{
    const writing *w = user;
    const ts_given *of = &w->all[w->t->step.n_weight + k];
    const void *p = step_state_part(&w->t->step, w->all, k, from, n, e);
    const ts_array part = {
        .dtype = of->value.dtype, .rank = 1, .dim = {(int64_t)n / ts_dtype_bytes(of->value.dtype)}, .data = (void *)p};
    return p && step_bad(&(ts_given){of->name, part}, 1) ? not_saved(w->t, of->name, e), NULL : p;
}

static bool write_state(training *t, const ts_given *all, ts_error *e)
{
    const int n = t->step.n_weight;
    const ts_given *bad = step_bad(all, n);
    writing w = {t, all};
    const checkpoint_set set = {n, t->step.n_state, all, all + n, part_of, &w};
    return bad ? not_saved(t, bad->name, e)
               : checkpoint_save(t->job->run, t->done, &set, t->asked->keep, (int64_t)t->course.best.step, e);
}

/* At least two states are kept: while a new one is written, an old one must be whole. */
static bool save(training *t, ts_error *e)
{
    if (t->saved == t->done)
        return true;
    ENDED_BY(heap_free) ts_given *all = step_state_make(&t->step, e);
    const bool wrote = all && (!train_leads(t) || write_state(t, all, e)), ok = step_state_done(&t->step, e) && wrote;
    if (ok) {
        t->saved = t->done;
        train_tell(t, &(train_news){.kind = NEWS_SAVED, .step = t->done, .steps = t->facts.steps});
    }
    return ok;
}

/* A row of metrics.jsonl */
static bool log_verdict(training *t, const verdict *v, ts_error *e)
{
    const trial one = {(double)t->done, v->loss, v->accuracy, (double)v->n};
    cJSON *row = js_put(cJSON_CreateObject(), "step:%g,eval_loss:%g,eval_accuracy:%g", one.step - 1, v->loss,
                        v->accuracy);
    if (isfinite(v->f1))
        js_put(row, "eval_precision:%g,eval_recall:%g,eval_f1:%g", v->precision, v->recall, v->f1);
    js_number(row, "n", one.n);
    if (!run_row(&t->folder, row, e))
        return false;
    course_add(&t->course, &one);
    train_tell(t, &(train_news){.kind = NEWS_EVAL, .step = t->done, .steps = t->facts.steps, .verdict = v});
    return true;
}

/* With the weights that would be used: averages where those are kept. */
static bool judge_trained(training *t, ts_given *all, ts_error *e)
{
    const int n = t->step.n_weight;
    judge j = {0};
    verdict v = {0};
    const bool ok = all && judge_make(&j, t->asked, &t->eval, t->net.classes, n, all, e) &&
                    judge_data(&j, &t->eval, JUDGE_EACH, &t->options, &v, e) &&
                    misjudged_write(t->job->run, t->done, t->asked, &t->eval, &v, e);
    judge_free(&j);
    if (!ok)
        return verdict_free(&v), false;
    char warning[VERDICT_TEXT];
    if (verdict_warns(&v, warning))
        train_say(t, NEWS_WARNING, "step %lld: %s", (long long)t->done, warning);
    const bool kept = log_verdict(t, &v, e);
    verdict_free(&v);
    return kept;
}

/* Rank 0 judges; all know what came of it, and keep the state behind the best evaluation together. */
static bool evaluate(training *t, ts_error *e)
{
    ENDED_BY(heap_free) ts_given *all = step_trained_make(&t->step, e);
    if (!all || (train_leads(t) && !judge_trained(t, all, e)))
        return false;
    ranks_take(&t->ranks, &t->course, sizeof t->course);
    return t->course.since > 0 || save(t, e);
}

/* Bytes at most so far; Linux says KiB. */
static double memory_used(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? 1024.0 * (double)u.ru_maxrss : 0;
}

static void log_exchange(const step_result *r, cJSON *row)
{
    js_put(row, "exchange_ms:%g,exposed_ms:%g", 1e3 * r->exchanged, 1e3 * r->waited);
    cJSON *list = js_array(row, "sent_before");
    for (int i = 0; i < r->n_sent; i++)
        cJSON_AddItemToArray(list, r->sent[i] < INT_MAX ? cJSON_CreateNumber(r->sent[i]) : cJSON_CreateNull());
}

/* A row of metrics.jsonl. Steps count from 0 there, as loss curves do; people are told from 1. */
static bool log_step(training *t, const step_result *r, double seconds, bool skipped, ts_error *e)
{
    const int64_t rows = t->net.rows * t->asked->shards * t->asked->accumulate;
    const double each_step = (double)(t->net.text ? rows * t->net.length : rows);
    const metric m = {.step = (double)t->done,
                      .epoch = (double)((t->done - 1) / t->facts.batch_steps),
                      .loss = r->loss,
                      .norm = r->norm,
                      .lr = r->lr,
                      .ms = 1e3 * seconds,
                      .rate = each_step / seconds,
                      .memory = memory_used(),
                      .skipped = skipped};
    if (!train_leads(t))
        return true;
    cJSON *row = js_put(cJSON_CreateObject(), "step:%g,epoch:%g,loss:%g,grad_norm:%g,lr:%g", m.step - 1, m.epoch,
                        m.loss, m.norm, m.lr);
    if (r->scale > 0)
        js_number(row, "scale", r->scale);
    js_put(row, "ms:%g,tokens_per_s:%g,memory_bytes:%g", m.ms, m.rate, m.memory);
    if (t->ranks.count > 1)
        log_exchange(r, row);
    if (skipped)
        js_flag(row, "skipped", true);
    if (!run_row(&t->folder, row, e))
        return false;
    pace_step(&t->pace, seconds_now());
    train_tell(t, &(train_news){.kind = NEWS_STEP,
                                .step = t->done,
                                .steps = t->facts.steps,
                                .metric = m,
                                .examples = !t->net.text,
                                .left_s = pace_left(&t->pace, t->facts.steps - t->done)});
    return true;
}

/* NAME, a tab, the norm: for comparing the first step with that of another framework. */
static bool write_norms(const training *t, const double *norms, ts_error *e)
{
    ENDED_BY(text_free) text lines = {0};
    for (int i = 0; i < t->step.n_parameter; i++)
        text_add(&lines, "%s\t%.12g\n", t->step.parameter[i].name, norms[i]);
    return ts_file_write(t->asked->grad_norms, text_str(&lines), lines.length, e);
}

/* printf writes a NaN's sign, too, which says nothing. */
static const char *in_words(double v, char out[32])
{
    snprintf(out, 32, "%g", v);
    return isnan(v) ? "NaN" : out;
}

/* The step that failed is none: the state after the one before it is what is saved. */
static void save_what_was(training *t, ts_error *e)
{
    ts_error aside = {0};
    char where[200];
    t->done--;
    save(t, &aside);
    where_saved(t, where);
    err_hint(e,
             "%s; a smaller --lr or --clip may help, or pass over such batches: tessera train --resume %s --on-nan "
             "skip",
             where, t->job->run);
}

/* A gradient too large for f16 halves the scale of the loss: that is how the scale is found. */
static bool overflows(const training *t, const step_result *r)
{
    if (!isfinite(r->loss) || isfinite(r->norm) || !(r->scale > 1))
        return false;
    train_say(t, NEWS_NOTE, "step %lld: a gradient overflows at loss scale %g: skipped, the scale is halved",
              (long long)t->done, r->scale);
    return true;
}

/* The step has left the weights as they were. */
static bool diverged(training *t, const step_result *r, ts_error *e)
{
    ENDED_BY(text_free) text why = {0};
    char loss_text[32], norm_text[32];
    const char *loss = in_words(r->loss, loss_text), *norm = in_words(r->norm, norm_text);
    if (t->skipped++ == 0 || t->skipped > MOST_SKIPPED)
        blame_write(&t->step, &t->net, t->which, r->norms, &why);
    if (strcmp(t->asked->on_nan, "skip") == 0 && t->skipped <= MOST_SKIPPED) {
        train_say(t, NEWS_WARNING, "step %lld: loss %s, gradient norm %s: skipped%s", (long long)t->done, loss, norm,
                  text_str(&why));
        return true;
    }
    err_set(e, TS_DIVERGED, "step %lld: the loss is %s and the gradient norm %s%s%s", (long long)t->done, loss, norm,
            text_str(&why), t->skipped > MOST_SKIPPED ? "; so were the ten steps before" : "");
    save_what_was(t, e);
    t->together = true;
    return false;
}

static bool all_finite(const step_result *r)
{
    return isfinite(r->loss) && isfinite(r->norm);
}

/* The part-th batch of the update after t->done: a shard of it, or all of it. */
static bool one_shard(training *t, int64_t at, int64_t shard, step_result *r, ts_error *e)
{
    const net *n = &t->net;
    const bool ok = net_arrays(n, &t->data, t->which + shard * n->batch, n->batch, t->batch, e) &&
                    (t->step.shards ? step_shard(&t->step, n, t->batch, at * t->asked->shards + shard, r, e)
                                    : step_run(&t->step, n, t->batch, at, r, e));
    net_arrays_free(n, t->batch);
    return ok;
}

/* The order is that of all batches, whoever reads which part of one. */
static bool one_batch(training *t, int64_t part, step_result *r, ts_error *e)
{
    const int64_t at = t->done * t->asked->accumulate + part, own = t->asked->shards / t->ranks.count,
                  n = ranks_devices(&t->ranks);
    bool ok = order_batch(&t->order, at, t->which, e);
    r->stop = t->job->stop && *t->job->stop;
    for (int64_t i = 0; ok && i < own; i++) /* by turns of its devices */
        ok = one_shard(t, at, t->ranks.rank * own + i % n * (own / n) + i / n, r, e);
    return ok && (!t->step.shards || step_join(&t->step, at, r, e));
}

/* Gradients of `accumulate` batches add up before one update; a batch that is not finite ends the step. */
static bool one_step(training *t, double *norms, ts_error *e)
{
    double *const kernels = breakdown_row(&t->breakdown, t->done - t->begun_at + 1);
    step_result r = {.norms = norms, .kernels = kernels, .n_kernel = t->breakdown.n_kernel};
    const double start = seconds_now();
    bool ok = true;
    if (t->done > t->begun_at) /* the first one compiles what waits for its first launch */
        ranks_judge(&t->ranks, t->done + 1);
    else
        ranks_works(&t->ranks, "its first step");
    for (int64_t part = 0; ok && part < t->asked->accumulate && all_finite(&r); part++)
        ok = one_batch(t, part, &r, e);
    if (!ok)
        return false;
    const bool bad = !all_finite(&r);
    t->done++;
    const double seconds = seconds_now() - start;
    if (kernels && !bad)
        breakdown_add(&t->breakdown, seconds);
    if (!log_step(t, &r, seconds, bad, e) || (bad && !overflows(t, &r) && !diverged(t, &r, e)))
        return false;
    t->skipped = bad ? t->skipped : 0;
    t->stops = t->step.shards ? r.stop : t->job->stop && *t->job->stop;
    return t->done != 1 || !t->asked->grad_norms || !train_leads(t) || write_norms(t, norms, e);
}

/* every 0: as often as is usual; otherwise 0: not at all. */
static bool due(int64_t done, int64_t every, int64_t otherwise)
{
    const int64_t n = every ? every : otherwise;
    return n > 0 && done % n == 0;
}

/* One that a stop came before is made up for when the run goes on: rows of metrics.jsonl say which there were. */
static bool evaluation_due(const training *t)
{
    return t->has_eval && t->done > 0 && t->course.last.step != (double)t->done &&
           (due(t->done, t->asked->eval_every, t->facts.batch_steps) || t->done >= t->facts.steps);
}

static bool patience_ends(const training *t)
{
    const int64_t patience = t->asked->patience;
    if (patience == 0 || t->course.since < patience || t->done >= t->facts.steps)
        return false;
    train_say(t, NEWS_NOTE, "stopped early: no evaluation after step %g was better, in %d of --patience %lld",
              t->course.best.step, t->course.since, (long long)patience);
    train_say(t, NEWS_NOTE,
              "tessera export %s --best -o FILE.onnx takes that step; train --resume %s --patience %d goes "
              "on",
              t->job->run, t->job->run, t->course.since + 1);
    return true;
}

/* A signal asks for the end between steps, so what is saved is always that of a whole one. */
static int train(training *t, ts_error *e)
{
    ENDED_BY(heap_free) double *norms = heap_array((size_t)t->step.n_parameter + 1, sizeof *norms);
    t->which = heap_array((size_t)t->asked->batch, sizeof *t->which);
    bool ok = breakdown_make(&t->breakdown, t->step.plan, &t->options, e), stopped = false;
    t->begun = seconds_now(), t->begun_at = t->done;
    if (ok)
        ranks_take(&t->ranks, &t->course, sizeof t->course);
    while (ok && !stopped) {
        ranks_works(&t->ranks, "an evaluation");
        ok = !evaluation_due(t) || evaluate(t, e);
        if (!ok || t->done >= t->facts.steps || patience_ends(t))
            break;
        ok = one_step(t, norms, e);
        ranks_works(&t->ranks, "a checkpoint");
        stopped = ok && t->stops;
        if (ok && due(t->done, t->asked->save_every, t->facts.batch_steps))
            ok = save(t, e);
    }
    ranks_works(&t->ranks, "a checkpoint");
    ok = ok && save(t, e);
    ranks_works(&t->ranks, NULL);
    free(t->which);
    return !ok ? (int)e->code : stopped ? TRAIN_STOPPED : TS_OK;
}

/* Whatever is lacking now, the run is not lost. */
static void tell_remedy(const training *t, ts_error *e)
{
    char where[200];
    where_saved(t, where);
    err_hint(e, "%s; tessera train --resume %s %s", where, t->job->run,
             t->saved >= 0 ? "goes on from there" : "begins it again");
}

/* The page, when nothing of the step is in memory any more: probing the machine takes some. */
static int finish(training *t, int code, ts_error *e)
{
    const bool kept = code == TS_OK || code == TRAIN_STOPPED || code == TS_DIVERGED;
    const bool probe = code == TS_OK && seconds_now() - t->begun > PROBE_AFTER;
    ts_error aside = {0}, *own = code == TS_DIVERGED ? &aside : e;
    if (!kept || !job_trains(t->job) || !train_leads(t))
        return code;
    const int64_t parts = t->asked->accumulate * t->asked->shards / t->ranks.count;
    const bool ok = breakdown_write(&t->breakdown, t->job->run, t->asked, parts, probe, own) &&
                    run_report(t->job->run, t->asked, &t->facts, own);
    return ok || code == TS_DIVERGED ? code : (int)e->code;
}

/* A program that trains by itself: it gets the data in the order of the run. */
static bool emit(training *t, ts_error *e)
{
    if (t->step.shards) {
        err_set(e, TS_UNSUPPORTED, "the run has --shards %lld, and emitted programs train with one",
                (long long)t->asked->shards);
        return err_hint(e, "export the trained model instead: tessera export %s", t->job->run);
    }
    const training_program p = {&t->net, &t->step, &t->data, &t->order, t->facts.steps};
    return program_write(&p, t->job->emit, e);
}

static void tell_lost(void *user, const char *why)
{
    const training *t = user;
    const train_news n = {.kind = NEWS_WARNING, .text = why};
    if (t->job->tell)
        t->job->tell(t->job->user, &n);
}

/* Where all have come to the same end, rank 0 says why, and it says so to whoever started them: the first of them to
 * fail would end the others. */
static bool end_ranks(training *t, int *code, ts_error *e)
{
    if (*code != TS_OK && *code != TRAIN_STOPPED && !t->together) {
        ranks_fail(&t->ranks, e);
        return !t->ranks.by;
    }
    ranks_close(&t->ranks);
    if (!train_leads(t))
        *e = (ts_error){0}, *code = TS_OK;
    return true;
}

/* The large things go before the page is made, which reads the files of the run alone. */
int train_run(train_job *j, ts_error *e)
{
    training *t = heap_array(1, sizeof *t);
    t->job = j, t->asked = j->asked, t->saved = -1, t->ranks.count = 1;
    t->folder.lock = t->folder.metrics = -1;
    t->ranks.lost = tell_lost, t->ranks.user = t;
    int code = (!j->joins || ranks_open(&t->ranks, e)) && train_begin(t, e) ? TS_OK : (int)e->code;
    if (code == TS_OK && j->emit)
        code = emit(t, e) ? TS_OK : (int)e->code;
    else if (code == TS_OK && j->forecast)
        code = (j->forecast->reply = forecast_make(&t->step, j->forecast, &t->options, j->run, e)) ? TS_OK
                                                                                                   : (int)e->code;
    else if (code == TS_OK && j->planned)
        code = j->planned(j->user, t->step.plan, e) ? TS_OK : (int)e->code;
    else if (code == TS_OK && !j->dry)
        code = train(t, e);
    step_free(&t->step);
    net_free(&t->net);
    order_free(&t->order);
    data_free(&t->data), data_free(&t->eval);
    ts_tokenizer_free(t->tokenizer);
    code = finish(t, code, e);
    if (code == TS_FILES && t->began)
        tell_remedy(t, e);
    breakdown_free(&t->breakdown);
    run_close(&t->folder);
    if (!end_ranks(t, &code, e))
        return code; /* what watches the other ranks lives on, until this process ends */
    free(t);
    return code;
}
