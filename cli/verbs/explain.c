/* explain.c - tessera explain: what a schema makes of a model, kernel by kernel. */
#include "bench/report/form.h"
#include "bench/tune/tune.h"
#include "cli/ranks.h"
#include "train/run_folder.h"
#include "graph/base/base.h"
#include "graph/base/stats.h"
#include "cli/dump.h"
#include "cli/run_step.h"
#include "cli/say.h"
#include "cli/session.h"
#include "train/ranks.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Kernels that are walked alike, for the same reasons where these are shown: a projection in twelve layers is
 * explained once. */
typedef struct family {
    const cJSON *first;
    int place, count; /* of the first one among all kernels; how many there are */
    char *walk;       /* what they have in common, as text */
} family;

static char *walk_of(const cJSON *kernel, bool why) /* for free() */
{
    static const char *const keys[] = {"op",     "rule",  "dtype", "dims",     "loops",   "derived",
                                       "levels", "notes", "place", "transfer", "declined"};
    text all = {0};
    for (int i = 0; i < COUNT(keys) - !why; i++) {
        const cJSON *x = js_get(kernel, keys[i]);
        ENDED_BY(heap_free) char *s = x ? js_to_text(x, false) : NULL;
        text_add(&all, "%s\n", s ? s : "");
    }
    return text_take(&all);
}

static int by_walk(const void *a, const void *b)
{
    const family *x = a, *y = b;
    const int order = strcmp(x->walk, y->walk);
    return order ? order : x->place - y->place;
}

static int by_place(const void *a, const void *b)
{
    return ((const family *)a)->place - ((const family *)b)->place;
}

static bool wanted(const cJSON *kernel, const char *glob)
{
    static const char *const keys[] = {"label", "op", "name"};
    bool found = !glob;
    for (size_t i = 0; !found && i < sizeof keys / sizeof *keys; i++)
        found = fnmatch(glob, js_get_text(kernel, keys[i]), 0) == 0;
    return found;
}

/* Leaves the kernels that glob names; false if there are none. */
static bool keep(cJSON *kernels, const char *glob, ts_error *e)
{
    const int all = cJSON_GetArraySize(kernels);
    for (cJSON *k = kernels->child, *next; k; k = next) {
        next = k->next;
        if (!wanted(k, glob))
            cJSON_Delete(cJSON_DetachItemViaPointer(kernels, k));
    }
    if (kernels->child || !glob)
        return true;
    err_set(e, TS_USAGE, "--op \"%s\": no kernel of this plan has such an operation or name", glob);
    return err_hint(e, "tessera explain without --op shows all %d", all);
}

/* In order of first appearance; for families_free. */
static family *families(const cJSON *kernels, bool all, bool why, int *n)
{
    family *list = heap_array((size_t)cJSON_GetArraySize(kernels) + 1, sizeof *list);
    int count = 0;
    const cJSON *k;
    cJSON_ArrayForEach(k, kernels) list[count] = (family){k, count, 1, walk_of(k, why)}, count++;
    if (!all)
        qsort(list, (size_t)count, sizeof *list, by_walk);
    *n = 0;
    for (int i = 0; i < count; i++)
        if (!all && *n && !strcmp(list[*n - 1].walk, list[i].walk))
            list[*n - 1].count++, free(list[i].walk);
        else
            list[(*n)++] = list[i];
    qsort(list, (size_t)*n, sizeof *list, by_place);
    return list;
}

static void families_free(family *list, int n)
{
    for (int i = 0; i < n; i++)
        free(list[i].walk);
    free(list);
}

/* ---- what is shown: the JSON, with alike things made one ---- */

/* Shared loops, then those of each stage: "r/4 ; mean: r c@vector ; add: r e@vector", one a line, with its rule; what
 * was derived is among them. */
