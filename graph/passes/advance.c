/* advance.c - a computation over a whole sequence as one that goes on by a place at a time.
 *
 * A row of a node is its value at one place along an axis, kept with extent 1. Its definition, with that axis set to
 * the place, says what it reads: where an operand is read at the same place, a row of it; else all of the operand,
 * which is then kept from place to place and gets a row written in. What does not depend on the sequence is read as it
 * is. So attention keeps keys and values, and nothing knows that it is attention. Of a scan whose trips are the places
 * a row is one trip, from the states that the trip before left: those of all trips are kept, as anything is. */
#include "graph/ir/graph.h"
#include "graph/affine/linear.h"
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdlib.h>
#include <string.h>

typedef struct advancing {
    graph *g;
    int n; /* nodes that were there before */
    const node *in, *place;
    int in_axis;
    bool *depends;                /* by id: on the sequence */
    uint32_t *walks;              /* by id: axes along which places of the sequence go */
    const node *(*row)[MAX_RANK]; /* by id and axis */
    const node **whole;           /* by id: with the new row in it */
    const node *const **trip;     /* by id of a scan: what its trip at the place gives */
    ts_steps *out;
    err *e;
} advancing;

typedef struct rowing { /* one row being defined */
    advancing *a;
    const node *of;
    int axis;
    defn d;
} rowing;

static const node *row_of(advancing *a, const node *n, int axis);
static const node *whole_of(advancing *a, const node *n);

/* ---- which axes walk the sequence ---- */
/* An axis of one element is at 0; so a place that was split off and joined again is that place. */
static const expr *plain(const defn *d, const expr *x)
{
    const expr *arg[MAX_PART];
    if (x->kind == X_AXIS)
        return d->extent[x->axis] == 1 ? x_whole(d->mem, 0) : x;
    if (x->kind != X_CALL || x->n > 3)
        return x;
    for (int i = 0; i < x->n; i++)
        arg[i] = plain(d, x->arg[i]);
    return x_apply(d->mem, x->fn, x->n, arg);
}

static void find_scans(advancing *a, const defn *d, const expr *x)
{
    for (int i = 0; i < x->n; i++) {
        if (x->kind == X_LOAD && a->walks[x->from->id] >> i & 1) {
            const expr *s = plain(d, x->arg[i]);
            if (s->kind == X_AXIS && s->axis < d->node->type.rank)
                a->walks[d->node->id] |= 1u << s->axis;
        }
        find_scans(a, d, x->arg[i]);
    }
}

static int64_t places(const advancing *a)
{
    return a->in->type.dim[a->in_axis];
}

static bool refuse(advancing *a, const node *n, const char *why)
{
    return err_set(a->e, TS_UNSUPPORTED, "\"%s\" (%s) %s", n->label, n->op->name, why);
}

/* The scan of which n is an output, and which one; NULL: n is none. */
static const node *scan_of(const node *n, int *index)
{
    const node *scan = n->trip && !n->output ? n : custom_call(n, index);
    *index = scan == n ? 0 : *index;
    return scan && scan->trip ? scan : NULL;
}

/* Why its trips are not the places in their order; NULL: they are. */
static const char *not_along(const advancing *a, const node *scan)
{
    const scan_form f = scan_form_of(scan);
    if (f.until)
        return "may end before the last place";
    if (f.trips != places(a))
        return "does not make one trip for each place";
    for (int i = 0; i < f.n_state; i++)
        if (a->depends[scan->in[i]->id])
            return "begins with a state that depends on all places";
    for (int i = 0; i < f.n_slice; i++) {
        const int id = scan->in[f.n_state + i]->id;
        if (a->depends[id] && f.slice[i])
            return "goes from the last place to the first";
        if (a->depends[id] && !(a->walks[id] & 1))
            return "takes rows that are not the places";
    }
    return NULL;
}

/* Rows gathered in order are places of its outputs. */
static bool learn_scan(advancing *a, const node *n, const node *scan, int output)
{
    const scan_form f = scan_form_of(scan);
    const int row = output - f.n_state;
    const char *why = not_along(a, scan);
    if (why)
        return refuse(a, scan, why);
    if (row >= 0 && !f.row[row] && !(f.every && f.every[row] > 1))
        a->walks[n->id] = 1;
    return true;
}

static bool learn(advancing *a, int count, const node *const *need)
{
    a->depends[a->in->id] = true, a->walks[a->in->id] = 1u << a->in_axis;
    for (int i = 0; i < count; i++) {
        const node *n = need[i];
        ENDED_BY(arena_free) arena aside = {0};
        defn d;
        int output;
        const node *scan = scan_of(n, &output);
        for (int k = 0; k < n->n_in; k++)
            a->depends[n->id] |= a->depends[n->in[k]->id];
        if (scan && a->depends[n->id])
            learn_scan(a, n, scan, output);
        else if (!node_is_leaf(n) && a->depends[n->id] && g_defn(n, &aside, &d, a->e))
            find_scans(a, &d, d.value);
    }
    return !err_is(a->e);
}

