/* strassen.c - product of matrices with fewer products (Strassen, Gaussian elimination is not optimal, Numerische
 * Mathematik 13, 1969). Rows, folded axis and columns are cut in two, which makes blocks a[i, q], b[q, j] and y[i, j];
 * with tables A, B and Y of 0, 1 and -1,
 *
 *     y[i, j] = sum over p of Y[p, i, j] * (A[p] . a) (B[p] . b)
 *
 * for p of 7, where 8 products of blocks would be plain. The trace of a b y' is the sum over p of that of (A[p] . a)
 * (B[p] . b) (Y[p] . y)', so that the same tables serve the products that are its gradients: y b' for a, a' y for b;
 * what is summed once for one product is there for another. Which rows and columns make a block is free: neighbouring
 * rows and runs of columns, so that what is read together lies together. */
#include "graph/ops/strassen.h"
#include "graph/ir/rule.h"

#include <string.h>

enum { PRODUCTS = 7, RUN = 16 }; /* RUN: columns that stay neighbours */

/* Which elements of an axis make the first of two blocks, and which the second: every other, the first half, every
 * other run. */
typedef enum cut { NEIGHBOURS, HALVES, RUNS } cut;

typedef struct role { /* what a matrix is to the product: a, b or y */
    char name;
    cut rows, columns;
    double table[PRODUCTS][4];
} role;

static const role roles[] = {
    {'a',
     NEIGHBOURS,
     HALVES,
     {{1, 0, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 0}, {0, 0, 0, 1}, {1, 1, 0, 0}, {-1, 0, 1, 0}, {0, 1, 0, -1}}},
    {'b',
     HALVES,
     RUNS,
     {{1, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0}, {0, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 1}}},
    {'y',
     NEIGHBOURS,
     RUNS,
     {{1, 0, 0, 1}, {0, 0, 1, -1}, {0, 1, 0, 1}, {1, 0, 1, 0}, {-1, 1, 0, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}}},
};

static const role *role_of(const node *n, err *e)
{
    const char *name = node_attr(n, "role")->s;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (name[0] == roles[i].name && !name[1])
            return &roles[i];
    err_set(e, TS_BAD_INPUT, "role=%s: a, b and y are known", name);
    return NULL;
}

static int64_t half(cut c, int64_t n)
{
    return c == RUNS ? (n / (2 * RUN) + (n % (2 * RUN) > 0)) * RUN : n / 2 + n % 2;
}

/* Element x of block i as an element of the whole axis */
static const expr *whole(arena *mem, cut c, const expr *x, int64_t extent, int i)
{
    if (c == NEIGHBOURS)
        return x_offset(mem, x, 2, i);
    if (c == HALVES)
        return x_offset(mem, x, 1, i * extent);
    const expr *pair = x2(mem, "floordiv", x, x_whole(mem, RUN));
    return x2(mem, "add", x_offset(mem, pair, 2 * RUN, i * RUN), x2(mem, "mod", x, x_whole(mem, RUN)));
}

/* ---- shape ---- */
static bool blocks_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type;
    const role *r = role_of(n, e);
    const int rank = x->rank;
    if (!r)
        return false;
    if (rank < 2 || rank >= MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "rank %d, 2 to %d expected", rank, MAX_RANK - 1);
    *out = (type){.dtype = x->dtype, .rank = rank + 1, .dim = {PRODUCTS}};
    memcpy(out->dim + 1, x->dim, (size_t)rank * sizeof *x->dim);
    out->dim[rank - 1] = half(r->rows, x->dim[rank - 2]), out->dim[rank] = half(r->columns, x->dim[rank - 1]);
    return true;
}

/* Halves are an axis of their own, of 2, and then lie behind one another. */
static bool sums_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type;
    const attr *extents = node_attr(n, "extents");
    const role *r = role_of(n, e);
    const int rank = x->rank;
    if (!r)
        return false;
    if (rank < 3 || x->dim[0] != PRODUCTS || extents->n != 2)
        return err_set(e, TS_BAD_INPUT, "[%d, ..., rows, columns] and 2 extents expected", PRODUCTS);
    const int64_t rows = extents->ints[0], columns = extents->ints[1];
    const bool odd = (r->rows == HALVES && rows % 2) || (r->columns == HALVES && columns % 2);
    if (rows < 0 || columns < 0 || odd || half(r->rows, rows) != x->dim[rank - 2] ||
        half(r->columns, columns) != x->dim[rank - 1])
        return err_set(e, TS_BAD_INPUT, "extents: %lld x %lld does not take blocks of %lld x %lld", (long long)rows,
                       (long long)columns, (long long)x->dim[rank - 2], (long long)x->dim[rank - 1]);
    *out = (type){.dtype = x->dtype, .rank = rank - 3};
    memcpy(out->dim, x->dim + 1, (size_t)out->rank * sizeof *out->dim);
    for (int i = 0; i < 2; i++)
        if ((i ? r->columns : r->rows) == HALVES)
            out->dim[out->rank++] = 2, out->dim[out->rank++] = x->dim[rank - 2 + i];
        else
            out->dim[out->rank++] = extents->ints[i];
    return true;
}

