/* flow.c - branches and loops, gone while a graph is built: a condition that is known picks its branch, a loop whose
 * end is known comes out unrolled, or, where its trips are many and alike, as a scan. A condition known only at run
 * time picks between the results of both branches, or holds the state of a loop that has ended. */
#include "graph/eval/eval.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdlib.h>
#include <string.h>

static const int64_t FOREVER = INT64_MAX;
static const int64_t UNBOUNDED = INT64_C(1) << 60; /* trips of a scan that something else ends */
enum { MOST_TRIPS = 1 << 20 }; /* of a scan: what says more is counted step by step, up to the limit of a file */

/* ---- helpers ---- */
typedef enum truth { NO, YES, LATER } truth;

/* One truth value, or LATER when it is known only at run time. */
static bool known_truth(const onnx_call *c, const node *n, const char *what, truth *out, err *e)
{
    if (n->type.dtype != TS_BOOL || type_count(&n->type) != 1)
        return err_set(e, TS_BAD_INPUT, "the %s is %s of %lld elements, one truth value expected", what,
                       ts_dtype_name(n->type.dtype), (long long)type_count(&n->type));
    const ts_array *v = g_value(c->g, n, 1);
    *out = !v ? LATER : load_whole(TS_BOOL, v->data, 0) ? YES : NO;
    return true;
}

static const node *as_scalar(graph *g, const node *n)
{
    return n && n->type.rank ? g_callf(g, 1, &n, "reshape shape=[]") : n;
}

/* yes where cond, a scalar, holds; no otherwise. */
static bool pick(const onnx_call *c, const node *cond, const onnx_value *yes, const onnx_value *no, onnx_value *out,
                 err *e)
{
    if (!yes->node && !no->node && !yes->list && !no->list)
        return true;
    if (!yes->node || !no->node)
        return g_wait(c->g, e, "a sequence or an optional depends on a condition known only at run time");
    if (yes->node == no->node)
        return *out = *yes, true;
    if (!type_equal(&yes->node->type, &no->node->type))
        return g_wait(c->g, e, "a condition known only at run time decides between %s and %s",
                      type_said(&yes->node->type).s, type_said(&no->node->type).s);
    out->node = g_call3(c->g, "where", cond, yes->node, no->node);
    return out->node != NULL;
}

static onnx_value *values(const onnx_call *c, int n)
{
    return arena_array(&c->g->mem, (size_t)n + 1, sizeof(onnx_value));
}

/* ---- ONNX: If ---- */
/* Whether one program can pick between the results when it runs. */
static bool alike(int n, const onnx_value *yes, const onnx_value *no)
{
    for (int i = 0; i < n; i++)
        if (yes[i].list || no[i].list ||
            (yes[i].node && no[i].node && !type_equal(&yes[i].node->type, &no[i].node->type)))
            return false;
    return true;
}

static bool make_if(const onnx_call *c, onnx_value *out, err *e)
{
    truth t;
    if (!known_truth(c, c->in[0], "condition", &t, e))
        return false;
    if (t != LATER)
        return c->pass(c, &(onnx_pass){t == YES ? "then_branch" : "else_branch", 0, c->n_out, NULL, out}, e);
    onnx_value *yes = values(c, c->n_out), *no = values(c, c->n_out);
    if (!c->pass(c, &(onnx_pass){"then_branch", 0, c->n_out, NULL, yes}, e) ||
        !c->pass(c, &(onnx_pass){"else_branch", 0, c->n_out, NULL, no}, e))
        return false;
    const node *cond = as_scalar(c->g, c->in[0]); /* [] */
    const ts_array *now = alike(c->n_out, yes, no) ? NULL : g_needed(c->g, c->in[0]);
    if (now)
        memcpy(out, load_whole(TS_BOOL, now->data, 0) ? yes : no, (size_t)c->n_out * sizeof *out);
    for (int i = 0; i < c->n_out && !now; i++)
        if (!pick(c, cond, &yes[i], &no[i], &out[i], e))
            return false;
    return true;
}

/* ---- ONNX: what loops gather ---- */
typedef struct gathered {
    int n, cap;
    const node **item;
} gathered;

static void gather(const onnx_call *c, gathered *all, const node *n)
{
    all->item = arena_grown(&c->g->mem, all->item, all->n, &all->cap, sizeof *all->item);
    all->item[all->n++] = n;
}

