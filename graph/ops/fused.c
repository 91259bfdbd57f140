/* fused.c - what the optimizers of ONNX Runtime make of several operators (com.microsoft), as the operations that it
 * was before: what is computed says what they become, not names. */
#include "graph/ops/fused.h"
#include "graph/ops/quantize.h"

#include <string.h>

/* ---- helpers ---- */
static const node *plus(graph *g, const node *a, const node *b)
{
    return b ? g_call2(g, "add", a, b) : a;
}

const node *fused_channels(graph *g, const node *x, bool back)
{
    int64_t axes[MAX_RANK];
    if (!x || x->type.rank < 3)
        return x ? g_refuse(g, 1, &x, "[batch, space..., channel] of at least 3 axes") : NULL;
    const int rank = x->type.rank;
    for (int i = 1; i < rank; i++)
        axes[i] = back ? (i + 1 < rank ? i + 1 : 1) : (i > 1 ? i - 1 : rank - 1);
    axes[0] = 0;
    return g_transpose(g, x, rank, axes);
}

/* y through the operator that attribute `activation` names, with numbers alpha, beta and gamma where they are given. */
static const node *activated(const onnx_call *c, const node *y)
{
    const char *kind = onnx_word(c, "activation", "");
    const attr *numbers = onnx_attr(c, "activation_params");
    static const char *const name[] = {"alpha", "beta", "gamma"}, *const own[] = {"activation_alpha", "activation_beta",
                                                                                  "activation_gamma"};
    attr more[3];
    int n = 0;
    for (int i = 0; i < 3; i++)
        if (numbers && numbers->kind == 'F' && i < numbers->n)
            more[n++] = attr_real(name[i], numbers->reals[i]);
        else if (onnx_attr(c, own[i]))
            more[n++] = attr_real(name[i], onnx_real(c, own[i], 0));
    if (!*kind || !y)
        return y;
    const node *in[] = {y, n > 0 ? g_scalar_like(c->g, y, more[0].f) : NULL,
                        n > 1 ? g_scalar_like(c->g, y, more[1].f) : NULL}; /* y [...], numbers [] */
    const bool clip = !strcmp(kind, "Clip");                               /* whose numbers are operands */
    onnx_call bare = *c;
    bare.n_attr = 0;
    const node *z = onnx_standard(&bare, &(onnx_inner){kind, 22, clip ? 3 : 1, in, n, more, 0, NULL});
    if (z && !type_equal(&z->type, &y->type))
        return g_fail(c->g, TS_BAD_INPUT, "activation: \"%.40s\" gives another type than it takes", kind);
    return z;
}

/* ---- ONNX: products ---- */
/* Axis 0 behind the other batches, [m, ..., k] -> [..., m, k]; then the last two change places. */
static const node *turned(graph *g, const node *x, bool batch, bool last)
{
    int64_t axes[MAX_RANK];
    const int rank = x->type.rank;
    if (rank < 2)
        return x;
    for (int i = 0; i < rank; i++)
        axes[i] = !batch || i == rank - 1 ? i : i == rank - 2 ? 0 : i + 1;
    x = batch ? g_transpose(g, x, rank, axes) : x;
    return last ? g_swapped(g, x) : x;
}

static bool adapt_matmul(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const node *a = turned(g, c->in[0], onnx_int(c, "transBatchA", 0), onnx_int(c, "transA", 0)),
               *b = turned(g, c->in[1], onnx_int(c, "transBatchB", 0),
                           onnx_int(c, "transB", 0)); /* a [..., m, k], b [..., k, n] */
    const node *y = g_scaled(g, g_call2(g, "matmul", a, b), onnx_real(c, "alpha", 1)); /* [..., m, n] */
    return onnx_give(c, out, activated(c, y), e);
}

static bool adapt_gemm(const onnx_call *c, const node **out, err *e)
{
    /* [m, n] */
    const node *y = onnx_standard(c, &(onnx_inner){.type = "Gemm", .version = 13, .n_in = c->n_in, .in = c->in});
    return onnx_give(c, out, activated(c, y), e);
}

/* ---- ONNX: convolutions ---- */
/* x [batch, in, space...], w [out, in / group, space...], perhaps a bias [out] and what is added to the result */
static const node *convolved(const onnx_call *c, const node *x, const node *w, const node *more)
{
    const node *in[] = {x, w, onnx_in(c, 2)}; /* [batch, in, space...], [out, in / group, space...], [out] */
    /* [batch, out, space...] */
    const node *y = onnx_standard(c, &(onnx_inner){.type = "Conv", .version = 11, .n_in = in[2] ? 3 : 2, .in = in});
    return activated(c, plus(c->g, y, more));
}

