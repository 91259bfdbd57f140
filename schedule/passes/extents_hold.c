/* extents_hold.c - whether the graph at the least extents is what the forms found from others say of it. There axes of
 * one element are no axes any more, and views of what has one element are left out; so forms are taken at these extents,
 * and both elements are compared as what they come to: places as sums, what only moves elements being looked through. */
#include "graph/affine/linear.h"
#include "graph/ir/trip.h"
#include "schedule/passes/extents_pair.h"

#include <string.h>

typedef struct holding {
    pairing q; /* of the one graph */
    const pairing *by;
    const int64_t *size;
    axes axes; /* of the node at hand, as it is there */
    int64_t extent[MAX_AXIS];
    int n_axis;
} holding;

/* ---- elements ---- */
static const expr *at_sizes(void *user, const expr *x)
{
    const holding *h = user;
    return x->kind == X_SIZE ? x_whole((arena *)(uintptr_t)&h->q.mem, h->size[x->axis]) : x;
}

/* The element of n over axes `at`, where it is that of something else; NULL: it is not */
static const expr *moved_by(holding *h, const node *n, bool here, const expr *const *at)
{
    arena *mem = &h->q.mem;
    defn d;
    if (n->leaf || n->trip || !g_defn(n, mem, &d, h->q.e) || d.value->kind != X_LOAD)
        return NULL;
    const expr *x = here && h->by->form[n->id] ? h->by->form[n->id] : d.value;
    return x_rename(mem, here ? x_map(mem, x, at_sizes, h) : x, n->type.rank, at);
}

typedef struct reading { /* an expression of the plan's graph, or of the one there */
    holding *h;
    bool here;
} reading;

/* An element of a table that is known when a plan is made, as of positions, is a number. */
static const expr *known(void *user, const expr *x)
{
    const reading *r = user;
    const node *n = x->from;
    if (x->kind != X_LOAD || !n->leaf || !n->leaf->data || dtype_class(n->type.dtype) != D_WHOLE)
        return x;
    const aligned *piece = r->here ? &r->h->by->aligned[n->id] : &(aligned){0};
    int64_t at = 0;
    for (int i = 0; i < x->n; i++) {
        if (x->arg[i]->kind != X_LIT || x->arg[i]->whole < 0 || x->arg[i]->whole >= n->type.dim[i] || piece->ends)
            return x;
        at = at * n->type.dim[i] + x->arg[i]->whole;
    }
    const int64_t more = piece->shift.by ? extents_at(&piece->shift, r->h->size) : 0;
    return x_cast(&r->h->q.mem, x->dtype, x_whole(&r->h->q.mem, load_whole(n->type.dtype, n->leaf->data, at) + more));
}

static const expr *reduced(holding *h, const expr *x, bool here)
{
    return x_tidy(&h->q.mem, x_map(&h->q.mem, x, known, &(reading){h, here}), h->extent);
}

/* What only moves elements has the element of what it moves; a place that is a number within its bound needs no test. */
static const expr *through(holding *h, const expr *x, bool here)
{
    while (x->kind == X_LOAD) {
        const expr *moved = moved_by(h, pairing_source(x->from), here, x->arg);
        if (!moved)
            return x;
        x = reduced(h, moved, here);
    }
    if (x_is_call(x, "at") && x->arg[0]->kind == X_LIT && x->arg[1]->kind == X_LIT && x->arg[0]->whole >= 0 &&
        x->arg[0]->whole < x->arg[1]->whole)
        return x->arg[0];
    return pairing_settled(x);
}

static bool alike(holding *h, const expr *x, const expr *y);

static bool sums_alike(holding *h, const affine *a, const affine *b)
{
    bool same = a->c == b->c && a->n == b->n;
    for (int i = 0; same && i < a->n; i++) {
        const atom *x = a->t[i].a, *y = b->t[i].a;
        same = a->t[i].coef == b->t[i].coef && x->kind == y->kind &&
               (x->kind == A_VAR   ? x->var == y->var
                : x->kind == A_DIV ? x->by == y->by && sums_alike(h, x->of, y->of)
                                   : alike(h, x->x, y->x));
    }
    return same;
}

