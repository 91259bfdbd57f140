/* sample.c - reading a tensor [batch, channel, space...] at places between its elements: on a grid, and in boxes. */
#include "graph/ops/window.h"

#include <string.h>

typedef struct grid {
    int space, taps; /* taps along each axis: 1 nearest, 2 linear, 4 cubic */
    bool corners;    /* -1 and 1 are the centres of the outer elements, not their outer edges */
    enum { ZEROS, BORDER, REFLECTION } pad;
} grid;

/* ---- helpers ---- */
static bool read_grid(const node *n, grid *q, err *e)
{
    const type *x = &n->in[0]->type, *at = &n->in[1]->type;
    const char *mode = node_attr(n, "mode")->s, *pad = node_attr(n, "padding")->s;
    *q = (grid){.space = x->rank - 2, .corners = node_int(n, "align_corners")};
    q->taps = !strcmp(mode, "nearest") ? 1 : !strcmp(mode, "linear") ? 2 : !strcmp(mode, "cubic") ? 4 : 0;
    q->pad = !strcmp(pad, "zeros") ? ZEROS : !strcmp(pad, "border") ? BORDER : REFLECTION;
    if (!q->taps)
        return err_set(e, TS_BAD_INPUT, "mode: \"%s\" is none of nearest, linear, cubic", mode);
    if (q->pad == REFLECTION && strcmp(pad, "reflection"))
        return err_set(e, TS_BAD_INPUT, "padding: \"%s\" is none of zeros, border, reflection", pad);
    if (q->space < 1 || q->space > MAX_SPACE || at->rank != x->rank || at->dim[0] != x->dim[0] ||
        at->dim[at->rank - 1] != q->space || dtype_class(at->dtype) != D_REAL)
        return operands_refuse(2, n->in, e, "x [batch, channel, space...] and a grid of reals [batch, space..., %d]",
                               q->space);
    return true;
}

static const expr *limited(arena *mem, const expr *x, double low, double high)
{
    return x_said(mem, "max(min(x, high), low)", "x", x, "high", x_real(mem, high), "low", x_real(mem, low), NULL);
}

/* There and back again between low and high. */
static const expr *reflected(arena *mem, const expr *x, double low, double high)
{
    if (high <= low)
        return x_real(mem, low);
    return x_said(mem, "high - abs((x - low) % turn - width)", "x", x, "high", x_real(mem, high), "low",
                  x_real(mem, low), "turn", x_real(mem, 2 * (high - low)), "width", x_real(mem, high - low), NULL);
}

/* The coordinate along axis s, in elements, moved inside as the padding wants it; the taps of a cubic are moved each
 * by itself. */
static const expr *coordinate(defn *d, const grid *q, int s, int64_t dim)
{
    arena *mem = d->mem;
    const expr *at[MAX_RANK];
    const double low = q->corners ? 0 : -0.5, high = (double)dim - (q->corners ? 1 : 0.5);
    at[0] = x_axis(mem, 0);
    for (int i = 0; i < q->space; i++)
        at[i + 1] = x_axis(mem, i + 2);
    at[q->space + 1] = x_whole(mem, q->space - 1 - s); /* the grid names the last axis first */
    const expr *x = x_said(mem, q->corners ? "(x + 1.0) * by" : "((x + 1.0) * by - 1.0) / 2.0", "x", defn_at(d, 1, at),
                           "by", x_real(mem, q->corners ? (double)(dim - 1) / 2 : (double)dim), NULL);
    if (q->taps == 1)
        x = x1(mem, "round", x);
    if (q->pad == BORDER && q->taps < 4)
        return limited(mem, x, 0, (double)(dim - 1));
    return q->pad == REFLECTION ? reflected(mem, x, low, high) : x;
}

/* Weight of tap k, the coordinate being `rest` behind the tap in the middle: linear, or the cubic convolution of
 * Keys. */
static const expr *weight(arena *mem, const grid *q, const expr *k, const expr *rest)
{
    if (q->taps == 2)
        return x3(mem, "select", x2(mem, "eq", k, x_whole(mem, 0)), x2(mem, "sub", x_real(mem, 1), rest), rest);
    const expr *t = x1(mem, "abs", x2(mem, "sub", x2(mem, "sub", x_cast(mem, rest->dtype, k), x_real(mem, 1)), rest));
    return x_said(mem, "t <= 1.0 ? ((a + 2) * t - (a + 3)) * t * t + 1 : ((a * t - 5 * a) * t + 8 * a) * t - 4 * a",
                  "t", t, "a", x_real(mem, -0.75), NULL);
}

