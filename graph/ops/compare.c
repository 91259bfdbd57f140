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
    {.call = "equal",
     .doc = "Whether two values are equal.",
     .numpy = "np.equal(a, b)",
     .onnx = "Equal 7 T",
     .adapted = ADAPTED({"Equal 1 T 0..2 axis broadcast", onnx_adapt_aligned}),
     .text = "a == b",
     .shape = shape_bool,
     .cases = two},
    TRUTH("not_equal", "a != b", "np.not_equal(a, b)", NULL, two, "Whether two values differ."),
    {.call = "less",
     .doc = "Whether the first value is smaller.",
     .numpy = "np.less(a, b)",
     .onnx = "Less 7 N",
     .adapted = ADAPTED({"Less 1 N 0..2 axis broadcast", onnx_adapt_aligned}),
     .text = "a < b",
     .shape = shape_bool,
     .cases = two},
    TRUTH("less_equal", "a <= b", "np.less_equal(a, b)", "LessOrEqual 12 N", two,
          "Whether the first value is not larger."),
    {.call = "greater",
     .doc = "Whether the first value is larger.",
     .numpy = "np.greater(a, b)",
     .onnx = "Greater 7 N",
     .adapted = ADAPTED({"Greater 1 N 0..2 axis broadcast", onnx_adapt_aligned}),
     .text = "a > b",
     .shape = shape_bool,
     .cases = two},
    TRUTH("greater_equal", "a >= b", "np.greater_equal(a, b)", "GreaterOrEqual 12 N", two,
          "Whether the first value is not smaller."),
    {.call = "logical_and",
     .doc = "Whether both values are true.",
     .numpy = "np.logical_and(a, b)",
     .onnx = "And 7 b",
     .adapted = ADAPTED({"And 1 b 0..2 axis broadcast", onnx_adapt_aligned}),
     .back = "And a^ b^",
     .text = "a && b",
     .shape = shape_bool,
     .cases = truths},
    {.call = "logical_or",
     .doc = "Whether one of two values is true.",
     .numpy = "np.logical_or(a, b)",
     .onnx = "Or 7 b",
     .adapted = ADAPTED({"Or 1 b 0..2 axis broadcast", onnx_adapt_aligned}),
     .back = "Or a^ b^",
     .text = "a || b",
     .shape = shape_bool,
     .cases = truths},
    {.call = "logical_xor",
     .doc = "Whether exactly one of two values is true.",
     .numpy = "np.logical_xor(a, b)",
     .onnx = "Xor 7 b",
     .adapted = ADAPTED({"Xor 1 b 0..2 axis broadcast", onnx_adapt_aligned}),
     .back = "Xor a^ b^",
     .text = "!a != !b",
     .shape = shape_bool,
     .cases = truths},
    {.call = "logical_not",
     .doc = "Whether the value is false.",
     .numpy = "np.logical_not(a)",
     .onnx = "Not 1 b",
     .back = "Not a^",
     .text = "!a",
     .shape = shape_bool,
     .cases = "bool[2,3]\nbool[]\nf32[16]!\ni64[9]\nbool[0,2]"},
    TRUTH("isnan", "isnan(a)", "np.isnan(a)", "IsNaN 9 f", "f32[16]!\nf64[16]!\ni64[4]\nf32[0]",
          "Whether the value is not a number."),
    {.call = "isinf",
     .doc = "Whether the value is infinite.",
     .numpy = "np.isinf(a)",
     .adapted = ADAPTED({"IsInf 10 f 1 detect_negative detect_positive", adapt_isinf}),
     .back = "IsInf a",
     .text = "isinf(a)",
     .shape = shape_bool,
     .cases = "f32[16]!\nf64[16]!\ni64[4]\nf32[0]"},
    {.call = "where",
     .doc = "Second value where the first is true, else the third.",
     .numpy = "np.where(a, b, c)",
     .onnx = "Where 9 bT",
     .text = "a ? b : c",
     .shape = where_shape,
     .cases = "bool[2,3] f32[2,3] f32[2,3]\nbool[4,1] f32[3] f32[]\nbool[1,1,3] i64[2,3] i64[1]\n"
              "bool[5] f32[5] f64[5]\nf32[16]! f32[16]! f32[16]\nbool[6] i32[6] f32[6]\nbool[0,3] f32[3] f32[]"},
    {0},
};
