#include "bench/train/train.h"

#include "bench/failure.h"
#include "bench/train/blame.h"
#include "bench/train/breakdown.h"
#include "bench/train/checkpoint.h"
#include "bench/train/misjudged.h"
#include "bench/train/order.h"
#include "bench/train/program.h"
#include "bench/train/report.h"
#include "bench/train/run_folder.h"
#include "bench/train/step.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const double PROBE_AFTER = 2; /* seconds of training that make a second of probing worth it */

enum { MOST_SKIPPED = 10 }; /* steps in a row */

typedef struct training {
    train_job *job;
    train_wish *wish;
    run_folder folder;
    run_facts facts;
    ts_tokenizer *tokenizer;
    data data, eval;
    bool has_eval, began; /* began: there is a run to go on with */
    order order;
    net net;
    step step;
    int64_t done, saved; /* updates; saved: of the last checkpoint, -1: none */
    int skipped;         /* in a row */
    double begun;        /* of this process's first step */
    int64_t begun_at;
    breakdown breakdown;
    ts_array *batch;
    int64_t *which;
} training;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell(const training *t, const train_news *n)
{
    if (t->job->tell)
        t->job->tell(t->job->user, n);
}

static void say(const training *t, news_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(const training *t, news_kind kind, const char *fmt, ...)
{
    char text[1200];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    tell(t, &(train_news){.kind = kind, .text = text});
}

/* ---- data ---- */
static void tell_cut(const training *t, const data *d, const char *what)
{
    if (d->cut)
        say(t, NEWS_NOTE,
            "%lld of %lld texts of the %s data are longer than %lld tokens and are cut, the first in line %lld",
            (long long)d->cut, (long long)d->n, what, (long long)t->wish->length, (long long)d->cut_first);
}

static bool read_train(training *t, int64_t vocabulary, ts_error *e)
{
    const train_wish *w = t->wish;
    if (!train_read_data(w, w->data, w->labels, t->tokenizer, vocabulary, &t->data, e))
        return false;
    t->facts.classes = w->labels ? w->labels : t->data.classes;
    memcpy(t->facts.data, t->data.hash, sizeof t->facts.data);
    tell_cut(t, &t->data, "training");
    return true;
}

static bool read_eval(training *t, ts_error *e)
{
    const train_wish *w = t->wish;
    if (!w->eval || !*w->eval)
        return true;
    t->has_eval = train_read_data(w, w->eval, t->facts.classes, t->tokenizer, t->net.vocabulary, &t->eval, e) &&
                  train_check_tokens(w, &t->eval, w->eval, t->net.vocabulary, e);
    if (t->has_eval)
        tell_cut(t, &t->eval, "evaluation");
    return t->has_eval;
}

static bool make_order(training *t, ts_error *e)
{
    const train_wish *w = t->wish;
    const bool stream = t->net.stream;
    if (!order_make(&t->order, stream ? t->data.n - w->length : t->data.n, w->batch, (uint64_t)w->seed, stream, e))
        return false;
    if (!w->order)
        return true;
    return order_read(&t->order, w->order, e) && ts_file_hash(w->order, t->facts.order, e);
}

/* How long the run is, and how the learning rate goes. */
static void settle(training *t)
{
    train_wish *w = t->wish;
    const int64_t epoch = order_epoch_steps(&t->order), all = t->order.given ? t->order.n_given : epoch * w->epochs;
    t->facts.batch_steps = epoch < w->accumulate ? 1 : epoch / w->accumulate;
    t->facts.steps = w->steps ? w->steps : all < w->accumulate ? 1 : all / w->accumulate;
    t->facts.total_steps = w->total_steps ? w->total_steps : t->facts.steps;
    t->facts.warmup = w->warmup >= 0 ? w->warmup : t->facts.total_steps / 10;
}

static bool hash_model(training *t, ts_error *e)
{
    char path[4096];
    static const char *const in_folder[] = {"", "/model.onnx", "/graph.json"};
    for (int i = 0; i < 3; i++) {
        ts_error none = {0};
        snprintf(path, sizeof path, "%s%s", t->wish->model, in_folder[i]);
        if (ts_file_hash(path, t->facts.model, &none))
            return true;
    }
    (void)e;
    *t->facts.model = 0; /* built in */
    return true;
}

/* ---- beginning ---- */
static bool same_files(const run_facts *began, const run_facts *is, const char *run, ts_error *e)
{
    const char *what = strcmp(began->model, is->model) != 0   ? "the model's file"
                       : strcmp(began->data, is->data) != 0   ? "the training data"
                       : strcmp(began->order, is->order) != 0 ? "the order"
                                                              : NULL;
    if (!what)
        return true;
    bench_fail(e, TS_BAD_INPUT, "%s is not the one that the run in '%s' began with", what, run);
    return bench_hint(e, "put the old one back, or train anew in another folder with -o");
}

static bool load_state(training *t, ts_error *e)
{
    checkpoint c = {0};
    bool found;
    if (!checkpoint_load(t->job->run, &c, &found, e))
        return false;
    if (!found)
        return step_begin(&t->step, e);
    if (*c.note)
        say(t, NEWS_WARNING, "%s", c.note);
    const bool good = step_load(&t->step, c.weights, c.optimizer, e) || bench_hint(e, "in %s", c.path);
    t->done = t->saved = c.step;
    checkpoint_free(&c);
    return good;
}

/* Of a run that goes on just as it began: for something else than training. */
static bool asks(const train_job *j)
{
    return j->emit || j->planned;
}

static bool open_run(training *t, run_facts *began, bool *goes_on, ts_error *e)
{
    train_job *j = t->job;
    train_wish old;
    *goes_on = false;
    if (j->dry)
        return true;
    if ((!asks(j) && !run_lock(&t->folder, j->run, !j->resume, e)) || !j->resume)
        return !e->code;
    wish_init(&old);
    bool good = run_read(j->run, &old, began, goes_on, e);
    if (good && !*goes_on && !t->wish->model) {
        good = bench_fail(e, TS_USAGE, "'%s' holds no run to go on with", j->run);
        bench_hint(e, "tessera train MODEL --data FILE -o %s begins one", j->run);
    }
    if (good && *goes_on && t->wish->model)
        good = wish_same(&old, t->wish, e);
    else if (good && *goes_on) {
        wish_free(t->wish);
        *t->wish = old;
        if (j->change)
            j->change(j->user, t->wish);
        if (asks(j))
            wish_set_text(&t->wish->eval, NULL); /* judging is no part of the step */
        return true;
    }
    wish_free(&old);
    return good;
}

static bool trains(const train_job *j)
{
    return !j->dry && !asks(j);
}

static bool tell_facts(const training *t, ts_error *e)
{
    cJSON *facts = step_facts(&t->step, e);
    if (!facts)
        return false;
    const double takes = js_get_number(facts, "bytes", 0), needs = js_get_number(facts, "alive_bytes", 0);
    const cJSON *one;
    char line[400];
    say(t, NEWS_NOTE,
        "a step takes %.1f MiB for weights, gradients, optimizer and values, %.3f of what is alive at once",
        takes / 1048576, takes / needs);
    cJSON_ArrayForEach(one, js_get(facts, "recompute"))
    {
        step_saving(one, line, sizeof line);
        say(t, NEWS_NOTE, "%s", line);
    }
    cJSON_ArrayForEach(one, js_get(facts, "notes")) say(t, NEWS_NOTE, "%s", one->valuestring);
    tell(t, &(train_news){.kind = NEWS_FACTS, .facts = facts});
    cJSON_Delete(facts);
    return true;
}

static bool prepare(training *t, ts_error *e)
{
    train_wish *w = t->wish;
    run_facts began = {.classes = 0};
    bool goes_on;
    if (!open_run(t, &began, &goes_on, e))
        return false;
    if (!w->data)
        return bench_fail(e, TS_USAGE, "train: --data is missing"),
               bench_hint(e, "--data FILE.tsv has TEXT, a tab, LABEL on a line");
    const bool stream = strcmp(w->task, "lm") == 0;
    t->tokenizer = train_tokenizer(w, e);
    if (e->code || (!stream && !read_train(t, 0, e)))
        return false;
    if (!net_make(&t->net, w, &t->data, w->batch, t->facts.classes, e) ||
        (stream && !read_train(t, t->net.vocabulary, e)) ||
        !train_check_tokens(w, &t->data, w->data, t->net.vocabulary, e) || !read_eval(t, e) || !make_order(t, e) ||
        !hash_model(t, e))
        return false;
    settle(t);
    if (goes_on && !same_files(&began, &t->facts, t->job->run, e))
        return false;
    t->net.wish = w;
    if (!step_make(&t->step, &t->net, t->facts.total_steps, t->facts.warmup, &t->job->options, e) ||
        (trains(t->job) && !run_write(&t->folder, w, &t->facts, e)))
        return false;
    t->began = trains(t->job);
    say(t, NEWS_START, "%lld parameters trained, %lld frozen; %lld steps of %lld, %lld an epoch",
        (long long)t->step.trained, (long long)t->step.frozen, (long long)t->facts.steps, (long long)w->batch,
        (long long)t->facts.batch_steps);
    if (!tell_facts(t, e))
        return false;
    if (!trains(t->job))
        return true;
    return ts_plan_build(t->step.plan, e) && load_state(t, e) && run_metrics(&t->folder, t->done, e);
}

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
    bench_fail(e, TS_DIVERGED, "after step %lld \"%s\" is no longer finite: it is not saved", (long long)t->done, name);
    return bench_hint(e, "%s; train anew with a smaller --lr or --weight-decay", where);
}

