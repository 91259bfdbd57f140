/* conv_transpose.c - what a convolution does to its gradient: every element of x[n, ic, space...] adds a scaled copy of
 * w[ic, oc / group, kernel...] to the result, `strides` apart. */
#include "graph/ops/cut.h"
#include "graph/ops/window.h"

#include <string.h>

enum { MAX_PHASES = 8 }; /* as many tensors as one element may read */

/* ---- helpers ---- */
/* out = (in - 1) * stride + extra + (kernel - 1) * dilation + 1 - before - after; negative pads enlarge. */
static bool read_reverse(const node *n, window *w, err *e)
{
    const type *x = &n->in[0]->type, *k = &n->in[1]->type;
    int64_t extra[MAX_SPACE];
    *w = (window){.n = x->rank - 2};
    if (w->n < 1 || w->n > MAX_SPACE || k->rank != x->rank)
        return operands_refuse(
            2, n->in, e, "x [n, channel, space...] and a weight of that rank, with 1 to %d axes of space,", MAX_SPACE);
    if (!window_steps(n, w, INT64_MIN, e) || !window_numbers(n, "output_padding", w->n, extra, 0, 0, e))
        return false;
    for (int s = 0; s < w->n; s++) {
        int64_t size, reach;
        w->in[s] = x->dim[s + 2], w->kernel[s] = k->dim[s + 2];
        const bool fits = int_mul(w->in[s] - 1, w->stride[s], &size) &&
                          int_mul(w->kernel[s] - 1, w->dilation[s], &reach) && int_add(size, reach, &size) &&
                          int_add(size, extra[s] + 1, &size) && int_add(size, -w->before[s], &size) &&
                          int_add(size, -w->after[s], &size);
        if (!fits || size < 0 || w->kernel[s] < 1)
            return err_set(e, TS_BAD_INPUT,
                           "spatial axis %d: %lld elements, a kernel of %lld and pads of %lld and %lld give no extent "
                           "of 0 or more below 2^63",
                           s, (long long)w->in[s], (long long)w->kernel[s], (long long)w->before[s],
                           (long long)w->after[s]);
        w->out[s] = size;
    }
    return true;
}

/* ---- ONNX ---- */
/* *total = stride * (in - 1) + extra + (kernel - 1) * dilation + 1 - want; false where that overflows */
static bool cut_away(const int64_t v[6], int64_t *total)
{
    int64_t reach;
    return int_mul(v[0], v[1] - 1, total) && int_add(*total, v[2], total) && int_mul(v[3] - 1, v[4], &reach) &&
           int_add(*total, reach, total) && int_add(*total, 1, total) && v[5] >= 0 && int_add(*total, -v[5], total);
}

/* Pads that give the wanted extent: with output_shape, or SAME (in * stride), the total is shared out, the odd element
 * at the beginning for SAME_LOWER, else at the end. */
static bool choose_pads(const onnx_call *c, const int64_t *kernel, const attr *have, int64_t *pads, err *e)
{
    const int n = c->in[0]->type.rank - 2;
    const char *how = onnx_word(c, "auto_pad", "NOTSET");
    const bool same = !strncmp(how, "SAME", 4);
    int64_t extra[MAX_SPACE] = {0}, shape[MAX_RANK];
    int got = 0;
    if (onnx_attr(c, "output_padding") && !onnx_ints(c, "output_padding", -1, extra, MAX_SPACE, &got, e))
        return false;
    if (onnx_attr(c, "output_shape") && !onnx_ints(c, "output_shape", -1, shape, MAX_RANK, &got, e))
        return false;
    if (!onnx_attr(c, "output_shape") && !same)
        return true;
    if (onnx_attr(c, "output_shape") && got != n && got != n + 2)
        return err_set(e, TS_BAD_INPUT, "%s: output_shape has %d numbers for %d spatial axes, one for each expected",
                       c->type, got, n);
    for (int s = 0; s < n; s++) {
        const int64_t stride = have[0].ints[s], in = c->in[0]->type.dim[s + 2];
        int64_t want = onnx_attr(c, "output_shape") ? shape[s + got - n] : 0, total;
        if ((!onnx_attr(c, "output_shape") && !int_mul(in, stride, &want)) ||
            !cut_away((int64_t[]){stride, in, extra[s], kernel[s], have[1].ints[s], want}, &total))
            return err_set(e, TS_BAD_INPUT,
                           "%s: no pads give an extent of %lld along spatial axis %d, sizes below 2^63 expected",
                           c->type, (long long)want, s);
        const int64_t small = total >= 0 ? total / 2 : -((-total + 1) / 2);
        pads[s] = !strcmp(how, "SAME_UPPER") || !same ? small : total - small;
        if (!same) /* as the specification has it: without SAME_UPPER the larger half comes first */
            pads[s] = total - small;
        pads[s + n] = total - pads[s];
    }
    return true;
}

