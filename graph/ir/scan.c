/* scan.c - building scans: what one trip computes is built once, over stand-ins for states, rows and the trip's number,
 * and becomes the trip of one node (graph/ir/trip.h). */
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdlib.h>
#include <string.h>

/* ---- building ---- */
struct ts_scan {
    graph *g;
    int number; /* among the graph's */
    int64_t trips, keep;
    int n_state, n_slice, n_row;
    struct {
        const node *first, *now, *next;
    } state[MAX_PART];
    struct {
        const node *of, *now;
        int64_t back;
    } slice[MAX_PART];
    struct {
        const node *row;
        int64_t back, every;
    } row[MAX_PART];
    const node *trip, *until; /* stand-in of the number; NULL: nobody asked */
    bool ended;
};

/* What a trip is built over is told apart from what other scans are, until this one ends. */
static const node *stand_in(ts_scan *s, const char *what, int k, const type *t)
{
    const char *name = arena_format(&s->g->mem, "%s %d of scan %d", what, k, s->number);
    return g_leaf(s->g, op_find("trip_operand"), name, t, &(leaf){.kind = LEAF_INPUT, .bound = true});
}

static bool usable(ts_scan *s, const char *doing)
{
    if (!s || err_is(&s->g->err))
        return false;
    if (s->ended)
        g_fail(s->g, TS_USAGE, "scan: %s after its end", doing);
    return !s->ended;
}

static bool has_room(ts_scan *s, const char *what, int n)
{
    if (n == MAX_PART)
        g_fail(s->g, TS_UNSUPPORTED, "scan: %d %s, at most %d expected", n + 1, what, MAX_PART);
    return n < MAX_PART;
}

ts_scan *ts_scan_begin(ts_graph *g, int64_t trips)
{
    if (!g || err_is(&g->err))
        return NULL;
    if (trips < 0)
        return g_fail(g, TS_BAD_INPUT, "scan: %lld trips, expected 0 or more", (long long)trips), NULL;
    ts_scan *s = arena_get(&g->mem, sizeof *s);
    *s = (ts_scan){.g = g, .number = g->n_scan++, .trips = trips, .keep = 1};
    return s;
}

ts_tensor ts_scan_state(ts_scan *s, ts_tensor first)
{
    if (!usable(s, "a state") || !g_holds(s->g, "a trip", 1, &first) || !has_room(s, "states", s->n_state))
        return NULL;
    if (!first)
        return g_fail(s->g, TS_BAD_INPUT, "scan: state %d has no first value", s->n_state);
    const node *now = stand_in(s, "state", s->n_state, &first->type);
    s->state[s->n_state].first = first, s->state[s->n_state++].now = now;
    return now;
}

void scan_trips(ts_scan *s, int64_t trips)
{
    MUST(!s->n_slice);
    s->trips = trips;
}

ts_tensor ts_scan_slice(ts_scan *s, ts_tensor of, bool backwards)
{
    if (!usable(s, "a slice") || !g_holds(s->g, "a trip", 1, &of) || !has_room(s, "slices", s->n_slice))
        return NULL;
    if (!of || of->type.rank < 1 || of->type.dim[0] != s->trips)
        return g_fail(s->g, TS_BAD_INPUT, "scan: slice %d has %lld rows for %lld trips, expected one a trip",
                      s->n_slice, of && of->type.rank ? (long long)of->type.dim[0] : 0LL, (long long)s->trips);
    type t = {.dtype = of->type.dtype, .rank = of->type.rank - 1};
    memcpy(t.dim, of->type.dim + 1, (size_t)t.rank * sizeof *t.dim);
    const node *now = stand_in(s, "row", s->n_slice, &t);
    s->slice[s->n_slice].of = of, s->slice[s->n_slice].back = backwards, s->slice[s->n_slice++].now = now;
    return now;
}

ts_tensor ts_scan_trip(ts_scan *s)
{
    if (!usable(s, "the trip's number"))
        return NULL;
    return s->trip = stand_in(s, "trip", 0, &(type){.dtype = TS_I64});
}

bool ts_scan_step(ts_scan *s, ts_tensor state, ts_tensor next)
{
    if (!usable(s, "a step") || !g_holds(s->g, "a trip", 1, &next))
        return false;
    int i = 0;
    while (i < s->n_state && s->state[i].now != state)
        i++;
    if (i == s->n_state || !next)
        return g_fail(s->g, TS_BAD_INPUT, "scan: a step from what is no state of it, or to a tensor that is missing"),
               false;
    if (!type_equal(&next->type, &state->type)) {
        g_fail(s->g, TS_BAD_INPUT, "scan: state %d is %s, and a trip makes it %s", i, type_said(&state->type).s,
               type_said(&next->type).s);
        return err_hint(&s->g->err, "a state keeps its shape and dtype: cast or reshape the next value, or gather it");
    }
    s->state[i].next = next;
    return true;
}

