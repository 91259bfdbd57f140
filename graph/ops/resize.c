/* resize.c - a tensor at other extents: every element of the result is a weighted mean of its neighbours. Places and
 * weights follow from extents alone, so they are tables, one pair for each axis that changes. */
#include "graph/eval/eval.h"
#include "graph/ops/taps.h"

#include <math.h>
#include <string.h>

enum { LONGEST_LOG2 = 40 }; /* elements of an axis, past which a scale is a mistake */

/* ---- ONNX ---- */
typedef struct listed { /* the axes that scales, sizes and regions speak of */
    int n, axis[2 * MAX_RANK];
} listed;

static bool has_numbers(const onnx_call *c, const char *name, int i)
{
    const attr *a = onnx_attr(c, name);
    const node *in = onnx_in(c, i);
    return (a && a->kind == 'F') || (in && type_count(&in->type) > 0);
}

/* Real numbers of attribute `name` or constant input i, one of which is there, spread over the listed axes. */
static bool spread(const onnx_call *c, const char *name, int i, const listed *l, double *out, err *e)
{
    const attr *a = onnx_attr(c, name);
    const ts_array *v = a ? NULL : g_needed(c->g, c->in[i]);
    if (!a && !v)
        return g_wait(c->g, e, "%s: %s depends on values known only at run time", c->type, name);
    if ((a ? a->n : ts_array_count(v)) != l->n)
        return err_set(e, TS_BAD_INPUT, "%s: %s has %lld numbers, %d expected", c->type, name,
                       a ? (long long)a->n : (long long)ts_array_count(v), l->n);
    for (int k = 0; k < l->n; k++)
        out[l->axis[k]] = a ? a->reals[k] : ts_array_at(v, k);
    return true;
}

/* Sizes that keep the ratio of the axes: all scaled alike, so that none is larger, or none smaller, than asked for. */
static void keep_ratio(const type *t, const char *policy, const listed *l, int64_t *size, double *scale)
{
    double all = 0;
    for (int k = 0; k < l->n; k++) {
        const double s = (double)size[l->axis[k]] / (double)t->dim[l->axis[k]];
        all = k == 0 || (!strcmp(policy, "not_larger") ? s < all : s > all) ? s : all;
    }
    for (int k = 0; k < l->n; k++)
        scale[l->axis[k]] = all, size[l->axis[k]] = (int64_t)floor(all * (double)t->dim[l->axis[k]] + 0.5);
}

/* Extents and scales of all axes; before version 11 scales only. */
static bool extents(const onnx_call *c, const listed *l, int64_t *size, double *scale, err *e)
{
    const type *t = &c->in[0]->type;
    const char *policy = onnx_word(c, "keep_aspect_ratio_policy", "stretch");
    int64_t want[MAX_RANK];
    int got;
    for (int i = 0; i < t->rank; i++)
        size[i] = t->dim[i], scale[i] = 1;
    const int place = c->version < 11 ? 1 : 2;
    const bool given = has_numbers(c, "scales", place);
    if (given && !spread(c, "scales", place, l, scale, e))
        return false;
    for (int i = 0; given && i < t->rank; i++) {
        const double s = floor((double)t->dim[i] * scale[i]);
        if (!(s >= 0 && s < ldexp(1, LONGEST_LOG2)))
            return err_set(e, TS_BAD_INPUT, "%s: scale %g of axis %d makes %lld elements %g, 0 to 2^%d expected",
                           c->type, scale[i], i, (long long)t->dim[i], s, LONGEST_LOG2);
        size[i] = (int64_t)s;
    }
    if (given)
        return true;
    if (c->version < 11 || !onnx_in(c, 3) || !onnx_ints(c, "", 3, want, MAX_RANK, &got, e) || got != l->n)
        return err_set(e, TS_BAD_INPUT, "%s: neither scales nor sizes, one of them with %d numbers expected", c->type,
                       l->n);
    for (int k = 0; k < l->n; k++)
        size[l->axis[k]] = want[k];
    for (int k = 0; k < l->n; k++)
        scale[l->axis[k]] = (double)want[k] / (double)(t->dim[l->axis[k]] ? t->dim[l->axis[k]] : 1);
    if (strcmp(policy, "stretch"))
        keep_ratio(t, policy, l, size, scale);
    return true;
}

