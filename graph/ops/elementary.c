/* elementary.c - functions of one real value, and rounding. Integers become reals first, as in numpy. */
#include "graph/ir/rule.h"

/* ---- ONNX ---- */
static bool adapt_erf(const onnx_call *c, const node **out, err *e) /* integers stay integers */
{
    return onnx_need(c, 1, e) &&
           onnx_give(c, out, g_cast(c->g, g_call1(c->g, "erf", c->in[0]), c->in[0]->type.dtype), e);
}

/* ---- records ---- */
/* Ranges: any real value; values where the function is defined (!: with NaN, infinities, zeros of both signs). */
static const char real[] = "f32[2,3]\nf32[16]!\nf64[3,1,2]\nf64[16]!\ni32[7]\ni64[]\nf32[0,3]\nf16[5]";

static const op exp_op = {
    .name = "exp",
    .doc = "e to the power of the value.",
    .numpy = "np.exp(a)",
    .onnx = (const onnx_rule[]){{"Exp", 1, NULL}, {0}},
    .onnx_types = "Exp:f",
    .arity = 1,
    .axes = "e",
    .text = "exp(a)",
    .shape = shape_float,
    .cases = real,
};

static const op expm1_op = {
    .name = "expm1",
    .doc = "e to the power of the value, minus 1, exact near 0.",
    .numpy = "np.expm1(a)",
    .arity = 1,
    .axes = "e",
    .text = "expm1(a)",
    .shape = shape_float,
    .cases = real,
};

static const op log_op = {
    .name = "log",
    .doc = "Natural logarithm.",
    .numpy = "np.log(a)",
    .onnx = (const onnx_rule[]){{"Log", 1, NULL}, {0}},
    .onnx_types = "Log:f",
    .arity = 1,
    .axes = "e",
    .text = "log(a)",
    .shape = shape_float,
    .cases = real,
};

static const op log1p_op = {
    .name = "log1p",
    .doc = "Natural logarithm of 1 plus the value, exact near 0.",
    .numpy = "np.log1p(a)",
    .arity = 1,
    .axes = "e",
    .text = "log1p(a)",
    .shape = shape_float,
    .cases = real,
};

static const op sqrt_op = {
    .name = "sqrt",
    .doc = "Square root.",
    .numpy = "np.sqrt(a)",
    .onnx = (const onnx_rule[]){{"Sqrt", 1, NULL}, {0}},
    .onnx_types = "Sqrt:f",
    .arity = 1,
    .axes = "e",
    .text = "sqrt(a)",
    .shape = shape_float,
    .cases = real,
};

static const op rsqrt_op = {
    .name = "rsqrt",
    .doc = "1 over the square root.",
    .numpy = "1 / np.sqrt(a)",
    .back = "Sqrt a^; Reciprocal $",
    .arity = 1,
    .axes = "e",
    .text = "1 / sqrt(a)",
    .shape = shape_float,
    .cases = real,
};

static const op reciprocal_op = {
    .name = "reciprocal",
    .doc = "1 over the value, real even for integers.",
    .numpy = "1 / a",
    .onnx = (const onnx_rule[]){{"Reciprocal", 1, NULL}, {0}},
    .onnx_types = "Reciprocal:f",
    .arity = 1,
    .axes = "e",
    .text = "1 / a",
    .shape = shape_float,
    .cases = real,
};

static const op sin_op = {
    .name = "sin",
    .doc = "Sine.",
    .numpy = "np.sin(a)",
    .onnx = (const onnx_rule[]){{"Sin", 7, NULL}, {0}},
    .onnx_types = "Sin:f",
    .arity = 1,
    .axes = "e",
    .text = "sin(a)",
    .shape = shape_float,
    .cases = real,
};

static const op cos_op = {
    .name = "cos",
    .doc = "Cosine.",
    .numpy = "np.cos(a)",
    .onnx = (const onnx_rule[]){{"Cos", 7, NULL}, {0}},
    .onnx_types = "Cos:f",
    .arity = 1,
    .axes = "e",
    .text = "cos(a)",
    .shape = shape_float,
    .cases = real,
};

static const op tan_op = {
    .name = "tan",
    .doc = "Tangent.",
    .numpy = "np.tan(a)",
    .onnx = (const onnx_rule[]){{"Tan", 7, NULL}, {0}},
    .onnx_types = "Tan:f",
    .arity = 1,
    .axes = "e",
    .text = "tan(a)",
    .shape = shape_float,
    .cases = real,
};

static const op asin_op = {
    .name = "arcsin",
    .doc = "Angle with this sine.",
    .numpy = "np.arcsin(a)",
    .onnx = (const onnx_rule[]){{"Asin", 7, NULL}, {0}},
    .onnx_types = "Asin:f",
    .arity = 1,
    .axes = "e",
    .text = "asin(a)",
    .shape = shape_float,
    .cases = real,
};

static const op acos_op = {
    .name = "arccos",
    .doc = "Angle with this cosine.",
    .numpy = "np.arccos(a)",
    .onnx = (const onnx_rule[]){{"Acos", 7, NULL}, {0}},
    .onnx_types = "Acos:f",
    .arity = 1,
    .axes = "e",
    .text = "acos(a)",
    .shape = shape_float,
    .cases = real,
};

static const op atan_op = {
    .name = "arctan",
    .doc = "Angle with this tangent.",
    .numpy = "np.arctan(a)",
    .onnx = (const onnx_rule[]){{"Atan", 7, NULL}, {0}},
    .onnx_types = "Atan:f",
    .arity = 1,
    .axes = "e",
    .text = "atan(a)",
    .shape = shape_float,
    .cases = real,
};