static bool save(training *t, ts_error *e)
{
    const int n_weight = t->step.n_weight, n_other = t->step.n_state;
    if (t->saved == t->done)
        return true;
    ts_given *all = step_state(&t->step, e);
    if (!all)
        return false;
    const checkpoint_set set = {n_weight, n_other, all, all + n_weight};
    const ts_given *bad = step_bad(all, n_weight + n_other);
    const bool good = bad ? not_saved(t, bad->name, e)
                          : checkpoint_save(t->job->run, t->done, &set, t->wish->keep < 2 ? 2 : t->wish->keep, e);
    free(all);
    if (good) {
        t->saved = t->done;
        tell(t, &(train_news){.kind = NEWS_SAVED, .step = t->done, .steps = t->facts.steps});
    }
    return good;
}

static bool evaluate(training *t, ts_error *e)
{
    const int n = t->step.n_weight;
    judge j = {0};
    verdict v = {0};
    if (!t->has_eval)
        return true;
    ts_given *all = step_trained(&t->step, e);
    const bool good = all && judge_make(&j, t->wish, &t->eval, t->net.classes, n, all, &t->job->options, e) &&
                      judge_data(&j, &t->eval, true, &v, e) &&
                      misjudged_write(t->job->run, t->done, t->wish, &t->eval, t->net.classes, &v, e);
    free(all);
    judge_free(&j);
    verdict_free(&v);
    if (!good)
        return false;
    cJSON *row = cJSON_CreateObject();
    js_number(row, "step", (double)(t->done - 1));
    js_number(row, "eval_loss", v.loss), js_number(row, "eval_accuracy", v.accuracy), js_number(row, "n", (double)v.n);
    tell(t, &(train_news){.kind = NEWS_EVAL,
                          .step = t->done,
                          .steps = t->facts.steps,
                          .eval_loss = v.loss,
                          .accuracy = v.accuracy,
                          .n = v.n});
    return run_row(&t->folder, row, e);
}

