/* winograd.c - convolution of 3 x 3 with fewer products (Winograd; Lavin and Gray, arXiv 1509.09308). The result is cut
 * into tiles of m x m pixels; t = m + 2 pixels of the input in each direction give one. With tables B, G and A,
 *
 *     y = A' [ (G w G') * (B' x B) ] A
 *
 * for each tile x and filter w, and channels are summed between the transforms: t * t products of matrices in place of
 * 9 * m * m. Both transforms of values are sums of neighbours; that of the weights is done once. */
#include "graph/ops/winograd.h"
#include "graph/ops/window.h"

enum { MAX_TILE_SIDE = 4 };
typedef struct winograd {
    int m, t;                               /* pixels of the result, and of the input, along a side of a tile */
    double b[MAX_TILE_SIDE][MAX_TILE_SIDE]; /* [place, pixel of the input] */
    double g[MAX_TILE_SIDE][3];             /* [place, point of the kernel] */
    double a[MAX_TILE_SIDE][MAX_TILE_SIDE]; /* [pixel of the result, place] */
} winograd;

/* Interpolation at 0, 1, -1 and infinity: every number is 0, 1 or 1/2 but for sign, so sums of small integers stay
 * exact, and rounding is that of the plain sum. */
static const winograd tiles_of_2 = {.m = 2,
                                    .t = 4,
                                    .b = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                                    .g = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                                    .a = {{1, 1, 1, 0}, {0, 1, -1, -1}}};

/* ---- helpers ---- */
/* The sum over i of row[i] * part[i], where row is that of `table` which the number `which` names, one of n_row. */
static const expr *chosen_sum(arena *mem, const double table[][MAX_TILE_SIDE], int n_row, int n, const expr *which,
                              const expr *const *part)
{
    const expr *sum[MAX_TILE_SIDE];
    for (int r = 0; r < n_row; r++)
        sum[r] = x_weighted(mem, n, table[r], part);
    return x_chosen(mem, which, n_row, sum);
}

static const winograd *const tiling = &tiles_of_2;

static int64_t tiles_along(const node *n, int s) /* spatial axis s; below 1: the kernel does not fit */
{
    const int64_t *pad = node_attr(n, "pads")->ints, places = n->in[0]->type.dim[2 + s] + pad[s] + pad[2 + s] - 2;
    return (places + tiling->m - 1) / tiling->m;
}

/* ---- shape ---- */
static bool tiles_shape(const node *n, type *out, err *e)
{
    enum { MOST = 1 << 20 };
    const type *x = &n->in[0]->type;
    const attr *pads = node_attr(n, "pads");
    if (x->rank != 4 || pads->n != 4)
        return err_set(e, TS_BAD_INPUT, "input of rank %d with %d pads, 4 and 4 expected", x->rank, pads->n);
    for (int i = 0; i < 4; i++)
        if (pads->ints[i] < 0 || pads->ints[i] > MOST || x->dim[2 + i % 2] > INT64_MAX - 4 * MOST)
            return err_set(e, TS_BAD_INPUT, "pads: %lld beside %lld pixels, 0 to %d expected", (long long)pads->ints[i],
                           (long long)x->dim[2 + i % 2], (int)MOST);
    *out = (type){.dtype = x->dtype,
                  .rank = 6,
                  .dim = {tiling->t, tiling->t, x->dim[0], tiles_along(n, 0), tiles_along(n, 1), x->dim[1]}};
    if (out->dim[3] < 1 || out->dim[4] < 1)
        return operands_refuse(1, n->in, e, "an image that holds, with pads, a kernel of 3 x 3");
    return true;
}

static bool pixels_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type;
    const winograd *w = tiling;
    const attr *extents = node_attr(n, "extents");
    if (x->rank != 6 || x->dim[0] != w->t || x->dim[1] != w->t)
        return operands_refuse(1, n->in, e, "an image in tiles [%d, %d, batch, tiles, tiles, channel]", w->t, w->t);
    if (extents->n != 2)
        return err_set(e, TS_BAD_INPUT, "attribute extents has %d numbers, 2 expected", extents->n);
    for (int s = 0; s < 2; s++) {
        const int64_t most = x->dim[3 + s] * w->m;
        if (extents->ints[s] > most || extents->ints[s] <= most - w->m)
            return err_set(e, TS_BAD_INPUT, "extents: %lld does not take %lld tiles of %d", (long long)extents->ints[s],
                           (long long)x->dim[3 + s], w->m);
    }
    *out = (type){.dtype = x->dtype, .rank = 4, .dim = {x->dim[2], x->dim[5], extents->ints[0], extents->ints[1]}};
    return true;
}

