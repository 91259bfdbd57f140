/* deform_conv.c - convolution whose kernel points are moved by offsets that an operand gives for every place of the
 * result: x is read between its elements, linearly, and outside there are zeros. */
#include "graph/ops/window.h"

#include <string.h>

/* ---- helpers ---- */
typedef struct deformed {
    window w;
    int64_t groups, offset_groups, points; /* points: of a kernel */
} deformed;

static bool read_deformed(const node *n, deformed *f, err *e)
{
    const type *x = &n->in[0]->type, *w = &n->in[1]->type;
    *f = (deformed){.groups = node_int(n, "group"), .offset_groups = node_int(n, "offset_group"), .points = 1};
    if (x->rank != w->rank)
        return err_set(e, TS_BAD_INPUT, "input of rank %d, weight of rank %d, equal ones expected", x->rank, w->rank);
    if (!window_read(n, w->dim + 2, &f->w, e))
        return false;
    if (f->groups < 1 || w->dim[0] % f->groups || x->dim[1] % f->groups || x->dim[1] / f->groups != w->dim[1] ||
        f->offset_groups < 1 || x->dim[1] % f->offset_groups)
        return err_set(
            e, TS_BAD_INPUT,
            "%lld input channels in %lld groups, %lld of offsets; the weight takes %lld each, gives %lld; groups that "
            "divide these expected",
            (long long)x->dim[1], (long long)f->groups, (long long)f->offset_groups, (long long)w->dim[1],
            (long long)w->dim[0]);
    for (int s = 0; s < f->w.n; s++)
        f->points *= f->w.kernel[s];
    return true;
}

/* Operand i is [batch, rows, out...]. */
static bool moves_with(const node *n, int i, const deformed *f, int64_t rows, err *e)
{
    const type *t = &n->in[i]->type;
    bool fits = t->rank == f->w.n + 2 && t->dim[0] == n->in[0]->type.dim[0] && t->dim[1] == rows &&
                dtype_class(t->dtype) == D_REAL;
    for (int s = 0; fits && s < f->w.n; s++)
        fits = t->dim[s + 2] == f->w.out[s];
    return fits || operands_refuse(n->n_in, n->in, e, "as operand %d reals [%lld, %lld, the result's places...]", i + 1,
                                   (long long)n->in[0]->type.dim[0], (long long)rows);
}

/* ---- ONNX ---- */
static bool adapt_deform_conv(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    attr list[3];
    const type *x = &c->in[0]->type, *w = &c->in[1]->type, *offset = &c->in[2]->type;
    if (x->rank != w->rank || offset->rank != x->rank)
        return err_set(e, TS_BAD_INPUT, "DeformConv: ranks %d, %d and %d differ, equal ones expected", x->rank, w->rank,
                       offset->rank);
    if (!window_adapt(c, w->dim + 2, list, e))
        return false;
    type ones = *offset;
    ones.dim[1] /= x->rank - 2;
    const node *mask = onnx_in(c, 4) ? onnx_in(c, 4) : g_filled(g, &ones, 1);
    const node *in[] = {c->in[0], c->in[1], c->in[2], mask};        /* mask [n, og k, o...] */
    const node *y = onnx_made(c, COUNT(in), in, COUNT(list), list); /* [n, oc, o...] */
    if (onnx_in(c, 3))
        y = g_call2(g, "add", y, g_along(g, c->in[3], x->rank - 1, 0));
    return onnx_give(c, out, y, e);
}

/* ---- recipes ---- */
typedef struct progression { /* from, from + step, ...: count numbers */
    int64_t count, step, from;
} progression;

/* Those along axis `at` of `rank`, others of extent 1 */
static const node *counted(graph *g, dtype d, int rank, int at, progression p)
{
    const node *v = g_scaled(g, g_count(g, p.count, d), (double)p.step);
    return g_along(g, g_call2(g, "add", v, g_scalar(g, d, (double)p.from)), rank, at);
}

/* Where points read along axis s, [n, og, k..., o...]: o * stride - before + k * dilation + offset */
static const node *places(graph *g, const node *n, const deformed *f, int s)
{
    const type *t = &n->in[2]->type;
    const window *w = &f->w;
    int64_t split[MAX_RANK] = {t->dim[0], f->offset_groups, f->points, w->n}, shape[MAX_RANK];
    const int rank = 2 + 2 * w->n;
    memcpy(shape, split, 2 * sizeof *shape);
    for (int i = 0; i < w->n; i++)
        split[4 + i] = w->out[i], shape[2 + i] = w->kernel[i], shape[2 + w->n + i] = w->out[i];
    const node *p = g_callf(g, NODES(g_reshape(g, n->in[2], 4 + w->n, split)), "index key=:,:,:,%d", s);
    p = g_call2(g, "add", g_reshape(g, p, rank, shape),
                counted(g, t->dtype, rank, 2 + s, (progression){w->kernel[s], w->dilation[s], -w->before[s]}));
    return g_call2(g, "add", p, counted(g, t->dtype, rank, 2 + w->n + s, (progression){w->out[s], w->stride[s], 0}));
}

/* One of the elements around the points, [n, og, k..., o...]. */
typedef struct tap {
    const node *index, *weight, *inside; /* index: in the flat image; NULL, all three: nothing yet */
} tap;

