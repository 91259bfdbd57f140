/* conv.c - convolution over 1, 2 or 3 spatial axes, channels first: x[n, ic, space...] with w[oc, ic / group,
 * kernel...]. The bias is an addition of its own, which fusion brings back. */
#include "graph/ops/quantize.h"
#include "graph/ops/window.h"
#include "graph/ops/winograd.h"

/* ---- ONNX ---- */
static bool adapt_conv(const onnx_call *c, const node **out, err *e)
{
    attr list[3];
    const type *x = &c->in[0]->type, *w = &c->in[1]->type;
    if (x->rank != w->rank)
        return err_set(e, TS_BAD_INPUT, "Conv: ranks %d and %d differ, equal ones expected", x->rank, w->rank);
    if (!window_adapt(c, w->dim + 2, list, e))
        return false;
    const node *in[] = {c->in[0], c->in[1]};
    if (!in[1]->leaf && quantize_known(in[1])) /* every pixel reads it: as reals, computed once */
        in[1] = g_known(c->g, in[1], in[1]->label);
    const node *y = onnx_made(c, 2, in, COUNT(list), list); /* [batch, channel, ...] */
    if (y && onnx_in(c, 2)) {
        const node *bias = g_along(c->g, c->in[2], x->rank - 1, 0); /* beside channels */
        bias = bias && !c->in[2]->leaf && quantize_known(bias) ? g_known(c->g, bias, c->in[2]->label) : bias;
        y = g_call2(c->g, "add", y, bias);
    }
    return onnx_give(c, out, y, e);
}

/* ---- shape ---- */
bool conv_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type, *w = &n->in[1]->type;
    const int64_t groups = node_int(n, "group");
    window win;
    if (x->rank != w->rank)
        return err_set(e, TS_BAD_INPUT, "input of rank %d, weight of rank %d: equal ranks expected", x->rank, w->rank);
    if (!window_read(n, w->dim + 2, &win, e))
        return false;
    if (groups < 1 || w->dim[0] % groups || x->dim[1] % groups || x->dim[1] / groups != w->dim[1])
        return err_set(e, TS_BAD_INPUT,
                       "%lld input channels in %lld groups, of which the weight takes %lld each and gives %lld; groups "
                       "that divide both, and a weight for one of them, expected",
                       (long long)x->dim[1], (long long)groups, (long long)w->dim[1], (long long)w->dim[0]);
    *out = (type){.dtype = dtype_promote(x->dtype, w->dtype), .rank = x->rank, .dim = {x->dim[0], w->dim[0]}};
    for (int s = 0; s < win.n; s++)
        out->dim[s + 2] = win.out[s];
    return true;
}

/* ---- body ---- */
/* y[n, oc, o...] = sum over ic, k... of x[n, first(oc) + ic, o * stride - before + k * dilation] * w[oc, ic, k...] */
const expr *conv_body(defn *d)
{
    const type *w = &d->node->in[1]->type;
    const int64_t groups = node_int(d->node, "group"), inputs = w->dim[1],
                  outputs = w->dim[0] / groups; /* of a group */
    const expr *at[MAX_RANK], *weight[MAX_RANK];
    window win;
    arena *mem = d->mem;
    if (!window_read(d->node, w->dim + 2, &win, d->err))
        return NULL;
    const int axis = defn_fold(d, inputs);
    uint32_t folds;
    const expr *inside = window_element(d, &win, at, &folds); /* x [n, ic, in...], w [oc, ic / group, kernel...] */
    weight[0] = x_axis(mem, 1);
    for (int i = 0; i <= win.n; i++)
        weight[i + 1] = x_axis(mem, axis + i); /* folded one after the other */
    /* the first input channel of the group that oc is in */
    const expr *first = x2(mem, "mul", x2(mem, "floordiv", x_axis(mem, 1), x_whole(mem, outputs ? outputs : 1)),
                           x_whole(mem, inputs));
    at[1] = groups == 1 ? weight[1] : x2(mem, "add", first, weight[1]);
    const expr *x = defn_at(d, 0, at);
    if (inside)
        x = x3(mem, "select", inside, x, x_whole(mem, 0)); /* pads are zeros that are never read */
    const dtype to = d->node->type.dtype;
    x = x2(mem, "mul", x_cast(mem, to, x), x_cast(mem, to, defn_at(d, 1, weight)));
    return x_fold(mem, "add", folds | 1u << axis, x); /* y [n, oc, out...] */
}

/* ---- recipes ---- */
static const node *conv_lower(graph *g, const node *n)
{
    static const char *const by_space[] = {"conv1d", "conv2d", "conv3d"};
    const int space = n->in[0]->type.rank - 2;
    if (space < 1 || space > COUNT(by_space))
        return g_fail(g, TS_UNSUPPORTED, "rank %d: 1 to 3 spatial axes are supported", space + 2);
    return g_make(g, op_find(by_space[space - 1]), 2, n->in, n->attr, N_CONV_ATTRIBUTES);
}

