/* qlinear.c - operators of com.microsoft over integers that stand for reals. Products and sums are of integers; all
 * else is the operator itself between the reals, and rounding. What lies within rounding of halfway between two
 * integers may come out as the other one in ONNX Runtime, whose kernels differ by processor there. */
#include "graph/ops/fused.h"
#include "graph/ops/quantize.h"

#include <string.h>

/* ---- helpers ---- */
static const node *one(graph *g, const node *v) /* a scale or a zero, [] or [1], as [] */
{
    return v ? g_reshape(g, v, 0, NULL) : NULL;
}

/* The reals that operand i stands for; its scale and zero are the next two operands. */
static const node *real(const onnx_call *c, int i)
{
    return quantize_back(c->g, c->in[i], one(c->g, c->in[i + 1]), one(c->g, onnx_in(c, i + 2)));
}

/* y quantized by the scale in operand i and the zero behind it; dtype `fallback` without a zero. */
static const node *rounded(const onnx_call *c, const node *y, int i, dtype fallback)
{
    const node *zero = onnx_in(c, i + 1); /* [] or [1] */
    const dtype to = zero ? zero->type.dtype : fallback;
    return quantize_to(c->g, y, one(c->g, c->in[i]), one(c->g, zero), to);
}

/* ---- ONNX: one operand ---- */
/* ONNX Runtime rounds the reciprocal of softmax's scale down to a whole number of steps; so does this. */
static const node *softmax_rounded(const onnx_call *c, const node *y)
{
    graph *g = c->g;
    const node *zero = onnx_in(c, 4), *steps = g_call1(g, "floor", g_call1(g, "reciprocal", one(g, c->in[3]))); /* [] */
    const dtype to = zero ? zero->type.dtype : c->in[0]->type.dtype;
    y = g_call2(g, "multiply", y, steps);
    return y ? quantize_to(g, y, g_scalar_like(g, y, 1), one(g, zero), to) : NULL;
}

/* x, its scale and zero, those of the result. The operator is the one named behind "QLinear". */
static bool adapt_unary(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const bool last = onnx_int(c, "channels_last", 0);
    if (!onnx_all(c, "11.1", e))
        return false;
    const node *x = real(c, 0); /* [...]; with channels_last [batch, space..., channel] */
    x = last ? fused_channels(g, x, false) : x;
    const onnx_inner inner = {c->type + strlen("QLinear"), (int)onnx_int(c, "opset", 13), 1, &x, 0, NULL, 0, NULL};
    const node *y = x ? onnx_standard(c, &inner) : NULL;
    y = last ? fused_channels(g, y, true) : y;
    if (y && !strcmp(inner.type, "Softmax"))
        return onnx_give(c, out, softmax_rounded(c, y), e);
    return onnx_give(c, out, y ? rounded(c, y, 3, c->in[0]->type.dtype) : NULL, e);
}

/* ---- ONNX: several ---- */
/* The zero is added before the sum is rounded, and in ONNX Runtime's order: 1 + erf(x) lies between two integers for
 * all x. p = a_scale / scale, q = b_scale / scale: a p + (b q + zero - a_zero p - b_zero q) */
static bool adapt_add(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const node *in[2], *zero[3]; /* in broadcast to y, zero [] */
    if (!onnx_all(c, "11.11.1", e))
        return false;
    for (int i = 0; i < 3; i++) {
        zero[i] = onnx_in(c, i < 2 ? 3 * i + 2 : 7);
        zero[i] = zero[i] ? g_cast(g, one(g, zero[i]), TS_F32) : g_scalar(g, TS_F32, 0);
    }
    in[0] = g_cast(g, c->in[0], TS_F32), in[1] = g_cast(g, c->in[3], TS_F32);
    const node *p = g_call2(g, "divide", one(g, c->in[1]), one(g, c->in[6])),
               *q = g_call2(g, "divide", one(g, c->in[4]), one(g, c->in[6])); /* p, q, by: [] */
    const node *by = g_call2(g, "subtract", zero[2],
                             g_call2(g, "add", g_call2(g, "multiply", p, zero[0]), g_call2(g, "multiply", q, zero[1])));
    const node *y = g_call2(g, "add", g_call2(g, "multiply", in[0], p),
                            g_call2(g, "add", g_call2(g, "multiply", in[1], q), by));
    const dtype to = onnx_in(c, 7) ? c->in[7]->type.dtype : c->in[0]->type.dtype;
    return onnx_give(c, out, y ? quantize_to(g, y, g_scalar_like(g, y, 1), NULL, to) : NULL, e);
}

