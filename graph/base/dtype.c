/* dtype.c - names, sizes and classes of data types, and numpy's promotion. */
#include "graph/base/dtype.h"

typedef struct facts {
    const char *name;
    int bytes, bits; /* in memory; of the value */
    enum { REAL, SIGNED, UNSIGNED, TRUTH } kind;
} facts;

/* In the order of ts_dtype. */
static const facts table[] = {
    [TS_F32] = {"f32", 4, 32, REAL},
    [TS_F64] = {"f64", 8, 64, REAL},
    [TS_F16] = {"f16", 2, 16, REAL},
    [TS_BF16] = {"bf16", 2, 16, REAL},
    [TS_I64] = {"i64", 8, 64, SIGNED},
    [TS_I32] = {"i32", 4, 32, SIGNED},
    [TS_I16] = {"i16", 2, 16, SIGNED},
    [TS_I8] = {"i8", 1, 8, SIGNED},
    [TS_U64] = {"u64", 8, 64, UNSIGNED},
    [TS_U32] = {"u32", 4, 32, UNSIGNED},
    [TS_U16] = {"u16", 2, 16, UNSIGNED},
    [TS_U8] = {"u8", 1, 8, UNSIGNED},
    [TS_BOOL] = {"bool", 1, 8, TRUTH},
    [TS_F8E4M3FN] = {"f8e4m3fn", 1, 8, REAL},
    [TS_F8E4M3FNUZ] = {"f8e4m3fnuz", 1, 8, REAL},
    [TS_F8E5M2] = {"f8e5m2", 1, 8, REAL},
    [TS_F8E5M2FNUZ] = {"f8e5m2fnuz", 1, 8, REAL},
    [TS_F8E8M0] = {"f8e8m0", 1, 8, REAL},
    [TS_F4E2M1] = {"f4e2m1", 1, 4, REAL},
    [TS_I4] = {"i4", 1, 4, SIGNED},
    [TS_U4] = {"u4", 1, 4, UNSIGNED},
    [TS_I2] = {"i2", 1, 2, SIGNED},
    [TS_U2] = {"u2", 1, 2, UNSIGNED},
};
_Static_assert(COUNT(table) == TS_N_DTYPE, "a row for every dtype");

static const facts *facts_of(dtype d)
{
    MUST((unsigned)d < TS_N_DTYPE);
    return &table[d];
}

const char *ts_dtype_name(ts_dtype d)
{
    return (unsigned)d < TS_N_DTYPE ? table[d].name : "none";
}

int ts_dtype_bytes(ts_dtype d)
{
    return (unsigned)d < TS_N_DTYPE ? table[d].bytes : 0;
}

int dtype_bits(dtype d)
{
    return facts_of(d)->bits;
}

/* 8-bit reals and what is narrower than a byte: stored, computed with as f32 or whole numbers. */
bool dtype_small(dtype d)
{
    const facts *f = facts_of(d);
    return f->bits < 8 || (f->kind == REAL && f->bits == 8);
}

bool dtype_has_gradient(ts_dtype d)
{
    return d == TS_F32 || d == TS_F64 || d == TS_F16 || d == TS_BF16;
}

dclass dtype_class(dtype d)
{
    int kind = facts_of(d)->kind;
    return kind == REAL ? D_REAL : kind == TRUTH ? D_TRUTH : D_WHOLE;
}

bool dtype_real(dtype d)
{
    return dtype_class(d) == D_REAL;
}

bool dtype_signed(dtype d)
{
    int kind = facts_of(d)->kind;
    return kind == REAL || kind == SIGNED;
}

bool dtype_parse(const char *name, dtype *out)
{
    const int d = ROW_NAMED(table, name);
    return d >= 0 && (*out = (dtype)d, true);
}

bool dtype_read(const char *name, dtype *out, err *e)
{
    ENDED_BY(text_free) text known = {0};
    if (dtype_parse(name, out))
        return true;
    for (int d = 0; d < TS_N_DTYPE; d++)
        text_add(&known, "%s%s", d ? ", " : "", table[d].name);
    return err_set(e, TS_BAD_INPUT, "\"%.40s\" is not a dtype; known are %s", name, text_str(&known));
}

static dtype signed_of(int bytes)
{
    return bytes == 1 ? TS_I8 : bytes == 2 ? TS_I16 : bytes == 4 ? TS_I32 : TS_I64;
}

/* The smallest real type that numpy trusts with integers of so many bytes. */
static dtype real_of(int bytes)
{
    return bytes == 1 ? TS_F16 : bytes == 2 ? TS_F32 : TS_F64;
}

/* numpy knows neither bf16 nor narrower reals: as in ml_dtypes they take no part in widening by integers, and two
 * of one width meet in f32. */
static dtype promote_real(dtype real, dtype other)
{
    const facts *a = facts_of(real), *b = facts_of(other);
    if (b->kind != REAL) {
        dtype least = real_of(b->bytes);
        return real == TS_BF16 || a->bits <= 8 || a->bits >= facts_of(least)->bits ? real : least;
    }
    if (a->bits == b->bits || (a->bits <= 8 && b->bits <= 8))
        return TS_F32;
    return a->bits > b->bits ? real : other;
}

dtype dtype_promote(dtype a, dtype b)
{
    const facts *p = facts_of(a), *q = facts_of(b);
    if (a == b || q->kind == TRUTH)
        return a;
    if (p->kind == TRUTH)
        return b;
    if (p->kind == REAL)
        return promote_real(a, b);
    if (q->kind == REAL)
        return promote_real(b, a);
    if (p->kind == q->kind)
        return p->bits > q->bits ? a : b;
    /* A signed type must be wider than the unsigned one to hold its values; beside u64 only f64 is left. */
    const facts *s = p->kind == SIGNED ? p : q, *u = p->kind == SIGNED ? q : p;
    if (s->bits > u->bits)
        return p->kind == SIGNED ? a : b;
    return u->bits == 64 ? TS_F64 : signed_of(u->bits < 8 ? 1 : 2 * u->bytes);
}

dtype dtype_float(dtype d)
{
    const facts *f = facts_of(d);
    return f->kind == REAL ? d : real_of(f->bytes);
}
