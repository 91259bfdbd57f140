/* derive.c - the gradient of one node by its definition: derivative of the element, times what arrives, sent where the
 * element was read. */
#include "autodiff/autodiff.h"
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"

#include <math.h>

enum { MAX_READ = 64, MAX_TEXT = 9 }; /* what is spelled out reads less than MAX_TEXT tensors */
typedef struct deriving {
    graph *g;
    defn d;
    const node *y, *of;
    const arriving *at;
    const expr *dy, *kept; /* kept: dy with 0 outside for what was not taken; NULL: not asked for yet */
    const expr *fold;      /* NULL where the definition has none */
    const node *folded;    /* the fold's value as a node, made when needed */
    err e;
} deriving;

/* The value of the fold: y itself where nothing follows it. */
static const expr *folded(deriving *v)
{
    if (!v->folded && x_same(v->fold, v->d.value))
        v->folded = v->y;
    if (!v->folded)
        v->folded = emit_fold(v->g, &v->d, v->y->type.rank, v->fold->fn->name, v->fold->arg[0]);
    return v->folded ? x_element(v->d.mem, v->folded) : NULL;
}

static const expr *without_fold(deriving *v, const expr *x) /* its value loaded instead */
{
    if (!x || !v->fold || !x_count(x, X_FOLD))
        return x;
    const expr *value = folded(v);
    return value ? x_replace(v->d.mem, x, v->fold, value) : NULL;
}

/* How many elements share the extreme value: each gets its part. */
static const expr *ties(deriving *v, const expr *extreme)
{
    arena *mem = v->d.mem;
    const expr *body = v->fold->arg[0];
    const expr *tie = x_cast(mem, body->dtype, x2(mem, "eq", body, extreme));
    const node *count = emit_fold(v->g, &v->d, v->y->type.rank, "add", tie);
    return count ? x_element(mem, count) : NULL;
}

static bool is_zero(const expr *x)
{
    if (x_is_choice(x)) /* all of it fell into padding */
        return is_zero(x->arg[1]) && is_zero(x->arg[2]);
    return x->kind == X_LIT && x->lit == 0;
}

/* Behind a choice: where it is not taken, its place may be anywhere. */
static bool is_guarded(const expr *x, const expr *load, bool guarded)
{
    if (x_same(x, load))
        return guarded;
    bool found = false;
    for (int i = 0; i < x->n && !found; i++)
        found = is_guarded(x->arg[i], load, guarded || (x_is_choice(x) && i));
    return found;
}

/* Whether to put what is sent into its places: comparing so few pairs of elements costs less than a kernel. */
enum { FEW_PAIRS = 256 };
static bool is_scattered(const deriving *v, const expr *load)
{
    int64_t pairs = type_count(&load->from->type);
    if (is_guarded(v->d.value, load, false))
        return false;
    for (int a = 0; a < v->d.n_axis && pairs < FEW_PAIRS; a++)
        pairs *= v->d.extent[a];
    return pairs >= FEW_PAIRS && is_computed(load->n, load->arg);
}

static const node *put(deriving *v, const expr *load, const expr *term)
{
    type zeros = load->from->type;
    zeros.dtype = term->dtype == TS_N_DTYPE ? zeros.dtype : term->dtype;
    return emit_put(v->g, v->d.mem,
                    &(putting){.start = g_filled(v->g, &zeros, 0),
                               .reduce = "add",
                               .n_axis = v->d.n_axis,
                               .extent = v->d.extent,
                               .value = term,
                               .sub = load->arg},
                    &v->e);
}

static const node *send(deriving *v, const expr *load, const expr *term)
{
    sum s;
    if (term && is_scattered(v, load))
        return put(v, load, term);
    if (!term || !adjoint_sum(&v->d, load, term, &s, &v->e) || is_zero(s.value))
        return NULL;
    return emit_sum(v->g, &s);
}