/* ---- body ---- */
/* y[p, ..., r, c] = sum over i, j of table[p, i, j] * x[..., r of i, c of j]; what is behind the last is 0 */
static const expr *blocks_body(defn *d)
{
    const type *x = &d->node->in[0]->type;
    const role *r = role_of(d->node, d->err);
    const int rank = x->rank;
    arena *mem = d->mem;
    const expr *sub[MAX_RANK], *part[4], *sum[PRODUCTS];
    const cut cuts[] = {r->rows, r->columns};
    for (int i = 0; i < rank - 2; i++)
        sub[i] = x_axis(mem, i + 1);
    for (int b = 0; b < 4; b++) {
        for (int i = 0; i < 2; i++)
            sub[rank - 2 + i] = whole(mem, cuts[i], x_axis(mem, rank - 1 + i), d->extent[rank - 1 + i],
                                      i ? b % 2 : b / 2);
        part[b] = defn_at(d, 0, sub);
        for (int i = rank - 2; i < rank; i++)
            if (2 * d->extent[i + 1] != x->dim[i])
                part[b] = x3(mem, "select", x2(mem, "lt", sub[i], x_whole(mem, x->dim[i])), part[b], x_whole(mem, 0));
    }
    for (int p = 0; p < PRODUCTS; p++)
        sum[p] = x_weighted(mem, 4, r->table[p], part);
    return x_chosen(mem, x_axis(mem, 0), PRODUCTS, sum);
}

/* y[..., r, c] = sum over p of table[p, block of r, block of c] * x[p, ..., r and c in the block] */
static const expr *sums_body(defn *d)
{
    const role *r = role_of(d->node, d->err);
    const int rank = d->node->in[0]->type.rank;
    arena *mem = d->mem;
    const expr *sub[MAX_RANK], *part[PRODUCTS], *block[2], *row[2], *of[2];
    const cut cuts[] = {r->rows, r->columns};
    int at = rank - 3;
    for (int i = 0; i < rank - 3; i++)
        sub[i + 1] = x_axis(mem, i);
    for (int i = 0; i < 2; i++) {
        const expr *x = x_axis(mem, at++), *run = x2(mem, "floordiv", x, x_whole(mem, RUN)),
                   *pair = x2(mem, "floordiv", x, x_whole(mem, 2 * RUN)), *rest = x2(mem, "mod", x, x_whole(mem, RUN));
        block[i] = cuts[i] == HALVES ? x : x2(mem, "mod", cuts[i] == RUNS ? run : x, x_whole(mem, 2));
        if (cuts[i] == HALVES)
            sub[rank - 2 + i] = x_axis(mem, at++);
        else if (cuts[i] == RUNS)
            sub[rank - 2 + i] = x2(mem, "add", x_offset(mem, pair, RUN, 0), rest);
        else
            sub[rank - 2 + i] = x2(mem, "floordiv", x, x_whole(mem, 2));
    }
    for (int p = 0; p < PRODUCTS; p++)
        sub[0] = x_whole(mem, p), part[p] = defn_at(d, 0, sub);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            double weight[PRODUCTS];
            for (int p = 0; p < PRODUCTS; p++)
                weight[p] = r->table[p][2 * i + j];
            of[j] = x_weighted(mem, PRODUCTS, weight, part);
        }
        row[i] = x_chosen(mem, block[1], 2, of);
    }
    return x_chosen(mem, block[0], 2, row);
}

/* ---- recipes ---- */
/* Weights, or what one operation after another makes of one: a transpose, a cast */
static bool is_weight(const node *b)
{
    enum { MOST = 3 };
    for (int i = 0; i < MOST && b->n_in == 1 && !b->index && !b->origin; i++)
        b = b->in[0];
    return node_is_leaf(b) && b->leaf->kind != LEAF_INPUT;
}

