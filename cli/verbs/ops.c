/* ops.c - tessera ops: the tables of operations, and the same as documents. */
#include "cli/args.h"
#include "cli/outline.h"
#include "cli/say.h"
#include "graph/base/base.h"

#include <stdlib.h>
#include <string.h>

/* ---- operators of ONNX ---- */

/* "f32 f64 f16", or by what is missing where that is shorter. */
static void put_dtypes(char *out, size_t size, const cJSON *have)
{
    enum { FEW = 2 };
    char missing[128] = "";
    int n_missing = 0;
    *out = 0;
    for (int d = 0; d < TS_N_DTYPE; d++) {
        const bool there = js_find(have, NULL, ts_dtype_name((ts_dtype)d));
        char *to = there ? out : missing;
        const size_t most = there ? size : sizeof missing, used = strlen(to);
        n_missing += !there;
        snprintf(to + used, most - used, "%s%s", used ? " " : "", ts_dtype_name((ts_dtype)d));
    }
    if (n_missing == 0 || n_missing <= FEW)
        snprintf(out, size, "all%s%s", n_missing ? " but " : "", missing);
    else if (!*out)
        snprintf(out, size, "none");
}

static void add_row(cJSON *to, const cJSON *from, const char *dtypes, const char *targets)
{
    js_row(to, "operator:%s,since:%g,operation:%s,dtypes:%s,targets:%s", js_get_text(from, "operator"),
           js_get_number(from, "since", 1), js_get_text(from, "operation"), dtypes, targets);
}

/* Neighbouring targets that agree share a row. */
static void add_rows(cJSON *to, const cJSON *from)
{
    char dtypes[256], last[256] = "", names[256] = "";
    const cJSON *target;
    cJSON_ArrayForEach(target, js_get(from, "targets"))
    {
        put_dtypes(dtypes, sizeof dtypes, target);
        if (*names && strcmp(dtypes, last)) {
            add_row(to, from, last, names);
            *names = 0;
        }
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", target->string);
        snprintf(last, sizeof last, "%s", dtypes);
    }
    add_row(to, from, last, names);
}

static int by_name(const void *a, const void *b)
{
    const cJSON *x = *(const cJSON *const *)a, *y = *(const cJSON *const *)b;
    const int order = strcmp(js_get_text(x, "operator"), js_get_text(y, "operator"));
    return order ? order : (int)(js_get_number(x, "since", 0) - js_get_number(y, "since", 0));
}

static cJSON *operator_rows(const cJSON *root)
{
    const cJSON *all = js_get(root, "operators"), *one;
    ENDED_BY(heap_free) const cJSON **sorted = heap_array((size_t)cJSON_GetArraySize(all) + 1, sizeof *sorted);
    cJSON *rows = cJSON_CreateArray();
    size_t n = 0;
    cJSON_ArrayForEach(one, all) sorted[n++] = one;
    if (n)
        qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 0; i < n; i++)
        add_rows(rows, sorted[i]);
    return rows;
}

/* What the specification leaves undefined: a row for each operator. */
static cJSON *undefined_rows(const cJSON *root)
{
    cJSON *rows = cJSON_CreateArray();
    const cJSON *one;
    cJSON_ArrayForEach(one, js_get(root, "operators"))
    {
        const char *says = js_get_text(one, "undefined");
        const cJSON *last = cJSON_GetArrayItem(rows, cJSON_GetArraySize(rows) - 1);
        if (!*says || (last && !strcmp(js_get_text(last, "operator"), js_get_text(one, "operator"))))
            continue;
        js_row(rows, "operator:%s,here:%s", js_get_text(one, "operator"), says);
    }
    return rows;
}

/* ---- the tables ---- */
static cJSON *listed(const cJSON *root)
{
    return cJSON_Duplicate(js_get(root, "ops"), true);
}

static char *ops_json(ts_error *e)
{
    (void)e;
    return ts_ops_json();
}

static char *gradients_json(ts_error *e)
{
    (void)e;
    return ts_gradients_json();
}

typedef struct table {
    const char *flag;  /* NULL: without any */
    const char *heads; /* as in outline_table */
    const char *title, *intro;
    char *(*json)(ts_error *e);
    cJSON *(*rows)(const cJSON *root); /* an array, the caller's */
    void (*more)(const cJSON *root);   /* what a page says behind the table; may be NULL */
} table;

static void print_undefined(const cJSON *root)
{
    ENDED_BY(js_free) cJSON *rows = undefined_rows(root);
    printf("\n## Left undefined\n\nWhat the specification leaves open, on every target and where constants are "
           "folded:\n");
    outline_markdown(rows, "operator|here", stdout);
    printf("\n## Left out\n\nOperators that tools write and that are refused, with the reason:\n");
    outline_markdown(js_get(root, "left"), "domain|operators|reason", stdout);
}

static const table tables[] = {
    {"onnx", "operator|>since|operation|dtypes|targets", "Operators of ONNX",
     "'since': the first opset a row applies to, up to the next row of the same operator. 'dtypes': element types of "
     "the\n"
     "data operands; 'all' means every type in tessera.h. Index, condition and length operands have their own types.",
     ts_onnx_json, operator_rows, print_undefined},
    {"grad", "operation|gradient|reason", "Gradients",
     "Written: beside the operation. Derived: from its definition. Of its parts: it is a recipe. Stops: no reals go in "
     "or\ncome out.",
     gradients_json, listed, NULL},
    {NULL, "name|axes|attributes|doc", "Operations", "The letters of axes are those by which schemas name loops.",
     ops_json, listed, NULL},
};

static void print_markdown(const table *t, const cJSON *rows)
{
    printf(
        "# %s\n\nWritten by `tessera ops%s%s --markdown` from what the operations declare, and from asking them.\n%s\n",
        t->title, t->flag ? " --" : "", t->flag ? t->flag : "", t->intro);
    outline_markdown(rows, t->heads, stdout);
}

static int run(const args *a, ts_error *e)
{
    const table *t = tables;
    while (t->flag && !args_flag(a, t->flag))
        t++;
    ENDED_BY(js_free) cJSON *root = reply_take(t->json(e), e);
    if (!root)
        return e->code;
    ENDED_BY(js_free) cJSON *rows = t->rows(root);
    if (a->console.json)
        reply_print(root);
    else if (args_flag(a, "markdown"))
        print_markdown(t, rows), t->more ? t->more(root) : (void)0;
    else
        outline_table(rows, t->heads, &(paper){stdout, a->console.color_out, 0, NULL}, "");
    return TS_OK;
}

static const option options[] = {
    {"onnx", 0, FLAG, NULL, "by operator of ONNX: versions, dtypes, targets", ONCE},
    {"grad", 0, FLAG, NULL, "which have gradients, and how", ONCE},
    {"markdown", 0, FLAG, NULL, "as a page of the documentation", ONCE},
    {0},
};

const verb verb_ops = {
    .name = "ops",
    .brief = "List the operations",
    .usage = "",
    .own = {"Options", options, NULL},
    .examples = "tessera ops\n"
                "tessera ops --onnx # what an ONNX file may hold",
    .run = run,
};
