/* extents_alike.c - elements of two graphs. Those of graphs near the bounds are the same but for whole numbers, each of
 * which becomes a sum of multiples of the variables: the form. At other extents the form is taken there, and both
 * elements are compared as what they come to: places as sums; where extents are least, axes of one element are none,
 * and what only moves elements is looked through. */
#include "graph/affine/linear.h"
#include "graph/ir/custom.h"
#include "schedule/passes/extents_pair.h"

#include <math.h>
#include <string.h>

void pairing_axes(pairing *q, const defn *d)
{
    q->space = (space){.mem = &q->scratch};
    for (int i = 0; i < d->n_axis; i++) {
        q->extent[i] = d->extent[i];
        q->axis[i] = affine_var(&q->space, var_add(&q->space, "", 0, int_max(d->extent[i], 1) - 1));
    }
}

const expr *pairing_form(const pairing *q, arena *mem, const defn *d)
{
    return (q->parts ? x_tidy_open : x_tidy)(mem, d->value, d->extent);
}

/* ---- what is the same in other words ---- */
static bool all_positive(const node *n)
{
    bool all = n->leaf && n->leaf->data && dtype_class(n->type.dtype) != D_REAL;
    const int64_t count = all ? type_count(&n->type) : 0;
    for (int64_t i = 0; all && i < count; i++)
        all = load_whole(n->type.dtype, n->leaf->data, i) >= 0;
    return all;
}

static bool never_negative(const expr *x)
{
    bool never = x->kind == X_AXIS || (x->kind == X_LIT && x->is_whole && x->whole >= 0) ||
                 (x->kind == X_LOAD && all_positive(x->from));
    if (x->kind != X_CAST && !x_is_call(x, "add") && !x_is_call(x, "mul"))
        return never;
    never = true;
    for (int i = 0; never && i < x->n; i++)
        never = never_negative(x->arg[i]);
    return never;
}

/* "i < 0 ? i + extent : i" of what is at least 0; a place that is a number within its bound needs no test. */
static const expr *settled(const expr *x)
{
    const bool counts = x_is_call(x, "select") && x_is_call(x->arg[0], "lt") && x->arg[0]->arg[1]->kind == X_LIT &&
                        x->arg[0]->arg[1]->is_whole && x->arg[0]->arg[1]->whole == 0;
    if (x_is_call(x, "at") && x->arg[0]->kind == X_LIT && x->arg[1]->kind == X_LIT && x->arg[0]->whole >= 0 &&
        x->arg[0]->whole < x->arg[1]->whole)
        return x->arg[0];
    return counts && never_negative(x->arg[0]->arg[0]) ? x->arg[2] : x;
}

static bool same_head(const expr *x, const expr *y)
{
    return x->kind == y->kind && x->dtype == y->dtype && x->n == y->n && x->fn == y->fn && x->axis == y->axis &&
           x->n_state == y->n_state && x->folds == y->folds && x->is_whole == y->is_whole;
}

/* A subscript from data is below the extent of the run, whatever that is: generated code checks it (varying_place). */
static bool told(const expr *load, int d)
{
    const expr *x = load->arg[d];
    return x_is_call(x, "at") && x->arg[1]->kind == X_LIT && x->arg[1]->whole == load->from->type.dim[d];
}

/* ---- as it is there ---- */
typedef struct reading { /* an expression of the plan's graph, or of the one there */
    pairing *q;
    bool here;
} reading;

static const expr *at_sizes(void *user, const expr *x)
{
    pairing *q = user;
    const bool least = x_is_call(x, "min"), ends = least || x_is_call(x, "max");
    linear a, b;
    if (ends && x->dtype == TS_I64 && linear_of(x->arg[0], &a) && linear_of(x->arg[1], &b) && !a.n && !b.n)
        return x_whole(&q->scratch, (least ? int_min : int_max)(a.plus, b.plus));
    return x->kind == X_SIZE ? x_whole(&q->scratch, q->of->size[x->axis]) : x;
}

/* Replaces a load from a constant table, as of positions, by its number. */
static const expr *known(void *user, const expr *x)
{
    const reading *r = user;
    const node *n = x->from;
    if (x->kind != X_LOAD || !n->leaf || !n->leaf->data || dtype_class(n->type.dtype) != D_WHOLE)
        return x;
    const aligned *piece = r->here ? &r->q->aligned[n->id] : &(aligned){0};
    int64_t at = 0;
    for (int i = 0; i < x->n; i++) {
        if (x->arg[i]->kind != X_LIT || x->arg[i]->whole < 0 || x->arg[i]->whole >= n->type.dim[i] || piece->ends)
            return x;
        at = at * n->type.dim[i] + x->arg[i]->whole;
    }
    const int64_t more = r->here ? aligned_more(piece, at, r->q->of->size) : 0;
    return x_cast(&r->q->scratch, x->dtype,
                  x_whole(&r->q->scratch, load_whole(n->type.dtype, n->leaf->data, at) + more));
}

