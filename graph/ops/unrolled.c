/* unrolled.c - a call of a function whose text, with loops and calls written out, is too long for one formula: loops
 * that data decide use what a step made several times in the next one, so that written out they grow as powers do.
 * Parts of some length become tensors of their own, which fusion joins again where it pays. */
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/scalar.h"

enum { LONG = 4096, PART = 24, READS = 8 }; /* in parts of an expression; tensors that a formula reads */
typedef struct unrolling {
    graph *g;
    arena *mem;
} unrolling;

static const expr *made(const unrolling *u, const node *n)
{
    return n ? x_element(u->mem, n) : x_whole(u->mem, 0); /* then g->err says why */
}

static const expr *own_part(const unrolling *u, const expr *x)
{
    return x->kind == X_CALL && x->dtype != TS_N_DTYPE && x_find(x, X_LOAD) ? made(u, g_formula_of(u->g, x)) : x;
}

/* A call of another function; where numbers are handed on, which may decide when it ends, it stays as it is. */
static const expr *own_call(const unrolling *u, const expr *x)
{
    const node *in[MAX_ARG];
    const op *o = g_op(u->g, x->fn->name);
    for (int i = 0; i < x->n; i++)
        if (x->arg[i]->kind == X_LIT || !x_find(x->arg[i], X_LOAD))
            return x;
    for (int i = 0; i < x->n; i++)
        in[i] = x->arg[i]->kind == X_LOAD ? x->arg[i]->from : g_formula_of(u->g, x->arg[i]);
    return o ? made(u, g_make(u->g, o, x->n, in, NULL, 0)) : x;
}

static const expr *one_part(void *user, const expr *x)
{
    const unrolling *u = user;
    const expr *arg[MAX_PART], *load[READS + 1];
    if (x->kind != X_CALL || err_is(&u->g->err))
        return x;
    if (fn_is_own(x->fn))
        return own_call(u, x);
    if (x_loads(x, load, COUNT(load)) > READS) {
        for (int i = 0; i < x->n; i++)
            arg[i] = own_part(u, x->arg[i]);
        x = x_again(u->mem, x, arg);
    }
    return x_parts(x) > PART ? own_part(u, x) : x;
}

/* One whose own text calls functions, complete with its type. */
static const node *calls_unrolled(graph *g, const node *call)
{
    ENDED_BY(arena_free) arena mem = {0};
    unrolling u = {g, &mem};
    const node *y = NULL;
    defn d;
    if (g->scalars && g_defn_calls(call, &mem, &d, &g->err) && scalar_is_long(&mem, g->scalars, d.value, LONG)) {
        const expr *x = x_map(&mem, d.value, one_part, &u);
        if (x != d.value && !err_is(&g->err))
            y = x->kind == X_LOAD ? x->from : g_formula_of(g, x);
        y = y ? g_fitted(g, y, &call->type) : NULL;
        if (!y && !err_is(&g->err))
            x_expand(&mem, g->scalars, d.value, &g->err); /* one node has to do: it may be too long */
    }
    return y;
}

/* One of a function of the graph. */
static const node *function_unrolled(graph *g, const node *call)
{
    const fn *f = scalar_fn(g->scalars, call->op->name);
    ENDED_BY(arena_free) arena mem = {0};
    unrolling u = {g, &mem};
    const expr *arg[MAX_ARG];
    const type *in[MAX_ARG];
    const node *y = NULL;
    err e = {0};
    if (!f || ((const own_fn *)f)->of->derivative)
        return NULL;
    for (int i = 0; i < call->n_in; i++)
        arg[i] = x_element(&mem, call->in[i]), in[i] = &call->in[i]->type;
    const expr *x = x_apply(&mem, f, call->n_in, arg);
    type t = {.dtype = x->dtype};
    if (scalar_is_long(&mem, g->scalars, x, LONG) && type_broadcast(call->n_in, in, &t, &e)) {
        g->scalars->calls = 0;
        const expr *whole = scalar_value(&mem, (const own_fn *)f, arg, false, 0, &e);
        whole = whole ? x_map(&mem, x_cast(&mem, x->dtype, whole), one_part, &u) : NULL;
        if (whole && !err_is(&g->err))
            y = whole->kind == X_LOAD ? whole->from : g_formula_of(g, whole);
        y = y ? g_fitted(g, y, &t) : NULL;
    }
    return y;
}

const node *call_unrolled(graph *g, const node *call)
{
    return call->op->custom ? function_unrolled(g, call) : calls_unrolled(g, call);
}
