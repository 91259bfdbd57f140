/* jacobian.c - the derivative of every element by every element: one pass of forward or reverse mode over a symbol, and
 * a batch of units in its place. Where elements along an axis depend on those at the same place alone, one unit serves
 * all places of that axis. */
#include "autodiff/autodiff.h"
#include "graph/ir/rule.h"

#include <stdlib.h>
#include <string.h>

enum { FREE = -1, MIXED = -2 }; /* does not depend on the input; depends on several places */

/* ---- which axes go together ---- */
typedef struct pairing {
    const signed char *along; /* by id: the axis that goes with that of the input, or one of those above */
    int found;
} pairing;

static void look(pairing *p, const expr *x, int rank)
{
    const int at = x->kind == X_LOAD ? p->along[x->from->id] : FREE;
    for (int i = 0; i < x->n; i++)
        look(p, x->arg[i], rank);
    if (at == FREE)
        return;
    const expr *s = at >= 0 ? x->arg[at] : NULL;
    const int here = s && s->kind == X_AXIS && s->axis < rank ? s->axis : MIXED;
    p->found = p->found == FREE || p->found == here ? here : MIXED;
}

static signed char of_node(const node *y, const signed char *along)
{
    arena mem = {0};
    defn d;
    err e = {0};
    pairing p = {along, FREE};
    bool any = false, mixed = false;
    for (int i = 0; i < y->n_in; i++)
        any = any || along[y->in[i]->id] != FREE, mixed = mixed || along[y->in[i]->id] == MIXED;
    if (any && !mixed && g_defn(y, &mem, &d, &e))
        look(&p, d.value, y->type.rank);
    const bool walked = any && !mixed && !err_is(&e) && d.value->kind == X_SCAN && p.found == d.value->axis;
    const bool lost = mixed || err_is(&e) || walked ||
                      (any && (d.value->kind == X_SCATTER || d.value->kind == X_ROUTINE));
    arena_free(&mem);
    return lost ? MIXED : (signed char)p.found;
}

/* The axis of out along which only the same place of in's axis counts, or one of the above. */
static int partner(const node *out, const node *in, int axis)
{
    const int count = g_reach(1, &out, NULL);
    const node **need = calloc((size_t)count + 1, sizeof *need);
    signed char *along = calloc((size_t)out->id + 1, sizeof *along);
    MUST(need && along);
    memset(along, FREE, (size_t)out->id + 1);
    g_reach(1, &out, need);
    for (int i = 0; i < count; i++) {
        const node *n = need[i];
        along[n->id] = n == in ? (signed char)axis : n->leaf ? FREE : of_node(n, along);
    }
    const int found = along[out->id];
    free(need), free(along);
    return found >= 0 && out->type.dim[found] == in->type.dim[axis] ? found : MIXED;
}

/* ---- units ---- */
/* [seeds, axes of t...]: for each place of the axes that are not in `whole`, 1 there; the same along the others. */
static const node *units(graph *g, const type *t, uint32_t whole, int64_t seeds)
{
    text words = {0};
    int64_t extent[MAX_RANK + 1] = {seeds}, unit = 1;
    const node *one = g_scalar(g, t->dtype, 1);
    text_add(&words, "select(eq(i0,0");
    for (int i = t->rank; i-- > 0;) {
        extent[i + 1] = t->dim[i];
        if (whole >> i & 1)
            continue;
        text_add(&words, "+i%d*%lld", i + 1, (long long)unit);
        unit *= t->dim[i];
    }
    text_add(&words, "),a,0)");
    const node *y = g_element(g, 1, &one, &(spelling){t->rank + 1, 0, extent, "add", text_str(&words)});
    text_free(&words);
    return y;
}

static int64_t seeds_of(const type *t, uint32_t whole)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n = whole >> i & 1 ? n : n * t->dim[i];
    return n;
}

/* ---- the pass ---- */
typedef struct task {
    graph *g;
    const node *out, *in;
    int n_pair, (*pair)[2];
    uint32_t out_set, in_set; /* axes in pairs */
} task;