static const expr *reduced(pairing *q, const expr *x, bool here)
{
    return x_tidy(&q->scratch, q->least ? x_map(&q->scratch, x, known, &(reading){q, here}) : x, q->extent);
}

/* Looks through nodes that only move elements, to the element that is moved. */
static const expr *through(pairing *q, const expr *x, bool here)
{
    defn d;
    int k; /* results of a scan have their places at the bounds */
    while (q->least && x->kind == X_LOAD) {
        const node *n = pairing_source(x->from);
        if (n->leaf || n->trip || custom_call(n, &k) || !g_defn(n, &q->scratch, &d, q->e) || d.value->kind != X_LOAD)
            break;
        const expr *moved = here && q->form[n->id] ? x_map(&q->scratch, q->form[n->id], at_sizes, q)
                                                   : x_tidy(&q->scratch, d.value, d.extent);
        x = reduced(q, x_rename(&q->scratch, moved, n->type.rank, x->arg), here);
    }
    return settled(x);
}

/* ---- comparing ---- */
static bool alike(pairing *q, const expr *x, const expr *y);

static bool sums_alike(pairing *q, const affine *a, const affine *b)
{
    bool same = a->c == b->c && a->n == b->n;
    for (int i = 0; same && i < a->n; i++) {
        const atom *x = a->t[i].a, *y = b->t[i].a;
        same = a->t[i].coef == b->t[i].coef && x->kind == y->kind &&
               (x->kind == A_VAR   ? x->var == y->var
                : x->kind == A_DIV ? x->by == y->by && sums_alike(q, x->of, y->of)
                                   : alike(q, x->x, y->x));
    }
    return same;
}

/* Branch i of a choice "axis < n": where only one value of the axis reaches it, the axis is that number. */
static bool branch_alike(pairing *q, const expr *x, const expr *y, int i)
{
    const expr *when = x->arg[0], *at[MAX_AXIS] = {0};
    const bool on_axis = x_is_call(when, "lt") && when->arg[0]->kind == X_AXIS && when->arg[1]->kind == X_LIT;
    const int axis = on_axis ? when->arg[0]->axis : 0;
    const int64_t end = on_axis ? when->arg[1]->whole : 0, last = on_axis ? q->extent[axis] - 1 : 0;
    if (!on_axis || (i == 1 ? end != 1 : end != last))
        return alike(q, x->arg[i], y->arg[i]);
    at[axis] = x_whole(&q->scratch, i == 1 ? 0 : last);
    return alike(q, reduced(q, x_rename(&q->scratch, x->arg[i], MAX_AXIS, at), true),
                 reduced(q, x_rename(&q->scratch, y->arg[i], MAX_AXIS, at), false));
}

static bool is_sum(const expr *x)
{
    return x->kind == X_AXIS || (x->kind == X_LIT && x->is_whole) || (x->kind == X_CALL && x->dtype == TS_I64);
}

static double number(const expr *x)
{
    return x->is_whole ? (double)x->whole : x->lit;
}

static bool alike(pairing *q, const expr *x, const expr *y)
{
    x = through(q, x, true), y = through(q, y, false);
    const expr *one = x_uncast(x), *other = x_uncast(y);
    if (one->kind == X_LIT && other->kind == X_LIT)
        return number(one) == number(other);
    if (is_sum(x) || is_sum(y)) {
        const affine *a = affine_of(&q->space, x, q->axis), *b = affine_of(&q->space, y, q->axis);
        if (!(a->n == 1 && a->t->a->kind == A_EXPR && a->t->a->x == x))
            return sums_alike(q, a, b);
    }
    bool same = same_head(x, y) && (x->kind != X_LOAD || pairing_take(q, x->from, y->from));
    for (int i = 0; same && i < x->n; i++) {
        const bool bound = x->kind == X_LOAD && told(x, i) && told(y, i);
        same = i && x_is_choice(x)
                   ? branch_alike(q, x, y, i)
                   : alike(q, bound ? x->arg[i]->arg[0] : x->arg[i], bound ? y->arg[i]->arg[0] : y->arg[i]);
    }
    return same;
}

