/* compare.c - comparisons, truth values, and choosing by them. */
#include "graph/ir/rule.h"

#include <math.h>

static const char two[] =
    "f32[2,3] f32[2,3]\nf32[16]! f32[16]!\ni64[4,1] i64[1,5]\ni32[30] i32[]\nf32[2,3] f64[3]\nf32[0,3] f32[3]\n"
    "u8[5] i8[5]\nbool[9] bool[9]\nf16[4] f16[4]\nu64[9]! u64[9]!";
static const char truths[] =
    "bool[2,3] bool[2,3]\nbool[8] bool[]\nbool[4,1] bool[1,3]\nf32[16]! f32[16]!\ni64[9] i64[9]\nbool[0,3] bool[3]";

/* ---- ONNX ---- */
static bool adapt_equal(const onnx_call *c, const node **out, err *e)
{
    return onnx_adapt_aligned(c, "equal", out, e);
}

static bool adapt_less(const onnx_call *c, const node **out, err *e)
{
    return onnx_adapt_aligned(c, "less", out, e);
}

static bool adapt_greater(const onnx_call *c, const node **out, err *e)
{
    return onnx_adapt_aligned(c, "greater", out, e);
}

static bool adapt_logical_and(const onnx_call *c, const node **out, err *e)
{
    return onnx_adapt_aligned(c, "logical_and", out, e);
}

static bool adapt_logical_or(const onnx_call *c, const node **out, err *e)
{
    return onnx_adapt_aligned(c, "logical_or", out, e);
}

static bool adapt_logical_xor(const onnx_call *c, const node **out, err *e)
{
    return onnx_adapt_aligned(c, "logical_xor", out, e);
}