/* The matrix of which n is the transpose, or NULL */
static const node *turned(const node *n)
{
    return n->type.rank == 2 && !strcmp(n->op->name, "transpose") ? n->in[0] : NULL;
}

/* Blocks [p, rows, columns], leading axes being rows */
static const node *blocks(graph *g, const node *x, char of)
{
    const node *b = g_callf(g, 1, &x, "strassen_blocks role=%c", of); /* [p, ..., rows, columns] */
    const int r = b ? b->type.rank : 0;
    if (r <= 3)
        return b;
    const int64_t columns = b->type.dim[r - 1], rows = type_count(&b->type) / PRODUCTS / columns;
    return g_reshape(g, b, 3, (const int64_t[]){PRODUCTS, rows, columns});
}

/* The inverse: a value of type t, whose rows and columns may stand in halves */
static const node *sums(graph *g, const node *b, char of, const type *t)
{
    const int r = t->rank;
    int64_t dim[MAX_RANK] = {PRODUCTS};
    memcpy(dim + 1, t->dim, (size_t)r * sizeof *dim);
    dim[r - 1] = b->type.dim[1], dim[r] = b->type.dim[2];
    for (int i = 0; i < r - 2; i++)
        dim[r - 1] /= t->dim[i];
    b = r == 2 ? b : g_reshape(g, b, r + 1, dim);
    b = g_callf(g, 1, &b, "strassen_sums role=%c extents=[%lld,%lld]", of, (long long)t->dim[r - 2],
                (long long)t->dim[r - 1]);
    return !b || type_equal(&b->type, t) ? b : g_reshape(g, b, r, t->dim);
}

/* a and b with the axes that were made one of rows, where they had the same */
static void spread(const node **a, const node **b)
{
    if (strcmp((*a)->op->name, "reshape") || strcmp((*b)->op->name, "reshape"))
        return;
    const node *x = (*a)->in[0], *y = (*b)->in[0]; /* [..., rows, k], [..., rows, n] */
    const int r = x->type.rank;
    const bool same = r > 1 && r == y->type.rank &&
                      !memcmp(x->type.dim, y->type.dim, (size_t)(r - 1) * sizeof *x->type.dim);
    if (same && r < MAX_RANK && x->type.dim[r - 1] == (*a)->type.dim[1] && y->type.dim[r - 1] == (*b)->type.dim[1])
        *a = x, *b = y;
}

/* Whether neighbours along the last axis lie together */
static bool in_rows(const node *x)
{
    for (; !strcmp(x->op->name, "reshape") || !strcmp(x->op->name, "transpose"); x = x->in[0]) {
        const int r = x->type.rank;
        const attr *axes = strcmp(x->op->name, "reshape") ? node_attr(x, "axes") : NULL;
        if (axes && (axes->n < r || axes->ints[r - 1] != r - 1))
            return false;
    }
    return true;
}

/* Sums of blocks carry the rounding errors of large elements to their neighbours: in MiniLM, those of an activation of
 * 24 that meets a weight of 8, in a column whose others are 0.05, to values of 1. Weights that are known show where.
 * Their columns are brought to one norm, by powers of two, and their rows with the two largest elements stay out of the
 * products. */
typedef struct steady {
    const node *rest, *scale, *row[2], *place[2]; /* of b [k, n]: [k, n], [n], [1, n], [1] */
} steady;

/* The largest power of two that is not above x, where there is one that is not very large; else 1 */
static const node *power(graph *g, const node *x)
{
    const node *y = g_call1(g, "bitcast to=i32", x); /* of x's shape */
    y = g_call1(g, "bitcast to=f32", g_formula(g, 1, &y, "bitand(a, 2139095040)"));
    return g_formula(g, 1, &y, "a > 0 && a < 1e30 ? a : 1");
}

