/* bitcast.c - the same bits read as another dtype: integers of one width are casts of each other, reals go through the
 * integer that their bits are. */
#include "graph/ir/rule.h"

/* ---- helpers ---- */
extern routine_code routine_bits;

static const struct {
    dtype dtype;
    int exponent, fraction;
} formats[] = {{TS_F64, 11, 52}, {TS_F32, 8, 23}, {TS_F16, 5, 10}, {TS_BF16, 8, 7}};

static int format_of(dtype d)
{
    for (int i = 0; i < COUNT(formats); i++)
        if (formats[i].dtype == d)
            return i;
    return -1;
}

static const node *bits(graph *g, const char *op_name, const node *x, int format, dtype real)
{
    const char *to = ts_dtype_name(real == TS_F64 ? TS_F64 : TS_F32);
    return g_callf(g, 1, &x, "%s exponent=%d fraction=%d dtype=%s", op_name, formats[format].exponent,
                   formats[format].fraction, to);
}

/* ---- ONNX ---- */
static bool adapt_bit_cast(const onnx_call *c, const node **out, err *e)
{
    dtype d;
    if (!onnx_dtype(onnx_int(c, "to", 0), &d, e))
        return false;
    return onnx_give(c, out, g_apply(c->g, "bitcast", c->in[0], ATTRS(attr_word("to", ts_dtype_name(d)))), e);
}

/* ---- shape, body ---- */
static bool read_real(const node *n, dtype *d, err *e)
{
    const char *name = node_attr(n, "dtype")->s;
    const int64_t exponent = node_int(n, "exponent"), fraction = node_int(n, "fraction");
    if (!dtype_parse(name, d) || (*d != TS_F32 && *d != TS_F64))
        return err_set(e, TS_BAD_INPUT, "dtype: \"%s\" is neither f32 nor f64", name);
    for (int i = 0; i < COUNT(formats); i++)
        if (exponent == formats[i].exponent && fraction == formats[i].fraction)
            return true;
    return err_set(e, TS_BAD_INPUT, "no dtype has %lld bits of exponent and %lld of fraction", (long long)exponent,
                   (long long)fraction);
}

static bool to_shape(const node *n, type *out, err *e)
{
    dtype d;
    *out = n->in[0]->type, out->dtype = TS_I64;
    if (!read_real(n, &d, e))
        return false;
    return n->in[0]->type.dtype == d || err_set(e, TS_BAD_INPUT, "the operand is of dtype %s, %s expected",
                                                ts_dtype_name(n->in[0]->type.dtype), ts_dtype_name(d));
}

static bool from_shape(const node *n, type *out, err *e)
{
    *out = n->in[0]->type;
    return read_real(n, &out->dtype, e) &&
           (n->in[0]->type.dtype == TS_I64 ||
            err_set(e, TS_BAD_INPUT, "the operand is of dtype %s, not i64", ts_dtype_name(n->in[0]->type.dtype)));
}

static const expr *bits_body(defn *d)
{
    const int64_t parameter[] = {type_count(&d->node->type), node_int(d->node, "exponent"),
                                 node_int(d->node, "fraction")};
    const routine bits = {.name = "bits", .run = routine_bits, .n_parameter = COUNT(parameter), .parameter = parameter};
    return defn_routine(d, &bits);
}

/* ---- recipes ---- */
static const node *bitcast_lower(graph *g, const node *n)
{
    const node *x = n->in[0];
    const dtype from = x->type.dtype;
    dtype to;
    if (!attr_dtype(n, "to", &to, &g->err))
        return NULL;
    if (dtype_bits(from) != dtype_bits(to))
        return g_fail(g, TS_BAD_INPUT, "%s and %s have different widths, equal ones expected", ts_dtype_name(from),
                      ts_dtype_name(to));
    if (from == to)
        return x;
    if ((dtype_class(from) == D_REAL && dtype_small(from)) || (dtype_class(to) == D_REAL && dtype_small(to)))
        return g_fail(g, TS_UNSUPPORTED, "the bits of %s as %s: reals of 16, 32 and 64 bits and integers expected",
                      ts_dtype_name(from), ts_dtype_name(to));
    const int in = format_of(from), out = format_of(to);
    if (in >= 0)
        x = bits(g, "to_bits", g_cast(g, x, from == TS_F64 ? from : TS_F32), in, from);
    if (out < 0)
        return g_cast(g, x, to);
    /* Zeros in front of narrow integers, whatever their sign. */
    const node *whole = g_cast(g, x, TS_I64); /* as x */
    if (ts_dtype_bytes(from) < 8)
        whole = g_call2(g, "bitwise_and", whole,
                        g_scalar(g, TS_I64, (double)((INT64_C(1) << 8 * ts_dtype_bytes(from)) - 1)));
    return g_cast(g, bits(g, "from_bits", whole, out, to), to);
}

/* ---- records ---- */
#define FORMAT "exponent:i=8 fraction:i=23 dtype:s=f32"

const op ops_bitcast[] = {
    BODY("to_bits a " FORMAT " -> e", bits_body, "a.view({'f32': np.uint32, 'f64': np.int64}[dtype]).astype(np.int64)",
         NULL, "f32[2,9]!\nf64[9]! exponent=11 fraction=52 dtype=f64\nf32[]\nf32[0,2]",
         "The bits of reals as integers.", .shape = to_shape),
    BODY("from_bits a " FORMAT " -> e", bits_body,
         "a.astype({'f32': np.uint32, 'f64': np.int64}[dtype]).view(dtypes[dtype])", NULL,
         "i64[2,9]!\ni64[9]! exponent=11 fraction=52 dtype=f64\ni64[0,2]", "Reals of which integers are the bits.",
         .shape = from_shape),
    RECIPE("bitcast a to:s -> e", bitcast_lower, "a.view(dtypes[to])", NULL,
           "f32[2,9]! to=i32\ni32[9]! to=f32\nf64[9]! to=u64\ni64[9]! to=f64\nf16[9]! to=i16\nu16[9]! to=f16\n"
           "i8[9]! to=u8\nbool[9] to=u8\nu32[4]! to=i32\nf32[] to=u32\ni16[0,2] to=f16",
           "The same bits as another dtype of the same width.",
           .adapted = ADAPTED({"BitCast 26 - 1 to", adapt_bit_cast}),
           .onnx_cases = "BitCast f32[4] to=6\nBitCast i32[4] to=1\nBitCast f64[4] to=7\nBitCast i64[4] to=11\n"
                         "BitCast f16[4] to=5\nBitCast i16[4] to=10\nBitCast i8[4] to=2\nBitCast u8[4] to=3\n"
                         "BitCast i4[4] to=21\nBitCast u4[4] to=22\nBitCast i2[4] to=25\nBitCast u2[4] to=26"),
    {0},
};
