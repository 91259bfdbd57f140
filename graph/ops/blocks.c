/* blocks.c - softmax and the mean that it weighs, block by block. What is known of the blocks so far are the largest
 * score m, the sum l of exp(score - m) and the sum o of exp(score - m) times the values. Another block has m', l' and
 * o', with exponentials lowered by max(m, m'); both together have
 *
 *     max(m, m'), exp(m - max(m, m')) l + l', exp(m - max(m, m')) o + o'
 *
 * (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018; Dao and others, FlashAttention, 2022). */
#include "graph/ops/blocks.h"
#include "graph/ir/rule.h"

#include <float.h>
#include <string.h>

/* ---- helpers ---- */
typedef struct cut {
    int axis;
    int64_t extent, size, n, again; /* again: elements of the last block that are in the one before it, too */
} cut;

static bool read_cut(const node *n, cut *c, err *e)
{
    const type *t = &n->in[0]->type;
    c->size = node_int(n, "size");
    if (!attr_axis(n, "axis", t->rank, &c->axis, e))
        return false;
    c->extent = t->dim[c->axis];
    if (t->rank == MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "rank %d, at most %d expected", t->rank, MAX_RANK - 1);
    if (c->size < 1 || c->size > c->extent)
        return err_set(e, TS_BAD_INPUT, "size: blocks of %lld along an axis of %lld, 1 to %lld expected",
                       (long long)c->size, (long long)c->extent, (long long)c->extent);
    c->n = c->extent / c->size + (c->extent % c->size > 0);
    c->again = c->n * c->size - c->extent;
    return true;
}

/* ---- shape ---- */
static bool cut_shape(const node *n, type *out, err *e)
{
    cut c;
    if (!read_cut(n, &c, e))
        return false;
    *out = n->in[0]->type;
    memmove(out->dim + c.axis + 1, out->dim + c.axis, (size_t)(out->rank - c.axis) * sizeof *out->dim);
    out->dim[c.axis] = c.n, out->dim[c.axis + 1] = c.size;
    out->rank++;
    return true;
}

static bool is_half(dtype d)
{
    return dtype_class(d) == D_REAL && ts_dtype_bytes(d) == 2;
}

/* Of values in halves the factors and sums may be f32. */
static bool mean_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[2]->type;
    *out = *x;
    bool fit = x->rank > 1 && dtype_class(x->dtype) == D_REAL;
    for (int i = 0; fit && i < 2; i++) {
        const type *t = &n->in[i]->type;
        fit = t->dtype == n->in[0]->type.dtype && (t->dtype == x->dtype || (t->dtype == TS_F32 && is_half(x->dtype))) &&
              t->rank == x->rank - 1 && !memcmp(t->dim, x->dim, (size_t)t->rank * sizeof *t->dim);
    }
    if (!fit)
        return operands_refuse(3, n->in, e, "factors and sums [..., blocks] and values [..., blocks, width] of reals");
    out->dim[out->rank - 2] = out->dim[out->rank - 1], out->rank--;
    return true;
}

/* ---- body ---- */
/* The last block ends where the axis does: block b starts at b * size - again * (b / (n - 1)). */
static const expr *cut_body(defn *d)
{
    const int rank = d->node->in[0]->type.rank;
    const attr *once = node_attr(d->node, "once");
    arena *mem = d->mem;
    const expr *sub[MAX_RANK];
    cut c;
    if (!read_cut(d->node, &c, d->err))
        return NULL;
    const expr *b = x_axis(mem, c.axis), *first = x_offset(mem, b, c.size, 0), *start = first;
    if (c.again)
        start = x2(mem, "add", first, x_offset(mem, x2(mem, "floordiv", b, x_whole(mem, c.n - 1)), -c.again, 0));
    for (int i = 0; i < rank; i++)
        sub[i] = x_axis(mem, i < c.axis ? i : i + 1);
    sub[c.axis] = x2(mem, "add", start, sub[c.axis]);
    d->value = defn_at(d, 0, sub);
    if (c.again && once->kind == 'f')
        return x3(mem, "select", x2(mem, "le", first, sub[c.axis]), d->value,
                  x_literal(mem, d->node->type.dtype, once->f));
    return d->value;
}