/* The items along a new axis; like: what an item would be, if there is none. */
static const node *joined(graph *g, const gathered *all, const node *like, int64_t axis, bool backwards)
{
    if (all->n == 0) {
        type t = like->type;
        if (axis < 0)
            axis += t.rank + 1;
        if (axis < 0 || axis > t.rank || t.rank == MAX_RANK)
            return g_fail(g, TS_BAD_INPUT, "axis %lld of a result of rank %d, one from 0 to %d expected",
                          (long long)axis, t.rank + 1, t.rank);
        memmove(t.dim + axis + 1, t.dim + axis, (size_t)(t.rank - axis) * sizeof *t.dim);
        t.dim[axis] = 0, t.rank++;
        return g_const(g, "", &t, NULL);
    }
    for (int i = 0; backwards && i < all->n / 2; i++) {
        const node *n = all->item[i];
        all->item[i] = all->item[all->n - 1 - i], all->item[all->n - 1 - i] = n;
    }
    return g_callf(g, all->n, all->item, "stack axis=%lld", (long long)axis);
}

/* ---- ONNX: as scans ---- */
/* What becomes of a state: it keeps its shape, or trips do nothing with it but to add to its end, along an axis, or one
 * more to a list. What they add is gathered then. */
enum { KEPT = -1, LISTED = -2 };
typedef struct turn { /* one pass through a body, over what stands for a trip's values */
    const onnx_call *c;
    ts_scan *by;
    int n_state, along[MAX_PART]; /* of each state: KEPT, LISTED, or the axis */
    const node *state[MAX_PART], *number;
} turn;

/* For what is added to; a trip that reads it is none. */
static const node *unread(graph *g, int i, const type *t)
{
    return trip_bound(g, UNBOUNDED + i, t);
}

/* along: as the last turn found it */
static bool begin_turn(turn *t, const onnx_call *c, int64_t trips, int n_state, const onnx_value *first)
{
    t->c = c, t->by = ts_scan_begin(c->g, trips), t->n_state = n_state;
    bool ok = t->by && n_state <= MAX_PART;
    for (int i = 0; ok && i < n_state; i++) {
        if (first[i].list)
            t->along[i] = LISTED, ok = !first[i].list->rows;
        else if (first[i].node && t->along[i] != KEPT) {
            type any = first[i].node->type;
            any.dim[t->along[i]]++, t->state[i] = unread(c->g, i, &any);
        } else
            ok = first[i].node && (t->state[i] = ts_scan_state(t->by, first[i].node));
    }
    return ok;
}

static bool step_turn(turn *t, const onnx_value *next)
{
    bool ok = true;
    for (int i = 0; ok && i < t->n_state; i++)
        ok = t->along[i] != KEPT ? ts_scan_gather(t->by, next[i].node, false)
                                 : next[i].node && type_equal(&next[i].node->type, &t->state[i]->type) &&
                                       ts_scan_step(t->by, t->state[i], next[i].node);
    return ok;
}

/* Takes the n results if the loop became a scan. If not, undoes the attempt; the caller then unrolls the loop. */
static bool end_turn(const onnx_call *c, bool ok, int n, const onnx_value *result, onnx_value *out)
{
    ok = ok && !err_is(&c->g->err);
    if (!ok)
        c->g->err = (err){0}, c->g->waits = false;
    for (int i = 0; ok && i < n && i < c->n_out; i++)
        out[i] = result[i];
    return ok;
}

/* The axis that is first behind, or the first one to `to`. */
static const node *moved(graph *g, const node *x, int64_t from, int64_t to)
{
    int64_t axes[MAX_RANK];
    int n = 0;
    if (from == to || !x)
        return x;
    for (int i = 0; i < x->type.rank; i++)
        if (i != from)
            axes[n++] = i;
    memmove(axes + to + 1, axes + to, (size_t)(n - to) * sizeof *axes);
    axes[to] = from;
    return g_transpose(g, x, x->type.rank, axes);
}

/* ---- ONNX: Loop ---- */
typedef struct loop {
    const onnx_call *c;
    int n_state, n_scan;
    int64_t trips;
    const node *count; /* of trips, where that is known only at run time: trips is FOREVER */
    truth go;
    const node *active; /* while go is LATER: whether the loop still runs */
    onnx_value *in;     /* number of the trip, condition, state */
    onnx_value *out;    /* condition, state, what is gathered */
    gathered *scan;
} loop;

