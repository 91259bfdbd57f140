/* slice.c - parts of a tensor: slices, splits and reversed axes. Ends do not appear: a slice says where it starts,
 * how it steps and how much it takes, which is the same for steps forwards and backwards. */
#include "graph/ops/cut.h"
#include "graph/ir/rule.h"

#include <string.h>

/* ---- helpers ---- */
cut cut_whole(const type *t)
{
    cut c = {0};
    for (int i = 0; i < t->rank; i++)
        c.start[i] = 0, c.step[i] = 1, c.size[i] = t->dim[i];
    return c;
}

bool cut_take(cut *c, int axis, int64_t dim, cut_range of, err *e)
{
    int64_t start = of.start, end = of.end;
    const int64_t step = of.step;
    if (step == 0 || step == INT64_MIN)
        return err_set(e, TS_BAD_INPUT, "slice: step %lld along axis %d, another one expected", (long long)step, axis);
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? dim - 1 : dim;
    if (start < 0)
        start += dim;
    if (end < 0)
        end += dim;
    start = start < low ? low : start > high ? high : start;
    end = end < low ? low : end > high ? high : end;
    const int64_t length = step < 0 ? start - end : end - start, pace = step < 0 ? -step : step;
    c->start[axis] = start, c->step[axis] = step;
    c->size[axis] = length <= 0 ? 0 : (length - 1) / pace + 1;
    return true;
}

const node *cut_made(graph *g, const node *a, const cut *c)
{
    const int n = a->type.rank;
    const attr list[] = {attr_ints("starts", n, c->start), attr_ints("steps", n, c->step),
                         attr_ints("sizes", n, c->size)};
    return g_apply(g, "slice", a, COUNT(list), list);
}

const node *g_part(graph *g, const node *a, int axis, int64_t start, int64_t size)
{
    int64_t starts[MAX_RANK] = {0}, sizes[MAX_RANK];
    if (!a)
        return NULL;
    memcpy(sizes, a->type.dim, sizeof sizes);
    starts[axis] = start, sizes[axis] = size;
    const attr list[] = {attr_ints("starts", a->type.rank, starts), attr_ints("sizes", a->type.rank, sizes)};
    return g_apply(g, "slice", a, COUNT(list), list);
}

/* ---- ONNX ---- */
static bool adapt_slice(const onnx_call *c, const node **out, err *e)
{
    int64_t start[MAX_RANK], end[MAX_RANK], axes[MAX_RANK], steps[MAX_RANK];
    int n, m, n_axes = -1, n_steps = -1;
    if (!onnx_ints(c, "starts", 1, start, MAX_RANK, &n, e))
        return false;
    if (!onnx_ints(c, "ends", 2, end, MAX_RANK, &m, e))
        return false;
    if (onnx_has(c, "axes", 3) && !onnx_ints(c, "axes", 3, axes, MAX_RANK, &n_axes, e))
        return false;
    if (onnx_in(c, 4) && !onnx_ints(c, "", 4, steps, MAX_RANK, &n_steps, e))
        return false;
    const type *t = &c->in[0]->type;
    if (m != n || (n_axes >= 0 && n_axes != n) || (n_steps >= 0 && n_steps != n) || n > t->rank)
        return err_set(
            e, TS_BAD_INPUT,
            "Slice: %d starts, %d ends for rank %d: as many of both, of axes and of steps expected, one for an axis", n,
            m, t->rank);
    cut k = cut_whole(t);
    for (int i = 0; i < n; i++) {
        int axis = i;
        if (n_axes >= 0 && !axis_norm(axes[i], t->rank, &axis, e))
            return false;
        /* A start before the axis is its first element, backwards too, where numpy takes nothing. */
        const int64_t dim = t->dim[axis], from = start[i] < -dim ? -dim : start[i];
        if (!cut_take(&k, axis, dim, (cut_range){from, end[i], n_steps >= 0 ? steps[i] : 1}, e))
            return false;
    }
    return onnx_give(c, out, cut_made(c->g, c->in[0], &k), e);
}

