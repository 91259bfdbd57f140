/* launch.c - launches, graphs, and looking up functions of the API. */
#include "tests/gpusim/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- launches ---- */
static CUresult make_launch(operation **out, CUfunction f, const unsigned g[3], const unsigned b[3], unsigned shared,
                            void **parameters, void **extra)
{
    if (!f)
        return E_HANDLE;
    const function *fn = f->f;
    uint64_t threads = (uint64_t)b[0] * b[1] * b[2];
    for (int i = 0; i < 3; i++)
        if (!g[i] || !b[i])
            return E_VALUE;
    if (g[0] > 2147483647u || g[1] > 65535 || g[2] > 65535 || b[0] > 1024 || b[1] > 1024 || b[2] > 64 || threads > 1024)
        return E_VALUE;
    if (fn->maxntid[0] && threads > (uint64_t)fn->maxntid[0] * (unsigned)fn->maxntid[1] * (unsigned)fn->maxntid[2])
        return E_VALUE;
    if (threads > (uint64_t)most_lanes(fn))
        return E_RESOURCES;
    if (fn->reqntid[0])
        for (int i = 0; i < 3; i++)
            if (b[i] != (unsigned)fn->reqntid[i])
                return E_VALUE;
    if (shared > (unsigned)fn->dynamic_shared_limit ||
        (fn->dynamic_shared_limit <= 49152 && shared + fn->shared_static > 49152) ||
        shared + fn->shared_static > (unsigned)max_optin()) {
        sim_note("launch of %s with %u dynamic and %u static bytes of shared memory is over the limit", fn->name,
                 shared, fn->shared_static);
        return E_VALUE;
    }
    uint8_t *buf = calloc(1, fn->parameter_size + 1);
    if (parameters)
        for (int i = 0; i < fn->nparams; i++)
            memcpy(buf + fn->parameters[i].offset, parameters[i], fn->parameters[i].size);
    else if (extra) {
        const void *p = NULL;
        size_t n = 0;
        for (void **e = extra; *e; e += 2) {
            if (*e == (void *)1)
                p = e[1];
            else if (*e == (void *)2)
                n = *(size_t *)e[1];
            else {
                free(buf);
                return E_VALUE;
            }
        }
        if (!p || n < fn->parameter_size) {
            free(buf);
            return E_VALUE;
        }
        memcpy(buf, p, fn->parameter_size);
    } else if (fn->nparams) {
        free(buf);
        return E_VALUE;
    }
    operation *op = new_op(OP_LAUNCH);
    op->func = f;
    op->launch = (launch){.fn = fn,
                          .device = device_now(),
                          .grid = {g[0], g[1], g[2]},
                          .block = {b[0], b[1], b[2]},
                          .shared_dynamic = shared,
                          .parameters = buf};
    *out = op;
    return OK;
}
API cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, CUstream s, void **parameters, void **extra)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    operation *op;
    CUresult r = make_launch(&op, f, (unsigned[3]){gx, gy, gz}, (unsigned[3]){bx, by, bz}, shared, parameters, extra);
    return r ? r : submit(s, op);
}
API cuLaunchKernelEx(const launch_config *c, CUfunction f, void **parameters, void **extra)
{
    if (!c)
        return E_VALUE;
    if (c->numAttrs)
        return E_NOT_SUPPORTED;
    return cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
                          c->sharedMemBytes, c->hStream, parameters, extra);
}

