/* regions.c - the grid of an affine map, and features of boxes: points between elements, weighted by how near they
 * are. */
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"

#include <string.h>

/* ---- ONNX ---- */
static bool adapt_affine_grid(const onnx_call *c, const node **out, err *e)
{
    int64_t size[MAX_RANK];
    int n;
    if (!onnx_ints(c, "", 1, size, MAX_RANK, &n, e))
        return false;
    if (n < 3)
        return err_set(e, TS_BAD_INPUT, "AffineGrid: a size of %d numbers, at least 3 expected", n);
    return onnx_give(c, out, onnx_made(c, 1, c->in, ATTRS(attr_ints("size", n - 2, size + 2))), e);
}

/* Without a sampling ratio every box has its own number of points, ceil(extent / bins): known while the graph is built,
 * or refused. */
static bool most_points(const onnx_call *c, const int64_t *bins, double scale, bool half, int64_t *most, err *e)
{
    const ts_array *box = g_needed(c->g, c->in[1]);
    if (!box)
        return g_wait(c->g, e, "RoiAlign without sampling_ratio depends on values known only at run time");
    *most = 1;
    for (int64_t i = 0; i < box->dim[0]; i++)
        for (int k = 0; k < 2; k++) {
            double extent = (ts_array_at(box, 4 * i + 2 + k) - ts_array_at(box, 4 * i + k)) * scale;
            extent = !half && extent < 1 ? 1 : extent;
            const int64_t points = extent < 0x1p20 ? (int64_t)__builtin_ceil(extent / (double)bins[1 - k]) : 1 << 20;
            *most = points > *most ? points : *most;
        }
    return true;
}

static bool adapt_roi_align(const onnx_call *c, const node **out, err *e)
{
    const char *how = onnx_word(c, "coordinate_transformation_mode", "half_pixel");
    const bool half = c->version >= 16 && !strcmp(how, "half_pixel");
    const double scale = onnx_real(c, "spatial_scale", 1);
    const int64_t bins[] = {onnx_int(c, "output_height", 1), onnx_int(c, "output_width", 1)};
    int64_t ratio = onnx_int(c, "sampling_ratio", 0), most = ratio;
    if (c->in[1]->type.rank != 2 || c->in[1]->type.dim[1] != 4)
        return operands_refuse(3, c->in, e,
                               "images [batch, channel, height, width], boxes [n, 4] and their images [n]");
    if (bins[0] < 1 || bins[1] < 1)
        return err_set(e, TS_BAD_INPUT, "RoiAlign: output_height %lld, output_width %lld, at least 1 expected",
                       (long long)bins[0], (long long)bins[1]);
    if (ratio <= 0 && !most_points(c, bins, scale, half, &most, e))
        return false;
    const attr list[] = {attr_ints("bins", 2, bins), attr_int("points", ratio > 0 ? ratio : 0), attr_int("most", most),
                         attr_int("half_pixel", half)};
    return onnx_give(c, out, onnx_made(c, 3, c->in, COUNT(list), list), e);
}

/* ---- shape ---- */
static bool roi_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type, *box = &n->in[1]->type, *batch = &n->in[2]->type;
    const attr *bins = node_attr(n, "bins");
    const char *mode = node_attr(n, "mode")->s;
    if (x->rank != 4 || x->dim[2] < 1 || x->dim[3] < 1 || box->rank != 2 || box->dim[1] != 4 || batch->rank != 1 ||
        batch->dim[0] != box->dim[0] || dtype_class(batch->dtype) != D_WHOLE)
        return operands_refuse(3, n->in, e,
                               "images [batch, channel, height, width], boxes [n, 4] and their images, integers [n],");
    if (bins->n != 2 || bins->ints[0] < 1 || bins->ints[1] < 1 || node_int(n, "most") < 1 ||
        (strcmp(mode, "avg") && strcmp(mode, "max")))
        return err_set(e, TS_BAD_INPUT,
                       "%d bins, most=%lld and mode=%s; bins=[H,W] and points of 1 or more and avg or max expected",
                       bins->n, (long long)node_int(n, "most"), mode);
    *out = (type){.dtype = x->dtype, .rank = 4, .dim = {box->dim[0], x->dim[1], bins->ints[0], bins->ints[1]}};
    return true;
}

/* One spatial axis of the points of a box. */
typedef struct side {
    const expr *near[2], *weight[2], *real; /* the two elements around a point; whether it counts */
    const expr *count;                      /* points of a bin */
} side;

