/* expr.c - building, folding and rewriting element expressions. */
#include "graph/ir/expr.h"
#include "graph/ir/graph.h"
#include "graph/ir/merge.h"
#include "graph/ir/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static expr *make(arena *mem, xkind kind, dtype d)
{
    expr *x = arena_get(mem, sizeof *x);
    x->kind = kind, x->dtype = d;
    return x;
}

static const expr **parts(arena *mem, expr *x, int n) /* to be filled */
{
    const expr **arg = arena_array(mem, (size_t)n, sizeof *arg);
    x->n = n, x->arg = arg;
    return arg;
}

/* A literal has no dtype (TS_N_DTYPE) until it meets a value: 2 * x keeps the dtype of x, as in numpy. */
const expr *x_real(arena *mem, double v)
{
    expr *x = make(mem, X_LIT, TS_N_DTYPE);
    x->lit = v;
    return x;
}

const expr *x_whole(arena *mem, int64_t v)
{
    expr *x = make(mem, X_LIT, TS_N_DTYPE);
    x->lit = (double)v, x->whole = v, x->is_whole = true;
    return x;
}

const expr *x_axis(arena *mem, int axis)
{
    expr *x = make(mem, X_AXIS, TS_I64);
    x->axis = axis;
    return x;
}

const expr *x_size(arena *mem, int which)
{
    expr *x = make(mem, X_SIZE, TS_I64);
    MUST(which < MAX_SIZE);
    x->axis = which;
    return x;
}

/* A literal, or calls of literals alone. */
static bool weak(const expr *x)
{
    return x->dtype == TS_N_DTYPE;
}

/* The dtype in which several arguments meet: literals give way, except that a fractional one makes integers real. */
static dtype meet(int n, const expr *const *arg)
{
    dtype d = TS_N_DTYPE;
    bool fraction = false;
    for (int i = 0; i < n; i++) {
        if (weak(arg[i]))
            fraction = fraction || !arg[i]->is_whole;
        else
            d = d == TS_N_DTYPE ? arg[i]->dtype : dtype_promote(d, arg[i]->dtype);
    }
    if (d == TS_N_DTYPE)
        return fraction ? TS_F64 : TS_I64;
    if (d == TS_BOOL && n > 1)
        for (int i = 0; i < n; i++)
            if (weak(arg[i]))
                d = TS_I64; /* numpy: True + 1 is an integer */
    return fraction && dtype_class(d) != D_REAL ? TS_F64 : d;
}

static int64_t whole_in(dtype d, const expr *a) /* a literal wraps or saturates as what is cast while it runs */
{
    unsigned char b[16];
    if (a->is_whole)
        store_whole(d, b, 0, a->whole);
    else
        store_real(d, b, 0, a->lit);
    return load_whole(d, b, 0);
}

static const expr *retype(arena *mem, dtype d, const expr *a) /* a literal takes the type; anything else is cast */
{
    if (!weak(a))
        return x_cast(mem, d, a);
    expr *x = make(mem, X_LIT, d);
    *x = *a, x->dtype = d, x->is_whole = dtype_class(d) != D_REAL;
    if (x->is_whole) {
        x->whole = whole_in(d, a);
        x->lit = d == TS_U64 ? (double)(uint64_t)x->whole : (double)x->whole;
    }
    return x;
}

/* Whole literals are compared as the numbers that they are, whatever the other side can hold. */
static dtype compared(dtype d, int n, const expr *const *arg)
{
    for (int i = 0; i < n; i++)
        if (weak(arg[i]) && dtype_class(d) == D_WHOLE && d != TS_U64 && whole_in(d, arg[i]) != arg[i]->whole)
            return TS_I64;
    return d;
}

/* subscript: [rank of from], whole numbers. */
const expr *x_load(arena *mem, const node *from, const expr *const *subscript)
{
    expr *x = make(mem, X_LOAD, from->type.dtype);
    const expr **arg = parts(mem, x, from->type.rank);
    x->from = from;
    for (int i = 0; i < x->n; i++)
        arg[i] = retype(mem, TS_I64, subscript[i]);
    return x;
}