/* ---- graphs ---- */
API cuStreamBeginCapture_v2(CUstream s, int mode)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)mode;
    s = resolve(s);
    if (s == &null_stream)
        return E_CAPTURE_UNSUPPORTED;
    if (s->capture)
        return E_VALUE;
    s->capture = calloc(1, sizeof *s->capture);
    s->origin = true;
    s->invalid = false;
    s->ndeps = 0;
    return OK;
}
static void destroy_graph(CUgraph g)
{
    for (int i = 0; i < g->n; i++)
        free_op(g->nodes[i]);
    free(g->nodes);
    free(g);
}
/* Is every node an ancestor of, or among, the given last nodes? */
static bool all_joined(const struct sim_graph *g, const int *last, int nlast)
{
    bool *seen = calloc((size_t)g->n + 1, 1), ok = true;
    for (int i = 0; i < nlast; i++)
        seen[last[i]] = true;
    for (int i = g->n - 1; i >= 0; i--)
        if (seen[i])
            for (int k = 0; k < g->nodes[i]->ndeps; k++)
                seen[g->nodes[i]->deps[k]] = true;
    for (int i = 0; i < g->n; i++)
        ok &= seen[i];
    free(seen);
    return ok;
}
API cuStreamEndCapture(CUstream s, CUgraph *g)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!g)
        return E_VALUE;
    s = resolve(s);
    *g = NULL;
    if (!s->capture)
        return E_VALUE;
    if (!s->origin)
        return E_CAPTURE_UNMATCHED;
    CUgraph made = s->capture;
    CUresult r = s->invalid ? E_CAPTURE_INVALIDATED : all_joined(made, s->deps, s->ndeps) ? OK : E_CAPTURE_UNJOINED;
    for (CUstream t = streams; t; t = t->next)
        if (t->capture == made) {
            if (t->invalid)
                r = E_CAPTURE_INVALIDATED;
            t->capture = NULL;
            t->origin = t->invalid = false;
            t->ndeps = 0;
        }
    if (r)
        destroy_graph(made);
    else
        *g = made;
    return r;
}
API cuStreamIsCapturing(CUstream s, int *status)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!status)
        return E_VALUE;
    s = resolve(s);
    *status = s->capture ? s->invalid ? 2 : 1 : 0;
    return OK;
}
API cuThreadExchangeStreamCaptureMode(int *mode)
{
    if (!mode)
        return E_VALUE;
    return OK;
}
API cuGraphCreate(CUgraph *g, unsigned flags)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(g && !flags))
        return E_VALUE;
    *g = calloc(1, sizeof **g);
    return OK;
}
API cuGraphDestroy(CUgraph g)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!g)
        return E_VALUE;
    destroy_graph(g);
    return OK;
}
API cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *n)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(g && n))
        return E_VALUE;
    if (nodes)
        for (size_t i = 0; i < *n; i++)
            nodes[i] = i < (size_t)g->n ? g->nodes[i] : NULL;
    if (!nodes || *n > (size_t)g->n)
        *n = (size_t)g->n;
    return OK;
}
API cuGraphNodeGetType(CUgraphNode n, int *t)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(n && t))
        return E_VALUE;
    *t = n->kind == OP_LAUNCH ? 0 : n->kind == OP_COPY ? 1 : n->kind == OP_SET ? 2 : n->kind == OP_HOST ? 3 : 5;
    return OK;
}
static CUresult add_explicit(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, operation *op)
{
    int *index = calloc((n + 1), sizeof *index);
    for (size_t i = 0; i < n; i++)
        index[i] = deps[i]->index;
    add_node(g, op, index, (int)n);
    free(index);
    if (out)
        *out = op;
    return OK;
}
API cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                            const kernel_node_parameters *p)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(g && p))
        return E_VALUE;
    operation *op;
    CUresult r = make_launch(&op, p->func, (unsigned[3]){p->gridDimX, p->gridDimY, p->gridDimZ},
                             (unsigned[3]){p->blockDimX, p->blockDimY, p->blockDimZ}, p->sharedMemBytes,
                             p->kernelParams, p->extra);
    return r ? r : add_explicit(out, g, deps, n, op);
}
API cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                         const memset_node_parameters *p, CUcontext c)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)c;
    if (!(g && p && p->height <= 1))
        return E_VALUE;
    if (!mem_host(p->dst, p->width * p->elementSize))
        return E_VALUE;
    operation *op = new_op(OP_SET);
    op->dst = p->dst;
    op->value = p->value;
    op->element = p->elementSize;
    op->bytes = p->width * p->elementSize;
    return add_explicit(out, g, deps, n, op);
}
API cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, const memcpy_3d *p,
                         CUcontext c)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)c;
    if (!(g && p && p->height <= 1 && p->depth <= 1))
        return E_VALUE;
    operation *op = new_op(OP_COPY);
    op->src_host = p->srcType == 1;
    op->dst_host = p->dstType == 1;
    op->src = (op->src_host ? PTR(p->srcHost) : p->srcDevice) + p->srcX;
    op->dst = (op->dst_host ? PTR(p->dstHost) : p->dstDevice) + p->dstX;
    op->bytes = p->width;
    return add_explicit(out, g, deps, n, op);
}
API cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!g)
        return E_VALUE;
    return add_explicit(out, g, deps, n, new_op(OP_EMPTY));
}
API cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)flags;
    if (!(out && g))
        return E_VALUE;
    *out = calloc(1, sizeof **out);
    for (int i = 0; i < g->n; i++)
        add_node(*out, clone_op(g->nodes[i]), g->nodes[i]->deps, g->nodes[i]->ndeps);
    return OK;
}
API cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g, graph_instantiate_parameters *p)
{
    if (!p)
        return E_VALUE;
    p->result_out = 0;
    return cuGraphInstantiateWithFlags(out, g, p->flags);
}
API cuGraphInstantiate_v2(CUgraphExec *out, CUgraph g, CUgraphNode *bad, char *log, size_t n)
{
    if (bad)
        *bad = NULL;
    if (log && n)
        *log = 0;
    return cuGraphInstantiateWithFlags(out, g, 0);
}
API cuGraphExecDestroy(CUgraphExec e)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!e)
        return E_VALUE;
    drain_all();
    destroy_graph(e);
    return sticky;
}
API cuGraphUpload(CUgraphExec e, CUstream s)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)s;
    return e ? OK : E_VALUE;
}
API cuGraphExecKernelNodeSetParams_v2(CUgraphExec e, CUgraphNode node, const kernel_node_parameters *p)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(e && node && p && node->index < e->n && e->nodes[node->index]->kind == OP_LAUNCH))
        return E_VALUE;
    operation *op, *old = e->nodes[node->index];
    CUresult r = make_launch(&op, p->func, (unsigned[3]){p->gridDimX, p->gridDimY, p->gridDimZ},
                             (unsigned[3]){p->blockDimX, p->blockDimY, p->blockDimZ}, p->sharedMemBytes,
                             p->kernelParams, p->extra);
    if (r)
        return r;
    free(old->launch.parameters);
    old->launch = op->launch;
    old->func = op->func;
    op->launch.parameters = NULL;
    free_op(op);
    return OK;
}
/* Nodes run in the order of their dependencies; with SIMCUDA_ORDER the latest ready node
 * goes first, so that a missing dependency shows. */
