/* eval.c - tessera eval: how good a trained model is on data. */
#include "train/ask.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/train_options.h"

#include <stdio.h>

static bool work(const args *a, asked *out, ts_error *e)
{
    progress p = progress_open(&a->console);
    ts_options o = session_options(a);
    o.progress = progress_step, o.user = &p;
    if (!args_needed(a, "data", "--data FILE.tsv names the examples", e))
        return false;
    ENDED_BY(heap_free) char *files = train_options_text(a, "data");
    const bool ok = run_eval(args_noun(a, 0), files, &o, out, e);
    progress_close(&p);
    if (ok && *out->weights.note)
        console_warn(&a->console, "%s", out->weights.note);
    char warning[VERDICT_TEXT];
    if (ok && verdict_warns(&out->verdict, warning))
        console_warn(&a->console, "%s", warning);
    if (ok && out->data.cut)
        console_note(&a->console, "%lld of %lld texts are longer than %lld tokens and are cut, the first in line %lld",
                     (long long)out->data.cut, (long long)out->data.n, (long long)out->weights.asked.length,
                     (long long)out->data.cut_first);
    return ok;
}

enum { SHOWN = 100 }; /* classes */

/* Of each class that occurs: what sort of mistakes are made with it. */
static void add_classes(cJSON *root, const asked *q)
{
    const verdict *v = &q->verdict;
    const char *names = q->weights.asked.names;
    char name[OPTION_LINE];
    cJSON *list = v->of && v->classes <= SHOWN ? js_array(root, "classes") : NULL;
    for (int64_t i = 0; list && i < v->classes; i++) {
        const class_count *c = &v->of[i];
        if (!option_line(&names, name))
            snprintf(name, sizeof name, "%lld", (long long)i);
        if (c->have || c->said)
            js_row(list, "class:%s,precision:%g,recall:%g,f1:%g,examples:%lld", name, class_precision(c),
                   class_recall(c), class_f1(c), (long long)c->have);
    }
}

static int run(const args *a, ts_error *e)
{
    asked q = {.verdict = {.n = 0}};
    const bool ok = work(a, &q, e);
    const verdict *v = &q.verdict;
    if (ok) {
        cJSON *root = js_put(reply_make("eval/1"), "n:%g,loss:%g,accuracy:%g,precision:%g,recall:%g,f1:%g,step:%g",
                             (double)v->n, v->loss, v->accuracy, v->precision, v->recall, v->f1,
                             (double)q.weights.step);
        add_classes(root, &q);
        reply_give(a, root,
                   "{n} examples  loss {loss:%.6f}[accuracy?  accuracy {accuracy:%.2f%} %]"
                   "[f1?  precision {precision:%.2f%} %  recall {recall:%.2f%} %  F1 {f1:%.2f%} %]\n"
                   "[classes?{classes!  class|>precision|>recall|>f1|>examples}]");
    }
    run_ask_free(&q);
    return TS_OK;
}

static const option options[] = {
    {"data", 0, WORD, "FILE|NAME=FILE.npy", "examples, as for train; repeats", REPEATS},
    {0},
};

const verb verb_eval = {
    .name = "eval",
    .brief = "Evaluate a trained model on data",
    .usage = "RUN",
    .own = {"Options", options, NULL},
    .groups = session_plan_groups,
    .examples = "tessera eval run --data test.tsv\n"
                "tessera eval run --data test.tsv --json # {\"n\", \"loss\", \"accuracy\", \"f1\", ...}",
    .details = "RUN is the folder that train wrote; its newest checkpoint that is whole is used.",
    .run = run,
};