static bool begin_loop(loop *l, err *e)
{
    const onnx_call *c = l->c;
    const node *most = onnx_in(c, 0), *cond = onnx_in(c, 1);
    l->trips = FOREVER, l->go = YES;
    if (most && type_count(&most->type) == 1 && dtype_class(most->type.dtype) == D_WHOLE) {
        const ts_array *v = g_value(c->g, most, 1);
        l->trips = v ? load_whole(v->dtype, v->data, 0) : FOREVER;
        l->count = v ? NULL : g_cast(c->g, as_scalar(c->g, most), TS_I64);
    } else if (most)
        return operands_refuse(1, &most, e, "the number of trips, one integer,");
    if (cond && !known_truth(c, cond, "condition", &l->go, e))
        return false;
    l->active = l->go == LATER ? as_scalar(c->g, cond) : NULL;
    l->n_state = c->n_in > 2 ? c->n_in - 2 : 0;
    l->n_scan = c->n_out > l->n_state ? c->n_out - l->n_state : 0;
    l->in = values(c, 2 + l->n_state), l->out = values(c, 1 + l->n_state + l->n_scan);
    l->scan = arena_array(&c->g->mem, (size_t)l->n_scan + 1, sizeof *l->scan);
    for (int i = 0; i < l->n_state; i++)
        l->in[2 + i] = c->value[2 + i];
    return true;
}

static bool pass_loop(loop *l, int64_t trip, err *e)
{
    graph *g = l->c->g;
    l->in[0].node = g_const(g, "", &(type){.dtype = TS_I64}, &trip);
    l->in[1].node = l->active ? l->active : g_scalar(g, TS_BOOL, 1);
    return l->c->pass(l->c, &(onnx_pass){"body", 2 + l->n_state, 1 + l->n_state + l->n_scan, l->in, l->out}, e);
}

/* After a pass: its results become the state, unless the loop had ended before. */
static bool step_loop(loop *l, err *e)
{
    const onnx_call *c = l->c;
    truth next;
    if (!l->out[0].node || !known_truth(c, l->out[0].node, "condition", &next, e))
        return operands_refuse(NODES(l->out[0].node), e, "from the body a condition, one truth value,");
    for (int i = 0; i < l->n_scan; i++) {
        if (!l->out[1 + l->n_state + i].node)
            return err_set(e, TS_BAD_INPUT,
                           "what the loop gathers in output %d is a list, a tensor of each trip expected",
                           l->n_state + i + 1);
        gather(c, &l->scan[i], l->out[1 + l->n_state + i].node);
    }
    for (int i = 0; i < l->n_state; i++) {
        onnx_value kept = l->out[1 + i];
        if (l->active && !pick(c, l->active, &l->out[1 + i], &l->in[2 + i], &kept, e))
            return false;
        l->in[2 + i] = kept;
    }
    if (next == NO && !l->active)
        l->go = NO;
    else if (next == LATER || l->active) {
        const node *more = as_scalar(c->g, l->out[0].node); /* [] */
        l->active = l->active ? g_call2(c->g, "logical_and", l->active, more) : more;
        l->go = LATER;
    }
    return true;
}

/* Results of a loop that makes no trip have the types that one would have given. */
static bool like_items(loop *l, err *e)
{
    for (int i = 0; i < l->n_scan; i++)
        if (l->scan[i].n == 0)
            return pass_loop(l, 0, e);
    return true;
}

static const node *both(graph *g, const node *a, const node *b) /* truth values, either of which may be NULL */
{
    return a && b ? g_call2(g, "logical_and", a, b) : a ? a : b;
}

/* Whether another trip follows, where something of run time says so; NULL: nothing does. */
static const node *goes_on(const loop *l, const node *trip, const node *condition)
{
    graph *g = l->c->g;
    const node *next = l->count ? g_call2(g, "add", trip, g_scalar(g, TS_I64, 1)) : NULL;    /* [] */
    const node *more = both(g, next ? g_call2(g, "less", next, l->count) : NULL, condition); /* [] */
    return both(g, more, l->active);
}

static bool within_trip(const node *n) /* it reads what a trip binds */
{
    int count;
    ENDED_BY(heap_free) const node **need = g_reached_make(1, &n, &count);
    bool is = false;
    for (int i = 0; i < count; i++)
        is = is || (need[i]->leaf && need[i]->leaf->bound);
    return is;
}

/* Whether n is x[i] of what all trips read, by a trip's number i. */
static bool is_row(const turn *t, const node *n, int *axis)
{
    return n->op == op_find("gather") && n->in[1] == t->number &&
           attr_axis(n, "axis", n->in[0]->type.rank, axis, NULL) && !within_trip(n->in[0]);
}

/* n as a row of what a trip may slice: of x[i] x has as many places as there are trips, or more. NULL: it is something
 * else. */