static bool adapt_isinf(const onnx_call *c, const node **out, err *e)
{
    if (!onnx_need(c, 1, e))
        return false;
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
static const op equal_op = {
    .name = "equal",
    .doc = "Whether two values are equal.",
    .numpy = "np.equal(a, b)",
    .onnx = (const onnx_rule[]){{"Equal", 1, adapt_equal}, {"Equal", 7, NULL}, {0}},
    .onnx_takes = "Equal:2,1,axis,broadcast",
    .onnx_types = "Equal:T",
    .arity = 2,
    .axes = "e",
    .text = "a == b",
    .shape = shape_bool,
    .cases = two,
};

static const op not_equal_op = {
    .name = "not_equal",
    .doc = "Whether two values differ.",
    .numpy = "np.not_equal(a, b)",
    .arity = 2,
    .axes = "e",
    .text = "a != b",
    .shape = shape_bool,
    .cases = two,
};

static const op less_op = {
    .name = "less",
    .doc = "Whether the first value is smaller.",
    .numpy = "np.less(a, b)",
    .onnx = (const onnx_rule[]){{"Less", 1, adapt_less}, {"Less", 7, NULL}, {0}},
    .onnx_takes = "Less:2,1,axis,broadcast",
    .onnx_types = "Less:N",
    .arity = 2,
    .axes = "e",
    .text = "a < b",
    .shape = shape_bool,
    .cases = two,
};

static const op less_equal_op = {
    .name = "less_equal",
    .doc = "Whether the first value is not larger.",
    .numpy = "np.less_equal(a, b)",
    .onnx = (const onnx_rule[]){{"LessOrEqual", 12, NULL}, {0}},
    .onnx_types = "LessOrEqual:N",
    .arity = 2,
    .axes = "e",
    .text = "a <= b",
    .shape = shape_bool,
    .cases = two,
};

static const op greater_op = {
    .name = "greater",
    .doc = "Whether the first value is larger.",
    .numpy = "np.greater(a, b)",
    .onnx = (const onnx_rule[]){{"Greater", 1, adapt_greater}, {"Greater", 7, NULL}, {0}},
    .onnx_takes = "Greater:2,1,axis,broadcast",
    .onnx_types = "Greater:N",
    .arity = 2,
    .axes = "e",
    .text = "a > b",
    .shape = shape_bool,
    .cases = two,
};

static const op greater_equal_op = {
    .name = "greater_equal",
    .doc = "Whether the first value is not smaller.",
    .numpy = "np.greater_equal(a, b)",
    .onnx = (const onnx_rule[]){{"GreaterOrEqual", 12, NULL}, {0}},
    .onnx_types = "GreaterOrEqual:N",
    .arity = 2,
    .axes = "e",
    .text = "a >= b",
    .shape = shape_bool,
    .cases = two,
};

static const op and_op = {
    .name = "logical_and",
    .doc = "Whether both values are true.",
    .numpy = "np.logical_and(a, b)",
    .onnx = (const onnx_rule[]){{"And", 1, adapt_logical_and}, {"And", 7, NULL}, {0}},
    .onnx_takes = "And:2,1,axis,broadcast",
    .onnx_types = "And:b",
    .back = "And a^ b^",
    .arity = 2,
    .axes = "e",
    .text = "a && b",
    .shape = shape_bool,
    .cases = truths,
};

static const op or_op = {
    .name = "logical_or",
    .doc = "Whether one of two values is true.",
    .numpy = "np.logical_or(a, b)",
    .onnx = (const onnx_rule[]){{"Or", 1, adapt_logical_or}, {"Or", 7, NULL}, {0}},
    .onnx_takes = "Or:2,1,axis,broadcast",
    .onnx_types = "Or:b",
    .back = "Or a^ b^",
    .arity = 2,
    .axes = "e",
    .text = "a || b",
    .shape = shape_bool,
    .cases = truths,
};

static const op xor_op = {
    .name = "logical_xor",
    .doc = "Whether exactly one of two values is true.",
    .numpy = "np.logical_xor(a, b)",
    .onnx = (const onnx_rule[]){{"Xor", 1, adapt_logical_xor}, {"Xor", 7, NULL}, {0}},
    .onnx_takes = "Xor:2,1,axis,broadcast",
    .onnx_types = "Xor:b",
    .back = "Xor a^ b^",
    .arity = 2,
    .axes = "e",
    .text = "!a != !b",
    .shape = shape_bool,
    .cases = truths,
};

static const op not_op = {
    .name = "logical_not",
    .doc = "Whether the value is false.",
    .numpy = "np.logical_not(a)",
    .onnx = (const onnx_rule[]){{"Not", 1, NULL}, {0}},
    .onnx_types = "Not:b",
    .back = "Not a^",
    .arity = 1,
    .axes = "e",
    .text = "!a",
    .shape = shape_bool,
    .cases = "bool[2,3]\nbool[]\nf32[16]!\ni64[9]\nbool[0,2]",
};

static const op isnan_op = {
    .name = "isnan",
    .doc = "Whether the value is not a number.",
    .numpy = "np.isnan(a)",
    .onnx = (const onnx_rule[]){{"IsNaN", 9, NULL}, {0}},
    .onnx_types = "IsNaN:f",
    .arity = 1,
    .axes = "e",
    .text = "isnan(a)",
    .shape = shape_bool,
    .cases = "f32[16]!\nf64[16]!\ni64[4]\nf32[0]",
};

static const op isinf_op = {
    .name = "isinf",
    .doc = "Whether the value is infinite.",
    .numpy = "np.isinf(a)",
    .onnx = (const onnx_rule[]){{"IsInf", 10, adapt_isinf}, {0}},
    .onnx_takes = "IsInf:1,1,detect_negative,detect_positive",
    .onnx_types = "IsInf:f",
    .back = "IsInf a",
    .arity = 1,
    .axes = "e",
    .text = "isinf(a)",
    .shape = shape_bool,
    .cases = "f32[16]!\nf64[16]!\ni64[4]\nf32[0]",
};

static const op where_op = {
    .name = "where",
    .doc = "Second value where the first is true, else the third.",
    .numpy = "np.where(a, b, c)",
    .onnx = (const onnx_rule[]){{"Where", 9, NULL}, {0}},
    .onnx_types = "Where:bT",
    .arity = 3,
    .axes = "e",
    .text = "a ? b : c",
    .shape = where_shape,
    .cases = "bool[2,3] f32[2,3] f32[2,3]\nbool[4,1] f32[3] f32[]\nbool[1,1,3] i64[2,3] i64[1]\n"
             "bool[5] f32[5] f64[5]\nf32[16]! f32[16]! f32[16]\nbool[6] i32[6] f32[6]\nbool[0,3] f32[3] f32[]",
};

const op *const ops_compare[] = {&equal_op, &not_equal_op, &less_op, &less_equal_op, &greater_op, &greater_equal_op,
                                 &and_op,   &or_op,        &xor_op,  &not_op,        &isnan_op,   &isinf_op,
                                 &where_op, NULL};