static attr reals(const char *name, int n, const double *v)
{
    return (attr){.name = name, .kind = 'F', .n = n, .reals = v};
}

/* The parts of a crop: for every axis where it starts and ends; other axes are whole. */
static bool region(const onnx_call *c, const listed *l, double *roi, err *e)
{
    const int rank = c->in[0]->type.rank;
    listed both = {.n = 2 * l->n};
    for (int i = 0; i < rank; i++)
        roi[i] = 0, roi[i + rank] = 1;
    for (int k = 0; k < l->n; k++)
        both.axis[k] = l->axis[k], both.axis[k + l->n] = l->axis[k] + rank;
    return !has_numbers(c, "roi", 1) || spread(c, "roi", 1, &both, roi, e);
}

static bool adapt_resize(const onnx_call *c, const node **out, err *e)
{
    int64_t size[MAX_RANK];
    double scale[MAX_RANK], roi[2 * MAX_RANK];
    listed l;
    if (!onnx_axes(c, -1, &l.n, l.axis, e) || !extents(c, &l, size, scale, e))
        return false;
    const int rank = c->in[0]->type.rank;
    const char *old = c->version < 11 ? "asymmetric" : "half_pixel";
    const char *places = onnx_word(c, "coordinate_transformation_mode", old), *how = onnx_word(c, "mode", "nearest");
    if (!strcmp(how, "bilinear") || !strcmp(how, "trilinear"))
        how = "linear";
    const bool crop = !strcmp(places, "tf_crop_and_resize");
    const attr more[] = {
        attr_ints("sizes", rank, size),
        reals("scales", rank, scale),
        attr_word("coordinates", places),
        attr_word("mode", how),
        attr_word("nearest", onnx_word(c, "nearest_mode", c->version < 11 ? "floor_up" : "round_prefer_floor")),
        reals("roi", 2 * rank, roi)};
    if (crop && !region(c, &l, roi, e))
        return false;
    return onnx_give(c, out, onnx_made(c, 1, c->in, COUNT(more) - !crop, more), e);
}

/* Version 1 named the two axes of an image. */
static bool adapt_upsample_image(const onnx_call *c, const node **out, err *e)
{
    if (c->in[0]->type.rank != 4)
        return operands_refuse(1, c->in, e, "an image [batch, channel, height, width]");
    double scale[4] = {1, 1, onnx_real(c, "height_scale", 1), onnx_real(c, "width_scale", 1)};
    const char *how = onnx_word(c, "mode", "nearest");
    const attr own[] = {reals("scales", 4, scale), attr_word("mode", !strcmp(how, "nearest") ? how : "linear")};
    onnx_call as = *c;
    as.attr = own, as.n_attr = COUNT(own), as.version = 7, as.tensor = NULL;
    return adapt_resize(&as, out, e);
}

/* ---- ONNX: the way back ---- */
/* Other runtimes divide in f32, whose floor is right where each element is repeated as often as the others. */
static const char *stretch_back(const node *n)
{
    int axis;
    const type *t = &n->in[0]->type, *y = &n->type;
    const bool some = type_count(t) && type_count(y);
    return some && attr_axis(n, "axis", t->rank, &axis, NULL) && y->dim[axis] % t->dim[axis] == 0
               ? "Resize a - - # mode'nearest coordinate_transformation_mode'asymmetric nearest_mode'floor"
               : NULL;
}

/* ---- shape, body ---- */
static bool stretch_shape(const node *n, type *out, err *e)
{
    int axis;
    *out = n->in[0]->type;
    if (!attr_axis(n, "axis", out->rank, &axis, e))
        return false;
    if (node_int(n, "size") < 0 || (out->dim[axis] == 0 && node_int(n, "size")))
        return err_set(e, TS_BAD_INPUT, "size: %lld, 0 or more expected, and 0 of an axis of extent 0",
                       (long long)node_int(n, "size"));
    out->dim[axis] = node_int(n, "size");
    return true;
}

/* y[..., i, ...] = a[..., floor(i * in / size), ...] */
static const expr *stretch_body(defn *d)
{
    const type *t = &d->node->in[0]->type;
    const expr *sub[MAX_RANK];
    const int axis = defn_axis(d, t->rank);
    const int64_t in = t->dim[axis], out = node_int(d->node, "size");
    defn_axes(d, t->rank, sub);
    if (in && out % in == 0)
        sub[axis] = x2(d->mem, "floordiv", sub[axis], x_whole(d->mem, out ? out / in : 1));
    else
        sub[axis] = x2(d->mem, "floordiv", x_offset(d->mem, sub[axis], in, 0), x_whole(d->mem, out ? out : 1));
    return defn_at(d, 0, sub);
}

