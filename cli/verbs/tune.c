/* tune.c - tessera tune: looks for better loops, and keeps what a race of the whole model confirms. */
#include "bench/bench.h"
#include "bench/tune/tune.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"
#include "graph/base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096, LAUNCHES = 3 };
/* Of the budget: for trials; for samples of both that race, the rest being what it takes to check and to warm up. */
static const double for_trials = 0.5, for_samples = 0.08;

static const char tuned_form[] =
    "target {target}  {isa}  {threads} threads  schema {schema}  {trials} trials\n\n"
    "[kernels!kernel|>kernels|>tried|>base|>best|>rank\n"
    "{kernel}\t{kernels}\t{tried}\t{base_ns}\t{best_ns}\t[rank?{rank:%.2f}|-]]\n"
    "[rules*rule \"{name}\": {saved_ns} less\n    {does}\n]"
    "[race?\nthe whole model: {race/verdict~}, {race/ratio:%.3f} times as fast ({race/low:%.3f} to {race/high:%.3f})\n]"
    "[written?wrote {written}\n|nothing is written: {why}\n]";

/* A schema extends a file of its own folder: by its name, of which trials have a copy. */
static bool base_of(tune_options *o, const char *out, ts_error *e)
{
    const char *slash = strrchr(o->schema, '/'), *to = strrchr(out, '/');
    const size_t n = slash ? (size_t)(slash - o->schema) : 0, m = to ? (size_t)(to - out) : 0, all = strlen(o->schema);
    o->base = slash ? slash + 1 : o->schema;
    if (!slash && (all < 5 || strcmp(o->schema + all - 5, ".json") != 0))
        return true;
    if (n != m || strncmp(o->schema, out, n) != 0) {
        err_set(e, TS_USAGE, "-o %s extends %s, which lies in another folder", out, o->schema);
        return err_hint(e, "write it beside that file: schemas extend files of their own folder");
    }
    char path[PATH];
    ENDED_BY(heap_free) char *s = outfile_text(o->schema, RESULTS_MOST, e);
    snprintf(path, sizeof path, "%s/%s", o->folder, o->base);
    return s && outfile_write(path, s, e);
}

/* The winner against what it extends, as bench races them; NULL in the report where they cannot be raced. */
static bool race(const args *a, const session *s, const char *found, const char *base, cJSON *report)
{
    const char *schemas[] = {found, base};
    bench_options o = session_contest(a);
    o.n_schemas = 2, o.schemas = schemas;
    o.launches = LAUNCHES, o.min_time = args_number(a, "budget") * for_samples;
    o.judge = o.target ? o.target : ts_target_usual();
    o.progress = s->options.progress, o.user = s->options.user;
    char *results = NULL;
    ts_error e = {0};
    cJSON *all = bench_run(&o, &results, &e) ? js_parse(results, "results", &e) : NULL;
    const cJSON *one = cJSON_GetArrayItem(js_get(all, "comparisons"), 0);
    const bool faster = one && !strcmp(js_get_text(one, "verdict"), "FASTER");
    if (one)
        js_put(js_object(report, "race"), "verdict:%s,ratio:%g,low:%g,high:%g", js_get_text(one, "verdict"),
               js_get_number(one, "ratio", NAN), js_get_number(one, "low", NAN), js_get_number(one, "high", NAN));
    if (!faster) {
        const char *why = one ? "the whole model is not faster with it" : "the race has no verdict";
        cJSON_DeleteItemFromObjectCaseSensitive(report, "why");
        js_text(report, "why", one || !e.code ? why : e.text);
    }
    cJSON_Delete(all), free(results), session_contest_free(&o);
    return faster;
}

static bool keep(const args *a, const session *s, const tune_options *o, const char *schema, cJSON *report, ts_error *e)
{
    char path[PATH];
    const char *out = args_text(a, "out");
    snprintf(path, sizeof path, "%s/tuned.json", o->folder);
    bool ok = outfile_write(path, schema, e);
    if (ok && race(a, s, path, args_text(a, "schema"), report)) {
        ok = outfile_write(out, schema, e);
        js_text(report, "written", out);
    }
    return ok;
}

static bool folder_make(char folder[PATH], ts_error *e)
{
    snprintf(folder, PATH, "%s/tessera-tune-XXXXXX", file_temporary());
    if (mkdtemp(folder))
        return true;
    err_set(e, TS_FILES, "cannot make a temporary folder %s", folder);
    return err_hint(e, "set TMPDIR to a folder that can be written");
}