static double memory_used(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? 1024.0 * (double)u.ru_maxrss : 0;
}

static bool log_step(training *t, const step_result *r, double seconds, bool skipped, ts_error *e)
{
    const int64_t rows = t->net.rows * t->wish->accumulate;
    const double each_step = (double)(t->net.text ? rows * t->net.length : rows);
    cJSON *row = cJSON_CreateObject();
    js_number(row, "step", (double)(t->done - 1));
    js_number(row, "epoch", (double)((t->done - 1) / t->facts.batch_steps));
    js_number(row, "loss", r->loss), js_number(row, "grad_norm", r->norm), js_number(row, "lr", r->lr);
    if (r->scale > 0)
        js_number(row, "scale", r->scale);
    js_number(row, "ms", 1e3 * seconds), js_number(row, "tokens_per_s", each_step / seconds);
    js_number(row, "memory_bytes", memory_used());
    if (skipped)
        js_flag(row, "skipped", true);
    if (!run_row(&t->folder, row, e))
        return false;
    const double each = (now() - t->begun) / (double)(t->done - t->begun_at);
    tell(t, &(train_news){.kind = NEWS_STEP,
                          .step = t->done,
                          .steps = t->facts.steps,
                          .loss = r->loss,
                          .norm = r->norm,
                          .lr = r->lr,
                          .seconds = seconds,
                          .tokens_per_s = each_step / seconds,
                          .examples = !t->net.text,
                          .left_s = each * (double)(t->facts.steps - t->done),
                          .memory = memory_used()});
    return true;
}