static bool is_sum(const expr *x)
{
    return x->kind == X_AXIS || (x->kind == X_LIT && x->is_whole) || (x->kind == X_CALL && x->dtype == TS_I64);
}

static bool number(const expr *x, double *out)
{
    x = x_uncast(x);
    *out = x->is_whole ? (double)x->whole : x->lit;
    return x->kind == X_LIT;
}

/* Branch i of a choice "axis < n": where one place is left of the axis, it is that. */
static bool branch_alike(holding *h, const expr *x, const expr *y, int i)
{
    const expr *when = x->arg[0], *at[MAX_AXIS] = {0};
    const bool on_axis = x_is_call(when, "lt") && when->arg[0]->kind == X_AXIS && when->arg[1]->kind == X_LIT;
    const int axis = on_axis ? when->arg[0]->axis : 0;
    const int64_t end = on_axis ? when->arg[1]->whole : 0, last = on_axis ? h->extent[axis] - 1 : 0;
    if (!on_axis || (i == 1 ? end != 1 : end != last))
        return alike(h, x->arg[i], y->arg[i]);
    at[axis] = x_whole(&h->q.mem, i == 1 ? 0 : last);
    return alike(h, reduced(h, x_rename(&h->q.mem, x->arg[i], MAX_AXIS, at), true),
                 reduced(h, x_rename(&h->q.mem, y->arg[i], MAX_AXIS, at), false));
}

static bool pair(holding *h, const node *a, const node *b);

static bool alike(holding *h, const expr *x, const expr *y)
{
    x = through(h, x, true), y = through(h, y, false);
    double one, other;
    if (number(x, &one) && number(y, &other))
        return one == other;
    if (is_sum(x) || is_sum(y)) {
        const affine *a = affine_of(&h->axes.space, x, h->axes.at), *b = affine_of(&h->axes.space, y, h->axes.at);
        if (!(a->n == 1 && a->t->a->kind == A_EXPR && a->t->a->x == x))
            return sums_alike(h, a, b);
    }
    if (!pairing_head(x, y) || (x->kind == X_LOAD && !pair(h, x->from, y->from)))
        return false;
    bool same = true;
    for (int i = 0; same && i < x->n; i++)
        same = i && x_is_choice(x) ? branch_alike(h, x, y, i) : alike(h, x->arg[i], y->arg[i]);
    return same;
}

/* ---- nodes ---- */
static int64_t extent_at(const holding *h, const node *a, int d) /* of a constant, of its part that lies there */
{
    const aligned *piece = &h->by->aligned[a->id];
    const varying v = piece->extent ? piece->extent[d] : extents_of(h->q.p, a, d);
    return v.by ? extents_at(&v, h->size) : a->type.dim[d];
}

static bool dims_hold(holding *h, const node *a, const node *b)
{
    if (a->type.dtype != b->type.dtype || a->type.rank != b->type.rank)
        return pairing_refuse(&h->q, 0, a, "is computed in another way at another extent");
    for (int i = 0; i < a->type.rank; i++)
        if (extent_at(h, a, i) != b->type.dim[i])
            return pairing_refuse_extent(&h->q, 0, a, a->type.dim[i], b->type.dim[i]);
    return true;
}

static bool constant_holds(holding *h, const node *a, const node *b)
{
    const aligned *piece = &h->by->aligned[a->id];
    int64_t more = 0;
    const bool same = piece->shift.by ? pairing_more(a, a->leaf->data, b, b->leaf->data, &more) &&
                                            more == extents_at(&piece->shift, h->size)
                                      : pairing_part(a, a->leaf->data, b, b->leaf->data, piece->ends);
    return same || pairing_refuse(&h->q, 0, a, "has other values at another extent");
}

/* b stands for a. What computes them is compared later. */
static bool pair(holding *h, const node *a, const node *b)
{
    pairing *q = &h->q;
    const node *known = q->mate[0][a->id];
    b = pairing_source(b);
    if (known && known != b && !pairing_numbers(q, 0, known, b))
        return pairing_refuse(q, 0, a, "stands for two values at another extent");
    if (known || err_is(q->e))
        return known;
    q->mate[0][a->id] = b, q->reader[a->id] = q->at;
    q->open[q->n_open++] = a;
    return dims_hold(h, a, b);
}