/* A place as an integer inside the axis; *inside says whether it was there before, where that matters. */
static const expr *element(arena *mem, const grid *q, const expr *place, int64_t dim, const expr **inside)
{
    if (q->pad == ZEROS) {
        const expr *here = x2(mem, "and", x2(mem, "le", x_real(mem, 0), place),
                              x2(mem, "le", place, x_real(mem, (double)(dim - 1))));
        *inside = x_both(mem, *inside, here);
        return x_cast(mem, TS_I64, place);
    }
    if (q->pad == REFLECTION)
        place = x1(mem, "trunc", reflected(mem, place, q->corners ? 0 : -0.5, (double)dim - (q->corners ? 1 : 0.5)));
    return x_cast(mem, TS_I64, limited(mem, place, 0, (double)(dim - 1)));
}

/* ---- ONNX ---- */
static bool adapt_grid_sample(const onnx_call *c, const node **out, err *e)
{
    const char *mode = onnx_word(c, "mode", "linear");
    if (!strcmp(mode, "bilinear") || !strcmp(mode, "bicubic"))
        mode += 2;
    return onnx_give(c, out, onnx_made(c, 2, c->in, ATTRS(attr_word("mode", mode))), e);
}

/* ---- shape, body ---- */
static bool grid_shape(const node *n, type *out, err *e)
{
    grid q;
    *out = n->in[0]->type;
    if (!read_grid(n, &q, e))
        return false;
    for (int s = 0; s < q.space; s++) {
        if (out->dim[s + 2] < 1)
            return err_set(e, TS_BAD_INPUT, "spatial axis %d is empty, at least one element to read expected", s);
        out->dim[s + 2] = n->in[1]->type.dim[s + 1];
    }
    return true;
}

/* y[n, c, o...] = sum over taps k... of the product of their weights * x[n, c, floor(coordinate) + k - before...] */
static const expr *grid_body(defn *d)
{
    arena *mem = d->mem;
    const type *t = &d->node->in[0]->type;
    const expr *at[MAX_RANK] = {x_axis(mem, 0), x_axis(mem, 1)}, *inside = NULL, *product = NULL;
    uint32_t folds = 0;
    grid q;
    if (!read_grid(d->node, &q, d->err))
        return NULL;
    for (int s = 0; s < q.space; s++) {
        const expr *x = coordinate(d, &q, s, t->dim[s + 2]), *place = x;
        if (q.taps > 1) {
            const int fold = defn_fold(d, q.taps);
            const expr *k = x_axis(mem, fold), *base = x1(mem, "floor", x);
            folds |= 1u << fold;
            place = x2(mem, "add", base, x_cast(mem, base->dtype, x_offset(mem, k, 1, q.taps == 4 ? -1 : 0)));
            const expr *w = weight(mem, &q, k, x2(mem, "sub", x, base));
            product = product ? x2(mem, "mul", product, w) : w;
        }
        at[s + 2] = element(mem, &q, place, t->dim[s + 2], &inside);
    }
    const expr *x = defn_at(d, 0, at);
    if (inside)
        x = x3(mem, "select", inside, x, x_whole(mem, 0));
    return product ? x_fold(mem, "add", folds, x2(mem, "mul", product, x)) : x;
}

/* ---- records ---- */
const op ops_sample[] = {
    BODY("grid_sample a b mode:s=linear padding:s=zeros align_corners:i=0", grid_body,
         "grid_sample(a, b, mode, padding, align_corners)", NULL,
         "f32[1,2,4,5] f32[1,3,2,2]\nf32[2,1,4,5] f32[2,3,4,2] mode=nearest\nf64[1,2,4,5] f64[1,3,2,2] "
         "mode=cubic\nf32[1,2,4,5] f32[1,3,2,2] padding=border align_corners=1\nf32[1,1,3,4,2] f32[1,2,2,3,3]\n"
         "f64[1,2,4,5] f64[1,3,2,2] padding=reflection\nf64[1,2,4,5] f64[1,6,2,2] mode=cubic padding=reflection "
         "align_corners=1\nf32[1,2,4,5] f32[1,6,2,2] mode=cubic padding=border\nf64[1,2,7] f64[1,5,1]\n"
         "f32[1,2,4,5] f32[1,6,2,2] mode=nearest padding=reflection align_corners=1",
         "Elements of [batch, channel, space...] at the places between -1 and 1 that a grid lists, last axis first.",
         .adapted = ADAPTED({"GridSample 16 .f 2 align_corners mode padding:padding_mode", adapt_grid_sample}),
         .shape = grid_shape),
    {0},
};