/* Point `p` of the bin that result axis 2 + s counts. */
static side side_of(defn *d, int s, const expr *p)
{
    arena *mem = d->mem;
    const node *n = d->node;
    const dtype real = n->type.dtype;
    const bool half = node_int(n, "half_pixel");
    const int64_t dim = n->in[0]->type.dim[2 + s], bins = node_attr(n, "bins")->ints[s], fixed = node_int(n, "points");
    const expr *edge[2], *last = x_whole(mem, dim - 1);
    for (int k = 0; k < 2; k++) {
        const expr *at[] = {x_axis(mem, 0), x_whole(mem, 2 * k + 1 - s)};
        edge[k] = x_said(mem, half ? "x * scale - 0.5" : "x * scale - 0.0", "x", x_cast(mem, real, defn_at(d, 1, at)),
                         "scale", x_real(mem, node_real(n, "scale")), NULL);
    }
    const expr *bin = x_said(mem, half ? "(b - a) / bins" : "max(b - a, 1.0) / bins", "a", edge[0], "b", edge[1],
                             "bins", x_real(mem, (double)bins), NULL);
    side y;
    y.count = fixed ? x_whole(mem, fixed) : x_cast(mem, TS_I64, x1(mem, "ceil", bin));
    const expr *at = x_said(mem, "start + (i + (p + 0.5) / count) * bin", "start", edge[0], "i",
                            x_cast(mem, real, x_axis(mem, 2 + s)), "p", x_cast(mem, real, p), "count",
                            x_cast(mem, real, y.count), "bin", bin, NULL);
    y.real = x_said(mem, "p < count && (low <= at && at <= high)", "p", p, "count", y.count, "at", at, "low",
                    x_real(mem, -1), "high", x_real(mem, (double)dim), NULL);
    at = x_said(mem, "min(max(at, 0.0), last)", "at", at, "last", x_real(mem, (double)(dim - 1)), NULL);
    const expr *low = x1(mem, "floor", at), *rest = x2(mem, "sub", at, low);
    y.near[0] = x2(mem, "min", x_cast(mem, TS_I64, low), last);
    y.near[1] = x_said(mem, "min(i + 1, last)", "i", y.near[0], "last", last, NULL);
    y.weight[0] = x2(mem, "sub", x_real(mem, 1), rest), y.weight[1] = rest;
    return y;
}

/* ---- body ---- */
/* 0, which reads the box's image: one that is not there is an error, wherever the box's points are. */
static const expr *image_is_there(defn *d, const expr *batch)
{
    arena *mem = d->mem;
    const expr *corner = defn_at(d, 0, (const expr *const[]){batch, x_axis(mem, 1), x_whole(mem, 0), x_whole(mem, 0)});
    const expr *zero = x_cast(mem, d->node->type.dtype, x_real(mem, 0));
    return x3(mem, "select", x1(mem, "isnan", corner), zero, zero);
}

/* y[r, c, i, j] = mean, or maximum, over the points of the bin of the four elements around, weighted */
static const expr *roi_body(defn *d)
{
    arena *mem = d->mem;
    const node *n = d->node;
    const bool mean = !strcmp(node_attr(n, "mode")->s, "avg");
    const int p = defn_fold(d, node_int(n, "most")), q = defn_fold(d, node_int(n, "most"));
    const side y = side_of(d, 0, x_axis(mem, p)), x = side_of(d, 1, x_axis(mem, q));
    const expr *image = x_cast(mem, TS_I64, defn_at(d, 2, (const expr *const[]){x_axis(mem, 0)})), *all = NULL;
    const expr *batch = x2(mem, "at", image, x_whole(mem, n->in[0]->type.dim[0]));
    for (int i = 0; i < 4; i++) {
        const expr *value = defn_at(d, 0, (const expr *const[]){batch, x_axis(mem, 1), y.near[i / 2], x.near[i % 2]});
        value = x2(mem, "mul", x2(mem, "mul", y.weight[i / 2], x.weight[i % 2]), value);
        all = all ? x2(mem, mean ? "add" : "max", all, value) : value;
    }
    const expr *real = x2(mem, "and", y.real, x.real);
    if (!mean) { /* points outside of the image count as 0, those that the box does not have not at all */
        all = x_said(mem, "p < rows && q < columns ? real ? all : 0.0 : least", "p", x_axis(mem, p), "rows", y.count,
                     "q", x_axis(mem, q), "columns", x.count, "real", real, "all", all, "least",
                     x_real(mem, dtype_lowest(n->type.dtype)), NULL);
        d->value = x2(mem, "add", x_fold(mem, "max", 1u << p | 1u << q, all), image_is_there(d, batch));
        return d->value;
    }
    const expr *sum = x_fold(mem, "add", 1u << p | 1u << q, x3(mem, "select", real, all, x_real(mem, 0)));
    const expr *count = x2(mem, "max", x2(mem, "mul", y.count, x.count), x_whole(mem, 1));
    d->value = x2(mem, "div", sum, x_cast(mem, n->type.dtype, count));
    return x2(mem, "add", d->value, image_is_there(d, batch));
}