/* ONNX says "must be less than the corresponding stride/dilation dimension"; frameworks accept less than either. */
static bool padding_fits(const onnx_call *c, const attr *have, err *e)
{
    int64_t extra[MAX_SPACE];
    int got = 0;
    if (onnx_attr(c, "output_padding") && !onnx_ints(c, "output_padding", -1, extra, MAX_SPACE, &got, e))
        return false;
    for (int s = 0; s < got && s < have[0].n; s++)
        if (extra[s] >= have[0].ints[s] && extra[s] >= have[1].ints[s])
            return err_set(e, TS_BAD_INPUT,
                           "%s: output_padding is %lld along spatial axis %d, less than its stride %lld or dilation "
                           "%lld expected",
                           c->type, (long long)extra[s], s, (long long)have[0].ints[s], (long long)have[1].ints[s]);
    return true;
}

static bool adapt_conv_transpose(const onnx_call *c, const node **out, err *e)
{
    attr list[3];
    graph *g = c->g;
    const type *x = &c->in[0]->type, *w = &c->in[1]->type;
    if (x->rank != w->rank || x->rank < 3 || x->rank > 2 + MAX_SPACE)
        return err_set(e, TS_BAD_INPUT, "ConvTranspose: ranks %d and %d, equal ones of 3 to %d expected", x->rank,
                       w->rank, MAX_SPACE + 2);
    if (!window_adapt(c, w->dim + 2, list, e) || !padding_fits(c, list, e))
        return false;
    int64_t *pads = arena_array(&g->mem, 2 * MAX_SPACE, sizeof *pads);
    if (!strcmp(onnx_word(c, "auto_pad", "NOTSET"), "NOTSET"))
        for (int i = 0; i < list[2].n; i++)
            pads[i] = list[2].ints[i];
    if (!choose_pads(c, w->dim + 2, list, pads, e))
        return false;
    list[2] = attr_ints("pads", 2 * (x->rank - 2), pads);
    const node *y = onnx_made(c, 2, c->in, COUNT(list), list); /* [batch, channel, ...] */
    if (y && onnx_in(c, 2)) {
        int64_t shape[MAX_RANK] = {y->type.dim[1], 1, 1, 1};
        y = g_call2(g, "add", y, g_reshape(g, c->in[2], x->rank - 1, shape));
    }
    return onnx_give(c, out, y, e);
}

/* ---- shape ---- */
static bool transpose_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type, *w = &n->in[1]->type;
    const int64_t groups = node_int(n, "group");
    window win;
    if (!read_reverse(n, &win, e))
        return false;
    if (groups < 1 || x->dim[1] != w->dim[0] || x->dim[1] % groups)
        return err_set(
            e, TS_BAD_INPUT,
            "%lld input channels in %lld groups, and the weight takes %lld; as many, and a divisor of them, expected",
            (long long)x->dim[1], (long long)groups, (long long)w->dim[0]);
    *out = (type){.dtype = dtype_promote(x->dtype, w->dtype), .rank = x->rank, .dim = {x->dim[0]}};
    if (!int_mul(w->dim[1], groups, &out->dim[1]))
        return err_set(e, TS_BAD_INPUT,
                       "%lld channels of the weight in each of %lld groups, at most 2^63 - 1 in all expected",
                       (long long)w->dim[1], (long long)groups);
    for (int s = 0; s < win.n; s++)
        out->dim[s + 2] = win.out[s];
    return true;
}

/* ---- body ---- */
/* o + before - k * dilation along spatial axis s */
static const expr *from(arena *mem, const window *w, int s, const expr *k)
{
    const expr *o = x_offset(mem, x_axis(mem, s + 2), 1, w->before[s]);
    return w->kernel[s] == 1 ? o : x2(mem, "sub", o, x_offset(mem, k, w->dilation[s], 0));
}

static const expr *source(arena *mem, const window *w, int s, const expr *k) /* the place of x that it divides to */
{
    return w->stride[s] == 1 ? from(mem, w, s, k) : x2(mem, "floordiv", from(mem, w, s, k), x_whole(mem, w->stride[s]));
}

static const expr *is_real(arena *mem, const window *w, int s, const expr *k) /* NULL: always */
{
    const int64_t low = w->before[s] - (w->kernel[s] - 1) * w->dilation[s], high = w->out[s] - 1 + w->before[s];
    const expr *x = source(mem, w, s, k), *stride = x_whole(mem, w->stride[s]);
    const expr *first = low < 0 ? x2(mem, "le", x_whole(mem, 0), x) : NULL;
    const expr *last = high >= w->in[s] * w->stride[s] ? x2(mem, "lt", x, x_whole(mem, w->in[s])) : NULL;
    const expr *within = x_both(mem, first, last);
    if (w->stride[s] == 1)
        return within;
    return x_both(mem, x2(mem, "eq", x2(mem, "mod", from(mem, w, s, k), stride), x_whole(mem, 0)), within);
}