static void add_lines(cJSON *kernel)
{
    const char *s = js_get_text(kernel, js_get(kernel, "derived") ? "derived" : "loops");
    const cJSON *stage = js_get(kernel, "stages");
    cJSON *lines = js_array(kernel, "lines");
    stage = stage ? stage->child : NULL;
    for (int i = 0; *s; i++) {
        const char *end = strstr(s, " ; ");
        const size_t n = end ? (size_t)(end - s) : strlen(s);
        ENDED_BY(text_free) text line = {0};
        text_bytes(&line, s, n);
        cJSON *row = js_row(lines, "loops:%s", text_str(&line));
        if (i && stage && js_get(stage, "rule"))
            js_put(row, "rule:%s,guessed:%i", js_get_text(stage, "rule"), js_get_flag(stage, "guessed"));
        stage = i && stage ? stage->next : stage;
        s += end ? n + 3 : n;
    }
}

/* What a trip of each loop works on, but for those of the register tile. */
static void keep_levels(cJSON *kernel)
{
    cJSON *levels = cJSON_GetObjectItemCaseSensitive(kernel, "levels"), *next;
    for (cJSON *l = levels ? levels->child : NULL; l; l = next) {
        next = l->next;
        if (strcmp(js_get_text(l, "level"), "registers") == 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(levels, l));
        else if (js_get(l, "stage"))
            js_flag(kernel, "by_stage", true);
    }
}

static bool same_row(const cJSON *a, const cJSON *b)
{
    static const char *const keys[] = {"tensor", "type", "layout", "stage"};
    bool same = true;
    for (size_t i = 0; same && i < sizeof keys / sizeof *keys; i++)
        same = strcmp(js_get_text(a, keys[i]), js_get_text(b, keys[i])) == 0;
    return same;
}

/* "a", "a b", or "a...p": operands that follow each other with the same tensor, type and layout are one row, as the
 * sixteen places of a tile that an unrolled formula reads. */
static void join_operands(cJSON *operands)
{
    for (cJSON *first = operands ? operands->child : NULL; first; first = first->next) {
        int n = 1;
        ENDED_BY(text_free) text names = {0}, last = {0};
        for (; first->next && same_row(first, first->next); n++) {
            last.length = 0;
            text_add(&last, "%s", js_get_text(first->next, "operand"));
            cJSON_Delete(cJSON_DetachItemViaPointer(operands, first->next));
        }
        text_add(&names, "%s%s%s", js_get_text(first, "operand"), n > 2 ? "..." : n > 1 ? " " : "", text_str(&last));
        cJSON_ReplaceItemInObjectCaseSensitive(first, "operand", cJSON_CreateString(text_str(&names)));
    }
}

static bool explain_ledger(const args *a, ts_plan *plan, ts_error *e)
{
    cJSON *root = reply_take(ts_plan_ledger(plan, e), e);
    if (root)
        reply_give(a, root, page_file("ledger.form"));
    return root != NULL;
}

static cJSON *shown_make(const family *m)
{
    cJSON *k = cJSON_Duplicate(m->first, true);
    js_number(k, "alike", m->count - 1);
    add_lines(k);
    keep_levels(k);
    join_operands(cJSON_GetObjectItemCaseSensitive(k, "operands"));
    return k;
}

/* As explain.form says it: root becomes what is shown. Registers are as the assembler says where there is one; a device
 * need not say how many lanes its processors run: then there is no share of them. */
static void put_all(const args *a, cJSON *root)
{
    const bool why = args_flag(a, "why");
    int n;
    family *list = families(js_get(root, "kernels"), args_flag(a, "all"), why, &n);
    cJSON *shown = js_array(root, "shown");
    js_flag(root, "why", why);
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(shown, shown_make(&list[i]));
    families_free(list, n);
    say_form(&(paper){stdout, a->console.color_out, 0, NULL}, root, page_file("explain.form"));
}

/* ---- beside times ---- */
static int longest_first(const void *a, const void *b)
{
    const double x = js_get_number(*(cJSON *const *)a, "measured_ns", 0),
                 y = js_get_number(*(cJSON *const *)b, "measured_ns", 0);
    return (x < y) - (x > y);
}