static bool adapt_conv(const onnx_call *c, const node **out, err *e)
{
    return onnx_give(c, out, convolved(c, c->in[0], c->in[1], onnx_in(c, 3)), e);
}

/* The same for [batch, space..., channel]. Weights are [out, in / group, space...] or, as some providers keep them,
 * [out, space..., in / group]; the number of channels tells which. */
static bool adapt_conv_last(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    /* x and more [batch, channel, space...] */
    const node *x = fused_channels(g, c->in[0], false), *w = c->in[1], *more = onnx_in(c, 3);
    const int64_t groups = onnx_int(c, "group", 1);
    if (x && groups > 0 && w->type.rank == x->type.rank && w->type.dim[1] != x->type.dim[1] / groups)
        w = fused_channels(g, w, false);
    const node *y = convolved(c, x, w, more ? fused_channels(g, more, false) : NULL); /* [batch, out, space...] */
    return onnx_give(c, out, fused_channels(g, y, true), e);
}

static bool adapt_max_pool_last(const onnx_call *c, const node **out, err *e)
{
    const node *x = fused_channels(c->g, c->in[0], false); /* [batch, channel, space...] */
    const node *y = onnx_standard(c, &(onnx_inner){.type = "MaxPool", .version = 12, .n_in = 1, .in = &x});
    return onnx_give(c, out, fused_channels(c->g, y, true), e);
}

/* Operand 2 has the pads, the bias comes behind. */
static bool adapt_conv_transpose(const onnx_call *c, const node **out, err *e)
{
    int64_t pads[2 * MAX_RANK];
    int n = 0;
    if (onnx_in(c, 2) && !onnx_ints(c, "", 2, pads, COUNT(pads), &n, e))
        return false;
    const node *in[] = {c->in[0], c->in[1], onnx_in(c, 3)}; /* as of convolved, but w [in, out / group, space...] */
    const attr more = attr_ints("pads", n, pads);
    const onnx_inner inner = {"ConvTranspose", 11, in[2] ? 3 : 2, in, n > 0, &more, 0, NULL};
    return onnx_give(c, out, onnx_standard(c, &inner), e);
}

/* ---- ONNX: activations ---- */
static bool adapt_bias_gelu(const onnx_call *c, const node **out, err *e)
{
    const node *x = plus(c->g, c->in[0], onnx_in(c, 1)); /* [..., width] */
    return onnx_give(c, out, g_call1(c->g, strcmp(c->type, "FastGelu") ? "gelu" : "gelu approximate=tanh", x), e);
}

/* One half of x plus the bias, times gelu of the other half. */
static bool adapt_split_gelu(const onnx_call *c, const node **out, err *e)
{
    const node *x = plus(c->g, c->in[0], c->in[1]); /* [..., 2 width] */
    const node *half = g_callf(c->g, 1, &x, "split axis=-1 parts=2 part=0"),
               *gate = g_callf(c->g, 1, &x, "split axis=-1 parts=2 part=1");
    return onnx_give(c, out, g_call2(c->g, "multiply", half, g_call1(c->g, "gelu", gate)), e);
}

static bool adapt_bias_add(const onnx_call *c, const node **out, err *e)
{
    return onnx_give(c, out, plus(c->g, plus(c->g, c->in[0], c->in[1]), c->in[2]), e);
}

/* Over the axes from `axis` on as one. */
static bool adapt_bias_softmax(const onnx_call *c, const node **out, err *e)
{
    const node *x = plus(c->g, c->in[0], c->in[1]);
    return onnx_give(c, out, onnx_standard(c, &(onnx_inner){"Softmax", 11, 1, &x, 0, NULL, 0, NULL}), e);
}