/* count [k] numbers the rows of b, size [k] has the largest of each */
static bool make_steady(graph *g, const node *b, steady *s)
{
    const node *count = g_count(g, b->type.dim[0], TS_I64), *size = g_call1(g, "max axes=[1]", g_call1(g, "abs", b));
    for (int i = 0; i < 2; i++) {
        const node *place = g_call1(g, "argmax axis=0 keepdims=1", size); /* [1] */
        s->place[i] = g_known(g, place, b->label);
        s->row[i] = g_known(g, g_call2(g, "gather axis=0", b, place), b->label);
        size = g_formula(g, NODES(size, count, place), "b == c ? -1 : a");
    }
    size = g_call1(g, "expand_dims axes=[1]", size);
    const node *rest = g_formula(g, NODES(b, size), "b < 0 ? 0 : a"),
               *scale = power(g, g_call1(g, "sqrt", g_call1(g, "sum_square axes=[0]", rest))); /* [k, n], [n] */
    s->rest = g_call2(g, "divide", rest, scale);
    s->scale = g_known(g, scale, b->label);
    return s->rest && s->scale;
}

/* y [..., rows, n] of a [..., rows, k] and what is left of b, as it is of all of b */
static const node *steadied(graph *g, const node *y, const node *a, const steady *s)
{
    const node *in[6] = {y, s->scale}; /* [..., rows, n], [n]; then [..., rows, 1] and [1, n], twice */
    for (int i = 0; i < 2; i++)
        in[2 + 2 * i] = g_call2(g, "gather axis=-1", a, s->place[i]), in[3 + 2 * i] = s->row[i];
    return g_formula(g, 6, in, "a * b + c * d + e * f");
}

/* a b = y; y b' = a, where b' is what the product names; a' y = b */
typedef struct factors {
    const node *a, *b;       /* a [..., rows, k], b [k, n]; as what they are a transpose of, where left or right */
    bool known, left, right; /* b is a weight; a, or b, is a transpose, and y what the product names a or b */
    int64_t k, n;
} factors;

static bool factors_of(const node *product, factors *f)
{
    const node *a = product->in[0], *b = product->in[1]; /* [..., rows, k], [k, n] */
    const int r = a->type.rank;
    if (product->type.dtype != TS_F32 || a->type.dtype != TS_F32 || b->type.dtype != TS_F32 || r < 2 || r >= MAX_RANK ||
        b->type.rank != 2 || !type_count(&product->type) || !type_count(&a->type))
        return false;
    const bool known = is_weight(b);
    const node *left = known ? NULL : turned(a), *right = known || left ? NULL : turned(b);
    a = left ? left : a, b = right ? right : b;
    if (left)
        spread(&a, &b);
    *f = (factors){.a = a, .b = b, .known = known, .left = left, .right = right};
    f->k = left ? a->type.dim[a->type.rank - 1] : b->type.dim[0], f->n = b->type.dim[b->type.rank - 1];
    return f->k % 2 == 0 && in_rows(a) && (known || in_rows(b));
}

/* Operations are those of the products. Beside them a, y, and b where it is not known, are gone through: each pass
 * reads 4 bytes of an element and writes 7/4 times as many, or the other way round. Of weights there are 7/4.
 * What is to be saved is no rate: of known weights, which keep the digits that cancelling costs (above), twice what
 * bench calls a difference, as it is foretold no better; of others, in training, a price for the digits. */
bool strassen_way(const node *product, way_cost *c)
{
    static const double SUMS = 7, PASS = 4 + SUMS, WORTH_KNOWN = 1.0 / 50, WORTH_FRESH = 1.0 / 12, GROWTH = 3;
    factors f;
    if (!factors_of(product, &f))
        return false;
    const type *a = &f.a->type;
    const int64_t rows = a->dim[a->rank - 2], lead = type_count(a) / rows / a->dim[a->rank - 1];
    const double m = (double)(lead * rows), k = (double)f.k, n = (double)f.n;
    *c = (way_cost){.name = "Strassen",
                    .plain = 2 * m * k * n,
                    .other = 2.0 * PRODUCTS * (double)(lead * half(NEIGHBOURS, rows)) * (double)half(HALVES, f.k) *
                             (double)half(RUNS, f.n),
                    .least = f.known ? WORTH_KNOWN : WORTH_FRESH,
                    .passed = {{PASS * m * k, SUMS * m * k},
                               {PASS * m * n, SUMS * m * n},
                               {f.known ? 0 : PASS * k * n, SUMS * k * n}},
                    .weights = 4 * k * n,
                    .more_weights = GROWTH * k * n};
    return true;
}

/* sum[0] and sum[1] [7, ...] are sums of blocks of both factors, y [7, ...] their products, then what the product names
 * y, or a or b where that is a transpose. */
