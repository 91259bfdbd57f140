/* determinant.c - determinants by elimination: at each step the row whose next element is the largest becomes the
 * pivot, is divided out of all rows, and takes no further part. */
#include "graph/ir/rule.h"

enum { MOST = 128 }; /* each row is a step of the recipe */

/* ---- recipes ---- */
/* x[b, n, n] loses its first row and column: the result is what is left, [b, n - 1, n - 1], and det [b, 1, 1] times the
 * pivot and the sign of the swap. Place and pivot [b, 1, 1]; head, then what is left of it, [b, n, 1] and [b, n - 1,
 * 1]; tail likewise [b, n, n - 1] and [b, n - 1, n - 1]; row [b, 1, n - 1]; number [b, n - 1, 1]. */
static const node *step(graph *g, const node *x, const node **det)
{
    const int64_t b = x->type.dim[0], n = x->type.dim[1];
    const node *head = g_part(g, x, 2, 0, 1);
    const node *place = g_call1(g, "argmax axis=1 keepdims=1", g_call1(g, "abs", head));
    const node *pivot = g_callf(g, NODES(head, place), "take_along_axis axis=1");
    const node *odd = g_call2(g, "not_equal", place, g_scalar(g, TS_I64, 0));
    *det = g_call2(g, "multiply", *det,
                   g_call3(g, "where", odd, g_call1(g, "negative", pivot), pivot)); /* a swap turns the sign */
    if (n == 1)
        return x;
    const node *tail = g_part(g, x, 2, 1, n - 1);
    const node *wide = g_broadcast(g, place, 3, (int64_t[]){b, 1, n - 1});
    const node *row = g_callf(g, NODES(tail, wide), "take_along_axis axis=1");
    /* Row i of what is left is row i + 1, but the first row where the pivot was. */
    const node *number = g_along(g, g_count(g, n - 1, TS_I64), 3, 1);
    number = g_call2(g, "add", number, g_scalar(g, TS_I64, 1));
    number = g_call3(g, "where", g_call2(g, "equal", number, place), g_scalar(g, TS_I64, 0), number);
    head = g_callf(g, NODES(head, number), "take_along_axis axis=1");
    wide = g_broadcast(g, number, 3, (int64_t[]){b, n - 1, n - 1});
    tail = g_callf(g, NODES(tail, wide), "take_along_axis axis=1");
    const node *none = g_call2(g, "equal", pivot, g_scalar_like(g, pivot, 0)); /* then the whole column is 0 */
    const node *safe = g_call3(g, "where", none, g_scalar_like(g, pivot, 1), pivot);
    return g_call2(g, "subtract", tail, g_call2(g, "multiply", g_call2(g, "divide", head, safe), row));
}

/* x [..., n, n] -> [...] */
static const node *det_lower(graph *g, const node *n)
{
    const type *t = &n->in[0]->type;
    const int64_t size = t->rank > 1 ? t->dim[t->rank - 1] : 0;
    int64_t batch = 1;
    if (t->rank < 2 || t->dim[t->rank - 2] != size || dtype_class(t->dtype) != D_REAL)
        return g_refuse(g, 1, n->in, "square matrices [..., n, n] of reals");
    if (size > MOST)
        return g_fail(g, TS_UNSUPPORTED, "matrices of %lld rows; at most %d are supported", (long long)size, MOST);
    for (int i = 0; i < t->rank - 2; i++)
        batch *= t->dim[i];
    const node *det = g_broadcast(g, g_scalar_like(g, n->in[0], 1), 3, (int64_t[]){batch, 1, 1});
    const node *x = g_reshape(g, n->in[0], 3, (int64_t[]){batch, size, size});
    for (int64_t i = 0; i < size && x; i++)
        x = step(g, x, &det);
    return g_reshape(g, det, t->rank - 2, t->dim);
}

/* ---- records ---- */
const op ops_determinant[] = {
    RECIPE("det a -> b", det_lower, "np.linalg.det(a)", "Det 11 f",
           "f64[4,4]\nf32[2,2]\nf64[3,2,3,3]\nf64[1,1]\nf64[2,2,2]=0\nf64[6,6]=1\nf64[0,2,2]",
           "Determinants of square matrices, the last two axes."),
    {0},
};
