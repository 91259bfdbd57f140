/* packed.c - weights of a few bits, several in a byte, the first one in the lowest, with a scale for each block of a
 * row (com.microsoft). They are unpacked where they are read. */
#include "graph/ops/quantize.h"

/* ---- helpers ---- */
/* q [n, bytes] -> [n, count], numbers of so many bits */
static const node *unpacked(graph *g, const node *q, int64_t bits, int64_t count)
{
    const int64_t each = 8 / bits, extent[] = {q->type.dim[0], count};
    if (q->type.dim[1] * each < count || q->type.dtype != TS_U8)
        return g_refuse(g, 1, &q, "u8 of at least %lld numbers of %lld bits in a row,", (long long)count,
                        (long long)bits);
    if (each == 1)
        return g_part(g, q, 1, 0, count);
    const char *words = arena_format(&g->mem, "u8(bitand(shr(i32(a[i0,floordiv(i1,%d)]),i32(%d*mod(i1,%d))),%d))",
                                     (int)each, (int)bits, (int)each, (1 << bits) - 1);
    return g_element(g, 1, &q, &(spelling){2, 0, extent, "add", words});
}

/* v as [n, blocks]; in the file it may have one axis */
static const node *by_blocks(graph *g, const node *v, int64_t n, int64_t blocks, const char *what)
{
    int64_t all;
    if (!int_mul(n, blocks, &all) || type_count(&v->type) != all)
        return g_refuse(g, 1, &v, "%s of %lld rows and %lld blocks,", what, (long long)n, (long long)blocks);
    return g_reshape(g, v, 2, (int64_t[]){n, blocks});
}

static bool read_bits(const onnx_call *c, int64_t *bits, int64_t *block, int64_t fallback, err *e)
{
    *bits = onnx_int(c, "bits", 4), *block = onnx_int(c, "block_size", fallback);
    if ((*bits == 2 || *bits == 4 || *bits == 8) && *block > 0)
        return true;
    return err_set(e, TS_UNSUPPORTED, "%s: %lld bits in blocks of %lld, expected 2, 4 or 8 and a block", c->type,
                   (long long)*bits, (long long)*block);
}

/* v with each block repeated for the elements that it covers: k of them along the axis. */
static const node *stretched(graph *g, const node *v, int axis, int64_t block, int64_t k)
{
    int64_t whole;
    block = block < k ? block : k; /* one that reaches beyond the end */
    if (!v || !int_mul(v->type.dim[axis], block, &whole) || whole < k)
        return v ? g_refuse(g, 1, &v, "blocks of %lld that cover %lld elements,", (long long)block, (long long)k)
                 : NULL;
    return g_part(g, g_callf(g, 1, &v, "stretch axis=%d size=%lld", axis, (long long)whole), axis, 0, k);
}

/* v [n, blocks] for each of a row's k numbers, [n, k]: repeated by block, or gathered by the group `which` [k]. */
static const node *spread(graph *g, const node *v, const node *which, int64_t block, int64_t k)
{
    return v && which ? g_call2(g, "gather axis=1", v, which) : stretched(g, v, 1, block, k);
}

/* ---- ONNX ---- */
typedef struct packing {
    int64_t n, k, bits, block, blocks;
} packing;

/* Zeros of the blocks, [n, blocks]: as reals, or packed like the weights; NULL: none are given. */
static const node *zeros(const onnx_call *c, const packing *p, const node *zero)
{
    graph *g = c->g;
    const int64_t bytes = (p->blocks * p->bits + 7) / 8;
    if (!zero)
        return g_scalar(g, TS_U8, (double)(1 << (p->bits - 1)));
    if (zero->type.dtype != TS_U8)
        return by_blocks(g, zero, p->n, p->blocks, "zeros");
    zero = by_blocks(g, zero, p->n, bytes, "packed zeros");
    return zero ? unpacked(g, zero, p->bits, p->blocks) : NULL;
}