/* A batch of what a unit of `of` brings about, [seeds, ...]. */
static const node *passed(const task *j, bool forward, int64_t seeds)
{
    graph *g = j->g;
    const node *of = forward ? j->in : j->out, *result = NULL;
    const node *v = g_input(g, arena_format(&g->mem, "jacobian.seed%d", g->n), &of->type, NULL);
    const bool good = v && (forward ? ts_pushforward(g, 1, &j->in, &v, 1, &j->out, &result)
                                    : ts_chain_rule(g, 1, &j->out, &v, 1, &j->in, &result));
    const node *all = good ? units(g, &of->type, forward ? j->in_set : j->out_set, seeds) : NULL;
    return all && ts_batch(g, 1, &result, 1, &v, &all, &result) ? result : NULL;
}

/* [axes of one side that are in no pair..., all axes of the other] as [axes of out..., those of in in no pair...] */
static const node *ordered(const task *j, const node *n, bool forward)
{
    const type *from = forward ? &j->in->type : &j->out->type, *other = forward ? &j->out->type : &j->in->type;
    const uint32_t set = forward ? j->in_set : j->out_set;
    int64_t shape[2 * MAX_RANK], order[2 * MAX_RANK], at[MAX_RANK];
    int rank = 0, k = 0;
    for (int i = 0; i < from->rank; i++)
        if (!(set >> i & 1))
            at[i] = rank, shape[rank++] = from->dim[i];
    const int first = rank;
    for (int i = 0; i < other->rank; i++)
        shape[rank++] = other->dim[i];
    if (rank > MAX_RANK)
        return g_fail(j->g, TS_UNSUPPORTED, "jacobian: it has %d axes, at most %d are possible", rank, MAX_RANK), NULL;
    for (int i = 0; i < j->out->type.rank; i++) {
        int64_t place = forward ? first + i : at[i];
        for (int p = 0; p < j->n_pair && !forward; p++)
            place = j->pair[p][0] == i ? first + j->pair[p][1] : place;
        order[k++] = place;
    }
    for (int i = 0; i < j->in->type.rank; i++)
        if (!(j->in_set >> i & 1))
            order[k++] = forward ? at[i] : first + i;
    return g_transpose(j->g, g_reshape(j->g, n, rank, shape), rank, order);
}

static void find_pairs(task *j)
{
    for (int i = 0; i < j->in->type.rank; i++) {
        const int to = partner(j->out, j->in, i);
        if (to < 0 || j->out_set >> to & 1)
            continue;
        j->pair[j->n_pair][0] = to, j->pair[j->n_pair++][1] = i;
        j->out_set |= 1u << to, j->in_set |= 1u << i;
    }
}

ts_tensor ts_jacobian(ts_graph *g, ts_tensor out, ts_tensor in, int *n_pair, int (*pair)[2])
{
    task j = {.g = g, .out = out, .in = in, .pair = pair};
    if (!out || !in || err_is(&g->err) || !g_holds(g, "jacobian", 2, (const node *const[]){out, in}))
        return NULL;
    for (int i = 0; i < 2; i++) {
        const node *n = i ? in : out;
        if (dtype_class(n->type.dtype) != D_REAL)
            return g_fail(g, TS_BAD_INPUT, "jacobian: values of dtype %s have none", ts_dtype_name(n->type.dtype)),
                   NULL;
        if (n->type.rank >= MAX_RANK)
            return g_fail(g, TS_UNSUPPORTED, "jacobian: rank %d, at most %d is possible", n->type.rank, MAX_RANK - 1),
                   NULL;
    }
    if (n_pair)
        find_pairs(&j), *n_pair = j.n_pair;
    const int64_t by_in = seeds_of(&in->type, j.in_set), by_out = seeds_of(&out->type, j.out_set);
    const bool forward = by_in <= by_out;
    const node *n = passed(&j, forward, forward ? by_in : by_out);
    return n ? ordered(&j, n, forward) : NULL;
}