static bool resample_shape(const node *n, type *out, err *e)
{
    const type *t = &n->in[0]->type, *places = &n->in[1]->type, *weights = &n->in[2]->type;
    int axis;
    if (!attr_axis(n, "axis", t->rank, &axis, e))
        return false;
    if (places->rank != 2 || weights->rank != 2 || places->dim[0] != weights->dim[0] ||
        places->dim[1] != weights->dim[1] || dtype_class(places->dtype) != D_WHOLE)
        return operands_refuse(3, n->in, e, "x, places, integers [size, neighbours], and weights of their shape");
    *out = *t;
    out->dim[axis] = places->dim[0], out->dtype = dtype_promote(t->dtype, weights->dtype);
    return true;
}

/* y[..., i, ...] = sum over k of w[i, k] * a[..., p[i, k], ...] */
static const expr *resample_body(defn *d)
{
    const type *t = &d->node->in[0]->type;
    const expr *sub[MAX_RANK], *at[2];
    const int axis = defn_axis(d, t->rank);
    defn_axes(d, t->rank, sub);
    const int fold = defn_fold(d, d->node->in[1]->type.dim[1]);
    at[0] = sub[axis], at[1] = x_axis(d->mem, fold);
    sub[axis] = x2(d->mem, "at", x_cast(d->mem, TS_I64, defn_at(d, 1, at)), x_whole(d->mem, t->dim[axis]));
    const expr *x = x_cast(d->mem, d->node->type.dtype, defn_at(d, 0, sub));
    return x_fold(d->mem, "add", 1u << fold, x2(d->mem, "mul", x, defn_at(d, 2, at)));
}

/* ---- recipes ---- */
/* Whether place i is floor(i * in / out) throughout: then no table is needed. */
static bool is_stretch(const line *l, const taps *t)
{
    int64_t top;
    if (t->n != 1 || !int_mul(l->in, l->out, &top))
        return false;
    for (int64_t i = 0; i < l->out; i++)
        if (t->place[i] != i * l->in / l->out)
            return false;
    return true;
}

static const node *table_of(graph *g, dtype d, int64_t rows, int n, const double *v)
{
    const type t = {.dtype = d, .rank = 2, .dim = {rows, n}};
    char *bytes = arena_array(&g->mem, (size_t)(rows * n) + 1, 8);
    for (int64_t i = 0; i < rows * n; i++)
        store_real(d, bytes, i, v[i]);
    return g_const(g, NULL, &t, bytes);
}

static const node *extrapolated(graph *g, const node *y, int axis, const line *l, const taps *t, double value)
{
    const type truth = {.dtype = TS_BOOL, .rank = 1, .dim = {l->out}};
    bool any = false;
    for (int64_t i = 0; i < l->out; i++)
        any = any || t->beyond[i];
    if (!any || !y)
        return y;
    const node *beyond = g_along(g, g_const(g, NULL, &truth, t->beyond), y->type.rank, axis);
    return g_call3(g, "where", beyond, g_scalar_like(g, y, value), y);
}

static const node *along(graph *g, const node *x, int axis, const way *w, const line *l, double outside)
{
    taps t;
    if (l->in < 1)
        return g_fail(g, TS_BAD_INPUT, "axis %d to resize has 0 elements, at least 1 expected", axis);
    if (!taps_fill(&g->mem, w, l, &t, &g->err))
        return NULL;
    if (is_stretch(l, &t))
        return extrapolated(g, g_callf(g, 1, &x, "stretch axis=%d size=%lld", axis, (long long)l->out), axis, l, &t,
                            outside);
    const type places = {.dtype = TS_I64, .rank = t.n == 1 ? 1 : 2, .dim = {l->out, t.n}};
    const node *at = g_const(g, NULL, &places, t.place), *y; /* at [out] or [out, n]; y as x, with out at the axis */
    const bool real = dtype_class(x->type.dtype) == D_REAL;
    if (t.n == 1)
        y = g_callf(g, NODES(x, at), "gather axis=%d", axis);
    else {
        const node *weights = table_of(g, x->type.dtype == TS_F64 ? TS_F64 : TS_F32, l->out, t.n, t.weight);
        y = g_callf(g, NODES(x, at, weights), "resample axis=%d", axis);
    }
    y = real ? g_cast(g, y, x->type.dtype) : y;
    return extrapolated(g, y, axis, l, &t, outside);
}

