/* The table of operators of ONNX: every rule has problems of its own or of its operation that each target takes, with
 * the dtypes that its declaration leaves; forms are there too. */
#include "tests/check.h"

#include "graph/ir/problem.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const cJSON *o, const char *key)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return s ? s : "";
}

static const cJSON *row_of(const cJSON *all, const char *operator, int since)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, all) if (!strcmp(text_of(row, "operator"), operator) &&
                                     cJSON_GetObjectItem(row, "since")->valueint == since) return row;
    return NULL;
}

static bool has(const cJSON *row, const char *target, const char *dtype_name)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(cJSON_GetObjectItem(row, "targets"),
                                                target)) if (!strcmp(one->valuestring, dtype_name)) return true;
    return false;
}

static void check_declared(const cJSON *all, const op *o)
{
    for (const onnx_rule *r = o->rule; r && r->type; r++) {
        const cJSON *row = row_of(all, r->type, r->since);
        if (!CHECK(row))
            continue;
        CHECK_TEXT(text_of(row, "operation"), o->name);
        const cJSON *target;
        int taken = 0;
        cJSON_ArrayForEach(target, cJSON_GetObjectItem(row, "targets"))
        {
            const bool some = cJSON_GetArraySize(target) > 0;
            taken += some;
            if (!CHECK(some || strcmp(target->string, "c")))
                CHECK_TEXT(r->type, "an operator with a problem that the target takes");
        }
        CHECK(taken > 1);
    }
    for (const onnx_rule *r = o->form; r && r->type; r++)
        CHECK(!row_of(all, r->type, r->since) == !strncmp(r->type, "tessera.", 8)); /* which no ONNX file has */
}

int main(void)
{
    err e = {0};
    char *source = ts_onnx_json(&e);
    cJSON *root = source ? cJSON_Parse(source) : NULL;
    const cJSON *all = cJSON_GetObjectItem(root, "operators");
    CHECK(!err_is(&e) && all);
    for (const op *o = op_next(NULL); o; o = op_next(o))
        check_declared(all, o);
    CHECK(has(row_of(all, "Add", 7), "c", "f32") && has(row_of(all, "Add", 7), "interp", "i8"));
    CHECK(!has(row_of(all, "BitShift", 11), "c", "f32") && has(row_of(all, "BitShift", 11), "c", "u8"));
    CHECK(has(row_of(all, "MatMulInteger", 10), "c", "u8"));
    CHECK(has(row_of(all, "Loop", 1), "interp", "f32") && !row_of(all, "Add", 2));
    CHECK(cJSON_GetObjectItem(cJSON_GetObjectItem(row_of(all, "Add", 7), "targets"), "null") == NULL);
    cJSON_Delete(root);
    free(source);
    return check_done();
}
