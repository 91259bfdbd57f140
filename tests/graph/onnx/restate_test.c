/* Nodes as calls of ONNX: what a program defined has none, and is named with the remedy. (What has some is tested by
 * every model that is saved.) */
/* ctest: fast */
#include "graph/ir/graph.h"
#include "graph/onnx/restate.h"
#include "tests/check.h"

static void test_custom(void)
{
    static const int64_t dim[] = {2, 3};
    ts_graph *g = ts_graph_make();
    err e = {0};
    arena mem = {0};
    CHECK(ts_define(g, &(ts_operation){.name = "bent", .n_in = 1, .text = "a * exp(a)"}));
    const node *x = ts_input(g, "x", TS_F32, 2, dim), *y = ts_call1(g, "bent", x);
    const char **name = arena_array(&mem, (size_t)g->n, sizeof *name);
    back b = {.mem = &mem, .name = name};
    name[x->id] = "x";
    CHECK(y && !back_node(&b, y, &e) && e.code == TS_UNSUPPORTED && b.made.n_step == 0);
    CHECK_TEXT(e.text, "operation bent has no counterpart in ONNX\n"
                       "  hint: the program defines it: make what is to be saved of other operations");
    arena_free(&mem), ts_graph_free(g);
}

int main(void)
{
    test_custom();
    return check_done();
}