static bool write_norms(const training *t, const double *norms, ts_error *e)
{
    char *s = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&s, &n);
    if (!f)
        return bench_fail(e, TS_MEMORY, "no memory for the gradient norms");
    for (int i = 0; i < t->step.n_param; i++)
        fprintf(f, "%s\t%.12g\n", t->step.param[i].name, norms[i]);
    bool good = fclose(f) == 0;
    good = good && ts_file_write(t->wish->grad_norms, s, n, e);
    free(s);
    return good || bench_fail(e, TS_MEMORY, "no memory for the gradient norms");
}

static const char *in_words(double v, char out[32])
{
    snprintf(out, 32, "%g", v);
    return isnan(v) ? "NaN" : out;
}

static void save_what_was(training *t, ts_error *e)
{
    ts_error aside = {0};
    char where[200];
    t->done--;
    save(t, &aside);
    where_saved(t, where);
    bench_hint(e,
               "%s; a smaller --lr or --clip may help, or pass over such batches: tessera train --resume %s --on-nan "
               "skip",
               where, t->job->run);
}

/* A gradient too large for f16 halves the scale of the loss: that is how the scale is found. */
static bool overflows(const training *t, const step_result *r)
{
    if (!isfinite(r->loss) || isfinite(r->norm) || !(r->scale > 1))
        return false;
    say(t, NEWS_NOTE, "step %lld: a gradient overflows at loss scale %g: skipped, the scale is halved",
        (long long)t->done, r->scale);
    return true;
}

/* The step has left the weights as they were. */
static bool diverged(training *t, const step_result *r, ts_error *e)
{
    char why[BLAME_TEXT] = "", loss_text[32], norm_text[32];
    const char *loss = in_words(r->loss, loss_text), *norm = in_words(r->norm, norm_text);
    if (t->skipped++ == 0 || t->skipped > MOST_SKIPPED)
        blame(&t->step, &t->net, t->which, r->norms, why);
    if (strcmp(t->wish->on_nan, "skip") == 0 && t->skipped <= MOST_SKIPPED) {
        say(t, NEWS_WARNING, "step %lld: loss %s, gradient norm %s: skipped%s", (long long)t->done, loss, norm, why);
        return true;
    }
    bench_fail(e, TS_DIVERGED, "step %lld: the loss is %s and the gradient norm %s%s%s", (long long)t->done, loss, norm,
               why, t->skipped > MOST_SKIPPED ? "; so were the ten steps before" : "");
    save_what_was(t, e);
    return false;
}

static bool all_finite(const step_result *r)
{
    return isfinite(r->loss) && isfinite(r->norm);
}

/* The part-th batch of the update after t->done. */
static bool one_batch(training *t, int64_t part, step_result *r, ts_error *e)
{
    const net *n = &t->net;
    const bool good = order_batch(&t->order, t->done * t->wish->accumulate + part, t->which, e) &&
                      net_arrays(n, &t->data, t->which, n->batch, t->batch, e) &&
                      step_run(&t->step, n, t->batch, t->done + 1, part, r, e);
    for (int i = 0; i < net_n_arrays(n); i++)
        ts_array_free(&t->batch[i]);
    return good;
}

