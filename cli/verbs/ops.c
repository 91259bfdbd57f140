/* ops.c - tessera ops: the operation table. */
#include "cli/args.h"
#include "cli/outline.h"

/* The same table from the other side: a row per operator of the format and version from which a rule serves it. */
static cJSON *by_operator(const cJSON *ops)
{
    cJSON *rows = cJSON_CreateArray();
    const cJSON *op, *rule;
    cJSON_ArrayForEach(op, ops)
    {
        cJSON_ArrayForEach(rule, js_get(op, "onnx"))
        {
            cJSON *row = js_object(rows, NULL);
            js_text(row, "onnx", js_get_text(rule, "type"));
            js_number(row, "since", js_get_number(rule, "since", 1));
            js_text(row, "operation", js_get_text(op, "name"));
        }
    }
    return rows;
}

static int list_gradients(const args *a, ts_error *e)
{
    cJSON *root = reply_take(ts_gradients_json(), e);
    if (!root)
        return e->code;
    if (a->console.json)
        reply_print(root);
    else
        outline_table(js_get(root, "ops"), "operation|gradient|reason", stdout, "", a->console.color_out);
    cJSON_Delete(root);
    return TS_OK;
}

static int run(const args *a, ts_error *e)
{
    if (args_flag(a, "grad"))
        return list_gradients(a, e);
    cJSON *root = reply_take(ts_ops_json(), e);
    if (!root)
        return e->code;
    const cJSON *ops = js_get(root, "ops");
    cJSON *rows = by_operator(ops);
    bool color = a->console.color_out;
    if (a->console.json)
        reply_print(root);
    else if (args_flag(a, "onnx"))
        outline_table(rows, "onnx|>since|operation", stdout, "", color);
    else
        outline_table(ops, "name|axes|attributes|doc", stdout, "", color);
    cJSON_Delete(rows);
    cJSON_Delete(root);
    return TS_OK;
}

static const option options[] = {
    {"onnx", 0, FLAG, NULL, "by operator of ONNX, with the versions served", false, 0, 0},
    {"grad", 0, FLAG, NULL, "which have gradients, and how", false, 0, 0},
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