/* What a fold of whole numbers starts with. max and min start with infinities, which are the ends of the range here: of
 * b bits, signed, -2^(b-1) and 2^(b-1) - 1. */
int64_t x_unit_whole(const fn *f, dtype d)
{
    const int64_t most = (int64_t)(UINT64_MAX >> (64 - dtype_bits(d) + dtype_signed(d)));
    if (!isinf(f->unit))
        return (int64_t)f->unit;
    return d == TS_BOOL ? f->unit > 0 : f->unit > 0 ? most : dtype_signed(d) ? ~most : 0;
}

const expr *x_unit(arena *mem, const fn *f, dtype d)
{
    return retype(mem, d, dtype_class(d) == D_REAL ? x_real(mem, f->unit) : x_whole(mem, x_unit_whole(f, d)));
}

/* A call of literals is computed now, by the functions that the interpreter uses, so it has the bits that a run would
 * have. NULL where an argument is no literal. */
static const expr *fold_call(arena *mem, const fn *f, const expr *const *arg, dtype in, dtype out)
{
    double r[MAX_ARG];
    int64_t w[MAX_ARG];
    for (int i = 0; i < f->arity; i++) {
        if (arg[i]->kind != X_LIT)
            return NULL;
        r[i] = arg[i]->lit, w[i] = arg[i]->whole;
    }
    bool real = dtype_class(in) == D_REAL;
    const expr *v;
    if (!strcmp(f->name, "at") && (w[0] < 0 || w[0] >= w[1])) /* stays, to be found when it is read from */
        return NULL;
    if (real && f->result != R_BOOL)
        v = x_real(mem, f->real(r));
    else
        v = x_whole(mem, real ? f->real(r) != 0 : fn_whole(f, in, w));
    return retype(mem, out, v);
}

static bool is_whole(const expr *x, int64_t v)
{
    return x->kind == X_LIT && x->is_whole && x->whole == v;
}

/* x + 0, x * 1 and the like in integers: subscripts must come out clean. Reals are left alone (signed zeros, NaN). */
static const expr *tidy(arena *mem, const char *f, const expr *const *a)
{
    bool zero0 = is_whole(a[0], 0), zero1 = is_whole(a[1], 0), one0 = is_whole(a[0], 1), one1 = is_whole(a[1], 1);
    if (!strcmp(f, "add"))
        return zero0 ? a[1] : zero1 ? a[0] : NULL;
    if (!strcmp(f, "sub"))
        return zero1 ? a[0] : NULL;
    if (!strcmp(f, "mul"))
        return zero0 || one1 ? a[0] : zero1 || one0 ? a[1] : NULL;
    if (!strcmp(f, "floordiv"))
        return one1 || zero0 ? a[0] : NULL;
    if (!strcmp(f, "mod"))
        return one1 ? retype(mem, a[0]->dtype, x_whole(mem, 0)) : zero0 ? a[0] : NULL;
    return NULL;
}

/* Of a graph: its arguments are reals, of one dtype. */
static const expr *apply_own(arena *mem, const fn *f, const expr *const *in)
{
    const dtype met = meet(f->arity, in), d = dtype_class(met) == D_REAL ? met : dtype_float(met);
    expr *x = make(mem, X_CALL, f->result == R_BOOL ? TS_BOOL : d);
    const expr **arg = parts(mem, x, f->arity);
    x->fn = f;
    for (int i = 0; i < f->arity; i++)
        arg[i] = retype(mem, d, in[i]);
    return x;
}

/* from[0, 1, ...]: the element at the axes themselves. */
const expr *x_element(arena *mem, const node *from)
{
    const expr *subscript[MAX_RANK];
    for (int i = 0; i < from->type.rank; i++)
        subscript[i] = x_axis(mem, i);
    return x_load(mem, from, subscript);
}

static const expr *x_call(arena *mem, const char *name, int n, const expr *const *in)
{
    const fn *f = fn_find(name);
    MUST(f);
    return x_apply(mem, f, n, in);
}

/* Arguments are brought to one dtype; `where` (R_SECOND) leaves its condition out of that. What is known already is not
 * kept as a call. */
