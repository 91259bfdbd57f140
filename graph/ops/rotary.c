/* rotary.c - rotary position embeddings: pairs of numbers of a head are turned by an angle that grows with their
 * place. */
#include "graph/ops/attend.h"

/* ---- ONNX ---- */
/* Rows of the tables for the given positions, or the tables themselves, as [batch, 1, time, half]. */
static const node *angles(const onnx_call *c, const node *table)
{
    graph *g = c->g;
    if (onnx_in(c, 3))
        table = g_call2(g, "gather", table, c->in[3]);
    return g_call1(g, "expand_dims axes=[1]", table);
}

static bool adapt_rotary(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const node *x = c->in[0]; /* [batch, time, heads * width] or [batch, heads, time, width] */
    const bool flat = x->type.rank == 3;
    const int64_t *dim = x->type.dim, heads = onnx_int(c, "num_heads", 0);
    if (flat && (heads < 1 || dim[2] % heads))
        return err_set(e, TS_BAD_INPUT, "RotaryEmbedding: %lld heads of %lld numbers, num_heads has to divide them",
                       (long long)heads, (long long)dim[2]);
    x = flat ? attend_apart(g, x, heads) : x;
    const node *y = onnx_made(c, NODES(x, angles(c, c->in[1]), angles(c, c->in[2])), 0, NULL);
    return onnx_give(c, out, flat ? attend_together(g, y) : y, e);
}

/* ---- recipes ---- */
/* (p, q) -> (p cos - q sin, p sin + q cos), where p and q are halves of the turned part or neighbours in it:
 * x [..., all], turned [..., width], two [..., width / 2, 2]; p, q and the angles [..., width / 2]. */
static const node *rotary_lower(graph *g, const node *n)
{
    const node *x = n->in[0], *cosine = n->in[1], *sine = n->in[2], *p, *q;
    const int rank = x->type.rank;
    const int64_t all = rank ? x->type.dim[rank - 1] : 0, width = node_int(n, "width") ? node_int(n, "width") : all;
    int64_t shape[MAX_RANK], pairs[MAX_RANK];
    if (rank < 1 || rank >= MAX_RANK || width < 0 || width > all || width % 2)
        return g_fail(g, TS_BAD_INPUT, "%lld of %lld numbers cannot be turned in pairs", (long long)width,
                      (long long)all);
    for (int i = 0; i < rank; i++)
        shape[i] = pairs[i] = x->type.dim[i];
    shape[rank - 1] = width, pairs[rank - 1] = width / 2, pairs[rank] = 2;
    const node *turned = width == all ? x : g_part(g, x, rank - 1, 0, width); /* [..., width] */
    if (node_int(n, "interleaved")) {
        const node *two = g_reshape(g, turned, rank + 1, pairs); /* [..., width / 2, 2] */
        p = g_call1(g, "squeeze axes=[-1]", g_part(g, two, rank, 0, 1)),
        q = g_call1(g, "squeeze axes=[-1]", g_part(g, two, rank, 1, 1));
    } else {
        p = g_part(g, turned, rank - 1, 0, width / 2), q = g_part(g, turned, rank - 1, width / 2, width / 2);
    }
    /* [..., width / 2] */
    const node *real = g_call2(g, "subtract", g_call2(g, "multiply", p, cosine), g_call2(g, "multiply", q, sine));
    /* [..., width / 2] */
    const node *imaginary = g_call2(g, "add", g_call2(g, "multiply", p, sine), g_call2(g, "multiply", q, cosine));
    if (node_int(n, "interleaved"))
        turned = g_reshape(g, g_call2(g, "stack axis=-1", real, imaginary), rank, shape);
    else
        turned = g_call2(g, "concat axis=-1", real, imaginary);
    if (width == all)
        return turned;
    return g_callf(g, NODES(turned, g_part(g, x, rank - 1, width, all - width)), "concat axis=-1");
}

/* ---- records ---- */
const op ops_rotary[] = {
    RECIPE("rotary a b c interleaved:i=0 width:i=0", rotary_lower,
           "(lambda w, i: (lambda p, q: np.concatenate([(np.stack if i else np.concatenate)([p * b - q * c, p * c + "
           "q * b], -1).reshape(*a.shape[:-1], w), a[..., w:]], -1))(*((a[..., :w:2], a[..., 1:w:2]) if i else "
           "(a[..., :w // 2], a[..., w // 2:w]))))(width or a.shape[-1], interleaved)",
           NULL,
           "f32[2,3,5,8] f32[2,1,5,4] f32[2,1,5,4]\nf32[2,3,5,8] f32[2,1,5,4] f32[2,1,5,4] interleaved=1\n"
           "f32[2,5,8] f32[5,2] f32[5,2] width=4\nf64[5,6] f64[5,2] f64[5,2] width=4 interleaved=1",
           "Pairs of the first `width` numbers of the last axis (0: all), halves or neighbours, turned by angles "
           "whose cosines and sines are given.",
           .adapted = ADAPTED(
               {"RotaryEmbedding 23 FFFi 3..4 interleaved num_heads width:rotary_embedding_dim", adapt_rotary})),
    {0},
};