static bool gather(ts_scan *s, const node *row, bool back, int64_t every)
{
    if (!usable(s, "a row") || !g_holds(s->g, "a trip", 1, &row) || !has_room(s, "rows", s->n_row))
        return false;
    if (!row)
        return g_fail(s->g, TS_BAD_INPUT, "scan: row %d is missing", s->n_row), false;
    s->row[s->n_row].row = row, s->row[s->n_row].back = back, s->row[s->n_row++].every = every;
    return true;
}

bool ts_scan_gather(ts_scan *s, ts_tensor row, bool backwards)
{
    return gather(s, row, backwards, 1);
}

bool scan_gather_every(ts_scan *s, const node *row, int64_t every)
{
    return gather(s, row, false, every);
}

bool ts_scan_until(ts_scan *s, ts_tensor last)
{
    if (!usable(s, "until") || !g_holds(s->g, "a trip", 1, &last))
        return false;
    if (!last || last->type.rank || last->type.dtype != TS_BOOL)
        return operands_refuse(1, &last, &s->g->err, "scan: one truth value for until");
    s->until = last;
    return true;
}

bool ts_scan_keep(ts_scan *s, int64_t every)
{
    if (!usable(s, "keep"))
        return false;
    if (every < 0)
        return g_fail(s->g, TS_BAD_INPUT, "scan: keep is %lld, expected 0 or more", (long long)every), false;
    s->keep = every;
    return true;
}

/* ---- closing a trip ---- */
typedef struct closing {
    ts_scan *s;
    int n_root, n_in;
    const node *root[2 * MAX_PART + 1], *in[MAX_PART + 1];
    int n_pair;
    const node **from, **to; /* stand-ins and captured values, and what is bound in their place */
    bool *inside;            /* by id: it depends on a stand-in of this scan */
    bool *fixed;             /* by id: on weights and constants alone */
} closing;

static bool is_own(const ts_scan *s, const node *n)
{
    bool own = n == s->trip;
    for (int i = 0; i < s->n_state && !own; i++)
        own = s->state[i].now == n;
    for (int i = 0; i < s->n_slice && !own; i++)
        own = s->slice[i].now == n;
    return own;
}

static void find_inside(closing *c)
{
    const graph *g = c->s->g;
    for (int id = 0; id < g->n; id++) {
        const node *n = g->node[id];
        c->inside[id] = n->leaf && n->leaf->bound && is_own(c->s, n);
        c->fixed[id] = n->leaf ? n->leaf->kind != LEAF_INPUT : n->n_in > 0;
        for (int i = 0; i < n->n_in; i++) {
            c->inside[id] = c->inside[id] || c->inside[n->in[i]->id];
            c->fixed[id] = c->fixed[id] && c->fixed[n->in[i]->id];
        }
    }
}

static bool pair(closing *c, const node *from, const node *to)
{
    c->from[c->n_pair] = from, c->to[c->n_pair++] = to;
    return to != NULL;
}

/* All elements of a weight in another order or shape */
static bool turned(const node *n)
{
    while (!n->leaf && n->n_in == 1 && type_count(&n->type) == type_count(&n->in[0]->type))
        n = n->in[0];
    return n->leaf != NULL;
}

/* A weight that is turned stays one, within the trip: a plan of it lays it out, once. Parts are taken outside. */
static bool capture(closing *c, const node *n)
{
    bool ok = true;
    for (int i = 0; i < c->n_pair; i++)
        if (c->from[i] == n)
            return true;
    if (c->inside[n->id] || (n->leaf && n->leaf->kind == LEAF_CONST && type_count(&n->type) <= 1))
        return true;
    if (!n->leaf && c->fixed[n->id] && turned(n)) {
        for (int i = 0; ok && i < n->n_in; i++)
            ok = capture(c, n->in[i]);
        return ok;
    }
    if (c->n_in == MAX_PART)
        return g_fail(c->s->g, TS_UNSUPPORTED, "scan: %d operands or more, at most %d expected", MAX_PART + 1,
                      MAX_PART),
               false;
    c->in[c->n_in] = n;
    return pair(c, n, trip_bound(c->s->g, c->n_in++, &n->type));
}

/* What a trip reads from outside, down to what it computes itself. */
static bool capture_all(closing *c)
{
    int n;
    ENDED_BY(heap_free) const node **need = g_reached_make(c->n_root, c->root, &n);
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        for (int k = 0; ok && c->inside[need[i]->id] && k < need[i]->n_in; k++)
            ok = capture(c, need[i]->in[k]);
    for (int i = 0; ok && i < c->n_root; i++)
        ok = capture(c, c->root[i]);
    return ok;
}

