/* block.c - one dispatch per part of an expression and block. Values that all lanes share are computed once. */
#include "graph/eval/block.h"
#include "graph/eval/contraction.h"

#include <stdlib.h>
#include <string.h>

/* Reals are computed in double and rounded to what the dtype holds after each call, as kernels do. */
value block_rounded(dtype d, value a)
{
    unsigned char b[16];
    if (d == TS_I64 || d == TS_F64 || d == TS_F32)
        return a;
    if (dtype_class(d) == D_REAL)
        return store_real(d, b, 0, a.d), (value){.d = load_real(d, b, 0)};
    return store_whole(d, b, 0, d == TS_BOOL ? a.i != 0 : a.i), (value){.i = load_whole(d, b, 0)};
}

/* A vec has a value for each of 256 lanes, 2 KiB: they are kept and used again, not put on the stack of a recursion. */
vec *block_borrow(block *b)
{
    vec *v = b->spare;
    if (v)
        return b->spare = v->next, v;
    MUST(v = malloc(sizeof *v));
    return v;
}

void block_give(block *b, vec *v)
{
    v->next = b->spare, b->spare = v;
}

void block_free(block *b)
{
    for (int i = 0; i < MAX_AXIS; i++)
        free(b->lane[i]);
    for (vec *v = b->spare; v; v = b->spare)
        b->spare = v->next, free(v);
    contraction_free(b->inner);
}

/* Writes out what is the same in all lanes. */
static void spread(const block *b, vec *v)
{
    for (int l = 1; v->same && l < b->lanes; l++)
        v->v[l] = v->v[0];
    v->same = false;
}

/* How many of its values count. */
static int width(const block *b, const vec *v)
{
    return v->same ? 1 : b->lanes;
}

/* ---- loads ---- */
/* With an error that says where; false inside. */
bool block_outside(block *b, int64_t s, int64_t dim, int axis)
{
    return (s < 0 || s >= dim) &&
           !err_set(b->e, TS_NUMERICS, "%s: an index leads to %lld, which is outside 0...%lld of axis %d",
                    b->n->op->name, (long long)s, (long long)dim - 1, axis);
}

const ts_array *block_array(const block *b, const expr *load)
{
    int k = 0;
    while (b->n->in[k] != load->from)
        k++;
    return b->in[k];
}

/* Row-major places of dimensions `dims` in each lane. Where active says no, a subscript may be anything and counts as
 * 0. */
void block_place(block *b, const expr *load, uint32_t dims, const vec *active, vec *out)
{
    vec *s = block_borrow(b);
    out->same = true, out->v[0].i = 0;
    for (int i = 0; i < load->n && !err_is(b->e); i++) {
        const int64_t dim = load->from->type.dim[i];
        s->same = true, s->v[0].i = 0;
        if (dims >> i & 1) {
            block_eval(b, load->arg[i], active, s);
            for (int l = 0; l < width(b, s); l++) {
                if (active && !s->same && !active->v[l].i)
                    s->v[l].i = 0;
                else if (block_outside(b, s->v[l].i, dim, i))
                    s->v[l].i = 0;
            }
        }
        if (!s->same)
            spread(b, out);
        for (int l = 0; l < width(b, out); l++)
            out->v[l].i = out->v[l].i * dim + s->v[s->same ? 0 : l].i;
    }
    block_give(b, s);
}

/* Lanes that are not active read nothing: 0 stands there. */
static void eval_load(block *b, const expr *x, const vec *active, vec *out)
{
    const ts_array *a = block_array(b, x);
    block_place(b, x, UINT32_MAX, active, out);
    const int n = err_is(b->e) ? 0 : width(b, out);
    const bool real = dtype_real(x->dtype), all = !active || out->same;
    for (int l = 0; l < n; l++) {
        const int64_t at = out->v[l].i;
        if (!all && !active->v[l].i) /* there may be no element at all */
            out->v[l] = real ? (value){.d = 0} : (value){.i = 0};
        else
            out->v[l] = real ? (value){.d = load_real(a->dtype, a->data, at)}
                             : (value){.i = load_whole(x->dtype, a->data, at)};
    }
    if (err_is(b->e))
        out->same = true, out->v[0] = (value){0};
}