/* ---- grad ---- */
static bool conv_grad_for(const node *call, int k)
{
    (void)call;
    return k == 0; /* that of the weight is a sum over all places, which follows as well as it could be written */
}

/* dx: every element of dy adds a scaled copy of w, `strides` apart. Elements that no window covers get 0. */
static const node *conv_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const node *w = call->in[1];
    const attr *own = call->attr;
    int64_t extra[MAX_SPACE];
    window win;
    (void)k;
    if (!type_count(&y->type) || !type_count(&call->in[0]->type) || !window_read(call, w->type.dim + 2, &win, &g->err))
        return NULL;
    for (int s = 0; s < win.n; s++)
        /* places of x that no window begins at */
        extra[s] = win.in[s] + win.before[s] + win.after[s] - (win.out[s] - 1) * win.stride[s] -
                   (win.kernel[s] - 1) * win.dilation[s] - 1;
    return g_apply_n(g, "conv_transpose", NODES(dy, w),
                     ATTRS(own[0], own[1], own[2], own[3], attr_ints("output_padding", win.n, extra)));
}

/* ---- records ---- */
static const char oracle[] = "conv(a, b, strides, dilations, pads, group)";

const op ops_conv[] = {
    RECIPE("conv a b " CONV_ATTRIBUTES " -> n oc oh ow | ic kh kw", conv_lower, oracle, NULL,
           "f32[1,3,9] f32[4,3,3]\nf32[2,4,5,6] f32[6,2,3,3] pads=[1,1,1,1] group=2\n"
           "f32[1,2,4,5,3] f32[2,2,2,2,2] strides=[2,1,1]",
           "Convolution over the axes behind batch and channel; pads are all beginnings, then all ends.",
           .adapted = ADAPTED({"Conv 1 F 2..3 auto_pad dilations group kernel_shape pads strides", adapt_conv})),
    BODY("conv1d a b " CONV_ATTRIBUTES " -> n oc ow | ic kw", conv_body, oracle, NULL,
         "f32[1,3,28] f32[32,3,5]\nf32[1,3,28] f32[8,3,5] strides=[2] pads=[3,3]\n"
         "f64[2,4,9] f64[4,1,3] group=4 pads=[2,0]\nf32[2,3,11] f32[2,3,2] dilations=[3]\n"
         "i32[1,2,5] i32[2,2,3]\nf32[0,3,5] f32[2,3,2]\nf32[1,0,5] f32[2,0,2]",
         "Convolution over one axis.", .back = "Conv a b strides=strides dilations=dilations pads=pads group=group",
         .shape = conv_shape, .grad = conv_grad, .grad_for = conv_grad_for),
    BODY("conv2d a b " CONV_ATTRIBUTES " -> n oc oh ow | ic kh kw", conv_body, oracle, NULL,
         "f32[1,3,14,19] f32[8,3,5,5]\nf32[1,3,14,19] f32[8,3,5,5] strides=[2,2] pads=[3,3,3,3]\n"
         "f32[2,8,7,7] f32[4,8,1,1]\nf32[2,8,7,7] f32[4,8,1,1] strides=[2,2]\nf32[1,6,8,8] f32[6,1,3,3] group=6 "
         "pads=[1,1,1,1]\nf32[1,4,9,8] f32[6,2,3,2] group=2 dilations=[2,3] pads=[0,1,2,3]\n"
         "f64[2,3,6,5] f64[4,3,3,3] strides=[1,2] pads=[1,0,0,1]\nf32[1,2,3,3] f32[1,2,3,3]",
         "Convolution over two axes.", .back = "Conv a b strides=strides dilations=dilations pads=pads group=group",
         .shape = conv_shape, .grad = conv_grad, .grad_for = conv_grad_for, .way = winograd_way,
         .alternative = winograd_conv, .in_dots = quantized_conv),
    BODY("conv3d a b " CONV_ATTRIBUTES " -> n oc od oh ow | ic kd kh kw", conv_body, oracle, NULL,
         "f32[1,2,4,5,6] f32[3,2,2,3,3]\nf32[1,2,4,5,6] f32[2,1,3,3,3] group=2 pads=[1,1,1,1,1,1] "
         "strides=[2,1,2]\nf64[1,1,5,5,5] f64[1,1,2,2,2] dilations=[2,1,3]",
         "Convolution over three axes.", .back = "Conv a b strides=strides dilations=dilations pads=pads group=group",
         .shape = conv_shape, .grad = conv_grad, .grad_for = conv_grad_for),
    {0},
};