static const node *sliced(const turn *t, const node *n, int64_t trips)
{
    graph *g = t->c->g;
    int axis;
    if (!is_row(t, n, &axis) || n->in[0]->type.dim[axis] < trips)
        return NULL;
    const node *rows = g_part(g, moved(g, n->in[0], axis, 0), 0, 0, trips); /* [trips, ...] */
    return rows ? ts_scan_slice(t->by, rows, false) : NULL;
}

/* Makes trips read slices instead of gathering rows: no formula then has a varying extent, and no place a check. */
static bool slice_rows(const turn *t, int64_t trips, int n, onnx_value *out)
{
    graph *g = t->c->g;
    int count, k = 0;
    const node **root = arena_array(&g->mem, (size_t)n + 1, sizeof *root);
    for (int i = 0; i < n; i++)
        if (!(root[i] = out[i].node))
            return false;
    const node **all = g_reached_make(n, root, &count), **from = heap_array(2 * (size_t)count + 1, sizeof *from),
               **to = from + count;
    for (int i = 0; i < count; i++)
        if ((to[k] = sliced(t, all[i], trips)))
            from[k++] = all[i];
    const bool ok = g_replace(g, n, root, k, from, to, root);
    for (int i = 0; ok && i < n; i++)
        out[i].node = root[i];
    free(all), free(from);
    return ok;
}

/* The fewest rows of what trips read by their number; UNBOUNDED: they read nothing so. */
static int64_t fewest_rows(const turn *t, int n, const onnx_value *out)
{
    int64_t fewest = UNBOUNDED;
    for (int i = 0; i < n; i++) {
        int count, axis;
        ENDED_BY(heap_free) const node **all = g_reached_make(1, &out[i].node, &count);
        for (int k = 0; k < count; k++)
            if (is_row(t, all[k], &axis))
                fewest = int_min(fewest, all[k]->in[0]->type.dim[axis]);
    }
    return fewest;
}

/* The count with a check: the last trip is a place among `rows` rows, so a run refuses a count above that. */
static const node *count_within(graph *g, const node *count, int64_t rows)
{
    int64_t *place = arena_array(&g->mem, (size_t)rows, sizeof *place);
    for (int64_t i = 0; i < rows; i++)
        place[i] = i;
    const node *all = g_const(g, "", &(type){.dtype = TS_I64, .rank = 1, .dim = {rows}}, place); /* [rows] */
    const node *none = g_scalar(g, TS_I64, 0), *one = g_scalar(g, TS_I64, 1);                    /* [] */
    const node *last = g_call2(g, "maximum", g_call2(g, "subtract", count, one), none);          /* [] */
    const node *within = g_call2(g, "add", g_call2(g, "gather axis=0", all, last), one);
    return g_call3(g, "where", g_call2(g, "greater", count, none), within, count);
}

/* ---- ONNX: what trips add to ---- */
static void all_kept(turn *t)
{
    for (int i = 0; i < MAX_PART; i++)
        t->along[i] = KEPT;
}

/* Whether a next value is as the state is but for more along one axis; which */
static bool has_more(const node *now, const node *next, int *axis)
{
    const type *a = &now->type, *b = &next->type;
    int n = 0, last = 0;
    for (int i = 0; i < a->rank && a->rank == b->rank; i++)
        if (a->dim[i] != b->dim[i])
            n += 1 + (a->dim[i] > b->dim[i]), last = i;
    if (n != 1 || a->dtype != b->dtype)
        return false;
    *axis = last;
    return true;
}

/* What a next value has behind what it was, that being nothing but its beginning; NULL: it is something else */
static const node *added(const turn *t, int i, const onnx_value *was, const onnx_value *next)
{
    const onnx_list *l = was->list, *now = next->list;
    const node *n = next->node;
    int axis;
    if (t->along[i] == LISTED) {
        bool longer = now && !now->rows && now->n == l->n + 1;
        for (int k = 0; longer && k < l->n; k++)
            longer = now->item[k].node == l->item[k].node;
        return longer ? now->item[l->n].node : NULL;
    }
    const bool longer = n && n->op == op_find("concat") && n->in[0] == t->state[i] && n->n_in > 1 &&
                        attr_axis(n, "axis", n->type.rank, &axis, NULL) && axis == t->along[i];
    return longer ? g_joined(t->c->g, n->n_in - 1, n->in + 1, axis) : NULL;
}

static const onnx_list *list_of(const onnx_call *c, int n, int state) /* nothing that it holds may be read */
{
    onnx_list *l = arena_get(&c->g->mem, sizeof *l);
    onnx_value *item = values(c, n);
    for (int i = 0; i < n; i++)
        item[i].node = unread(c->g, state, &(type){.dtype = TS_BOOL});
    *l = (onnx_list){.dtype = TS_N_DTYPE, .n = n, .item = item};
    return l;
}