/* ---- calls ---- */
/* Lazy: the other arm may be out of range. */
static void eval_choice(block *b, const expr *x, const vec *active, vec *out)
{
    vec *c = block_borrow(b), *mask = block_borrow(b), *arm = block_borrow(b);
    block_eval(b, x->arg[0], active, c);
    if (c->same)
        block_eval(b, x->arg[c->v[0].i ? 1 : 2], active, out);
    else {
        memset(out->v, 0, sizeof out->v);
        out->same = mask->same = false;
    }
    for (int k = 1; k <= 2 && !c->same; k++) {
        int wanted = 0;
        for (int l = 0; l < b->lanes; l++)
            wanted += (mask->v[l].i = (!active || active->v[l].i) && (c->v[l].i != 0) == (k == 1)) != 0;
        if (!wanted)
            continue;
        block_eval(b, x->arg[k], wanted < b->lanes ? mask : NULL, arm);
        spread(b, arm);
        for (int l = 0; l < b->lanes; l++)
            out->v[l] = mask->v[l].i ? arm->v[l] : out->v[l];
    }
    block_give(b, c), block_give(b, mask), block_give(b, arm);
}

/* The result takes the place of the first argument. */
static void apply(const expr *x, vec *const *a, int n)
{
    const fn *f = x->fn;
    const bool real = dtype_real(x->arg[0]->dtype), exact = dtype_real(x->dtype) || x->dtype == TS_I64;
    for (int l = 0; l < n; l++) {
        double r[MAX_ARG];
        int64_t w[MAX_ARG];
        value y;
        for (int i = 0; i < x->n; i++)
            if (real)
                r[i] = a[i]->v[l].d;
            else
                w[i] = a[i]->v[l].i;
        if (!real)
            y.i = fn_whole(f, x->arg[x->n - 1]->dtype, w);
        else if (f->result == R_BOOL)
            y.i = f->real(r) != 0;
        else
            y.d = f->real(r);
        a[0]->v[l] = exact ? y : block_rounded(x->dtype, y);
    }
}

static void eval_call(block *b, const expr *x, const vec *active, vec *out)
{
    vec *a[MAX_ARG] = {out};
    bool same = true;
    if (x->fn->result == R_SECOND) {
        eval_choice(b, x, active, out);
        return;
    }
    for (int i = 0; i < x->n; i++) {
        a[i] = i ? block_borrow(b) : out;
        block_eval(b, x->arg[i], active, a[i]);
        same = same && a[i]->same;
    }
    for (int i = 0; i < x->n && !same; i++)
        spread(b, a[i]);
    apply(x, a, same ? 1 : b->lanes);
    for (int i = 1; i < x->n; i++)
        block_give(b, a[i]);
}

/* u64 above 2^63 is kept in the bits of an i64. */
static value cast(const block *b, const expr *x, value a)
{
    const expr *from = x->arg[0];
    if (dtype_real(x->dtype)) {
        const double d = dtype_real(from->dtype) ? a.d : from->dtype == TS_U64 ? (double)(uint64_t)a.i : (double)a.i;
        return b->wide ? (value){.d = d}
                       : block_rounded(x->dtype, (value){.d = x->dtype == TS_F32 ? (double)(float)d : d});
    }
    if (!dtype_real(from->dtype))
        return block_rounded(x->dtype, a);
    if (x->dtype == TS_BOOL)
        return (value){.i = a.d != 0};
    unsigned char held[16];
    store_real(x->dtype, held, 0, a.d);
    return (value){.i = load_whole(x->dtype, held, 0)};
}

/* ---- folds ---- */
/* What the fold starts with: 0 of a sum, -inf of a maximum. */
static value unit_of(const expr *x)
{
    return dtype_real(x->dtype) ? (value){.d = x->fn->unit} : (value){.i = x_unit_whole(x->fn, x->dtype)};
}

/* acc (+) y in each lane. */
static void combine(block *b, const expr *x, vec *acc, vec *y)
{
    const bool real = dtype_real(x->dtype);
    if (!y->same)
        spread(b, acc);
    for (int l = 0; l < width(b, acc); l++) {
        const value p = acc->v[l], q = y->v[y->same ? 0 : l];
        if (real)
            acc->v[l].d = x->fn->real((const double[]){p.d, q.d});
        else
            acc->v[l].i = fn_whole(x->fn, x->dtype, (const int64_t[]){p.i, q.i});
    }
}

typedef struct folding {
    block *b;
    const expr *x;
    const vec *active;
    contraction *inner; /* NULL: it is none */
    vec *y, *acc;
} folding;

