/* arithmetic.c - the operations of school, element by element. Division of integers gives reals, as in numpy;
 * ONNX's Div of integers drops the fraction and is trunc_divide here. */
#include "graph/ir/rule.h"

static const char two[] =
    "f32[2,3] f32[2,3]\nf32[2,8]! f32[8]!\nf64[4,1] f64[1,5]\ni32[2,3] i32[3]\nf32[2,3] f64[3]\nf32[2] i64[2]\n"
    "f32[0,3] f32[3]\nf32[] f32[]\nu8[5] i8[5]\nf16[4] f16[4]\ni64[9]! i64[9]!";
static const char one[] = "f32[2,3]\nf32[16]!\nf64[4,1,2]\ni32[7]!\ni64[]\nf32[0,3]\nu8[5]\nf16[4]";

/* ---- ONNX ---- */
static bool adapt_aligned_add(const onnx_call *c, const node **out, err *e)
{
    return onnx_adapt_aligned(c, "add", out, e);
}

static bool adapt_aligned_subtract(const onnx_call *c, const node **out, err *e)
{
    return onnx_adapt_aligned(c, "subtract", out, e);
}

static bool adapt_aligned_multiply(const onnx_call *c, const node **out, err *e)
{
    return onnx_adapt_aligned(c, "multiply", out, e);
}

/* Sum, Max, Min and Mean take any number of operands: pairwise from the left. */
static const node *chain(const onnx_call *c, const char *op_name)
{
    const node *y = c->in[0];
    for (int i = 1; i < c->n_in; i++)
        y = g_call2(c->g, op_name, y, c->in[i]);
    return y;
}

static bool adapt_sum(const onnx_call *c, const node **out, err *e)
{
    return onnx_need(c, 1, e) && onnx_give(c, out, chain(c, "add"), e);
}

static bool adapt_max(const onnx_call *c, const node **out, err *e)
{
    return onnx_need(c, 1, e) && onnx_give(c, out, chain(c, "maximum"), e);
}

static bool adapt_min(const onnx_call *c, const node **out, err *e)
{
    return onnx_need(c, 1, e) && onnx_give(c, out, chain(c, "minimum"), e);
}