/* A pass over what stands for a trip's values, then what becomes of states that are added to is what is added. */
static bool attempt_turn(const turn *t, const onnx_pass *once, int length)
{
    onnx_value *in = (onnx_value *)(uintptr_t)once->in;
    err e = {0};
    for (int i = 0; i < t->n_state; i++)
        in[2 + i] = t->along[i] == LISTED ? (onnx_value){.list = list_of(t->c, length, i)}
                                          : (onnx_value){.node = t->state[i]};
    if (!t->c->attempt(t->c, once, &e))
        return false;
    for (int i = 0; i < t->n_state; i++)
        if (t->along[i] != KEPT)
            once->out[1 + i] = (onnx_value){.node = added(t, i, &in[2 + i], &once->out[1 + i])};
    return true;
}

static bool reads_added(const turn *t, const node *n)
{
    int count;
    ENDED_BY(heap_free) const node **need = g_reached_make(1, &n, &count);
    bool any = false;
    for (int i = 0; i < t->n_state; i++)
        for (int k = 0; k < count && t->along[i] >= 0; k++)
            any = any || need[k] == t->state[i];
    return any;
}

/* It is the same for lists of two lengths: what a trip computes does not depend on how long they are by then. */
static bool attempt_lists(const turn *t, const onnx_pass *once)
{
    onnx_pass again = *once;
    bool same = attempt_turn(t, once, 0), any = false;
    for (int i = 0; i < t->n_state; i++)
        any = any || t->along[i] == LISTED;
    again.out = values(t->c, once->n_out);
    same = same && (!any || attempt_turn(t, &again, 1));
    for (int i = 0; same && i < once->n_out; i++)
        same = once->out[i].node && (!any || once->out[i].node == again.out[i].node) &&
               !reads_added(t, once->out[i].node);
    return same;
}

/* rows [trips, ...], each behind the one before along an axis: [..., trips * each, ...], behind what was there first */
static const node *in_a_row(graph *g, const node *first, const node *rows, int axis)
{
    type t = trip_row(&rows->type);
    const bool fits = int_mul(t.dim[axis], rows->type.dim[0], &t.dim[axis]);
    const node *all = fits ? moved(g, rows, 0, axis) : NULL;
    all = all ? g_reshape(g, all, t.rank, t.dim) : NULL;
    return all && first->type.dim[axis] ? g_joined(g, NODES(first, all), axis) : all;
}

static onnx_value with_added(const onnx_call *c, const onnx_value *first, const node *rows, int along)
{
    if (along != LISTED)
        return (onnx_value){.node = in_a_row(c->g, first->node, rows, along)};
    onnx_list *l = arena_get(&c->g->mem, sizeof *l);
    *l = *first->list, l->rows = rows;
    return (onnx_value){.list = l};
}

/* ---- ONNX: a loop as a scan ---- */
/* Turns until the states that grow are found, each by what a trip makes of it. */
static bool turn_loop(const loop *l, turn *t, int64_t trips, const onnx_pass *once)
{
    onnx_value *in = (onnx_value *)(uintptr_t)once->in;
    bool found = false;
    all_kept(t);
    while (!found) {
        if (!begin_turn(t, l->c, trips, l->n_state, l->in + 2))
            return false;
        in[0].node = t->number = ts_scan_trip(t->by), in[1].node = g_scalar(l->c->g, TS_BOOL, 1);
        if (!attempt_lists(t, once))
            return false;
        found = true;
        for (int i = 0; i < l->n_state; i++)
            if (t->along[i] == KEPT && once->out[1 + i].node &&
                has_more(t->state[i], once->out[1 + i].node, &t->along[i]))
                found = false;
    }
    return true;
}

static int n_added(const turn *t)
{
    int n = 0;
    for (int i = 0; i < t->n_state; i++)
        n += t->along[i] != KEPT;
    return n;
}

/* What is known only at run time ends it, where nothing is gathered that would have fewer rows: a count may then be any
 * number. */
