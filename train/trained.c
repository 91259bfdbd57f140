/* trained.c - what is known of a run without training: its asked, tokenizer, data and weights. */
#include "graph/base/base.h"
#include "train/checkpoint.h"
#include "train/metrics.h"
#include "train/run_folder.h"
#include "train/train.h"
#include "train/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static ts_tokenizer *open_tokenizer(const char *what, ts_error *e)
{
    ts_tokenizer *t = ts_tokenizer_open(what, e);
    if (!t && !err_hinted(e))
        err_hint(e, "--tokenizer takes a vocab.txt, a tokenizer.json, or the word bytes");
    return t;
}

ts_tokenizer *train_tokenizer_make(const train_options *w, ts_error *e)
{
    static const char *const beside[] = {"tokenizer.json", "vocab.txt"};
    char path[4200];
    struct stat st;
    if (!task_is_text(w))
        return NULL;
    if (w->tokenizer)
        return open_tokenizer(w->tokenizer, e);
    const bool built_in = stat(w->model, &st) != 0, folder = !built_in && S_ISDIR(st.st_mode);
    const char *slash = strrchr(w->model, '/');
    const int n = folder ? (int)strlen(w->model) : slash ? (int)(slash - w->model) : 1;
    for (int i = 0; i < 2 && !built_in; i++) { /* that one lies nowhere */
        snprintf(path, sizeof path, "%.*s/%s", n, folder || slash ? w->model : ".", beside[i]);
        if (stat(path, &st) == 0)
            return open_tokenizer(path, e);
    }
    return task_of(w)->stream ? ts_tokenizer_open("bytes", e) : NULL;
}

static bool check_tokens(const tokens *t, const data *d, const char *file, int64_t vocabulary, ts_error *e)
{
    for (int64_t i = 0; i < d->n; i++)
        for (int64_t k = t->at[i]; k < t->at[i + 1]; k++)
            if (t->id[k] >= vocabulary) {
                err_set(e, TS_BAD_INPUT, "%s:%lld: token %d, the model has %lld", file, (long long)d->line[i], t->id[k],
                        (long long)vocabulary);
                return err_hint(e, "--tokenizer must name the one that the model was trained with");
            }
    return true;
}

/* What a model that takes texts is given must be texts, and arrays else. */
static bool same_kind(const train_options *w, const char *files, ts_error *e)
{
    const bool arrays = data_is_arrays(files);
    if (arrays == !task_is_text(w))
        return true;
    err_set(e, TS_USAGE, "'%.*s' is %s, and the training data is %s", (int)strcspn(files, "\n"), files,
            arrays ? "an array" : "no array", arrays ? "text" : "arrays");
    return err_hint(e, arrays ? "give a .tsv, .csv, .jsonl or text" : "give arrays as NAME=FILE.npy");
}

bool train_read_data(const train_options *w, const data_want *want, data *out, ts_error *e)
{
    data_want all = *want;
    all.label = w->loss ? LABEL_NONE : task_of(w)->label;
    all.stream = task_of(w)->stream, all.length = w->length, all.columns = w->columns;
    all.names = all.learns ? NULL : w->names;
    return same_kind(w, all.files, e) && data_read(&all, out, e);
}

bool train_check_tokens(const train_options *w, const data *d, const char *files, int64_t vocabulary, ts_error *e)
{
    char file[4096];
    snprintf(file, sizeof file, "%.*s", (int)strcspn(files, "\n"), files);
    if (!vocabulary || !d->text.at || task_of(w)->stream)
        return true;
    return check_tokens(&d->text, d, file, vocabulary, e) &&
           (task_of(w)->label != LABEL_TEXT || check_tokens(&d->second, d, file, vocabulary, e));
}

void run_weights_free(run_weights *w)
{
    for (int i = 0; i < w->n; i++) {
        free((char *)(uintptr_t)w->all[i].name);
        ts_array_free(&w->all[i].value);
    }
    free(w->all);
    option_free(&w->asked);
    *w = (run_weights){0};
}

/* What was trained, or its average where one was kept. */
static bool get_weight(const checkpoint *c, bool averaged, const char *name, ts_array *out, ts_error *e)
{
    char label[4200];
    snprintf(label, sizeof label, "%s.average", name);
    bool kept = false; /* statistics have none */
    for (int i = 0; averaged && i < ts_tensors_count(c->optimizer) && !kept; i++)
        kept = strcmp(ts_tensors_name(c->optimizer, i), label) == 0;
    return kept ? ts_tensors_get(c->optimizer, label, out, e) : ts_tensors_get(c->weights, name, out, e);
}

static bool open_settings(const char *run, run_weights *out, ts_error *e)
{
    run_facts facts = {.classes = 0};
    bool found;
    *out = (run_weights){0};
    option_make(&out->asked);
    char note[RUN_NOTE];
    if (!run_read(run, &out->asked, &facts, &found, note, e))
        return false;
    snprintf(out->note, sizeof out->note, "%s", note);
    out->classes = facts.classes;
    if (found && out->asked.model)
        return true;
    err_set(e, TS_FILES, "'%s' holds no run: there is no run.json", run);
    return err_hint(e, "tessera train MODEL --data FILE -o %s makes one", run);
}

static bool take_weights(run_weights *out, checkpoint *c, ts_error *e)
{
    out->step = c->step;
    if (*c->note)
        snprintf(out->note, sizeof out->note, "%s", c->note);
    out->all = heap_array((size_t)ts_tensors_count(c->weights) + 1, sizeof *out->all);
    bool ok = true;
    for (int i = 0; ok && i < ts_tensors_count(c->weights); i++) {
        const char *name = ts_tensors_name(c->weights, i);
        ok = get_weight(c, out->asked.ema > 0, name, &out->all[i].value, e);
        out->all[i].name = strdup(name);
        out->n++;
    }
    checkpoint_free(c);
    return ok;
}

bool run_weights_read(const char *run, run_weights *out, ts_error *e)
{
    checkpoint c = {0};
    bool found;
    if (!open_settings(run, out, e) || !checkpoint_load(run, &c, &found, e))
        return false;
    if (found)
        return take_weights(out, &c, e);
    err_set(e, TS_FILES, "the run in '%s' has no checkpoint yet", run);
    return err_hint(e, "tessera train --resume %s goes on with it", run);
}

bool run_weights_best(const char *run, run_weights *out, ts_error *e)
{
    checkpoint c = {0};
    metrics all;
    if (!open_settings(run, out, e) || !metrics_read(&all, run, e))
        return false;
    const int64_t step = (int64_t)metrics_course(&all).best.step;
    metrics_free(&all);
    if (!step) {
        err_set(e, TS_USAGE, "the run in '%s' was never evaluated: no step is the best", run);
        return err_hint(e, "tessera train --resume %s --eval FILE evaluates it as it goes on", run);
    }
    return checkpoint_at(run, step, &c, e) ? take_weights(out, &c, e)
                                           : (checkpoint_free(&c), err_hint(e, "without --best the last one is taken"));
}