/* ---- body ---- */
/* y[i, j, n, ty, tx, c] = sum over p, q of b[i, p] * b[j, q] * x[n, c, m * ty + p - before, m * tx + q - before] */
static const expr *tiles_body(defn *d)
{
    const winograd *w = tiling;
    arena *mem = d->mem;
    const expr *line[MAX_TILE_SIDE], *pixel[MAX_TILE_SIDE];
    const int64_t *pads = node_attr(d->node, "pads")->ints, *in = d->node->in[0]->type.dim + 2;
    for (int p = 0; p < w->t; p++) {
        for (int q = 0; q < w->t; q++) {
            const int64_t at[] = {p, q};
            const expr *sub[4] = {x_axis(mem, 2), x_axis(mem, 5)}, *inside = NULL;
            for (int s = 0; s < 2; s++) {
                const int64_t low = at[s] - pads[s];
                sub[2 + s] = x_offset(mem, x_axis(mem, 3 + s), w->m, low);
                if (low < 0)
                    inside = x_both(mem, inside, x2(mem, "le", x_whole(mem, 0), sub[2 + s]));
                if (at[s] + pads[2 + s] > w->t - w->m) /* a last tile of one pixel reads behind the end */
                    inside = x_both(mem, inside, x2(mem, "lt", sub[2 + s], x_whole(mem, in[s])));
            }
            pixel[q] = defn_at(d, 0, sub);
            if (inside)
                pixel[q] = x3(mem, "select", inside, pixel[q], x_whole(mem, 0));
        }
        line[p] = chosen_sum(mem, w->b, w->t, w->t, x_axis(mem, 1), pixel);
    }
    return chosen_sum(mem, w->b, w->t, w->t, x_axis(mem, 0), line);
}

/* y[n, c, h, w] = sum over i, j of a[h % m, i] * a[w % m, j] * x[i, j, n, h / m, w / m, c] */
static const expr *pixels_body(defn *d)
{
    const winograd *w = tiling;
    arena *mem = d->mem;
    const expr *tile[2], *place[2], *line[MAX_TILE_SIDE], *sum[MAX_TILE_SIDE];
    for (int s = 0; s < 2; s++) {
        tile[s] = x2(mem, "floordiv", x_axis(mem, 2 + s), x_whole(mem, w->m));
        place[s] = x2(mem, "mod", x_axis(mem, 2 + s), x_whole(mem, w->m));
    }
    for (int i = 0; i < w->t; i++) {
        for (int j = 0; j < w->t; j++) {
            const expr *in_tile[2] = {x_whole(mem, i), x_whole(mem, j)};
            const expr *at[] = {in_tile[0], in_tile[1], x_axis(mem, 0), tile[0], tile[1], x_axis(mem, 1)};
            sum[j] = defn_at(d, 0, at);
        }
        line[i] = chosen_sum(mem, w->a, w->m, w->t, place[1], sum);
    }
    return chosen_sum(mem, w->a, w->m, w->t, place[0], line);
}

/* ---- recipes: weights ---- */
/* [place, place, ic, oc]: sum over kernel points p, q of g[i, p] * g[j, q] * w[oc, ic, p, q]; computed when it
 * is needed. */
static const node *weights(graph *g, const winograd *w, const node *weight)
{
    const int64_t oc = weight->type.dim[0], ic = weight->type.dim[1];
    float both[MAX_TILE_SIDE][MAX_TILE_SIDE][3][3] = {0};
    for (int i = 0; i < w->t; i++)
        for (int j = 0; j < w->t; j++)
            for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++)
                    both[i][j][p][q] = (float)(w->g[i][p] * w->g[j][q]);
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {w->t, w->t, 3, 3}};
    const int64_t extent[] = {w->t, w->t, ic, oc, 3, 3};
    const node *table = g_const(g, NULL, &t, both);
    if (!table)
        return NULL;
    const node *made = g_element(g, NODES(weight, table),
                                 &(spelling){4, 2, extent, "add", "a[i3,i2,i4,i5]*b[i0,i1,i4,i5]"});
    return g_known(g, made, weight->label);
}

/* ---- recipes: the convolution ---- */
static double nonzero(const double *of, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += of[i] != 0;
    return sum;
}

