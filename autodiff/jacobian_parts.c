/* jacobian_parts.c - Jacobians by parts of the input. Where one vector holds several things (a pose: how the whole hand
 * lies, and four angles for each finger), what reads one of them knows nothing of the others: each gets seeds of its
 * own. Within a part places often stay apart for a while, as fingers do until what they move is added up. Up to there
 * few colors do, and a sum over that axis, of which a seed sees one place alone, is left out. */
#include "autodiff/jacobian.h"
#include "autodiff/autodiff.h"
#include "graph/affine/linear.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 16, MOST_CUT = 8, MOST_LOADS = 16 };

static bool reads(const node *n, const node *what)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] == what)
            return true;
    return false;
}

bool push_part(const task *j, const reach *of, const node *seed, int n, const node *const *out, const node **tangent)
{
    graph *g = j->g;
    const int count = of ? g_reach(n, out, NULL) : 0;
    ENDED_BY(heap_free) const node **need = heap_array(3 * (size_t)count + 3, sizeof *need);
    const node **apart = need + count + 1, **other = apart + count + 1; /* readers of other places */
    ENDED_BY(heap_free) const node **now = heap_array((size_t)n + 1, sizeof *now);
    int k = 0;
    if (of)
        g_reach(n, out, need);
    for (int i = 0; i < count; i++)
        if (reads(need[i], j->in) && !of[need[i]->id].any)
            apart[k] = need[i], other[k++] = stand_in(g, &need[i]->type, "apart");
    return g_replace(g, n, out, k, apart, other, now) && ts_pushforward(g, 1, &j->in, &seed, n, now, tangent) &&
           g_replace(g, n, tangent, k, other, apart, tangent);
}

static int64_t seeds_at(const reach *r, int64_t size)
{
    return r->any ? int_min(reach_width(r), size) : 0;
}

/* ---- the last bands ---- */
typedef struct cut { /* the graph between the input and out, taken apart at nodes that have bands */
    const task *j;
    int axis, n;
    int64_t colors, size;
    const node *at[MOST_CUT], *tangent[MOST_CUT]; /* the latter: [colors, axes of at...] */
    const reach *band[MOST_CUT];
    const node *seed[MOST_CUT]; /* stands for how `at` moves */
    const node *moves;          /* how out then does */
} cut;

/* Nodes of at most half of out's seeds that are read by others; false: there are none, or the input itself is one. */
static bool find_cut(cut *c, const reach *of)
{
    int n;
    ENDED_BY(heap_free) const node **need = g_reached_make(1, &c->j->out, &n);
    const int64_t most = seeds_at(&of[c->j->out->id], c->size) / 2;
    bool *last = heap_array((size_t)c->j->out->id + 1, sizeof *last), ok = true;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < need[i]->n_in && seeds_at(&of[need[i]->id], c->size) > most; k++)
            last[need[i]->in[k]->id] = true;
    for (int i = 0; i < n && ok; i++) {
        const reach *r = &of[need[i]->id];
        if (!last[need[i]->id] || !r->any || seeds_at(r, c->size) > most)
            continue;
        ok = c->n < MOST_CUT && need[i] != c->j->in && dtype_real(need[i]->type.dtype) && r->along >= 0;
        if (ok)
            c->at[c->n] = need[i], c->band[c->n++] = r, c->colors = int_max(c->colors, seeds_at(r, c->size));
    }
    free(last);
    return ok && c->n > 0;
}

/* Tangents of the nodes, by colors: v has the shape of in, all [colors, axes of in...], tangent[k] [colors, axes of the
 * node...] */
static bool before_cut(cut *c, const reach *of)
{
    const task *j = c->j;
    graph *g = j->g;
    coloring some = colors_of_in(j);
    some.color[c->axis] = c->colors;
    const node *v = stand_in(g, &j->in->type, "seed"), *t[MOST_CUT];
    if (!v || !push_part(j, of, v, c->n, c->at, t))
        return false;
    const node *all = coloring_units(g, &j->in->type, &some);
    return all && ts_batch(g, c->n, t, 1, &v, &all, c->tangent);
}

