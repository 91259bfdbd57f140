/* onnx_test.c - tessera onnx-test: conformance cases as the ONNX project keeps them. */
#include "cli/args.h"
#include "cli/cases/cases.h"
#include "graph/base/base.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_JOBS = 64 }; /* processes at a time */

typedef struct report {
    cases cases;
    outcome *out;
    progress progress;
} report;

static void step(void *user, int n, const char *name)
{
    report *r = user;
    progress_step(&r->progress, name, n, r->cases.n);
}

/* ---- what came out ---- */
typedef struct row {
    const char *tier, *op;
    int n, passed;
    double seconds;
} row;

static int compare_rows(const void *a, const void *b)
{
    const row *x = a, *y = b;
    const int tier = strcmp(x->tier, y->tier);
    return tier ? tier : strcmp(x->op, y->op);
}

/* Cases by tier, and by operator too, sorted; equal ones added up. */
static cJSON *summary(const report *r, bool by_op)
{
    row *rows = heap_array((size_t)r->cases.n + 1, sizeof *rows), *last = NULL;
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < r->cases.n; i++) {
        const test_case *t = &r->cases.all[i];
        rows[i] = (row){t->tier, by_op ? t->op : "", 1, r->out[i].passed, r->out[i].seconds};
    }
    qsort(rows, (size_t)r->cases.n, sizeof *rows, compare_rows);
    for (int i = 0; i <= r->cases.n; i++) {
        if (last && i < r->cases.n && compare_rows(last, &rows[i]) == 0) {
            last->n++, last->passed += rows[i].passed, last->seconds += rows[i].seconds;
            continue;
        }
        if (last)
            js_row(list, "tier:%s,operator:%s,passed:%d,failed:%d,seconds:%g", last->tier, last->op, last->passed,
                   last->n - last->passed, round(100 * last->seconds) / 100);
        last = &rows[i];
    }
    free(rows);
    return list;
}

static int count_passed(const report *r)
{
    int passed = 0;
    for (int i = 0; i < r->cases.n; i++)
        passed += r->out[i].passed;
    return passed;
}

static cJSON *report_json(const report *r)
{
    cJSON *root = reply_make("onnx-test/1");
    js_put(root, "passed:%d,failed:%d,skipped:%d", count_passed(r), r->cases.n - count_passed(r), r->cases.skipped);
    cJSON *list = js_array(root, "cases");
    for (int i = 0; i < r->cases.n; i++) {
        const test_case *t = &r->cases.all[i];
        js_row(list, "tier:%s,case:%s,operator:%s,passed:%i,code:%u,seconds:%g,reason:%s", t->tier, t->name, t->op,
               r->out[i].passed, r->out[i].code, r->out[i].seconds, r->out[i].reason);
    }
    return root;
}

static bool write_json(const cJSON *root, const char *path, ts_error *e)
{
    ENDED_BY(heap_free) char *json = js_to_text(root, true);
    return json && outfile_write(path, json, e);
}

static bool give(const report *r, const args *a, ts_error *e)
{
    static const char form[] = "[cases*[passed?|FAILED {tier}/{case} ({operator}): {reason}\n]]"
                               "{operators!tier|operator|>passed|>failed|>seconds}\n"
                               "{tiers!tier|>passed|>failed|>seconds}"
                               "{passed} passed, {failed} failed, {skipped} skipped\n";
    const char *json = args_text(a, "json");
    ENDED_BY(js_free) cJSON *root = report_json(r);
    const bool ok = !json || write_json(root, json, e);
    cJSON_AddItemToObject(root, "operators", summary(r, true));
    cJSON_AddItemToObject(root, "tiers", summary(r, false));
    if (ok)
        say_form(&(paper){stdout, a->console.color_out, 0, NULL}, root, form);
    if (ok && !r->cases.n)
        console_note(&a->console, "none of %d cases is of the tiers, names and operators asked for", r->cases.skipped);
    return ok;
}

/* ---- the verb ---- */
static case_variant variant_of(const char *word)
{
    static const struct {
        const char *word;
        case_variant variant;
    } words[] = {{"symbolic", SYMBOLIC}, {"initializers", INITIALIZERS}, {"json", VIA_JSON}, {"onnx", VIA_ONNX}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].word, word))
            return words[i].variant;
    return AS_STORED;
}

static case_options option_of(const args *a)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (case_options){
        .options = {.target = args_text(a, "target"), .cache_folder = args_text(a, "cache-dir"), .threads = 1},
        .variant = variant_of(args_text(a, "variant")),
        .seconds = args_number(a, "timeout"),
        .jobs = args_count(a, "jobs") ? (int)args_integer(a, "jobs")
                : cores > 0           ? (int)cores
                                      : 1,
    };
}

static bool find(report *r, const args *a, ts_error *e)
{
    const case_filter f = {args_text(a, "tier"), args_text(a, "name"), args_text(a, "op")};
    for (int i = 0; args_noun(a, i); i++)
        if (!cases_find(&r->cases, args_noun(a, i), &f, e))
            return false;
    r->out = heap_array((size_t)r->cases.n + 1, sizeof *r->out);
    return true;
}

static int run(const args *a, ts_error *e)
{
    report r = {.progress = progress_open(&a->console)};
    const case_options w = option_of(a);
    const char *json = args_text(a, "json");
    const bool ok = (!json || outfile_check(json, e)) && cases_ready(&w.options, e) && find(&r, a, e) &&
                    cases_run(&r.cases, &w, r.out, step, &r, e);
    const bool passed = ok && count_passed(&r) == r.cases.n;
    progress_close(&r.progress);
    if (ok)
        give(&r, a, e);
    cases_free(&r.cases);
    free(r.out);
    return passed ? TS_OK : TS_FAILED;
}

static const option options[] = {
    {"tier", 0, WORD, "P0,P1", "only cases of these tiers", ONCE},
    {"op", 0, WORD, "Add,Conv", "only cases of these operators", ONCE},
    {"name", 0, WORD, "PATTERN", "only cases whose name fits, as in 'test_conv*'", ONCE},
    {"variant", 0, CHOICE, "stored|symbolic|initializers|json|onnx",
     "models as stored, with free extents, with all inputs but the first held, or written and read again as graph/1 or "
     "ONNX",
     "stored", false, 0, 0},
    {"target", 0, A_TARGET, "NAME", "back end, e.g. c or interp", ONCE},
    {"jobs", 'j', INTEGER, "N", "cases at a time (default: one per core)", NULL, false, 1, MOST_JOBS},
    {"timeout", 0, SECONDS, "TIME", "for one case", "1m", false, 0, 0},
    {"cache-dir", 0, A_FOLDER, "FOLDER|none", "compiled programs (default: the user's cache)", ONCE},
    {"json", 0, A_FILE, "FILE", "write every result to FILE", ONCE},
    {0},
};

const verb verb_onnx_test = {
    .name = "onnx-test",
    .brief = "Run ONNX conformance cases",
    .usage = "PATH...",
    .own = {"Options", options, session_plan_usual},
    .examples = "tessera onnx-test backend-cases.tar.xz --tier P0,P1\n"
                "tessera onnx-test onnx/backend/test/data/node --target interp --jobs 4\n"
                "tessera onnx-test cases --name 'test_conv*' --json results.json",
    .details = "PATH is a folder with cases, or an archive of one; its index.tsv, if it has one, names tier, case and "
               "operator. A case passes when every output has the shape, dtype and values stored (rtol 1e-3, atol "
               "1e-7). What is not supported has failed; skipped is only what a filter left out.",
    .run = run,
};