/* The weights as reals, [n, k]: q [n, blocks, bytes of a block], scales [n, blocks] */
static const node *dequantized(const onnx_call *c, const packing *p, const node *which)
{
    graph *g = c->g;
    /* [n, blocks, bytes of a block], [n, blocks], [n, blocks] or [] */
    const node *q = c->in[1], *scale = by_blocks(g, c->in[2], p->n, p->blocks, "scales"),
               *zero = zeros(c, p, onnx_in(c, 3));
    int64_t bytes;
    if (!scale || !zero)
        return NULL;
    if (!int_mul(p->blocks, p->block * p->bits / 8, &bytes))
        return g_fail(g, TS_BAD_INPUT, "K: %lld is too large", (long long)p->k);
    q = by_blocks(g, q, p->n, bytes, "packed weights");
    q = q ? unpacked(g, q, p->bits, p->k) : NULL;
    scale = spread(g, scale, which, p->block, p->k);
    zero = zero->type.rank ? spread(g, zero, which, p->block, p->k) : zero;
    if (q && zero && dtype_class(zero->type.dtype) == D_REAL) /* between integers */
        return g_call2(g, "multiply", g_call2(g, "subtract", g_cast(g, q, scale->type.dtype), zero), scale);
    return q && scale && zero ? quantize_back(g, q, scale, zero) : NULL;
}

/* Seven of a word's eight numbers are masked without a shift, which leaves them 16^k times too large; their factors are
 * smaller by as much, which is exact. The eighth would reach the sign bit and is shifted by one place. */
static const char *word_sum(graph *g, bool zeros)
{
    text t = {0};
    text_add(&t, "(%s", zeros ? "d[i0,i2,i3]*e[i1,i2]" : "d[i0,i2,i3]");
    for (int k = 0; k < 8; k++)
        text_add(&t, "+a[i0,i2,i3,%d]*f32(bitand(%s,%d))", k, k < 7 ? "b[i1,i2,i3]" : "shr(b[i1,i2,i3],4)",
                 15 << 4 * (k < 7 ? k : 6));
    text_add(&t, ")*c[i1,i2]");
    const char *all = arena_string(&g->mem, t.s);
    text_free(&t);
    return all;
}

/* The same product from words of eight numbers, [n, blocks, words], for vector loops over rows. a: x times powers of
 * 1/16, b: the words, c: scales [n, blocks], d: sums of x over a word, e: negated zeros [n, blocks], or multiplied into
 * d where all are equal. NULL: the weights are not whole blocks of 4 bits. */
static const node *by_words(const onnx_call *c, const packing *p)
{
    static const char joined[] = "i32(a[i0,i1,4*i2])+256*i32(a[i0,i1,4*i2+1])+65536*i32(a[i0,i1,4*i2+2])"
                                 "+16777216*i32(a[i0,i1,4*i2+3])";
    static const float part[] = {1, 0x1p-4F, 0x1p-8F, 0x1p-12F, 0x1p-16F, 0x1p-20F, 0x1p-24F, 0x1p-24F};
    graph *g = c->g;
    /* x [..., k], scale [n, blocks], zero [n, blocks] or [], q [n, blocks, words] */
    const node *x = c->in[0], *scale = c->in[2], *zero = zeros(c, p, onnx_in(c, 3)), *q;
    const int64_t each = COUNT(part), words = p->block / each, extent[] = {p->n, p->blocks, words};
    type t = x->type;
    if (p->bits != 4 || p->block % each || p->blocks * p->block != p->k || onnx_in(c, 4) || t.dtype != TS_F32 ||
        scale->type.dtype != TS_F32 || t.rank < 1 || t.dim[t.rank - 1] != p->k || !zero ||
        c->in[1]->type.dtype != TS_U8 || type_count(&c->in[1]->type) != p->n * p->k / 2)
        return NULL;
    q = g_reshape(g, c->in[1], 3, (int64_t[]){p->n, p->blocks, p->block / 2});
    q = g_element(g, 1, &q, &(spelling){3, 0, extent, "add", joined});
    /* Doubled scales and negated zeros are new weights, so they get the layout of the loops that read them. */
    scale = g_scaled(g, by_blocks(g, scale, p->n, p->blocks, "scales"), 2);
    zero = g_scaled(g, g_cast(g, zero, TS_F32), -1);
    const int64_t rows = type_count(&t) / p->k, all[] = {rows, p->n, p->blocks, words}, last = 3;
    x = g_reshape(g, x, 4, (int64_t[]){rows, p->blocks, words, each});
    const node *sum = g_summed(g, x, 1, &last, false),
               *parts = g_const(g, "", &(type){.dtype = TS_F32, .rank = 1, .dim = {each}}, part); /* [each] */
    const bool zeros = onnx_in(c, 3);
    sum = zeros ? sum : g_call2(g, "multiply", sum, zero);
    x = g_call2(g, "multiply", x, parts);
    const node *in[] = {x, q, scale, sum, zero}; /* x [rows, blocks, words, each], sum [rows, blocks, words] */
    const node *y = g_element(g, 4 + zeros, in, &(spelling){2, 2, all, "add", word_sum(g, zeros)});
    t.dim[t.rank - 1] = p->n;
    return y ? g_reshape(g, g_scaled(g, y, 0.5), t.rank, t.dim) : NULL;
}

