/* arithmetic.c - the operations of school, element by element. Division of integers gives reals, as in numpy;
 * ONNX's Div of integers drops the fraction and is trunc_divide here. */
#include "graph/ir/rule.h"

#include <string.h>

static const char two[] =
    "f32[2,3] f32[2,3]\nf32[2,8]! f32[8]!\nf64[4,1] f64[1,5]\ni32[2,3] i32[3]\nf32[2,3] f64[3]\nf32[2] i64[2]\n"
    "f32[0,3] f32[3]\nf32[] f32[]\nu8[5] i8[5]\nf16[4] f16[4]\ni64[9]! i64[9]!";
static const char one[] = "f32[2,3]\nf32[16]!\nf64[4,1,2]\ni32[7]!\ni64[]\nf32[0,3]\nu8[5]\nf16[4]";

/* ---- helpers: calls, for recipes everywhere ---- */
const node *g_scaled(graph *g, const node *a, double by)
{
    return g_call2(g, "multiply", a, g_scalar_like(g, a, by));
}

/* ---- ONNX ---- */
/* Sum, Max, Min and Mean take any number of operands: pairwise from the left. */
static bool adapt_chain(const onnx_call *c, const node **out, err *e)
{
    const node *y = c->in[0];
    for (int i = 1; i < c->n_in; i++)
        y = g_call2(c->g, c->op->name, y, c->in[i]);
    if (y && !strcmp(c->type, "Mean")) /* as all operands broadcast */
        y = g_call2(c->g, "divide", y, g_scalar_like(c->g, y, c->n_in));
    return onnx_give(c, out, y, e);
}

static bool adapt_div(const onnx_call *c, const node **out, err *e)
{
    const node *pair[2];
    if (!onnx_aligned(c, pair, e))
        return false;
    const bool real = dtype_class(pair[0]->type.dtype) == D_REAL;
    return onnx_give(c, out, g_call(c->g, real ? "divide" : "trunc_divide", 2, pair), e);
}

static bool adapt_mod(const onnx_call *c, const node **out, err *e)
{
    return onnx_give(c, out, g_call2(c->g, onnx_int(c, "fmod", 0) ? "fmod" : "mod", c->in[0], c->in[1]), e);
}

/* The result has the dtype of the base; a real base takes the exponent in its own dtype. */
static bool adapt_pow(const onnx_call *c, const node **out, err *e)
{
    const node *pair[2];
    if (!onnx_aligned(c, pair, e))
        return false;
    const dtype base = pair[0]->type.dtype;
    if (pair[1] && dtype_class(base) == D_REAL)
        pair[1] = g_cast(c->g, pair[1], base);
    return onnx_give(c, out, g_cast(c->g, g_call(c->g, "power", 2, pair), base), e);
}

/* Before 11 the bounds are attributes, since then operands; each may be absent. */
static bool adapt_clip(const onnx_call *c, const node **out, err *e)
{
    const node *y = c->in[0], *low = onnx_in(c, 1), *high = onnx_in(c, 2); /* y any, low and high [] */
    if (onnx_attr(c, "min"))
        low = g_scalar_like(c->g, y, onnx_real(c, "min", 0));
    if (onnx_attr(c, "max"))
        high = g_scalar_like(c->g, y, onnx_real(c, "max", 0));
    if (low && high)
        return onnx_give(c, out, g_call3(c->g, "clip", y, low, high), e);
    if (low)
        y = g_call2(c->g, "maximum", y, low);
    if (high)
        y = g_call2(c->g, "minimum", y, high);
    return onnx_give(c, out, y, e);
}

/* ---- shape ---- */
static bool divide_shape(const node *n, type *out, err *e) /* numpy: two integers of any width give f64 */
{
    if (!shape_float(n, out, e))
        return false;
    const dtype d = dtype_promote(n->in[0]->type.dtype, n->in[1]->type.dtype);
    if (dtype_class(d) != D_REAL)
        out->dtype = TS_F64;
    return true;
}

static bool power_shape(const node *n, type *out, err *e)
{
    const dtype a = n->in[0]->type.dtype, b = n->in[1]->type.dtype;
    if (!type_broadcast(2, (const type *const[]){&n->in[0]->type, &n->in[1]->type}, out, e))
        return false;
    out->dtype = a == TS_BOOL && b == TS_BOOL ? TS_I8 : dtype_promote(a, b);
    return true;
}

/* ---- body ---- */
static const expr *divide_body(defn *d)
{
    const dtype to = d->node->type.dtype;
    return x2(d->mem, "div", x_cast(d->mem, to, defn_in(d, 0)), x_cast(d->mem, to, defn_in(d, 1)));
}

/* A constant exponent of 2, 3, 0.5 or -1 is products, a root or a quotient, not a call of pow. */
static const expr *small_power(arena *mem, const expr *a, double exponent)
{
    static const struct {
        double exponent;
        const char *text;
    } known[] = {{2, "a * a"}, {3, "a * a * a"}, {0.5, "sqrt(a)"}, {-1, "1.0 / a"}};
    for (int i = 0; i < COUNT(known); i++)
        if (exponent == known[i].exponent)
            return x_said(mem, known[i].text, "a", a, NULL);
    return NULL;
}

static const expr *power_body(defn *d)
{
    const node *b = d->node->in[1];
    const bool known = b->leaf && b->leaf->kind == LEAF_CONST && type_count(&b->type) == 1;
    const expr *base = x_cast(d->mem, d->node->type.dtype, defn_in(d, 0));
    if (known && dtype_class(d->node->type.dtype) == D_REAL)
        d->value = small_power(d->mem, base, load_real(b->type.dtype, b->leaf->data, 0));
    if (!d->value)
        return x2(d->mem, "pow", base, defn_in(d, 1));
    return d->value;
}