/* l = f[b] l + w[b], o = f[b] o + x[b], block by block; then o / l */
static const expr *mean_body(defn *d)
{
    const type *t = &d->node->type;
    const dtype own = ts_dtype_bytes(t->dtype) < 4 ? TS_F32 : t->dtype;
    arena *mem = d->mem;
    const expr *sub[MAX_RANK], *in[3], *state[2], *step[2], *zero = x_cast(mem, own, x_real(mem, 0));
    const int rank = t->rank, b = defn_fold(d, d->node->in[2]->type.dim[rank - 1]);
    for (int i = 0; i + 1 < rank; i++)
        sub[i] = x_axis(mem, i);
    sub[rank - 1] = x_axis(mem, b), sub[rank] = x_axis(mem, rank - 1);
    for (int i = 0; i < 3; i++)
        in[i] = x_cast(mem, own, defn_at(d, i, sub));
    for (int i = 0; i < 2; i++) {
        state[i] = x_state(mem, own, i);
        step[i] = x_said(mem, "f * s + w", "f", in[0], "s", state[i], "w", in[1 + i], NULL);
    }
    const int64_t empty = node_int(d->node, "empty");
    const expr *mean = x_said(mem,
                              empty == ZEROS ? "l == zero ? o : o / l"
                              : empty        ? "zero < l ? o / l : zero"
                                             : "o / l",
                              "l", state[0], "o", state[1], "zero", zero, NULL);
    return x_scan(mem, 1u << b, 0, 2, (const expr *const[]){zero, zero}, step, x_cast(mem, t->dtype, mean));
}

/* ---- recipes ---- */
/* scores [..., rows, keys], values [..., keys, width] -> [..., rows, width] */
const node *g_blocked_softmax(graph *g, const node *scores, const node *values, int64_t size, empty_rows empty)
{
    /* [..., rows, blocks, size] */
    const node *s = g_callf(g, 1, &scores, "in_blocks axis=-1 size=%lld once=-inf", (long long)size);
    /* [..., blocks, size, width] */
    const node *v = g_callf(g, 1, &values, "in_blocks axis=-2 size=%lld", (long long)size);
    /* where all is masked, no -inf less -inf */
    const node *most = g_call2(g, "maximum", g_call1(g, "max axes=[-1]", s),
                               g_scalar_like(g, scores, scores->type.dtype == TS_F64 ? -DBL_MAX : -FLT_MAX));
    const node *now = g_call1(g, "scan axis=-1 fn=max", most),
               *before = g_call1(g, "scan axis=-1 fn=max exclusive=1", most),
               *factor = g_call1(g, "exp", g_call2(g, "subtract", before, now)); /* [..., rows, blocks] each */
    const node *z = g_call1(g, "exp", g_call2(g, "subtract", s, g_call1(g, "expand_dims axes=[-1]", now))),
               *sum = g_call1(g, "sum axes=[-1]", z); /* [..., rows, blocks, size], [..., rows, blocks] */
    const node *o = g_call2(g, "matmul", g_call1(g, "expand_dims axes=[-2]", g_cast(g, z, values->type.dtype)),
                            g_call1(g, "expand_dims axes=[-4]", v)); /* [..., rows, blocks, 1, width] */
    return g_callf(g, NODES(factor, sum, g_call1(g, "squeeze axes=[-2]", o)), "block_mean empty=%d", (int)empty);
}

/* ---- grad ---- */
/* All blocks but the last lie behind one another; the last one ends at the end. dy [..., blocks, size, ...] -> [...,
 * extent, ...]. */
static const node *cut_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const type *t = &call->in[0]->type;
    const bool once = node_attr(call, "once")->kind == 'f';
    cut c;
    (void)k;
    dy = g_fitted(g, dy, &y->type);
    if (!read_cut(call, &c, &g->err) || !dy)
        return NULL;
    if (!c.again)
        return g_reshape(g, dy, t->rank, t->dim);
    int64_t shape[MAX_RANK];
    memcpy(shape, t->dim, sizeof shape);
    shape[c.axis] = (c.n - 1) * c.size;
    const node *most = g_reshape(g, g_part(g, dy, c.axis, 0, c.n - 1), t->rank, shape); /* [..., (n - 1) size, ...] */
    shape[c.axis] = c.size;
    const node *last = g_reshape(g, g_part(g, dy, c.axis, c.n - 1, 1), t->rank, shape); /* [..., size, ...] */
    const int64_t from = once ? c.again : 0;
    last = g_padded(g, g_part(g, last, c.axis, from, c.size - from), c.axis, c.extent - c.size + from, 0);
    return g_call2(g, "add", g_padded(g, most, c.axis, 0, c.size - c.again), last);
}