const expr *x_apply(arena *mem, const fn *f, int n, const expr *const *in)
{
    const expr *arg[MAX_ARG];
    MUST(f->arity == n);
    if (fn_is_own(f))
        return apply_own(mem, f, in);
    const int first = f->result == R_SECOND ? 1 : 0;
    dtype d = meet(n - first, in + first);
    if (f->result == R_BOOL)
        d = compared(d, n, in);
    if (dtype_class(d) == D_REAL ? !f->real : !f->whole)
        d = f->whole ? TS_BOOL : dtype_float(d);
    bool all_weak = true;
    for (int i = 0; i < n; i++)
        all_weak = all_weak && weak(in[i]), arg[i] = retype(mem, i < first ? TS_BOOL : d, in[i]);
    const dtype out = f->result == R_BOOL ? TS_BOOL : d;
    if (f->result == R_SECOND && arg[0]->kind == X_LIT)
        return arg[0]->whole ? arg[1] : arg[2];
    const expr *known = fold_call(mem, f, arg, d, out);
    if (!known && n == 2 && dtype_class(d) == D_WHOLE)
        known = tidy(mem, f->name, arg);
    if (known && all_weak && f->result != R_BOOL)
        return dtype_class(d) == D_REAL ? x_real(mem, known->lit) : x_whole(mem, known->whole);
    if (known)
        return known;
    expr *x = make(mem, X_CALL, out);
    x->fn = f;
    memcpy(parts(mem, x, n), arg, (size_t)n * sizeof *arg);
    return x;
}

/* Literals change their dtype in place unless that could round them (reals to whole numbers, fewer than 32 bits): then
 * the cast stays, and rounds as a value of a run would. */
const expr *x_cast(arena *mem, dtype to, const expr *a)
{
    if (a->dtype == to)
        return a;
    if (a->kind == X_LIT && (weak(a) || dtype_class(to) == D_REAL) && dtype_bits(to) >= 32) {
        expr *bare = make(mem, X_LIT, TS_N_DTYPE);
        *bare = *a, bare->dtype = TS_N_DTYPE;
        return retype(mem, to, bare);
    }
    expr *x = make(mem, X_CAST, to);
    *parts(mem, x, 1) = weak(a) ? retype(mem, a->is_whole ? TS_I64 : TS_F64, a) : a;
    return x;
}

const expr *x_truth(arena *mem, bool v)
{
    return x_cast(mem, TS_BOOL, x_whole(mem, v));
}

/* f->unit == f->unit: NaN marks functions that have no unit, so nothing can start a fold of them. */
const expr *x_fold(arena *mem, const char *name, uint32_t axes, const expr *body)
{
    const fn *f = fn_find(name);
    MUST(f && f->arity == 2 && f->unit == f->unit);
    expr *x = make(mem, X_FOLD, f->result == R_BOOL ? TS_BOOL : weak(body) ? TS_F64 : body->dtype);
    x->fn = f, x->folds = axes;
    *parts(mem, x, 1) = retype(mem, x->dtype, body);
    return x;
}

const expr *x_scatter(arena *mem, dtype d, const char *name, uint32_t axes, int n, const expr *const *part)
{
    const fn *f = name ? fn_find(name) : NULL;
    MUST((!name || (f && f->arity == 2)) && n >= 2);
    expr *x = make(mem, X_SCATTER, d);
    const expr **arg = parts(mem, x, n);
    x->fn = f, x->folds = axes;
    for (int i = 0; i < n; i++)
        arg[i] = retype(mem, i < 2 ? d : TS_I64, part[i]);
    return x;
}

/* The letter of a C type in the name of a routine; wide: of reals that are computed in doubles. */
char routine_type(dtype d, bool wide)
{
    MUST(d == TS_F32 || d == TS_F64 || d == TS_I64 || d == TS_U64 || d == TS_BOOL);
    return d == TS_I64 ? 'l' : d == TS_U64 ? 'u' : d == TS_BOOL ? 'b' : d == TS_F64 || wide ? 'd' : 'f';
}

const expr *x_routine(arena *mem, dtype d, const routine *run, uint32_t axes, int n, const expr *const *operand)
{
    expr *x = make(mem, X_ROUTINE, d);
    MUST(n <= MAX_PART);
    x->run = run, x->folds = axes;
    memcpy(parts(mem, x, n), operand, (size_t)n * sizeof *operand);
    return x;
}

