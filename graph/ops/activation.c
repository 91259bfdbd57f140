/* activation.c - the non-linear functions between layers, element by element. */
#include "graph/ir/rule.h"

#include <string.h>

/* Smooth at 0, though its parts are not: min(-a, a) is -|a|, and its corner cancels the maximum's, since both take the
 * derivative from the left. */
#define SOFTPLUS "max(a, 0) + log1p(exp(min(-a, a)))"

static const char real[] = "f32[2,3]\nf32[16]!\nf64[3,1,2]\nf64[16]!\ni32[7]\nf32[]\nf32[0,3]\nf16[5]";

/* ---- ONNX ---- */
/* Before version 7 a slope of several numbers belongs to the channels, axis 1. */
static bool adapt_prelu(const onnx_call *c, const node **out, err *e)
{
    const node *x = c->in[0], *slope = c->in[1]; /* x [batch, channel, ...], slope broadcasts to it */
    if (c->version < 7 && x->type.rank > 1)
        slope = g_along(c->g, slope, x->type.rank - 1, 0);
    return onnx_give(c, out, g_call2(c->g, "prelu", x, slope), e);
}

static const char *silu_back(const node *n)
{
    return node_real(n, "alpha") == 1 ? "Sigmoid a^; Mul a^ $" : "Mul a^ !alpha; Sigmoid $; Mul a^ $";
}

/* ---- shape, body ---- */
static bool gelu_shape(const node *n, type *out, err *e)
{
    const char *how = node_attr(n, "approximate")->s;
    if (strcmp(how, "none") && strcmp(how, "tanh"))
        return err_set(e, TS_BAD_INPUT, "approximate: \"%s\" is neither none nor tanh", how);
    return shape_float(n, out, e);
}

/* 0.7071... is 1/sqrt(2), 0.7978... is sqrt(2/pi). */
static const expr *gelu_body(defn *d)
{
    const bool exact = !strcmp(node_attr(d->node, "approximate")->s, "none");
    return x_said(d->mem,
                  exact ? "0.5 * a * (1 + erf(a * 0.70710678118654752))"
                        : "0.5 * a * (1 + tanh(0.79788456080286536 * (a + 0.044715 * a * a * a)))",
                  "a", x_cast(d->mem, d->node->type.dtype, defn_in(d, 0)), NULL);
}

