/* unflatten.c - the same values with axes that a reshape made one kept apart: of rows [batch * time, channel] as of
 * [batch, time, channel], so that no extent is a product of two. What is computed of such rows one by one is computed
 * along two axes and reshaped behind, which who takes the axes apart again has no need of. An element at a place that
 * a constant table lists is one at a place that is a sum of axes, where the table is: a mask [batch, time] that is
 * looked up at time * i0 + i1 is read at i0, i1: this alone leaves what is computed as it is. Definitions alone are
 * asked. */
#include "schedule/passes/unflatten.h"
#include "graph/eval/eval.h"
#include "graph/affine/linear.h"
#include "graph/passes/spell.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 1 << 20 /* elements of a table */ };

typedef struct known_axes { /* by id of a reshape that was made here: how many axes its first one is; else 0 */
    graph *g;
    kept_apart which;
    int *n, cap;
} known_axes;

typedef struct splitting { /* of one node */
    known_axes *all;
    graph *g;
    arena *mem;
    defn d;
    int axis, n; /* of the result or a fold, becomes so many; n 0: none does */
    int rank;    /* of the result by then */
    int64_t dim[MAX_RANK];
    int64_t extent[MAX_AXIS]; /* of the axes by now */
    bool fits, found;
} splitting;

/* ---- what is one axis of several ---- */
static bool is_reshape(graph *g, const node *n, arena *mem)
{
    defn d, other;
    const node *y = g_reshape(g, n->in[0], n->type.rank, n->type.dim);
    return y == n || (y && y->n_in == 1 && y->in[0] == n->in[0] && g_defn(n, mem, &d, &g->err) &&
                      g_defn(y, mem, &other, &g->err) && x_same(d.value, other.value));
}

/* How many leading axes of `from` are merged in the first axis of `to`; 0: none are, or the shapes do not match.
 * Leading axes of extent 1 that `to` lacks count too. */
static int joined(const type *from, const type *to)
{
    int64_t count = 1;
    int m = 0, end, ones = 0;
    if (!to->rank || !type_count(to) || type_count(from) != type_count(to))
        return 0;
    while (count < to->dim[0])
        count *= from->dim[m++];
    m += m == 0;
    for (end = m; end < from->rank && from->dim[end] == 1; end++)
        ones++;
    for (int i = 1; i < to->rank && to->dim[i] == 1; i++)
        ones--;
    m += ones > 0 && (to->rank == 1 || end < from->rank) ? ones : 0;
    return count == to->dim[0] && m > 1 && m <= from->rank && m + to->rank - 1 <= MAX_RANK ? m : 0;
}

static int flattened(const splitting *s, const node *n) /* axes of its operand that are its first; 0: it is no such */
{
    const int m = n->n_in == 1 && !node_is_leaf(n) ? joined(&n->in[0]->type, &n->type) : 0;
    if (n->id < s->all->cap && s->all->n[n->id])
        return s->all->n[n->id];
    return m && is_reshape(s->g, n, s->mem) ? m : 0;
}

/* The reshape of y with n axes for the first one: that they are is told by the extents alone only where none is 1. */
static const node *joined_again(splitting *s, const node *y, const type *t)
{
    known_axes *all = s->all;
    const node *made = y ? g_reshape(s->g, y, t->rank, t->dim) : NULL;
    if (!made || made->leaf || made == y || s->axis)
        return made;
    for (int was = all->cap; made->id >= all->cap; was = all->cap) {
        all->n = heap_grown(all->n, all->cap, &all->cap, sizeof *all->n);
        memset(all->n + was, 0, (size_t)(all->cap - was) * sizeof *all->n);
    }
    all->n[made->id] = s->n;
    return made;
}

