/* suppress.c - selection of boxes that do not overlap, by a routine; how many there are is known while a graph is
 * built. */
#include "graph/rule.h"

#include <math.h>

extern routine_code routine_suppress;

/* ---- ONNX ---- */
/* Selected boxes as rows [batch, class, box]. */
static const node *rows_of(graph *g, const node *chosen)
{
    const node *at = g_call1(g, "nonzero", g_call2(g, "greater_equal", chosen, g_scalar(g, TS_I64, 0)));
    at = g_call1(g, "transpose", at);
    if (!at)
        return NULL;
    const node *box = g_reshape(g, g_call2(g, "gather_nd", chosen, at), 2, (int64_t[]){at->type.dim[0], 1});
    const attr cut[] = {attr_ints("starts", 2, (int64_t[]){0, 0}),
                        attr_ints("sizes", 2, (int64_t[]){at->type.dim[0], 2})};
    const node *both[] = {g_apply(g, "slice", at, COUNT(cut), cut), box};
    return g_callf(g, 2, both, "concat axis=1");
}

static bool adapt_suppression(const onnx_call *c, const node **out, err *e)
{
    double most = 0, limit[2] = {0, -INFINITY};
    if (!onnx_need(c, 2, e) || !onnx_number(c, 2, &most, e) || !onnx_number(c, 3, &limit[0], e) ||
        !onnx_number(c, 4, &limit[1], e))
        return false;
    graph *g = c->g;
    const node *boxes = c->in[0], *scores = c->in[1];
    const int64_t n = scores->type.rank == 3 ? scores->type.dim[2] : 0;
    const type pair = {.dtype = TS_F64, .rank = 1, .dim = {2}};
    const attr list[] = {attr_int("most", most < 0 ? 0 : most > (double)n ? n : (int64_t)most),
                         attr_int("centred", onnx_int(c, "center_point_box", 0))};
    const node *order = g_call1(g, "argsort axis=-1 descending=1", scores);
    const node *in[] = {boxes, scores, order, g_const(g, NULL, &pair, limit)};
    return onnx_give(c, out, rows_of(g, g_make(g, op_find("suppress"), 4, in, list, COUNT(list))), e);
}

/* ---- shape, body ---- */
static bool suppress_shape(const node *n, type *out, err *e)
{
    const type *boxes = &n->in[0]->type, *scores = &n->in[1]->type, *order = &n->in[2]->type, *limit = &n->in[3]->type;
    const int64_t most = node_int(n, "most");
    bool ok = boxes->rank == 3 && scores->rank == 3 && order->rank == 3 && boxes->dim[2] == 4 &&
              boxes->dim[0] == scores->dim[0] && boxes->dim[1] == scores->dim[2] && order->dtype == TS_I64;
    for (int i = 0; ok && i < 3; i++)
        ok = order->dim[i] == scores->dim[i];
    for (int i = 0; ok && i < 4; i++)
        ok = i == 2 || n->in[i]->type.dtype == TS_F32 || n->in[i]->type.dtype == TS_F64;
    if (!ok || limit->rank != 1 || limit->dim[0] != 2 || most < 0)
        return err_set(e, TS_BAD_INPUT, "boxes [batch, n, 4], scores and their order [batch, classes, n], and two "
                                        "limits are wanted");
    *out = (type){.dtype = TS_I64, .rank = 3, .dim = {scores->dim[0], scores->dim[1], most}};
    return true;
}

static bool suppress_body(defn *d, err *e)
{
    const int64_t *dim = d->node->in[1]->type.dim;
    const int64_t param[] = {dim[0], dim[1], dim[2], node_int(d->node, "most"), node_int(d->node, "centred")};
    (void)e;
    defn_routine(d, &(routine){"suppress", routine_suppress, COUNT(param), param, 0});
    return true;
}

/* ---- record ---- */
static const op suppress_op = {
    .name = "suppress",
    .doc =
        "Boxes of every class in the given order, of those that overlap by more than a limit the first alone; -1 fills "
        "up.",
    .numpy = "suppress(a, b, c, d, most, centred)",
    .onnx = (const onnx_rule[]){{"NonMaxSuppression", 10, adapt_suppression}, {0}},
    .arity = 4,
    .axes = "r c",
    .attr = (const attr_spec[]){{"most", 'i', NULL}, {"centred", 'i', "0"}, {0}},
    .shape = suppress_shape,
    .body = suppress_body,
    .cases =
        "f32[1,3,4] f32[1,2,3] i64[1,2,3]=0 f64[2]=0.4 most=2\nf32[2,1,4] f32[2,1,1] i64[2,1,1]=0 f64[2]=-1 most=1 "
        "centred=1\nf64[1,4,4] f64[1,1,4] i64[1,1,4]=2 f32[2]=0.1 most=3"};

const op *const ops_suppress[] = {&suppress_op, NULL};
