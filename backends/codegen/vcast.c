/* vcast.c - elements of vectors as those of another kind: between memory, which has truth as bytes and small reals as
 * bits, and values; and conversions, with the bits that a conversion of one element has. */
#include "backends/codegen/vectors.h"

#include <string.h>

static const cexpr *seen_as(emitter *m, element e, const cexpr *x) /* the same bits */
{
    return cexpr_one(m->mem, arena_format(m->mem, "(%s)$0", vector_type(m, e)), x);
}

static element memory_kind(const emitter *m, dtype d) /* as it lies there */
{
    const bool real = dtype_class(d) == D_REAL && ts_dtype_bytes(d) >= 4;
    element e = E_F32;
    if (real)
        return d == TS_F64 ? E_F64 : E_F32;
    if (d == TS_BOOL || dtype_class(d) == D_REAL)
        return ts_dtype_bytes(d) == 2 ? E_U16 : E_U8;
    MUST(vector_kind(m, d, &e));
    return e;
}

static bool is_natural(element e)
{
    return e >= E_U8;
}

/* Elements of another kind. Compilers know how to make whole numbers of fewer bits, not always natural ones. */
static const cexpr *as(emitter *m, element to, element from, const cexpr *x)
{
    static const element same[] = {[E_U8] = E_I8, [E_U16] = E_I16};
    if (to == from)
        return x;
    if (element_bytes(from) == 1 && element_bytes(to) > 2) /* gcc 12 goes element by element but from step to step */
        x = vector_one(m, E_I16, "of", x), from = E_I16;
    if (element_bytes(to) > 2 || element_bytes(from) != 4 || from == E_F32)
        return vector_one(m, to, "of", x);
    const element whole = is_natural(to) ? same[to] : to;
    x = vector_one(m, whole, "narrow", from == E_I32 ? x : seen_as(m, E_I32, x));
    return whole == to ? x : seen_as(m, to, x);
}

/* The value of elements that are as memory has them */
static const cexpr *from_memory(emitter *m, dtype d, const cexpr *x)
{
    const element e = vector_kind_of(m, d), was = memory_kind(m, d);
    const char *wrap = cstyle_load(m->mem, m->d, NULL, d);
    if (d == TS_BOOL)
        return vector_one(m, E_I32, "of",
                          cexpr_one(m->mem, arena_format(m->mem, "(%s)($0 != 0)", vector_type(m, E_I8)), x));
    if (*wrap != '$')
        return vector_of(m, e, E_F32, vector_function(m, wrap, 1, &x));
    return vector_of(m, e, was, x);
}

static const cexpr *to_memory(emitter *m, dtype d, const cexpr *x)
{
    const element e = vector_kind_of(m, d);
    const char *wrap = cstyle_store(m->mem, m->d, NULL, d);
    if (d == TS_BOOL)
        return as(m, E_U8, E_I32, cexpr_one(m->mem, "-$0", x));
    if (*wrap == '$')
        return as(m, memory_kind(m, d), e, x);
    x = vector_of(m, E_F32, e, x);
    return vector_function(m, wrap, 1, &x);
}

const cexpr *vector_read(emitter *m, dtype d, const cexpr *place)
{
    const vector_loop *v = &m->tile.vectors;
    const element e = memory_kind(m, d);
    return from_memory(m, d,
                       v->count < v->n ? vector_call(m, e, "part", "(&$0, $1)",
                                                     (const cexpr *const[]){place, cexpr_number(m->mem, v->count)})
                                       : vector_load(m, e, place));
}

void vector_write(emitter *m, dtype d, const cexpr *place, const cexpr *value)
{
    const vector_loop *v = &m->tile.vectors;
    const element e = memory_kind(m, d);
    const cexpr *all = to_memory(m, d, value);
    if (v->count < v->n)
        code_call(&m->out.code, vector_call(m, e, "put", "(&$0, $1, $2)",
                                            (const cexpr *const[]){place, all, cexpr_number(m->mem, v->count)}));
    else
        vector_store(m, e, place, all);
}

/* Reals as whole numbers of at most 32 bits: truncated, or the nearest that there is; 0 of what is no number. The
 * highest of 32 bits is no real of 4 bytes: that below it is. */
static const cexpr *truncated(emitter *m, element to, const expr *of, const cexpr *x)
{
    const element from = vector_kind_of(m, of->dtype);
    const bool exact = to != E_I32 || from == E_F64, sign = !is_natural(to);
    const int bits = 8 * element_bytes(to) - sign;
    const long long high = exact ? (1LL << bits) - 1 : (1LL << bits) - 128, low = sign ? -(1LL << bits) : 0;
    if (stays_between(of, (double)low, (double)high))
        return as(m, to, E_I32, vector_one(m, E_I32, "of", x));
    const cexpr *real = exact ? x : vector_name(m, from, x);
    const cexpr *all = vector_one(
        m, E_I32, "of",
        vector_call(m, from, "within", "($0, $1, $2)",
                    (const cexpr *const[]){real, cexpr_number(m->mem, low), cexpr_number(m->mem, high)}));
    if (exact)
        return as(m, to, E_I32, all);
    const cexpr *far = cexpr_one(m->mem, arena_format(m->mem, "(%s)($0 >= 0x1p31f)", vector_type(m, E_I32)), real);
    return vector_call(m, E_I32, "blend", "($0, $1, $2)",
                       (const cexpr *const[]){far, vector_splat(m, E_I32, cexpr_word(m->mem, "0x7fffffff")), all});
}

const cexpr *vector_cast(emitter *m, dtype to, const expr *what, const cexpr *x)
{
    const dtype from = what->dtype;
    const element e = vector_kind_of(m, to), of = vector_kind_of(m, from);
    const char *load = cstyle_load(m->mem, m->d, NULL, to);
    if (to == TS_BOOL && from != TS_BOOL)
        return vector_of(m, E_I32, element_mask(of),
                         cexpr_two(m->mem, arena_format(m->mem, "(%s)($0 != $1)", vector_type(m, element_mask(of))), x,
                                   vector_splat(m, of, cexpr_word(m->mem, "0"))));
    if (from == TS_BOOL && to != TS_BOOL)
        x = cexpr_one(m->mem, "(-$0)", x);
    if (dtype_class(from) == D_REAL && dtype_class(to) == D_WHOLE)
        return truncated(m, e, what, x);
    x = as(m, e, of, x);
    if (dtype_class(to) != D_REAL || *load == '$' || m->p->reference)
        return x;
    const cexpr *stored = vector_function(m, cstyle_store(m->mem, m->d, NULL, to), 1, &x);
    return vector_function(m, load, 1, &stored);
}

bool vector_casts(const emitter *m, dtype to, dtype from)
{
    element e;
    if (!vector_kind(m, to, &e) || !vector_kind(m, from, &e))
        return false;
    if (dtype_class(to) != D_REAL)
        return to == TS_BOOL || dtype_class(from) != D_REAL || (to != TS_U32 && ts_dtype_bytes(to) <= 4);
    const char *load = cstyle_load(m->mem, m->d, NULL, to), *store = cstyle_store(m->mem, m->d, NULL, to);
    const bool exact = m->p->reference || *load == '$';
    return exact || (from == TS_F32 && callees_have(m->d, load, strcspn(load, "("), (instance){E_F32, 8}) &&
                     callees_have(m->d, store, strcspn(store, "("), (instance){E_F32, 8}));
}