/* ---- one row ---- */
/* A node with this element over the row's axes and, for a fold, those behind them. */
static const node *spell(const rowing *r, const expr *x, const char *fold)
{
    const int rank = r->of->type.rank;
    int64_t extent[MAX_AXIS];
    memcpy(extent, r->d.extent, sizeof extent);
    extent[r->axis] = 1;
    const spelling s = {rank, fold ? r->d.n_axis - rank : 0, extent, fold ? fold : "add", NULL};
    return g_element_of(r->a->g, &s, x);
}

static const expr *rewritten(rowing *r, const expr *x);

static const expr *load_row(rowing *r, const node *row)
{
    const expr *sub[MAX_RANK];
    for (int i = 0; row && i < row->type.rank; i++)
        sub[i] = i == r->axis ? x_whole(r->d.mem, 0) : x_axis(r->d.mem, i);
    return row ? x_load(r->d.mem, row, sub) : NULL;
}

static const expr *read(rowing *r, const expr *x)
{
    const expr *sub[MAX_RANK];
    int same = -1, mentions = 0;
    for (int i = 0; i < x->n; i++) {
        sub[i] = plain(&r->d, x->arg[i]);
        const bool here = sub[i]->kind == X_AXIS && sub[i]->axis == r->axis;
        mentions += (x_axes(sub[i]) >> r->axis & 1) != 0;
        same = here ? i : same;
    }
    const bool row = same >= 0 && mentions == 1 && r->a->depends[x->from->id];
    const node *from = row ? row_of(r->a, x->from, same) : whole_of(r->a, x->from);
    for (int i = 0; from && i < x->n; i++)
        if (!(sub[i] = row && i == same ? x_whole(r->d.mem, 0) : rewritten(r, sub[i])))
            return NULL;
    return from ? x_load(r->d.mem, from, sub) : NULL;
}

static const expr *rewritten(rowing *r, const expr *x)
{
    arena *mem = r->d.mem;
    const expr *arg[MAX_PART];
    if (x->kind == X_LIT || (x->kind == X_AXIS && x->axis != r->axis))
        return x;
    if (x->kind == X_AXIS)
        return x_load(mem, r->a->place, NULL);
    if (x->kind == X_LOAD)
        return read(r, x);
    for (int i = 0; i < x->n; i++)
        if (!(arg[i] = rewritten(r, x->arg[i])))
            return NULL;
    if (x->kind == X_FOLD)
        return load_row(r, spell(r, arg[0], x->fn->name));
    return x->kind == X_CAST ? x_cast(mem, x->dtype, arg[0]) : x_apply(mem, x->fn, x->n, arg);
}

/* Behind the places there may be more, joined on: nobody who goes from place to place reads that. */
static const expr *at_places(const rowing *r)
{
    int64_t extent[MAX_AXIS];
    memcpy(extent, r->d.extent, sizeof extent);
    if (extent[r->axis] <= places(r->a))
        return r->d.value;
    extent[r->axis] = places(r->a);
    return x_tidy(r->d.mem, r->d.value, extent);
}

static const node *scan_row(advancing *a, const node *scan, int output);

static const node *make_row(advancing *a, const node *n, int axis)
{
    ENDED_BY(arena_free) arena aside = {0};
    rowing r = {.a = a, .of = n, .axis = axis};
    const node *made = NULL;
    int output;
    const node *scan = scan_of(n, &output);
    if (scan)
        return scan_row(a, scan, output);
    if (!g_defn(n, &aside, &r.d, a->e))
        return NULL;
    if (x_alone(r.d.value))
        refuse(a, n, "goes through all places in order");
    else {
        const expr *x = rewritten(&r, at_places(&r));
        made = !x ? NULL : r.d.value->kind == X_FOLD ? x->from : spell(&r, x, NULL);
    }
    if (!made && !err_is(a->e))
        *a->e = a->g->err;
    return made;
}

static const node *row_of(advancing *a, const node *n, int axis)
{
    if (err_is(a->e))
        return NULL;
    if (n == a->in && axis == a->in_axis)
        return a->out->row;
    if (!a->row[n->id][axis])
        a->row[n->id][axis] = node_is_leaf(n) ? NULL : make_row(a, n, axis);
    return a->row[n->id][axis];
}

/* ---- all of it, kept ---- */
static int only_axis(uint32_t set)
{
    int i = 0;
    while (set && !(set >> i & 1))
        i++;
    return set == 1u << i ? i : -1;
}