/* ---- ONNX: normalisations ---- */
/* x + skip + bias, then the normalisation; that sum is the last output. Halves are summed and normalised as f32. */
static bool adapt_skip_norm(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const bool simple = strstr(c->type, "Simplified") != NULL;
    /* x [..., width], scale and bias [width]; mean and inverse deviation [..., 1] */
    const node *in[3] = {c->in[0], c->in[2], simple ? NULL : onnx_in(c, 3)}, *more[3] = {0};
    const attr epsilon = attr_real("epsilon", onnx_real(c, "epsilon", 1e-12));
    const dtype d = in[0]->type.dtype;
    const node *sum = plus(g, g_call2(g, "add", g_widened(g, in[0]), g_widened(g, c->in[1])),
                           onnx_in(c, simple ? 3 : 4) ? g_widened(g, c->in[simple ? 3 : 4]) : NULL);
    in[0] = sum, in[1] = g_widened(g, in[1]), in[2] = in[2] ? g_widened(g, in[2]) : NULL;
    const node *y = onnx_standard(c, &(onnx_inner){simple ? "SimplifiedLayerNormalization" : "LayerNormalization", 17,
                                                   in[2] ? 3 : 2, in, 1, &epsilon, simple ? 1 : 3, more});
    if (!onnx_give(c, out, y ? g_cast(g, y, d) : NULL, e))
        return false;
    for (int i = 1; i < 3 && i < c->n_out; i++)
        out[i] = more[i]; /* mean and inverse deviation; used ones that are missing are told by who reads the file */
    return c->n_out < 4 || onnx_give(c, out + 3, g_cast(g, sum, d), e);
}

static const node *rows(graph *g, const node *table, const node *at)
{
    return table && at ? g_call2(g, "gather", table, at) : NULL;
}

/* ids [batch, time]: a row of each table, added and normalised; how many of the mask are 1; the sum. */
static bool adapt_embed_norm(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    if (!onnx_all(c, "1.11.11", e))
        return false;
    const node *ids = c->in[0], *at = onnx_in(c, 8), *mask = onnx_in(c, 7); /* [batch, time]; at: or [time] */
    if (ids->type.rank != 2 || !onnx_in(c, 1) != !onnx_in(c, 4))
        return operands_refuse(1, c->in, e, "ids [batch, time], and segments with their table or neither");
    at = at ? at : g_count(g, ids->type.dim[1], TS_I64);
    const node *sum = plus(g, rows(g, c->in[2], ids), rows(g, c->in[3], at)); /* [batch, time, width] */
    sum = plus(g, sum, rows(g, onnx_in(c, 4), onnx_in(c, 1)));
    const node *in[] = {sum, c->in[5], c->in[6]}; /* [batch, time, width], [width], [width] */
    const attr epsilon = attr_real("epsilon", onnx_real(c, "epsilon", 1e-12));
    const node *y = onnx_standard(c, &(onnx_inner){"LayerNormalization", 17, 3, in, 1, &epsilon, 0, NULL});
    if (!onnx_give(c, out, y, e) || (c->n_out > 2 && !onnx_give(c, out + 2, sum, e)))
        return false;
    if (c->n_out < 2)
        return true;
    const node *one = mask ? g_call2(g, "equal", mask, g_scalar_like(g, mask, 1)) : NULL; /* [batch, time] */
    const node *count = one ? g_cast(g, g_call1(g, "sum axes=[1]", one), TS_I32)
                            : g_filled(g, &(type){.dtype = TS_I32, .rank = 1, .dim = {ids->type.dim[0]}}, 0);
    return onnx_give(c, out + 1, count, e);
}

/* The same of tables, scale and bias as integers, whose scales and zeros come behind the mask. */
static bool adapt_integer_embed(const onnx_call *c, const node **out, err *e)
{
    const node *in[8];
    for (int i = 0; i < COUNT(in); i++) {
        const bool real = i >= 2 && i < 7 && onnx_in(c, i);
        in[i] = onnx_in(c, i);
        if (real && (!onnx_in(c, i + 6) || !onnx_in(c, i + 11)))
            return err_set(e, TS_BAD_INPUT, "%s: operand %d has no scale or no zero", c->type, i + 1);
        if (real)
            in[i] = quantize_back(c->g, in[i], g_reshape(c->g, c->in[i + 6], 0, NULL),
                                  g_reshape(c->g, c->in[i + 11], 0, NULL));
    }
    onnx_call own = *c;
    own.n_in = 8, own.in = in;
    return adapt_embed_norm(&own, out, e);
}

/* v [channel] or [batch, channel] beside x [batch, space..., channel] */
static const node *beside_space(graph *g, const node *x, const node *v)
{
    int64_t shape[MAX_RANK];
    if (!v || v->type.rank != 2 || x->type.rank < 3)
        return v;
    for (int i = 0; i < x->type.rank; i++)
        shape[i] = i == 0 ? v->type.dim[0] : i == x->type.rank - 1 ? v->type.dim[1] : 1;
    return g_reshape(g, v, x->type.rank, shape);
}

/* x [batch, space..., channel] unless channels_last is 0; then perhaps x * sigmoid(x). With skip: the sum of both and
 * of the bias is normalised, and the second output. */