/* The integers' product, which is exact, times one factor. */
static bool adapt_multiply(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    if (!onnx_all(c, "11.11.1", e))
        return false;
    const node *product = g_call2(g, "multiply", quantize_centred(g, c->in[0], one(g, onnx_in(c, 2))),
                                  quantize_centred(g, c->in[3], one(g, onnx_in(c, 5)))); /* [...] */
    const node *factor = g_call2(g, "multiply", one(g, c->in[1]), one(g, c->in[4]));     /* [] */
    const node *y = product && factor ? g_call2(g, "multiply", g_cast(g, product, TS_F32), factor) : NULL;
    return onnx_give(c, out, y ? rounded(c, y, 6, c->in[0]->type.dtype) : NULL, e);
}

/* condition, x and y with scale and zero each, those of the result */
static bool adapt_where(const onnx_call *c, const node **out, err *e)
{
    return onnx_give(c, out,
                     rounded(c, g_call3(c->g, "where", c->in[0], real(c, 1), real(c, 4)), 7, c->in[1]->type.dtype), e);
}

/* Scale and zero of the result, then every part with its own. */
static bool adapt_concat(const onnx_call *c, const node **out, err *e)
{
    const int n = (c->n_in - 2) / 3;
    const node **part = arena_array(&c->g->mem, (size_t)(n > 0 ? n : 1), sizeof *part);
    if (n < 1 || (c->n_in - 2) % 3 || !onnx_need(c, c->n_in, e))
        return err_set(e, TS_BAD_INPUT, "QLinearConcat: %d operands, two and three for each part expected", c->n_in);
    for (int i = 0; i < n; i++)
        part[i] = real(c, 2 + 3 * i);
    return onnx_give(c, out, rounded(c, g_joined(c->g, n, part, onnx_int(c, "axis", 0)), 0, TS_U8), e);
}

/* ---- ONNX: products ---- */
/* The product of scales, a's by row or one, b's by column or one. */
static const node *factor(graph *g, const node *a, const node *a_scale, const node *b, const node *b_scale)
{
    return g_call2(g, "multiply", quantize_rows(g, a, a_scale, false), quantize_rows(g, b, b_scale, true));
}

/* sum, of integers, by a factor beside it, plus a bias that may be missing */
static const node *scaled(graph *g, const node *sum, const node *by, const node *bias)
{
    const node *y = sum && by ? g_call2(g, "multiply", g_cast(g, sum, by->type.dtype), by) : NULL;
    return bias && y ? g_call2(g, "add", y, bias) : y;
}

/* a and b as Gemm has them, each with scale and zero; c in 32 bits, of the product's scale; y's scale and zero: without
 * them the result is real. */
static bool adapt_gemm(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    if (!onnx_all(c, "11.11", e))
        return false;
    const node *a = c->in[0], *b = c->in[3], *more = onnx_in(c, 6); /* [m, k], [k, n], beside [m, n] */
    a = onnx_int(c, "transA", 0) ? g_swapped(g, a) : a, b = onnx_int(c, "transB", 0) ? g_swapped(g, b) : b;
    if (!a || !b)
        return onnx_give(c, out, NULL, e);
    const node *sum = quantize_product(g, a, onnx_in(c, 2), b, onnx_in(c, 5)); /* [m, n] */
    sum = more ? g_call2(g, "add", sum, more) : sum;
    const node *by = g_scaled(g, factor(g, a, c->in[1], b, c->in[4]), onnx_real(c, "alpha", 1)); /* beside [m, n] */
    const node *y = scaled(g, sum, by, NULL);                                                    /* [m, n] */
    return onnx_give(c, out, onnx_in(c, 7) && y ? rounded(c, y, 7, a->type.dtype) : y, e);
}