/* y[n, oc, o...] = sum over ic, k... of x[n, first(oc) + ic, (o + before - k * dilation) / stride] * w[first(oc) + ic,
 * oc in its group, k...], where that division leaves no rest and the place exists */
static const expr *transpose_body(defn *d)
{
    const type *x = &d->node->in[0]->type, *w = &d->node->in[1]->type;
    const int64_t groups = node_int(d->node, "group"), inputs = x->dim[1] / groups, outputs = w->dim[1];
    const expr *at[MAX_RANK], *weight[MAX_RANK], *real = NULL;
    window win;
    arena *mem = d->mem;
    if (!read_reverse(d->node, &win, d->err))
        return NULL;
    int axis = defn_fold(d, inputs);
    uint32_t folds = 1u << axis;
    const expr *part = x2(mem, "floordiv", x_axis(mem, 1), x_whole(mem, outputs ? outputs : 1));
    const expr *channel = groups == 1 ? x_axis(mem, axis)
                                      : x2(mem, "add", x2(mem, "mul", part, x_whole(mem, inputs)), x_axis(mem, axis));
    at[0] = x_axis(mem, 0), at[1] = weight[0] = channel;
    weight[1] = groups == 1 ? x_axis(mem, 1) : x2(mem, "mod", x_axis(mem, 1), x_whole(mem, outputs ? outputs : 1));
    for (int s = 0; s < win.n; s++) {
        axis = defn_fold(d, win.kernel[s]), folds |= 1u << axis;
        weight[s + 2] = x_axis(mem, axis);
        at[s + 2] = source(mem, &win, s, weight[s + 2]);
        real = x_both(mem, real, is_real(mem, &win, s, weight[s + 2]));
    }
    const expr *value = defn_at(d, 0, at);
    value = x_cast(mem, d->node->type.dtype, real ? x3(mem, "select", real, value, x_whole(mem, 0)) : value);
    return x_fold(mem, "add", folds, x2(mem, "mul", value, defn_at(d, 1, weight)));
}

/* ---- recipes ---- */
/* Results that are congruent modulo the strides receive from the same points of the kernel: they are a transposed
 * convolution without strides, of a part of w. */
typedef struct phases {
    graph *g;
    const node *n;
    window w;
    int64_t at[MAX_SPACE]; /* the remainders */
} phases;

/* Points k of the kernel with at + before - k * dilation = 0 modulo the stride: the first, and how far apart; false:
 * none. */
static bool points(const phases *p, int s, int64_t *first, int64_t *step)
{
    const window *w = &p->w;
    *step = w->stride[s] / int_gcd(w->dilation[s], w->stride[s]);
    for (*first = 0; *first < w->kernel[s] && *first < *step; ++*first)
        if ((p->at[s] + w->before[s] - *first * w->dilation[s]) % w->stride[s] == 0)
            return true;
    return false;
}

static const node *one_phase(const phases *p) /* [n, oc, ceil(out / stride)...]; NULL: zeros */
{
    const window *w = &p->w;
    const node *x = p->n->in[0], *k = p->n->in[1];
    int64_t dilation[MAX_SPACE], pads[2 * MAX_SPACE];
    cut part = cut_whole(&k->type);
    for (int s = 0; s < w->n; s++) {
        int64_t *first = &part.start[s + 2], *step = &part.step[s + 2], *size = &part.size[s + 2];
        if (!points(p, s, first, step))
            return NULL;
        *size = (w->kernel[s] - *first + *step - 1) / *step;
        dilation[s] = w->dilation[s] * *step / w->stride[s];
        pads[s] = (p->at[s] + w->before[s] - *first * w->dilation[s]) / w->stride[s];
        pads[s + w->n] = w->in[s] + (*size - 1) * dilation[s] - pads[s] - (w->out[s] + w->stride[s] - 1) / w->stride[s];
    }
    const node *taps = cut_made(p->g, k, &part); /* a weight's lie together, as loops walk them */
    taps = taps && node_is_weight(k) ? g_known(p->g, taps, k->label) : taps;
    return g_apply_n(
        p->g, "conv_transpose", NODES(x, taps),
        ATTRS(attr_ints("dilations", w->n, dilation), attr_ints("pads", 2 * w->n, pads), *node_attr(p->n, "group")));
}