static bool gather_parts(closing *c)
{
    ts_scan *s = c->s;
    graph *g = s->g;
    for (int i = 0; i < s->n_state; i++) {
        c->root[c->n_root++] = s->state[i].next ? s->state[i].next : s->state[i].now;
        c->in[c->n_in] = s->state[i].first;
        if (!pair(c, s->state[i].now, trip_bound(g, c->n_in++, &s->state[i].first->type)))
            return false;
    }
    if (s->n_state + s->n_slice > MAX_PART)
        return g_fail(g, TS_UNSUPPORTED, "scan: %d operands, at most %d expected", s->n_state + s->n_slice, MAX_PART),
               false;
    for (int i = 0; i < s->n_slice; i++) {
        c->in[c->n_in] = s->slice[i].of;
        if (!pair(c, s->slice[i].now, trip_bound(g, c->n_in++, &s->slice[i].now->type)))
            return false;
    }
    for (int i = 0; i < s->n_row; i++)
        c->root[c->n_root++] = s->row[i].row;
    if (s->until)
        c->root[c->n_root++] = s->until;
    return true;
}

static const node *close_trip(closing *c)
{
    ts_scan *s = c->s;
    graph *g = s->g;
    int64_t slice[MAX_PART], row[MAX_PART], every[MAX_PART];
    bool sparse = false;
    const node *own[2 * MAX_PART + 1];
    if (!gather_parts(c))
        return NULL;
    if (!c->n_root)
        return g_fail(g, TS_BAD_INPUT, "scan: 0 states and 0 gathered rows, at least one of them expected");
    if (!capture_all(c))
        return NULL;
    if (s->trip && !pair(c, s->trip, trip_bound(g, c->n_in, &s->trip->type)))
        return NULL;
    if (!g_replace(g, c->n_root, c->root, c->n_pair, c->from, c->to, own))
        return NULL;
    for (int i = 0; i < s->n_slice; i++)
        slice[i] = s->slice[i].back;
    for (int i = 0; i < s->n_row; i++)
        row[i] = s->row[i].back, every[i] = s->row[i].every, sparse = sparse || every[i] > 1;
    const attr list[] = {attr_int("trips", s->trips),
                         attr_int("states", s->n_state),
                         attr_ints("slices", s->n_slice, slice),
                         attr_ints("rows", s->n_row, row),
                         attr_int("until", s->until != NULL),
                         attr_int("keep", s->keep),
                         attr_ints("every", sparse ? s->n_row : 0, every)};
    return g_make_scan(g, &scan_op, c->n_in, c->in, list, COUNT(list), &(scan_trip){c->n_root, own});
}

bool ts_scan_end(ts_scan *s, ts_tensor *out)
{
    if (!usable(s, "its end"))
        return false;
    const size_t n = (size_t)s->g->n + 4 * MAX_PART;
    closing c = {.s = s,
                 .from = heap_array(n, sizeof *c.from),
                 .to = heap_array(n, sizeof *c.to),
                 .inside = heap_array(n, 1),
                 .fixed = heap_array(n, 1)};
    find_inside(&c);
    const int count = s->g->n;
    const node *made = close_trip(&c);
    for (int id = 0; id < count; id++)
        if (c.inside[id])
            s->g->made[id]->past = s->number + 1;
    s->ended = true;
    for (int i = 0; i < s->n_state + s->n_row; i++)
        out[i] = made ? custom_output(s->g, made, i) : NULL;
    free((void *)c.from), free((void *)c.to), free(c.inside), free(c.fixed);
    return made != NULL && !err_is(&s->g->err);
}

bool trips_ended(graph *g, const char *what, int n, const node *const *root)
{
    int count;
    ENDED_BY(heap_free) const node **need = g_reached_make(n, root, &count);
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        if (need[i]->leaf && need[i]->leaf->bound) {
            g_fail(g, TS_BAD_INPUT, "%s: it depends on %s, which has not ended", what, need[i]->label);
            ok = err_hint(&g->err, "call ts_scan_end, and take what that gives");
        }
    return ok;
}

/* ---- body ---- */
static bool iterate_shape(const node *n, type *out, err *e) /* with a trip: trip_infer */
{
    (void)n, (void)out;
    return err_set(e, TS_BAD_INPUT, "it has no trip: ts_scan_begin makes one");
}

static const expr *iterate_body(defn *d)
{
    return defn_routine(d, &(routine){.name = d->node->op->name, .wides = true});
}

/* ---- record ---- */
const op scan_op = {
    .name = "iterate",
    .doc = "A loop: trips one after the other, with states that each hands to the next, rows that each takes, and rows "
           "that each gives.",
    .arity = -1,
    .attr = (const attr_spec[]){{"trips", 'i', NULL},
                                {"states", 'i', NULL},
                                {"slices", 'I', "[]"},
                                {"rows", 'I', "[]"},
                                {"until", 'i', "0"},
                                {"every", 'I', "[]"},
                                {"keep", 'i', "1"},
                                {0}},
    .shape = iterate_shape,
    .body = iterate_body};
