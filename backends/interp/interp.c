/* interp.c - the interpreter as a target: node by node, element by element, from the definitions alone. It fuses
 * nothing, accepts everything, and judges everybody; it is slow. */
#include "backends/cpu/cpu.h"
#include "graph/eval/eval.h"
#include "backends/outside.h"

#include <stdlib.h>
#include <string.h>

struct program {
    const plan *p;
    int n;
    const node **need; /* by id */
    ts_array *value;   /* as many */
    bool *own;
    int *last;  /* which of them reads it last; n where it is a result */
    bool *done; /* within the kernel at hand, of a part of a plan */
};

static void drop(program *g)
{
    for (int i = 0; g && i < g->n; i++)
        if (g->own[i])
            ts_array_free(&g->value[i]);
    if (g)
        free(g->need), free(g->value), free(g->own), free(g->last), free(g->done);
    free(g);
}

static int place(const program *g, const node *n)
{
    int low = 0, high = g->n - 1;
    while (low < high) {
        const int mid = (low + high) / 2;
        if (g->need[mid]->id < n->id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static ts_array empty(const node *n)
{
    ts_array a = {.dtype = n->type.dtype, .rank = n->type.rank};
    memcpy(a.dim, n->type.dim, sizeof n->type.dim);
    return a;
}

static bool fill_leaf(program *g, int i, err *e)
{
    const node *n = g->need[i];
    g->value[i] = empty(n);
    if (n->leaf->kind == LEAF_INPUT)
        return true;
    if (!ts_array_make(&g->value[i], n->type.dtype, n->type.rank, n->type.dim, e))
        return false;
    g->own[i] = true;
    leaf_read(n, g->value[i].data, 0, type_count(&n->type));
    return true;
}

static void find_last(program *g)
{
    for (int i = 0; i < g->n; i++)
        for (int k = 0; k < g->need[i]->n_in; k++)
            g->last[place(g, g->need[i]->in[k])] = i;
    for (int i = 0; i < g->p->n_root; i++)
        g->last[place(g, g->p->root[i])] = g->n;
}

/* What node i was the last to read is gone until the next run; leaves stay. */
static void forget(program *g, int i)
{
    for (int k = 0; k < g->need[i]->n_in; k++) {
        const int at = place(g, g->need[i]->in[k]);
        if (g->last[at] == i && g->own[at] && !node_is_leaf(g->need[at]))
            ts_array_free(&g->value[at]), g->own[at] = false;
    }
}

/* n and what it is computed from, down to what is in memory */
static void want(const plan *p, const node *n, bool *wanted)
{
    wanted[n->id] = true;
    for (int i = 0; i < n->n_in; i++) {
        const node *x = n->in[i];
        const bool ends = node_is_leaf(x) || p->buffer[x->id].where != NOWHERE;
        if (!wanted[x->id] && !ends)
            want(p, x, wanted);
        wanted[x->id] = true;
    }
}

static void reach_kernels(program *g) /* of a part of a plan: its roots are not all that it computes */
{
    const plan *p = g->p;
    ENDED_BY(heap_free) bool *wanted = heap_array((size_t)p->g->n + 1, sizeof *wanted);
    g->need = heap_array((size_t)p->g->n + 1, sizeof *g->need);
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            want(p, p->kernel[k].stage[i].node, wanted);
    for (int i = 0; i < p->g->n; i++)
        if (wanted[i])
            g->need[g->n++] = p->g->node[i];
}

static void reach_roots(program *g)
{
    g->n = g_reach(g->p->n_root, g->p->root, NULL);
    g->need = heap_array((size_t)g->n + 1, sizeof *g->need);
    g_reach(g->p->n_root, g->p->root, g->need);
}

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = calloc(1, sizeof *g);
    (void)w, (void)facts;
    MUST(g);
    g->p = p;
    if (p->part)
        reach_kernels(g);
    else
        reach_roots(g);
    g->value = heap_array((size_t)g->n + 1, sizeof *g->value), g->own = heap_array((size_t)g->n + 1, sizeof *g->own);
    g->last = heap_array((size_t)g->n + 1, sizeof *g->last), g->done = heap_array((size_t)g->n + 1, sizeof *g->done);
    if (!p->part)
        find_last(g);
    bool ok = true;
    for (int i = 0; ok && i < g->n; i++)
        if (node_is_leaf(g->need[i]))
            ok = fill_leaf(g, i, e);
    if (ok)
        return g;
    drop(g);
    return NULL;
}

/* An index outside is told of the input that holds it, where that is known; anything else as it was found. */
static bool compute(program *g, int i, const ts_array *const *in, void *const *input, err *e)
{
    err found = {0};
    if (node_eval(g->need[i], in, &g->value[i], &found))
        return true;
    return found.code == TS_NUMERICS ? outside_node(g->p, g->need[i], input, &found, e)
                                     : err_set(e, found.code, "%s", found.text);
}

static bool evaluate(program *g, int i, void *const *input, err *e)
{
    const node *n = g->need[i];
    ENDED_BY(heap_free) const ts_array **in = heap_array((size_t)n->n_in + 1, sizeof *in);
    for (int k = 0; k < n->n_in; k++)
        in[k] = &g->value[place(g, n->in[k])];
    if (g->own[i])
        ts_array_free(&g->value[i]);
    g->own[i] = compute(g, i, in, input, e);
    return g->own[i];
}

static void take_inputs(program *g, void *const *input)
{
    for (int i = 0; i < g->p->n_input; i++)
        g->value[place(g, g->p->input[i])].data = input[i];
}

static void write_inputs(program *g, void *const *input) /* when all is read */
{
    for (int i = 0; i < g->p->n_root; i++) {
        const node *n = g->p->root[i];
        const buffer *h = &g->p->buffer[n->id];
        if (!node_is_leaf(n) && h->where == IN_INPUT)
            memcpy(input[h->index], g->value[place(g, n)].data, (size_t)type_bytes(&n->type));
    }
}

static bool run(program *g, void *const *input, err *e)
{
    take_inputs(g, input);
    for (int i = 0; i < g->n; i++) {
        if (node_is_leaf(g->need[i]))
            continue;
        if (!evaluate(g, i, input, e))
            return false;
        forget(g, i);
    }
    write_inputs(g, input);
    return true;
}

/* ---- parts of plans ---- */
static bool passing(const program *g, int i) /* a value within a kernel */
{
    return !node_is_leaf(g->need[i]) && g->p->buffer[g->need[i]->id].where == NOWHERE;
}

static bool evaluate_down(program *g, int i, void *const *input,
                          err *e) /* with what it is computed from within its kernel */
{
    const node *n = g->need[i];
    for (int k = 0; k < n->n_in; k++) {
        const int at = place(g, n->in[k]);
        if (passing(g, at) && !g->done[at] && !evaluate_down(g, at, input, e))
            return false;
    }
    return g->done[i] = evaluate(g, i, input, e);
}

/* Values within a kernel are dropped behind it, as scratch is. */
static bool span(program *g, void *const *input, int first, int end, err *e)
{
    const plan *p = g->p;
    take_inputs(g, input);
    for (int k = first; k < end; k++) {
        for (int s = 0; s < p->kernel[k].n_stage; s++)
            if (!p->kernel[k].stage[s].scratch && !evaluate_down(g, place(g, p->kernel[k].stage[s].node), input, e))
                return false;
        for (int i = 0; i < g->n; i++)
            if (g->done[i] && passing(g, i))
                ts_array_free(&g->value[i]), g->own[i] = g->done[i] = false;
    }
    if (end == p->n_kernel)
        write_inputs(g, input);
    return true;
}

static const void *at(const program *g, const node *n, dtype *stored)
{
    const int i = place(g, n);
    err e = {0};
    *stored = n->type.dtype;
    if (!g->own[i])
        g->own[i] = ts_array_make(&g->value[i], n->type.dtype, n->type.rank, n->type.dim, &e);
    return g->value[i].data;
}

static bool get(program *g, int root, ts_array *out, err *e)
{
    const node *n = g->p->root[root];
    (void)e;
    memcpy(out->data, g->value[place(g, n)].data, (size_t)type_bytes(&n->type));
    return true;
}

static const target *interp_target(arena *mem, const machine_options *asked, err *e)
{
    const target *t = cpu_target(mem, asked, e);
    target *slow = t ? arena_get(mem, sizeof *slow) : NULL;
    if (t)
        *slow = *t, slow->cost.cycles_per_second /= 1000; /* it reads expressions, element by element */
    return slow;
}

static const presence present = {.runs = cpu_runs, .here = cpu_here};
static const by_span spans = {.span = span};

const backend backend_interp = {
    .name = "interp",
    .kinds = "cpu",
    .doc =
        "The interpreter: every definition as it is written, in double precision; slow, and the judge of the others.",
    .as_written = true,
    .target = interp_target,
    .present = &present,
    .build = build,
    .run = run,
    .at = at,
    .get = get,
    .drop = drop,
    .spans = &spans,
    .in_host = true,
};
