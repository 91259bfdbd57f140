/* What kernels are called by: their result, the state that they write, or a weight or state that they read. */
/* ctest: fast */
#include "tessera.h"
#include "tests/check.h"

#include <string.h>

int main(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    const int64_t rows[] = {64, 32}, weights[] = {32, 48}, own[] = {48, 8};
    const ts_tensor x = ts_input(g, "x", TS_F32, 2, rows), w = ts_input(g, "kept", TS_F32, 2, weights),
                    v = ts_weight(g, "fixed", TS_F32, 2, own, 0, 1, 1);
    const ts_tensor y = ts_call2(g, "matmul", x, w), z = ts_call2(g, "matmul", ts_call1(g, "softmax axis=0", y), v),
                    to = ts_call2(g, "maximum", w, ts_scalar(g, TS_F32, 0));
    ts_plan *p = ts_plan_of(g, 1, &z, 1, &(ts_state){w, to}, &(ts_options){.target = "interp"}, &e);
    char *s = p ? ts_plan_json(p, &e) : NULL;
    CHECK_TEXT(e.text, "");
    CHECK(s && strstr(s, "\"op\":\"maximum\",\"label\":\"update of kept\""));
    CHECK(s && strstr(s, "\"op\":\"matmul\",\"label\":\"kept\""));
    CHECK(s && strstr(s, "\"op\":\"matmul\",\"label\":\"fixed\""));
    CHECK_TEXT(ts_name(ts_named(g, to, "floor")), "floor"); /* once: reports may have it by now */
    CHECK_TEXT(ts_name(ts_named(g, to, "other")), "floor");
    CHECK_TEXT(ts_name(ts_named(g, w, "other")), "kept");
    CHECK(!ts_named(g, NULL, "nothing"));
    ts_free(s), ts_plan_free(p), ts_graph_free(g);
    return check_done();
}
