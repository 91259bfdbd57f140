/* chain.c - the reverse pass. From the outputs backwards, every node on a way to an input hands what it received on to
 * its operands. Nodes that depend on no input are never asked, so what is frozen costs nothing. */
#include "autodiff/autodiff.h"
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"

#include <stdlib.h>
#include <string.h>

typedef struct parts {
    int n, cap;
    const node **of;
} parts;

typedef struct pass {
    graph *g;
    int n;                          /* nodes that were there before */
    bool *active, *wanted, *chosen; /* chosen: what is received came by way of a choice */
    const node **received;          /* by id, settled: of its parts */
    struct parts *parts;            /* by id: what arrived, in order */
    const node ***outputs;          /* by id of a call with several outputs: what they received; NULL: nothing yet */
    const group **group;            /* by id of its result: a recipe with a gradient of its own */
    const char **name;              /* by id: of itself, or of what reads it */
} pass;

/* ---- recipes taken as one ---- */
/* Whether an input lies strictly inside: then the way through the parts must be taken. */
static bool holds_wanted(const pass *p, const group *r)
{
    bool *seen = heap_array((size_t)r->result->id + 1, sizeof *seen), found = false;
    seen[r->result->id] = true;
    for (int id = r->result->id; id >= 0 && !found; id--) {
        const node *n = p->g->node[id];
        bool outside = !seen[id];
        for (int i = 0; i < r->n_in; i++)
            outside = outside || r->in[i] == n;
        if (outside)
            continue;
        found = n != r->result && p->wanted[id];
        for (int i = 0; i < n->n_in; i++)
            seen[n->in[i]->id] = true;
    }
    free(seen);
    return found;
}

static void find_groups(pass *p)
{
    for (int i = 0; i < p->g->n_group; i++) {
        const group *r = &p->g->group[i];
        bool same = !r->op->grad || r->result->id >= p->n;
        for (int k = 0; k < r->n_in; k++)
            same = same || r->in[k]->id >= r->result->id;
        if (!same && p->active[r->result->id] && !holds_wanted(p, r))
            p->group[r->result->id] = r;
    }
}

/* ---- the pass ---- */
static void receive(pass *p, const node *n, const node *part)
{
    parts *to = &p->parts[n->id];
    if (!part)
        return;
    MUST(type_equal(&part->type, &n->type));
    if (!is_column_part(part)) {
        const node **all = &p->received[n->id];
        *all = *all ? g_added(p->g, *all, part) : part;
        return;
    }
    if (to->n == to->cap) {
        const node **of = arena_array(&p->g->mem, 2 * (size_t)to->cap + 2, sizeof *of);
        if (to->n)
            memcpy(of, to->of, (size_t)to->n * sizeof *of);
        to->of = of, to->cap = 2 * to->cap + 2;
    }
    to->of[to->n++] = part;
}

/* Kernels are told apart by what they are the gradient of: all nodes made for it say so. */
static void name_new(pass *p, const node *y, const node *x, int first)
{
    const char *own = p->name[y->id] ? p->name[y->id] : "", **of = &p->name[x->id];
    if (*x->label || !*of)
        *of = *x->label ? x->label : own;
    if (!**of)
        return;
    const char *label = arena_format(&p->g->mem, "gradient of %s", *of);
    g_label_new(p->g, first, label);
}

/* All of its readers have handed on what they had. */
static const node *settle(pass *p, int id)
{
    parts *all = &p->parts[id];
    const int first = p->g->n;
    if (all->n) {
        const node **own = &p->received[id], *more = sum_of_parts(p->g, &p->g->node[id]->type, all->n, all->of);
        *own = *own && more ? g_added(p->g, *own, more) : more;
        name_new(p, p->g->node[id], p->g->node[id], first);
        all->n = 0;
    }
    return p->received[id];
}

/* A derived gradient is that of all places where x is read: where it is read twice, none of them has one written. */
static bool is_written(const node *call, int k)
{
    const op *o = call->op;
    for (int i = 0; o->grad_for && i < call->n_in; i++)
        if (i != k && call->in[i] == call->in[k])
            return false;
    return o->grad && (!o->grad_for || o->grad_for(call, k));
}

