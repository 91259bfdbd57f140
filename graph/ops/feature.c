/* feature.c - operators of ONNX's domain of older machine learning that are other operations in disguise. */
#include "graph/ir/rule.h"

#include <string.h>

/* ---- ONNX ---- */
/* Columns of the last axis; a vector is one row. */
static bool make_extract(const onnx_call *c, onnx_value *out, err *e)
{
    graph *g = c->g;
    const node *x = c->in[0];
    const int64_t n = type_count(&c->in[1]->type), row[] = {1, type_count(&x->type)};
    const node *places = g_reshape(g, g_cast(g, c->in[1], TS_I64), 1, &n); /* [n] */
    x = x->type.rank < 2 ? g_reshape(g, x, 2, row) : x;                    /* [..., column] */
    return onnx_give(c, &out[0].node, g_call2(g, "gather axis=-1", x, places), e);
}

static bool make_binarize(const onnx_call *c, onnx_value *out, err *e)
{
    /* x [...], level [] */
    const node *x = c->in[0], *level = g_scalar(c->g, x->type.dtype, onnx_real(c, "threshold", 0));
    const node *y = g_call2(c->g, "greater", x, level); /* [...] */
    return onnx_give(c, &out[0].node, y ? g_cast(c->g, y, x->type.dtype) : NULL, e);
}

/* ---- records ---- */
const op ops_feature[] = {
    {.call = "features",
     .doc = "Columns and thresholds of older machine learning, as other operations.",
     .formed = FORMED({"ai.onnx.ml.ArrayFeatureExtractor 1 - 2", make_extract},
                      {"ai.onnx.ml.Binarizer 1 - 1 threshold", make_binarize})},
    {0},
};