/* One element, where the remainders along the spatial axes before s are known */
static const expr *any_phase(phases *p, arena *mem, int s)
{
    const expr *of[MAX_PHASES], *sub[MAX_RANK] = {x_axis(mem, 0), x_axis(mem, 1)};
    if (s == p->w.n) {
        const node *y = one_phase(p); /* [n, oc, ceil(out / stride)...] */
        for (int i = 0; i < s; i++)
            sub[i + 2] = p->w.stride[i] == 1 ? x_axis(mem, i + 2)
                                             : x2(mem, "floordiv", x_axis(mem, i + 2), x_whole(mem, p->w.stride[i]));
        return y ? x_load(mem, y, sub) : x_whole(mem, 0);
    }
    const int64_t stride = p->w.stride[s];
    bool zeros = true;
    for (p->at[s] = 0; p->at[s] < stride; p->at[s]++) {
        of[p->at[s]] = any_phase(p, mem, s + 1);
        zeros = zeros && of[p->at[s]]->kind == X_LIT;
    }
    return zeros ? of[0] : x_chosen(mem, x2(mem, "mod", x_axis(mem, s + 2), x_whole(mem, stride)), (int)stride, of);
}

static int64_t count_phases(const node *n, phases *p) /* 1: there is but one, or there are too many */
{
    int64_t count = 1;
    if (!type_count(&n->type) || !type_count(&n->in[0]->type) || !read_reverse(n, &p->w, NULL))
        return 1;
    for (int s = 0; s < p->w.n; s++)
        count = p->w.stride[s] > MAX_PHASES ? MAX_PHASES + 1 : count * p->w.stride[s];
    return count > MAX_PHASES ? 1 : count;
}

/* The definition goes through the whole kernel for each place of the result. That meets one part of it in as many as
 * there are phases. */
static bool phases_way(const node *n, way_cost *c)
{
    phases p = {.n = n};
    const int64_t count = count_phases(n, &p);
    const double plain = node_flops(n);
    *c = (way_cost){.name = "phases apart", .plain = plain, .other = plain / (double)count};
    return count > 1;
}

static const node *without_strides(graph *g, const node *n)
{
    phases p = {.g = g, .n = n};
    if (count_phases(n, &p) == 1)
        return NULL;
    ENDED_BY(arena_free) arena mem = {0};
    const expr *value = any_phase(&p, &mem, 0);
    return err_is(&g->err) ? NULL : g_element_of(g, &(spelling){n->type.rank, 0, n->type.dim, "add", NULL}, value);
}

/* ---- grad ---- */
/* Whether dx is a plain convolution over the same places. */
static bool transpose_grad_for(const node *call, int k)
{
    window w;
    bool fits = k == 0 && read_reverse(call, &w, NULL);
    for (int s = 0; fits && s < w.n; s++)
        fits = w.before[s] >= 0 && w.after[s] >= 0 &&
               w.out[s] + w.before[s] + w.after[s] - (w.kernel[s] - 1) * w.dilation[s] - 1 < w.in[s] * w.stride[s];
    return fits;
}

static const node *transpose_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    (void)k;
    if (!type_count(&y->type) || !type_count(&call->in[0]->type))
        return NULL;
    return g_apply_n(g, "conv", NODES(dy, call->in[1]), N_CONV_ATTRIBUTES, call->attr);
}

/* ---- records ---- */
const op ops_conv_transpose[] = {
    BODY("conv_transpose a b " CONV_ATTRIBUTES " output_padding:I= -> n oc oh ow | ic kh kw", transpose_body,
         "conv_transpose(a, b, strides, dilations, pads, group, output_padding)", NULL,
         "f32[1,3,9] f32[3,4,3]\nf32[2,4,5,6] f32[4,3,3,3] pads=[1,1,1,1] group=2\nf32[1,2,4,5] f32[2,3,3,2] "
         "strides=[2,3] output_padding=[1,2]\nf32[1,2,3,4,3] f32[2,2,2,2,2] strides=[2,1,1]\n"
         "f64[1,2,5] f64[2,1,3] dilations=[2] pads=[1,0]\nf32[1,2,3,3] f32[2,1,2,2] pads=[-1,0,0,-2]\n"
         "f32[1,3,2] f32[3,2,1] strides=[3]\ni32[1,1,3] i32[1,2,2]\nf32[0,2,3] f32[2,1,2]",
         "Transposed convolution over the axes behind batch and channel; pads are all beginnings, then all ends.",
         .adapted = ADAPTED({"ConvTranspose 1 F 2..3 auto_pad dilations group kernel_shape output_padding output_shape "
                             "pads strides",
                             adapt_conv_transpose}),
         .shape = transpose_shape, .grad = transpose_grad, .grad_for = transpose_grad_for, .way = phases_way,
         .alternative = without_strides),
    {0},
};
