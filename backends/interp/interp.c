/* interp.c - the interpreter as a target: node by node, element by element, from the definitions alone. It fuses
 * nothing, accepts everything, and judges everybody; it is slow. */
#include "backends/cpu/cpu.h"
#include "backends/outside.h"

#include <stdlib.h>
#include <string.h>

struct program {
    const plan *p;
    int n;
    const node **need; /* by id */
    ts_array *value;   /* as many */
    bool *own;
    int *last; /* which of them reads it last; n where it is a result */
};

static void drop(program *g)
{
    for (int i = 0; g && i < g->n; i++)
        if (g->own[i])
            ts_array_free(&g->value[i]);
    if (g)
        free(g->need), free(g->value), free(g->own), free(g->last);
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

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = calloc(1, sizeof *g);
    (void)w, (void)facts;
    MUST(g);
    g->p = p, g->n = g_reach(p->n_root, p->root, NULL);
    g->need = calloc((size_t)g->n + 1, sizeof *g->need), g->value = calloc((size_t)g->n + 1, sizeof *g->value);
    g->own = calloc((size_t)g->n + 1, sizeof *g->own);
    g->last = calloc((size_t)g->n + 1, sizeof *g->last);
    MUST(g->need && g->value && g->own && g->last);
    g_reach(p->n_root, p->root, g->need);
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
static bool evaluate(program *g, int i, const ts_array *const *in, void *const *input, err *e)
{
    err found = {0};
    if (node_eval(g->need[i], in, &g->value[i], &found))
        return true;
    return found.code == TS_NUMERICS ? outside_node(g->p, g->need[i], input, &found, e)
                                     : err_set(e, found.code, "%s", found.text);
}

static bool run(program *g, void *const *input, err *e)
{
    for (int i = 0; i < g->p->n_input; i++)
        g->value[place(g, g->p->input[i])].data = input[i];
    for (int i = 0; i < g->n; i++) {
        const node *n = g->need[i];
        if (node_is_leaf(n))
            continue;
        const ts_array **in = calloc((size_t)n->n_in + 1, sizeof *in);
        MUST(in);
        for (int k = 0; k < n->n_in; k++)
            in[k] = &g->value[place(g, n->in[k])];
        if (g->own[i])
            ts_array_free(&g->value[i]);
        g->own[i] = evaluate(g, i, in, input, e);
        free(in);
        if (!g->own[i])
            return false;
        forget(g, i);
    }
    for (int i = 0; i < g->p->n_root; i++) { /* when all is read */
        const node *n = g->p->root[i];
        const buffer *h = &g->p->buffer[n->id];
        if (!node_is_leaf(n) && h->where == IN_INPUT)
            memcpy(input[h->index], g->value[place(g, n)].data, (size_t)type_bytes(&n->type));
    }
    return true;
}

static bool get(program *g, int root, ts_array *out, err *e)
{
    const node *n = g->p->root[root];
    (void)e;
    memcpy(out->data, g->value[place(g, n)].data, (size_t)type_bytes(&n->type));
    return true;
}

const backend backend_interp = {
    .name = "interp",
    .kinds = "cpu",
    .doc =
        "The interpreter: every definition as it is written, in double precision; slow, and the judge of the others.",
    .as_written = true,
    .target = cpu_target,
    .here = cpu_here,
    .runs = cpu_runs,
    .build = build,
    .run = run,
    .get = get,
    .drop = drop,
};
