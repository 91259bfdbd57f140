/* quantize.c - reals as small integers, q = round(x / scale) + zero, and products of such integers in 32 bits. A scale
 * is one number, one for each element of an axis, or one for each block along an axis. */
#include "graph/ops/quantize.h"

#include <math.h>
#include <string.h>

/* ---- helpers ---- */
static double highest(dtype d)
{
    return ldexp(1, dtype_bits(d) - (dtype_signed(d) ? 1 : 0)) - 1;
}

static bool is_one(const node *n)
{
    return type_count(&n->type) == 1;
}

const node *quantize_centred(graph *g, const node *q, const node *zero)
{
    q = g_cast(g, q, TS_I32);
    return zero ? g_call2(g, "subtract", q, g_cast(g, zero, TS_I32)) : q;
}

/* A number v for each element of `axis`, [n], or for each block of it, x's shape but n blocks at the axis, so that it
 * broadcasts to x: [1, ..., n, ..., 1], or x's shape; one number becomes []. */
static const node *beside(graph *g, const node *x, const node *v, int axis, int64_t block)
{
    int64_t whole;
    if (!v || type_count(&v->type) == 1)
        return v ? g_reshape(g, v, 0, NULL) : NULL;
    const int64_t dim = x->type.dim[axis];
    if (v->type.rank == x->type.rank && (block > 0 || v->type.dim[axis] != dim)) {
        const int64_t n = v->type.dim[axis];
        if (block < 1 && n)
            block = (dim + n - 1) / n;
        block = block < dim ? block : dim; /* one that reaches beyond the end */
        if (!int_mul(n, block, &whole) || whole < dim)
            return g_fail(g, TS_BAD_INPUT, "%lld blocks of %lld for %lld elements, which they have to cover",
                          (long long)n, (long long)block, (long long)dim);
        /* [..., whole at the axis, ...] */
        const node *all = g_callf(g, 1, &v, "stretch axis=%d size=%lld", axis, (long long)whole);
        return whole == dim ? all : g_part(g, all, axis, 0, dim);
    }
    if (v->type.rank != 1)
        return v;
    return g_along(g, v, x->type.rank, axis);
}

const node *quantize_rows(graph *g, const node *x, const node *v, bool columns)
{
    if (!v || v->type.rank != 1 || v->type.dim[0] == 1 || x->type.rank < 2)
        return v && type_count(&v->type) == 1 ? g_reshape(g, v, 0, NULL) : v;
    return columns ? v : g_reshape(g, v, 2, (int64_t[]){v->type.dim[0], 1});
}

/* round(x / scale) + zero */
const node *quantize_to(graph *g, const node *x, const node *scale, const node *zero, dtype to)
{
    if (dtype_class(to) == D_REAL) /* of 8 bits and fewer: no zero but 0 */
        return g_limited(g, g_call2(g, "divide", x, scale), to);
    zero = zero ? zero : g_scalar(g, to, 0);
    return g_apply_n(g, "quantize", NODES(x, scale, zero), ATTRS(attr_word("to", ts_dtype_name(to))));
}

const node *quantize_back(graph *g, const node *q, const node *scale, const node *zero)
{
    zero = zero || !q ? zero : g_scalar_like(g, q, 0);
    return g_call3(g, "dequantize", q, scale, zero);
}

/* scale = (max(x, 0) - min(x, 0)) / 255, and 1 where that is 0; zero = round(-min / scale). All []. */
const node *quantize_dynamic(graph *g, const node *x, const node **scale, const node **zero)
{
    const node *nothing = g_scalar_like(g, x, 0);
    const node *top = g_call2(g, "maximum", g_call1(g, "max", x), nothing);
    const node *low = g_call2(g, "minimum", g_call1(g, "min", x), nothing);
    const node *step = g_call2(g, "divide", g_call2(g, "subtract", top, low), g_scalar_like(g, x, 255));
    *scale = g_call3(g, "where", g_call2(g, "equal", step, nothing), g_scalar_like(g, x, 1), step);
    *zero = quantize_to(g, g_call1(g, "negative", low), *scale, g_scalar(g, TS_U8, 0), TS_U8);
    return quantize_to(g, x, *scale, *zero, TS_U8);
}