API cuGraphLaunch(CUgraphExec e, CUstream s)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!e)
        return E_HANDLE;
    bool *done = calloc((size_t)e->n + 1, 1);
    CUresult r = OK;
    for (int left = e->n; left > 0 && !r; left--) {
        int pick = -1;
        for (int i = 0; i < e->n; i++) {
            bool ready = !done[i];
            for (int k = 0; k < e->nodes[i]->ndeps; k++)
                ready &= done[e->nodes[i]->deps[k]];
            if (ready && (pick < 0 || sim_opt.order))
                pick = i;
        }
        if (pick < 0) {
            r = E_VALUE;
            break;
        }
        done[pick] = true;
        r = submit(s, clone_op(e->nodes[pick]));
    }
    free(done);
    return r;
}

/* ---- looking up functions ---- */
API cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status)
{
    static const char *suffix[] = {"_v4", "_v3", "_v2", ""};
    (void)version;
    (void)flags;
    if (!(name && fn))
        return E_VALUE;
    *fn = NULL;
    Dl_info info;
    if (strncmp(name, "cu", 2) == 0 && dladdr((void *)(uintptr_t)cuGetProcAddress_v2, &info)) {
        void *self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        for (int i = 0; self && i < 4 && !*fn; i++) {
            char full[128];
            snprintf(full, sizeof full, "%s%s", name, suffix[i]);
            if (strcmp(full, "cuCtxCreate_v4") == 0 && version < 13000)
                continue;
            *fn = dlsym(self, full);
        }
        if (!*fn && self && strcmp(name, "cuGraphInstantiate") == 0)
            *fn = dlsym(self, "cuGraphInstantiateWithFlags");
        if (self)
            dlclose(self);
    }
    if (status)
        *status = *fn ? 0 : 1;
    return *fn ? OK : E_NOT_FOUND;
}
/* NVRTC asks the driver for private tables (if it finds one loaded) and looks at the first word,
 * the table's size, whatever this returns: an empty table makes it go on without. */
API cuGetExportTable(const void **table, const void *id)
{
    static const size_t empty[8] = {sizeof(size_t)};
    (void)id;
    if (!table)
        return E_VALUE;
    *table = empty;
    return OK;
}
API cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(name, fn, version, flags, NULL);
}
