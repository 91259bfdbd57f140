/* ask.c - a run's folder is opened, its newest checkpoint loaded, and judge.c asked. */
#include "train/ask.h"
#include "train/task.h"

#include "graph/base/err.h"

static bool open_run(const char *run, asked *out, ts_error *e)
{
    *out = (asked){.verdict = {.n = 0}};
    if (!run_weights_read(run, &out->weights, e))
        return false;
    out->tokenizer = train_tokenizer_make(&out->weights.asked, e);
    return !e->code;
}

static bool ask(asked *a, judge_depth depth, const ts_options *o, ts_error *e)
{
    judge j = {.plan = NULL};
    const run_weights *w = &a->weights;
    const bool ok = judge_make(&j, &w->asked, &a->data, w->classes, w->n, w->all, e) &&
                    judge_data(&j, &a->data, depth, o, &a->verdict, e);
    judge_free(&j);
    return ok;
}

bool run_eval(const char *run, const char *files, const ts_options *o, asked *out, ts_error *e)
{
    if (!open_run(run, out, e))
        return false;
    const data_want want = {.files = files, .classes = out->weights.classes, .tokenizer = out->tokenizer};
    return train_read_data(&out->weights.asked, &want, &out->data, e) && ask(out, JUDGE_MEANS, o, e);
}

bool run_predict(const char *run, int64_t n, const char *const *texts, judge_depth depth, const ts_options *o,
                 asked *out, ts_error *e)
{
    if (!open_run(run, out, e))
        return false;
    const train_options *w = &out->weights.asked;
    if (!task_of(w)->labels) {
        err_set(e, TS_USAGE, "the run in '%s' is of --task %s: it gives no label", run, w->task);
        return err_hint(e, "tessera generate continues texts, tessera export writes the model");
    }
    const data_want want = {.length = w->length, .tokenizer = out->tokenizer};
    return data_texts(&want, n, texts, &out->data, e) && ask(out, depth, o, e);
}

void run_ask_free(asked *a)
{
    verdict_free(&a->verdict);
    data_free(&a->data);
    ts_tokenizer_free(a->tokenizer);
    run_weights_free(&a->weights);
}