/* ---- ONNX ---- */
/* The axis that scales belong to: 1 where not given, or the only one there is. */
static bool scale_axis(const onnx_call *c, int *axis, err *e)
{
    const type *x = &c->in[0]->type;
    const bool one = type_count(&c->in[1]->type) == 1 && !onnx_int(c, "block_size", 0);
    *axis = 0;
    return one || axis_norm(onnx_int(c, "axis", x->rank > 1 ? 1 : 0), x->rank, axis, e);
}

/* x, scale and zero as operands come: scale and zero [], [n] of the axis, or blocks; y of x's shape. */
static bool adapt_quantize(const onnx_call *c, const node **out, err *e)
{
    int axis;
    dtype to = TS_U8, precision;
    if (!scale_axis(c, &axis, e))
        return false;
    graph *g = c->g;
    const node *x = c->in[0], *scale = c->in[1], *zero = onnx_in(c, 2); /* scale, zero [], [n] or blocks */
    if (onnx_int(c, "output_dtype", 0) && !onnx_dtype(onnx_int(c, "output_dtype", 0), &to, e))
        return false;
    precision = scale->type.dtype;
    if (onnx_int(c, "precision", 0) && !onnx_dtype(onnx_int(c, "precision", 0), &precision, e))
        return false;
    if (zero)
        to = zero->type.dtype;
    const int64_t block = onnx_int(c, "block_size", 0);
    scale = beside(g, x, g_cast(g, scale, precision), axis, block);
    zero = zero ? beside(g, x, zero, axis, block) : NULL;
    x = g_cast(g, x, precision);
    if (dtype_class(to) == D_REAL && !onnx_int(c, "saturate", 1))
        return onnx_give(c, out, g_cast(g, g_call2(g, "divide", x, scale), to), e);
    return onnx_give(c, out, quantize_to(g, x, scale, zero, to), e);
}

/* (x - zero) * scale, both beside x; y of x's shape. */
static bool adapt_dequantize(const onnx_call *c, const node **out, err *e)
{
    int axis;
    if (!scale_axis(c, &axis, e))
        return false;
    graph *g = c->g;
    const int64_t block = onnx_int(c, "block_size", 0);
    const node *x = c->in[0], *zero = beside(g, x, onnx_in(c, 2), axis, block); /* zero beside x */
    dtype to = c->in[1]->type.dtype;
    if (onnx_int(c, "output_dtype", 0) && !onnx_dtype(onnx_int(c, "output_dtype", 0), &to, e))
        return false;
    const node *scale = g_cast(g, beside(g, x, c->in[1], axis, block), to); /* beside x */
    return onnx_give(c, out, quantize_back(g, x, scale, zero), e);
}

static bool adapt_dynamic(const onnx_call *c, const node **out, err *e)
{
    const node *scale, *zero, *y = quantize_dynamic(c->g, c->in[0], &scale, &zero);
    return onnx_give_all(c, out, NODES(y, scale, zero), e);
}

/* Whether n only moves or converts elements: small integers keep their values. */
static bool moves(const node *n)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    const expr *x = g_defn(n, &mem, &d, NULL) ? d.value : NULL;
    while (x && x->kind == X_CAST)
        x = x->arg[0];
    return x && x->kind == X_LOAD && x->from == n->in[0];
}

static bool quantize_all(const node *zero, int v)
{
    while (zero && !zero->leaf && moves(zero))
        zero = zero->in[0];
    const leaf *l = zero ? zero->leaf : NULL;
    bool all = !zero || (l && l->kind == LEAF_CONST && l->data);
    for (int64_t i = 0; zero && all && i < type_count(&zero->type); i++)
        all = load_real(zero->type.dtype, l->data, i) == v;
    return all && (zero || !v);
}

const node *quantize_signed(graph *g, const node *x, const node **zero, dtype to)
{
    const int v = to == TS_U8 ? 128 : -128;
    const node *z = *zero && !quantize_all(*zero, 0) ? g_cast(g, *zero, TS_I32) : NULL, *by = g_scalar(g, TS_I32, v);
    const bool same = x->type.dtype == to, none = same ? !z : z && quantize_all(z, -v);
    *zero = none ? NULL : same ? z : z ? g_call2(g, "add", z, by) : by;
    return same ? x : g_cast(g, g_call2(g, "add", g_cast(g, x, TS_I32), by), to);
}

static const node *less(graph *g, const node *sum, const node *a, const node *b) /* sum - a b */
{
    return g_call2(g, "subtract", sum, g_call2(g, "multiply", a, b));
}