/* Sizes: given, or as even as numpy's array_split of ONNX makes them: all but the last of equal length, rounded up. */
static bool adapt_split(const onnx_call *c, const node **out, err *e)
{
    enum { MOST = 256 };
    int64_t size[MOST];
    int n = c->n_out, axis;
    if (!axis_norm(onnx_own_int(c, "axis"), c->in[0]->type.rank, &axis, e))
        return false;
    if (n < 1 || n > MOST)
        return err_set(e, TS_UNSUPPORTED, "Split into %d parts, 1 to %d expected", n, MOST);
    if (onnx_int(c, "num_outputs", n) != n)
        return err_set(e, TS_BAD_INPUT, "Split: num_outputs is %lld, the node's %d outputs expected",
                       (long long)onnx_int(c, "num_outputs", n), n);
    const int64_t dim = c->in[0]->type.dim[axis];
    const int64_t each = (dim + n - 1) / n;
    if (c->version < 18 && dim % n && !onnx_has(c, "split", 1))
        return err_set(e, TS_BAD_INPUT, "%lld along axis %d cannot be cut into %d equal parts", (long long)dim, axis,
                       n);
    for (int i = 0; i < n; i++)
        size[i] = dim - i * each > each ? each : dim - i * each > 0 ? dim - i * each : 0;
    if (onnx_has(c, "split", 1) && !onnx_ints(c, "split", 1, size, MOST, &n, e))
        return false;
    if (n != c->n_out)
        return err_set(e, TS_BAD_INPUT, "Split: %d sizes for %d outputs, as many expected", n, c->n_out);
    for (int i = 0; i < n; i++) {
        const attr list[] = {attr_int("axis", axis), attr_ints("sizes", n, size), attr_int("part", i)};
        if (!onnx_give(c, out + i, g_apply(c->g, "split", c->in[0], COUNT(list), list), e))
            return false;
    }
    return true;
}

/* ---- shape ---- */
static bool slice_shape(const node *n, type *out, err *e)
{
    const attr *start = node_attr(n, "starts"), *step = node_attr(n, "steps"), *size = node_attr(n, "sizes");
    *out = n->in[0]->type;
    if (start->n != out->rank || size->n != out->rank || (step->kind != '-' && step->n != out->rank))
        return err_set(e, TS_BAD_INPUT, "starts, sizes and steps: %d, %d and %d numbers, %d of each expected", start->n,
                       size->n, step->kind == '-' ? out->rank : step->n, out->rank);
    for (int i = 0; i < out->rank; i++) {
        const int64_t dim = out->dim[i], count = size->ints[i], first = start->ints[i];
        const int64_t by = step->kind == '-' ? 1 : step->ints[i];
        int64_t last = 0;
        bool ok = count >= 0 && int_mul(count - 1, by, &last) && int_add(last, first, &last);
        ok = ok && (count == 0 || (first >= 0 && first < dim && last >= 0 && last < dim));
        if (!ok)
            return err_set(e, TS_BAD_INPUT,
                           "axis %d of extent %lld does not hold %lld elements from %lld on in steps of %lld", i,
                           (long long)dim, (long long)count, (long long)first, (long long)by);
        out->dim[i] = count;
    }
    return true;
}

/* ---- body ---- */
static const expr *slice_body(defn *d)
{
    const attr *start = node_attr(d->node, "starts"), *step = node_attr(d->node, "steps");
    const expr *sub[MAX_RANK];
    for (int i = 0; i < d->node->type.rank; i++)
        sub[i] = x_offset(d->mem, x_axis(d->mem, i), step->kind == '-' ? 1 : step->ints[i], start->ints[i]);
    return defn_at(d, 0, sub);
}