/* a, b, their scales, perhaps their zeros, perhaps a bias */
static bool adapt_to_float(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    /* [..., m, k], [..., k, n], [..., m, n] */
    const node *a = c->in[0], *b = c->in[1], *sum = quantize_product(g, a, onnx_in(c, 4), b, onnx_in(c, 5));
    return onnx_give(c, out, scaled(g, sum, factor(g, a, c->in[2], b, c->in[3]), onnx_in(c, 6)), e);
}

/* a, of reals, by the range it has; b, its scale, perhaps its zero, perhaps a bias */
static bool adapt_dynamic_matmul(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    /* [], [], [..., k, n], [..., m, k] */
    const node *scale, *zero, *b = c->in[1], *a = quantize_dynamic(g, c->in[0], &scale, &zero);
    if (!a)
        return onnx_give(c, out, NULL, e);
    const node *sum = quantize_product(g, a, zero, b, onnx_in(c, 3)); /* [..., m, n] */
    return onnx_give(c, out, scaled(g, sum, factor(g, a, scale, b, c->in[2]), onnx_in(c, 4)), e);
}

static bool adapt_integers(const onnx_call *c, const node **out, err *e)
{
    return onnx_give(c, out, quantize_product(c->g, c->in[0], NULL, c->in[1], NULL), e);
}

static bool adapt_multiply_integers(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    if (!onnx_all(c, "1.1", e))
        return false;
    return onnx_give(c, out,
                     g_call2(g, "multiply", quantize_centred(g, c->in[0], one(g, onnx_in(c, 1))),
                             quantize_centred(g, c->in[2], one(g, onnx_in(c, 3)))),
                     e);
}

static bool adapt_sum_integers(const onnx_call *c, const node **out, err *e)
{
    const dtype to = dtype_signed(c->in[0]->type.dtype) ? TS_I32 : TS_U32;
    const node *x = g_cast(c->g, c->in[0], to); /* [...] */
    return onnx_give(c, out, onnx_standard(c, &(onnx_inner){"ReduceSum", 11, 1, &x, 0, NULL, 0, NULL}), e);
}

/* w [direction, in, gates], scale and zero [direction] or [direction, gates] -> [direction, gates, in] of reals */
static const node *weights(graph *g, const node *w, const node *scale, const node *zero)
{
    const int64_t d = w->type.rank == 3 ? w->type.dim[0] : 0;
    const node **v[] = {&scale, &zero};
    if (w->type.rank != 3)
        return g_refuse(g, 1, &w, "weights [direction, in, gates]");
    for (int i = 0; i < 2; i++) {
        const type *t = &(*v[i])->type;
        *v[i] = g_reshape(g, *v[i], 3, (int64_t[]){d, 1, t->rank == 2 ? t->dim[1] : 1});
    }
    return g_transpose(g, scale && zero ? quantize_back(g, w, scale, zero) : NULL, 3, (int64_t[]){0, 2, 1});
}

/* LSTM whose weights are integers. ONNX Runtime rounds its input and state to 8 bits too, by the range of those rows
 * that it happens to take together; here they stay as they are. */
static bool adapt_lstm(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    if (!onnx_all(c, "111.....1111", e))
        return false;
    /* [direction, gates, in], [direction, gates, hidden] */
    const node *w = weights(g, c->in[1], c->in[8], c->in[9]), *r = weights(g, c->in[2], c->in[10], c->in[11]);
    const node *in[] = {c->in[0], w, r, c->in[3], c->in[4], c->in[5], c->in[6], c->in[7]}; /* x [time, batch, in] */
    int n = 8;
    while (n > 3 && !in[n - 1])
        n--;
    const onnx_inner inner = {"LSTM", 7, n, in, 0, NULL, c->n_out, out};
    const node *y = w && r ? onnx_standard(c, &inner) : NULL;
    return y || onnx_give(c, &y, NULL, e);
}

