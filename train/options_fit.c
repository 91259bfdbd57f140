/* options_fit.c - options that would change nothing are mistakes: of a run that begins. One that goes on may have begun
 * with them. */
#include "graph/base/err.h"
#include "train/step.h"
#include "train/task.h"

#include <stdio.h>
#include <string.h>

/* What a dimension's range would leave open, steps cannot: all of them are one plan. */
static bool one_extent(const train_options *w, ts_error *e)
{
    char line[OPTION_LINE];
    for (const char *at = w->dims; option_line(&at, line);) {
        const char *equals = strrchr(line, '=');
        if (!equals || !strstr(equals, ".."))
            continue;
        err_set(e, TS_USAGE, "--dim %s is a range, and all steps of a run have one extent", line);
        return err_hint(e, "give it one: --dim %.*s=N", (int)(equals - line), line);
    }
    return true;
}

/* Sums are a binary tree over equal shards. */
static bool shards_fit(const train_options *w, ts_error *e)
{
    if (w->shards & (w->shards - 1)) {
        err_set(e, TS_USAGE, "--shards %lld: a power of 2 expected", (long long)w->shards);
        return err_hint(e, "as many as the processes that may ever share the run, or a few times as many");
    }
    if (w->batch % w->shards) {
        err_set(e, TS_USAGE, "--shards %lld: --batch %lld is no multiple of it", (long long)w->shards,
                (long long)w->batch);
        return err_hint(e, "each shard is as many examples as the others");
    }
    if (w->shards == 1 || !precision_scaled(w))
        return true;
    err_set(e, TS_UNSUPPORTED, "--shards %lld: --precision %s has a loss scale, which shards do not share",
            (long long)w->shards, w->precision);
    return err_hint(e, "say --precision bf16 or f32");
}

bool option_fits(const train_options *w, ts_error *e)
{
    if (!one_extent(w, e) || !shards_fit(w, e))
        return false;
    const task *of = task_of(w);
    const bool by_task = !w->loss;
    train_options usual;
    option_make(&usual);
    const bool scale = w->loss_scale != usual.loss_scale, growth = w->growth_interval != usual.growth_interval,
               pool = strcmp(w->pool, usual.pool) != 0, scaled = precision_scaled(w);
    option_free(&usual);
    char subject[256];
    const struct {
        bool is;
        const char *text, *hint;
    } mistake[] = {
        {by_task && !of->labels && !task_is_text(w), "%s is for texts",
         "--loss NAME trains on an output that is the loss itself"},
        {w->smoothing > 0 && !(by_task && of->classes), "--label-smoothing: %s has no classes to smooth",
         "leave it out"},
        {w->labels > 0 && !(by_task && of->label == LABEL_CLASS), "--labels: %s has no classes of the data",
         "leave it out"},
        {w->head && !(by_task && of->labels), "--head: %s has no head", "leave it out"},
        {pool && !(by_task && !of->stream), "--pool: %s makes no one vector of all tokens", "leave it out"},
        {w->patience > 0 && !(w->eval && *w->eval), "--patience: %s is not evaluated",
         "--eval FILE names the examples to evaluate on"},
        {w->ema >= 1, "--ema 1 keeps the weights of the beginning", "it is the share that stays, as in 0.999"},
    };
    snprintf(subject, sizeof subject, "--%s %s", by_task ? "task" : "loss", by_task ? w->task : w->loss);
    for (size_t i = 0; i < sizeof mistake / sizeof *mistake; i++)
        if (mistake[i].is)
            return err_set(e, TS_USAGE, mistake[i].text, subject), err_hint(e, "%s", mistake[i].hint);
    if (scaled || (!scale && !growth))
        return true;
    err_set(e, TS_USAGE, "--%s: --precision %s has no loss scale", scale ? "loss-scale" : "growth-interval",
            w->precision);
    return err_hint(e, "leave it out, or say --precision f16");
}
