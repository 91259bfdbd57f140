/* bits.c - integers as rows of bits. */
#include "graph/ir/rule.h"

#include <string.h>

static const char two[] =
    "i64[2,3] i64[2,3]\nu8[9]! u8[9]!\ni32[4,1] i16[5]\nbool[5] bool[5]\ni8[9]! i8[]\nu32[0] u32[0]";

/* ---- ONNX ---- */
static bool adapt_shift(const onnx_call *c, const node **out, err *e)
{
    const char *way = onnx_word(c, "direction", "");
    if (strcmp(way, "LEFT") && strcmp(way, "RIGHT"))
        return err_set(e, TS_BAD_INPUT, "BitShift: direction \"%s\" is neither LEFT nor RIGHT", way);
    return onnx_give(c, out, g_call(c->g, *way == 'L' ? "left_shift" : "right_shift", 2, c->in), e);
}

/* ---- shape, body ---- */
static bool bits_shape(const node *n, type *out, err *e)
{
    const type *in[2];
    *out = (type){.dtype = n->in[0]->type.dtype};
    for (int i = 0; i < n->n_in; i++) {
        in[i] = &n->in[i]->type, out->dtype = dtype_promote(out->dtype, in[i]->dtype);
        if (dtype_class(in[i]->dtype) == D_REAL)
            return err_set(e, TS_BAD_INPUT, "operand %d is of dtype %s, integers expected", i + 1,
                           ts_dtype_name(in[i]->dtype));
    }
    const dtype d = out->dtype;
    if (!type_broadcast(n->n_in, in, out, e))
        return false;
    return out->dtype = d, true;
}

static bool whole_shape(const node *n, type *out, err *e) /* numpy: truth values shift as small integers */
{
    if (!bits_shape(n, out, e))
        return false;
    if (out->dtype == TS_BOOL)
        out->dtype = TS_I8;
    return dtype_class(out->dtype) == D_WHOLE || operands_refuse(1, n->in, e, "integers or truth values");
}

static const expr *not_body(defn *d)
{
    return x1(d->mem, d->node->type.dtype == TS_BOOL ? "not" : "bitnot", defn_in(d, 0));
}

/* u64 is shifted as i64: the first step clears the sign bit, which would be copied. */
static const expr *right_body(defn *d)
{
    arena *mem = d->mem;
    const dtype to = d->node->type.dtype;
    const expr *a = x_cast(mem, to, defn_in(d, 0)), *n = x_cast(mem, to, defn_in(d, 1));
    if (to != TS_U64)
        return x2(mem, "shr", a, n);
    return x_said(mem, "n == 0 ? a : shr(bitand(shr(a, 1), most), n - 1)", "a", a, "n", n, "most",
                  x_whole(mem, INT64_MAX), NULL);
}

/* ---- records ---- */
const op ops_bits[] = {
    ELEMENT("bitwise_and", "bitand(a, b)", "np.bitwise_and(a, b)", "BitwiseAnd 18 I", two,
            "Bits that both values have.", .shape = bits_shape),
    ELEMENT("bitwise_or", "bitor(a, b)", "np.bitwise_or(a, b)", "BitwiseOr 18 I", two,
            "Bits that one of two values has.", .shape = bits_shape),
    ELEMENT("bitwise_xor", "bitxor(a, b)", "np.bitwise_xor(a, b)", "BitwiseXor 18 I", two, "Bits that differ.",
            .shape = bits_shape),
    BODY("bitwise_not a -> e", not_body, "np.bitwise_not(a)", "BitwiseNot 18 i",
         "i64[2,3]\nu8[9]!\nbool[5]\ni16[9]!\nu32[0]", "All bits turned.", .shape = bits_shape),
    ELEMENT("left_shift", "shl(a, b)", "np.left_shift(a, b)", NULL,
            "u8[9] u8[9]<8\nu32[3,4] u32[4]<20\ni64[9]! u8[9]\nu64[5] u64[5]\ni8[4] u8[]=3\ni32[0] i32[0]",
            "Bits of the first value moved up by as many places as the second says.",
            .adapted = ADAPTED({"BitShift 11 I 2 direction", adapt_shift}),
            .onnx_undefined = "BitShift: By as many places as there are bits, or more, it is 0.",
            .onnx_cases = "BitShift u8[3] u8[3] direction=LEFT", .shape = whole_shape),
    BODY("right_shift a b -> e", right_body, "np.right_shift(a, b)", NULL,
         "u8[9]! u8[9]<8\nu32[3,4]! u32[4]<20\ni64[9]! u8[9]\nu64[9]! u64[9]\ni8[4]! u8[]=3\ni32[0] i32[0]",
         "Bits of the first value moved down by as many places as the second says.", .shape = whole_shape),
    {0},
};
