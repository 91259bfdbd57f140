/* turned.c - the axes of what was just derived in another order, without a pass over it: pointwise work takes turned
 * operands, and a sum of products is a product of matrices whose rows and columns are those axes. */
#include "autodiff/autodiff.h"
#include "graph/ir/rule.h"

#include <string.h>

/* ---- a product of matrices ---- */
/* Where each axis stands among a load's subscripts, all of which are axes, each once; -1: nowhere */
static bool find_axes(const expr *load, int n_axis, int *at)
{
    for (int i = 0; i < n_axis; i++)
        at[i] = -1;
    for (int i = 0; load->kind == X_LOAD && i < load->n; i++) {
        if (load->arg[i]->kind != X_AXIS || load->arg[i]->axis >= n_axis || at[load->arg[i]->axis] >= 0)
            return false;
        at[load->arg[i]->axis] = i;
    }
    return load->kind == X_LOAD && load->n > 0;
}

/* t as a matrix: the axes before `cut` in front of the folded ones, or those from it on behind these */
static const node *matrix(graph *g, const sum *s, const node *t, const int *at, int cut, bool in_front)
{
    const int from = in_front ? 0 : cut, to = in_front ? cut : s->rank;
    int64_t order[MAX_RANK], shape[2] = {1, 1};
    int n = 0;
    for (int part = 0; part < 2; part++)
        for (int i = part == in_front ? s->rank : from, end = part == in_front ? s->n_axis : to; i < end; i++)
            order[n++] = at[i], shape[part] *= s->extent[i];
    t = g_transpose(g, t, n, order);
    return t ? g_reshape(g, t, 2, shape) : NULL;
}

/* a[m, k] b[k, n] summed over k, where m and n may be several axes each; NULL: it is none. */
static const node *product(graph *g, const sum *s)
{
    const expr *x = s->value;
    int a[MAX_AXIS], b[MAX_AXIS], cut = 0;
    if (strcmp(s->fold, "add") || !x_is_call(x, "mul") || s->rank == s->n_axis || !find_axes(x->arg[0], s->n_axis, a) ||
        !find_axes(x->arg[1], s->n_axis, b))
        return NULL;
    const expr *left = x->arg[0], *right = x->arg[1];
    const bool swap = a[0] < 0;
    const int *first = swap ? b : a, *second = swap ? a : b;
    while (cut < s->rank && first[cut] >= 0 && second[cut] < 0)
        cut++;
    for (int i = cut; i < s->n_axis; i++)
        if (second[i] < 0 || (first[i] >= 0) != (i >= s->rank))
            return NULL;
    if (!cut || cut == s->rank)
        return NULL;
    const node *m = matrix(g, s, (swap ? right : left)->from, first, cut, true);
    const node *n = m ? matrix(g, s, (swap ? left : right)->from, second, cut, false) : NULL;
    const node *y = n ? g_product(g, m, n) : NULL;
    return y ? g_reshape(g, y, s->rank, s->extent) : NULL;
}

/* ---- products of matrices, one for each place of what both operands have ---- */
typedef struct parted { /* axes of a sum: in both operands, in one, summed up; and where each stands in that order */
    int n, axis[MAX_AXIS], at[2][MAX_AXIS];
    int64_t size[4];
} parted;
enum { BOTH, LEFT, RIGHT, SUMMED };

static bool part_axes(const sum *s, const expr *const *load, parted *q)
{
    for (int k = 0; k < 2; k++) {
        if (!find_axes(load[k], s->n_axis, q->at[k]))
            return false;
        for (int i = 0; i < load[k]->n; i++)
            if (load[k]->from->type.dim[i] != s->extent[load[k]->arg[i]->axis])
                return false;
    }
    for (int part = BOTH; part <= SUMMED; part++) {
        q->size[part] = 1;
        for (int i = 0; i < s->n_axis; i++) {
            const bool a = q->at[0][i] >= 0, b = q->at[1][i] >= 0;
            const int is = i >= s->rank ? SUMMED : a && b ? BOTH : a ? LEFT : RIGHT;
            if ((!a && !b) || (is == SUMMED && !(a && b)))
                return false;
            if (is == part)
                q->axis[q->n++] = i, q->size[part] *= s->extent[i];
        }
    }
    return q->size[LEFT] > 1 && q->size[RIGHT] > 1 && q->size[SUMMED] > 1;
}

