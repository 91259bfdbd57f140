/* train_begin.c - from what was asked for to a step that can run: data, order, plan, the folder, the state to go on
 * from. */
#include "graph/base/base.h"
#include "train/checkpoint.h"
#include "train/files.h"
#include "train/train_parts.h"
#include "train/task.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is said on the way ---- */
bool train_leads(const training *t)
{
    return t->ranks.rank == 0;
}

void train_tell(const training *t, const train_news *n)
{
    if (t->job->tell && train_leads(t))
        t->job->tell(t->job->user, n);
}

void train_say(const training *t, news_kind kind, const char *fmt, ...)
{
    char line[1200];
    va_list list;
    va_start(list, fmt);
    vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    train_tell(t, &(train_news){.kind = kind, .text = line});
}

/* ---- data ---- */
static void tell_cut(const training *t, const data *d, const char *what)
{
    if (d->cut)
        train_say(t, NEWS_NOTE,
                  "%lld of %lld texts of the %s data are longer than %lld tokens and are cut, the first in line %lld",
                  (long long)d->cut, (long long)d->n, what, (long long)t->asked->length, (long long)d->cut_first);
}

/* A head of one class is right whatever comes, and its loss is 0. */
static bool tells_apart(const training *t, ts_error *e)
{
    const train_options *w = t->asked;
    const data *d = &t->data;
    const bool headed = task_of(w)->label == LABEL_CLASS && !w->loss && !(w->head && strcmp(w->head, "none") == 0);
    int64_t same = 0;
    while (same < d->n && d->label && d->label[same] == d->label[0])
        same++;
    if (!headed || same < d->n)
        return true;
    char name[OPTION_LINE];
    const char *names = d->names;
    if (!option_line(&names, name))
        snprintf(name, sizeof name, "%g", d->label[0]);
    err_set(e, TS_BAD_INPUT, "%.*s:%lld: from here on all %lld labels are \"%s\": there is nothing to learn",
            (int)strcspn(w->data, "\n"), w->data, d->line ? (long long)d->line[0] : 0, (long long)d->n, name);
    return err_hint(e, "give examples of another class, too");
}

static bool read_train(training *t, int64_t vocabulary, ts_error *e)
{
    const train_options *w = t->asked;
    const data_want want = {
        .files = w->data, .classes = w->labels, .learns = true, .vocabulary = vocabulary, .tokenizer = t->tokenizer};
    if (!train_read_data(w, &want, &t->data, e))
        return false;
    t->facts.classes = w->labels ? w->labels : t->data.classes;
    option_set_text(&t->asked->names, t->data.names);
    memcpy(t->facts.data, t->data.hash, sizeof t->facts.data);
    tell_cut(t, &t->data, "training");
    return tells_apart(t, e);
}

static bool read_eval(training *t, ts_error *e)
{
    const train_options *w = t->asked;
    if (!w->eval || !*w->eval)
        return true;
    const data_want want = {
        .files = w->eval, .classes = t->facts.classes, .vocabulary = t->net.vocabulary, .tokenizer = t->tokenizer};
    t->has_eval = train_read_data(w, &want, &t->eval, e) &&
                  train_check_tokens(w, &t->eval, w->eval, t->net.vocabulary, e);
    if (t->has_eval)
        tell_cut(t, &t->eval, "evaluation");
    return t->has_eval;
}

static bool make_order(training *t, ts_error *e)
{
    const train_options *w = t->asked;
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
    train_options *w = t->asked;
    const int64_t epoch = order_epoch_steps(&t->order), all = t->order.given ? t->order.n_given : epoch * w->epochs;
    t->facts.batch_steps = epoch < w->accumulate ? 1 : epoch / w->accumulate;
    t->facts.steps = w->steps ? w->steps : all < w->accumulate ? 1 : all / w->accumulate;
    t->facts.total_steps = w->total_steps ? w->total_steps : t->facts.steps;
    t->facts.warmup = w->warmup >= 0 ? w->warmup : t->facts.total_steps / 10;
}

