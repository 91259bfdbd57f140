/* compare.c - comparisons, truth values, and choosing by them. */
#include "graph/ir/rule.h"

#include <math.h>

static const char two[] =
    "f32[2,3] f32[2,3]\nf32[16]! f32[16]!\ni64[4,1] i64[1,5]\ni32[30] i32[]\nf32[2,3] f64[3]\nf32[0,3] f32[3]\n"
    "u8[5] i8[5]\nbool[9] bool[9]\nf16[4] f16[4]\nu64[9]! u64[9]!";
static const char truths[] =
    "bool[2,3] bool[2,3]\nbool[8] bool[]\nbool[4,1] bool[1,3]\nf32[16]! f32[16]!\ni64[9] i64[9]\nbool[0,3] bool[3]";

/* ---- ONNX ---- */
static bool adapt_isinf(const onnx_call *c, const node **out, err *e)
{
    const node *a = c->in[0];
    const bool negative = onnx_int(c, "detect_negative", 1), positive = onnx_int(c, "detect_positive", 1);
    if (negative == positive && positive)
        return onnx_give(c, out, g_call1(c->g, "isinf", a), e);
    if (negative == positive)
        return onnx_give(c, out, g_call2(c->g, "less", a, a), e); /* never */
    return onnx_give(c, out, g_call2(c->g, "equal", a, g_scalar_like(c->g, a, positive ? INFINITY : -INFINITY)), e);
}

/* ---- shape ---- */
static bool where_shape(const node *n, type *out, err *e)
{
    const type *a = &n->in[1]->type, *b = &n->in[2]->type;
    if (!type_broadcast(3, (const type *const[]){&n->in[0]->type, a, b}, out, e))
        return false;
    out->dtype = dtype_promote(a->dtype, b->dtype);
    return true;
}

/* ---- records ---- */
const op ops_compare[] = {
    TRUTH("equal", "a == b", "np.equal(a, b)", "Equal 7 T", two, "Whether two values are equal.",
          .adapted = ADAPTED({"Equal 1 T 0..2 axis broadcast", onnx_adapt_aligned})),
    TRUTH("not_equal", "a != b", "np.not_equal(a, b)", NULL, two, "Whether two values differ."),
    TRUTH("less", "a < b", "np.less(a, b)", "Less 7 N", two, "Whether the first value is smaller.",
          .adapted = ADAPTED({"Less 1 N 0..2 axis broadcast", onnx_adapt_aligned})),
    TRUTH("less_equal", "a <= b", "np.less_equal(a, b)", "LessOrEqual 12 N", two,
          "Whether the first value is not larger."),
    TRUTH("greater", "a > b", "np.greater(a, b)", "Greater 7 N", two, "Whether the first value is larger.",
          .adapted = ADAPTED({"Greater 1 N 0..2 axis broadcast", onnx_adapt_aligned})),
    TRUTH("greater_equal", "a >= b", "np.greater_equal(a, b)", "GreaterOrEqual 12 N", two,
          "Whether the first value is not smaller."),
    TRUTH("logical_and", "a && b", "np.logical_and(a, b)", "And 7 b", truths, "Whether both values are true.",
          .adapted = ADAPTED({"And 1 b 0..2 axis broadcast", onnx_adapt_aligned}), .back = "And a^ b^"),
    TRUTH("logical_or", "a || b", "np.logical_or(a, b)", "Or 7 b", truths, "Whether one of two values is true.",
          .adapted = ADAPTED({"Or 1 b 0..2 axis broadcast", onnx_adapt_aligned}), .back = "Or a^ b^"),
    TRUTH("logical_xor", "!a != !b", "np.logical_xor(a, b)", "Xor 7 b", truths,
          "Whether exactly one of two values is true.",
          .adapted = ADAPTED({"Xor 1 b 0..2 axis broadcast", onnx_adapt_aligned}), .back = "Xor a^ b^"),
    TRUTH("logical_not", "!a", "np.logical_not(a)", "Not 1 b", "bool[2,3]\nbool[]\nf32[16]!\ni64[9]\nbool[0,2]",
          "Whether the value is false.", .back = "Not a^"),
    TRUTH("isnan", "isnan(a)", "np.isnan(a)", "IsNaN 9 f", "f32[16]!\nf64[16]!\ni64[4]\nf32[0]",
          "Whether the value is not a number."),
    TRUTH("isinf", "isinf(a)", "np.isinf(a)", NULL, "f32[16]!\nf64[16]!\ni64[4]\nf32[0]",
          "Whether the value is infinite.",
          .adapted = ADAPTED({"IsInf 10 f 1 detect_negative detect_positive", adapt_isinf}), .back = "IsInf a"),
    ELEMENT("where", "a ? b : c", "np.where(a, b, c)", "Where 9 bT",
            "bool[2,3] f32[2,3] f32[2,3]\nbool[4,1] f32[3] f32[]\nbool[1,1,3] i64[2,3] i64[1]\n"
            "bool[5] f32[5] f64[5]\nf32[16]! f32[16]! f32[16]\nbool[6] i32[6] f32[6]\nbool[0,3] f32[3] f32[]",
            "Second value where the first is true, else the third.", .shape = where_shape),
    {0},
};