static bool read_way(graph *g, const node *n, way *w)
{
    *w = (way){node_attr(n, "mode")->s, node_attr(n, "coordinates")->s, node_attr(n, "nearest")->s,
               node_real(n, "cubic"),   node_int(n, "exclude"),         node_int(n, "antialias")};
    if (strcmp(w->mode, "nearest") && strcmp(w->mode, "linear") && strcmp(w->mode, "cubic"))
        g_fail(g, TS_BAD_INPUT, "mode: \"%s\" is none of nearest, linear, cubic", w->mode);
    return taps_check(w->coordinates, &g->err) && !err_is(&g->err);
}

/* Whether up / down rounds to the scale, in the precision that this was given in: files have f32. */
static bool rounds_to(double up, double down, double scale)
{
    const double ratio = up / down;
    return scale == (double)(float)scale ? (float)ratio == (float)scale : ratio == scale;
}

/* A scale stands for a ratio: of the axis' extents, or of the least numbers that round to it. So a place that is a
 * whole number, as 3 / 0.6, is found to be one. */
static void set_scale(line *l, const attr *scales, int i)
{
    enum { MOST = 4096 };
    const double in = (double)(l->in ? l->in : 1);
    l->scale = l->up = scales->kind == 'F' ? scales->reals[i] : (double)l->out / in, l->down = 1;
    if (!(l->scale > 0 && l->scale < 1 << 24))
        return;
    if (rounds_to((double)l->out, in, l->scale)) {
        l->up = (double)l->out, l->down = in;
        return;
    }
    for (int down = 1; down <= MOST; down++) {
        const double up = floor(l->scale * down + 0.5);
        if (up > 0 && rounds_to(up, down, l->scale)) {
            l->up = up, l->down = down;
            return;
        }
    }
}

static const node *resize_lower(graph *g, const node *n)
{
    const node *y = n->in[0];
    const attr *sizes = node_attr(n, "sizes"), *scales = node_attr(n, "scales"), *roi = node_attr(n, "roi");
    const int rank = y->type.rank;
    const dtype d = y->type.dtype;
    way w;
    if (sizes->n != rank || (scales->kind == 'F' && scales->n != rank) || (roi->kind == 'F' && roi->n != 2 * rank))
        return g_fail(g, TS_BAD_INPUT, "sizes and scales need one number for each of %d axes, roi two", rank);
    if (!read_way(g, n, &w))
        return NULL;
    for (int i = 0; i < rank && y; i++) {
        line l = {.in = y->type.dim[i], .out = sizes->ints[i], .end = 1};
        set_scale(&l, scales, i);
        if (roi->kind == 'F')
            l.start = roi->reals[i], l.end = roi->reals[i + rank];
        if (l.out < 0 || (l.out > 0 && !(l.scale > 0)))
            return g_fail(g, TS_BAD_INPUT,
                          "axis %d: size %lld and scale %g, a size from 0 and a scale above 0 expected", i,
                          (long long)l.out, l.scale);
        if (l.in != l.out || l.scale != 1 || l.start != 0 || l.end != 1)
            y = along(g, y, i, &w, &l, node_real(n, "extrapolation"));
    }
    return g_cast(g, y, d);
}

