/* strassen.c - product of matrices with fewer products (Strassen, Gaussian elimination is not optimal, Numerische
 * Mathematik 13, 1969). Rows, folded axis and columns are cut in two, which makes blocks a[i, q], b[q, j] and y[i, j];
 * with tables S, T and C of 0, 1 and -1,
 *
 *     y[i, j] = sum over p of C[i, j, p] * (S[p] . a) (T[p] . b)
 *
 * for p of 7, where 8 products of blocks would be plain. The sums of b are made once. Which rows and columns make a
 * block is free: neighbouring rows, and neighbouring runs of columns, so that what is read together lies together. */
#include "graph/strassen.h"
#include "graph/rule.h"

#include <string.h>

enum { PRODUCTS = 7, RUN = 16 }; /* RUN: columns */
static const double of_a[PRODUCTS][4] = {{1, 0, 0, 1},  {0, 0, 1, 1},  {1, 0, 0, 0}, {0, 0, 0, 1},
                                         {1, 1, 0, 0},  {-1, 0, 1, 0}, {0, 1, 0, -1}},
                    of_b[PRODUCTS][4] = {{1, 0, 0, 1},  {1, 0, 0, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0},
                                         {0, 0, 0, 1},  {1, 1, 0, 0}, {0, 0, 1, 1}},
                    of_y[4][PRODUCTS] = {{1, 0, 0, 1, -1, 0, 1},
                                         {0, 0, 1, 0, 1, 0, 0},
                                         {0, 1, 0, 1, 0, 0, 0},
                                         {1, -1, 1, 0, 0, 1, 0}};

static int64_t half(int64_t n)
{
    return (n + 1) / 2;
}

static int64_t half_columns(int64_t n) /* whole runs */
{
    return (n + 2 * RUN - 1) / (2 * RUN) * RUN;
}

/* ---- blocks of the left matrix ---- */
static bool blocks_shape(const node *n, type *out, err *e)
{
    const type *a = &n->in[0]->type;
    const int r = a->rank;
    if (r < 2 || r >= MAX_RANK || a->dim[r - 1] % 2)
        return err_set(e, TS_BAD_INPUT, "rank %d, 2 to %d and an even number of columns wanted", r, MAX_RANK - 1);
    *out = (type){.dtype = a->dtype, .rank = r + 1, .dim = {PRODUCTS}};
    memcpy(out->dim + 1, a->dim, (size_t)r * sizeof *a->dim);
    out->dim[r - 1] = half(out->dim[r - 1]), out->dim[r] /= 2;
    return true;
}

/* y[p, ..., m, k] = sum over i, q of S[p, i, q] * a[..., 2 * m + i, q * K + k], K the half of a's columns; a row behind
 * the last is 0 */
static bool blocks_body(defn *d, err *e)
{
    const type *a = &d->node->in[0]->type;
    const int r = a->rank;
    arena *m = d->mem;
    const expr *sub[MAX_RANK], *part[4], *sum[PRODUCTS];
    (void)e;
    for (int i = 0; i < r - 2; i++)
        sub[i] = x_axis(m, i + 1);
    for (int b = 0; b < 4; b++) {
        sub[r - 2] = x_offset(m, x_axis(m, r - 1), 2, b / 2);
        sub[r - 1] = x_offset(m, x_axis(m, r), 1, b % 2 * d->extent[r]);
        part[b] = defn_at(d, 0, sub);
        if (b / 2 && a->dim[r - 2] % 2)
            part[b] = x3(m, "select", x2(m, "lt", sub[r - 2], x_whole(m, a->dim[r - 2])), part[b], x_whole(m, 0));
    }
    for (int p = 0; p < PRODUCTS; p++)
        sum[p] = x_weighted(m, 4, of_a[p], part);
    d->value = x_chosen(m, x_axis(m, 0), PRODUCTS, sum);
    return true;
}

/* ---- sums of products ---- */
static bool sums_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type;
    const attr *extents = node_attr(n, "extents");
    const int r = x->rank;
    if (r < 3 || x->dim[0] != PRODUCTS || extents->n != 2)
        return err_set(e, TS_BAD_INPUT, "[%d, ..., rows, columns] and 2 extents expected", PRODUCTS);
    const int64_t rows = extents->ints[0], columns = extents->ints[1];
    if (rows < 0 || columns < 0 || half(rows) != x->dim[r - 2] || half_columns(columns) != x->dim[r - 1])
        return err_set(e, TS_BAD_INPUT, "extents: %lld x %lld does not take blocks of %lld x %lld", (long long)rows,
                       (long long)columns, (long long)x->dim[r - 2], (long long)x->dim[r - 1]);
    *out = (type){.dtype = x->dtype, .rank = r - 1};
    memcpy(out->dim, x->dim + 1, (size_t)out->rank * sizeof *out->dim);
    out->dim[r - 3] = rows, out->dim[r - 2] = columns;
    return true;
}