/* ---- recipes ---- */
/* y[n, o..., :] = theta[n] applied to the place of o between -1 and 1, last axis first, and 1 */
static const node *affine_lower(graph *g, const node *n)
{
    const attr *size = node_attr(n, "size");
    const type *t = &n->in[0]->type;
    const node *y = NULL;
    int64_t shape[MAX_RANK];
    if (size->n < 1 || size->n + 2 > MAX_RANK || t->rank != 3 || t->dim[1] != size->n || t->dim[2] != size->n + 1)
        return g_fail(g, TS_BAD_INPUT, "maps [batch, %d, %d] expected", size->n, size->n + 1);
    for (int k = 0; k <= size->n; k++) { /* column k of theta: of the axis size->n - 1 - k, the last one is moved by */
        const node *column = g_callf(g, 1, n->in, "index key=:,:,%d", k);
        for (int i = 0; i < size->n + 2; i++)
            shape[i] = i == 0 ? t->dim[0] : i == size->n + 1 ? size->n : 1;
        column = g_reshape(g, column, size->n + 2, shape);
        if (k < size->n) {
            const int axis = size->n - 1 - k;
            const int64_t dim = size->ints[axis];
            const bool corners = node_int(n, "align_corners");
            const double step = 2.0 / (double)(corners ? (dim > 1 ? dim - 1 : 1) : dim ? dim : 1);
            const node *at = g_scaled(g, g_count(g, dim, TS_F64), step);
            at = g_call2(g, "add", at, g_scalar(g, TS_F64, corners ? -1 : step / 2 - 1));
            at = g_along(g, at, size->n + 2, axis + 1);
            column = g_call2(g, "multiply", column, g_cast(g, at, t->dtype));
        }
        y = y ? g_call2(g, "add", y, column) : column;
    }
    for (int i = 0; i < size->n + 2; i++)
        shape[i] = i == 0 ? t->dim[0] : i == size->n + 1 ? size->n : size->ints[i - 1];
    return g_broadcast(g, y, size->n + 2, shape);
}

/* ---- records ---- */
const op ops_regions[] = {
    RECIPE("affine_grid a size:I align_corners:i=0", affine_lower, "affine_grid(a, size, align_corners)", NULL,
           "f32[2,2,3] size=[4,5]\nf32[2,2,3] size=[4,5] align_corners=1\nf64[1,3,4] size=[2,3,4]\n"
           "f64[1,3,4] size=[2,3,4] align_corners=1",
           "Where affine maps [batch, n, n + 1] bring the places of a grid between -1 and 1.",
           .adapted = ADAPTED({"AffineGrid 20 fi 2 align_corners", adapt_affine_grid}),
           .onnx_cases = "AffineGrid f32[2,2,3] i64[4]=2"),
    BODY("roi_align a b c bins:I points:i=0 most:i scale:f=1 half_pixel:i=1 mode:s=avg -> n c oh ow | kh kw", roi_body,
         "roi_align(a, b, c, bins, points, scale, half_pixel, mode)", NULL,
         "f64[2,3,6,7] f64[3,4]+ u8[3]<2 bins=[2,3] points=2 most=2\nf64[2,3,6,7] f64[3,4]+ u8[3]<2 bins=[2,2] "
         "points=3 most=3 half_pixel=0 scale=0.5\nf64[1,2,5,5] f64[2,4]+ u8[2]<1 bins=[1,2] points=2 most=2 "
         "mode=max\nf64[1,2,5,5] f64[2,4]+ u8[2]<1 bins=[1,2] most=9 half_pixel=0",
         "Mean or maximum of interpolated points in the bins of boxes; points=0: as many as the bin is long, up to "
         "`most`.",
         .adapted = ADAPTED({"RoiAlign 10 FFi 3 coordinate_transformation_mode mode output_height output_width "
                             "sampling_ratio scale:spatial_scale",
                             adapt_roi_align}),
         .onnx_cases = "RoiAlign f32[1,1,4,4] f32[2,4] i64[2]=0 sampling_ratio=2", .shape = roi_shape),
    {0},
};
