/* cast.c - changing the dtype, and operations that change nothing. */
#include "graph/ir/rule.h"
#include "graph/ir/small.h"

#include <string.h>

/* ---- helpers: calls, for recipes everywhere ---- */
const node *g_cast(graph *g, const node *a, dtype to)
{
    return a && a->type.dtype == to ? a : g_apply(g, "cast", a, ATTRS(attr_word("to", ts_dtype_name(to))));
}

const node *g_rematerialized(graph *g, const node *a)
{
    return g_call1(g, "rematerialize", a);
}

const node *g_widened(graph *g, const node *a)
{
    return a && (a->type.dtype == TS_F16 || a->type.dtype == TS_BF16) ? g_cast(g, a, TS_F32) : a;
}

const node *g_limited(graph *g, const node *a, dtype to)
{
    const small *f = small_of(to);
    if (a && f && a->type.dtype != to) {
        const double most = small_highest(f);
        const char *limits = arena_format(&g->mem, "max(min(a,%.17g),-%.17g)", most, most);
        const node *real = g_cast(g, a, a->type.dtype == TS_F64 ? TS_F64 : TS_F32); /* as a */
        a = g_formula(g, 1, &real, limits);
    }
    return g_cast(g, a, to);
}

/* ---- ONNX ---- */
/* x in dtype d; where `saturate` says so, as it does by default, what an 8-bit float cannot hold is limited before. */
static const node *converted(const onnx_call *c, const node *x, dtype d, err *e)
{
    const small *f = small_of(d);
    const bool limits = onnx_int(c, "saturate", 1);
    if (f && f->rule == SMALL_POWER && (!limits || strcmp(onnx_word(c, "round_mode", "up"), "up")))
        return err_set(e, TS_UNSUPPORTED, "%s to f8e8m0: round_mode \"%s\" and saturate %d, \"up\" and 1 are supported",
                       c->type, onnx_word(c, "round_mode", "up"), limits),
               NULL;
    return f && f->rule != SMALL_POWER && limits ? g_limited(c->g, x, d) : g_cast(c->g, x, d);
}

/* The dtype that `to` says: a code, or before version 6 its name. */
static bool wanted(const onnx_call *c, dtype *d, err *e)
{
    static const char *const name[] = {"UNDEFINED", "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
                                       "INT64",     "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
    const char *word = onnx_word(c, "to", NULL);
    if (!word)
        return onnx_dtype(onnx_int(c, "to", 0), d, e);
    const int code = ROW_NAMED(name, word);
    return code < 0 ? err_set(e, TS_BAD_INPUT, "%s: to \"%.40s\" is no element type", c->type, word)
                    : onnx_dtype(code, d, e);
}

/* Of CastLike: as operand 1 */
static bool adapt_cast(const onnx_call *c, const node **out, err *e)
{
    dtype d = c->n_in > 1 ? c->in[1]->type.dtype : TS_N_DTYPE;
    if (c->n_in < 2 && (!onnx_must(c, "to", e) || !wanted(c, &d, e)))
        return false;
    const node *y = converted(c, c->in[0], d, e); /* as in[0] */
    return (y || !err_is(e)) && onnx_give(c, out, y, e);
}

static bool adapt_identity(const onnx_call *c, const node **out, err *e)
{
    return onnx_give(c, out, c->in[0], e);
}

/* ---- shape, body ---- */
static bool cast_shape(const node *n, type *out, err *e)
{
    *out = n->in[0]->type;
    return attr_dtype(n, "to", &out->dtype, e);
}

static const expr *cast_body(defn *d)
{
    return x_cast(d->mem, d->node->type.dtype, defn_in(d, 0));
}

/* ---- records ---- */
const op ops_cast[] = {
    BODY("cast a to:s -> e", cast_body, "a.astype(dtypes[to])", NULL,
         "f32[2,3] to=f64\nf64[7] to=f32\nf32[9] to=i64\nf64[9] to=i32\nf32[9] to=i8\ni64[9] to=f32\n"
         "i32[9]! to=i8\ni8[9]! to=u8\nbool[5] to=f32\nf32[16]! to=bool\ni64[9] to=bool\nf32[16]! to=f16\n"
         "f16[4] to=f32\nf32[0,2] to=i64\nu64[4] to=f64\nf32[] to=f32",
         "The same values in another dtype; reals lose their fraction when they become integers.",
         .adapted = ADAPTED({"Cast 1 - 1 round_mode saturate to", adapt_cast},
                            {"CastLike 15 - 2 round_mode saturate", adapt_cast}),
         .onnx_undefined = "Cast: A real beyond an integer's range is its nearer end; NaN is 0.\nCastLike: As of Cast.",
         .onnx_cases = "Cast f32[3] to=1\nCastLike f32[3] i32[2]", .back = "Cast a to~", .shape = cast_shape),
    ELEMENT("identity", "a", "a", NULL, "f32[2,3]\ni64[]\nbool[0,2]", "The value itself.",
            .adapted = ADAPTED({"Identity 1 - 1", adapt_identity}), .back = "Identity a"),
    ELEMENT("stop", "stop(a)", "a", NULL, "f32[2,3]\nf64[4]\ni64[3]\nf32[0,2]",
            "The value itself; no gradient goes through it.", .back = "Identity a"),
    ELEMENT("rematerialize", "a", "a", NULL, "f32[2,3]\ni64[]\nbool[0,2]",
            "The value itself, for what is computed from it once more instead of being kept.", .back = "Identity a"),
    {0},
};