/* A written gradient reads y: where y was not taken, 0 stands for what it is there. */
static const node *gradient(pass *p, const node *whole, const node *y, int k, bool *chosen)
{
    const arriving at = {.dy = p->received[y->id], .chosen = *chosen, .first = p->n};
    if (!is_written(whole, k))
        return derive_gradient(p->g, y, &at, whole->in[k], chosen);
    return whole->op->grad(p->g, whole, whole->op->lower ? guard_apply(p->g, &at, y) : y, at.dy, k);
}

/* What an output among several received waits for the others: the call's operands receive from all at once. */
static bool wait(pass *p, const node *y)
{
    int index;
    const node *call = custom_call(y, &index);
    if (!call)
        return false;
    if (!p->outputs[call->id])
        p->outputs[call->id] = arena_array(&p->g->mem, (size_t)custom_outputs(call), sizeof **p->outputs);
    p->outputs[call->id][index] = p->received[y->id];
    p->name[call->id] = *y->label ? y->label : p->name[y->id] ? p->name[y->id] : p->name[call->id];
    p->chosen[call->id] = p->chosen[call->id] || p->chosen[y->id];
    return true;
}

/* What output k of a call received: by itself, and as a part of the call's value. */
static const node *arrived(const pass *p, const node *call, int k)
{
    const type *t = custom_type(call, k);
    const node *own = p->outputs[call->id] ? p->outputs[call->id][k] : NULL, *whole = p->received[call->id];
    const node *part = whole && dtype_real(call->type.dtype) ? custom_part(p->g, call, k, whole) : NULL;
    if (dtype_class(t->dtype) != D_REAL)
        return NULL;
    return own && part ? g_added(p->g, own, part) : own ? own : part ? part : g_filled(p->g, t, 0);
}

/* A call that has a gradient as a whole: of a program's own operation, or a scan. */
static void hand_on_call(pass *p, const node *call)
{
    graph *g = p->g;
    const bool scan = call->trip != NULL;
    const node *dy[2 * MAX_PART], *dx[MAX_PART] = {0};
    bool active[MAX_PART];
    const int first = g->n;
    MUST(custom_outputs(call) <= COUNT(dy) && call->n_in <= MAX_PART);
    for (int k = 0; k < custom_outputs(call); k++)
        dy[k] = !scan || p->received[call->id] || p->outputs[call->id][k] ? arrived(p, call, k) : NULL;
    for (int i = 0; i < call->n_in; i++)
        active[i] = p->active[call->in[i]->id];
    if (!(scan ? trip_gradient(g, call, dy, active, dx, ts_chain_rule) : custom_gradient(g, call, dy, dx))) {
        err_in(&g->err, "gradient of %s", call->op->name);
        return;
    }
    for (int i = 0; i < call->n_in; i++) {
        const node *x = call->in[i];
        if (!dx[i] || !active[i])
            continue;
        p->chosen[x->id] = p->chosen[x->id] || (!scan && p->chosen[call->id]);
        receive(p, x, dx[i]);
        name_new(p, call, x, first);
    }
}

static void hand_on(pass *p, const node *y)
{
    if (wait(p, y))
        return;
    if (y->trip || (y->op->custom && (y->op->custom->gradient || y->op->custom->kernel))) {
        hand_on_call(p, y);
        return;
    }
    const group *r = p->group[y->id];
    node whole = *y;
    p->name[y->id] = *y->label ? y->label : p->name[y->id];
    if (r)
        whole.op = r->op, whole.n_in = r->n_in, whole.in = r->in, whole.attr = r->attr;
    for (int k = 0; k < whole.n_in && !err_is(&p->g->err); k++) {
        const node *x = whole.in[k];
        const bool written = is_written(&whole, k);
        bool before = false;
        for (int i = 0; i < k && !written; i++)
            before = before || whole.in[i] == x;
        if (!p->active[x->id] || before)
            continue;
        const int first = p->g->n;
        bool chosen = p->chosen[y->id];
        const node *dx = gradient(p, &whole, y, k, &chosen);
        p->chosen[x->id] = p->chosen[x->id] || chosen;
        if (err_is(&p->g->err))
            err_in(&p->g->err, "gradient of %s", whole.op->name);
        receive(p, x, g_fitted(p->g, dx, &x->type));
        name_new(p, y, x, first);
    }
}