/* y[..., m, n] = sum over p of C[m % 2, n / RUN % 2, p] * x[p, ..., m / 2, n / (2 * RUN) * RUN + n % RUN] */
static bool sums_body(defn *d, err *e)
{
    const int r = d->node->type.rank;
    arena *m = d->mem;
    const expr *sub[MAX_RANK], *part[PRODUCTS], *row[2], *of[2];
    const expr *n = x_axis(m, r - 1), *run = x2(m, "floordiv", n, x_whole(m, RUN)),
               *pair = x2(m, "floordiv", n, x_whole(m, 2 * RUN));
    (void)e;
    for (int i = 0; i < r - 2; i++)
        sub[i + 1] = x_axis(m, i);
    sub[r - 1] = x2(m, "floordiv", x_axis(m, r - 2), x_whole(m, 2));
    sub[r] = x2(m, "add", x_offset(m, pair, RUN, 0), x2(m, "mod", n, x_whole(m, RUN)));
    for (int p = 0; p < PRODUCTS; p++)
        sub[0] = x_whole(m, p), part[p] = defn_at(d, 0, sub);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++)
            of[j] = x_weighted(m, PRODUCTS, of_y[2 * i + j], part);
        row[i] = x_chosen(m, x2(m, "mod", run, x_whole(m, 2)), 2, of);
    }
    d->value = x_chosen(m, x2(m, "mod", x_axis(m, r - 2), x_whole(m, 2)), 2, row);
    return true;
}

/* ---- weights ---- */
/* [p, k, n]: sum over q, j of T[p, q, j] * b[q * K + k, n / RUN * 2 * RUN + j * RUN + n % RUN]; a column behind
 * the last is 0 */
static bool weights_shape(const node *n, type *out, err *e)
{
    const type *b = &n->in[0]->type;
    if (b->rank != 2 || b->dim[0] % 2)
        return err_set(e, TS_BAD_INPUT, "a matrix with an even number of rows expected");
    *out = (type){.dtype = b->dtype, .rank = 3, .dim = {PRODUCTS, b->dim[0] / 2, half_columns(b->dim[1])}};
    return true;
}

static bool weights_body(defn *d, err *e)
{
    arena *m = d->mem;
    const int64_t columns = d->node->in[0]->type.dim[1];
    const expr *n = x_axis(m, 2), *pair = x2(m, "floordiv", n, x_whole(m, RUN)), *part[4], *sum[PRODUCTS];
    (void)e;
    for (int b = 0; b < 4; b++) {
        const expr *at = x2(m, "add", x_offset(m, pair, 2 * RUN, b % 2 * RUN), x2(m, "mod", n, x_whole(m, RUN)));
        part[b] = defn_at(d, 0, (const expr *[]){x_offset(m, x_axis(m, 1), 1, b / 2 * d->extent[1]), at});
        if (columns % (2 * RUN))
            part[b] = x3(m, "select", x2(m, "lt", at, x_whole(m, columns)), part[b], x_whole(m, 0));
    }
    for (int p = 0; p < PRODUCTS; p++)
        sum[p] = x_weighted(m, 4, of_b[p], part);
    d->value = x_chosen(m, x_axis(m, 0), PRODUCTS, sum);
    return true;
}

/* ---- the product ---- */
/* What it costs in operations: those of the products, and about 30 for each element of a and y, whose sums are bound by
 * the caches. Few rows are bound by the weights, of which there are 7/4. A twelfth less, as sums that cancel cost
 * digits: MiniLM, whose products gain 7 %, would be off by 1e-5 of its largest output, in place of 4e-7. */
static bool gains(double batch, double m, double k, double n)
{
    const double fewer = 2 * PRODUCTS * batch * (double)half((int64_t)m) * k / 2 * (double)half_columns((int64_t)n);
    return batch * m >= 64 && fewer + 30 * batch * m * (k + n) < 11.0 / 12 * 2 * batch * m * k * n;
}

/* Weights, or what one operation after another makes of one: a transpose, a cast */
static bool is_weight(const node *b)
{
    enum { MOST = 3 };
    for (int i = 0; i < MOST && b->n_in == 1 && !b->index && !b->origin; i++)
        b = b->in[0];
    return node_is_leaf(b) && b->leaf->kind != LEAF_INPUT;
}