static bool takes(const node *conv, window *win)
{
    const node *x = conv->in[0], *weight = conv->in[1];
    if (!window_read(conv, weight->type.dim + 2, win, NULL) || node_int(conv, "group") != 1 ||
        conv->type.dtype != TS_F32 || x->type.dtype != TS_F32 || weight->type.dtype != TS_F32 ||
        !node_is_leaf(weight) || weight->leaf->kind == LEAF_INPUT || !type_count(&conv->type))
        return false;
    for (int s = 0; s < 2; s++)
        if (win->kernel[s] != 3 || win->stride[s] != 1 || win->dilation[s] != 1)
            return false;
    return true;
}

/* Of a tile, each of the 16 places reads what it is the sum of, and each pixel too: these passes write 16 values that
 * lie a power of two apart, which may cost twice what is counted. So a fifth is to be saved by the count. 16 tiles read
 * each weight, of which there are 16 for 9. */
bool winograd_way(const node *conv, way_cost *c)
{
    const winograd *w = tiling;
    const double ic = (double)conv->in[0]->type.dim[1], oc = (double)conv->type.dim[1];
    window win;
    if (!takes(conv, &win))
        return false;
    const double images = (double)conv->type.dim[0], places = w->t * w->t, pixels = (double)(win.out[0] * win.out[1]),
                 tiles = (double)((win.out[0] + w->m - 1) / w->m) * (double)((win.out[1] + w->m - 1) / w->m),
                 in = nonzero(&w->b[0][0], COUNT(w->b) * COUNT(w->b[0])),
                 out = nonzero(&w->a[0][0], w->m * COUNT(w->a[0]));
    *c = (way_cost){.name = "Winograd",
                    .plain = images * 2 * 9 * pixels * ic * oc,
                    .other = images * 2 * tiles * places * ic * oc,
                    .least = 1.0 / 5,
                    .passed = {{images * 4 * tiles * (in * in + places) * ic, images * 4 * tiles * places * ic},
                               {images * 4 * tiles * (out * out + 4) * oc, images * 4 * tiles * places * oc}},
                    .weights = 4 * 9 * ic * oc,
                    .more_weights = 4 * (places - 9) * ic * oc};
    return tiles >= 16;
}

/* x [n, c, h, w], tiles [4, 4, n, h / 2, w / 2, c], products [4, 4, n, h / 2, w / 2, o] -> [n, o, h, w]; halves are
 * rounded up */
const node *winograd_conv(graph *g, const node *conv)
{
    const node *x = conv->in[0], *weight = conv->in[1];
    const winograd *w = tiling;
    window win;
    if (!takes(conv, &win))
        return NULL;
    const int64_t pads[] = {win.before[0], win.before[1], win.after[0], win.after[1]};
    const node *tiles = g_apply(g, "winograd_tiles", x, ATTRS(attr_ints("pads", 4, pads)));
    const node *products = g_callf(g, NODES(tiles, weights(g, w, weight)), "einsum equation=abnyxc,abco->abnyxo");
    return g_apply(g, "winograd_pixels", products, ATTRS(attr_ints("extents", 2, conv->type.dim + 2)));
}

/* ---- records ---- */
const op ops_winograd[] = {
    BODY("winograd_tiles a pads:I=[0,0,0,0] -> i j n th tw ic", tiles_body,
         "np.einsum('ip,jq,ncyxpq->ijnyxc', *[np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, "
         "-1]], a.dtype)] * 2, np.lib.stride_tricks.sliding_window_view(np.pad(a, ((0, 0), (0, 0), (pads[0], "
         "pads[2] + (a.shape[2] + pads[0] + pads[2]) % 2), (pads[1], pads[3] + (a.shape[3] + pads[1] + pads[3]) % "
         "2))), (4, 4), (2, 3))[:, :, ::2, ::2])",
         NULL, "f32[1,3,6,8] pads=[1,1,1,1]\nf32[2,5,7,4]\nf64[1,16,5,9] pads=[0,1,2,1]",
         "Tiles of 4 x 4 pixels, 2 apart, of images [batch, channel, h, w], turned for products with 3 x 3 kernels.",
         .shape = tiles_shape),
    BODY("winograd_pixels a extents:I -> n oc oh ow", pixels_body,
         "np.einsum('ri,sj,ijnyxc->ncyrxs', *[np.array([[1, 1, 1, 0], [0, 1, -1, -1]], a.dtype)] * 2, a).reshape("
         "a.shape[2], a.shape[5], 2 * a.shape[3], 2 * a.shape[4])[:, :, :extents[0], :extents[1]]",
         NULL, "f32[4,4,1,3,2,5] extents=[6,4]\nf32[4,4,2,2,3,16] extents=[3,5]\nf64[4,4,1,1,1,2] extents=[1,2]",
         "Images [batch, channel, h, w] from the products of winograd_tiles with kernels.", .shape = pixels_shape),
    {0},
};
