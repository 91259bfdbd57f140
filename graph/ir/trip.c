/* trip.c - scans: what their parts are, and whether they fit. */
#include "graph/ir/trip.h"
#include "graph/ir/custom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

scan_form scan_form_of(const node *n)
{
    const attr *slice = node_attr(n, "slices"), *row = node_attr(n, "rows"), *every = node_attr(n, "every");
    return (scan_form){.trips = node_int(n, "trips"),
                       .n_state = (int)node_int(n, "states"),
                       .n_slice = slice->n,
                       .n_row = row->n,
                       .slice = slice->ints,
                       .row = row->ints,
                       .every = every->n == row->n && row->n ? every->ints : NULL,
                       .until = node_int(n, "until") != 0,
                       .keep = node_int(n, "keep")};
}

static int64_t every_of(const scan_form *f, int i)
{
    return f->every ? f->every[i] : 1;
}

int64_t scan_place(const scan_form *f, int i, int64_t t)
{
    const int64_t k = every_of(f, i);
    return k > 1 ? (t + k - 1) / k : f->row[i] ? f->trips - 1 - t : t;
}

int64_t scan_rows(const scan_form *f, int i)
{
    const int64_t k = every_of(f, i);
    return f->trips && k > 1 ? (f->trips - 1 + k - 1) / k + 1 : f->trips;
}

bool trip_same(const scan_trip *a, const scan_trip *b)
{
    bool same = a && b ? a->n_root == b->n_root : a == b;
    for (int i = 0; a && same && i < a->n_root; i++)
        same = a->root[i] == b->root[i];
    return same;
}

const node *trip_bound(graph *g, int64_t k, const type *t)
{
    char name[24];
    snprintf(name, sizeof name, "%lld", (long long)k);
    return g_leaf(g, op_find("trip_operand"), name, t, &(leaf){.kind = LEAF_INPUT, .bound = true});
}

/* The label of a bound leaf is its number. */
int64_t trip_operand(const node *bound)
{
    return strtoll(bound->label, NULL, 10);
}

/* ---- types ---- */
/* Always false, so that a check can end with it. */
static bool differ(err *e, const char *what, int i, const type *is, const char *but, const type *wanted)
{
    return err_set(e, TS_BAD_INPUT, "%s %d is %s%s%s", what, i, type_said(is).s, but, type_said(wanted).s);
}

/* [trips, ...] -> [...] */
type trip_row(const type *t)
{
    type row = {.dtype = t->dtype, .rank = t->rank - 1};
    memcpy(row.dim, t->dim + 1, (size_t)row.rank * sizeof *row.dim);
    return row;
}

/* What stands for operand k within a trip */
static type bound_type(const node *n, const scan_form *f, int64_t k)
{
    if (k == n->n_in)
        return (type){.dtype = TS_I64};
    const bool sliced = k >= f->n_state && k < f->n_state + f->n_slice;
    return sliced ? trip_row(&n->in[k]->type) : n->in[k]->type;
}

static bool check_counts(const node *n, const scan_form *f, err *e)
{
    if (f->trips < 0)
        return err_set(e, TS_BAD_INPUT, "%lld trips, expected 0 or more", (long long)f->trips);
    if (n->n_in > MAX_PART)
        return err_set(e, TS_BAD_INPUT, "%d operands, at most %d expected", n->n_in, MAX_PART);
    if (f->n_state < 0 || f->n_state + f->n_slice > n->n_in)
        return err_set(e, TS_BAD_INPUT, "%d operands for %d states and %d slices, expected %d or more", n->n_in,
                       f->n_state, f->n_slice, f->n_state + f->n_slice);
    if (n->trip->n_root != f->n_state + f->n_row + f->until)
        return err_set(e, TS_BAD_INPUT, "its trip has %d results, not %d", n->trip->n_root,
                       f->n_state + f->n_row + f->until);
    for (int i = 0; i < f->n_row; i++)
        if (every_of(f, i) < 1 || (every_of(f, i) > 1 && f->row[i]))
            return err_set(e, TS_BAD_INPUT, "row %d is gathered every %lld trips, expected 1 or more, forwards", i,
                           (long long)every_of(f, i));
    if (f->n_state + f->n_row == 0)
        return err_set(e, TS_BAD_INPUT, "0 states and 0 gathered rows, at least one of them expected");
    return f->keep >= 0 || err_set(e, TS_BAD_INPUT, "keep is %lld, expected 0 or more", (long long)f->keep);
}