/* The axes that adjoint made from d's axes [first, ...) moved behind the others, which become axes of the result. */
static void fold_only(arena *mem, sum *s, int first)
{
    sum was = *s;
    const expr *map[MAX_AXIS] = {0};
    for (int pass = 0, n = s->rank; pass < 2; pass++)
        for (int i = was.rank; i < was.n_axis; i++)
            if ((was.source[i] >= first) == pass) {
                map[i] = x_axis(mem, n), s->extent[n++] = was.extent[i];
                s->rank += !pass;
            }
    s->value = x_rename(mem, s->value, MAX_AXIS, map);
}

/* y = the product over k of b(k). The part of b(j) is the product of the others, so that zeros do no harm: a product
 * over l of b(l), where term stands in for b(j). */
static const node *through_product(deriving *v, const expr *load, const expr *term)
{
    arena *mem = v->d.mem;
    defn d = v->d;
    sum s;
    int64_t axes[MAX_AXIS];
    const int rank = load->from->type.rank;
    const expr *other[MAX_AXIS] = {0}, *same = NULL;
    for (int i = 0; i < v->d.n_axis; i++) {
        if (!(v->fold->folds >> i & 1))
            continue;
        if (d.n_axis + rank >= MAX_AXIS)
            return err_set(&v->e, TS_UNSUPPORTED, "its gradient needs %d axes, at most %d expected",
                           d.n_axis + rank + 1, MAX_AXIS),
                   NULL;
        other[i] = x_axis(mem, defn_fold(&d, d.extent[i]));
        same = x_both(mem, same, x2(mem, "eq", other[i], x_axis(mem, i)));
    }
    term = x3(mem, "select", same, term, x_rename(mem, v->fold->arg[0], MAX_AXIS, other));
    if (!adjoint_sum(&d, load, term, &s, &v->e))
        return NULL;
    fold_only(mem, &s, v->d.n_axis);
    if (s.rank > MAX_RANK)
        return err_set(&v->e, TS_UNSUPPORTED, "its gradient needs %d axes, at most %d expected", s.rank, MAX_RANK),
               NULL;
    s.fold = "mul";
    const node *each = emit_sum(v->g, &s);
    for (int i = rank; i < s.rank; i++)
        axes[i - rank] = i;
    return g_summed(v->g, each, s.rank - rank, axes, false);
}

/* Whether it may be anything: it depends on values that are no numbers given once and for all. */
static bool is_open(deriving *v, const expr *weight)
{
    const expr *load[MAX_READ];
    const int n = weight ? x_loads(weight, load, MAX_READ) : 0;
    for (int i = 0; i < n && i < MAX_READ; i++) {
        const ts_array *a = g_constant(v->g, load[i]->from, 1);
        const double known = a && ts_array_count(a) == 1 ? ts_array_at(a, 0) : NAN;
        if (!isfinite(known) || known == 0)
            return true;
    }
    return false;
}

/* dy, with 0 outside where y was not taken if what it is to be multiplied with depends on values: there they may be
 * anything. */
static const expr *arrived(deriving *v, const expr *weight)
{
    const expr *load[MAX_TEXT];
    if (!is_open(v, weight))
        return v->dy;
    if (!v->kept) {
        const expr *c = guard_of(v->g, v->d.mem, v->at);
        v->kept = c ? x3(v->d.mem, "select", c, x_whole(v->d.mem, 0), v->dy) : v->dy;
    }
    const expr *all = x2(v->d.mem, "mul", weight, v->kept);
    return x_loads(all, load, MAX_TEXT) < MAX_TEXT ? v->kept : v->dy; /* else it could not be spelled out */
}