/* Of the element below (up: above) p along axis s, whose weight is how near p it is. All [n, og, k..., o...]. */
static void tap_along(graph *g, tap *t, const node *p, bool up, int64_t extent)
{
    const node *base = g_call1(g, "floor", p), *rest = g_call2(g, "subtract", p, base);
    const node *at = up ? g_call2(g, "add", base, g_scalar_like(g, p, 1)) : base, *zero = g_scalar_like(g, p, 0);
    const node *weight = up ? rest : g_call2(g, "subtract", g_scalar_like(g, p, 1), rest);
    const node *inside = g_call2(g, "logical_and", g_call2(g, "less_equal", zero, at),
                                 g_call2(g, "less_equal", at, g_scalar_like(g, p, (double)(extent - 1))));
    const node *index = g_cast(g, g_call3(g, "where", inside, at, zero), TS_I64);
    if (t->index)
        index = g_call2(g, "add", g_call2(g, "multiply", t->index, g_scalar(g, TS_I64, (double)extent)), index);
    t->weight = t->weight ? g_call2(g, "multiply", t->weight, weight) : weight;
    t->inside = t->inside ? g_call2(g, "logical_and", t->inside, inside) : inside;
    t->index = index;
}

/* x between its elements, [n, og, c, k o]: of the elements around each point, what lies inside, by weight and mask. */
static const node *read_between(graph *g, const node *n, const deformed *f, int64_t place)
{
    const type *x = &n->in[0]->type;
    const int64_t each = x->dim[1] / f->offset_groups, points = f->points * place;
    const int64_t row[] = {x->dim[0], f->offset_groups, 1, points}, all[] = {row[0], row[1], each, points};
    int64_t image[] = {row[0], row[1], each, 1};
    const node *p[MAX_SPACE], *sum = NULL;
    for (int s = 0; s < f->w.n; s++)
        p[s] = places(g, n, f, s), image[3] *= x->dim[s + 2];
    /* flat [n, og, c, image], mask [n, og, 1, k o] */
    const node *flat = g_reshape(g, n->in[0], 4, image), *mask = g_reshape(g, n->in[3], 4, row);
    for (int k = 0; k < 1 << f->w.n; k++) {
        tap t = {0};
        for (int s = 0; s < f->w.n; s++)
            tap_along(g, &t, p[s], k >> s & 1, x->dim[s + 2]);
        const node *index = g_broadcast(g, g_reshape(g, t.index, 4, row), 4, all); /* [n, og, c, k o] */
        const node *got = g_call2(g, "take_along_axis axis=3", flat, index);       /* [n, og, c, k o] */
        got = g_call3(g, "where", g_reshape(g, t.inside, 4, row), got, g_scalar_like(g, flat, 0));
        got = g_call2(g, "multiply", got, g_call2(g, "multiply", g_reshape(g, t.weight, 4, row), mask));
        sum = sum ? g_call2(g, "add", sum, got) : got;
    }
    return sum;
}

/* y[n, oc, o...] = sum over ic, k... of w[oc, ic, k...] * mask
 *     * x read at o * stride - before + k * dilation + offset */
static const node *deform_lower(graph *g, const node *n)
{
    const type *x = &n->in[0]->type, *w = &n->in[1]->type;
    deformed f;
    if (!read_deformed(n, &f, &g->err) || !moves_with(n, 2, &f, f.offset_groups * f.points * f.w.n, &g->err) ||
        !moves_with(n, 3, &f, f.offset_groups * f.points, &g->err))
        return NULL;
    const dtype d = dtype_promote(x->dtype, w->dtype);
    int64_t place = 1, empty = 1, shape[MAX_RANK] = {x->dim[0], w->dim[0]};
    for (int s = 0; s < f.w.n; s++)
        place *= shape[s + 2] = f.w.out[s], empty *= x->dim[s + 2];
    const type t = {.dtype = d, .rank = x->rank, .dim = {shape[0], shape[1], shape[2], shape[3], shape[4]}};
    if (dtype_class(d) != D_REAL)
        return g_refuse(g, 2, n->in, "reals");
    if (!empty) /* nothing to read: all points lie outside */
        return g_filled(g, &t, 0);
    const int64_t taken = w->dim[1] * f.points;
    const int64_t right[] = {x->dim[0], f.groups, taken, place}, left[] = {f.groups, w->dim[0] / f.groups, taken};
    const node *read = g_reshape(g, g_cast(g, read_between(g, n, &f, place), d), 4, right); /* [n, group, ic k, o] */
    return g_reshape(g, g_call2(g, "matmul", g_reshape(g, g_cast(g, n->in[1], d), 3, left), read), x->rank, shape);
}

/* ---- records ---- */
const op ops_deform_conv[] = {
    RECIPE("deform_conv a b c d strides:I= dilations:I= pads:I= group:i=1 offset_group:i=1 -> n oc oh ow | ic kh kw",
           deform_lower, "deform_conv(a, b, c, d, strides, dilations, pads, group, offset_group)", NULL,
           "f32[1,2,5,4] f32[3,2,2,2] f32[1,8,4,3] f32[1,4,4,3]\nf64[2,4,5,5] f64[2,2,3,2] f64[2,24,3,3] "
           "f64[2,12,3,3] group=2 offset_group=2 strides=[2,2] pads=[1,0,1,1]\nf64[1,2,7] f64[2,1,3] f64[1,3,3] "
           "f64[1,3,3] group=2 dilations=[2]\nf32[1,1,3,3,2] f32[1,1,2,1,2] f32[1,12,2,3,1] f32[1,4,2,3,1]",
           "Convolution of x with w whose points are moved by offsets [n, group of offsets and point and axis, "
           "out...] and weighed by a mask [n, group of offsets and point, out...].",
           .adapted = ADAPTED(
               {"DeformConv 19 F 3..5 dilations group kernel_shape offset_group pads strides", adapt_deform_conv}),
           .onnx_cases = "DeformConv f32[1,2,5,4] f32[3,2,2,2] f32[1,8,4,3]"),
    {0},
};
