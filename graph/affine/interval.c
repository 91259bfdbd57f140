/* interval.c - interval arithmetic over expressions. A function that rises or falls in each argument has its extremes
 * at the corners of the box of its arguments; of others only a point is known. */
#include "graph/affine/interval.h"

#include <math.h>

enum { MAX_DEPTH = 24, MAX_ELEMENTS = 1 << 16, MAX_STEPS = 1 << 20 };

static const span truth = {0, 1};

bool span_is(span s, double v)
{
    return s.low == v && s.high == v;
}

static span any_of(dtype d)
{
    if (dtype_class(d) == D_TRUTH)
        return truth;
    const double most = d == TS_F16 ? 65504 : dtype_class(d) == D_REAL ? 0x1p100 : 0x1p63;
    return (span){dtype_class(d) == D_WHOLE && !dtype_signed(d) ? 0 : -most, most};
}

static span hull(span a, span b)
{
    return (span){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

static double rounded(dtype d, double v)
{
    unsigned char element[8];
    store_real(d, element, 0, v);
    return load_real(d, element, 0);
}

static span as_stored(dtype d, span s) /* rounded as its elements are, to the nearest */
{
    return dtype_class(d) == D_REAL ? (span){rounded(d, s.low), rounded(d, s.high)} : s;
}

static span of_expr(const span_box *b, const expr *x, int depth);

/* ---- loads ---- */
static span constant(const node *n, const span *at) /* over a box of its elements */
{
    const bool real = dtype_class(n->type.dtype) == D_REAL;
    int64_t from[MAX_RANK], count[MAX_RANK], i[MAX_RANK] = {0}, all = 1;
    span s = {INFINITY, -INFINITY};
    if (type_count(&n->type) == 0)
        return any_of(n->type.dtype);
    for (int d = 0; d < n->type.rank; d++) {
        if (!(at[d].low >= 0 && at[d].high < (double)n->type.dim[d]))
            return any_of(n->type.dtype);
        from[d] = (int64_t)at[d].low, count[d] = (int64_t)at[d].high - from[d] + 1;
        if ((all *= count[d]) > MAX_ELEMENTS)
            return any_of(n->type.dtype);
    }
    for (int64_t k = 0; k < all; k++) {
        int64_t place = 0;
        for (int d = 0; d < n->type.rank; d++)
            place = place * n->type.dim[d] + from[d] + i[d];
        const double v = real ? load_real(n->type.dtype, n->leaf->data, place)
                              : (double)load_whole(n->type.dtype, n->leaf->data, place);
        if (v != v)
            return any_of(n->type.dtype);
        s = hull(s, (span){v, v});
        for (int d = n->type.rank; d-- > 0 && ++i[d] == count[d];)
            i[d] = 0;
    }
    return s;
}

static const defn *definition(span_memo *m, const node *n)
{
    for (int i = 0; i < m->n; i++)
        if (m->seen[i].of == n)
            return &m->seen[i].d;
    if (m->n == COUNT(m->seen) || type_count(&n->type) == 0 || !g_defn(n, m->mem, &m->seen[m->n].d, NULL))
        return NULL;
    m->seen[m->n].of = n;
    if (m->element)
        m->seen[m->n].d.value = m->element(m->of, n, m->seen[m->n].d.value);
    return &m->seen[m->n++].d;
}

static span of_load(const span_box *b, const expr *x, int depth)
{
    span at[MAX_AXIS], s;
    if (b->known && b->known(b->user, x, &s))
        return s;
    const node *n = x->from;
    for (int i = 0; i < x->n; i++)
        at[i] = of_expr(b, x->arg[i], depth + 1);
    if (n->leaf)
        return n->leaf->kind == LEAF_CONST && n->leaf->data ? constant(n, at) : any_of(n->type.dtype);
    const defn *d = definition(b->memo, n);
    return d ? of_expr(&(span_box){.memo = b->memo, .axis = at}, d->value, depth + 1) : any_of(n->type.dtype);
}

/* ---- calls ---- */
static double apply(const expr *x, const double *v)
{
    int64_t whole[MAX_ARG];
    bool real = false;
    for (int i = 0; i < x->n; i++)
        real = real || (dtype_class(x->arg[i]->dtype) == D_REAL && (i || x->fn->result != R_SECOND));
    if ((real && x->fn->real) || !x->fn->whole)
        return x->fn->real(v);
    for (int i = 0; i < x->n; i++) {
        if (!(fabs(v[i]) < 0x1p53))
            return NAN;
        whole[i] = (int64_t)v[i];
    }
    const double y = x->fn->real && x->fn->result == R_SAME ? x->fn->real(v) : 0; /* whole numbers would wrap */
    return fabs(y) < 0x1p53 ? (double)x->fn->whole(whole) : NAN;
}

static span corners(const expr *x, const span *arg)
{
    span s = {INFINITY, -INFINITY};
    for (int c = 0; c < 1 << x->n; c++) {
        double v[MAX_ARG];
        for (int i = 0; i < x->n; i++)
            v[i] = c >> i & 1 ? arg[i].high : arg[i].low;
        const double y = apply(x, v);
        if (y != y)
            return any_of(x->dtype);
        s = hull(s, (span){y, y});
    }
    return s;
}

static bool falls_or_rises(const expr *x, const span *arg)
{
    bool point = true;
    for (int i = 0; i < x->n; i++)
        point = point && arg[i].low == arg[i].high;
    return point || x->fn->monotone == 1 || (x->fn->monotone == 2 && (arg[1].low > 0 || arg[1].high < 0));
}

static span of_call(const span_box *b, const expr *x, int depth)
{
    span arg[MAX_ARG];
    arg[0] = of_expr(b, x->arg[0], depth);
    if (x->fn->result == R_SECOND) {
        if (span_is(arg[0], 0))
            return of_expr(b, x->arg[2], depth);
        const span yes = of_expr(b, x->arg[1], depth);
        return arg[0].low > 0 || arg[0].high < 0 ? yes : hull(yes, of_expr(b, x->arg[2], depth));
    }
    for (int i = 1; i < x->n; i++)
        arg[i] = of_expr(b, x->arg[i], depth);
    if (x->fn->monotone == 2 && span_is(arg[0], 0))
        return arg[0];
    return falls_or_rises(x, arg) ? as_stored(x->dtype, corners(x, arg)) : any_of(x->dtype);
}

static span of_cast(dtype to, const expr *x, span s)
{
    if (dtype_class(to) == D_TRUTH)
        return span_is(s, 0) ? s : s.low > 0 || s.high < 0 ? (span){1, 1} : truth;
    if (dtype_class(to) == D_REAL)
        return as_stored(to, s);
    if (dtype_class(x->dtype) == D_REAL)
        s = (span){trunc(s.low), trunc(s.high)};
    const double most = ldexp(1, dtype_bits(to) - dtype_signed(to));
    return s.low >= (dtype_signed(to) ? -most : 0) && s.high < most ? s : any_of(to);
}

static span of_expr(const span_box *b, const expr *x, int depth)
{
    if (depth > MAX_DEPTH || b->memo->steps++ > MAX_STEPS)
        return any_of(x->dtype == TS_N_DTYPE ? TS_F64 : x->dtype);
    switch (x->kind) {
    case X_LIT: {
        const double v = x->lit;
        return v == v ? (span){v, v} : any_of(TS_F64);
    }
    case X_AXIS: return b->axis[x->axis];
    case X_LOAD: return of_load(b, x, depth);
    case X_CALL: return of_call(b, x, depth + 1);
    case X_CAST: return of_cast(x->dtype, x->arg[0], of_expr(b, x->arg[0], depth + 1));
    case X_SIZE:
    case X_FOLD:
    case X_STATE:
    case X_SCATTER:
    case X_ROUTINE:
    case X_SCAN: break;
    }
    return any_of(x->dtype);
}

span span_of(const span_box *b, const expr *x)
{
    return of_expr(b, x, 0);
}