/* ---- records ---- */
const op ops_qlinear[] = {
    {.call = "qlinear",
     .doc = "Operators over integers that stand for reals, as other operations.",
     .adapted = ADAPTED(
         {"com.microsoft.QLinearAdd 1 IfIIfIfI 0..8", adapt_add},
         {"com.microsoft.QLinearMul 1 IfIIfIfI 0..8", adapt_multiply},
         {"com.microsoft.QLinearSigmoid 1 IfIfI 0..5", adapt_unary},
         {"com.microsoft.QLinearLeakyRelu 1 IfIfI 0..5 alpha", adapt_unary},
         {"com.microsoft.QLinearSoftmax 1 IfIfI 0..5 axis opset", adapt_unary},
         {"com.microsoft.QLinearReduceMean 1 IfIfI 0..5 axes keepdims", adapt_unary},
         {"com.microsoft.QLinearGlobalAveragePool 1 IfIfI 5 channels_last", adapt_unary},
         {"com.microsoft.QLinearAveragePool 1 IfIfI 0..5 auto_pad ceil_mode channels_last count_include_pad "
          "kernel_shape pads strides",
          adapt_unary},
         {"com.microsoft.QLinearConcat 1 fi. 5.. axis", adapt_concat},
         {"com.microsoft.QLinearWhere 1 bIfIIfIfI 9", adapt_where},
         {"com.microsoft.QGemm 1 ifiifiifi 0..9 alpha transA transB", adapt_gemm},
         {"com.microsoft.MatMulIntegerToFloat 1 iiffiif 4..7", adapt_to_float},
         {"com.microsoft.DynamicQuantizeMatMul 1 fifif 3..5", adapt_dynamic_matmul},
         {"com.microsoft.MatMulInteger16 1 I 2", adapt_integers},
         {"com.microsoft.MulInteger 1 I 0..4", adapt_multiply_integers},
         {"com.microsoft.ReduceSumInteger 1 i 1 axes keepdims", adapt_sum_integers},
         {"com.microsoft.DynamicQuantizeLSTM 1 fiifiFffFiFi 0..12 >3 activation_alpha activation_beta activations clip "
          "direction hidden_size input_forget",
          adapt_lstm}),
     .onnx_cases = "com.microsoft.QLinearAdd u8[2,3]* f32[] u8[] u8[3] f32[] u8[] f32[] u8[]\n"
                   "com.microsoft.QLinearMul u8[2,3]* f32[] u8[] u8[3] f32[] u8[] f32[] u8[]\n"
                   "com.microsoft.QLinearSigmoid u8[2,3]* f32[] u8[] f32[] u8[]\n"
                   "com.microsoft.QLinearLeakyRelu u8[2,3]* f32[] u8[] f32[] u8[]\n"
                   "com.microsoft.QLinearSoftmax u8[2,3]* f32[] u8[] f32[] u8[]\n"
                   "com.microsoft.QLinearReduceMean u8[2,3]* f32[] u8[] f32[] u8[] axes=[1]\n"
                   "com.microsoft.QLinearGlobalAveragePool u8[1,2,3,3]* f32[] u8[] f32[] u8[]\n"
                   "com.microsoft.QLinearAveragePool u8[1,2,3,3]* f32[] u8[] f32[] u8[] kernel_shape=[2,2]\n"
                   "com.microsoft.QLinearConcat f32[] u8[] u8[2,3]* f32[] u8[]\n"
                   "com.microsoft.QLinearWhere bool[2,3] u8[2,3]* f32[] u8[] u8[2,3] f32[] u8[] f32[] u8[]\n"
                   "com.microsoft.QGemm u8[2,3]* f32[] u8[] u8[3,4] f32[] u8[]\n"
                   "com.microsoft.MatMulIntegerToFloat u8[2,3]* u8[3,4] f32[] f32[]\n"
                   "com.microsoft.DynamicQuantizeMatMul f32[2,3]* u8[3,4] f32[]\n"
                   "com.microsoft.MatMulInteger16 i16[2,3] i16[3,4]\n"
                   "com.microsoft.MulInteger u8[2,3] - u8[2,3]\n"
                   "com.microsoft.ReduceSumInteger u8[2,3] axes=[1]\n"
                   "com.microsoft.DynamicQuantizeLSTM f32[3,2,4]* i8[1,4,20] i8[1,5,20] - - - - - f32[1] i8[1] f32[1] "
                   "i8[1] hidden_size=5"},
    {0},
};
