/* contract.c - products summed over a shared axis: the matrix product in all of numpy's forms. */
#include "graph/ir/rule.h"
#include "graph/ops/quantize.h"
#include "graph/ops/strassen.h"

#include <math.h>
#include <string.h>

/* ---- ONNX ---- */
static bool is_whole(double x) /* and exact */
{
    return x == rint(x) && fabs(x) <= 0x1p53;
}

/* y = alpha * A' B' + beta * C, where ' is a transpose if asked for; C broadcasts and may be absent since version
 * 11. Over integers a factor that is none makes the sum one of f64, of which y is the whole part. */
static bool adapt_gemm(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const node *a = c->in[0], *b = c->in[1], *bias = onnx_in(c, 2);
    if (a->type.rank != 2 || b->type.rank != 2)
        return operands_refuse(2, c->in, e, "matrices [m, k] and [k, n]");
    if (onnx_int(c, "transA", 0))
        a = g_call1(g, "transpose", a);
    if (onnx_int(c, "transB", 0))
        b = g_call1(g, "transpose", b);
    const double alpha = onnx_real(c, "alpha", 1), beta = onnx_real(c, "beta", 1);
    const node *y = g_call2(g, "matmul", a, b); /* [m, n] */
    const dtype d = a->type.dtype;
    const bool parts = dtype_class(d) == D_WHOLE && !(is_whole(alpha) && (!bias || is_whole(beta)));
    if (parts)
        y = g_cast(g, y, TS_F64), bias = bias && beta != 0 ? g_cast(g, bias, TS_F64) : NULL;
    if (alpha != 1)
        y = g_scaled(g, y, alpha);
    if (bias && beta != 1 && beta != 0)
        bias = g_scaled(g, bias, beta);
    if (bias && beta != 0)
        y = g_call2(g, "add", y, bias);
    return onnx_give(c, out, parts ? g_cast(g, y, d) : y, e);
}

/* ---- shape ---- */
/* A vector is a row on the left, a column on the right, and its axis is missing in the result. */
static bool matmul_shape(const node *n, type *out, err *e)
{
    const type *a = &n->in[0]->type, *b = &n->in[1]->type;
    if (a->rank == 0 || b->rank == 0)
        return operands_refuse(2, n->in, e, "an axis of each to sum over (multiply takes scalars)");
    const int64_t ka = a->dim[a->rank - 1], kb = b->dim[b->rank == 1 ? 0 : b->rank - 2];
    if (ka != kb)
        return err_set(e, TS_BAD_INPUT, "inner extents %lld and %lld differ, equal ones expected", (long long)ka,
                       (long long)kb);
    type left = *a, right = *b;
    left.rank = a->rank < 2 ? 0 : a->rank - 2, right.rank = b->rank < 2 ? 0 : b->rank - 2;
    if (!type_broadcast(2, (const type *const[]){&left, &right}, out, e))
        return false;
    out->dtype = dtype_promote(a->dtype, b->dtype);
    if (out->rank + (a->rank > 1) + (b->rank > 1) > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "the result would have %d axes, at most %d are possible",
                       out->rank + (a->rank > 1) + (b->rank > 1), MAX_RANK);
    if (a->rank > 1)
        out->dim[out->rank++] = a->dim[a->rank - 2];
    if (b->rank > 1)
        out->dim[out->rank++] = b->dim[b->rank - 1];
    return true;
}

static bool integer_shape(const node *n, type *out, err *e)
{
    return both_small(n, e) && matmul_shape(n, out, e) && (out->dtype = TS_I32, true);
}

/* The axis that is summed is as long as that of the other operand, and so are leading ones; rows and columns are as
 * long as the result's. */
static bool matmul_extents(graph *g, const node *n, int64_t (*dim)[MAX_RANK])
{
    const type *const t[2] = {&n->in[0]->type, &n->in[1]->type};
    (void)g;
    if (!t[0]->rank || !t[1]->rank)
        return true;
    int64_t *const inner[2] = {&dim[0][t[0]->rank - 1], &dim[1][t[1]->rank == 1 ? 0 : t[1]->rank - 2]};
    for (int k = 0; k < 2; k++) {
        *inner[k] = *inner[k] < 0 ? *inner[1 - k] : *inner[k];
        for (int i = 0; i < t[k]->rank - 2; i++) {
            const int from = i + t[1 - k]->rank - t[k]->rank;
            if (dim[k][i] < 0 && from >= 0)
                dim[k][i] = t[1 - k]->dim[from];
        }
    }
    if (n->type.rank && t[0]->rank > 1 && dim[0][t[0]->rank - 2] < 0)
        dim[0][t[0]->rank - 2] = dim[2][n->type.rank - 1 - (t[1]->rank > 1)];
    if (n->type.rank && t[1]->rank > 1 && dim[1][t[1]->rank - 1] < 0)
        dim[1][t[1]->rank - 1] = dim[2][n->type.rank - 1];
    return true;
}

/* Rows and columns are; leading axes may be 1 where the result's are not. */
static bool matmul_kept(const node *n, int k, int i)
{
    const int rank = n->in[k]->type.rank;
    return rank > 1 && i == rank - (k ? 1 : 2);
}

/* ---- body ---- */
/* Subscripts of an operand's leading axes, of which the result has `lead`; those of extent 1 are read at 0. */
static void batch_subscripts(const defn *d, const type *t, int lead, const expr **sub)
{
    for (int i = 0; i < t->rank - 2; i++) {
        const int axis = lead - (t->rank - 2) + i;
        sub[i] = t->dim[i] == 1 && d->extent[axis] != 1 ? x_whole(d->mem, 0) : x_axis(d->mem, axis);
    }
}