const expr *x_state(arena *mem, dtype d, int k)
{
    expr *x = make(mem, X_STATE, d);
    x->axis = k;
    return x;
}

/* Parts: n starts, n steps, the result, and with a merge (x_merged) n of these behind. */
const expr *x_scan(arena *mem, uint32_t folds, int axis, int n, const expr *const *start, const expr *const *step,
                   const expr *result)
{
    expr *x = make(mem, X_SCAN, result->dtype);
    MUST(n >= 1 && n <= MAX_STATE && !weak(result));
    const expr **arg = parts(mem, x, 2 * n + 1);
    x->folds = folds, x->axis = folds ? 0 : axis, x->n_state = n;
    for (int k = 0; k < n; k++) {
        MUST(!weak(start[k]));
        arg[k] = start[k], arg[n + k] = retype(mem, start[k]->dtype, step[k]);
    }
    arg[2 * n] = result;
    return x;
}

const expr *x_merged(arena *mem, const expr *x, const expr *const *merge)
{
    const expr *found[MAX_STATE];
    const int n = x->n_state;
    MUST(x->kind == X_SCAN && x->folds && x->n == 2 * n + 1);
    if (!merge && !merge_derive(mem, x, found))
        return x;
    expr *y = make(mem, X_SCAN, x->dtype);
    *y = *x;
    const expr **arg = parts(mem, y, 3 * n + 1);
    memcpy(arg, x->arg, (size_t)x->n * sizeof *arg);
    for (int k = 0; k < n; k++)
        arg[2 * n + 1 + k] = retype(mem, x->arg[k]->dtype, (merge ? merge : found)[k]);
    return y;
}

const expr *x_merge(const expr *x, int k)
{
    return x->kind == X_SCAN && x->n > 2 * x->n_state + 1 ? x->arg[2 * x->n_state + 1 + k] : NULL;
}

const expr *x_result(const expr *x)
{
    return x->arg[2 * x->n_state];
}

/* Whether parts of the points may be folded apart and put together: what fusion and the spreading of folds need. */
bool x_folds(const expr *x)
{
    return x->kind == X_FOLD || x_merge(x, 0);
}

/* What is a whole definition by itself and never part of another expression. */
bool x_alone(const expr *x)
{
    return x->kind == X_SCATTER || x->kind == X_ROUTINE || x->kind == X_SCAN;
}

const expr *x1(arena *mem, const char *f, const expr *a)
{
    return x_call(mem, f, 1, &a);
}

const expr *x2(arena *mem, const char *f, const expr *a, const expr *b)
{
    return x_call(mem, f, 2, (const expr *const[]){a, b});
}

const expr *x3(arena *mem, const char *f, const expr *a, const expr *b, const expr *c)
{
    return x_call(mem, f, 3, (const expr *const[]){a, b, c});
}

const expr *x_both(arena *mem, const expr *a, const expr *b)
{
    return a && b ? x2(mem, "and", a, b) : a ? a : b;
}

/* ---- rewriting ---- */
typedef struct mapper {
    arena *mem;
    const expr *(*f)(void *user, const expr *x);
    void *user;
    xkind ends; /* what is in expressions of that kind stays; in a literal nothing is */
    x_memos done;
} mapper;

x_memo *x_memo_of(x_memos *m, const expr *x)
{
    if (!m->cap)
        m->slot = m->first, m->cap = COUNT(m->first);
    size_t i = (size_t)quick_hash(&x, sizeof x, 1) & (m->cap - 1);
    while (m->slot[i].key && m->slot[i].key != x)
        i = (i + 1) & (m->cap - 1);
    return &m->slot[i];
}

void x_memo_keep(x_memos *m, const expr *x, const expr *value)
{
    if (2 * ++m->n >= m->cap) {
        x_memo *old = m->slot, *freed = m->owned;
        const size_t was = m->cap;
        m->cap = was * 2;
        m->slot = m->owned = heap_array(m->cap, sizeof *m->slot);
        for (size_t i = 0; i < was; i++)
            if (old[i].key)
                *x_memo_of(m, old[i].key) = old[i];
        free(freed);
    }
    *x_memo_of(m, x) = (x_memo){x, value};
}