static bool adapt_mean(const onnx_call *c, const node **out, err *e)
{
    if (!onnx_need(c, 1, e))
        return false;
    const node *sum = chain(c, "add"); /* as all operands broadcast */
    return onnx_give(c, out, g_call2(c->g, "divide", sum, g_scalar_like(c->g, sum, c->n_in)), e);
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
    if (!onnx_need(c, 2, e))
        return false;
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
    if (!onnx_need(c, 1, e))
        return false;
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
static bool divide_body(defn *d, err *e)
{
    const dtype to = d->node->type.dtype;
    (void)e;
    d->value = x2(d->mem, "div", x_cast(d->mem, to, defn_in(d, 0)), x_cast(d->mem, to, defn_in(d, 1)));
    return true;
}

/* A constant exponent of 2, 3, 0.5 or -1 is products, a root or a quotient, not a call of pow. */
static const expr *small_power(arena *mem, const expr *a, double exponent)
{
    if (exponent == 2)
        return x2(mem, "mul", a, a);
    if (exponent == 3)
        return x2(mem, "mul", x2(mem, "mul", a, a), a);
    if (exponent == 0.5)
        return x1(mem, "sqrt", a);
    if (exponent == -1)
        return x2(mem, "div", x_real(mem, 1), a);
    return NULL;
}

static bool power_body(defn *d, err *e)
{
    (void)e;
    const node *b = d->node->in[1];
    const bool known = b->leaf && b->leaf->kind == LEAF_CONST && type_count(&b->type) == 1;
    const expr *base = x_cast(d->mem, d->node->type.dtype, defn_in(d, 0));
    if (known && dtype_class(d->node->type.dtype) == D_REAL)
        d->value = small_power(d->mem, base, load_real(b->type.dtype, b->leaf->data, 0));
    if (!d->value)
        d->value = x2(d->mem, "pow", base, defn_in(d, 1));
    return true;
}

/* ---- records ---- */
static const op add_op = {
    .name = "add",
    .doc = "Sum of two values.",
    .numpy = "np.add(a, b)",
    .onnx =
        (const onnx_rule[]){
            {"Add", 1, adapt_aligned_add},
            {"Add", 7, NULL},
            {"Sum", 1, adapt_sum},
            {"Mean", 1, adapt_mean},
            {0},
        },
    .onnx_takes = "Add:2,1,axis,broadcast Sum:*,1 Mean:*,1",
    .onnx_types = "Add:N Sum:F Mean:F",
    .arity = 2,
    .axes = "e",
    .text = "a + b",
    .cases = two,
};

static const op subtract_op = {
    .name = "subtract",
    .doc = "Difference of two values.",
    .numpy = "np.subtract(a, b)",
    .onnx = (const onnx_rule[]){{"Sub", 1, adapt_aligned_subtract}, {"Sub", 7, NULL}, {0}},
    .onnx_takes = "Sub:2,1,axis,broadcast",
    .onnx_types = "Sub:N",
    .arity = 2,
    .axes = "e",
    .text = "a - b",
    .cases = two,
};

static const op multiply_op = {
    .name = "multiply",
    .doc = "Product of two values.",
    .numpy = "np.multiply(a, b)",
    .onnx = (const onnx_rule[]){{"Mul", 1, adapt_aligned_multiply}, {"Mul", 7, NULL}, {0}},
    .onnx_takes = "Mul:2,1,axis,broadcast",
    .onnx_types = "Mul:N",
    .arity = 2,
    .axes = "e",
    .text = "a * b",
    .cases = two,
};

static const op divide_op = {
    .name = "divide",
    .doc = "Quotient of two values, real even for integers.",
    .numpy = "np.divide(a, b)",
    .onnx = (const onnx_rule[]){{"Div", 1, adapt_div}, {0}},
    .onnx_takes = "Div:2,1,axis,broadcast",
    .onnx_types = "Div:N",
    .onnx_undefined = (const onnx_note[]){{"Div", "An integer by 0 is 0; the least one by -1 is itself."}, {0}},
    .back = "Div a^ b^",
    .arity = 2,
    .axes = "e",
    .shape = divide_shape,
    .body = divide_body,
    .cases = two,
};

static const op trunc_divide_op = {
    .name = "trunc_divide",
    .doc = "Quotient rounded towards zero; an integer by 0 is 0.",
    .numpy = "(a - np.fmod(a, b)) // b",
    .arity = 2,
    .axes = "e",
    .text = "floordiv(a - fmod(a, b), b)",
    .cases = "i64[4,5] i64[5]\ni32[3] i32[3]\nf32[6] f32[6]\nu8[5] u8[5]",
};

static const op floor_divide_op = {
    .name = "floor_divide",
    .doc = "Quotient rounded down; an integer by 0 is 0.",
    .numpy = "np.floor_divide(a, b)",
    .arity = 2,
    .axes = "e",
    .text = "floordiv(a, b)",
    .cases = "f32[2,3] f32[2,3]\ni32[2,3] i32[3]\ni64[9]! i64[9]!\nu64[9]! u64[9]!\nu8[5] i8[5]\nf64[7] f64[7]\n"
             "f32[0] f32[]\nf64[9,13]! f64[13]!\nf32[9,13]! f32[13]!\nf64[2]=6 f64[]=0.1\nf32[2]=1 f32[]=0.1\n"
             "f64[2]=-1 f64[]=inf",
};

static const op mod_op = {
    .name = "mod",
    .doc = "Remainder with the sign of the divisor; of an integer by 0 it is 0.",
    .numpy = "np.mod(a, b)",
    .onnx = (const onnx_rule[]){{"Mod", 10, adapt_mod}, {0}},
    .onnx_takes = "Mod:2,1,fmod",
    .onnx_types = "Mod:N",
    .onnx_undefined = (const onnx_note[]){{"Mod", "Of an integer by 0 it is 0."}, {0}},
    .arity = 2,
    .axes = "e",
    .text = "a % b",
    .cases = "f32[2,3] f32[2,3]\ni32[2,3] i32[3]\ni64[9]! i64[9]!\nu64[9]! u64[9]!\nu8[5] i8[5]\nf64[7] f64[7]\n"
             "f32[0] f32[]\nf64[9,13]! f64[13]!\nf32[9,13]! f32[13]!",
};

static const op fmod_op = {
    .name = "fmod",
    .doc = "Remainder with the sign of the dividend; of an integer by 0 it is 0.",
    .numpy = "np.fmod(a, b)",
    .arity = 2,
    .axes = "e",
    .text = "fmod(a, b)",
    .cases = "f32[2,3] f32[2,3]\ni32[2,3] i32[3]\ni64[9]! i64[9]!\nu64[9]! u64[9]!\nu8[5] i8[5]\nf64[7] f64[7]\n"
             "f32[0] f32[]",
};

static const op power_op = {
    .name = "power",
    .doc = "First value raised to the second.",
    .numpy = "np.power(a, b)",
    .onnx = (const onnx_rule[]){{"Pow", 1, adapt_pow}, {0}},
    .onnx_takes = "Pow:2,1,axis,broadcast",
    .onnx_types = "Pow:n",
    .onnx_undefined = (const onnx_note[]){{"Pow", "An integer with a negative exponent loses its fraction: 1, -1 or 0, "
                                                  "and 0 for the base 0."},
                                          {0}},
    .back = "Pow a^ b^",
    .arity = 2,
    .axes = "e",
    .shape = power_shape,
    .body = power_body,
    .cases = "f32[2,3] f32[2,3]\nf32[2,8]! f32[8]!\nf32[4] f32[]=2\nf32[4] f32[]=3\nf32[4] f32[1]=0.5\n"
             "f64[4] f64[]=-1\ni64[2,3] u8[3]<9\ni32[4] u8[]=2\nf32[3] i64[]=2\nf32[3] f64[]=1.5\nf32[0,3] f32[3]",
};

static const op maximum_op = {
    .name = "maximum",
    .doc = "Larger of two values; NaN if one is.",
    .numpy = "np.maximum(a, b)",
    .onnx = (const onnx_rule[]){{"Max", 1, adapt_max}, {0}},
    .onnx_takes = "Max:*,1",
    .onnx_types = "Max:N",
    .back = "Max a^ b^",
    .arity = 2,
    .axes = "e",
    .text = "max(a, b)",
    .cases = two,
};

static const op minimum_op = {
    .name = "minimum",
    .doc = "Smaller of two values; NaN if one is.",
    .numpy = "np.minimum(a, b)",
    .onnx = (const onnx_rule[]){{"Min", 1, adapt_min}, {0}},
    .onnx_takes = "Min:*,1",
    .onnx_types = "Min:N",
    .back = "Min a^ b^",
    .arity = 2,
    .axes = "e",
    .text = "min(a, b)",
    .cases = two,
};

static const op clip_op = {
    .name = "clip",
    .doc = "First value limited to lie between the second and the third.",
    .numpy = "np.minimum(np.maximum(a, b), c)",
    .onnx = (const onnx_rule[]){{"Clip", 1, adapt_clip}, {0}},
    .onnx_takes = "Clip:3,1,max,min",
    .onnx_types = "Clip:N",
    .back = "Clip a^ b^ c^",
    .arity = 3,
    .axes = "e",
    .text = "min(max(a, b), c)",
    .cases = "f32[2,8]! f32[]=-1 f32[]=1\nf32[2,3] f32[3] f32[2,1]\ni64[6] i64[] i64[]\nf64[0] f64[] f64[]",
};

static const op negative_op = {
    .name = "negative",
    .doc = "Value with the sign turned.",
    .numpy = "np.negative(a)",
    .onnx = (const onnx_rule[]){{"Neg", 1, NULL}, {0}},
    .onnx_types = "Neg:n",
    .arity = 1,
    .axes = "e",
    .text = "-a",
    .cases = one,
};

static const op abs_op = {
    .name = "abs",
    .doc = "Value without its sign.",
    .numpy = "np.abs(a)",
    .onnx = (const onnx_rule[]){{"Abs", 1, NULL}, {0}},
    .onnx_types = "Abs:n",
    .arity = 1,
    .axes = "e",
    .text = "abs(a)",
    .cases = one,
};

static const op sign_op = {
    .name = "sign",
    .doc = "-1, 0 or 1; NaN stays NaN.",
    .numpy = "np.sign(a)",
    .onnx = (const onnx_rule[]){{"Sign", 9, NULL}, {0}},
    .onnx_types = "Sign:n",
    .arity = 1,
    .axes = "e",
    .text = "sign(a)",
    .cases = one,
};

static const op square_op = {
    .name = "square",
    .doc = "Value times itself.",
    .numpy = "np.square(a)",
    .back = "Mul a a",
    .arity = 1,
    .axes = "e",
    .text = "a * a",
    .cases = one,
};

const op *const ops_arithmetic[] = {&add_op,          &subtract_op, &multiply_op, &divide_op, &trunc_divide_op,
                                    &floor_divide_op, &mod_op,      &fmod_op,     &power_op,  &maximum_op,
                                    &minimum_op,      &clip_op,     &negative_op, &abs_op,    &sign_op,
                                    &square_op,       NULL};