const node *strassen_matmul(graph *g, const node *product)
{
    const node *a = product->in[0], *b = product->in[1];
    const int r = a->type.rank;
    if (product->type.dtype != TS_F32 || a->type.dtype != TS_F32 || b->type.dtype != TS_F32 || r < 2 || r >= MAX_RANK ||
        b->type.rank != 2 || !type_count(&product->type) || !is_weight(b))
        return NULL;
    const int64_t k = b->type.dim[0], n = b->type.dim[1], m = a->type.dim[r - 2];
    if (k % 2 || !gains((double)(type_count(&a->type) / k / m), (double)m, (double)k, (double)n))
        return NULL;
    char lead[MAX_RANK] = "";
    for (int i = 0; i + 1 < r; i++)
        lead[i] = (char)('c' + i);
    const node *turned = g_known(g, g_call1(g, "strassen_weights", b), b->label),
               *products = g_callf(g, 2, (const node *[]){g_call1(g, "strassen_blocks", a), turned},
                                   "einsum equation=a%sy,ayz->a%sz", lead, lead);
    const attr extents = attr_ints("extents", 2, (const int64_t[]){m, n});
    return g_make(g, op_find("strassen_sums"), 1, &products, &extents, 1);
}

/* ---- records ---- */
static const op blocks_op = {
    .name = "strassen_blocks",
    .doc = "Sums of blocks of a matrix [..., row, column], 7 in place of 4, as the left of Strassen's products.",
    .numpy = "np.einsum('piq,...miqk->p...mk', np.array([[[1, 0], [0, 1]], [[0, 0], [1, 1]], [[1, 0], [0, 0]], [[0, "
             "0], [0, 1]], [[1, 1], [0, 0]], [[-1, 0], [1, 0]], [[0, 1], [0, -1]]], a.dtype), np.pad(a, [(0, 0)] * (a."
             "ndim - 2) + [(0, a.shape[-2] % 2), (0, 0)]).reshape(*a.shape[:-2], (a.shape[-2] + 1) // 2, 2, 2, "
             "a.shape[-1] // 2))",
    .arity = 1, .axes = "p b m k", .shape = blocks_shape, .body = blocks_body,
    .cases = "f32[4,6]\nf32[3,2,8]\nf64[2,1,7,4]\nf32[1,2]"};

static const op weights_op = {
    .name = "strassen_weights",
    .doc = "Sums of blocks of a matrix [row, column], 7 in place of 4, as the right of Strassen's products.",
    .numpy = "np.einsum('pqj,qkcjn->pkcn', np.array([[[1, 0], [0, 1]], [[1, 0], [0, 0]], [[0, 1], [0, -1]], [[-1, 0], "
             "[1, 0]], [[0, 0], [0, 1]], [[1, 1], [0, 0]], [[0, 0], [1, 1]]], a.dtype), np.pad(a, [(0, 0), (0, "
             "-a.shape[1] % 32)]).reshape(2, a.shape[0] // 2, -1, 2, 16)).reshape(7, a.shape[0] // 2, -1)",
    .arity = 1, .axes = "p k n", .shape = weights_shape, .body = weights_body,
    .cases = "f32[4,32]\nf32[6,50]\nf64[2,1]"};

static const op sums_op = {
    .name = "strassen_sums",
    .doc = "The product of matrices [..., row, column] from the 7 of Strassen's blocks.",
    .numpy = "np.einsum('ijp,p...mcn->...micjn', np.array([[[1, 0, 0, 1, -1, 0, 1], [0, 0, 1, 0, 1, 0, 0]], [[0, 1, 0, "
             "1, 0, 0, 0], [1, -1, 1, 0, 0, 1, 0]]], a.dtype), a.reshape(*a.shape[:-1], -1, 16)).reshape(*a.shape[1:-2]"
             ", 2 * a.shape[-2], 2 * a.shape[-1])[..., :extents[0], :extents[1]]",
    .arity = 1, .axes = "b m n", .attr = (const attr_spec[]){{"extents", 'I', NULL}, {0}},
    .shape = sums_shape, .body = sums_body,
    .cases = "f32[7,2,16] extents=[4,32]\nf32[7,3,5,48] extents=[9,70]\nf64[7,2,1,3,32] extents=[5,64]"};

const op *const ops_strassen[] = {&blocks_op, &weights_op, &sums_op, NULL};