/* How out moves with the nodes: over others in their place, so that no way leads from one to another */
static bool past_cut(cut *c)
{
    graph *g = c->j->g;
    const node *other[MOST_CUT], *out = c->j->out;
    for (int k = 0; k < c->n; k++) {
        other[k] = stand_in(g, &c->at[k]->type, "part"), c->seed[k] = stand_in(g, &c->at[k]->type, "moves");
        if (!other[k] || !c->seed[k])
            return false;
    }
    return g_replace(g, 1, &out, c->n, c->at, other, &out) &&
           ts_pushforward(g, c->n, other, c->seed, 1, &out, &c->moves) &&
           g_replace(g, 1, &c->moves, c->n, other, c->at, &c->moves);
}

/* A node's tangents for all places of the part: [size, axes...], zeros outside of its band */
static const node *for_all_places(const cut *c, int k)
{
    ENDED_BY(arena_free) arena mem = {0};
    const type *t = &c->at[k]->type;
    const reach *r = c->band[k];
    type shape = {.dtype = t->dtype, .rank = t->rank + 1, .dim = {c->size}};
    const expr *sub[MAX_RANK + 1];
    if (shape.rank > MAX_RANK)
        return NULL;
    for (int i = 0; i < t->rank; i++)
        sub[i + 1] = x_axis(&mem, i + 1), shape.dim[i + 1] = t->dim[i];
    const expr *place = x2(&mem, "add", x_axis(&mem, 0), x_whole(&mem, c->j->from[c->axis]));
    const expr *start = x2(&mem, "mul", x_axis(&mem, 1 + r->along), x_whole(&mem, r->by));
    const expr *here = x_inside(&mem, x2(&mem, "sub", place, start), r->low, r->high + 1);
    sub[0] = x2(&mem, "mod", x_axis(&mem, 0), x_whole(&mem, c->colors));
    const expr *x = x3(&mem, "select", here, x_load(&mem, c->tangent[k], sub), x_whole(&mem, 0));
    return g_fitted(c->j->g, emit_over(c->j->g, &shape, x_tidy(&mem, x, shape.dim)), &shape);
}

static const node *by_all_places(const cut *c)
{
    const node *all[MOST_CUT], *y;
    for (int k = 0; k < c->n; k++)
        if (!(all[k] = for_all_places(c, k)))
            return NULL;
    return ts_batch(c->j->g, 1, &c->moves, c->n, c->seed, all, &y) ? y : NULL;
}

/* ---- sums over the bands' axis ---- */
/* Each place of the part belongs to one band: place by * i + w to that of i. */
static bool is_tiled(const cut *c, int k)
{
    const reach *r = c->band[k];
    return r->by == c->colors && reach_width(r) == r->by && r->low == c->j->from[c->axis] &&
           c->size == r->by * c->at[k]->type.dim[r->along];
}

typedef struct rebinding {
    const cut *c;
    arena *mem;
    int k, last; /* the axis of colors */
} rebinding;

static const expr *tangent_there(void *user, const expr *x)
{
    const rebinding *q = user;
    const expr *sub[MAX_RANK + 1] = {x_axis(q->mem, q->last)};
    if (x->kind != X_LOAD || x->from != q->c->seed[q->k])
        return x;
    for (int i = 0; i < x->n; i++)
        sub[i + 1] = x->arg[i];
    return x_load(q->mem, q->c->tangent[q->k], sub);
}

/* The axis over which every load of the seed is folded along its band; -1: there is none. */
static int folded_axis(const cut *c, const defn *d, const node *seed, const reach *band)
{
    const expr *load[MOST_LOADS], *x = d->value;
    int axis = -1;
    if (!x_folds_by(x, "add") || !x_linear(x->arg[0], seed))
        return -1;
    const int n = x_loads(x->arg[0], load, MOST_LOADS);
    for (int i = 0; i < n; i++) {
        if (n > MOST_LOADS || load[i]->from != seed)
            continue;
        const expr *s = load[i]->arg[band->along];
        if (s->kind != X_AXIS || !(x->folds >> s->axis & 1) || (axis >= 0 && axis != s->axis))
            return -1;
        axis = s->axis;
    }
    return axis >= 0 && d->extent[axis] == c->size / c->colors ? axis : -1;
}

