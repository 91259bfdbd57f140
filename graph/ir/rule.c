/* rule.c - shape rules, axes, and small helpers shared by the files of graph/ops/. */
#include "graph/ir/rule.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- shape rules ---- */
/* Shape and dtype as numpy's of a pointwise call. */
static bool broadcast(const node *n, type *out, err *e)
{
    const type *in[4];
    MUST(n->n_in >= 1 && n->n_in <= COUNT(in));
    for (int i = 0; i < n->n_in; i++)
        in[i] = &n->in[i]->type;
    if (!type_broadcast(n->n_in, in, out, e))
        return false;
    out->dtype = in[0]->dtype;
    for (int i = 1; i < n->n_in; i++)
        out->dtype = dtype_promote(out->dtype, in[i]->dtype);
    return true;
}

bool shape_first(const node *n, type *out, err *e)
{
    (void)e;
    *out = n->in[0]->type;
    return true;
}

/* For exp, sqrt and the like, which make reals of whole numbers. */
bool shape_float(const node *n, type *out, err *e)
{
    if (!broadcast(n, out, e))
        return false;
    out->dtype = dtype_float(out->dtype);
    return true;
}

bool shape_bool(const node *n, type *out, err *e)
{
    if (!broadcast(n, out, e))
        return false;
    out->dtype = TS_BOOL;
    return true;
}

bool both_small(const node *n, err *e)
{
    for (int i = 0; i < 2; i++)
        if (dtype_class(n->in[i]->type.dtype) != D_WHOLE || dtype_bits(n->in[i]->type.dtype) > 16)
            return operands_refuse(2, n->in, e, "integers of at most 16 bits");
    return true;
}

bool type_spliced(const type *t, int axis, const type *places, const char *what, type *out, err *e)
{
    const size_t each = sizeof *out->dim;
    *out = (type){.dtype = t->dtype, .rank = t->rank - 1 + places->rank};
    if (out->rank > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "the %s would have rank %d, at most %d is possible", what, out->rank, MAX_RANK);
    memcpy(out->dim, t->dim, (size_t)axis * each);
    memcpy(out->dim + axis, places->dim, (size_t)places->rank * each);
    memcpy(out->dim + axis + places->rank, t->dim + axis + 1, (size_t)(t->rank - axis - 1) * each);
    return true;
}

static void refuse(int n, const node *const *in, err *e, const char *fmt, va_list list)
{
    ENDED_BY(text_free) text given = {0};
    char wanted[512];
    vsnprintf(wanted, sizeof wanted, fmt, list);
    for (int i = 0; i < n; i++) {
        text_add(&given, "%s", !i ? "" : i == n - 1 ? " and " : ", ");
        if (in[i])
            type_print(&given, &in[i]->type);
        else
            text_add(&given, "none");
    }
    err_set(e, TS_BAD_INPUT, "given %.1000s; %s expected", n ? text_str(&given) : "nothing", wanted);
}

bool operands_refuse(int n, const node *const *in, err *e, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    refuse(n, in, e, fmt, list);
    va_end(list);
    return false;
}

const node *g_refuse(graph *g, int n, const node *const *in, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    refuse(n, in, &g->err, fmt, list);
    va_end(list);
    return NULL;
}

bool g_takes(graph *g, const node *n, int least, int most)
{
    if (n->n_in >= least && n->n_in <= most)
        return true;
    g_fail(g, TS_BAD_INPUT, "%d operands given, takes %d to %d", n->n_in, least, most);
    return false;
}

/* ---- axes ---- */
/* Left out means all axes, as numpy's axis=None. */
bool axes_set(const attr *a, int rank, uint32_t *set, err *e)
{
    *set = 0;
    if (a->kind == '-')
        return *set = (1u << rank) - 1, true;
    for (int i = 0; i < a->n; i++) {
        int axis;
        if (!axis_norm(a->ints[i], rank, &axis, e))
            return err_in(e, "%s", a->name);
        if (*set >> axis & 1)
            return err_set(e, TS_BAD_INPUT, "%s: axis %lld is listed twice, once expected", a->name,
                           (long long)a->ints[i]);
        *set |= 1u << axis;
    }
    return true;
}

bool attr_dtype(const node *n, const char *name, dtype *out, err *e)
{
    return dtype_read(node_attr(n, name)->s, out, e) || err_in(e, "%s", name);
}

bool attr_real_dtype(const node *n, dtype *out, err *e)
{
    const char *to = node_attr(n, "to")->s;
    return (dtype_parse(to, out) && dtype_class(*out) == D_REAL) ||
           err_set(e, TS_BAD_INPUT, "to: \"%s\" is no dtype of reals, f32 or another one expected", to);
}

bool attr_axis(const node *n, const char *name, int rank, int *out, err *e)
{
    return axis_norm(node_int(n, name), rank, out, e) || err_in(e, "%s", name);
}

/* ---- calls ---- */
attr attr_int(const char *name, int64_t v)
{
    return (attr){.name = name, .kind = 'i', .i = v};
}

