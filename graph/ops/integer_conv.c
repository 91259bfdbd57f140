/* integer_conv.c - convolutions of integers that stand for reals: where channels are many, sums of products of 8-bit
 * numbers, exactly, in 32 bits; else convolutions of reals, which have room for the sums of a few. */
#include "graph/ops/fused.h"
#include "graph/ops/quantize.h"
#include "graph/ops/window.h"

#include <string.h>

/* Channels that are many; bytes of what zeros come to beside one weight. */
enum { LEAST_CHANNELS = 16, MOST_APART = 16 << 20 };

/* ---- helpers ---- */
/* A number for each output channel, v [out]: [out, 1, ...] beside the weight w [out, in, space...], or [out, 1, ...]
 * with an axis less, beside the result [batch, out, space...]; one number becomes []. */
static const node *of_outputs(graph *g, const node *w, const node *v, bool weight)
{
    if (!v || type_count(&v->type) == 1)
        return v ? g_reshape(g, v, 0, NULL) : NULL;
    return g_along(g, v, weight ? w->type.rank : w->type.rank - 1, 0);
}

/* What a zero of 1 in x adds: for each channel the sum of its weights, [out, 1, 1], or, where padding leaves some out,
 * for each pixel, [1, out, space...]. */
static const node *of_one(graph *g, const node *x, const node *w, int n_attr, const attr *list)
{
    static const int64_t inputs = 1, rest[] = {2, 3};
    const node *sum = g_cast(g, g_over(g, "sum", g_cast(g, w, TS_I32), 1, &inputs), TS_I32); /* [out, 1, space...] */
    bool pads = false;
    for (int i = 0; i < n_attr; i++)
        for (int k = 0; !strcmp(list[i].name, "pads") && k < list[i].n; k++)
            pads = pads || list[i].ints[k];
    if (!pads || !sum)
        return sum ? g_reshape(g, g_over(g, "sum", sum, 2, rest), 3, (int64_t[]){w->type.dim[0], 1, 1}) : NULL;
    const int64_t image[] = {1, 1, x->type.dim[2], x->type.dim[3]};
    const node *ones = g_broadcast(g, g_scalar(g, TS_I32, 1), 4, image);
    return g_apply_n(g, "conv2d", NODES(ones, sum), n_attr, list);
}

/* The convolution of x [batch, in, h, w] less zx [] by the weight w [out, in, h, w], known, less zw: [batch, out, h, w]
 * in 32 bits, exactly. Padding is no element at all, so it adds nothing to what is taken off for zx. NULL: channels
 * are few, or zeros come to too much, or g has the error. */
static const node *product(graph *g, const quantized *x, const quantized *w, int n_attr, const attr *list, dtype left)
{
    const node *zx = x->zero, *zw = w->zero, *a = x->x, *b = w->x;
    if (a->type.rank != 4 || b->type.rank != 4 || b->type.dim[1] != a->type.dim[1] || b->type.dim[1] < LEAST_CHANNELS ||
        b->type.dim[1] % 4 || !quantize_known(b))
        return NULL;
    a = quantize_signed(g, a, &zx, TS_U8), b = quantize_signed(g, b, &zw, TS_I8);
    if (!a || !b || zw)
        return NULL;
    b = b->leaf ? b : g_known(g, b, "");
    const node *off = zx ? of_one(g, a, b, n_attr, list) : NULL;
    if (zx && (!off || type_bytes(&off->type) > MOST_APART))
        return NULL;
    const node *sum = g_apply_n(g, "integer_conv2d", NODES(g_cast(g, a, left), b), n_attr, list);
    off = off ? g_call2(g, "multiply", g_reshape(g, zx, 0, NULL), g_known(g, off, "")) : NULL;
    return off ? g_call2(g, "subtract", sum, off) : sum;
}

/* ---- ONNX ---- */
static bool attributes(const onnx_call *c, attr list[4], err *e)
{
    const type *x = &c->in[0]->type, *w = &c->in[!strcmp(c->type, "ConvInteger") ? 1 : 3]->type;
    if (x->rank != w->rank)
        return err_set(e, TS_BAD_INPUT, "%s: ranks %d and %d differ, equal ones expected", c->type, x->rank, w->rank);
    list[3] = attr_int("group", onnx_int(c, "group", 1));
    return window_adapt(c, w->dim + 2, list, e);
}

/* Whether all sums of products of 9 bits (zeros taken off) are exact in reals of 24 bits */
static bool fits_reals(const type *w)
{
    int64_t count = 1;
    for (int i = 1; i < w->rank && count <= 1 << 24; i++)
        count *= w->dim[i];
    return count <= (1 << 24) / (255 * 255);
}

static bool adapt_conv_integer(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    attr list[4];
    quantized x = {.x = c->in[0], .zero = of_outputs(g, c->in[0], onnx_in(c, 2), true)}, /* [batch, in, space...] */
        w = {.x = c->in[1], .zero = of_outputs(g, c->in[1], onnx_in(c, 3), true)}; /* [out, in / group, space...] */
    if (!attributes(c, list, e))
        return false;
    const node *y = product(g, &x, &w, COUNT(list), list, TS_U8); /* [batch, out, space...] */
    if (!y && !err_is(&g->err)) {
        const dtype to = fits_reals(&w.x->type) ? TS_F32 : TS_I32;
        const node *in[] = {g_cast(g, quantize_centred(g, x.x, x.zero), to),
                            g_cast(g, quantize_centred(g, w.x, w.zero), to)};
        in[1] = in[1] && quantize_known(in[1]) ? g_known(g, in[1], "") : in[1];
        y = g_cast(g, in[1] ? g_make(g, op_find("conv"), 2, in, list, COUNT(list)) : NULL, TS_I32);
    }
    return onnx_give(c, out, y, e);
}