static bool one_step(training *t, double *norms, ts_error *e)
{
    double *const kernels = breakdown_row(&t->breakdown, t->done - t->begun_at + 1);
    step_result r = {.norms = norms, .kernels = kernels, .n_kernel = t->breakdown.n_kernel};
    const double start = now();
    bool good = true;
    for (int64_t part = 0; good && part < t->wish->accumulate && all_finite(&r); part++)
        good = one_batch(t, part, &r, e);
    if (!good)
        return false;
    const bool bad = !all_finite(&r);
    t->done++;
    const double seconds = now() - start;
    if (kernels && !bad)
        breakdown_add(&t->breakdown, seconds);
    if (!log_step(t, &r, seconds, bad, e) || (bad && !overflows(t, &r) && !diverged(t, &r, e)))
        return false;
    t->skipped = bad ? t->skipped : 0;
    return t->done != 1 || !t->wish->grad_norms || write_norms(t, norms, e);
}

static bool due(int64_t done, int64_t every, int64_t otherwise)
{
    const int64_t n = every ? every : otherwise;
    return n > 0 && done % n == 0;
}

static int train(training *t, ts_error *e)
{
    const net *n = &t->net;
    double *norms = calloc((size_t)t->step.n_param + 1, sizeof *norms);
    t->which = calloc((size_t)n->batch, sizeof *t->which);
    t->batch = calloc((size_t)net_n_arrays(n), sizeof *t->batch);
    bool good = ((norms && t->which && t->batch) || bench_fail(e, TS_MEMORY, "no memory for a batch")) &&
                breakdown_make(&t->breakdown, t->step.plan, &t->job->options, e),
         stopped = false;
    t->begun = now(), t->begun_at = t->done;
    while (good && !stopped && t->done < t->facts.steps) {
        const train_wish *w = t->wish;
        good = one_step(t, norms, e);
        stopped = good && t->job->stop && *t->job->stop;
        if (good && due(t->done, w->save_every, t->facts.batch_steps))
            good = save(t, e);
        if (good && !stopped && (due(t->done, w->eval_every, t->facts.batch_steps) || t->done == t->facts.steps))
            good = evaluate(t, e);
    }
    good = good && save(t, e);
    free(norms), free(t->which), free(t->batch);
    return !good ? (int)e->code : stopped ? TRAIN_STOPPED : TS_OK;
}

/* Whatever is lacking now, the run is not lost. */
static void tell_remedy(const training *t, ts_error *e)
{
    char where[200];
    where_saved(t, where);
    bench_hint(e, "%s; tessera train --resume %s %s", where, t->job->run,
               t->saved >= 0 ? "goes on from there" : "begins it again");
}

/* The page, when nothing of the step is in memory any more: probing the machine takes some. */
static int finish(training *t, int code, ts_error *e)
{
    const bool kept = code == TS_OK || code == TRAIN_STOPPED || code == TS_DIVERGED;
    const bool probe = code == TS_OK && now() - t->begun > PROBE_AFTER;
    ts_error aside = {0}, *own = code == TS_DIVERGED ? &aside : e;
    if (!kept || !trains(t->job))
        return code;
    const bool good = breakdown_write(&t->breakdown, t->job->run, t->wish, t->wish->accumulate, probe, own) &&
                      run_report(t->job->run, t->wish, &t->facts, own);
    return good || code == TS_DIVERGED ? code : (int)e->code;
}

static bool emit(training *t, ts_error *e)
{
    const training_program p = {&t->net, &t->step, &t->data, &t->order, t->facts.steps};
    return program_write(&p, t->job->emit, e);
}

int train_run(train_job *j, ts_error *e)
{
    training *t = calloc(1, sizeof *t);
    if (!t)
        return bench_fail(e, TS_MEMORY, "no memory"), TS_MEMORY;
    t->job = j, t->wish = j->wish, t->saved = -1;
    t->folder.lock = t->folder.metrics = -1;
    int code = prepare(t, e) ? TS_OK : (int)e->code;
    if (code == TS_OK && j->emit)
        code = emit(t, e) ? TS_OK : (int)e->code;
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
    free(t);
    return code;
}