/* Parts keep the dtypes they had, so the copy needs no checks anew. */
static const expr *with_parts(arena *mem, const expr *x, const expr *const *arg)
{
    expr *y = make(mem, x->kind, x->dtype);
    *y = *x;
    const expr **own = parts(mem, y, x->n);
    for (int i = 0; i < x->n; i++)
        own[i] = retype(mem, x->arg[i]->dtype, arg[i]);
    return y;
}

const expr *x_again(arena *mem, const expr *x, const expr *const *arg)
{
    switch (x->kind) {
    case X_LOAD: return x_load(mem, x->from, arg);
    case X_CALL: return x_apply(mem, x->fn, x->n, arg);
    case X_CAST: return x_cast(mem, x->dtype, arg[0]);
    case X_FOLD: return x_fold(mem, x->fn->name, x->folds, arg[0]);
    case X_SCATTER:
    case X_ROUTINE:
    case X_SCAN: return with_parts(mem, x, arg);
    default: return x;
    }
}

/* From the leaves up, every shared part once: expressions are trees with shared branches, and walked as trees they can
 * be exponentially long. */
static const expr *map(mapper *p, const expr *x)
{
    const x_memo *known = x_memo_of(&p->done, x);
    if (known->key)
        return known->value;
    const expr *arg[MAX_PART], *y = x;
    bool changed = false;
    for (int i = 0; i < x->n; i++) {
        arg[i] = x->kind == p->ends ? x->arg[i] : map(p, x->arg[i]);
        changed = changed || arg[i] != x->arg[i];
    }
    if (changed)
        y = x_again(p->mem, x, arg);
    bool done = false; /* a call that became one of its arguments, as 0 + x does: that has been through f */
    for (int i = 0; changed && i < x->n; i++)
        done = done || y == arg[i];
    if (!done)
        y = p->f(p->user, y);
    x_memo_keep(&p->done, x, y);
    return y;
}

static const expr *mapped(mapper *p, const expr *x)
{
    const expr *y = map(p, x);
    free(p->done.owned);
    return y;
}

const expr *x_map(arena *mem, const expr *x, const expr *(*f)(void *user, const expr *x), void *user)
{
    return mapped(&(mapper){.mem = mem, .f = f, .user = user, .ends = X_LIT}, x);
}

const expr *x_map_values(arena *mem, const expr *x, const expr *(*f)(void *user, const expr *x), void *user)
{
    return mapped(&(mapper){.mem = mem, .f = f, .user = user, .ends = X_LOAD}, x);
}

typedef struct renaming {
    arena *mem;
    int n;
    const expr *const *axis;
} renaming;

/* A folded or scanned axis can only become another axis, never a number. */
static const expr *rename_one(void *user, const expr *x)
{
    const renaming *r = user;
    if (x->kind == X_AXIS) /* what stands for it is as wide: a literal alone has no dtype */
        return x->axis < r->n && r->axis[x->axis] ? x_cast(r->mem, TS_I64, r->axis[x->axis]) : x;
    if (x->kind == X_SCAN && !x->folds && x->axis < r->n && r->axis[x->axis]) {
        expr *y = make(r->mem, x->kind, x->dtype);
        MUST(r->axis[x->axis]->kind == X_AXIS);
        *y = *x, y->axis = r->axis[x->axis]->axis;
        return y;
    }
    if (!x->folds)
        return x;
    uint32_t axes = 0;
    for (int i = 0; i < MAX_AXIS; i++) {
        if (!(x->folds >> i & 1))
            continue;
        const expr *to = i < r->n ? r->axis[i] : NULL;
        MUST(!to || to->kind == X_AXIS);
        axes |= 1u << (to ? to->axis : i);
    }
    if (axes == x->folds)
        return x;
    expr *y = make(r->mem, x->kind, x->dtype);
    *y = *x, y->folds = axes;
    return y;
}

const expr *x_rename(arena *mem, const expr *x, int n_axis, const expr *const *axis)
{
    return x_map(mem, x, rename_one, &(renaming){mem, n_axis, axis});
}
