/* ops.c - tessera ops: the operation table. */
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/field.h"

#include <string.h>

static void names_of(const cJSON *list, char *out, size_t size)
{
    size_t n = 0;
    *out = 0;
    for (const cJSON *v = list; v && n < size; v = v->next) {
        const char *name = cJSON_IsString(v) ? v->valuestring : field_text(v, "type", field_text(v, "name", ""));
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "", name);
    }
}

/* One row per operation; with onnx one row per operator of the format. */
static void fill(columns *t, const cJSON *ops, bool onnx)
{
    char names[512];
    for (const cJSON *op = ops; op; op = op->next) {
        for (const cJSON *rule = onnx ? field_list(op, "onnx") : NULL; rule; rule = rule->next) {
            columns_add(t, "%s", field_text(rule, "type", ""));
            columns_add(t, "%.0f", field_number(rule, "since", 1));
            columns_add(t, "%s", field_text(op, "name", ""));
        }
        if (onnx)
            continue;
        names_of(field_list(op, "attributes"), names, sizeof names);
        columns_add(t, "%s", field_text(op, "name", ""));
        columns_add(t, "%s", field_text(op, "axes", ""));
        columns_add(t, "%s", names);
        columns_add(t, "%s", field_text(op, "doc", ""));
    }
}

static int run(const args *a, ts_error *e)
{
    cJSON *table = field_parse(ts_ops_json(), e);
    if (!table)
        return e->code;
    bool onnx = args_flag(a, "onnx");
    columns t = columns_make(onnx ? "onnx|>since|operation" : "operation|axes|attributes|what it does");
    fill(&t, cJSON_IsArray(table) ? table->child : field_list(table, "ops"), onnx);
    if (a->console.json)
        field_print(table, stdout);
    else
        columns_print(&t, stdout, "", a->console.color_out);
    columns_free(&t);
    cJSON_Delete(table);
    return TS_OK;
}

static const option options[] = {
    {"onnx", 0, FLAG, NULL, "by operator of ONNX, with the versions served", false, 0, 0},
    {0},
};
static const option_group group = {"Options", options};
static const option_group *const groups[] = {&group, NULL};
static const char *const examples[] = {"tessera ops", "tessera ops --onnx # what an ONNX file may hold", NULL};

const verb verb_ops = {
    .name = "ops",
    .brief = "List the operations",
    .usage = "",
    .groups = groups,
    .examples = examples,
    .run = run,
};
