/* compare.c - tessera compare: two files of results, earlier and later. */
#include "bench/bench.h"
#include "graph/base/ended.h"
#include "cli/args.h"
#include "cli/outfile.h"
#include "cli/results.h"

static bool compare(const args *a, const char *before, const char *after, char **out, ts_error *e)
{
    compare_options o = {
        .before = before,
        .after = after,
        .before_name = args_noun(a, 0),
        .after_name = args_noun(a, 1),
        .threshold = args_number(a, "threshold"),
        .allow_env_diff = args_flag(a, "allow-env-diff"),
    };
    return bench_compare(&o, out, e);
}

static int run(const args *a, ts_error *e)
{
    ENDED_BY(heap_free)
    char *before = outfile_text(args_noun(a, 0), RESULTS_MOST, e), *after = NULL, *comparison = NULL;
    if (before)
        after = outfile_text(args_noun(a, 1), RESULTS_MOST, e);
    int code = TS_OK;
    if (after && compare(a, before, after, &comparison, e) && results_give(a, comparison, e)) {
        for (int i = 0; i < args_count(a, "fail-on"); i++) {
            if (bench_has_verdict(comparison, args_at(a, "fail-on", i)))
                code = TS_FAILED;
        }
    }
    return code;
}

static const option options[] = {
    {"threshold", 0, PERCENT, "PERCENT", "least difference that matters", ONCE},
    {"fail-on", 0, CHOICE, "slower|faster|undecided", "exit 1 on such a verdict; repeats", REPEATS},
    {"allow-env-diff", 0, FLAG, NULL, "compare across machines, threads, models or inputs", ONCE},
    {0},
};

static void usual(const option *o, char out[OPTION_TEXT_MOST])
{
    option_usual((const usual_number[]){{"threshold", bench_usual.threshold}, {0}}, o, out);
}

const verb verb_compare = {
    .name = "compare",
    .brief = "Compare two files of results of the same model",
    .usage = "BEFORE AFTER",
    .own = {"Options", options, usual},
    .examples = "tessera compare before.json after.json\n"
                "tessera compare before.json after.json --fail-on slower # exit 1 then",
    .run = run,
};