/* A weight, or made of weights alone, in few steps */
static bool known_in(const node *n, int *steps)
{
    enum { MOST = 64 };
    bool all = n->leaf ? n->leaf->kind != LEAF_INPUT : n->n_in > 0 && ++*steps < MOST;
    for (int i = 0; i < n->n_in && all && !n->leaf; i++)
        all = known_in(n->in[i], steps);
    return all;
}

bool quantize_known(const node *n)
{
    return known_in(n, &(int){0});
}

/* The product of a [..., m, k] and b [..., k, n] after their zeros are taken off: [..., m, n] in 32 bits. It is a
 * product of 8-bit integers (the left one of type `left`) minus a correction for the zeros. Exact modulo 2^32. */
static const node *product(graph *g, const node *a, const node *za, const node *b, const node *zb, dtype left)
{
    const bool bytes = ts_dtype_bytes(a->type.dtype) == 1 && ts_dtype_bytes(b->type.dtype) == 1;
    za = quantize_all(za, 0) ? NULL : quantize_rows(g, a, za, false),
    zb = quantize_all(zb, 0) ? NULL : quantize_rows(g, b, zb, true);
    if (a->type.rank < 2 || b->type.rank < 2 || !bytes)
        return g_call2(g, "matmul", quantize_centred(g, a, za), quantize_centred(g, b, zb));
    const int64_t last = -1, before = -2;
    a = quantize_signed(g, a, &za, TS_U8), b = quantize_signed(g, b, &zb, TS_I8);
    const bool known = b && quantize_known(b);
    b = known && !b->leaf ? g_known(g, b, "") : b;
    const node *sum = g_call2(g, "integer_matmul", g_cast(g, a, left), b);
    const node *columns = za ? g_cast(g, g_over(g, "sum", quantize_centred(g, b, zb), 1, &before), TS_I32)
                             : NULL; /* [.., 1, n] */
    if (za)
        sum = less(g, sum, za, known && columns && quantize_known(columns) ? g_known(g, columns, "") : columns);
    if (zb) /* [..., m, 1] */
        sum = less(g, sum, zb, g_cast(g, g_over(g, "sum", g_cast(g, a, TS_I32), 1, &last), TS_I32));
    return sum;
}

const node *quantize_product(graph *g, const node *a, const node *za, const node *b, const node *zb)
{
    return product(g, a, za, b, zb, TS_U8);
}

/* a [..., m, k], b [..., k, n] -> [..., m, n] */
static bool adapt_matmul_integer(const onnx_call *c, const node **out, err *e)
{
    return onnx_give(c, out, quantize_product(c->g, c->in[0], onnx_in(c, 2), c->in[1], onnx_in(c, 3)), e);
}

const node *quantize_rescaled(graph *g, const node *sum, const node *a_scale, const node *b_scale, const node *y_scale,
                              const node *zero)
{
    /* [], or beside sum */
    const node *y_one = y_scale && type_count(&y_scale->type) == 1 ? g_reshape(g, y_scale, 0, NULL) : y_scale;
    /* [], or beside sum */
    const node *z_one = zero && type_count(&zero->type) == 1 ? g_reshape(g, zero, 0, NULL) : zero;
    /* beside sum */
    const node *factor = g_call2(g, "multiply", g_cast(g, a_scale, TS_F32), g_cast(g, b_scale, TS_F32));
    factor = factor && !is_one(factor) && quantize_known(factor) ? g_known(g, factor, "") : factor;
    const node *real = g_call2(g, "multiply", g_cast(g, sum, TS_F32), factor); /* as sum */
    return zero ? quantize_to(g, real, g_cast(g, y_one, TS_F32), z_one, zero->type.dtype) : NULL;
}

/* Operands: a [..., m, k], its scale and zero, the same of b [..., k, n], of y; sum [..., m, n]. */
static bool adapt_qlinear_matmul(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const node *a = c->in[0], *b = c->in[3]; /* [..., m, k], [..., k, n] */
    const node *sum = quantize_product(g, a, c->in[2], b, c->in[5]);
    const node *a_scale = quantize_rows(g, a, c->in[1], false), *b_scale = quantize_rows(g, b, c->in[4], true);
    return onnx_give(c, out, quantize_rescaled(g, sum, a_scale, b_scale, c->in[6], c->in[7]), e);
}