/* y, a sum over the bands' axis of what has the seed as a factor, for each place: [bands, colors, axes of y...] */
static const node *without_sum(const cut *c, int k, const node *y)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    const expr *map[MAX_AXIS] = {0};
    const node *made = NULL;
    const int rank = y->type.rank;
    const int axis = rank + 2 <= MAX_RANK && !y->trip && g_defn_calls(y, &mem, &d, NULL) && d.n_axis + 1 <= MAX_AXIS
                         ? folded_axis(c, &d, c->seed[k], c->band[k])
                         : -1;
    if (axis >= 0) { /* [bands, axes of y..., colors] first: what comes out is asked for by places last */
        sum s = {.rank = rank + 2, .n_axis = 1, .extent = {c->size / c->colors}, .fold = "add"};
        int64_t order[MAX_RANK] = {0, rank + 1};
        rebinding q = {c, &mem, k, rank + 1};
        for (int i = 0; i < d.n_axis; i++) {
            if (i == rank)
                s.extent[s.n_axis++] = c->colors;
            if (i == axis)
                map[i] = x_axis(&mem, 0);
            else
                s.extent[s.n_axis] = d.extent[i], map[i] = x_axis(&mem, s.n_axis++);
        }
        for (int i = 0; i < rank; i++)
            order[i + 2] = i + 1;
        s.value = x_map(&mem, x_rename(&mem, d.value->arg[0], MAX_AXIS, map), tangent_there, &q);
        made = emit_product(c->j->g, &s);
        made = made ? made : emit_sum(c->j->g, &s);
        made = made ? g_transpose(c->j->g, made, rank + 2, order) : NULL;
    }
    return made;
}

typedef struct sums { /* in place of those who read seeds */
    int n;
    const node *was[MOST_CUT], *inner[MOST_CUT], *outer[MOST_CUT], *made[MOST_CUT];
} sums;

static bool find_sums(const cut *c, sums *s)
{
    graph *g = c->j->g;
    int n;
    ENDED_BY(heap_free) const node **need = g_reached_make(1, &c->moves, &n);
    bool ok = true;
    for (int k = 0; k < c->n && ok; k++) {
        ok = is_tiled(c, k);
        for (int i = 0; i < n && ok; i++) {
            if (!reads(need[i], c->seed[k]))
                continue;
            type t = {.dtype = need[i]->type.dtype, .rank = need[i]->type.rank + 1, .dim = {c->colors}};
            ok = s->n < MOST_CUT && t.rank <= MAX_RANK && (s->made[s->n] = without_sum(c, k, need[i]));
            if (!ok)
                break;
            memcpy(t.dim + 1, need[i]->type.dim, (size_t)need[i]->type.rank * sizeof *t.dim);
            s->was[s->n] = need[i];
            s->inner[s->n] = stand_in(g, &need[i]->type, "of_reader"), s->outer[s->n] = stand_in(g, &t, "of_readers");
            s->n++;
        }
    }
    return ok && s->n > 0;
}

/* [bands, colors, axes of out...]; NULL with no error: not all who read the bands are such sums. */
static const node *by_sums(const cut *c)
{
    graph *g = c->j->g;
    sums s = {0};
    const node *y;
    if (!find_sums(c, &s)) {
        g->err = (err){0}; /* it was an attempt */
        return NULL;
    }
    return g_replace(g, 1, &c->moves, s.n, s.was, s.inner, &y) && ts_batch(g, 1, &y, s.n, s.inner, s.outer, &y) &&
                   ts_batch(g, 1, &y, s.n, s.outer, s.made, &y)
               ? y
               : NULL;
}

/* The first `lead` axes behind the others, as one */
static const node *behind(const task *j, const node *n, int lead, int64_t size)
{
    const int rank = n->type.rank - lead;
    int64_t order[MAX_RANK], shape[MAX_RANK];
    for (int i = 0; i < n->type.rank; i++)
        order[i] = i < rank ? lead + i : i - rank;
    for (int i = 0; i < rank; i++)
        shape[i] = n->type.dim[lead + i];
    shape[rank] = size;
    n = turned_node(j->g, n, order, j->first);
    return n && lead > 1 ? g_reshape(j->g, n, rank + 1, shape) : n;
}

/* Of one part, of places along `axis`: past the last nodes that have a band, seeds stand for all places; until there
 * for colors. NULL with no error: there are no such nodes. */
static const node *past_bands(const task *j, int axis, const reach *of)
{
    cut c = {.j = j, .axis = axis, .size = j->size[axis]};
    if (!find_cut(&c, of) || !before_cut(&c, of) || !past_cut(&c))
        return NULL;
    const node *n = j->out->type.rank + 2 <= MAX_RANK ? by_sums(&c) : NULL;
    if (n || err_is(&j->g->err))
        return n ? behind(j, n, 2, c.size) : NULL;
    n = by_all_places(&c);
    return n ? behind(j, n, 1, c.size) : NULL;
}