static bool begin(pass *p, int n_out, const node *const *out, int n_in, const node *const *in)
{
    graph *g = p->g;
    if (!g_all(g, "gradient", n_out, out) || !g_all(g, "gradient", n_in, in))
        return false;
    for (int i = 0; i < n_in; i++) {
        if (!dtype_real(in[i]->type.dtype))
            return g_fail(g, TS_BAD_INPUT,
                          "gradient with respect to \"%s\": values of dtype %s have none, expected reals", in[i]->label,
                          ts_dtype_name(in[i]->type.dtype)),
                   false;
        p->wanted[in[i]->id] = p->active[in[i]->id] = true;
    }
    for (int id = 0; id < p->n; id++)
        for (int i = 0; i < g->node[id]->n_in && (dtype_real(g->node[id]->type.dtype) || g->node[id]->output); i++)
            p->active[id] = p->active[id] || p->active[g->node[id]->in[i]->id];
    find_groups(p);
    return true;
}

static bool seed_outputs(pass *p, int n, const node *const *out, const node *const *seed)
{
    graph *g = p->g;
    if (seed && !g_holds(g, "gradient", n, seed))
        return false;
    for (int i = 0; i < n; i++) {
        const node *s = seed ? seed[i] : NULL;
        const type *t = &out[i]->type;
        if (!dtype_real(out[i]->type.dtype))
            return g_fail(g, TS_BAD_INPUT, "gradient of output %d: values of dtype %s have none, expected reals", i,
                          ts_dtype_name(t->dtype)),
                   false;
        if (!s && type_count(t) != 1)
            return g_fail(g, TS_BAD_INPUT,
                          "gradient of output %d: it has %lld elements, so a seed must say how they "
                          "count",
                          i, (long long)type_count(t)),
                   false;
        if (!s)
            s = g_filled(g, t, 1);
        if (s && !type_equal(&s->type, t))
            return g_differs(g, arena_format(&g->mem, "gradient of output %d: the seed", i), &s->type, t);
        if (s && p->active[out[i]->id])
            receive(p, out[i], s);
    }
    return true;
}

bool ts_chain_rule(ts_graph *g, int n_out, const ts_tensor *out, const ts_tensor *seed, int n_in, const ts_tensor *in,
                   ts_tensor *grad)
{
    if (!g)
        return false;
    const size_t count = (size_t)g->n + 1;
    pass p = {.g = g, .n = g->n, .active = heap_array(count, 1), .wanted = heap_array(count, 1)};
    p.received = heap_array(count, sizeof *p.received), p.group = heap_array(count, sizeof *p.group);
    p.name = heap_array(count, sizeof *p.name), p.chosen = heap_array(count, 1);
    p.outputs = heap_array(count, sizeof *p.outputs), p.parts = heap_array(count, sizeof *p.parts);
    if (!err_is(&g->err) && begin(&p, n_out, out, n_in, in) && seed_outputs(&p, n_out, out, seed))
        for (int id = p.n - 1; id >= 0 && !err_is(&g->err); id--)
            if ((settle(&p, id) || p.outputs[id]) && !node_is_leaf(g->node[id]))
                hand_on(&p, g->node[id]);
    for (int i = 0; i < n_in && !err_is(&g->err); i++) {
        grad[i] = settle(&p, in[i]->id);
        if (!grad[i]) /* no way from it to an output */
            grad[i] = g_filled(g, &in[i]->type, 0);
    }
    for (int i = 0; i < n_in && err_is(&g->err); i++)
        grad[i] = NULL;
    g_back(g, p.n);
    free(p.active), free(p.wanted), free(p.chosen), free(p.received), free((void *)p.group), free(p.name);
    free(p.outputs), free(p.parts);
    return !err_is(&g->err);
}