/* The part of x that is read inside the fold. Sums of products stay such: what is multiplied by is taken as finite. */
static const node *through_fold(deriving *v, const expr *load)
{
    arena *mem = v->d.mem;
    const expr *weight = without_fold(v, d_expr(mem, v->d.value, v->fold, &v->e));
    const expr *inner = d_expr(mem, v->fold->arg[0], load, &v->e);
    const bool plain = inner && weight && weight->kind == X_LIT && inner->kind == X_LOAD;
    const expr *term = d_mul(mem, weight, d_mul(mem, inner, plain ? v->dy : arrived(v, d_mul(mem, weight, inner))));
    if (!term)
        return NULL;
    if (x_folds_by(v->fold, "add"))
        return send(v, load, term);
    if (x_folds_by(v->fold, "mul"))
        return through_product(v, load, term);
    if (!x_folds_by(v->fold, "max") && !x_folds_by(v->fold, "min"))
        return err_set(&v->e, TS_UNSUPPORTED, "folds by %s have no gradient, those by add, mul, max and min have",
                       v->fold->fn->name),
               NULL;
    const expr *extreme = folded(v), *count = extreme ? ties(v, extreme) : NULL;
    if (!count)
        return NULL;
    const expr *hit = x2(mem, "eq", v->fold->arg[0], extreme);
    return send(v, load, x3(mem, "select", hit, x2(mem, "div", term, count), x_whole(mem, 0)));
}

/* A part of y's own element that is costly is read instead of computed again. */
static const expr *reusing(deriving *v, const expr *term)
{
    const expr *x = v->d.value;
    if (!term || x->kind != X_CALL || x->fn->cost < 10 || v->fold)
        return term;
    return x_replace(v->d.mem, term, x, x_element(v->d.mem, v->y));
}

static const node *through_load(deriving *v, const expr *load)
{
    arena *mem = v->d.mem;
    const expr *weight = without_fold(v, d_expr(mem, v->d.value, load, &v->e));
    const expr *term = reusing(v, d_mul(mem, weight, v->dy));
    if (!term || err_is(&v->e))
        return NULL;
    if (!is_pointwise(&v->y->type, load) || !is_pointwise(&v->y->type, term))
        return send(v, load, reusing(v, d_mul(mem, weight, arrived(v, weight))));
    const node *part = emit_pointwise(v->g, &v->y->type, term);
    if (is_open(v, weight))
        part = guard_apply(v->g, v->at, part);
    return g_fitted(v->g, part, &v->of->type);
}

static void gather_up(graph *g, const node **total, const node *part, const type *t)
{
    part = g_fitted(g, part, t); /* the same shape already: only the dtype may differ */
    if (part)
        *total = *total ? g_added(g, *total, part) : part;
}

static bool is_in(const expr *x, const expr *load)
{
    bool found = x_same(x, load);
    for (int i = 0; i < x->n && !found; i++)
        found = is_in(x->arg[i], load);
    return found;
}

const node *derive_gradient(graph *g, const node *y, const arriving *at, const node *of, bool *chosen)
{
    ENDED_BY(arena_free) arena mem = {0};
    deriving v = {.g = g, .y = y, .of = of, .at = at};
    const expr *load[MAX_READ];
    const node *total = NULL;
    if (!type_count(&y->type) || !type_count(&of->type))
        return NULL;
    if (g_defn_calls(y, &mem, &v.d, &v.e)) {
        const int n = x_loads(v.d.value, load, MAX_READ);
        if (v.d.value->kind == X_SCAN)
            return *chosen = true, derive_states(g, &v.d, at->dy, of);
        if (x_alone(v.d.value))
            err_set(
                &v.e, TS_UNSUPPORTED,
                "routines and what is put into places have no derived gradient, one of the operation's own expected");
        v.fold = x_find(v.d.value, X_FOLD), v.dy = x_element(&mem, at->dy);
        *chosen = *chosen || has_choice(v.d.value);
        if (n > MAX_READ)
            err_set(&v.e, TS_UNSUPPORTED, "its element reads %d places, at most %d are possible", n, MAX_READ);
        for (int i = 0; i < n && i < MAX_READ && !err_is(&v.e); i++) {
            if (load[i]->from != of)
                continue;
            gather_up(g, &total, through_load(&v, load[i]), &of->type);
            if (v.fold && is_in(v.fold, load[i]))
                gather_up(g, &total, through_fold(&v, load[i]), &of->type);
        }
    }
    if (err_is(&v.e))
        g_fail(g, v.e.code, "%s", v.e.text);
    return err_is(&g->err) ? NULL : total;
}
