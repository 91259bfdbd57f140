/* type.c - names, sizes and classes of data types, numpy's promotion, and the rules for extents. */
#include "graph/ir/type.h"

#include <stdio.h>
#include <string.h>

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
    text known = {0};
    if (dtype_parse(name, out))
        return true;
    for (int d = 0; d < TS_N_DTYPE; d++)
        text_add(&known, "%s%s", d ? ", " : "", table[d].name);
    err_set(e, TS_BAD_INPUT, "\"%.40s\" is not a dtype; known are %s", name, text_str(&known));
    text_free(&known);
    return false;
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

/* No overflow: type_valid has bounded it. */
int64_t type_count(const type *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

int64_t type_bytes(const type *t)
{
    return type_count(t) * ts_dtype_bytes(t->dtype);
}

bool type_equal(const type *a, const type *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

bool type_valid(const type *t, err *e)
{
    if ((unsigned)t->dtype >= TS_N_DTYPE)
        return err_set(e, TS_BAD_INPUT, "data type number %d does not exist", (int)t->dtype);
    if (t->rank < 0 || t->rank > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "rank %d is not in 0...%d", t->rank, MAX_RANK);
    /* Zero extents are left out: what is not there must not hide a product that strides would overflow on. */
    int64_t bytes = ts_dtype_bytes(t->dtype);
    bool fits = true;
    for (int i = 0; i < t->rank; i++) {
        if (t->dim[i] < 0)
            return err_set(e, TS_BAD_INPUT, "dim[%d] = %lld is negative", i, (long long)t->dim[i]);
        if (t->dim[i] > 0)
            fits = fits && int_mul(bytes, t->dim[i], &bytes);
    }
    if (fits)
        return true;
    err_set(e, TS_MEMORY, "%s: the size in bytes overflows 63 bits", type_said(t).s);
    return err_hint(e, "no option raises this: make the extents smaller");
}

bool type_valid_known(const type *t, err *e)
{
    type known = *t;
    for (int i = 0; i < t->rank && i < MAX_RANK; i++)
        known.dim[i] = t->dim[i] == OPEN_EXTENT ? 1 : t->dim[i];
    return type_valid(&known, e);
}

static bool broadcast_fail(int n, const type *const *in, int from_last, err *e)
{
    text shown = {0};
    for (int i = 0; i < n; i++) {
        text_add(&shown, "%s", i ? " and " : "");
        type_print(&shown, in[i]);
    }
    err_set(e, TS_BAD_INPUT, "shapes do not broadcast: %s differ in axis -%d", text_str(&shown), from_last);
    text_free(&shown);
    return err_hint(e, "extents must be equal, or one of them 1, counted from the last axis");
}

/* The dtype is left as it is in out. */
bool type_broadcast(int n, const type *const *in, type *out, err *e)
{
    type y = {.dtype = out->dtype};
    for (int i = 0; i < n; i++)
        y.rank = in[i]->rank > y.rank ? in[i]->rank : y.rank;
    for (int last = 1; last <= y.rank; last++) {
        int64_t extent = 1;
        for (int i = 0; i < n; i++) {
            if (in[i]->rank < last)
                continue;
            int64_t d = in[i]->dim[in[i]->rank - last];
            if (d == OPEN_EXTENT && extent != 1)
                continue;
            if (extent != 1 && extent != OPEN_EXTENT && d != 1 && d != extent)
                return broadcast_fail(n, in, last, e);
            extent = d != 1 ? d : extent;
        }
        y.dim[y.rank - last] = extent;
    }
    *out = y;
    return type_valid_known(out, e);
}

/* -rank <= axis < rank; negative ones count from the end. */
bool axis_norm(int64_t axis, int rank, int *out, err *e)
{
    if (axis < -rank || axis >= rank) {
        err_set(e, TS_BAD_INPUT, "axis %lld is out of range for rank %d", (long long)axis, rank);
        return rank > 0 && err_hint(e, "axes go from %d to %d", -rank, rank - 1);
    }
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

ts_array type_array(const type *t, void *data)
{
    ts_array a = {.dtype = t->dtype, .rank = t->rank, .data = data};
    memcpy(a.dim, t->dim, (size_t)t->rank * sizeof *t->dim);
    return a;
}

/* As a problem or a graph has it: f32[2,3]. */
type_words type_said(const type *t)
{
    type_words words;
    text own = {0};
    type_print(&own, t);
    snprintf(words.s, sizeof words.s, "%s", text_str(&own));
    return text_free(&own), words;
}

void type_print(text *t, const type *y)
{
    text_add(t, "%s[", ts_dtype_name(y->dtype));
    for (int i = 0; i < y->rank; i++)
        text_add(t, y->dim[i] == OPEN_EXTENT ? "%s?" : "%s%lld", i ? "," : "", (long long)y->dim[i]);
    text_add(t, "]");
}