/* Folded axes in order, the last one innermost: sums have a fixed order. */
static void fold_from(const folding *f, int axis)
{
    block *b = f->b;
    while (axis < MAX_AXIS && !(f->x->folds >> axis & 1))
        axis++;
    if (axis == MAX_AXIS) {
        if (f->inner) {
            contraction_step(f->inner, f->acc);
            return;
        }
        block_eval(b, f->x->arg[0], f->active, f->y);
        combine(b, f->x, f->acc, f->y);
        return;
    }
    for (int64_t i = 0; i < b->extent[axis] && !err_is(b->e); i++)
        b->axis[axis] = i, fold_from(f, axis + 1);
}

/* A sum of products over runs of lanes goes another way (contraction.c), with the same order of terms. */
static void eval_fold(block *b, const expr *x, const vec *active, vec *out)
{
    folding f = {b, x, active, NULL, block_borrow(b), out};
    out->same = true, out->v[0] = unit_of(x);
    if (!active && b->inner && contraction_of(b->inner) == x) {
        f.inner = b->inner;
        spread(b, out);
    }
    fold_from(&f, 0);
    for (int l = 0; l < width(b, out) && !dtype_real(x->dtype); l++)
        out->v[l] = block_rounded(x->dtype, out->v[l]);
    block_give(b, f.y);
}

void block_eval(block *b, const expr *x, const vec *active, vec *out)
{
    out->same = true;
    switch (x->kind) {
    case X_LIT: out->v[0] = dtype_real(x->dtype) ? (value){.d = x->lit} : (value){.i = x->whole}; return;
    case X_AXIS:
        out->v[0].i = b->axis[x->axis];
        if (b->varying >> x->axis & 1) {
            out->same = false;
            memcpy(out->v, b->lane[x->axis]->v, (size_t)b->lanes * sizeof *out->v);
        }
        return;
    case X_LOAD: eval_load(b, x, active, out); return;
    case X_CALL: eval_call(b, x, active, out); return;
    case X_CAST:
        block_eval(b, x->arg[0], active, out);
        for (int l = 0; l < width(b, out); l++)
            out->v[l] = cast(b, x, out->v[l]);
        return;
    case X_FOLD: eval_fold(b, x, active, out); return;
    case X_STATE: out->v[0] = b->state[x->axis]; return;
    case X_SIZE: break; /* of plans whose programs are told */
    case X_SCATTER:
    case X_ROUTINE:
    case X_SCAN: break; /* the whole of a definition */
    }
    out->v[0] = (value){0};
}

/* ---- results ---- */
/* Of one lane, where the axes stand. */
value block_value(block *b, const expr *x)
{
    vec *v = block_borrow(b);
    b->lanes = 1, b->varying = 0;
    block_eval(b, x, NULL, v);
    const value y = v->v[0];
    block_give(b, v);
    return y;
}

/* Axes of elements first..first + lanes - 1 of the result, row-major: one number where all lanes agree, else one a
 * lane. */
static void move_to(block *b, int64_t first, int lanes)
{
    const type *t = &b->n->type;
    int64_t below = 1; /* elements of one step */
    b->lanes = lanes, b->varying = 0;
    for (int i = t->rank - 1; i >= 0; i--) {
        const int64_t dim = t->dim[i], at = first / below % dim;
        b->axis[i] = at;
        if (first % below + lanes > below && dim > 1) {
            if (!b->lane[i])
                b->lane[i] = block_borrow(b);
            for (int l = 0; l < lanes; l++)
                b->lane[i]->v[l].i = (first + l) / below % dim;
            b->varying |= 1u << i;
        }
        below *= dim;
    }
}

void block_values(block *b, const expr *x, block_sink *to)
{
    const int64_t count = type_count(&b->n->type);
    vec *v = block_borrow(b);
    int64_t row = count; /* blocks do not reach from one of these into the next */
    b->inner = contraction_make(b, x, &row);
    for (int64_t at = 0; at < count && !err_is(b->e); at += b->lanes) {
        const int64_t left = row - at % row;
        move_to(b, at, left < LANES ? (int)left : LANES);
        if (b->inner)
            contraction_start(b->inner);
        block_eval(b, x, NULL, v);
        spread(b, v);
        to->take(to, at, v->v, b->lanes);
    }
    block_give(b, v);
}