/* What the run is of: the model, that with the numbers beside it, and the tokens that the data became. */
static bool identify(training *t, ts_error *e)
{
    const tokens *all = &t->data.text;
    const int64_t n = !all->id ? 0 : t->net.stream ? t->data.n : all->at[t->data.n];
    *t->facts.tokens = 0;
    if (all->id)
        ts_hash_bytes(all->id, (size_t)n * sizeof *all->id, t->facts.tokens);
    return files_hash_model(t->asked->model, t->facts.model, e) && ts_model_hash(t->net.model, t->facts.numbers, e);
}

/* A step that has no batch is known before the first one. */
static bool order_lasts(const training *t, ts_error *e)
{
    const int64_t need = t->facts.steps * t->asked->accumulate;
    if (!t->order.given || need <= t->order.n_given)
        return true;
    err_set(e, TS_BAD_INPUT, "'%s' has %lld batches, and %lld steps take %lld", t->asked->order,
            (long long)t->order.n_given, (long long)t->facts.steps, (long long)need);
    return err_hint(e, "give it more lines, or say fewer --steps");
}

/* ---- beginning ---- */
static bool same_files(const run_facts *began, const run_facts *is, const char *run, ts_error *e)
{
    const bool renumbered = *began->numbers && strcmp(began->numbers, is->numbers) != 0,
               retold = *began->tokens && strcmp(began->tokens, is->tokens) != 0;
    const char *what = strcmp(began->model, is->model) != 0   ? "the model's file"
                       : renumbered                           ? "the file of numbers beside the model"
                       : strcmp(began->data, is->data) != 0   ? "the training data"
                       : strcmp(began->order, is->order) != 0 ? "the order"
                       : retold                               ? "the tokenizer"
                                                              : NULL;
    if (!what && began->redrawn) {
        err_set(e, TS_UNSUPPORTED, "the run in '%s' drew other random numbers than this Tessera does", run);
        return err_hint(e, "go on with the Tessera that began it, or train anew in another folder with -o");
    }
    if (!what)
        return true;
    err_set(e, TS_BAD_INPUT, "%s is not the one that the run in '%s' began with", what, run);
    return err_hint(e, "put the old one back, or train anew in another folder with -o");
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
        train_say(t, NEWS_WARNING, "%s", c.note);
    const bool ok = step_load(&t->step, c.weights, c.optimizer, e) || err_hint(e, "in %s", c.path);
    t->done = t->saved = c.step;
    checkpoint_free(&c);
    agreement newest = {.what = "the newest whole checkpoint"};
    snprintf(newest.value, AGREED, "%lld", (long long)t->done);
    return ok && ranks_agree(&t->ranks, 1, &newest, e);
}

/* A disk that is too small for what will be saved is known before the first step. */
static bool disk_lasts(training *t, ts_error *e)
{
    const int n = t->step.n_weight + t->step.n_state;
    const int64_t every = t->asked->save_every ? t->asked->save_every : t->facts.batch_steps,
                  left = t->facts.steps - t->done, keep = t->asked->keep + t->has_eval; /* the best, too */
    ENDED_BY(heap_free) ts_given *all = left > 0 ? step_state_make(&t->step, e) : NULL;
    int64_t size = 0;
    for (int i = 0; all && i < n; i++)
        size += ts_array_count(&all[i].value) * ts_dtype_bytes(all[i].value.dtype);
    return left <= 0 || !train_leads(t) ||
           (all && checkpoint_fits(t->job->run, size, (left + every - 1) / every, keep, e));
}

/* Of a run that goes on just as it began: for something else than training. */
static bool asks(const train_job *j)
{
    return j->emit || j->planned || j->forecast;
}

bool job_trains(const train_job *j)
{
    return !j->dry && !asks(j);
}