/* One operand as [both, left, summed] or [both, summed, right] */
static const node *matrices(graph *g, const sum *s, const parted *q, const node *t, int which)
{
    int64_t order[MAX_AXIS],
        shape[3] = {q->size[BOTH], q->size[which ? SUMMED : LEFT], q->size[which ? RIGHT : SUMMED]};
    int n = 0;
    for (int pass = 0; pass < 3; pass++) /* what is summed comes second of the right operand, and last of the left */
        for (int i = 0; i < q->n; i++) {
            const int a = q->axis[i], at = q->at[which][a];
            const bool both = a < s->rank && q->at[!which][a] >= 0;
            const int turn = both ? 0 : (a >= s->rank) == which ? 1 : 2;
            if (at >= 0 && turn == pass)
                order[n++] = at;
        }
    t = g_transpose(g, t, n, order);
    return t ? g_reshape(g, t, 3, shape) : NULL;
}

const node *emit_product(graph *g, const sum *s)
{
    const expr *x = s->value;
    parted q = {0};
    int64_t order[MAX_RANK], shape[MAX_RANK];
    if (strcmp(s->fold, "add") || !x_is_call(x, "mul") || s->rank > MAX_RANK || x->arg[0]->dtype != x->arg[1]->dtype ||
        !part_axes(s, x->arg, &q))
        return NULL;
    const node *a = matrices(g, s, &q, x->arg[0]->from, 0), *b = a ? matrices(g, s, &q, x->arg[1]->from, 1) : NULL;
    const node *y = b ? g_product(g, a, b) : NULL;
    for (int i = 0; i < s->rank; i++)
        shape[i] = s->extent[q.axis[i]], order[q.axis[i]] = i;
    y = y ? g_reshape(g, y, s->rank, shape) : NULL;
    return y ? g_transpose(g, y, s->rank, order) : NULL;
}

/* ---- what is turned ---- */
typedef struct turning {
    graph *g;
    const node *of;
    const int64_t *order;
    int first;
    arena *mem;
} turning;

/* An operand of pointwise work that has all axes, turned too */
static const expr *operand(void *user, const expr *x)
{
    const turning *v = user;
    const expr *sub[MAX_RANK];
    if (x->kind != X_LOAD || x->from->type.rank != v->of->type.rank)
        return x;
    for (int i = 0; i < x->n; i++)
        if (x->arg[i]->kind != X_AXIS || x->from->type.dim[i] != v->of->type.dim[i])
            return x;
    const node *to = turned_node(v->g, x->from, v->order, v->first);
    for (int i = 0; i < x->n; i++)
        sub[i] = x_axis(v->mem, (int)v->order[i]);
    return to ? x_load(v->mem, to, sub) : x;
}

const node *turned_node(graph *g, const node *n, const int64_t *order, int first)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    const int rank = n->type.rank;
    const expr *axis[MAX_AXIS] = {0};
    const node *made = NULL;
    if (n->leaf || n->trip || n->id < first || !g_defn_calls(n, &mem, &d, NULL) || x_alone(d.value))
        return g_transpose(g, n, rank, order);
    type shape = {.dtype = n->type.dtype, .rank = rank};
    for (int i = 0; i < rank; i++)
        shape.dim[i] = n->type.dim[order[i]], axis[order[i]] = x_axis(&mem, i);
    if (d.value->kind == X_FOLD) {
        sum s = {.rank = rank, .n_axis = d.n_axis, .fold = d.value->fn->name};
        memcpy(s.extent, d.extent, sizeof s.extent);
        memcpy(s.extent, shape.dim, (size_t)rank * sizeof *s.extent);
        s.value = x_rename(&mem, d.value->arg[0], MAX_AXIS, axis);
        made = product(g, &s);
        made = made ? made : emit_sum(g, &s);
    } else if (is_pointwise(&n->type, d.value)) {
        turning v = {g, n, order, first, &mem};
        made = emit_over(g, &shape, x_rename(&mem, x_map(&mem, d.value, operand, &v), MAX_AXIS, axis));
    }
    if (made)
        return g_fitted(g, made, &shape);
    g->err = (err){0}; /* it was an attempt */
    return g_transpose(g, n, rank, order);
}