static bool adapt_group_norm(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const bool last = onnx_int(c, "channels_last", 1);
    const node *x = c->in[0], *skip = onnx_in(c, 3), *bias = onnx_in(c, 4), *in[3];
    if (!last && (skip || bias))
        return err_set(e, TS_UNSUPPORTED, "channels_last=0 beside a skip, 1 expected");
    x = plus(g, plus(g, g_widened(g, x), skip ? beside_space(g, x, g_widened(g, skip)) : NULL), bias);
    in[0] = last ? fused_channels(g, x, false) : x;
    in[1] = g_widened(g, c->in[1]), in[2] = g_widened(g, c->in[2]); /* [batch, channel, space...], [channel] */
    const attr more[] = {attr_int("num_groups", onnx_int(c, "groups", 0)),
                         attr_real("epsilon", onnx_real(c, "epsilon", 1e-5))};
    const node *y = onnx_standard(c, &(onnx_inner){"GroupNormalization", 21, 3, in, COUNT(more), more, 0, NULL});
    y = onnx_int(c, "activation", 0) ? g_call1(g, "silu", y) : y;
    y = last ? fused_channels(g, y, true) : y;
    const dtype d = c->in[0]->type.dtype;
    return onnx_give(c, out, g_cast(g, y, d), e) && (c->n_out < 2 || onnx_give(c, out + 1, g_cast(g, x, d), e));
}

/* ---- ONNX: older copies of what the standard has now ---- */
static const struct {
    const char *type;
    int version;
} copies[] = {{"Trilu", 14}, {"Pad", 13}, {"GridSample", 16}, {"Range", 11}, {"GatherND", 13}};

static bool adapt_copy(const onnx_call *c, const node **out, err *e)
{
    int i = 0;
    while (i + 1 < COUNT(copies) && strcmp(copies[i].type, c->type))
        i++;
    const onnx_inner inner = {copies[i].type, copies[i].version, c->n_in, c->in, 0, NULL, 0, NULL};
    return onnx_give(c, out, onnx_standard(c, &inner), e);
}

static bool adapt_expand(const onnx_call *c, const node **out, err *e)
{
    int64_t axis;
    int n;
    if (!onnx_ints(c, "", 1, &axis, 1, &n, e))
        return false;
    return onnx_give(c, out, g_callf(c->g, 1, c->in, "expand_dims axes=[%lld]", (long long)(n ? axis : 0)), e);
}

/* Values in the order in which they come first, the place of each among them, and how many there are of each. */
static bool adapt_unique(const onnx_call *c, const node **out, err *e)
{
    const node *y[4];
    const attr more = attr_int("sorted", 0);
    return onnx_standard(c, &(onnx_inner){"Unique", 11, 1, c->in, 1, &more, 4, y}) &&
           onnx_give_all(c, out, NODES(y[0], y[2], y[3]), e);
}