/* Half of the kernels that make most of the time are predicted within so much of theirs. */
static void add_accuracy(cJSON *root, int n, double all)
{
    ENDED_BY(heap_free) cJSON **kernel = heap_array((size_t)n + 1, sizeof *kernel);
    ENDED_BY(heap_free) double *off = heap_array((size_t)n + 1, sizeof *off);
    double sum = 0;
    cJSON *k;
    int i = 0, m = 0;
    cJSON_ArrayForEach(k, js_get(root, "kernels")) kernel[i++] = k;
    qsort(kernel, (size_t)n, sizeof *kernel, longest_first);
    for (i = 0; i < n && sum < 0.95 * all; i++) {
        const double t = js_get_number(kernel[i], "measured_ns", 0);
        sum += t;
        if (js_get(kernel[i], "predicted"))
            off[m++] = fabs(js_get_number(kernel[i], "predicted/time_ns", 0) / t - 1);
    }
    if (m)
        js_put(js_object(root, "accuracy"), "kernels:%d,share:%g,median:%g", m, sum / all, stats_median_take(off, m));
}

/* Runs it kernel by kernel, on made-up inputs where none are given. */
static bool measure(session *s, ts_plan *plan, cJSON *root, ts_error *e)
{
    enum { RUNS = 15 };
    const int n = cJSON_GetArraySize(js_get(root, "kernels"));
    double *seconds = heap_array((size_t)n + 1, sizeof *seconds), all = 0;
    cJSON *k;
    int i = 0;
    const bool ok = session_fill(s, 1, e) && ts_plan_build(plan, e) && session_feed(s, plan, e) &&
                    ts_plan_profile(plan, RUNS, seconds, n, e);
    if (ok)
        cJSON_ArrayForEach(k, js_get(root, "kernels")) all += seconds[i] * 1e9,
            js_number(k, "measured_ns", seconds[i] * 1e9), i++;
    if (ok)
        add_accuracy(root, n, all);
    free(seconds);
    return ok;
}

/* --dump: the kernels that --op names */
static bool dump_kernels(const args *a, const dump *d, ts_plan *plan, const cJSON *kernels, ts_error *e)
{
    const cJSON *k;
    int i = 0;
    bool ok = true;
    cJSON_ArrayForEach(k, kernels) ok = ok && (!wanted(k, args_text(a, "op")) || dump_kernel(d, plan, i, k, e)), i++;
    return ok;
}

static bool explain_plan(const args *a, const dump *d, ts_plan *plan, session *timed, ts_error *e)
{
    if (args_flag(a, "ledger"))
        return explain_ledger(a, plan, e);
    ts_plan_assemble(plan);
    ENDED_BY(js_free) cJSON *root = reply_take(ts_plan_json(plan, e), e);
    const char *log = args_text(a, "log");
    bool ok = root && (!log || tune_tried(log, root, e)) && (!timed || measure(timed, plan, root, e)) &&
              dump_kernels(a, d, plan, js_get(root, "kernels"), e) &&
              keep(cJSON_GetObjectItemCaseSensitive(root, "kernels"), args_text(a, "op"), e);
    if (ok && a->console.json)
        reply_print(root);
    else if (ok)
        put_all(a, root);
    return ok;
}

static bool explain(session *s, const args *a, ts_error *e)
{
    dump d;
    if (!dump_make(&d, a, e) || !dump_graph(&d, s->model, e))
        return false;
    dump_passes(&d, &s->options);
    ts_plan *plan = session_plan_make(s, e);
    const bool ok = plan && !err_is(e) && explain_plan(a, &d, plan, args_flag(a, "profile") ? s : NULL, e);
    ts_plan_free(plan);
    return ok;
}

static bool explain_step(void *user, ts_plan *step, ts_error *e)
{
    const args *a = user;
    dump d;
    return dump_make(&d, a, e) && dump_of_kernels(&d, e) && explain_plan(a, &d, step, NULL, e);
}