static bool try_loop(loop *l, onnx_value *result)
{
    const onnx_call *c = l->c;
    graph *g = c->g;
    turn t;
    truth next = NO;
    err e = {0};
    onnx_value *in = values(c, 2 + l->n_state), *out = values(c, 1 + l->n_state + l->n_scan);
    const onnx_pass once = {"body", 2 + l->n_state, 1 + l->n_state + l->n_scan, in, out};
    const node *made[3 * MAX_PART];
    int64_t trips = l->trips == FOREVER ? UNBOUNDED : l->trips;
    if (l->n_state + l->n_scan == 0 || l->n_scan > MAX_PART || !turn_loop(l, &t, trips, &once) || !out[0].node ||
        !known_truth(c, out[0].node, "condition", &next, &e))
        return false;
    /* With varying extents trips have to read slices. With a condition they may not: it may end the loop before rows
     * run out. */
    const int64_t rows = l->count && g->looped && next == YES && !l->active ? fewest_rows(&t, once.n_out, out)
                                                                            : UNBOUNDED;
    if (rows < UNBOUNDED)
        scan_trips(t.by, trips = rows), l->count = count_within(g, l->count, rows);
    if (!slice_rows(&t, trips, once.n_out, out) || !step_turn(&t, out + 1))
        return false;
    for (int i = 0; i < l->n_scan; i++)
        if (!ts_scan_gather(t.by, out[1 + l->n_state + i].node, false))
            return false;
    const node *more = goes_on(l, in[0].node, next == LATER ? as_scalar(g, out[0].node) : NULL); /* [] */
    if (more)
        ts_scan_until(t.by, g_call1(g, "logical_not", more));
    const int n_row = n_added(&t) + l->n_scan, n_kept = l->n_state - n_added(&t);
    if (next == NO || (n_row && more) || !ts_scan_end(t.by, made))
        return false;
    /* [] */
    const node *any = both(g, l->count ? g_call2(g, "greater", l->count, g_scalar(g, TS_I64, 0)) : NULL, l->active);
    for (int i = 0, kept = 0, row = n_kept; i < l->n_state; i++)
        if (t.along[i] != KEPT)
            result[i] = with_added(c, &l->in[2 + i], made[row++], t.along[i]);
        else if (result[i].node = made[kept++], any) /* perhaps it makes no trip */
            result[i].node = g_call3(g, "where", any, result[i].node, l->in[2 + i].node);
    for (int i = 0; i < l->n_scan; i++)
        result[l->n_state + i].node = made[n_kept + n_added(&t) + i];
    return true;
}

static bool may_be_scan(const loop *l)
{
    return (l->count || (!g_few_trips(l->c->g, l->trips) && l->trips <= MOST_TRIPS)) && l->go != NO;
}

static bool make_loop(const onnx_call *c, onnx_value *out, err *e)
{
    loop l = {.c = c};
    if (!begin_loop(&l, e))
        return false;
    onnx_value *result = values(c, l.n_state + l.n_scan);
    if (may_be_scan(&l) && end_turn(c, try_loop(&l, result), l.n_state + l.n_scan, result, out))
        return true;
    const ts_array *trips = l.count ? g_needed(c->g, l.count) : NULL;
    if (trips)
        l.trips = load_whole(TS_I64, trips->data, 0);
    if (l.count && !trips)
        return g_wait(c->g, e, "the number of trips is known only at run time%s",
                      l.n_scan ? ", and it gathers a result for every trip" : "");
    for (int64_t trip = 0; trip < l.trips && l.go != NO; trip++) {
        if (l.go == LATER && (l.trips == FOREVER || l.n_scan > 0))
            return g_wait(c->g, e, "its end is known only at run time, and %s",
                          l.n_scan ? "it gathers a result for every trip" : "nothing bounds it");
        if (!pass_loop(&l, trip, e) || !step_loop(&l, e))
            return false;
    }
    for (int i = 0; i < l.n_state && i < c->n_out; i++)
        out[i] = l.in[2 + i];
    if (!like_items(&l, e))
        return false;
    for (int i = 0; i < l.n_scan; i++)
        out[l.n_state + i].node = joined(c->g, &l.scan[i], l.out[1 + l.n_state + i].node, 0, false);
    return true;
}

/* ---- ONNX: Scan ---- */
enum { MOST_SCANNED = 64 };

typedef struct scan {
    const onnx_call *c;
    int n_state, n_in, n_out; /* of them: state, scanned inputs, gathered outputs */
    int64_t axis_in[MOST_SCANNED], axis_out[MOST_SCANNED], back_in[MOST_SCANNED], back_out[MOST_SCANNED];
    int64_t trips;
} scan;

static bool read_list(const onnx_call *c, const char *name, int64_t *out, int want, err *e)
{
    int n;
    memset(out, 0, MOST_SCANNED * sizeof *out);
    if (!onnx_attr(c, name))
        return true;
    return onnx_ints(c, name, -1, out, MOST_SCANNED, &n, e) &&
           (n == want || err_set(e, TS_BAD_INPUT, "%s has %d entries, expected %d", name, n, want));
}