/* ---- shape, body ---- */
static bool quantize_shape(const node *n, type *out, err *e)
{
    const char *to = node_attr(n, "to")->s;
    const type *const in[] = {&n->in[0]->type, &n->in[1]->type, &n->in[2]->type};
    if (!type_broadcast(3, in, out, e))
        return false;
    if (!dtype_parse(to, &out->dtype) || dtype_class(out->dtype) != D_WHOLE || ts_dtype_bytes(out->dtype) > 2)
        return err_set(e, TS_BAD_INPUT, "to: \"%s\", an integer of at most 16 bits expected, as u8 or i16", to);
    return dtype_class(in[1]->dtype) == D_REAL ||
           operands_refuse(2, n->in, e, "as the second the scale, a real number,");
}

static const expr *quantize_body(defn *d)
{
    arena *mem = d->mem;
    const dtype to = d->node->type.dtype, real = d->node->in[1]->type.dtype;
    const expr *q = x2(mem, "div", x_cast(mem, real, defn_in(d, 0)), defn_in(d, 1));
    if (real != TS_F64) /* the quotient is rounded to its dtype before halves are told apart, by the interpreter too */
        q = x_cast(mem, real, x_cast(mem, TS_F64, q));
    return x_said(mem, "min(max(f32(round(q)) + f32(zero), low), high)", "q", q, "zero", defn_in(d, 2), "low",
                  x_real(mem, dtype_lowest(to)), "high", x_real(mem, highest(to)), NULL);
}

static bool dequantize_shape(const node *n, type *out, err *e)
{
    const type *const in[] = {&n->in[0]->type, &n->in[1]->type, &n->in[2]->type};
    if (!type_broadcast(3, in, out, e))
        return false;
    out->dtype = in[1]->dtype;
    return dtype_class(out->dtype) == D_REAL || operands_refuse(2, n->in, e, "as the second the scale, a real number,");
}

static const expr *dequantize_body(defn *d)
{
    arena *mem = d->mem;
    const dtype of = d->node->in[0]->type.dtype, real = d->node->type.dtype;
    const dtype exact = dtype_bits(of) <= 16 ? (real == TS_F64 ? TS_F64 : TS_F32) : TS_I64; /* so the difference is */
    const expr *from = x2(mem, "sub", x_cast(mem, exact, defn_in(d, 0)), x_cast(mem, exact, defn_in(d, 2)));
    return x2(mem, "mul", x_cast(mem, real, from), defn_in(d, 1));
}

/* ---- passes ---- */
static bool turns(const node *n) /* rows of a matrix become columns */
{
    const attr *axes = strcmp(n->op->name, "transpose") ? NULL : node_attr(n, "axes");
    return axes && n->type.rank == 2 && (!axes->n || axes->ints[0] % 2);
}

/* A scale or zero beside a matrix, where that is turned; NULL: g has the error, or there is none. */
static const node *turned(graph *g, const node *v)
{
    if (v && v->type.rank == 1)
        v = g_reshape(g, v, 2, (int64_t[]){1, v->type.dim[0]});
    return v && v->type.rank == 2 ? g_swapped(g, v) : v;
}

bool quantize_stands(graph *g, const node *n, quantized *out)
{
    const node *of = n->leaf && n->leaf->of ? n->leaf->of : n;
    if (turns(of) && quantize_stands(g, of->in[0], out)) {
        *out = (quantized){g_swapped(g, out->x), turned(g, out->scale), turned(g, out->zero)};
        return out->x && out->scale && out->zero;
    }
    if (strcmp(of->op->name, "dequantize") || ts_dtype_bytes(of->in[0]->type.dtype) != 1)
        return false;
    *out = (quantized){of->in[0], of->in[1], of->in[2]};
    return true;
}

static bool by_column(const node *n) /* one number, or one for each column */
{
    const int rank = n->type.rank;
    return is_one(n) || rank == 1 || (rank > 1 && type_count(&n->type) == n->type.dim[rank - 1]);
}