/* ---- tables ---- */
/* The number at a place as a sum of what stands for the place's axes; NULL: it is none. */
static const expr *listed(splitting *s, const expr *x)
{
    const node *n = x->from;
    while (n->leaf && n->leaf->of)
        n = n->leaf->of;
    const ts_array *a = dtype_class(n->type.dtype) == D_WHOLE ? g_constant(s->g, n, MOST_LISTED) : NULL;
    const int64_t count = a ? ts_array_count(a) : 0, start = count ? load_whole(a->dtype, a->data, 0) : 0;
    int64_t step[MAX_RANK] = {0}, at[MAX_RANK] = {0}, stride = 1;
    const expr *sum = x_whole(s->mem, start);
    for (int d = x->n; d-- > 0 && count; stride *= a->dim[d])
        if (a->dim[d] > 1) {
            step[d] = load_whole(a->dtype, a->data, stride) - start;
            sum = x2(s->mem, "add", sum, x2(s->mem, "mul", x->arg[d], x_whole(s->mem, step[d])));
        }
    for (int64_t i = 0; i < count; i++) {
        int64_t is = start;
        for (int d = 0; d < x->n; d++)
            is += at[d] * step[d];
        if (load_whole(a->dtype, a->data, i) != is)
            return NULL;
        for (int d = x->n - 1; d >= 0 && ++at[d] == a->dim[d]; d--)
            at[d] = 0;
    }
    return count ? sum : NULL;
}

/* Within a place; what is inside needs no test of that. */
static const expr *unlisted(void *user, const expr *x)
{
    splitting *s = user;
    const expr *sum = x->kind == X_LOAD ? listed(s, x) : NULL;
    if (x->kind == X_CAST && x->dtype == TS_I64 && x->arg[0]->dtype == TS_I64)
        return x->arg[0];
    if (x_is_call(x, "at")) {
        const expr *place = x_tidy(s->mem, x->arg[0], s->d.extent);
        const range at = x_range(place, s->d.extent);
        return at.known && at.low >= 0 && x->arg[1]->kind == X_LIT && at.high < x->arg[1]->whole ? place : x;
    }
    s->found = s->found || sum;
    return sum ? sum : x;
}

/* ---- elements ---- */
static const expr *with_sums(void *user, const expr *x)
{
    splitting *s = user;
    const expr *sub[MAX_RANK];
    for (int i = 0; x->kind == X_LOAD && i < x->n; i++)
        sub[i] = x_count(x->arg[i], X_LOAD) ? x_map(s->mem, x->arg[i], unlisted, s) : x->arg[i];
    return x->kind == X_LOAD && x->n ? x_load(s->mem, x->from, sub) : x;
}

static bool divides(const expr *x)
{
    bool any = x_is_call(x, "floordiv") || x_is_call(x, "mod");
    for (int i = 0; i < x->n && !any; i++)
        any = divides(x->arg[i]);
    return any;
}

/* The axis over merged axes, where the result keeps them merged */
static const expr *find_axis(void *user, const expr *x)
{
    splitting *s = user;
    const node *n = s->d.node;
    const int m = x->kind == X_LOAD ? flattened(s, x->from) : 0;
    if (m && x->arg[0]->kind == X_AXIS && !s->n && (x->arg[0]->axis < n->type.rank || s->d.value->kind == X_FOLD) &&
        !(joined(&n->type, &x->from->type) && is_reshape(s->g, n, s->mem))) {
        s->axis = x->arg[0]->axis, s->n = m;
        memcpy(s->dim, x->from->in[0]->type.dim, (size_t)m * sizeof *s->dim);
    }
    return x;
}

/* An element of what is flattened, at a place that is a sum of axes, is one of what it is flattened from. */
static const expr *unflattened(void *user, const expr *x)
{
    splitting *s = user;
    const int m = x->kind == X_LOAD ? flattened(s, x->from) : 0;
    const expr *sub[MAX_RANK];
    int64_t inner = 1, dim[MAX_RANK];
    if (!m || (s->all->which != ALL_AXES && x->arg[0]->kind == X_AXIS))
        return x;
    for (int i = m; i-- > 0;) {
        const int64_t extent = dim[i] = x->from->in[0]->type.dim[i];
        sub[i] = x2(s->mem, "mod", x2(s->mem, "floordiv", x->arg[0], x_whole(s->mem, inner)), x_whole(s->mem, extent));
        sub[i] = x_tidy(s->mem, sub[i], s->extent), inner *= extent;
        s->fits = s->fits && !divides(sub[i]);
    }
    for (int i = 1; i < x->n; i++)
        sub[m + i - 1] = x->arg[i], dim[m + i - 1] = x->from->type.dim[i];
    const node *apart = g_reshape(s->g, x->from->in[0], m + x->n - 1, dim);
    s->found = true;
    return apart ? x_load(s->mem, apart, sub) : x;
}