/* The kept value with the row in the place of its own. */
static const node *with_row(advancing *a, const node *kept, const node *row, int axis)
{
    const type *t = &kept->type;
    ENDED_BY(text_free) text words = {0};
    text_add(&words, "select(eq(i%d,c),b[", axis);
    for (int i = 0; i < t->rank; i++)
        text_add(&words, i == axis ? "%s0" : "%si%d", i ? "," : "", i);
    text_add(&words, "],a[");
    for (int i = 0; i < t->rank; i++)
        text_add(&words, "%si%d", i ? "," : "", i);
    text_add(&words, "])");
    const node *in[] = {kept, row, a->place};
    return g_element(a->g, 3, in, &(spelling){t->rank, 0, t->dim, "add", text_str(&words)});
}

static const node *whole_of(advancing *a, const node *n)
{
    if (err_is(a->e) || !a->depends[n->id] || a->whole[n->id])
        return err_is(a->e) ? NULL : a->depends[n->id] ? a->whole[n->id] : n;
    const int axis = only_axis(a->walks[n->id]);
    if (axis < 0)
        return refuse(a, n, a->walks[n->id] ? "is needed for all pairs of places" : "depends on all places at once"),
               NULL;
    if (n->type.dim[axis] > places(a))
        return refuse(a, n, "is read behind the last place, too"), NULL;
    const node *row = row_of(a, n, axis);
    ts_steps *s = a->out;
    const char *label = arena_format(&a->g->mem, "advance.%d", s->n);
    const node *kept = row ? g_input(a->g, label, &n->type, NULL) : NULL;
    const node *with = kept ? with_row(a, kept, row, axis) : NULL;
    if (!with) {
        if (!err_is(a->e))
            *a->e = a->g->err;
        return NULL;
    }
    s->of[s->n] = n, s->axis[s->n] = axis, s->state[s->n++] = (ts_state){kept, with};
    return a->whole[n->id] = with;
}

/* ---- scans along the sequence ---- */
/* [...] as one row, [1, ...] */
static const node *as_row(advancing *a, const node *n)
{
    int64_t dim[MAX_RANK] = {1};
    memcpy(dim + 1, n->type.dim, (size_t)n->type.rank * sizeof *dim);
    return g_reshape(a->g, n, n->type.rank + 1, dim);
}

/* Of all rows the one at `index`, an expression of the place b; where there is a first one, that before place 0. */
static const node *taken(advancing *a, const node *all, const char *index, const node *first)
{
    const type t = trip_row(&all->type);
    const node *in[] = {all, a->place, first};
    ENDED_BY(text_free) text words = {0};
    text_add(&words, first ? "select(eq(b,0),c" : "");
    for (int i = 0; first && i < t.rank; i++)
        text_add(&words, "%si%d%s", i ? "," : "[", i, i == t.rank - 1 ? "]" : "");
    text_add(&words, "%sa[at(%s,%lld)", first ? "," : "", index, (long long)all->type.dim[0]);
    for (int i = 0; i < t.rank; i++)
        text_add(&words, ",i%d", i);
    text_add(&words, first ? "])" : "]");
    return g_element(a->g, first ? 3 : 2, in, &(spelling){t.rank, 0, t.dim, "add", text_str(&words)});
}

/* The same scan with the states that each trip leaves as rows behind its own. */
static const node *with_states(advancing *a, const node *scan)
{
    const scan_form f = scan_form_of(scan);
    const scan_trip *t = scan->trip;
    const int n_row = f.n_row + f.n_state;
    ENDED_BY(arena_free) arena mem = {0};
    int64_t *back = arena_array(&mem, (size_t)n_row + 1, sizeof *back),
            *every = arena_array(&mem, (size_t)n_row + 1, 8);
    const node **root = arena_joined(&mem, t->root, t->n_root, t->root, f.n_state, sizeof *root);
    for (int i = 0; i < n_row; i++)
        back[i] = i < f.n_row ? f.row[i] : 0, every[i] = i < f.n_row && f.every ? f.every[i] : 1;
    const attr list[] = {attr_int("trips", f.trips),
                         attr_int("states", f.n_state),
                         attr_ints("slices", f.n_slice, f.slice),
                         attr_ints("rows", n_row, back),
                         attr_ints("every", f.every ? n_row : 0, every),
                         attr_int("keep", f.keep)};
    return g_make_scan(a->g, scan->op, scan->n_in, scan->in, list, COUNT(list),
                       &(scan_trip){t->n_root + f.n_state, root});
}