static bool tune(const args *a, session *s, tune_options *o, ts_error *e)
{
    char *found = NULL, folder[PATH];
    if (!folder_make(folder, e))
        return false;
    o->folder = folder;
    cJSON *report = base_of(o, args_text(a, "out"), e) ? tune_run(s->model, s->value, &s->options, o, &found, e) : NULL;
    const bool ok = report && (!found || keep(a, s, o, found, report, e));
    free(found);
    file_remove_tree(folder);
    progress_close(&s->progress);
    if (ok)
        js_text(report, "log", o->log);
    reply_done(a, ok, report, tuned_form);
    return ok;
}

static const char predicted_form[] = "predicted over measured time: a tenth is below low, a tenth above high\n\n"
                                     "[kernels!kernel|>nests|>rank|>low|>median|>high\n"
                                     "{kernel}\t{nests}\t[rank?{rank:%.2f}|-]\t[low?{low:%.2f}|-]\t"
                                     "[median?{median:%.2f}|-]\t[high?{high:%.2f}|-]]";

/* What is predicted of a log's loops; nothing is run. */
static void predict(const args *a, const session *s, const char *log, ts_error *e)
{
    static const char *const of_search[] = {"op", "rule", "budget", "most", "random", "out", "log", "schema", NULL};
    char folder[PATH];
    if (!args_refuse(a, of_search, "--predict searches nothing, and the log says of which schema it is", e))
        return;
    cJSON *rows = folder_make(folder, e) ? tune_ranks(s->model, log, folder, e) : NULL;
    if (rows) {
        cJSON *report = reply_make("tune-ranks/1");
        cJSON_AddItemToObject(report, "kernels", rows);
        reply_give(a, report, predicted_form);
    }
    file_remove_tree(folder);
}

static int run(const args *a, ts_error *e)
{
    session s = {0};
    char beside[PATH];
    const char *out = args_text(a, "out"), *log = args_text(a, "log");
    snprintf(beside, sizeof beside, "%s.log", out);
    tune_options o = {.schema = args_text(a, "schema"),
                      .op = args_text(a, "op"),
                      .rule = args_text(a, "rule"),
                      .log = log ? log : beside,
                      .budget = args_number(a, "budget") * for_trials,
                      .most = (int)args_integer(a, "most"),
                      .seed = (uint64_t)args_integer(a, "random")};
    const char *held = args_text(a, "predict");
    if (held && session_open(&s, a, args_noun(a, 0), e))
        predict(a, &s, held, e);
    else if (!held && session_whole(a, e) && outfile_check(out, e) && session_open(&s, a, args_noun(a, 0), e) &&
             session_fill(&s, 1, e)) {
        o.progress = s.options.progress, o.user = s.options.user;
        tune(a, &s, &o, e);
    }
    session_close(&s);
    return TS_OK;
}

static const option options[] = {
    {"schema", 's', A_SCHEMA, "FILE|NAME", "loops to be better than, which the result extends", "guess", false, 0, 0},
    {"op", 0, WORD, "GLOB", "kernels of this operation or name only", ONCE},
    {"rule", 0, WORD, "NAME", "kernels that this rule of the schema decides only", ONCE},
    {"budget", 0, SECONDS, "TIME", "how long to look, the race included", "120s", false, 0, 0},
    {"most", 0, INTEGER, "N", "loops to try for a kernel", "64", false, 1, 500},
    {"random", 0, INTEGER, "SEED", "loops drawn at random by this seed, in place of the quickest by prediction", NULL,
     false, 0, INT64_MAX},
    {"predict", 0, A_FILE, "LOG", "no search: what is predicted of the loops in a log, beside their times", ONCE},
    {"out", 'o', A_FILE, "FILE", "where a schema that is faster goes", "best.json", false, 0, 0},
    {"log", 0, A_FILE, "FILE",
     "what was tried, a JSON object a line; a further run goes on from it (default: FILE.log)", ONCE},
    {0},
};

const verb verb_tune = {
    .name = "tune",
    .brief = "Look for better loops, and write them as a schema",
    .usage = "MODEL",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = "tessera tune bert-base --dim seq=128\n"
                "tessera tune resnet-50 --op conv2d --budget 5m -o mine.json\n"
                "tessera tune minilm -s naive --op matmul # from textbook loops on\n"
                "tessera tune minilm --random 1 --budget 60s --log drawn.log\n"
                "tessera tune minilm --predict drawn.log # how well predictions rank loops",
    .details =
        "Loops are ranked by their predicted time; the best are timed in the model, kernel by kernel, in turns "
        "with those of the schema, and their results compared. So is, one by one, what changes the kernels "
        "themselves: layouts, fusions, attention in blocks, algebraic alternatives; these are timed by all kernels "
        "that change. What is quicker becomes at most three rules over ranges of extents, which race against the "
        "schema as bench does it. Where that does not show them faster, nothing is written. Column rank: how "
        "predictions and times of what was tried agree, from -1 to 1.",
    .run = run,
};