/* y[b..., m, n] = sum over k of a[b..., m, k] * b[b..., k, n] */
static const expr *matmul_body(defn *d)
{
    const type *a = &d->node->in[0]->type, *b = &d->node->in[1]->type;
    const int lead = d->node->type.rank - (a->rank > 1) - (b->rank > 1);
    const expr *left[MAX_RANK], *right[MAX_RANK];
    const int fold = defn_fold(d, a->dim[a->rank - 1]);
    const expr *k = x_axis(d->mem, fold);
    batch_subscripts(d, a, lead, left);
    batch_subscripts(d, b, lead, right);
    if (a->rank > 1)
        left[a->rank - 2] = x_axis(d->mem, lead);
    left[a->rank - 1] = k;
    right[b->rank == 1 ? 0 : b->rank - 2] = k;
    if (b->rank > 1)
        right[b->rank - 1] = x_axis(d->mem, lead + (a->rank > 1));
    const dtype to = d->node->type.dtype;
    const bool truth = to == TS_BOOL;
    const expr *product = x2(d->mem, truth ? "and" : "mul", x_cast(d->mem, to, defn_at(d, 0, left)),
                             x_cast(d->mem, to, defn_at(d, 1, right)));
    return x_fold(d->mem, truth ? "or" : "add", 1u << fold, product);
}

/* ---- grad ---- */
static const node *shaped(graph *g, const node *a, int rank, const int64_t *dim)
{
    bool same = a && a->type.rank == rank;
    for (int i = 0; same && i < rank; i++)
        same = a->type.dim[i] == dim[i];
    return !a || same ? a : g_reshape(g, a, rank, dim);
}

/* All leading axes and the rows as one axis of rows. */
static const node *rows(graph *g, const node *a)
{
    int64_t shape[] = {1, a->type.dim[a->type.rank - 1]};
    for (int i = 0; i + 1 < a->type.rank; i++)
        shape[0] *= a->type.dim[i];
    return shaped(g, a, 2, shape);
}

/* da = dy b', db = a' dy: products again, so that what is known of matmul holds for them. Where one b serves all
 * leading axes of a, db is one product over all their rows, not a sum of products. */
static const node *matmul_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    const node *a = call->in[0], *b = call->in[1];
    const type was = call->in[k]->type;
    type t = dy->type;
    if (a->type.rank == 1)
        a = shaped(g, a, 2, (const int64_t[]){1, a->type.dim[0]});
    if (b->type.rank == 1)
        b = shaped(g, b, 2, (const int64_t[]){b->type.dim[0], 1});
    t.rank = y->type.rank - (call->in[0]->type.rank > 1) - (call->in[1]->type.rank > 1);
    t.dim[t.rank++] = a->type.dim[a->type.rank - 2], t.dim[t.rank++] = b->type.dim[b->type.rank - 1];
    dy = shaped(g, dy, t.rank, t.dim);
    const node *da = NULL;
    if (k == 0)
        da = g_call2(g, "matmul", dy, g_swapped(g, b));
    else if (b->type.rank == 2 && dy)
        da = g_call2(g, "matmul", g_swapped(g, rows(g, a)), rows(g, dy));
    else
        da = g_call2(g, "matmul", g_swapped(g, a), dy);
    return was.rank == 1 && da && da->type.rank == 2 ? shaped(g, da, 1, was.dim) : da;
}

static bool is_matrix(const node *n)
{
    return n->type.rank == 2;
}

const node *g_product(graph *g, const node *a, const node *b)
{
    return g_call2(g, "matmul", a, b);
}

const node *g_product_turned(graph *g, const node *y)
{
    const bool product = y && !strcmp(y->op->name, "matmul") && is_matrix(y->in[0]) && is_matrix(y->in[1]);
    return product ? g_call2(g, "matmul", g_swapped(g, y->in[1]), g_swapped(g, y->in[0])) : NULL;
}

/* ---- records ---- */
const op ops_contract[] = {
    BODY("matmul a b -> b m n | k", matmul_body, "a @ b", "MatMul 1 N",
         "f32[2,3] f32[3,4]\nf32[5,7] f32[7]\nf32[7] f32[7,5]\nf32[7] f32[7]\nf32[2,3,4] f32[4,5]\n"
         "f32[2,3,4] f32[2,4,5]\nf32[6,1,3,4] f32[2,4,5]\nf32[4] f32[2,4,5]\nf32[2,3,4] f32[4]\n"
         "f64[9,8] f64[8,7]\ni32[3,4] i32[4,2]\ni64[2,2] u8[2,2]\nf32[2,3] f64[3,2]\nbool[3,4] bool[4,3]\n"
         "f32[2,0] f32[0,3]\nf32[0,3] f32[3,2]\nf32[1,1] f32[1,1]\nf32[17,33] f32[33,19]",
         "Matrix product over the last two axes; leading axes broadcast.",
         .adapted = ADAPTED({"Gemm 1 N 2..3 alpha beta broadcast transA transB", adapt_gemm}), .back = "MatMul a^ b^",
         .shape = matmul_shape, .extents = matmul_extents, .kept = matmul_kept, .grad = matmul_grad,
         .way = strassen_way, .alternative = strassen_matmul, .in_dots = quantized_matmul),
    BODY("integer_matmul a b -> b m n | k", matmul_body, "np.matmul(a, b, dtype=np.int32)", NULL,
         "u8[2,3] i8[3,4]\ni8[5,7] i8[7]\nu8[7] u8[7,5]\ni16[2,3,4] i8[4,5]\nu8[2,0] i8[0,3]\nu8[17,36] i8[36,19]",
         "Matrix product of integers of at most 16 bits, as matmul has it, summed in 32 bits.", .shape = integer_shape,
         .extents = matmul_extents, .kept = matmul_kept, .in_dots = integer_matmul_of),
    {0},
};