attr attr_real(const char *name, double v)
{
    return (attr){.name = name, .kind = 'f', .f = v};
}

attr attr_word(const char *name, const char *v)
{
    return (attr){.name = name, .kind = 's', .s = v};
}

attr attr_ints(const char *name, int n, const int64_t *v)
{
    return (attr){.name = name, .kind = 'I', .n = n, .ints = v};
}

const node *g_apply_n(graph *g, const char *op_name, int n, const node *const *in, int n_attr, const attr *list)
{
    const op *o = op_find(op_name);
    MUST(o);
    return g_make(g, o, n, in, list, n_attr);
}

const node *g_apply(graph *g, const char *op_name, const node *a, int n_attr, const attr *list)
{
    return g_apply_n(g, op_name, 1, &a, n_attr, list);
}

/* A count that a file states must not decide how much memory its nodes take: each step has nodes of its own. */
bool g_few_trips(const graph *g, int64_t trips)
{
    return trips <= FEW_TRIPS && !g->looped;
}

bool g_may_write_out(graph *g, int64_t steps)
{
    enum { MOST = 1 << 16 };
    if (steps <= MOST)
        return true;
    g_fail(g, TS_MEMORY, "%lld steps, each written out: at most %d are", (long long)steps, MOST);
    return err_hint(&g->err, "no option raises this: run shorter pieces, from state to state");
}

const node *g_scalar_like(graph *g, const node *a, double v)
{
    return a ? g_scalar(g, a->type.dtype, v) : NULL;
}

/* ---- expressions ---- */
void defn_axes(const defn *d, int n, const expr **sub)
{
    for (int i = 0; i < n; i++)
        sub[i] = x_axis(d->mem, i);
}

int defn_axis(const defn *d, int rank)
{
    int axis;
    MUST(attr_axis(d->node, "axis", rank, &axis, NULL));
    return axis;
}

/* scale x + offset */
const expr *x_offset(arena *mem, const expr *x, int64_t scale, int64_t offset)
{
    return x2(mem, "add", x2(mem, "mul", x, x_whole(mem, scale)), x_whole(mem, offset));
}

/* low <= x < high */
const expr *x_inside(arena *mem, const expr *x, int64_t low, int64_t high)
{
    return x2(mem, "and", x2(mem, "le", x_whole(mem, low), x), x2(mem, "lt", x, x_whole(mem, high)));
}

/* sum of weight * part, positive weights first, so that it rarely starts with a negation; 0 is left out, 1 not
 * multiplied. */
const expr *x_weighted(arena *mem, int n, const double *weight, const expr *const *part)
{
    const expr *sum = NULL;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            const double by = weight[i] < 0 ? -weight[i] : weight[i];
            if (by == 0 || (weight[i] < 0) != pass)
                continue;
            const expr *x = by == 1 ? part[i] : x2(mem, "mul", part[i], x_real(mem, by));
            sum = sum ? x2(mem, pass ? "sub" : "add", sum, x) : pass ? x1(mem, "neg", x) : x;
        }
    return sum;
}

const expr *x_chosen(arena *mem, const expr *which, int n, const expr *const *of)
{
    const expr *x = of[n - 1];
    for (int i = n - 1; i-- > 0;) /* a choice between literals alone would have a dtype of its own */
        x = x_same(of[i], x) ? x : x3(mem, "select", x2(mem, "lt", which, x_whole(mem, i + 1)), of[i], x);
    return x;
}

/* Negative places count from the end, as in numpy; `at` tests the rest when it runs. */
const expr *x_place(arena *mem, const expr *place, int64_t extent)
{
    const expr *i = x_cast(mem, TS_I64, place);
    if (dtype_signed(place->dtype))
        i = x3(mem, "select", x2(mem, "lt", i, x_whole(mem, 0)), x2(mem, "add", i, x_whole(mem, extent)), i);
    return x2(mem, "at", i, x_whole(mem, extent));
}

const expr *x_said(arena *mem, const char *source, ...)
{
    names known = {0};
    va_list list;
    va_start(list, source);
    for (const char *name; (name = va_arg(list, const char *)); known.n++)
        known.name[known.n] = name, known.value[known.n] = va_arg(list, const expr *);
    va_end(list);
    const expr *x = x_parse(mem, source, &known, NULL);
    MUST(x);
    return x;
}

/* Rounded and bounded as a cast to d would. */
const expr *x_literal(arena *mem, dtype d, double v)
{
    if (dtype_class(d) == D_REAL)
        return x_real(mem, v);
    unsigned char bytes[16];
    store_real(d, bytes, 0, v);
    return x_whole(mem, load_whole(d, bytes, 0));
}

/* What max starts with: -inf, -2^(bits - 1), 0. */
double dtype_lowest(dtype d)
{
    if (dtype_class(d) == D_REAL)
        return -INFINITY;
    return dtype_signed(d) ? -ldexp(1, dtype_bits(d) - 1) : 0;
}
