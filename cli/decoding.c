/* decoding.c - the table of bench --decode: a row for the prompt, one for the tokens behind it. */
#include "cli/unraced.h"
#include "bench/bench.h"
#include "bench/decoding.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/train_options.h"

#include <stdlib.h>

static const char form[] = "{rows!phase=|>batch=texts|>tokens=tokens of each|>count=runs|>per_second=tokens per second|"
                           ">p50_ns=p50 of a run|>p90_ns=p90}";

bool decoding_bench(const args *a, ts_error *e)
{
    char *dims = train_options_text(a, "dim"), *note = NULL;
    train_options step;
    option_make(&step);
    step.batch = 1;
    train_options_take(&step, a);
    decoding_race r = {.model = args_noun(a, 0),
                       .dims = dims,
                       .batch = step.batch,
                       .prompt = step.length,
                       .tokens = args_integer(a, "decode"),
                       .seed = (uint64_t)args_integer(a, "seed"),
                       .seconds = args_count(a, "min-time") ? args_number(a, "min-time") : bench_usual.min_time,
                       .options = session_options(a)};
    cJSON *root = js_put(reply_make("decoding/1"), "model:%s", r.model);
    const bool ok = decoding_run(&r, js_array(root, "rows"), &note, e);
    if (ok)
        js_put(root, "note:%s", note);
    if (ok && *note)
        console_note(&a->console, "%s", note);
    reply_done(a, ok, root, form);
    option_free(&step);
    free(dims), free(note);
    return ok;
}
