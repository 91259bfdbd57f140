/* launches.c - launches, and graphs of them. */
#include "backends/cuda/launches.h"

#include <stdlib.h>

static void **pointers_to(const launch *l) /* the driver takes an array of pointers to arguments */
{
    void **at = heap_array((size_t)(l->n + l->n_map) + 1, sizeof *at);
    for (int i = 0; i < l->n; i++)
        at[i] = &l->argument[i];
    for (int i = 0; i < l->n_map; i++)
        at[l->n + i] = &l->map[i];
    return at;
}

bool launch_one(const device *d, const launch *l, err *e)
{
    void **at = pointers_to(l);
    const cu_status s = d->cu.launch(l->function, l->groups, 1, 1, l->lanes, 1, 1, l->shared, d->stream, at, NULL);
    free(at);
    return device_did(d, s, "launching a kernel", e);
}

static bool add(const device *d, cu_graph g, const launch *l, cu_node *node, int k, err *e)
{
    void **at = pointers_to(&l[k]);
    cu_node *after = heap_array((size_t)l[k].n_wait + 1, sizeof *after);
    for (int i = 0; i < l[k].n_wait; i++)
        after[i] = node[l[k].wait[i]];
    const cu_kernel_node how = {.function = l[k].function,
                                .grid = {l[k].groups, 1, 1},
                                .block = {l[k].lanes, 1, 1},
                                .shared = l[k].shared,
                                .parameter = at};
    const cu_status s = d->cu.graph_kernel(&node[k], g, after, (size_t)l[k].n_wait, &how);
    free(at), free(after);
    return device_did(d, s, "adding a kernel to the graph", e);
}

cu_exec launch_graph(const device *d, int n, const launch *l, err *e)
{
    cu_graph g = NULL;
    cu_exec x = NULL;
    cu_node *node = heap_array((size_t)n + 1, sizeof *node);
    bool ok = device_did(d, d->cu.graph_make(&g, 0), "making a graph", e);
    for (int k = 0; k < n && ok; k++)
        ok = !l[k].function || add(d, g, l, node, k, e);
    ok = ok && device_did(d, d->cu.graph_build(&x, g, 0), "building the graph", e);
    if (g)
        d->cu.graph_free(g);
    free(node);
    return ok ? x : NULL;
}

cu_exec launch_record(const device *d, bool (*calls)(void *user, err *e), void *user, err *e)
{
    cu_graph g = NULL;
    cu_exec x = NULL;
    if (!device_did(d, d->cu.stream_record(d->stream, CU_CAPTURE_THREAD), "recording a graph", e))
        return NULL;
    bool ok = calls(user, e);
    const cu_status s = d->cu.stream_recorded(d->stream, &g);
    ok = ok && device_did(d, s, "recording a graph", e) &&
         device_did(d, d->cu.graph_build(&x, g, 0), "building the graph", e);
    if (g)
        d->cu.graph_free(g);
    return ok ? x : NULL;
}

bool launch_all(const device *d, cu_exec graph, err *e)
{
    return device_did(d, d->cu.graph_launch(graph, d->stream), "launching the graph", e);
}

static int asked(const device *d, const launch *l, cu_function_attribute which)
{
    int v = 0;
    return d->cu.function_attribute(&v, which, l->function) == CU_OK ? v : 0;
}

bool launch_fits(const device *d, const launch *l, const char *name, err *e)
{
    const int lanes = asked(d, l, CU_FN_LANES), own = asked(d, l, CU_FN_SHARED),
              most = device_fact(d, CU_GROUP_SHARED_MOST);
    if (lanes && l->lanes > (unsigned)lanes) {
        err_set(e, TS_DEVICE,
                "cuda:%d (%s): kernel %s is too large: groups have %u lanes, with its %d registers %d run", d->number,
                d->name, name, l->lanes, asked(d, l, CU_FN_REGISTERS), lanes);
        return err_hint(e, "use smaller steps of its loops over lanes, or a smaller register tile");
    }
    if ((int64_t)own + l->shared > most) {
        err_set(e, TS_DEVICE,
                "cuda:%d (%s): kernel %s is too large: a group takes %lld bytes of shared memory, %d are there",
                d->number, d->name, name, (long long)own + l->shared, most);
        return err_hint(e, "copy smaller slices of its operands");
    }
    return !l->shared || device_did(d, d->cu.function_set(l->function, CU_FN_DYNAMIC_SHARED, (int)l->shared),
                                    "asking for shared memory", e);
}