const node *quantized_matmul(graph *g, const node *n, dtype a)
{
    quantized l, r;
    if (n->type.dtype != TS_F32 || n->in[0]->type.rank < 2 || n->in[1]->type.rank != 2 ||
        !quantize_stands(g, n->in[0], &l) || !quantize_stands(g, n->in[1], &r) || !is_one(l.scale) || !is_one(l.zero) ||
        !by_column(r.scale) || !by_column(r.zero) || !quantize_known(r.x))
        return NULL;
    const node *one = g_reshape(g, l.scale, 0, NULL), *zero = g_reshape(g, l.zero, 0, NULL); /* [] */
    const node *sum = product(g, l.x, zero, r.x, is_one(r.zero) ? g_reshape(g, r.zero, 0, NULL) : r.zero, a);
    return g_call2(g, "multiply", g_cast(g, sum, TS_F32), g_call2(g, "multiply", one, r.scale));
}

const node *integer_matmul_of(graph *g, const node *n, dtype a)
{
    const bool wider = dtype_bits(n->in[0]->type.dtype) < dtype_bits(a) && n->in[1]->type.dtype == TS_I8;
    return wider ? g_call2(g, "integer_matmul", g_cast(g, n->in[0], a), n->in[1]) : NULL;
}

/* What was rounded by the same scale and zero, and at most reshaped since, stays as it was. */
static const node *rounded_before(graph *g, const node *n, dtype a)
{
    const node *x = n->in[0], *of = strcmp(x->op->name, "reshape") ? x : x->in[0];
    (void)a;
    if (strcmp(of->op->name, "dequantize") || of->in[0]->type.dtype != n->type.dtype || of->in[1] != n->in[1] ||
        of->in[2] != n->in[2] || !is_one(n->in[1]))
        return NULL;
    return g_reshape(g, of->in[0], n->type.rank, n->type.dim);
}

/* ---- records ---- */
const op ops_quantize[] = {
    BODY("dequantize a b c -> e", dequantize_body,
         "((a.astype(np.int64) - c.astype(np.int64)).astype(b.dtype) * b).astype(b.dtype)", NULL,
         "u8[2,3] f32[]=0.5 u8[]\ni8[4,5] f32[5]=0.01 i8[5]\ni16[9] f32[]=0.001 i16[]\nu16[3,4] f64[3,1]=0.25 "
         "u16[3,1]\ni32[5] f32[]=2 i32[]\nu8[0] f32[]=1 u8[]",
         "(a - c) * b, of b's dtype: what quantize made of a, with scale b and zero c.", .shape = dequantize_shape),
    BODY("quantize a b c to:s=u8 -> e", quantize_body,
         "np.clip(np.rint(a / b) + c, np.iinfo(dtypes[to]).min, np.iinfo(dtypes[to]).max).astype(dtypes[to])", NULL,
         "f32[2,3] f32[]=0.5 u8[]\nf32[4,5] f32[5]=0.01 i8[5] to=i8\nf32[9] f32[]=0.001 i16[] to=i16\n"
         "f64[3,4] f64[3,1]=0.25 u16[3,1] to=u16\ni32[5] f32[]=2 u8[]\nf32[0] f32[]=1 u8[]",
         "round(a / b) + c, halves to even, limited to the integers of at most 16 bits that `to` names.",
         .adapted = ADAPTED(
             {"QuantizeLinear 10 nn. 2..3 axis block_size output_dtype precision saturate", adapt_quantize},
             {"DequantizeLinear 10 TfT 2..3 axis block_size output_dtype", adapt_dequantize},
             {"com.microsoft.QuantizeLinear 1 ff. 2..3 axis", adapt_quantize},
             {"com.microsoft.DequantizeLinear 1 TfT 2..3 axis", adapt_dequantize},
             {"DynamicQuantizeLinear 11 f 1 >3", adapt_dynamic}, {"QLinearMatMul 10 NfNnfnfn 8", adapt_qlinear_matmul},
             {"MatMulInteger 10 IiIi 2..4", adapt_matmul_integer}),
         .onnx_cases =
             "MatMulInteger u8[2,3] u8[3,4]\nQLinearMatMul u8[2,3]* f32[] u8[] u8[3,4] f32[] u8[] f32[] "
             "u8[]\nDequantizeLinear u8[2,3]* f32[] u8[]\nDynamicQuantizeLinear f32[4]\n"
             "com.microsoft.DequantizeLinear u16[2,3]* f32[] u16[]\ncom.microsoft.QuantizeLinear f32[2,3]* f32[] "
             "u16[]",
         .shape = quantize_shape, .in_dots = rounded_before),
    {0},
};