static bool begin_scan(scan *s, err *e)
{
    const onnx_call *c = s->c;
    const int64_t n = onnx_int(c, "num_scan_inputs", 0);
    if (n < 1 || n > c->n_in || n > MOST_SCANNED)
        return err_set(e, TS_BAD_INPUT, "num_scan_inputs is %lld of %d inputs, 1 to all of them expected", (long long)n,
                       c->n_in);
    s->n_in = (int)n, s->n_state = c->n_in - s->n_in, s->n_out = c->n_out - s->n_state;
    if (s->n_out > MOST_SCANNED)
        return err_set(e, TS_UNSUPPORTED, "%d gathered outputs, at most %d expected", s->n_out, MOST_SCANNED);
    s->n_out = s->n_out > 0 ? s->n_out : 0;
    if (!onnx_need(c, c->n_in, e) || !read_list(c, "scan_input_axes", s->axis_in, s->n_in, e) ||
        !read_list(c, "scan_output_axes", s->axis_out, s->n_out, e) ||
        !read_list(c, c->version < 9 ? "directions" : "scan_input_directions", s->back_in, s->n_in, e) ||
        !read_list(c, "scan_output_directions", s->back_out, s->n_out, e))
        return false;
    for (int i = 0; i < s->n_in; i++) {
        const type *t = &c->in[s->n_state + i]->type;
        int axis;
        if (!axis_norm(s->axis_in[i], t->rank, &axis, e))
            return err_in(e, "scan_input_axes");
        s->axis_in[i] = axis;
        if (i > 0 && t->dim[axis] != s->trips)
            return err_set(e, TS_BAD_INPUT, "scanned inputs have %lld and %lld entries, equally many expected",
                           (long long)s->trips, (long long)t->dim[axis]);
        s->trips = t->dim[axis];
    }
    return true;
}

/* Entry `at` of x along an axis. */
static const node *entry(graph *g, const node *x, int64_t axis, int64_t at)
{
    const node *one = g_part(g, x, (int)axis, at, 1); /* [..., 1 at the axis, ...] */
    return g_callf(g, 1, &one, "squeeze axes=[%lld]", (long long)axis);
}

static bool pass_scan(const scan *s, int64_t trip, onnx_value *in, onnx_value *out, err *e)
{
    const onnx_call *c = s->c;
    for (int i = 0; i < s->n_in; i++) {
        const node *x = c->in[s->n_state + i];
        if (s->trips > 0) {
            in[s->n_state + i].node = entry(c->g, x, s->axis_in[i], s->back_in[i] ? s->trips - 1 - trip : trip);
            continue;
        }
        type t = x->type; /* no entry to look at: one of zeros has the right type */
        memmove(t.dim + s->axis_in[i], t.dim + s->axis_in[i] + 1, (size_t)(t.rank - 1 - s->axis_in[i]) * sizeof *t.dim);
        t.rank--;
        in[s->n_state + i].node = g_filled(c->g, &t, 0);
    }
    return c->pass(c, &(onnx_pass){"body", c->n_in, s->n_state + s->n_out, in, out}, e);
}

static bool try_scan(const scan *s, onnx_value *result)
{
    const onnx_call *c = s->c;
    graph *g = c->g;
    turn t;
    const node *made[2 * MAX_PART];
    all_kept(&t);
    err e = {0};
    onnx_value *in = values(c, c->n_in), *out = values(c, s->n_state + s->n_out);
    if (!begin_turn(&t, c, s->trips, s->n_state, c->value))
        return false;
    for (int i = 0; i < s->n_state; i++)
        in[i].node = t.state[i];
    for (int i = 0; i < s->n_in; i++) {
        const node *x = moved(g, c->in[s->n_state + i], s->axis_in[i], 0); /* [trips, ...] */
        in[s->n_state + i].node = ts_scan_slice(t.by, x, s->back_in[i] != 0);
    }
    const onnx_pass once = {"body", c->n_in, s->n_state + s->n_out, in, out};
    if (err_is(&g->err) || !c->attempt(c, &once, &e) || !step_turn(&t, out))
        return false;
    for (int i = 0; i < s->n_out; i++)
        if (!out[s->n_state + i].node || !ts_scan_gather(t.by, out[s->n_state + i].node, s->back_out[i] != 0))
            return false;
    if (!ts_scan_end(t.by, made))
        return false;
    for (int i = 0; i < s->n_state + s->n_out; i++) {
        int axis = 0;
        if (i >= s->n_state && !axis_norm(s->axis_out[i - s->n_state], made[i]->type.rank, &axis, &e))
            return false;
        result[i].node = moved(g, made[i], 0, axis);
    }
    return true;
}