/* ---- records ---- */
const op ops_activation[] = {
    ELEMENT("relu", "max(a, 0)", "np.maximum(a, 0)", "Relu 1 n",
            "f32[2,3]\nf32[16]!\nf64[4]\ni32[7]!\nu8[4]\nf32[0,3]\nf16[5]", "Larger of the value and zero."),
    REAL("leaky_relu alpha:f=0.01", "a < 0 ? alpha * a : a", "np.where(a < 0, alpha * a, a)", "LeakyRelu 1 f",
         "f32[2,3]\nf32[16]! alpha=0.2\nf64[5] alpha=-1.5\nf32[0]", "The value, scaled by alpha where it is negative."),
    ELEMENT("prelu", "a < 0 ? b * a : a", "np.where(a < 0, b * a, a)", NULL,
            "f32[2,3] f32[3]\nf32[2,3,4] f32[3,1]\nf64[5] f64[]\nf32[0] f32[]",
            "The first value, scaled by the second where it is negative.",
            .adapted = ADAPTED({"PRelu 1 N 2", adapt_prelu})),
    REAL("elu alpha:f=1", "a < 0 ? alpha * expm1(a) : a", "np.where(a < 0, alpha * np.expm1(a), a)", "Elu 1 f",
         "f32[2,3]\nf32[16]! alpha=0.5\nf64[5]\nf32[0]",
         "The value, or alpha * (exp(value) - 1) where it is negative."),
    /* The slope at 0 is 0 + 1: maximum and minimum both take that of their second part. */
    REAL("celu alpha:f=1", "max(a, 0) + min(0, alpha * expm1(a / alpha))",
         "np.maximum(0, a) + np.minimum(0, alpha * np.expm1(a / alpha))", "Celu 12 f",
         "f32[2,3]\nf32[9] alpha=0.5\nf64[5]\nf32[0]", "Elu whose slope is continuous at zero for every alpha."),
    REAL("selu alpha:f=1.6732632423543772 gamma:f=1.0507009873554805", "gamma * (a > 0 ? a : alpha * expm1(a))",
         "gamma * np.where(a > 0, a, alpha * np.expm1(a))", "Selu 1 f", "f32[2,3]\nf32[16]! alpha=0.5\nf64[5]\nf32[0]",
         "Elu scaled so that layers keep mean and variance."),
    REAL("sigmoid", "1 / (1 + exp(-a))", "1 / (1 + np.exp(-a))", "Sigmoid 1 f", real, "Logistic function."),
    REAL("silu alpha:f=1", "a / (1 + exp(-alpha * a))", "a / (1 + np.exp(-alpha * a))",
         "Swish 24 f; com.microsoft.QuickGelu 1 f 1 alpha=1.702",
         "f32[2,3]\nf32[16]! alpha=1.5\nf64[3,1,2]\nf64[16]!\ni32[7]\nf32[]\nf32[0,3]\nf16[5]",
         "The value times its logistic function.", .back_of = silu_back),
    REAL("quick_gelu", "a / (1 + exp(-1.702 * a))", "a / (1 + np.exp(-1.702 * a))", NULL, real,
         "The value times the logistic function of 1.702 times the value."),
    BODY("gelu a approximate:s=none -> e", gelu_body,
         "0.5 * a * (1 + erf(a * 0.5 ** 0.5)) if approximate == 'none' else 0.5 * a * (1 + np.tanh((2 / np.pi) "
         "** 0.5 * (a + 0.044715 * a * a * a)))",
         "Gelu 20 f 1 approximate; com.microsoft.Gelu 1 f 1",
         "f32[2,3]\nf32[16]!\nf64[2,3]\nf64[9] approximate=tanh\nf32[4,5] approximate=tanh\ni32[7]\nf32[0,3]\nf16[5]",
         "The value times the chance that a normal variable is smaller; exact, or by the tanh formula.",
         .back = "Gelu a^ approximate=approximate", .shape = gelu_shape, .extents = extents_pointwise,
         .kept = kept_all),
    REAL("hard_sigmoid alpha:f=0.2 beta:f=0.5", "max(min(alpha * a + beta, 1), 0)",
         "np.maximum(0, np.minimum(1, alpha * a + beta))", "HardSigmoid 1 f",
         "f32[2,3]\nf32[16]! alpha=0.5\nf64[5] beta=0.25\nf32[0]",
         "A line of slope alpha through beta, cut at 0 and 1."),
    REAL("hard_swish", "a * max(min(a / 6 + 0.5, 1), 0)", "a * np.maximum(0, np.minimum(1, a / 6 + 0.5))",
         "HardSwish 14 f", "f32[2,3]\nf64[9]\nf32[0]", "The value times a line from 0 at -3 to 1 at 3."),
    REAL("softplus", SOFTPLUS, "np.logaddexp(a, 0)", "Softplus 1 f", "f32[2,3]\nf32[16]!\nf64[9]\nf32[0]",
         "log(1 + exp(value)), without overflow."),
    REAL("softsign", "a / (1 + abs(a))", "a / (1 + np.abs(a))", "Softsign 1 f", "f32[2,3]\nf64[9]\ni32[4]\nf32[0]",
         "The value over 1 plus its size."),
    REAL("mish", "a * tanh(" SOFTPLUS ")", "a * np.tanh(np.logaddexp(a, 0))", "Mish 18 f", "f32[2,3]\nf64[9]\nf32[0]",
         "The value times the hyperbolic tangent of its softplus."),
    REAL("thresholded_relu alpha:f=1", "a > alpha ? a : 0", "np.where(a > alpha, a, 0).astype(a.dtype)",
         "ThresholdedRelu 1 f", "f32[2,3]\nf32[16]! alpha=-0.5\nf64[5]\nf32[0]",
         "The value where it is above alpha, else 0."),
    ELEMENT("shrink bias:f=0 lambd:f=0.5", "a < -lambd ? a + bias : a > lambd ? a - bias : 0",
            "np.where(a < -lambd, a + bias, np.where(a > lambd, a - bias, 0)).astype(a.dtype)", "Shrink 9 n",
            "f32[2,3]\nf32[16]! lambd=1.5 bias=1.5\nf64[5] bias=0.5\ni32[9] lambd=2 bias=1\nf32[0]",
            "The value moved towards 0 by bias where it is further away than lambda, else 0.", .shape = shape_first),
    REAL("swiglu alpha:f=1", "a / (1 + exp(-alpha * a)) * b", "a / (1 + np.exp(-alpha * a)) * b", "SwiGLU 28 F",
         "f32[2,3] f32[2,3]\nf64[9] f64[9] alpha=1.5\nf16[5] f16[5]\nf32[0] f32[0]",
         "The second value, gated by silu of the first."),
    {0},
};
