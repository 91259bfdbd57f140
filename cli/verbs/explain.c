/* explain.c - tessera explain: what a schema makes of a model, kernel by kernel. */
#include "cli/columns.h"
#include "cli/fail.h"
#include "cli/outline.h"
#include "cli/session.h"
#include "cli/value.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Kernels that are walked alike: the same projection in twelve layers is explained once. */
typedef struct family {
    const cJSON *first;
    int count;
} family;

static bool alike(const cJSON *a, const cJSON *b)
{
    static const char *const keys[] = {"op", "rule", "loops", "flops", "bytes", "stages", "levels", "notes", "refused"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const cJSON *x = js_get(a, keys[i]), *y = js_get(b, keys[i]);
        if ((x || y) && !cJSON_Compare(x, y, true))
            return false;
    }
    return true;
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
    int all = cJSON_GetArraySize(kernels);
    for (int i = all - 1; i >= 0; i--) {
        if (!wanted(cJSON_GetArrayItem(kernels, i), glob))
            cJSON_DeleteItemFromArray(kernels, i);
    }
    if (cJSON_GetArraySize(kernels) > 0 || !glob)
        return true;
    fail(e, TS_USAGE, "--op \"%s\": no kernel of this plan has such an operation or name", glob);
    return fail_hint(e, "tessera explain without --op shows all %d", all);
}

/* In order of first appearance; for free(). */
static family *families(const cJSON *kernels, bool all, int *n)
{
    family *list = calloc((size_t)cJSON_GetArraySize(kernels) + 1, sizeof *list);
    if (!list)
        fail_bug("out of memory", "explain");
    *n = 0;
    const cJSON *k;
    cJSON_ArrayForEach(k, kernels)
    {
        int i = all ? *n : 0;
        while (i < *n && !alike(list[i].first, k))
            i++;
        if (i == *n)
            list[(*n)++].first = k;
        list[i].count++;
    }
    return list;
}

/* ---- printing ---- */

typedef struct view {
    FILE *f;
    bool color;
} view;

static void put_toned(const view *v, tone t, const char *s)
{
    fputs(console_on(v->color, t), v->f);
    put_safe(v->f, s);
    fputs(console_off(v->color), v->f);
}

/* "k3  matmul  encoder.layer.0.query  12 x  rule projections" */
static void put_title(const view *v, const family *m)
{
    put_toned(v, BOLD, js_get_text(m->first, "name"));
    static const char *const keys[] = {"op", "label"};
    for (int i = 0; i < 2; i++) {
        const char *s = js_get_text(m->first, keys[i]);
        if (!*s)
            continue;
        fputs("  ", v->f);
        put_safe(v->f, s);
    }
    if (m->count > 1)
        fprintf(v->f, "  and %d alike", m->count - 1);
    const char *rule = js_get_text(m->first, "rule");
    if (*rule) {
        fputs("  rule ", v->f);
        put_safe(v->f, rule);
    }
    fputc('\n', v->f);
}

/* All numbers on one line: "flops 151 M, bytes 3.2 MiB, registers 24". */
static void put_numbers(const view *v, const cJSON *o, const char *indent)
{
    const cJSON *m;
    int n = 0;
    cJSON_ArrayForEach(m, o)
    {
        if (!cJSON_IsNumber(m))
            continue;
        char value[64];
        outline_value(value, sizeof value, m->string, m);
        fprintf(v->f, "%s%s %s", n++ ? ", " : indent, m->string, value);
    }
    if (n)
        fputc('\n', v->f);
}

/* A text of several lines, or a list of texts, each line with what it is: "note: ...". */
static void put_lines(const view *v, const char *what, const char *s)
{
    while (*s) {
        size_t n = strcspn(s, "\n");
        char *line = strndup(s, n);
        if (line && *line) {
            fputs("    ", v->f);
            put_toned(v, FAINT, what);
            fputs(*what ? ": " : "", v->f);
            put_safe(v->f, line);
            fputc('\n', v->f);
        }
        free(line);
        s += n + (s[n] == '\n');
    }
}

/* What a kernel says beyond its title, in its own order: texts, lists of texts, tables. */
static void put_members(const view *v, const cJSON *kernel)
{
    static const char title[] = "name|op|label|rule";
    const cJSON *m, *line;
    cJSON_ArrayForEach(m, kernel)
    {
        if (cJSON_IsString(m) && !value_listed(title, m->string)) {
            put_lines(v, strcmp(m->string, "loops") == 0 ? "" : m->string, m->valuestring);
        } else if (cJSON_IsArray(m) && cJSON_IsObject(m->child)) {
            outline_table(m, NULL, v->f, "    ", v->color);
        } else if (cJSON_IsArray(m)) {
            cJSON_ArrayForEach(line, m) put_lines(v, m->string, cJSON_IsString(line) ? line->valuestring : "");
        }
    }
    put_numbers(v, kernel, "    ");
}

static void put_all(const args *a, const cJSON *root)
{
    view v = {stdout, a->console.color_out};
    int n;
    family *list = families(js_get(root, "kernels"), args_flag(a, "all"), &n);
    for (int i = 0; i < n; i++) {
        put_title(&v, &list[i]);
        put_members(&v, list[i].first);
    }
    free(list);
}

static bool explain(session *s, const args *a, ts_error *e)
{
    s->options.schema = args_text(a, "schema", NULL);
    ts_plan *plan = ts_plan_make(s->model, &s->options, e);
    cJSON *root = plan ? reply_take(ts_plan_json(plan, e), e) : NULL;
    ts_plan_free(plan);
    bool good = root && keep(cJSON_GetObjectItemCaseSensitive(root, "kernels"), args_text(a, "op", NULL), e);
    if (good && a->console.json)
        reply_print(root);
    else if (good)
        put_all(a, root);
    cJSON_Delete(root);
    return good;
}

static int run(const args *a, ts_error *e)
{
    session s = {0};
    if (session_open(&s, a, args_noun(a, 0), e))
        explain(&s, a, e);
    session_close(&s);
    return TS_OK;
}

static const option options[] = {
    {"schema", 's', A_FILE, "FILE|NAME", "tiling schema (default: the built-in guess)", false, 0, 0},
    {"op", 0, WORD, "GLOB", "kernels of this operation or name only", false, 0, 0},
    {"all", 0, FLAG, NULL, "every kernel, equal ones too", false, 0, 0},
    {0},
};
static const option_group group = {"Options", options};
static const option_group *const groups[] = {&group, &session_model_options, &session_plan_options, NULL};
static const char *const examples[] = {
    "tessera explain bert-base",
    "tessera explain bert-base -s mine.json --op '*query*'",
    "tessera explain model.onnx --op matmul --dim batch=1 --dim seq=128",
    NULL,
};

const verb verb_explain = {
    .name = "explain",
    .brief = "Show what a schema makes of a model: loops, fit, refusals",
    .usage = "MODEL",
    .groups = groups,
    .examples = examples,
    .run = run,
};