/* States as the trip before left them: rows of what is kept, at place - 1. */
static bool begin_states(advancing *a, const node *scan, const node **to)
{
    const scan_form f = scan_form_of(scan);
    const node *all = f.n_state ? with_states(a, scan) : scan;
    ts_steps *s = a->out;
    for (int i = 0; all && i < f.n_state; i++) {
        const node *of = custom_output(a->g, all, f.n_state + f.n_row + i);
        const char *label = arena_format(&a->g->mem, "advance.%d", s->n);
        const node *kept = of ? g_input(a->g, label, &of->type, NULL) : NULL;
        if (!kept || !(to[i] = taken(a, kept, "max(b-1,0)", scan->in[i])))
            return false;
        s->of[s->n] = of, s->axis[s->n] = 0, s->state[s->n++].from = kept;
    }
    return all != NULL;
}

/* What stands for operand k of its slices and those behind in the trip at the place. */
static const node *operand_at(advancing *a, const node *scan, int k)
{
    const scan_form f = scan_form_of(scan);
    const node *x = scan->in[k];
    if (k >= f.n_state + f.n_slice)
        return whole_of(a, x);
    if (!a->depends[x->id])
        return taken(a, x, f.slice[k - f.n_state] ? arena_format(&a->g->mem, "%lld-b", (long long)f.trips - 1) : "b",
                     NULL);
    const node *row = row_of(a, x, 0);
    const type t = trip_row(&x->type);
    return row ? g_reshape(a->g, row, t.rank, t.dim) : NULL;
}

/* One trip, over the states that are kept; it leaves its own there. */
static bool step_scan(advancing *a, const node *scan, const node **root)
{
    const scan_form f = scan_form_of(scan);
    const node *from[MAX_PART + 1], *to[MAX_PART + 1];
    const int n = scan->n_in;
    for (int k = 0; k < n; k++) {
        const bool slice = k >= f.n_state && k < f.n_state + f.n_slice;
        const type t = slice ? trip_row(&scan->in[k]->type) : scan->in[k]->type;
        from[k] = trip_bound(a->g, k, &t);
    }
    from[n] = trip_bound(a->g, n, &a->place->type), to[n] = a->place;
    for (int k = f.n_state; k < n; k++)
        if (!(to[k] = operand_at(a, scan, k)))
            return false;
    const int own = a->out->n;
    if (!begin_states(a, scan, to) || !g_replace(a->g, scan->trip->n_root, scan->trip->root, n + 1, from, to, root))
        return false;
    for (int i = 0; i < f.n_state; i++) {
        ts_state *s = &a->out->state[own + i];
        if (!(s->to = with_row(a, s->from, as_row(a, root[i]), 0)))
            return false;
    }
    return true;
}

static const node *scan_row(advancing *a, const node *scan, int output)
{
    if (!a->trip[scan->id]) {
        const node **root = arena_array(&a->g->mem, (size_t)scan->trip->n_root + 1, sizeof *root);
        if (!step_scan(a, scan, root)) {
            if (!err_is(a->e))
                *a->e = a->g->err;
            return NULL;
        }
        a->trip[scan->id] = root;
    }
    return as_row(a, a->trip[scan->id][output]);
}

bool ts_advance(ts_graph *g, ts_sequence out, ts_sequence in, ts_steps *steps, ts_error *e)
{
    if (!err_given(g, "the graph", e))
        return false;
    if (!g_all(g, "one place at a time", 2, (const node *const[]){out.t, in.t}))
        return ts_graph_ok(g, e);
    const int n = g->n;
    advancing a = {.g = g, .n = n, .in = in.t, .in_axis = in.axis, .out = steps, .e = e};
    ENDED_BY(heap_free) const node **need = heap_array((size_t)n + 1, sizeof *need);
    type row = in.t->type;
    a.depends = heap_array((size_t)n + 1, sizeof *a.depends), a.walks = heap_array((size_t)n + 1, sizeof *a.walks);
    a.row = heap_array((size_t)n + 1, sizeof *a.row), a.whole = heap_array((size_t)n + 1, sizeof *a.whole);
    a.trip = heap_array((size_t)n + 1, sizeof *a.trip);
    row.dim[in.axis] = 1;
    *steps = (ts_steps){.place = a.place = g_input(g, "advance.place", &(type){.dtype = TS_I64}, NULL),
                        .row = g_input(g, "advance.row", &row, NULL),
                        .of = arena_array(&g->mem, (size_t)n + 1, sizeof *steps->of),
                        .axis = arena_array(&g->mem, (size_t)n + 1, sizeof *steps->axis),
                        .state = arena_array(&g->mem, (size_t)n + 1, sizeof *steps->state)};
    const int count = g_reach(1, &out.t, need);
    if (learn(&a, count, need)) {
        if (a.walks[out.t->id] >> out.axis & 1)
            steps->out = row_of(&a, out.t, out.axis);
        else
            refuse(&a, out.t, "has no place for each one of the sequence");
    }
    free(a.depends), free(a.walks), free(a.row), free(a.whole), free(a.trip);
    return steps->out != NULL;
}