static const op atan2_op = {
    .name = "arctan2",
    .doc = "Angle of the point (second, first).",
    .numpy = "np.arctan2(a, b)",
    .arity = 2,
    .axes = "e",
    .text = "atan2(a, b)",
    .shape = shape_float,
    .cases = "f32[2,3] f32[3]\nf32[16]! f32[16]!\nf64[4] f64[]\ni32[3] i32[3]\nf32[0] f32[]",
};

static const op sinh_op = {
    .name = "sinh",
    .doc = "Hyperbolic sine.",
    .numpy = "np.sinh(a)",
    .onnx = (const onnx_rule[]){{"Sinh", 9, NULL}, {0}},
    .onnx_types = "Sinh:f",
    .arity = 1,
    .axes = "e",
    .text = "sinh(a)",
    .shape = shape_float,
    .cases = real,
};

static const op cosh_op = {
    .name = "cosh",
    .doc = "Hyperbolic cosine.",
    .numpy = "np.cosh(a)",
    .onnx = (const onnx_rule[]){{"Cosh", 9, NULL}, {0}},
    .onnx_types = "Cosh:f",
    .arity = 1,
    .axes = "e",
    .text = "cosh(a)",
    .shape = shape_float,
    .cases = real,
};

static const op tanh_op = {
    .name = "tanh",
    .doc = "Hyperbolic tangent.",
    .numpy = "np.tanh(a)",
    .onnx = (const onnx_rule[]){{"Tanh", 1, NULL}, {0}},
    .onnx_types = "Tanh:f",
    .arity = 1,
    .axes = "e",
    .text = "tanh(a)",
    .shape = shape_float,
    .cases = real,
};

static const op asinh_op = {
    .name = "arcsinh",
    .doc = "Inverse of the hyperbolic sine.",
    .numpy = "np.arcsinh(a)",
    .onnx = (const onnx_rule[]){{"Asinh", 9, NULL}, {0}},
    .onnx_types = "Asinh:f",
    .arity = 1,
    .axes = "e",
    .text = "asinh(a)",
    .shape = shape_float,
    .cases = real,
};

static const op acosh_op = {
    .name = "arccosh",
    .doc = "Inverse of the hyperbolic cosine.",
    .numpy = "np.arccosh(a)",
    .onnx = (const onnx_rule[]){{"Acosh", 9, NULL}, {0}},
    .onnx_types = "Acosh:f",
    .arity = 1,
    .axes = "e",
    .text = "acosh(a)",
    .shape = shape_float,
    .cases = real,
};

static const op atanh_op = {
    .name = "arctanh",
    .doc = "Inverse of the hyperbolic tangent.",
    .numpy = "np.arctanh(a)",
    .onnx = (const onnx_rule[]){{"Atanh", 9, NULL}, {0}},
    .onnx_types = "Atanh:f",
    .arity = 1,
    .axes = "e",
    .text = "atanh(a)",
    .shape = shape_float,
    .cases = real,
};

static const op erf_op = {
    .name = "erf",
    .doc = "Error function.",
    .numpy = "erf(a)",
    .back = "Erf a^",
    .onnx = (const onnx_rule[]){{"Erf", 9, adapt_erf}, {0}},
    .onnx_takes = "Erf:1,1",
    .onnx_types = "Erf:n",
    .arity = 1,
    .axes = "e",
    .text = "erf(a)",
    .shape = shape_float,
    .cases = "f32[2,3]\nf32[16]!\nf64[16]!\nf32[0,3]\nf16[5]",
};

/* ---- records: rounding; integers stay as they are ---- */
static const char rounded[] = "f32[2,3]\nf32[16]!\nf64[16]!\nf32[]\nf32[0,3]\nf16[5]";

static const op floor_op = {
    .name = "floor",
    .doc = "Largest whole number not above the value.",
    .numpy = "np.floor(a)",
    .onnx = (const onnx_rule[]){{"Floor", 1, NULL}, {0}},
    .onnx_types = "Floor:f",
    .arity = 1,
    .axes = "e",
    .text = "floor(a)",
    .cases = rounded,
};

static const op ceil_op = {
    .name = "ceil",
    .doc = "Smallest whole number not below the value.",
    .numpy = "np.ceil(a)",
    .onnx = (const onnx_rule[]){{"Ceil", 1, NULL}, {0}},
    .onnx_types = "Ceil:f",
    .arity = 1,
    .axes = "e",
    .text = "ceil(a)",
    .cases = rounded,
};

static const op round_op = {
    .name = "round",
    .doc = "Nearest whole number, halves to even.",
    .numpy = "np.round(a)",
    .onnx = (const onnx_rule[]){{"Round", 11, NULL}, {0}},
    .onnx_types = "Round:f",
    .arity = 1,
    .axes = "e",
    .text = "round(a)",
    .cases = rounded,
};

static const op trunc_op = {
    .name = "trunc",
    .doc = "Value without its fraction.",
    .numpy = "np.trunc(a)",
    .arity = 1,
    .axes = "e",
    .text = "trunc(a)",
    .cases = rounded,
};

const op *const ops_elementary[] = {&exp_op,   &expm1_op, &log_op,   &log1p_op, &sqrt_op,  &rsqrt_op, &reciprocal_op,
                                    &sin_op,   &cos_op,   &tan_op,   &asin_op,  &acos_op,  &atan_op,  &atan2_op,
                                    &sinh_op,  &cosh_op,  &tanh_op,  &asinh_op, &acosh_op, &atanh_op, &erf_op,
                                    &floor_op, &ceil_op,  &round_op, &trunc_op, NULL};