bool pairing_alike(pairing *q, const expr *x, const expr *y, int rank)
{
    const expr *at[MAX_RANK];
    for (int i = 0; i < rank; i++) /* where extents are least, axes of the result of one element are none */
        at[i] = q->extent[i] == 1 && q->least && !x_alone(y) ? x_whole(&q->scratch, 0) : x_axis(&q->scratch, i);
    return alike(q, reduced(q, x_rename(&q->scratch, x_map(&q->scratch, x, at_sizes, q), rank, at), true),
                 reduced(q, x_rename(&q->scratch, y, rank, at), false));
}

/* ---- learning ---- */
static bool is_count(const expr *x, int64_t *out) /* a whole number, however it is written */
{
    const bool whole = x->kind == X_LIT && (x->is_whole || (fabs(x->lit) < 0x1p53 && floor(x->lit) == x->lit));
    return *out = !whole ? 0 : x->is_whole ? x->whole : (int64_t)x->lit, whole;
}

static bool by_number(const expr *x, const char *name)
{
    return x_is_call(x, name) && x->arg[1]->kind == X_LIT && x->arg[1]->is_whole;
}

static bool follows(const expr *x, varying *out) /* a number for which variables stand already: which */
{
    linear l;
    *out = (varying){.per = 1};
    if (by_number(x, "min") || by_number(x, "max"))
        out->ends = by_number(x, "min") ? AT_MOST : AT_LEAST, out->limit = x->arg[1]->whole, x = x->arg[0];
    if (by_number(x, "floordiv"))
        out->per = x->arg[1]->whole, x = x->arg[0];
    if (x->kind == X_LIT || !linear_of(x, &l))
        return false;
    for (int i = 0; i < l.n; i++) {
        if (l.atom[i]->kind != X_SIZE)
            return false;
        out->by |= 1u << l.atom[i]->axis, out->times[l.atom[i]->axis] = l.by[i];
    }
    return out->plus = l.plus, true;
}

static const expr *number_learned(pairing *q, const expr *x, const varying *now, const expr *y)
{
    varying v = *now;
    int64_t there;
    if (!is_count(y, &there) || !pairing_number(q, &v, v.plus, there))
        return NULL;
    return extents_same(&v, now)
               ? x
               : x_cast(&q->mem, x->dtype == TS_N_DTYPE ? TS_I64 : x->dtype, extents_expr(&q->mem, &v));
}

/* A literal has no dtype of its own; what stands in its place takes that of what it meets. */
static const expr *as_met(pairing *q, const expr *x, int i, const expr *now)
{
    dtype d = TS_N_DTYPE;
    for (int k = x_is_choice(x); k < x->n && d == TS_N_DTYPE; k++)
        d = x->arg[k]->dtype;
    return x->kind == X_CALL && x->arg[i]->dtype == TS_N_DTYPE && d != TS_N_DTYPE ? x_cast(&q->mem, d, now) : now;
}

const expr *pairing_learned(pairing *q, const expr *x, const expr *y)
{
    const expr *arg[MAX_PART];
    varying v;
    bool changed = false;
    x = settled(x), y = settled(y);
    if (x->kind == X_LIT && y->kind == X_LIT && x->whole == y->whole && !memcmp(&x->lit, &y->lit, sizeof x->lit))
        return x;
    if (is_count(x, &v.plus))
        return number_learned(q, x, &(varying){.plus = v.plus, .per = 1}, y);
    if (follows(x_uncast(x), &v) && v.by)
        return number_learned(q, x, &v, x_uncast(y));
    if (x_is_call(x, "add") && !x_is_call(y, "add") && is_sum(y)) { /* the number in it is 0 there */
        const expr *rest = pairing_learned(q, x->arg[0], y);
        const expr *more = rest ? pairing_learned(q, x->arg[1], x_cast(&q->scratch, TS_I64, x_whole(&q->scratch, 0)))
                                : NULL;
        return more && (rest != x->arg[0] || more != x->arg[1]) ? x2(&q->mem, "add", rest, more) : more ? x : NULL;
    }
    if (!same_head(x, y) || (x->kind == X_LOAD && !pairing_take(q, x->from, y->from)))
        return NULL;
    for (int i = 0; i < x->n; i++) {
        const bool bound = x->kind == X_LOAD && told(x, i) && told(y, i);
        const expr *at = bound ? x->arg[i]->arg[0] : x->arg[i], *other = bound ? y->arg[i]->arg[0] : y->arg[i];
        const bool place = x->kind == X_LOAD && !bound && alike(q, x_map(&q->scratch, at, at_sizes, q), other);
        const expr *now = place ? at : pairing_learned(q, at, other);
        if (!now)
            return NULL;
        arg[i] = now == at ? x->arg[i] : bound ? x2(&q->mem, "at", now, x->arg[i]->arg[1]) : as_met(q, x, i, now);
        changed = changed || now != at;
    }
    return changed ? x_again(&q->mem, x, arg) : x;
}