/* a [..., k], weights of [n, k], perhaps zeros, groups [k] and a bias [n] -> [..., n] */
static bool adapt_matmul(const onnx_call *c, const node **out, err *e)
{
    packing p = {.n = onnx_int(c, "N", 0), .k = onnx_int(c, "K", 0)};
    if (!read_bits(c, &p.bits, &p.block, 0, e))
        return false;
    if (p.n < 1 || p.k < 1 || p.block > INT64_C(1) << 40 || p.k > INT64_C(1) << 40 || p.block * p.bits % 8)
        return err_set(e, TS_BAD_INPUT, "MatMulNBits: N is %lld, K %lld, block_size %lld; expected positive numbers",
                       (long long)p.n, (long long)p.k, (long long)p.block);
    if (onnx_int(c, "weight_prepacked", 0))
        return err_set(e, TS_UNSUPPORTED, "weight_prepacked: the weights lie as one provider wants them; 0 expected");
    p.blocks = (p.k + p.block - 1) / p.block;
    const node *y = by_words(c, &p), *w = y ? NULL : dequantized(c, &p, onnx_in(c, 4)); /* [..., n], [n, k] */
    y = w ? g_call2(c->g, "matmul", c->in[0], g_swapped(c->g, w)) : y;
    return onnx_give(c, out, y && onnx_in(c, 5) ? g_call2(c->g, "add", y, c->in[5]) : y, e);
}

/* Values of 4 bits times the largest of a block: a float of 2 + 1 bits as bitsandbytes has it, and NF4 (Dettmers et
 * al., QLoRA, 2023, appendix E). */
static const float bnb4[2][16] = {
    {0, 1.0F / 192, 2.0F / 3, 1, 1.0F / 3, 0.5F, 1.0F / 6, 0.25F, 0, -1.0F / 192, -2.0F / 3, -1, -1.0F / 3, -0.5F,
     -1.0F / 6, -0.25F},
    {-1, -0.6961928009986877F, -0.5250730514526367F, -0.39491748809814453F, -0.28444138169288635F,
     -0.18477343022823334F, -0.09105003625154495F, 0, 0.07958029955625534F, 0.16093020141124725F, 0.24611230194568634F,
     0.33791524171829224F, 0.44070982933044434F, 0.5626170039176941F, 0.7229568362236023F, 1}};

/* Weights [n, k] as one axis, the first of two in the high bits of a byte; blocks know nothing of rows. */
static bool adapt_bnb4(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const int64_t n = onnx_int(c, "N", 0), k = onnx_int(c, "K", 0), block = onnx_int(c, "block_size", 0),
                  kind = onnx_int(c, "quant_type", 0);
    int64_t count;
    if (n < 1 || k < 1 || block < 1 || kind < 0 || kind > 1 || !int_mul(n, k, &count))
        return err_set(
            e, TS_BAD_INPUT,
            "MatMulBnb4: N is %lld, K %lld, block_size %lld, quant_type %lld; positive numbers and a type of "
            "0 (FP4) or 1 (NF4) expected",
            (long long)n, (long long)k, (long long)block, (long long)kind);
    if (!onnx_int(c, "transB", 1))
        return err_set(e, TS_UNSUPPORTED, "transB: 0, which no runtime computes alike; 1 expected, for weights [N, K]");
    if (c->in[1]->type.dtype != TS_U8 || type_count(&c->in[1]->type) != (count + 1) / 2 || c->in[2]->type.rank != 1)
        return operands_refuse(c->n_in, c->in, e,
                               "numbers, u8 with two weights in a byte, and one axis of largest ones");
    const node *q = g_reshape(g, c->in[1], 1, (int64_t[]){(count + 1) / 2}); /* [bytes] */
    q = g_element(g, 1, &q,
                  &(spelling){1, 0, &count, "add", "bitand(shr(i32(a[floordiv(i0,2)]),i32(4-4*mod(i0,2))),15)"});
    const node *table = g_const(g, "", &(type){.dtype = TS_F32, .rank = 1, .dim = {COUNT(*bnb4)}}, bnb4[kind]),
               *largest = stretched(g, c->in[2], 0, block, count); /* [16], [n * k] */
    if (!q || !largest)
        return onnx_give(c, out, NULL, e);
    const node *w = g_cast(g, g_call2(g, "gather axis=0", table, q), largest->type.dtype); /* [n * k] */
    w = g_reshape(g, g_call2(g, "multiply", w, largest), 2, (int64_t[]){n, k});
    return onnx_give(c, out, g_call2(g, "matmul", c->in[0], g_swapped(g, w)), e);
}

