/* advance.c - a computation over a whole sequence as one that goes on by a place at a time.
 *
 * A row of a node is its value at one place along an axis, kept with extent 1. Its definition, with that axis set to
 * the place, says what it reads: where an operand is read at the same place, a row of it; else all of the operand,
 * which is then kept from place to place and gets a row written in. What does not depend on the sequence is read as it
 * is. So attention keeps keys and values, and nothing knows that it is attention. */
#include "graph/ir/graph.h"
#include "graph/affine/linear.h"
#include "graph/ir/rule.h"

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

static bool learn(advancing *a, int count, const node *const *need)
{
    a->depends[a->in->id] = true, a->walks[a->in->id] = 1u << a->in_axis;
    for (int i = 0; i < count; i++) {
        const node *n = need[i];
        arena aside = {0};
        defn d;
        for (int k = 0; k < n->n_in; k++)
            a->depends[n->id] |= a->depends[n->in[k]->id];
        if (!node_is_leaf(n) && a->depends[n->id] && g_defn(n, &aside, &d, a->e))
            find_scans(a, &d, d.value);
        arena_free(&aside);
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

static bool refuse(advancing *a, const node *n, const char *why)
{
    return err_set(a->e, TS_UNSUPPORTED, "\"%s\" (%s) %s", n->label, n->op->name, why);
}

static const node *make_row(advancing *a, const node *n, int axis)
{
    arena aside = {0};
    rowing r = {.a = a, .of = n, .axis = axis};
    const node *made = NULL;
    if (!g_defn(n, &aside, &r.d, a->e))
        return arena_free(&aside), NULL;
    if (x_alone(r.d.value))
        refuse(a, n, "goes through all places in order");
    else {
        const expr *x = rewritten(&r, r.d.value);
        made = !x ? NULL : r.d.value->kind == X_FOLD ? x->from : spell(&r, x, NULL);
    }
    arena_free(&aside);
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
    text words = {0};
    text_add(&words, "select(eq(i%d,c),b[", axis);
    for (int i = 0; i < t->rank; i++)
        text_add(&words, i == axis ? "%s0" : "%si%d", i ? "," : "", i);
    text_add(&words, "],a[");
    for (int i = 0; i < t->rank; i++)
        text_add(&words, "%si%d", i ? "," : "", i);
    text_add(&words, "])");
    const node *in[] = {kept, row, a->place};
    const node *y = g_element(a->g, 3, in, &(spelling){t->rank, 0, t->dim, "add", text_str(&words)});
    text_free(&words);
    return y;
}

static const node *whole_of(advancing *a, const node *n)
{
    if (err_is(a->e) || !a->depends[n->id] || a->whole[n->id])
        return err_is(a->e) ? NULL : a->depends[n->id] ? a->whole[n->id] : n;
    const int axis = only_axis(a->walks[n->id]);
    if (axis < 0)
        return refuse(a, n, a->walks[n->id] ? "is needed for all pairs of places" : "depends on all places at once"),
               NULL;
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

bool ts_advance(ts_graph *g, ts_sequence out, ts_sequence in, ts_steps *steps, ts_error *e)
{
    if (!g_holds(g, "one place at a time", 2, (const node *const[]){out.t, in.t}))
        return ts_graph_ok(g, e);
    const int n = g->n;
    advancing a = {.g = g, .n = n, .in = in.t, .in_axis = in.axis, .out = steps, .e = e};
    const node **need = calloc((size_t)n + 1, sizeof *need);
    type row = in.t->type;
    a.depends = calloc((size_t)n + 1, sizeof *a.depends), a.walks = calloc((size_t)n + 1, sizeof *a.walks);
    a.row = calloc((size_t)n + 1, sizeof *a.row), a.whole = calloc((size_t)n + 1, sizeof *a.whole);
    MUST(need && a.depends && a.walks && a.row && a.whole);
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
    free(need), free(a.depends), free(a.walks), free(a.row), free(a.whole);
    return steps->out != NULL;
}