/* ---- records ---- */
#define CONV "auto_pad dilations group kernel_shape pads strides"
const op ops_fused[] = {
    {.call = "fused",
     .doc = "Operators of com.microsoft that optimizers make of several, or that the standard has now.",
     .adapted = ADAPTED(
         {"com.microsoft.FusedMatMul 1 F 2 alpha transA transB transBatchA transBatchB", adapt_matmul},
         {"com.microsoft.TransposeMatMul 1 F 2 alpha transA transB", adapt_matmul},
         {"com.microsoft.FusedMatMulActivation 1 F 2 activation activation_alpha activation_axis activation_beta "
          "activation_gamma alpha transA transB transBatchA transBatchB",
          adapt_matmul},
         {"com.microsoft.FusedGemm 1 F 2..3 activation activation_alpha activation_beta activation_gamma alpha beta "
          "transA transB",
          adapt_gemm},
         {"com.microsoft.FusedConv 1 F 2..4 activation activation_params " CONV, adapt_conv},
         {"com.microsoft.NhwcFusedConv 1 F 2..4 activation activation_params " CONV, adapt_conv_last},
         {"com.microsoft.NhwcConv 1 F 2..3 " CONV, adapt_conv_last},
         {"com.microsoft.NhwcMaxPool 1 n 1 auto_pad ceil_mode dilations kernel_shape pads strides",
          adapt_max_pool_last},
         {"com.microsoft.ConvTransposeWithDynamicPads 1 FFiF 2..4 auto_pad dilations group kernel_shape output_padding "
          "strides",
          adapt_conv_transpose},
         {"com.microsoft.Trilu 1 - 1..2 upper", adapt_copy}, {"com.microsoft.Pad 1 - 2..3 mode", adapt_copy},
         {"com.microsoft.GridSample 1 f 2 align_corners mode padding_mode", adapt_copy},
         {"com.microsoft.Range 1 N 2..3", adapt_copy}, {"com.microsoft.GatherND 1 .i 2", adapt_copy},
         {"com.microsoft.ExpandDims 1 .i 2", adapt_expand}, {"com.microsoft.Unique 1 - 1 >3", adapt_unique},
         {"com.microsoft.BiasGelu 1 F 2", adapt_bias_gelu}, {"com.microsoft.FastGelu 1 F 1..2", adapt_bias_gelu},
         {"com.microsoft.BiasSplitGelu 1 F 2", adapt_split_gelu}, {"com.microsoft.BiasAdd 1 F 3", adapt_bias_add},
         {"com.microsoft.BiasSoftmax 1 F 2 axis is_inner_broadcast", adapt_bias_softmax},
         {"com.microsoft.SkipLayerNormalization 1 F 3..5 >4 epsilon", adapt_skip_norm},
         {"com.microsoft.SkipSimplifiedLayerNormalization 1 F 3..4 >4 epsilon", adapt_skip_norm},
         {"com.microsoft.EmbedLayerNormalization 1 iiFFFFFii 0..9 >3 epsilon mask_index_type", adapt_embed_norm},
         {"com.microsoft.QEmbedLayerNormalization 1 iiiiiiiifffffi 0..18 >2 epsilon", adapt_integer_embed},
         {"com.microsoft.GroupNorm 1 f 3 activation channels_last epsilon groups", adapt_group_norm},
         {"com.microsoft.SkipGroupNorm 1 f 4..5 >2 activation channels_last epsilon groups", adapt_group_norm}),
     .onnx_cases =
         "com.microsoft.FusedMatMul f32[2,3] f32[3,4]\n"
         "com.microsoft.TransposeMatMul f32[2,3] f32[3,4]\n"
         "com.microsoft.FusedMatMulActivation f32[2,3] f32[3,4] activation=Relu\n"
         "com.microsoft.FusedGemm f32[2,3] f32[3,4] f32[4] activation=Relu\n"
         "com.microsoft.FusedConv f32[1,2,5,5] f32[3,2,3,3] f32[3] activation=Relu\n"
         "com.microsoft.NhwcFusedConv f32[1,5,5,2] f32[3,2,3,3] f32[3] activation=Relu\n"
         "com.microsoft.NhwcConv f32[1,5,5,2] f32[3,2,3,3]\n"
         "com.microsoft.NhwcMaxPool f32[1,5,5,2] kernel_shape=[2,2]\n"
         "com.microsoft.ConvTransposeWithDynamicPads f32[1,2,5,5] f32[2,3,3,3] i64[4]=0\n"
         "com.microsoft.BiasGelu f32[2,3] f32[3]\n"
         "com.microsoft.FastGelu f32[2,3]\n"
         "com.microsoft.BiasSplitGelu f32[2,3,4] f32[4]\n"
         "com.microsoft.QEmbedLayerNormalization i32[2,3]<5 - u8[5,4] u8[6,4] - u8[4] u8[4] - f32[]* f32[] - f32[] "
         "f32[] u8[] u8[] - u8[] u8[]\n"
         "com.microsoft.Trilu f32[2,3]\ncom.microsoft.Pad f32[2,3] i64[4]=1\ncom.microsoft.Range f32[]=1 f32[]=4 "
         "f32[]=2\ncom.microsoft.GridSample f32[1,1,4,4] f32[1,2,2,2]\ncom.microsoft.GatherND f32[2,3] i64[4,2]<2\n"
         "com.microsoft.ExpandDims f32[2,3] i32[]=1\ncom.microsoft.Unique f32[3]=1\n"
         "com.microsoft.BiasAdd f32[2,3,4] f32[4] f32[2,3,4]\n"
         "com.microsoft.BiasSoftmax f32[2,3,4] f32[4] axis=2\n"
         "com.microsoft.SkipLayerNormalization f32[2,3,4] f32[2,3,4] f32[4]\n"
         "com.microsoft.SkipSimplifiedLayerNormalization f32[2,3,4] f32[2,3,4] f32[4]\n"
         "com.microsoft.EmbedLayerNormalization i32[2,3]<5 - f32[5,4] f32[6,4] - f32[4] f32[4]\n"
         "com.microsoft.GroupNorm f32[2,3,3,4] f32[4] f32[4] groups=2\n"
         "com.microsoft.SkipGroupNorm f32[2,3,3,4] f32[4] f32[4] f32[2,3,3,4] groups=2"},
    {0},
};
