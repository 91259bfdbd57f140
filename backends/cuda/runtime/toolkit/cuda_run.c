/* cuda_run.c - opens the CUDA device at the first run, keeps weights there, and launches the kernels as one graph. */
#include "backends/emit/runtime/device_run.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_OPERANDS = 1024 };

static struct {
    int open;
    CUstream stream;
    CUgraphExec graph;
    CUdeviceptr arena, spill, fault, *leaf, *input;
    int *faults;
} device;

static int did(CUresult s, const char *doing, const char *name)
{
    const char *what = NULL;
    if (s == CUDA_SUCCESS)
        return 1;
    if (cuGetErrorName(s, &what) || !what)
        what = "an unknown error";
    fprintf(stderr, "%s%s%s failed: %s\n", doing, *name ? " " : "", name, what);
    return 0;
}

static int begin(int number)
{
    CUdevice which;
    CUcontext context;
    return did(cuInit(0), "the start of CUDA's driver", "") &&
           did(cuDeviceGet(&which, number), "finding a device", "") &&
           did(cuDevicePrimaryCtxRetain(&context, which), "opening the device", "") &&
           did(cuCtxSetCurrent(context), "turning to the device", "") &&
           did(cuStreamCreate(&device.stream, CU_STREAM_NON_BLOCKING), "making a stream", "");
}

static int allocate(CUdeviceptr *at, long bytes)
{
    return did(cuMemAlloc(at, bytes ? (size_t)bytes : 1), "taking memory of the device", "");
}

/* ---- memory ---- */
static int find_memory(const device_program *p, const ts_run *r)
{
    device.leaf = calloc((size_t)p->leaves + 1, sizeof *device.leaf);
    device.input = calloc((size_t)p->inputs + 1, sizeof *device.input);
    device.faults = calloc((size_t)p->kernels + 1, sizeof *device.faults);
    int ok = device.leaf && device.input && device.faults && allocate(&device.arena, p->arena) &&
             allocate(&device.spill, p->spill) && allocate(&device.fault, 4L * (p->kernels + 1));
    for (int i = 0; i < p->leaves && ok; i++)
        ok = allocate(&device.leaf[i], p->leaf[i].bytes) &&
             (!p->leaf[i].bytes ||
              did(cuMemcpyHtoD(device.leaf[i], r->leaf[i], (size_t)p->leaf[i].bytes), "a copy of a weight", ""));
    for (int i = 0; i < p->inputs && ok; i++)
        ok = allocate(&device.input[i], p->input[i].bytes);
    return ok;
}

/* ---- kernels ---- */
static int load(const device_kernel *k, CUfunction *out)
{
    CUmodule module;
    char *image = device_file(k->file);
    const int ok = image && did(cuModuleLoadData(&module, image), "loading", k->name) &&
                   did(cuModuleGetFunction(out, module, k->name), "finding", k->name) &&
                   (!k->shared ||
                    did(cuFuncSetAttribute(*out, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)k->shared),
                        "asking for shared memory of", k->name));
    free(image);
    return ok;
}

static CUdeviceptr address(const device_place *p)
{
    return p->space == DEVICE_ARENA  ? device.arena + (CUdeviceptr)p->at
           : p->space == DEVICE_LEAF ? device.leaf[p->at]
                                     : device.input[p->at];
}

static int add(const device_program *p, int i, CUgraph graph, CUgraphNode *node)
{
    const device_kernel *k = &p->kernel[i];
    CUdeviceptr argument[MOST_OPERANDS + 2];
    void *at[MOST_OPERANDS + 2];
    CUDA_KERNEL_NODE_PARAMS how = {.gridDimX = k->groups,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = k->lanes,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = k->shared,
                                   .kernelParams = at};
    CUgraphNode *after = calloc((size_t)k->waits + 1, sizeof *after);
    int ok = after && k->operands <= MOST_OPERANDS;
    for (int o = 0; ok && o < k->operands; o++)
        argument[o] = address(&k->operand[o]);
    for (int w = 0; ok && w < k->waits; w++)
        after[w] = node[k->wait[w]];
    if (ok) {
        argument[k->operands] = device.spill;
        argument[k->operands + 1] = device.fault + 4 * (CUdeviceptr)i;
        for (int o = 0; o < k->operands + 2; o++)
            at[o] = &argument[o];
        ok = load(k, &how.func) &&
             did(cuGraphAddKernelNode(&node[i], graph, after, (size_t)k->waits, &how), "adding to the graph", k->name);
    }
    free(after);
    return ok;
}

static int make_graph(const device_program *p)
{
    CUgraph graph;
    CUgraphNode *node = calloc((size_t)p->kernels + 1, sizeof *node);
    int ok = node && did(cuGraphCreate(&graph, 0), "making a graph", "");
    for (int i = 0; i < p->kernels && ok; i++)
        ok = add(p, i, graph, node);
    ok = ok && did(cuGraphInstantiate(&device.graph, graph, 0), "building the graph", "");
    free(node);
    return ok;
}

/* ---- runs ---- */
static int run(const device_program *p, const ts_run *r)
{
    int ok = did(cuMemsetD32Async(device.fault, 0, (size_t)p->kernels + 1, device.stream), "clearing memory", "");
    for (int i = 0; i < p->inputs && ok; i++)
        ok = !p->input[i].bytes ||
             did(cuMemcpyHtoDAsync(device.input[i], r->input[i], (size_t)p->input[i].bytes, device.stream),
                 "a copy to the device", "");
    ok = ok && did(cuGraphLaunch(device.graph, device.stream), "launching the kernels", "") &&
         did(cuMemcpyDtoHAsync(device.faults, device.fault, sizeof *device.faults * (size_t)p->kernels, device.stream),
             "a copy from the device", "");
    for (int i = 0; i < p->values && ok; i++)
        ok = !p->value[i].bytes ||
             did(cuMemcpyDtoHAsync(r->arena + p->value[i].at, device.arena + (CUdeviceptr)p->value[i].at,
                                   (size_t)p->value[i].bytes, device.stream),
                 "a copy from the device", "");
    for (int i = 0; i < p->inputs && ok; i++)
        ok = !p->input[i].written || !p->input[i].bytes ||
             did(cuMemcpyDtoHAsync(r->input[i], device.input[i], (size_t)p->input[i].bytes, device.stream),
                 "a copy from the device", "");
    ok = ok && did(cuStreamSynchronize(device.stream), "a run", "");
    for (int i = 0; i < p->kernels && ok; i++)
        if (device.faults[i])
            *r->fault = 1;
    return ok;
}

void device_run(const device_program *p, const ts_run *r)
{
    if (!device.open)
        device.open = begin(p->device) && find_memory(p, r) && make_graph(p) ? 1 : -1;
    if (device.open < 0 || !run(p, r))
        *r->fault = RUN_SAID;
}
