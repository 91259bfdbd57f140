/* onnx_test.c - tessera onnx-test: conformance cases as the ONNX project keeps them. */
#include "cli/args.h"
#include "cli/cases/cases.h"
#include "cli/columns.h"
#include "graph/base/err.h"
#include "cli/outfile.h"
#include "cli/reply.h"
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_JOBS = 64, TIMEOUT = 60 }; /* processes at a time; seconds of a case where nothing else is asked for */

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

/* ---- tables ---- */
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

/* One row per case, sorted, equal ones added up; the number left. by_op: operators apart. */
static int gather(const report *r, bool by_op, row *rows)
{
    int n = 0;
    for (int i = 0; i < r->cases.n; i++) {
        const test_case *t = &r->cases.all[i];
        rows[i] = (row){t->tier, by_op ? t->op : "", 1, r->out[i].passed, r->out[i].seconds};
    }
    qsort(rows, (size_t)r->cases.n, sizeof *rows, compare_rows);
    for (int i = 0; i < r->cases.n; i++) {
        if (n == 0 || compare_rows(&rows[n - 1], &rows[i]) != 0) {
            rows[n++] = rows[i];
            continue;
        }
        rows[n - 1].n++, rows[n - 1].passed += rows[i].passed, rows[n - 1].seconds += rows[i].seconds;
    }
    return n;
}

static void put_table(const report *r, bool by_op, bool color)
{
    row *rows = calloc((size_t)r->cases.n + 1, sizeof *rows);
    if (!rows)
        memory_failed(((size_t)r->cases.n + 1) * sizeof *rows, "the rows of the table");
    const int n = gather(r, by_op, rows);
    columns t = columns_make(by_op ? "tier|operator|>passed|>failed|>seconds" : "tier|>passed|>failed|>seconds");
    for (int i = 0; i < n; i++) {
        columns_add(&t, "%s", rows[i].tier);
        if (by_op)
            columns_add(&t, "%s", rows[i].op);
        columns_add(&t, "%d", rows[i].passed);
        columns_add(&t, "%d", rows[i].n - rows[i].passed);
        columns_add(&t, "%.2f", rows[i].seconds);
    }
    columns_print(&t, stdout, "", color);
    free(rows);
}

static int count_passed(const report *r)
{
    int passed = 0;
    for (int i = 0; i < r->cases.n; i++)
        passed += r->out[i].passed;
    return passed;
}

static void put_failures(const report *r)
{
    for (int i = 0; i < r->cases.n; i++) {
        const test_case *t = &r->cases.all[i];
        if (r->out[i].passed)
            continue;
        printf("FAILED %s/", t->tier);
        put_safe(stdout, t->name);
        printf(" (");
        put_safe(stdout, t->op);
        printf("): ");
        put_safe(stdout, r->out[i].reason);
        fputc('\n', stdout);
    }
}

static void put_report(const report *r, bool color)
{
    const int passed = count_passed(r);
    put_failures(r);
    put_table(r, true, color);
    fputc('\n', stdout);
    put_table(r, false, color);
    printf("%d passed, %d failed, %d skipped\n", passed, r->cases.n - passed, r->cases.skipped);
}

static bool write_json(const report *r, const char *path, ts_error *e)
{
    cJSON *root = reply_make("onnx-test/1");
    js_put(root, "passed:%d,failed:%d,skipped:%d", count_passed(r), r->cases.n - count_passed(r), r->cases.skipped);
    cJSON *list = js_array(root, "cases");
    for (int i = 0; i < r->cases.n; i++) {
        const test_case *t = &r->cases.all[i];
        js_row(list, "tier:%s,case:%s,operator:%s,passed:%i,code:%u,seconds:%g,reason:%s", t->tier, t->name, t->op,
               r->out[i].passed, r->out[i].code, r->out[i].seconds, r->out[i].reason);
    }
    char *text = js_to_text(root, true);
    const bool good = text && outfile_write(path, text, e);
    free(text);
    cJSON_Delete(root);
    return good;
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
        .options = {.target = args_text(a, "target", NULL),
                    .cache_folder = args_text(a, "cache-dir", NULL),
                    .threads = 1},
        .variant = variant_of(args_text(a, "variant", "stored")),
        .seconds = args_number(a, "timeout", TIMEOUT),
        .jobs = (int)args_integer(a, "jobs", cores > 0 ? cores : 1),
    };
}

