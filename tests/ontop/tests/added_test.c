/* added_test.c - what tests/ontop adds, seen through the public interface: the operation computes the same in the
 * interpreter and as generated C, and the back end and the schema are listed. */
#include "tests/check.h"
#include "tessera.h"

#include <string.h>

/* What was written out is known as what it is. */
static void recognised(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 2, (int64_t[]){40, 50}),
              y = ts_call2(g, "divide", x, ts_call1(g, "sum axes=[1] keepdims=1", x));
    ts_plan *p = ts_plan_of(g, 1, &y, 0, NULL, &(ts_options){.target = "c"}, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL;
    CHECK(json && strstr(json, "\"op\":\"row_share\""));
    ts_free(json);
    ts_plan_free(p);
    ts_graph_free(g);
}

int main(void)
{
    recognised();
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    float values[] = {-1, 0, 2, 3};
    const ts_given given = {"x", {.dtype = TS_F32, .rank = 1, .dim = {4}, .data = values}};
    ts_tensor y = ts_call1(g, "ontop_cube", ts_input(g, "x", TS_F32, 1, given.value.dim));
    CHECK(ts_graph_ok(g, &e));
    const float want[][4] = {{-0.5f, 0.5f, 8.5f, 27.5f}, {-0.5f, 0.5f, 8.5f, 27.5f}, {-0.5f, 0.5f, 8.5f, 27.5f}};
    const char *const targets[] = {"interp", "c", "ontop"};
    for (int i = 0; i < 3; i++) {
        ts_array out = {0};
        if (CHECK(ts_eval(1, &y, 1, &given, &(ts_options){.target = targets[i]}, &out, &e)))
            CHECK(memcmp(out.data, want[i], sizeof want[i]) == 0);
        ts_array_free(&out);
    }
    ts_graph_free(g);
    char *targets_listed = ts_targets_json(), *schemas_listed = ts_schemas_json();
    CHECK(strstr(targets_listed, "\"ontop\""));
    CHECK(strstr(schemas_listed, "\"ontop\""));
    ts_free(targets_listed), ts_free(schemas_listed);
    return check_done();
}