/* q, the places, scales and perhaps zeros: data of u8, several numbers in each along the last axis, or of 4 bits;
 * scales of blocks along `axis`; rows along `from`. */
static bool check_gather(const onnx_call *c, int axis, int from, err *e)
{
    const node *q = c->in[0], *zero = onnx_in(c, 3);
    const int rank = q->type.rank;
    if (c->in[2]->type.rank != rank || (zero && zero->type.rank != rank) || from == axis ||
        (q->type.dtype == TS_U8 && (axis != rank - 1 || rank != 2)))
        return operands_refuse(c->n_in, c->in, e,
                               "data, places, and scales and zeros of as many axes, quantized along "
                               "another axis than gathered from; bytes [rows, numbers] along the "
                               "last");
    return true;
}

static bool adapt_gather(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const node *part[] = {c->in[0], c->in[2], onnx_in(c, 3)}; /* numbers, scales, zeros */
    int64_t bits, block;
    int axis, from;
    const int rank = part[0]->type.rank;
    if (!read_bits(c, &bits, &block, 128, e) || !axis_norm(onnx_int(c, "quantize_axis", 1), rank, &axis, e) ||
        !axis_norm(onnx_int(c, "gather_axis", 0), rank, &from, e) || !check_gather(c, axis, from, e))
        return false;
    const bool packed = part[0]->type.dtype == TS_U8;
    if (packed) {
        part[0] = unpacked(g, part[0], bits, part[0]->type.dim[1] * (8 / bits));
        part[2] = part[2] ? unpacked(g, part[2], bits, part[1]->type.dim[1]) : NULL;
    }
    for (int i = 0; i < 3; i++)
        part[i] = part[i] ? g_callf(g, NODES(part[i], c->in[1]), "gather axis=%d", from) : NULL;
    /* the axis of blocks, behind what the places have in the place of the axis gathered from */
    const int moved = axis < from ? axis : axis + c->in[1]->type.rank - 1;
    for (int i = 1; i < 3; i++)
        part[i] = part[0] ? stretched(g, part[i], moved, block, part[0]->type.dim[moved]) : NULL;
    if (err_is(&g->err))
        return onnx_give(c, out, NULL, e);
    if (packed && !part[2])
        part[2] = g_scalar(g, TS_U8, (double)(1 << (bits - 1)));
    return onnx_give(c, out, quantize_back(g, part[0], part[1], part[2]), e);
}

/* ---- records ---- */
const op ops_packed[] = {
    {.call = "packed",
     .doc = "Products with weights of a few bits, and rows of them, as other operations.",
     .adapted = ADAPTED(
         {"com.microsoft.MatMulNBits 1 fif.if 3..6 K N accuracy_level bits block_size weight_prepacked", adapt_matmul},
         {"com.microsoft.MatMulBnb4 1 fif 3 K N block_size quant_type training_mode transB", adapt_bnb4},
         {"com.microsoft.GatherBlockQuantized 1 iifi 3..4 bits block_size gather_axis quantize_axis", adapt_gather}),
     .onnx_cases = "com.microsoft.MatMulNBits f32[2,32]* u8[3,2,8] f32[3,2] K=32 N=3 bits=4 block_size=16\n"
                   "com.microsoft.MatMulBnb4 f32[2,7]* u8[11] f32[2] K=7 N=3 block_size=16 quant_type=1\n"
                   "com.microsoft.GatherBlockQuantized u8[4,16] i64[3]<4 f32[4,2]* block_size=16"},
    {0},
};