const node *strassen_matmul(graph *g, const node *product)
{
    factors f;
    steady s = {0};
    if (!factors_of(product, &f))
        return NULL;
    const bool uneven = f.known && f.k > f.n; /* a: what an activation function made of more, not what a norm evened */
    if (uneven && !make_steady(g, f.b, &s))
        return NULL;
    /* Sums of weights that change are large, and are not kept from the way there for the way back. */
    const node *b = blocks(g, uneven ? s.rest : f.right ? g_rematerialized(g, f.b) : f.b, f.left ? 'y' : 'b');
    /* [7, rows, columns], of both factors */
    const node *sum[] = {blocks(g, f.a, f.right ? 'y' : 'a'), f.known ? g_known(g, b, product->in[1]->label) : b};
    const node *y = g_callf(g, 2, sum, "einsum equation=%s",
                            f.left    ? "amy,amz->ayz"
                            : f.right ? "amz,ayz->amy"
                                      : "amy,ayz->amz");
    y = y ? sums(g, y, f.left ? 'b' : f.right ? 'a' : 'y', &product->type) : NULL;
    return y && uneven ? steadied(g, y, f.a, &s) : y;
}

/* ---- records ---- */
#define TABLE                                                                                                          \
    "np.array({'a': [[1, 0, 0, 1], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 1], [1, 1, 0, 0], [-1, 0, 1, 0], [0, 1, 0, "  \
    "-1]], 'b': [[1, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, -1], [-1, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]]," \
    " 'y': [[1, 0, 0, 1], [0, 0, 1, -1], [0, 1, 0, 1], [1, 0, 1, 0], [-1, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]}"      \
    "[role], a.dtype).reshape(7, 2, 2)"

const op ops_strassen[] = {
    BODY("strassen_blocks a role:s -> p b m k", blocks_body,
         "(lambda x, m: np.einsum({'a': 'pij,...mijn->p...mn', 'b': 'pij,...imnjr->p...mnr', 'y': "
         "'pij,...minjr->p...mnr'}[role], " TABLE ", x.reshape(*x.shape[:-2], *{'a': (m, 2, 2, x.shape[-1] // 2), "
         "'b': (2, m, -1, 2, 16), 'y': (m, 2, -1, 2, 16)}[role])).reshape(7, *x.shape[:-2], m, -1))(np.pad(a, "
         "[(0, 0)] * (a.ndim - 2) + [(0, -a.shape[-2] % 2), (0, -a.shape[-1] % (2 if role == 'a' else 32))]), "
         "(a.shape[-2] + 1) // 2)",
         NULL,
         "f32[4,6] role=a\nf32[3,2,8] role=a\nf64[2,1,7,4] role=a\nf32[1,2] role=a\nf32[5,3] role=a\nf32[4,32] role=b\n"
         "f32[6,50] role=b\nf64[2,1] role=b\nf32[3,16] role=b\nf32[4,32] role=y\nf64[2,5,70] role=y",
         "Sums of blocks of a matrix [..., row, column], 7 in place of 4, as Strassen's products take them: a, b or "
         "y of a @ b = y.",
         .shape = blocks_shape),
    BODY("strassen_sums a role:s extents:I -> b m n", sums_body,
         "(lambda s, x: {'a': lambda: s('pij,p...mn->...mijn', a).reshape(*x, -1, 2, a.shape[-1])[..., "
         ":extents[0], :, :], 'b': lambda: s('pij,p...mnr->...imnjr', a.reshape(*a.shape[:-1], -1, 16)).reshape("
         "*x, 2, a.shape[-2], -1)[..., :extents[1]], 'y': lambda: s('pij,p...mnr->...minjr', a.reshape("
         "*a.shape[:-1], -1, 16)).reshape(*x, 2 * a.shape[-2], -1)[..., :extents[0], :extents[1]]}[role]())("
         "lambda how, v: np.einsum(how, " TABLE ", v), a.shape[1:-2])",
         NULL,
         "f32[7,2,16] role=y extents=[4,32]\nf32[7,2,3,32] role=y extents=[5,41]\n"
         "f64[7,2,1,3,32] role=y extents=[5,64]\nf32[7,3,4] role=a extents=[5,8]\nf64[7,2,2,3] role=a "
         "extents=[4,6]\nf32[7,4,32] role=b extents=[8,50]\nf64[7,1,16] role=b extents=[2,32]",
         "A matrix [..., row, column] from 7 sums of blocks, as Strassen's products give them for a, b or y of "
         "a @ b = y; columns of a and rows of b as two halves.",
         .shape = sums_shape),
    {0},
};