/* ---- records ---- */
const op ops_arithmetic[] = {
    ELEMENT("add", "a + b", "np.add(a, b)", "Add 7 N", two, "Sum of two values.",
            .adapted = ADAPTED({"Add 1 N 0..2 axis broadcast", onnx_adapt_aligned}, {"Sum 1 F 1..", adapt_chain},
                               {"Mean 1 F 1..", adapt_chain})),
    ELEMENT("subtract", "a - b", "np.subtract(a, b)", "Sub 7 N", two, "Difference of two values.",
            .adapted = ADAPTED({"Sub 1 N 0..2 axis broadcast", onnx_adapt_aligned})),
    ELEMENT("multiply", "a * b", "np.multiply(a, b)", "Mul 7 N", two, "Product of two values.",
            .adapted = ADAPTED({"Mul 1 N 0..2 axis broadcast", onnx_adapt_aligned})),
    BODY("divide a b -> e", divide_body, "np.divide(a, b)", NULL, two,
         "Quotient of two values, real even for integers.",
         .adapted = ADAPTED({"Div 1 N 0..2 axis broadcast", adapt_div}),
         .onnx_undefined = "Div: An integer by 0 is 0; the least one by -1 is itself.", .back = "Div a^ b^",
         .shape = divide_shape),
    ELEMENT("trunc_divide", "floordiv(a - fmod(a, b), b)", "(a - np.fmod(a, b)) // b", NULL,
            "i64[4,5] i64[5]\ni32[3] i32[3]\nf32[6] f32[6]\nu8[5] u8[5]",
            "Quotient rounded towards zero; an integer by 0 is 0."),
    ELEMENT("floor_divide", "floordiv(a, b)", "np.floor_divide(a, b)", NULL,
            "f32[2,3] f32[2,3]\ni32[2,3] i32[3]\ni64[9]! i64[9]!\nu64[9]! u64[9]!\nu8[5] i8[5]\nf64[7] f64[7]\n"
            "f32[0] f32[]\nf64[9,13]! f64[13]!\nf32[9,13]! f32[13]!\nf64[2]=6 f64[]=0.1\nf32[2]=1 f32[]=0.1\n"
            "f64[2]=-1 f64[]=inf",
            "Quotient rounded down; an integer by 0 is 0."),
    ELEMENT("mod", "a % b", "np.mod(a, b)", NULL,
            "f32[2,3] f32[2,3]\ni32[2,3] i32[3]\ni64[9]! i64[9]!\nu64[9]! u64[9]!\nu8[5] i8[5]\nf64[7] f64[7]\n"
            "f32[0] f32[]\nf64[9,13]! f64[13]!\nf32[9,13]! f32[13]!",
            "Remainder with the sign of the divisor; of an integer by 0 it is 0.",
            .adapted = ADAPTED({"Mod 10 N 2 fmod", adapt_mod}), .onnx_undefined = "Mod: Of an integer by 0 it is 0."),
    ELEMENT("fmod", "fmod(a, b)", "np.fmod(a, b)", NULL,
            "f32[2,3] f32[2,3]\ni32[2,3] i32[3]\ni64[9]! i64[9]!\nu64[9]! u64[9]!\nu8[5] i8[5]\nf64[7] f64[7]\n"
            "f32[0] f32[]",
            "Remainder with the sign of the dividend; of an integer by 0 it is 0."),
    BODY("power a b -> e", power_body, "np.power(a, b)", NULL,
         "f32[2,3] f32[2,3]\nf32[2,8]! f32[8]!\nf32[4] f32[]=2\nf32[4] f32[]=3\nf32[4] f32[1]=0.5\n"
         "f64[4] f64[]=-1\ni64[2,3] u8[3]<9\ni32[4] u8[]=2\nf32[3] i64[]=2\nf32[3] f64[]=1.5\nf32[0,3] f32[3]",
         "First value raised to the second.", .adapted = ADAPTED({"Pow 1 n 0..2 axis broadcast", adapt_pow}),
         .onnx_undefined =
             "Pow: An integer with a negative exponent loses its fraction: 1, -1 or 0, and 0 for the base 0.",
         .back = "Pow a^ b^", .shape = power_shape),
    ELEMENT("maximum", "max(a, b)", "np.maximum(a, b)", NULL, two, "Larger of two values; NaN if one is.",
            .adapted = ADAPTED({"Max 1 N 1..", adapt_chain}), .back = "Max a^ b^"),
    ELEMENT("minimum", "min(a, b)", "np.minimum(a, b)", NULL, two, "Smaller of two values; NaN if one is.",
            .adapted = ADAPTED({"Min 1 N 1..", adapt_chain}), .back = "Min a^ b^"),
    ELEMENT("clip", "min(max(a, b), c)", "np.minimum(np.maximum(a, b), c)", NULL,
            "f32[2,8]! f32[]=-1 f32[]=1\nf32[2,3] f32[3] f32[2,1]\ni64[6] i64[] i64[]\nf64[0] f64[] f64[]",
            "First value limited to lie between the second and the third.",
            .adapted = ADAPTED({"Clip 1 N 1..3 max min", adapt_clip}), .back = "Clip a^ b^ c^"),
    ELEMENT("negative", "-a", "np.negative(a)", "Neg 1 n", one, "Value with the sign turned."),
    ELEMENT("abs", "abs(a)", "np.abs(a)", "Abs 1 n", one, "Value without its sign."),
    ELEMENT("sign", "sign(a)", "np.sign(a)", "Sign 9 n", one, "-1, 0 or 1; NaN stays NaN."),
    ELEMENT("square", "a * a", "np.square(a)", NULL, one, "Value times itself.", .back = "Mul a a"),
    {0},
};
