/* detect.c - which of many overlapping boxes to keep. */
#include "graph/ir/rule.h"

#include <math.h>

/* ---- helpers ---- */
extern routine_code routine_nms;

/* ---- ONNX ---- */
static const node *limit(const onnx_call *c, int i, double fallback) /* f32[1] */
{
    const node *x = onnx_in(c, i);
    return g_call1(c->g, "reshape shape=[1]", x ? x : g_scalar(c->g, TS_F32, fallback));
}

/* Rows batch, class, box of those kept: their number depends on values, which must be known. */
static bool adapt_nms(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    int64_t most = 0;
    int n = 0;
    if ((onnx_in(c, 2) && !onnx_ints(c, "", 2, &most, 1, &n, e)))
        return false;
    if (c->in[0]->type.rank != 3 || c->in[1]->type.rank != 3)
        return operands_refuse(2, c->in, e, "boxes [batch, n, 4] and scores [batch, class, n]");
    const int64_t boxes = c->in[0]->type.dim[1];
    most = most < 0 ? 0 : most > boxes ? boxes : most;
    /* [2] */
    const node *limits = g_call(g, "concat axis=0", NODES(limit(c, 3, 0), limit(c, 4, -INFINITY)));
    const node *kept = g_callf(g, NODES(c->in[0], c->in[1], limits), "nms most=%lld centred=%d", (long long)most,
                               onnx_int(c, "center_point_box", 0) != 0); /* [batch, class, most] */
    const node *places = g_call1(g, "nonzero", g_call2(g, "greater_equal", kept, g_scalar(g, TS_I64, 0))); /* [3, n] */
    places = g_call1(g, "transpose", places);                                                              /* [n, 3] */
    const node *box = g_call1(g, "expand_dims axes=[1]", g_call2(g, "gather_nd", kept, places));           /* [n, 1] */
    places = g_part(g, places, 1, 0, 2);                                                                   /* [n, 2] */
    return onnx_give(c, out, g_call(g, "concat axis=1", NODES(places, box)), e);
}

/* ---- shape ---- */
static bool nms_shape(const node *n, type *out, err *e)
{
    const type *boxes = &n->in[0]->type, *scores = &n->in[1]->type, *limits = &n->in[2]->type;
    const int64_t most = node_int(n, "most");
    for (int i = 0; i < 3; i++)
        if (n->in[i]->type.dtype != TS_F32 && n->in[i]->type.dtype != TS_F64)
            return err_set(e, TS_BAD_INPUT, "operand %d is %s, f32 or f64 expected", i + 1,
                           ts_dtype_name(n->in[i]->type.dtype));
    if (boxes->rank != 3 || boxes->dim[2] != 4 || scores->rank != 3 || scores->dim[0] != boxes->dim[0] ||
        scores->dim[2] != boxes->dim[1] || limits->rank != 1 || limits->dim[0] != 2)
        return operands_refuse(3, n->in, e, "boxes [batch, n, 4], scores [batch, class, n] and limits [2]");
    if (most < 0)
        return err_set(e, TS_BAD_INPUT, "most: %lld, 0 or more expected", (long long)most);
    *out = (type){.dtype = TS_I64, .rank = 3, .dim = {scores->dim[0], scores->dim[1], most}};
    return true;
}

/* ---- body ---- */
static const expr *nms_body(defn *d)
{
    const type *scores = &d->node->in[1]->type;
    const int64_t parameter[] = {scores->dim[0], scores->dim[1], scores->dim[2], node_int(d->node, "most"),
                                 node_int(d->node, "centred")};
    return defn_routine(d, &(routine){"nms", routine_nms, COUNT(parameter), parameter, .scratch = scores->dim[2]});
}

/* ---- records ---- */
const op ops_detect[] = {
    BODY("nms a b c most:i centred:i=0 -> b c k", nms_body, "nms(a, b, c, most, centred)", NULL,
         "f32[2,9,4] f32[2,3,9] f32[2]=0.2 most=4\nf32[1,20,4]+ f32[1,1,20] f32[2]=0.5 most=20 centred=1\n"
         "f64[1,7,4] f64[1,2,7] f64[2]=0 most=3\nf32[1,0,4] f32[1,2,0] f32[2]=0 most=0",
         "Of boxes [batch, n, 4] with scores [batch, class, n] those to keep, best first, then -1: none overlaps "
         "a better one by more than a share of their union; limits are that share and a score to be exceeded.",
         .adapted = ADAPTED({"NonMaxSuppression 10 ffif 2..5 center_point_box", adapt_nms}),
         .onnx_cases = "NonMaxSuppression f32[1,4,4]*=1 f32[1,2,4]=1 i64[]=2", .shape = nms_shape),
    {0},
};