/* What block b adds is multiplied by the factors of all later ones, s[b]; l[b] and o[b] are what there is before it.
 * With dl = -sum over width of dy y / l and do = dy / l:
 * dw = dl s, dx = do s, df = s (dl l + sum over width of do o). All in the factors' dtype:
 * f, s, l [..., blocks], o, x, dx [..., blocks, width], y and dy [..., width]. */
static const node *grad_of_mean(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const node *f = call->in[0], *x = g_cast(g, call->in[2], f->type.dtype); /* [..., blocks], [..., blocks, width] */
    const int b = f->type.rank - 1;
    dy = g_cast(g, g_fitted(g, dy, &y->type), f->type.dtype), y = g_cast(g, y, f->type.dtype);
    const node *s = g_callf(g, 1, &f, "cumprod axis=-1 exclusive=1 reverse=1"),
               *l = g_call2(g, "linear_scan axis=-1", f, call->in[1]),
               *wide = g_fitted(g, g_call1(g, "expand_dims axes=[-1]", f), &x->type),
               *o = g_callf(g, NODES(wide, x), "linear_scan axis=%d", b);
    const node *all = l ? g_part(g, l, b, f->type.dim[b] - 1, 1) : NULL; /* [..., 1] */
    if (all && node_int(call, "empty"))
        all = g_formula(g, 1, &all, node_int(call, "empty") == ZEROS ? "a==0?1:a" : "0<a?a:1/0");
    const node *dout = g_call2(g, "divide", dy, all), *dsum = g_call1(g, "negative", g_call2(g, "multiply", dout, y));
    dsum = g_call1(g, "sum axes=[-1] keepdims=1", dsum);
    const node *dx = g_call2(g, "multiply", g_call1(g, "expand_dims axes=[-2]", dout),
                             g_call1(g, "expand_dims axes=[-1]", s));
    if (k == 2)
        return dx;
    if (k == 1)
        return g_call2(g, "multiply", dsum, s);
    const node *ways = g_call2(g, "multiply", g_call2(g, "multiply", dsum, s), g_padded(g, l, b, 1, -1));
    const node *moved = g_call1(g, "sum axes=[-1]", g_call2(g, "multiply", dx, g_padded(g, o, b, 1, -1)));
    return g_call2(g, "add", ways, moved); /* [..., blocks] */
}

static const node *mean_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const node *d = grad_of_mean(g, call, y, dy, k);
    return d ? g_cast(g, d, call->in[k]->type.dtype) : NULL;
}

/* ---- records ---- */
const op ops_blocks[] = {
    BODY("in_blocks a axis:i=0 size:i once:f= -> e", cut_body, "in_blocks(a, axis, size, once)", NULL,
         "f32[6] size=3\nf32[2,7] axis=-1 size=3\nf32[2,7] axis=1 size=3 once=-inf\ni64[5,2] size=2 once=0\n"
         "f64[7,3] axis=0 size=7\nf32[2,9,3] axis=-2 size=4 once=0",
         "An axis as blocks of so many elements: two axes. The last block ends where the axis does; elements of it "
         "that are in the one before, too, are `once` there, where that is given.",
         .shape = cut_shape, .grad = cut_grad),
    BODY("block_mean a b c empty:i=0 -> q d | s", mean_body, "block_mean(a, b, c, empty)", NULL,
         "f32[3]+ f32[3]+ f32[3,4]\nf32[2,5]+ f32[2,5]+ f32[2,5,7]\nf64[2,3,2]+ f64[2,3,2]+ f64[2,3,2,9] empty=1\n"
         "f32[2]=0 f32[2]=0 f32[2,3]=0 empty=1\nf32[2]=0 f32[2]=0 f32[2,3]=0 empty=2\nf32[1]+ f32[1]+ f32[1,1]\n"
         "f16[2]+ f16[2]+ f16[2,3]\nf32[2,3]+ f32[2,3]+ f16[2,3,4]",
         "The sums of blocks c divided by the sums b of their weights, added block by block, each time times a. "
         "Where weights come to 0: empty=1 the sum of c, empty=2 0, as where they come to NaN.",
         .shape = mean_shape, .grad = mean_grad),
    {0},
};