/* ---- parts of the input ---- */
typedef struct piece {
    int64_t first, end;
    bool apart; /* on its own it takes fewer seeds */
} piece;

static void mark(piece *p, int *n, int64_t first, int64_t end)
{
    int k = *n;
    for (; k > 0 && p[k - 1].first > first; k--)
        p[k] = p[k - 1];
    p[k] = (piece){.first = first, .end = end}, ++*n;
    int to = 0;
    for (int i = 1; i < *n; i++)
        if (p[i].first < p[to].end)
            p[to].end = int_max(p[to].end, p[i].end);
        else
            p[++to] = p[i];
    *n = to + 1;
}

static void mark_loads(const expr *x, const defn *d, const node *in, int axis, piece *p, int *n)
{
    for (int i = 0; i < x->n; i++)
        mark_loads(x->arg[i], d, in, axis, p, n);
    if (x->kind != X_LOAD || x->from != in || *n > MOST_PARTS)
        return;
    const int64_t size = in->type.dim[axis];
    const range r = x_range(x->arg[axis], d->extent);
    mark(p, n, r.known ? int_max(r.low, 0) : 0, r.known ? int_min(r.high + 1, size) : size);
}

/* Which places of in are read together, in order; 0: they are too many, or cannot be told. */
static int find_pieces(const task *j, int axis, piece *p)
{
    int count, n = 0;
    ENDED_BY(heap_free) const node **need = g_reached_make(1, &j->out, &count);
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        ENDED_BY(arena_free) arena mem = {0};
        defn d;
        if (!reads(need[i], j->in))
            continue;
        ok = g_defn(need[i], &mem, &d, NULL);
        if (ok)
            mark_loads(d.value, &d, j->in, axis, p, &n);
        ok = ok && n <= MOST_PARTS;
    }
    return ok ? n : 0;
}

/* Whether places of a piece alone take fewer seeds than there are of them, somewhere on the way at least */
static bool is_better(const task *j, int axis, const piece *p)
{
    cut c = {.j = j, .axis = axis, .size = p->end - p->first};
    reach *of = reach_make(j->out, j->in, axis, p->first, c.size);
    const bool better = 2 * seeds_at(&of[j->out->id], c.size) <= c.size || find_cut(&c, of);
    return free(of), better;
}

/* Pieces that gain nothing go with their neighbours, and places that nothing reads with these. */
static int merge_pieces(piece *p, int n, int64_t size)
{
    int to = 0;
    for (int i = 1; i < n; i++)
        if (p[i].apart || p[to].apart)
            p[++to] = p[i];
        else
            p[to].end = p[i].end;
    p[0].first = 0, p[to].end = size;
    for (int i = 0; i < to; i++)
        if (p[i].apart)
            p[i + 1].first = p[i].end;
        else
            p[i].end = p[i + 1].first;
    return to + 1;
}

static const node *of_piece(const task *whole, int axis, const piece *p)
{
    task j = *whole;
    j.from[axis] = p->first, j.size[axis] = p->end - p->first;
    reach *of = reach_make(j.out, j.in, axis, p->first, j.size[axis]);
    j.band[axis] = of[j.out->id];
    const coloring c = colors_of_in(&j);
    const node *n = p->apart && 2 * seeds_at(&j.band[axis], j.size[axis]) > j.size[axis] ? past_bands(&j, axis, of)
                                                                                         : NULL;
    if (!n && !err_is(&j.g->err))
        n = by_tangents(&j, &c, of);
    return free(of), n;
}

const node *by_parts(const task *j)
{
    piece p[MOST_PARTS + 2];
    const node *part[MOST_PARTS + 1];
    int axis = -1, open = 0, n;
    for (int i = 0; i < j->in->type.rank; i++)
        if (!(j->in_set >> i & 1))
            axis = i, open++;
    if (open != 1 || 2 * seeds_at(&j->band[axis], j->size[axis]) <= j->size[axis])
        return NULL;
    n = find_pieces(j, axis, p);
    bool any = false;
    for (int i = 0; i < n; i++)
        p[i].apart = is_better(j, axis, &p[i]), any = any || p[i].apart;
    if (!any)
        return NULL;
    n = merge_pieces(p, n, j->size[axis]);
    for (int i = 0; i < n; i++)
        if (!(part[i] = of_piece(j, axis, &p[i])))
            return NULL;
    return g_joined(j->g, n, part, j->out->type.rank);
}