/* ---- recipes ---- */
/* All parts are made, so that they are outputs 0, 1, ... of one operation; the wanted one is the result. */
static const node *split_lower(graph *g, const node *n)
{
    const node *a = n->in[0], *first = NULL, *wanted = NULL;
    const attr *sizes = node_attr(n, "sizes"), *parts = node_attr(n, "parts");
    const int64_t part = node_int(n, "part"), count = sizes->kind == 'I' ? sizes->n : parts->kind == 'i' ? parts->i : 0;
    int axis;
    if (!attr_axis(n, "axis", a->type.rank, &axis, &g->err))
        return NULL;
    const int64_t dim = a->type.dim[axis];
    if (count < 1 || part < 0 || part >= count || (sizes->kind != 'I' && (dim % count || count > 1 << 16)))
        return g_fail(g, TS_BAD_INPUT, "part %lld of %lld of an axis of extent %lld", (long long)part, (long long)count,
                      (long long)dim);
    int64_t offset = 0;
    for (int i = 0; i < count; i++) {
        cut c = cut_whole(&a->type);
        const int64_t size = sizes->kind == 'I' ? sizes->ints[i] : dim / count;
        c.start[axis] = offset, c.size[axis] = size;
        const node *piece = g_output(g, cut_made(g, a, &c), first, i); /* as a, with size at the axis */
        if (!piece)
            return NULL;
        if (i == 0)
            first = piece;
        if (i == part)
            wanted = piece;
        offset += size; /* each piece lay inside the axis, so the sum does */
    }
    if (offset != dim)
        return g_fail(g, TS_BAD_INPUT, "the sizes add up to %lld of %lld", (long long)offset, (long long)dim);
    return wanted;
}

static const node *flip_lower(graph *g, const node *n)
{
    const type *t = &n->in[0]->type;
    cut c = cut_whole(t);
    uint32_t set;
    if (!axes_set(node_attr(n, "axes"), t->rank, &set, &g->err))
        return NULL;
    for (int i = 0; i < t->rank; i++)
        if (set >> i & 1)
            c.start[i] = t->dim[i] ? t->dim[i] - 1 : 0, c.step[i] = -1;
    return cut_made(g, n->in[0], &c);
}

/* ---- records ---- */
const op ops_slice[] = {
    BODY("slice a starts:I sizes:I steps:I=", slice_body,
         "a[np.ix_(*[s + t * np.arange(n) for s, t, n in zip(starts, steps or [1] * a.ndim, sizes)])]", NULL,
         "f32[4,5] starts=[1,0] sizes=[2,5]\nf32[4,5] starts=[3,1] sizes=[4,2] steps=[-1,3]\n"
         "i64[7] starts=[6] sizes=[3] steps=[-2]\nf64[2,3,4] starts=[0,1,2] sizes=[2,0,1]\n"
         "f32[] starts=[] sizes=[]\nbool[5] starts=[2] sizes=[3]",
         "Elements at start, start + step, ... along every axis.",
         .adapted = ADAPTED({"Slice 1 .I 1..5 axes ends starts", adapt_slice}),
         .onnx_undefined =
             "Slice: Ends are clamped as the specification says: backwards to the last element at most, so "
             "that an end of INT_MAX takes nothing, as in numpy; INT_MIN takes all. ONNX Runtime takes "
             "INT_MAX for no end in either direction.",
         .onnx_cases = "Slice f32[3,4] starts=[1] ends=[2]", .back = "Slice a @starts @starts+sizes*steps - @steps",
         .shape = slice_shape),
    RECIPE("split a axis:i=0 parts:i= sizes:I= part:i=0", split_lower,
           "np.split(a, np.cumsum(sizes)[:-1] if sizes else parts, axis)[part]", NULL,
           "f32[4,8] parts=2\nf32[4,8] parts=2 part=1\nf32[2,6] axis=-1 sizes=[1,3,2] part=1\n"
           "i64[6,2] parts=3 part=2\nf32[5,0] axis=1 parts=1\nf32[4] sizes=[4,0] part=1",
           "One of several parts along an axis: equal ones, or of given sizes.",
           .adapted = ADAPTED({"Split 1 .n 1..2 >* axis num_outputs split", adapt_split}),
           .onnx_cases = "Split f32[4,8] axis=1"),
    RECIPE("flip a axes:I=", flip_lower, "np.flip(a, axes)", NULL,
           "f32[2,3]\nf32[2,3] axes=[1]\ni64[4]\nf32[2,3,4] axes=[0,-1]\nf32[0,2]\nf32[]",
           "The listed axes, or all of them, in reverse."),
    {0},
};