static void find_axes(holding *h, const defn *d)
{
    h->axes.space = (space){.mem = &h->q.mem};
    h->n_axis = d->n_axis;
    for (int i = 0; i < d->n_axis; i++) {
        h->extent[i] = d->extent[i];
        h->axes.at[i] = affine_var(&h->axes.space, var_add(&h->axes.space, "", 0, int_max(d->extent[i], 1) - 1));
    }
}

/* Axes of the result of one element are none. */
static const expr *over_axes(holding *h, const expr *x, int rank, bool here)
{
    const expr *at[MAX_RANK];
    for (int i = 0; i < rank; i++)
        at[i] = h->extent[i] == 1 ? x_whole(&h->q.mem, 0) : x_axis(&h->q.mem, i);
    return reduced(h, x_alone(x) ? x : x_rename(&h->q.mem, x, rank, at), here);
}

static bool trips_hold(holding *h, const node *a, const node *b)
{
    bool same = !a->trip == !b->trip && (!a->trip || a->trip->n_root == b->trip->n_root);
    for (int i = 0; same && a->trip && i < a->trip->n_root; i++)
        same = pair(h, a->trip->root[i], b->trip->root[i]);
    return same;
}

static bool made_holds(holding *h, const node *a, const node *b)
{
    pairing *q = &h->q;
    defn x, y;
    if (!pairing_trips(q, a, (const node *const[]){b}) || !g_defn(a, &q->mem, &x, q->e) ||
        !g_defn(b, &q->mem, &y, q->e))
        return false;
    if (x.n_axis != y.n_axis)
        return pairing_refuse(q, 0, a, "is computed in another way at another extent");
    for (int i = a->type.rank; i < x.n_axis; i++) {
        const varying v = extents_of(q->p, a, i);
        if ((v.by ? extents_at(&v, h->size) : x.extent[i]) != y.extent[i])
            return pairing_refuse_extent(q, 0, a, x.extent[i], y.extent[i]);
    }
    find_axes(h, &y);
    const expr *form = x_map(&q->mem, h->by->form[a->id] ? h->by->form[a->id] : x.value, at_sizes, h);
    const bool same = pairing_routine(x.value, y.value) &&
                      alike(h, over_axes(h, form, a->type.rank, true), over_axes(h, y.value, a->type.rank, false)) &&
                      trips_hold(h, a, b);
    if (err_is(q->e))
        return false;
    return same || pairing_refuse(q, 0, a, "is computed in another way at another extent");
}

static bool node_holds(holding *h, const node *a)
{
    pairing *q = &h->q;
    const node *from = pairing_source(a), *b = q->mate[0][a->id];
    q->at = a;
    if (from != a && !from->leaf == !b->leaf)
        return pair(h, from, b);
    if (!a->leaf && !b->leaf)
        return made_holds(h, a, b);
    if (!a->leaf != !b->leaf)
        return pairing_values(q, 0, a, b);
    return pairing_leaves(q, 0, a, b) && (!a->leaf->data || constant_holds(h, a, b));
}

bool extents_hold(const pairing *by, const other_extents *x, const node *const *root)
{
    holding h = {.q = {.p = by->p, .n = 1, .of = {x}, .e = by->e}, .by = by, .size = x->size};
    pairing *q = &h.q;
    const size_t nodes = (size_t)by->p->g->n + 1;
    bool ok = true;
    q->mate[0] = arena_array(&q->mem, nodes, sizeof *q->mate[0]);
    q->open = arena_array(&q->mem, nodes, sizeof *q->open);
    q->reader = arena_array(&q->mem, nodes, sizeof *q->reader);
    for (int i = 0; ok && i < by->p->n_root; i++)
        ok = pair(&h, by->p->root[i], root[i]);
    for (int i = 0; ok && i < q->p->n_input + q->p->n_told; i++)
        ok = pair(&h, q->p->input[i], pairing_input(x->graph, q->p->input[i]));
    while (ok && q->n_open)
        ok = node_holds(&h, q->open[--q->n_open]);
    arena_free(&q->mem);
    return ok;
}