/* ---- the command ---- */
#define KERNELS "op", "dump", "why", "profile", "log", "all"
static const char *const plans[] = {KERNELS, "ledger", NULL}, *const kernels[] = {KERNELS, NULL},
                         *const between[] = {"net", "cores", NULL};
static const clash clashes[] = {
    {"ranks", NULL, plans, "explain: ", " is about one plan, and --ranks about many processes",
     "leave one of them out"},
    {NULL, "ranks", between, "explain: ", " is of --ranks", "--ranks 64 tells what a step takes on up to 64"},
    {"ledger", NULL, kernels, "explain: ", " is about kernels, and --ledger lists values", "leave one of them out"}};

static int run(const args *a, ts_error *e)
{
    session s = {0};
    if (!args_clashes(a, COUNT(clashes), clashes, e))
        return e->code;
    if (args_count(a, "ranks"))
        return ranks_explain(a, e) ? TS_OK : e->code;
    if (run_is(args_noun(a, 0)) && args_flag(a, "profile")) {
        err_set(e, TS_USAGE, "explain: --profile times the kernels of a model, and %s is a run", args_noun(a, 0));
        return err_hint(e, "tessera bench %s times its step", args_noun(a, 0)), e->code;
    }
    if (run_is(args_noun(a, 0)))
        return run_step(a, args_noun(a, 0), args_text(a, "schema"), explain_step, e);
    if (session_open(&s, a, args_noun(a, 0), e))
        explain(&s, a, e);
    session_close(&s);
    return TS_OK;
}

static const option options[] = {
    {"schema", 's', A_SCHEMA, "FILE|NAME", "tiling schema (default: the built-in guess)", ONCE},
    {"op", 0, WORD, "GLOB", "kernels of this operation or name only", ONCE},
    {"dump", 0, PAIR, "STAGE=FOLDER",
     "files: graph, passes, or of each kernel that --op names plan, tree, text, assembly; or all of these; repeats",
     REPEATS},
    {"why", 0, FLAG, NULL, "other ways that were weighed, and the numbers for which they were declined", ONCE},
    {"ledger", 0, FLAG, NULL, "who writes and reads each value, where, and what waits for what", ONCE},
    {"profile", 0, FLAG, NULL, "times of kernels beside what is predicted, run one by one", ONCE},
    {"log", 0, A_FILE, "FILE", "what tessera tune tried of each kernel, by its log", ONCE},
    {"all", 0, FLAG, NULL, "every kernel, equal ones too", ONCE},
    {"ranks", 0, INTEGER, "N", "of a run in shards: time and memory of a step on 1, 2, 4, ... N processes", NULL, false,
     1, MOST_SHARDS},
    {"net", 0, WORD, "TEXT", "with --ranks: \"latency:2us bandwidth:12GB/s\" between any two of them", ONCE},
    {"cores", 0, INTEGER, "N", "with --ranks: cores that all share (default: each rank has its own)", NULL, false, 1,
     1 << 20},
    {0},
};

const verb verb_explain = {
    .name = "explain",
    .brief = "Show what a schema makes of a model: loops, fit, refusals",
    .usage = "MODEL",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = "tessera explain bert-base\n"
                "tessera explain resnet-18 --why --op conv2d\n"
                "tessera explain bert-base -s mine.json --op '*query*'\n"
                "tessera explain minilm --op '*query*' --dump text=out --dump assembly=out\n"
                "tessera explain model.onnx --op matmul --dim batch=1 --dim seq=128\n"
                "tessera explain bert-base --profile # predicted times beside measured ones\n"
                "tessera explain bert-base --log best.json.log # what tune tried\n"
                "tessera explain bert-base --ledger # who writes, who reads, what waits\n"
                "tessera explain run -s lean.json # the step of a run of tessera train\n"
                "tessera explain run --ranks 64 --net latency:2us,bandwidth:12GB/s",
    .run = run,
};