/* Operands: x [batch, in, space...], its scale and zero [], the same of w [out, in / group, space...], by out, of y;
 * perhaps a bias [out]. With channels_last x and y are [batch, space..., channel]. The sum is one of whole numbers, as
 * reals, so scales come behind it. */
static bool adapt_qlinear_conv(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    attr list[4];
    const bool last = onnx_int(c, "channels_last", 0);
    const node *x = last ? fused_channels(g, c->in[0], false) : c->in[0], *w = c->in[3], *one = g_scalar(g, TS_F32, 1);
    onnx_call turned = *c;
    const node *in[9];
    for (int i = 0; i < c->n_in && i < COUNT(in); i++)
        in[i] = i ? c->in[i] : x;
    turned.in = in;
    if (!x || !attributes(&turned, list, e))
        return x ? false : onnx_give(c, out, NULL, e);
    const node *of[] = {quantize_back(g, x, one, g_reshape(g, c->in[2], 0, NULL)),
                        quantize_back(g, w, one, of_outputs(g, w, c->in[5], true))};
    of[1] = of[1] && quantize_known(of[1]) ? g_known(g, of[1], "") : of[1];
    /* [batch, out, space...] */
    const node *sum = of[1] ? g_make(g, op_find("conv"), 2, of, list, COUNT(list)) : NULL;
    if (onnx_in(c, 8)) {
        const node *bias = g_cast(g, of_outputs(g, w, c->in[8], false), TS_F32);
        sum = g_call2(g, "add", sum, bias && quantize_known(bias) ? g_known(g, bias, "") : bias);
    }
    const node *x_scale = g_reshape(g, c->in[1], 0, NULL), *w_scale = of_outputs(g, w, c->in[4], false);
    const node *y = quantize_rescaled(g, sum, x_scale, w_scale, c->in[6], c->in[7]);
    return onnx_give(c, out, last ? fused_channels(g, y, true) : y, e);
}

/* ---- shape ---- */
static bool integer_conv_shape(const node *n, type *out, err *e)
{
    return both_small(n, e) && conv_shape(n, out, e) && (out->dtype = TS_I32, true);
}

/* ---- passes ---- */
static const node *integer_conv_of(graph *g, const node *n, dtype a)
{
    if (dtype_bits(n->in[0]->type.dtype) >= dtype_bits(a) || n->in[1]->type.dtype != TS_I8)
        return NULL;
    return g_make(g, n->op, NODES(g_cast(g, n->in[0], a), n->in[1]), n->attr, N_CONV_ATTRIBUTES);
}

/* Pairs of 16 bits give as many products at once as reals do, and Winograd needs fewer products of reals. */
const node *quantized_conv(graph *g, const node *n, dtype a)
{
    quantized x, w;
    if (a != TS_U8 || n->type.dtype != TS_F32 || !quantize_stands(g, n->in[0], &x) ||
        !quantize_stands(g, n->in[1], &w) || type_count(&x.scale->type) != 1 || type_count(&x.zero->type) != 1)
        return NULL;
    const int64_t scales = type_count(&w.scale->type);
    if (scales != 1 && (w.scale->type.rank != 4 || scales != w.scale->type.dim[0]))
        return NULL;
    const node *sum = product(g, &x, &w, N_CONV_ATTRIBUTES, n->attr, a);
    const node *by = scales == 1 ? g_reshape(g, w.scale, 0, NULL) : g_reshape(g, w.scale, 3, (int64_t[]){scales, 1, 1});
    by = sum ? g_call2(g, "multiply", g_reshape(g, x.scale, 0, NULL), by) : NULL;
    by = by && scales > 1 && quantize_known(by) ? g_known(g, by, "") : by;
    return by ? g_call2(g, "multiply", g_cast(g, sum, TS_F32), by) : NULL;
}

/* ---- records ---- */
const op ops_integer_conv[] = {
    BODY(
        "integer_conv2d a b " CONV_ATTRIBUTES " -> n oc oh ow | ic kh kw", conv_body,
        "conv(a.astype(np.int32), b.astype(np.int32), strides, dilations, pads, group)", NULL,
        "u8[1,16,5,6] i8[7,16,3,3] pads=[1,1,1,1]\nu8[2,16,7,7] i8[4,16,1,1] strides=[2,2]\n"
        "i16[1,20,9,8] i8[33,20,3,2] dilations=[2,3] pads=[0,1,2,3]\ni8[1,6,4,4] i8[6,1,3,3] group=6\n"
        "u8[1,0,3,3] i8[2,0,2,2]",
        "Convolution of integers of at most 16 bits over two axes, as conv2d has it, summed in 32 bits.",
        .adapted = ADAPTED(
            {"ConvInteger 10 IiIi 2..4 auto_pad dilations group kernel_shape pads strides", adapt_conv_integer},
            {"QLinearConv 10 IfIififi 8..9 auto_pad dilations group kernel_shape pads strides", adapt_qlinear_conv},
            {"com.microsoft.QLinearConv 1 IfIififi 8..9 auto_pad channels_last dilations group kernel_shape pads "
             "strides",
             adapt_qlinear_conv}),
        .onnx_cases = "ConvInteger u8[1,1,4,4] u8[1,1,3,3]\nQLinearConv u8[1,1,4,4]* f32[] u8[] u8[1,1,3,3] f32[] u8[] "
                      "f32[] u8[]\ncom.microsoft.QLinearConv u8[1,1,4,4]* f32[] u8[] u8[1,1,3,3] f32[] u8[] f32[] u8[]",
        .shape = integer_conv_shape, .in_dots = integer_conv_of),
    {0},
};
