/* elementary.c - functions of one real value, and rounding. Integers become reals first, as in numpy. */
#include "graph/ir/rule.h"

/* ---- ONNX ---- */
static bool adapt_erf(const onnx_call *c, const node **out, err *e) /* integers stay integers */
{
    return onnx_give(c, out, g_cast(c->g, g_call1(c->g, "erf", c->in[0]), c->in[0]->type.dtype), e);
}

/* ---- records ---- */
/* Ranges: any real value; values where the function is defined (!: with NaN, infinities, zeros of both signs). */
static const char real[] = "f32[2,3]\nf32[16]!\nf64[3,1,2]\nf64[16]!\ni32[7]\ni64[]\nf32[0,3]\nf16[5]";

/* ---- records: rounding; integers stay as they are ---- */
static const char rounded[] = "f32[2,3]\nf32[16]!\nf64[16]!\nf32[]\nf32[0,3]\nf16[5]";

const op ops_elementary[] = {
    REAL("exp", "exp(a)", "np.exp(a)", "Exp 1 f", real, "e to the power of the value."),
    REAL("expm1", "expm1(a)", "np.expm1(a)", NULL, real, "e to the power of the value, minus 1, exact near 0."),
    REAL("log", "log(a)", "np.log(a)", "Log 1 f", real, "Natural logarithm."),
    REAL("log1p", "log1p(a)", "np.log1p(a)", NULL, real, "Natural logarithm of 1 plus the value, exact near 0."),
    REAL("sqrt", "sqrt(a)", "np.sqrt(a)", "Sqrt 1 f", real, "Square root."),
    REAL("rsqrt", "1 / sqrt(a)", "1 / np.sqrt(a)", NULL, real, "1 over the square root.",
         .back = "Sqrt a^; Reciprocal $"),
    REAL("reciprocal", "1 / a", "1 / a", "Reciprocal 1 f", real, "1 over the value, real even for integers."),
    REAL("sin", "sin(a)", "np.sin(a)", "Sin 7 f", real, "Sine."),
    REAL("cos", "cos(a)", "np.cos(a)", "Cos 7 f", real, "Cosine."),
    REAL("tan", "tan(a)", "np.tan(a)", "Tan 7 f", real, "Tangent."),
    REAL("arcsin", "asin(a)", "np.arcsin(a)", "Asin 7 f", real, "Angle with this sine."),
    REAL("arccos", "acos(a)", "np.arccos(a)", "Acos 7 f", real, "Angle with this cosine."),
    REAL("arctan", "atan(a)", "np.arctan(a)", "Atan 7 f", real, "Angle with this tangent."),
    REAL("arctan2", "atan2(a, b)", "np.arctan2(a, b)", NULL,
         "f32[2,3] f32[3]\nf32[16]! f32[16]!\nf64[4] f64[]\ni32[3] i32[3]\nf32[0] f32[]",
         "Angle of the point (second, first)."),
    REAL("sinh", "sinh(a)", "np.sinh(a)", "Sinh 9 f", real, "Hyperbolic sine."),
    REAL("cosh", "cosh(a)", "np.cosh(a)", "Cosh 9 f", real, "Hyperbolic cosine."),
    REAL("tanh", "tanh(a)", "np.tanh(a)", "Tanh 1 f", real, "Hyperbolic tangent."),
    REAL("arcsinh", "asinh(a)", "np.arcsinh(a)", "Asinh 9 f", real, "Inverse of the hyperbolic sine."),
    REAL("arccosh", "acosh(a)", "np.arccosh(a)", "Acosh 9 f", real, "Inverse of the hyperbolic cosine."),
    REAL("arctanh", "atanh(a)", "np.arctanh(a)", "Atanh 9 f", real, "Inverse of the hyperbolic tangent."),
    REAL("erf", "erf(a)", "erf(a)", NULL, "f32[2,3]\nf32[16]!\nf64[16]!\nf32[0,3]\nf16[5]", "Error function.",
         .adapted = ADAPTED({"Erf 9 n 1", adapt_erf}), .back = "Erf a^"),
    ELEMENT("floor", "floor(a)", "np.floor(a)", "Floor 1 f", rounded, "Largest whole number not above the value."),
    ELEMENT("ceil", "ceil(a)", "np.ceil(a)", "Ceil 1 f", rounded, "Smallest whole number not below the value."),
    ELEMENT("round", "round(a)", "np.round(a)", "Round 11 f", rounded, "Nearest whole number, halves to even."),
    ELEMENT("trunc", "trunc(a)", "np.trunc(a)", NULL, rounded, "Value without its fraction."),
    {0},
};