static bool make_scan(const onnx_call *c, onnx_value *out, err *e)
{
    scan s = {.c = c};
    gathered all[MOST_SCANNED] = {{0}};
    if (!begin_scan(&s, e))
        return false;
    onnx_value *result = values(c, s.n_state + s.n_out);
    if (!g_few_trips(c->g, s.trips) && s.trips <= MOST_TRIPS &&
        end_turn(c, try_scan(&s, result), s.n_state + s.n_out, result, out))
        return true;
    onnx_value *in = values(c, c->n_in), *got = values(c, s.n_state + s.n_out);
    for (int i = 0; i < s.n_state; i++)
        in[i] = c->value[i];
    for (int64_t trip = 0; trip < s.trips || (trip == 0 && s.n_out > 0); trip++) {
        if (!pass_scan(&s, trip, in, got, e))
            return false;
        for (int i = 0; trip < s.trips && i < s.n_state; i++)
            in[i] = got[i];
        for (int i = 0; i < s.n_out; i++) {
            if (!got[s.n_state + i].node)
                return err_set(e, TS_BAD_INPUT, "output %d of the body is a list, a tensor expected",
                               s.n_state + i + 1);
            if (trip < s.trips)
                gather(c, &all[i], got[s.n_state + i].node);
        }
    }
    for (int i = 0; i < s.n_state && i < c->n_out; i++)
        out[i] = in[i];
    for (int i = 0; i < s.n_out; i++)
        out[s.n_state + i].node = joined(c->g, &all[i], got[s.n_state + i].node, s.axis_out[i], s.back_out[i] != 0);
    return true;
}

/* Version 8 scans every entry of a batch by itself, along axis 1. */
static bool make_scan_8(const onnx_call *c, onnx_value *out, err *e)
{
    if (onnx_in(c, 0))
        return err_set(e, TS_UNSUPPORTED,
                       "sequence_lens, lengths of entries, is given; leave operand 1 out where all have one length");
    const int n = c->n_in - 1;
    if (n < 1 || !c->in[1] || c->in[1]->type.rank < 1)
        return err_set(e, TS_BAD_INPUT, "Scan without an operand that has a batch, at least one expected");
    const int64_t batch = c->in[1]->type.dim[0];
    gathered all[MOST_SCANNED] = {{0}};
    if (c->n_out > MOST_SCANNED)
        return err_set(e, TS_UNSUPPORTED, "%d outputs, at most %d expected", c->n_out, MOST_SCANNED);
    for (int64_t b = 0; b < batch; b++) {
        onnx_value *in = values(c, n), *got = values(c, c->n_out);
        const node **node_in = arena_array(&c->g->mem, (size_t)n + 1, sizeof *node_in);
        for (int i = 0; i < n; i++) {
            if (!c->in[1 + i] || c->in[1 + i]->type.rank < 1 || c->in[1 + i]->type.dim[0] != batch)
                return operands_refuse(n, c->in + 1, e, "behind the lengths a batch of %lld each", (long long)batch);
            in[i].node = node_in[i] = entry(c->g, c->in[1 + i], 0, b);
        }
        onnx_call one = *c;
        one.n_in = n, one.in = node_in, one.value = in;
        if (!make_scan(&one, got, e))
            return false;
        for (int i = 0; i < c->n_out; i++)
            gather(c, &all[i], got[i].node);
    }
    for (int i = 0; i < c->n_out; i++)
        out[i].node = batch ? joined(c->g, &all[i], NULL, 0, false) : NULL;
    return batch > 0 || err_set(e, TS_UNSUPPORTED, "an empty batch, one with an entry expected");
}

/* ---- records ---- */
const op ops_flow[] = {
    {.call = "flow",
     .doc = "Branches and loops of a file, resolved while its graph is built.",
     .formed = FORMED({"If 1 - 1 >* else_branch then_branch", make_if}, {"Loop 1 - 0.. >* body", make_loop},
                      {"Scan 8 - 0.. >* body directions num_scan_inputs scan_input_axes scan_input_directions "
                       "scan_output_axes scan_output_directions",
                       make_scan_8},
                      {"Scan 9 - 0.. >* body directions num_scan_inputs scan_input_axes scan_input_directions "
                       "scan_output_axes scan_output_directions",
                       make_scan})},
    {0},
};