static bool check_slices(const node *n, const scan_form *f, err *e)
{
    for (int i = 0; i < f->n_slice; i++) {
        const type *t = &n->in[f->n_state + i]->type;
        if (t->rank < 1 || t->dim[0] != f->trips)
            return err_set(e, TS_BAD_INPUT, "slice %d has %lld rows for %lld trips, expected one a trip", i,
                           t->rank < 1 ? 0LL : (long long)t->dim[0], (long long)f->trips);
    }
    return true;
}

/* A trip is closed: its leaves are constants, its operands, and the number of the trip as operand n_in. */
static bool check_bound(const node *n, const scan_form *f, const node *x, err *e)
{
    const int64_t k = trip_operand(x);
    if (!x->leaf->bound)
        return x->leaf->kind == LEAF_CONST ||
               err_set(e, TS_BAD_INPUT, "its trip reads \"%s\", which is not one of its operands", x->label);
    if (k < 0 || k > n->n_in)
        return err_set(e, TS_BAD_INPUT, "its trip reads operand %s, expected 0 to %d", x->label, n->n_in);
    const type t = bound_type(n, f, k);
    return type_equal(&t, &x->type) || differ(e, "operand", (int)k, &t, ", and its trip takes ", &x->type);
}

static bool check_trip(const node *n, const scan_form *f, err *e)
{
    const scan_trip *t = n->trip;
    int count;
    const node **need = g_reached_make(t->n_root, t->root, &count);
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = !need[i]->leaf || check_bound(n, f, need[i], e);
    free(need);
    for (int i = 0; ok && i < f->n_state; i++)
        ok = type_equal(&t->root[i]->type, &n->in[i]->type) ||
             differ(e, "state", i, &n->in[i]->type, ", and a trip makes it ", &t->root[i]->type);
    const type *last = &t->root[t->n_root - 1]->type;
    if (ok && f->until && (last->rank || last->dtype != TS_BOOL))
        return err_set(e, TS_BAD_INPUT, "until takes one truth value, not %s of rank %d", ts_dtype_name(last->dtype),
                       last->rank);
    return ok;
}

/* States come out as they are after the last trip; rows get a first dimension, [rows, ...]. */
static bool output_types(graph *g, node *draft, const scan_form *f, err *e)
{
    const int count = f->n_state + f->n_row;
    ENDED_BY(heap_free) type *t = heap_array((size_t)count, sizeof *t);
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        t[i] = draft->trip->root[i]->type;
        if (i < f->n_state)
            continue;
        ok = t[i].rank < MAX_RANK || err_set(e, TS_BAD_INPUT, "row %d has rank %d, gathered at most %d", i - f->n_state,
                                             t[i].rank, MAX_RANK - 1);
        if (ok) {
            memmove(t[i].dim + 1, t[i].dim, (size_t)t[i].rank * sizeof *t[i].dim);
            t[i].dim[0] = scan_rows(f, i - f->n_state), t[i].rank++;
            ok = type_valid(&t[i], e);
        }
    }
    return ok && custom_pack(g, draft, count, t, e);
}

/* The caller's list of roots may live on its stack: the node gets a copy in the arena. */
bool trip_infer(graph *g, node *draft, err *e)
{
    const scan_form f = scan_form_of(draft);
    if (!check_counts(draft, &f, e) || !check_slices(draft, &f, e) || !check_trip(draft, &f, e))
        return false;
    scan_trip *t = arena_joined(&g->mem, draft->trip, 1, NULL, 0, sizeof *t);
    t->root = arena_joined(&g->mem, t->root, t->n_root, NULL, 0, sizeof *t->root), draft->trip = t;
    return output_types(g, draft, &f, e);
}