/* A folder that holds a run is locked at once; a new one is made when all else is known to be right. */
static bool open_run(training *t, run_facts *began, bool *goes_on, ts_error *e)
{
    train_job *j = t->job;
    train_options old;
    *goes_on = false;
    if (!j->resume)
        return run_is_new(j->run, e);
    ts_error none = {0};
    option_make(&old);
    char note[RUN_NOTE] = "";
    bool ok = !job_trains(j) || !train_leads(t) || run_is_new(j->run, &none) || run_lock(&t->folder, j->run, false, e);
    ok = ok && run_read(j->run, &old, began, goes_on, note, e);
    if (*note)
        train_say(t, NEWS_WARNING, "%s", note);
    if (ok && !*goes_on && !t->asked->model) {
        ok = err_set(e, TS_USAGE, "'%s' holds no run to go on with", j->run);
        err_hint(e, "tessera train MODEL --data FILE -o %s begins one", j->run);
    }
    if (ok && *goes_on && t->asked->model)
        ok = option_same(&old, t->asked, j->run, e);
    else if (ok && *goes_on) {
        option_free(t->asked);
        *t->asked = old;
        if (j->change)
            j->change(j->user, t->asked);
        if (asks(j))
            option_set_text(&t->asked->eval, NULL); /* judging is no part of the step */
        return true;
    }
    option_free(&old);
    return ok;
}

static void tell_target(const training *t, const run_facts *began, const char *target, const char *isa)
{
    const bool same = strcmp(began->target, target) == 0 && strcmp(began->isa, isa) == 0,
               usual = strcmp(target, ts_target_usual()) == 0 && !*isa;
    const char *now = *isa ? " --isa " : "", *then = *began->isa ? " --isa " : "";
    if (!*began->target)
        return;
    if (!same)
        train_say(t, NEWS_NOTE, "the run was made with --target %s%s%s, and goes on with --target %s%s%s",
                  began->target, then, began->isa, target, now, isa);
    else if (!usual)
        train_say(t, NEWS_NOTE, "goes on with --target %s%s%s, as the run was made", target, now, isa);
}

/* What the command leaves open is as it was recorded: bits depend on it. An instruction set is one of its target. */
static void settle_target(training *t, const run_facts *began)
{
    const ts_options *said = &t->job->options;
    const char *target = said->target ? said->target : *began->target ? began->target : ts_target_usual();
    const bool moved = strcmp(began->target, target) != 0;
    const char *isa = said->isa ? said->isa : moved ? "" : began->isa;
    tell_target(t, began, target, isa);
    snprintf(t->facts.target, sizeof t->facts.target, "%s", target);
    snprintf(t->facts.isa, sizeof t->facts.isa, "%s", isa);
    t->options = *said;
    if (t->asked->shards > 1 && strchr(target, ',')) { /* all else is computed on the first one */
        t->ranks.devices = t->facts.target;
        snprintf(t->device, sizeof t->device, "%.*s", (int)strcspn(target, ","), target);
        target = t->device;
    } else
        target = t->facts.target;
    t->options.target = target, t->options.isa = *isa ? t->facts.isa : NULL;
}