/* ---- records ---- */
const op ops_resize[] = {
    BODY("stretch a axis:i=0 size:i", stretch_body, "np.take(a, np.arange(size) * a.shape[axis] // max(1, size), axis)",
         NULL,
         "f32[3,4] size=6\nf32[3,4] axis=1 size=7\ni64[2,9] axis=-1 size=4\nf32[2,3] axis=1 size=0\n"
         "bool[0,2] axis=1 size=4",
         "An axis at another extent: element i is element floor(i * extent / size).", .back_of = stretch_back,
         .shape = stretch_shape),
    BODY("resample a b c axis:i=0 -> r | c", resample_body,
         "np.moveaxis((np.moveaxis(a, axis, -1)[..., b] * c).sum(-1), -1, axis)", NULL,
         "f32[4,5] u8[3,2]<4 f32[3,2]\nf32[4,5] u32[7,4]<5 f32[7,4] axis=1\nf64[6] u64[2,3]<6 f64[2,3]\n"
         "u8[4,3] u8[2,2]<4 f32[2,2]\nf32[4,5] i64[0,2] f32[0,2]",
         "Sums over an axis of the elements at listed places, weighted.", .shape = resample_shape),
    RECIPE(
        "resize a sizes:I scales:F= roi:F= mode:s=nearest coordinates:s=half_pixel "
        "nearest:s=round_prefer_floor cubic:f=-0.75 exclude:i=0 antialias:i=0 extrapolation:f=0",
        resize_lower,
        "resize(a, sizes, scales, roi, mode, coordinates, nearest, cubic, exclude, antialias, extrapolation)", NULL,
        "f32[1,2,3,4] sizes=[1,2,6,8]\nf32[1,2,3,4] sizes=[1,2,6,8] mode=linear\nf32[3,4] sizes=[7,3] mode=cubic\n"
        "f32[6,7] sizes=[3,5] nearest=ceil coordinates=asymmetric\nf32[6,7] sizes=[3,5] mode=linear "
        "coordinates=align_corners\nf32[2,8] sizes=[2,3] mode=cubic antialias=1\nf32[2,8] sizes=[2,3] mode=linear "
        "antialias=1 exclude=1\nf32[4,4] sizes=[3,6] mode=linear coordinates=tf_crop_and_resize roi=[0.2,-0.4,0.8,1.3] "
        "extrapolation=9\nf64[5,3] sizes=[7,1] mode=linear coordinates=pytorch_half_pixel\nf32[7] sizes=[17] "
        "nearest=ceil\nf32[5] sizes=[1] mode=cubic coordinates=pytorch_half_pixel\nf32[12,9] sizes=[16,25] "
        "nearest=round_prefer_ceil\nf32[2] sizes=[1] scales=[0.7] mode=cubic coordinates=pytorch_half_pixel\n"
        "f32[50,15] sizes=[23,44] nearest=floor coordinates=align_corners\nf32[6,4] sizes=[4,2] "
        "scales=[0.6666666865348816,0.6000000238418579] nearest=floor coordinates=align_corners\nf32[9,7] sizes=[3,4] "
        "scales=[0.3333333432674408,0.6000000238418579] nearest=floor coordinates=asymmetric\nf32[5] sizes=[4] "
        "scales=[0.9] mode=linear coordinates=half_pixel_symmetric\nf32[5,5] sizes=[3,12] mode=cubic cubic=-0.5 "
        "exclude=1\ni32[4] sizes=[6] nearest=floor\nf32[5,4] sizes=[3,7] nearest=floor_up coordinates=asymmetric\n"
        "f32[4] sizes=[9] coordinates=tf_half_pixel_for_nn\nf32[2,3] sizes=[2,3]",
        "Other extents by nearest, linear or cubic interpolation; scales default to the ratio of the extents.",
        .adapted = ADAPTED({"Resize 10 .ffi 1..4 antialias axes coordinate_transformation_mode cubic:cubic_coeff_a "
                            "exclude:exclude_outside extrapolation:extrapolation_value keep_aspect_ratio_policy mode "
                            "nearest_mode",
                            adapt_resize},
                           {"Upsample 1 .f 1..2 height_scale mode scales width_scale", adapt_upsample_image},
                           {"Upsample 7 .f 1..2 height_scale mode scales width_scale", adapt_resize}),
        .onnx_undefined =
            "Resize: Between integers the fraction goes; what lies beyond their range is its end. Places are those of "
            "the least ratio that rounds to the scale: 0.6 is 3 / 5. Extents are those of the scale as it is: 10 * 0.7 "
            "in f32 is below 7, so 6; ONNX Runtime takes 7. With scales, align_corners and tf_crop_and_resize take "
            "extent * scale for the new length where mode is linear or cubic, as the project's cases do; for nearest, "
            "and in ONNX Runtime, it is a whole number.",
        .onnx_cases = "Resize f32[2,3] f64[2]=2\nUpsample f32[1,1,2,3] scales=[1.0,1.0,2.0,2.0]\n"
                      "Upsample f32[1,1,2,3] height_scale=2.0 width_scale=2.0"),
    {0},
};