/* The same over the axes that there are now */
static const expr *over_axes(splitting *s, const expr *x)
{
    const expr *at[MAX_AXIS] = {0};
    const int more = s->n ? s->n - 1 : 0;
    for (int i = 0; i < s->d.n_axis; i++) {
        const int to = s->n && i > s->axis ? i + more : i;
        at[i] = x_axis(s->mem, to), s->extent[to] = s->d.extent[i];
    }
    for (int i = 0; i < s->n; i++) {
        const expr *outer = i ? x2(s->mem, "mul", at[s->axis], x_whole(s->mem, s->dim[i])) : NULL;
        const expr *own = x_axis(s->mem, s->axis + i);
        at[s->axis] = outer ? x2(s->mem, "add", outer, own) : own, s->extent[s->axis + i] = s->dim[i];
    }
    return x_rename(s->mem, x, s->d.n_axis, at);
}

static const node *emitted(splitting *s, const expr *x, const expr *value)
{
    const int rank = s->rank, n_fold = s->d.n_axis + (s->n ? s->n - 1 : 0) - rank;
    const spelling to = {rank, n_fold, s->extent, value->kind == X_FOLD ? value->fn->name : "add", NULL};
    bool same = x->kind == X_LOAD && x->n == rank && !n_fold;
    for (int i = 0; i < rank && same; i++) /* an axis of one element is at 0 */
        same = x->from->type.dim[i] == s->extent[i] &&
               (s->extent[i] == 1 || (x->arg[i]->kind == X_AXIS && x->arg[i]->axis == i));
    return same ? x->from : value->kind == X_SCAN ? g_fold_of(s->g, &to, x) : emit_spelled(s->g, &to, x);
}

static const node *remade(splitting *s)
{
    const node *n = s->d.node;
    const expr *value = s->d.value, *x = value->kind == X_FOLD ? value->arg[0] : value;
    x = x_map(s->mem, x, with_sums, s);
    if (s->all->which == ALL_AXES)
        x_map(s->mem, x, find_axis, s);
    s->rank = n->type.rank + (s->n && s->axis < n->type.rank ? s->n - 1 : 0);
    if (x_count(x, X_FOLD) || s->rank > MAX_RANK || s->d.n_axis + s->n - 1 > MAX_AXIS)
        return n;
    x = x_map(s->mem, over_axes(s, x), unflattened, s);
    const node *y = s->found && s->fits && !err_is(&s->g->err) ? emitted(s, x, value) : NULL;
    y = s->rank > n->type.rank ? joined_again(s, y, &n->type) : y;
    return y && type_equal(&y->type, &n->type) ? y : n;
}

static const node *unflatten(void *user, const node *old, const node *now)
{
    ENDED_BY(arena_free) arena mem = {0};
    known_axes *all = user;
    splitting s = {.all = all, .g = all->g, .mem = &mem, .fits = true};
    const node *y = now;
    if (!node_is_leaf(now) && !now->trip && !now->index && !flattened(&s, now) && g_defn(now, &mem, &s.d, &s.g->err) &&
        (!x_alone(s.d.value) || x_folds(s.d.value)))
        y = remade(&s);
    if (s.g->err.code == TS_UNSUPPORTED) /* it is left as it was */
        s.g->err = (err){0}, y = now;
    if (y != now && !node_is_leaf(y))
        g_label(s.g, y, old->label);
    return err_is(&s.g->err) ? NULL : y;
}

bool g_unflatten(graph *g, kept_apart which, int n, const node *const *root, const node **out)
{
    known_axes all = {.g = g, .which = which};
    const bool ok = g_rewrite(g, n, root, unflatten, &all, out);
    free(all.n);
    return ok;
}