/* Of the process now: program, model, data, plans. 0 where the system does not tell. */
static double bytes_now(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*s %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* Who computes where; many of them to one device may be many too many for it. */
static void tell_devices(const training *t, cJSON *facts)
{
    const int n = t->ranks.count;
    ENDED_BY(heap_free) char(*on)[RANKS_WORD] = heap_array((size_t)n, sizeof *on);
    ENDED_BY(text_free) text line = {0};
    ranks_words(&t->ranks, t->ranks.devices ? t->ranks.devices : ts_plan_device(t->step.plan), on);
    cJSON *list = js_array(facts, "devices");
    for (int i = 0; i < n; i++) {
        cJSON_AddItemToArray(list, cJSON_CreateString(on[i]));
        text_add(&line, "%s%d on %s", i ? ", " : "", i, on[i]);
    }
    if (n > 1)
        train_say(t, NEWS_NOTE, "ranks compute: %s", text_str(&line));
}

static bool tell_facts(const training *t, ts_error *e)
{
    double judging = 0;
    const double now = bytes_now();
    if (t->has_eval && !judge_bytes(t->asked, &t->eval, t->net.classes, &t->options, &judging, e))
        return false;
    judging += judging > 0 ? sizeof(float) * (double)t->step.trained : 0; /* as constants of its graph */
    ENDED_BY(js_free) cJSON *facts = step_facts(&t->step, e);
    if (!facts)
        return false;
    const double takes = js_get_number(facts, "bytes", 0), needs = js_get_number(facts, "alive_bytes", 0);
    const cJSON *one;
    char line[400];
    if (takes <= needs * 1.0005)
        snprintf(line, sizeof line, "no order of its work needs less, only values computed again, as with --mem-limit");
    else
        snprintf(line, sizeof line, "%.3f times the lower bound", takes / needs);
    train_say(t, NEWS_NOTE, "a step needs %.1f MiB (weights, gradients, optimizer state, activations); %s",
              takes / 1048576, line);
    train_say(t, NEWS_NOTE, "the run takes %.0f MiB: with %.0f of program, model and data%s",
              (now + takes + judging) / 1048576, now / 1048576, judging > 0 ? ", and the evaluations" : "");
    js_put(facts, "run_bytes:%g,eval_bytes:%g", now + takes + judging, judging);
    cJSON_ArrayForEach(one, js_get(facts, "recompute"))
    {
        step_saving(one, line, sizeof line);
        train_say(t, NEWS_NOTE, "%s", line);
    }
    cJSON_ArrayForEach(one, js_get(facts, "notes")) train_say(t, NEWS_NOTE, "%s", one->valuestring);
    tell_devices(t, facts);
    train_tell(t, &(train_news){.kind = NEWS_FACTS, .facts = facts});
    return true;
}

/* ---- several processes ---- */
static bool shared_out(const training *t, ts_error *e)
{
    const int64_t shards = t->asked->shards, n = t->ranks.count, devices = ranks_devices(&t->ranks), all = n * devices;
    if (all <= shards && (all & (all - 1)) == 0 && devices <= MOST_DEVICE)
        return true;
    if (devices > 1) {
        err_set(e, TS_USAGE, "--target %s: %lld devices of %lld processes cannot share --shards %lld", t->ranks.devices,
                (long long)devices, (long long)n, (long long)shards);
        return err_hint(e, "name 1, 2, 4, ... of them, %d at most; or begin a run with more --shards", MOST_DEVICE);
    }
    err_set(e, TS_USAGE, "%lld processes cannot share --shards %lld", (long long)n, (long long)shards);
    return err_hint(e, "start 1, 2, 4, ... as many as there are shards; or begin a run with more --shards");
}

/* What the step is, in whose plan names, loops and instruction set stand. */
static bool hash_plan(const training *t, char out[65], ts_error *e)
{
    ENDED_BY(js_free) cJSON *plan = plan_facts(t->step.plan, e);
    cJSON_DeleteItemFromObject(plan, "threads"), cJSON_DeleteItemFromObject(plan, "build");
    ENDED_BY(heap_free) char *all = plan ? js_to_text(plan, false) : NULL;
    if (all)
        ts_hash_bytes(all, strlen(all), out);
    return all != NULL;
}

/* Each option by its name, as run.json has it. */
static int add_options(const train_options *w, agreement *all)
{
    cJSON *o = option_json(w), *one;
    int n = 0;
    cJSON_ArrayForEach(one, o)
    {
        ENDED_BY(heap_free) char *value = js_to_text(one, false);
        char sum[65] = "";
        snprintf(all[n].what, sizeof all[n].what, "--%s", one->string);
        if (value && strlen(value) >= AGREED)
            ts_hash_bytes(value, strlen(value), sum);
        snprintf(all[n++].value, AGREED, "%s", *sum ? sum : value ? value : "");
    }
    cJSON_Delete(o);
    return n;
}

static bool agree(training *t, ts_error *e)
{
    char program[65] = "", plan[65] = "";
    const run_facts *f = &t->facts;
    const struct {
        const char *what, *value;
    } fact[] = {
        {"the program", program},       {"the model", f->model},         {"the numbers beside the model", f->numbers},
        {"the training data", f->data}, {"the tokens", f->tokens},       {"the order", f->order},
        {"the target", f->target},      {"the instruction set", f->isa}, {"the plan", plan}};
    enum { N_FACT = sizeof fact / sizeof *fact, MOST = N_FACT + 100 };
    if (!t->ranks.by)
        return true;
    ENDED_BY(heap_free) agreement *all = heap_array(MOST, sizeof *all);
    bool ok = ts_file_hash("/proc/self/exe", program, e) && hash_plan(t, plan, e);
    int n = ok ? add_options(t->asked, all) : 0; /* what follows of them comes behind them */
    for (int i = 0; ok && i < N_FACT; i++, n++) {
        snprintf(all[n].what, sizeof all[n].what, "%s", fact[i].what);
        snprintf(all[n].value, AGREED, "%s", fact[i].value);
    }
    if (ok && !ranks_agree(&t->ranks, n, all, e))
        ok = false, t->together = true;
    return ok;
}

/* Before anything is written: each rank's machine has what the plans are for. */
static bool all_run(training *t, ts_error *e)
{
    const bool ok = ranks_fine(&t->ranks, step_runs(&t->step, e), e);
    t->together = t->together || (!ok && t->ranks.by);
    return ok;
}

static bool begin_folder(training *t, ts_error *e)
{
    return !train_leads(t) || ((t->folder.lock >= 0 || run_lock(&t->folder, t->job->run, true, e)) &&
                               run_write(&t->folder, t->asked, &t->facts, e));
}

static bool open_metrics(training *t, ts_error *e)
{
    int64_t damaged;
    if (!train_leads(t))
        return true;
    if (!run_metrics(&t->folder, t->done, &damaged, e))
        return false;
    if (damaged)
        train_say(t, NEWS_WARNING,
                  "%lld lines of '%s/metrics.jsonl' are damaged; they are in metrics.rolled-back.jsonl now",
                  (long long)damaged, t->job->run);
    metrics all;
    if (!metrics_read(&all, t->job->run, e))
        return false;
    t->course = metrics_course(&all);
    metrics_free(&all);
    if (t->done >= t->facts.steps)
        train_say(t, NEWS_NOTE, "the run is through: %lld steps of %lld are done; --steps %lld goes further",
                  (long long)t->done, (long long)t->facts.steps, (long long)(t->done + t->facts.batch_steps));
    return true;
}

bool train_begin(training *t, ts_error *e)
{
    train_options *w = t->asked;
    run_facts began = {.classes = 0};
    bool goes_on;
    if (!open_run(t, &began, &goes_on, e))
        return false;
    if (!w->data)
        return err_set(e, TS_USAGE, "train: --data is missing"),
               err_hint(e, "--data FILE.tsv has TEXT, a tab, LABEL on a line");
    if (!goes_on && !option_fits(w, e))
        return false;
    settle_target(t, &began);
    if (!shared_out(t, e))
        return false;
    const bool stream = task_of(w)->stream;
    t->tokenizer = train_tokenizer_make(w, e);
    if (e->code || (!stream && !read_train(t, 0, e)))
        return false;
    if (!net_make(&t->net, w, &t->data, w->batch / w->shards, t->facts.classes, e) ||
        (stream && !read_train(t, t->net.vocabulary, e)) ||
        !train_check_tokens(w, &t->data, w->data, t->net.vocabulary, e) || !read_eval(t, e) || !make_order(t, e))
        return false;
    settle(t);
    if (!identify(t, e) || (goes_on && !same_files(&began, &t->facts, t->job->run, e)) || !order_lasts(t, e))
        return false;
    t->net.asked = w;
    const step_span span = {t->facts.total_steps, t->facts.warmup};
    if (!ranks_machine(&t->ranks, &t->options, t->machine, e) ||
        !step_make(&t->step, &t->net, &span, &t->ranks, &t->options, e) || !agree(t, e) ||
        (job_trains(t->job) && !(all_run(t, e) && begin_folder(t, e))))
        return false;
    t->began = job_trains(t->job);
    train_say(t, NEWS_START, "%lld parameters trained, %lld frozen; %lld steps of %lld, %lld an epoch",
              (long long)t->step.trained, (long long)t->step.frozen, (long long)t->facts.steps, (long long)w->batch,
              (long long)t->facts.batch_steps);
    if (!tell_facts(t, e))
        return false;
    if (!job_trains(t->job))
        return true;
    return step_build(&t->step, e) && load_state(t, e) && disk_lasts(t, e) && open_metrics(t, e);
}