static bool find(report *r, const args *a, ts_error *e)
{
    const case_filter f = {args_text(a, "tier", NULL), args_text(a, "name", NULL), args_text(a, "op", NULL)};
    for (int i = 0; args_noun(a, i); i++)
        if (!cases_find(&r->cases, args_noun(a, i), &f, e))
            return false;
    r->out = calloc((size_t)r->cases.n + 1, sizeof *r->out);
    return r->out || err_memory(e, ((size_t)r->cases.n + 1) * sizeof *r->out, "%d cases", r->cases.n);
}

static int run(const args *a, ts_error *e)
{
    report r = {.progress = progress_open(&a->console)};
    const case_options w = option_of(a);
    const char *json = args_text(a, "json", NULL);
    const bool good = (!json || outfile_check(json, e)) && cases_ready(&w.options, e) && find(&r, a, e) &&
                      cases_run(&r.cases, &w, r.out, step, &r, e);
    const bool passed = good && count_passed(&r) == r.cases.n;
    progress_close(&r.progress);
    if (good && (!json || write_json(&r, json, e)))
        put_report(&r, a->console.color_out);
    if (good && !r.cases.n)
        console_note(&a->console, "none of %d cases is of the tiers, names and operators asked for", r.cases.skipped);
    cases_free(&r.cases);
    free(r.out);
    return passed ? TS_OK : TS_FAILED;
}

static const option options[] = {
    {"tier", 0, WORD, "P0,P1", "only cases of these tiers", false, 0, 0},
    {"op", 0, WORD, "Add,Conv", "only cases of these operators", false, 0, 0},
    {"name", 0, WORD, "PATTERN", "only cases whose name fits, as in 'test_conv*'", false, 0, 0},
    {"variant", 0, CHOICE, "stored|symbolic|initializers|json|onnx",
     "models as stored, with free extents, with all inputs but the first held, or written and read again as graph/1 or "
     "ONNX (default: stored)",
     false, 0, 0},
    {"target", 0, A_TARGET, "NAME", "back end, e.g. c or interp", false, 0, 0},
    {"jobs", 'j', INTEGER, "N", "cases at a time (default: one per core)", false, 1, MOST_JOBS},
    {"timeout", 0, SECONDS, "TIME", "for one case", false, 0, 0},
    {"cache-dir", 0, A_FOLDER, "FOLDER|none", "compiled programs (default: the user's cache)", false, 0, 0},
    {"json", 0, A_FILE, "FILE", "write every result to FILE", false, 0, 0},
    {0},
};

static void usual(const option *o, char out[OPTION_TEXT_MOST])
{
    static const usual_number usuals[] = {{"timeout", TIMEOUT}, {0}};
    option_usual(usuals, o, out);
    if (!*out)
        session_plan_usual(o, out);
}

static const char *const examples[] = {
    "tessera onnx-test backend-cases.tar.xz --tier P0,P1",
    "tessera onnx-test onnx/backend/test/data/node --target interp --jobs 4",
    "tessera onnx-test cases --name 'test_conv*' --json results.json",
    NULL,
};

const verb verb_onnx_test = {
    .name = "onnx-test",
    .brief = "Run ONNX conformance cases",
    .usage = "PATH...",
    .own = {"Options", options, usual},
    .examples = examples,
    .details = "PATH is a folder with cases, or an archive of one; its index.tsv, if it has one, names tier, case and "
               "operator. A case passes when every output has the shape, dtype and values stored (rtol 1e-3, atol "
               "1e-7). What is not supported has failed; skipped is only what a filter left out.",
    .run = run,
};
