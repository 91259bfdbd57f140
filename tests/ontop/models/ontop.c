/* ontop.c - a built-in model that the project does not have: it uses the operation that the project does not have. */
#include "tessera.h"

static bool build(ts_model *m, ts_graph *g, ts_error *e)
{
    ts_tensor x = ts_input(g, "x", TS_F32, 1, (const int64_t[]){ts_dim(m, "n")});
    ts_result(m, "y", ts_call1(g, "ontop_cube bit=0.25", x));
    return ts_graph_ok(g, e);
}

const ts_builder builders_ontop[] = {{"ontop-model", "The cube of a vector", "n=5", build}, {0}};
