/* cuda_run.c - opens the CUDA device at the first run, keeps weights there, and launches the kernels as one graph;
 * trips of loops too, where the host need not hear of them. */
#include "backends/emit/runtime/device_pieces.h"
#include "backends/emit/runtime/device_trips.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_OPERANDS = 1024, MOST_BOXES = 8, RECORDED = 1 << 14 /* launches and copies of a graph, at most */ };

static struct {
    int open;
    CUstream stream;
    CUgraphExec graph;
    CUdeviceptr arena, spill, fault, counts, sizes, *leaf, *input;
    CUfunction *function; /* of each kernel; of loops and copies none */
    int *faults;          /* pinned: by kernel; behind these whether a trip was the last one */
    device_pieces pieces; /* by way of which all else goes there and comes back */
    CUevent done[2];      /* by piece: the copy from it, or to it, is */
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

/* ---- copies ---- */
typedef struct copying {
    CUdeviceptr device;
    const char *doing;
} copying;

static int mark(int which)
{
    return did(cuEventRecord(device.done[which], device.stream), "marking a copy", "");
}

static int send(void *user, int which, char *piece, long at, long bytes)
{
    const copying *c = user;
    return did(cuMemcpyHtoDAsync(c->device + (CUdeviceptr)at, piece, (size_t)bytes, device.stream), c->doing, "") &&
           mark(which);
}

static int fetch(void *user, int which, char *piece, long at, long bytes)
{
    const copying *c = user;
    return did(cuMemcpyDtoHAsync(piece, c->device + (CUdeviceptr)at, (size_t)bytes, device.stream), c->doing, "") &&
           mark(which);
}

static int settle(void *user, int which)
{
    const copying *c = user;
    return did(cuEventSynchronize(device.done[which]), c->doing, "");
}

static int to_device(CUdeviceptr to, const void *from, long bytes, const char *doing)
{
    copying own = {to, doing};
    return device_give(&device.pieces, &(device_copying){&own, send, settle}, from, bytes);
}

static int to_host(void *to, CUdeviceptr from, long bytes)
{
    copying own = {from, "a copy from the device"};
    return device_take(&device.pieces, &(device_copying){&own, fetch, settle}, to, bytes);
}

static int pin(const device_program *p)
{
    static const char doing[] = "pinning memory";
    const long piece = device_piece(device_most(p));
    device.pieces.piece = piece;
    return did(cuMemHostAlloc((void **)&device.pieces.at, 2 * (size_t)piece, 0), doing, "") &&
           did(cuMemHostAlloc((void **)&device.faults, sizeof *device.faults * ((size_t)p->kernels + 1), 0), doing,
               "") &&
           did(cuEventCreate(&device.done[0], CU_EVENT_DISABLE_TIMING), doing, "") &&
           did(cuEventCreate(&device.done[1], CU_EVENT_DISABLE_TIMING), doing, "");
}

/* ---- memory ---- */
static int find_memory(const device_program *p, const ts_run *r)
{
    device.leaf = calloc((size_t)p->leaves + 1, sizeof *device.leaf);
    device.input = calloc((size_t)p->inputs + 1, sizeof *device.input);
    int ok = device.leaf && device.input && pin(p) && allocate(&device.arena, p->arena) &&
             allocate(&device.spill, p->spill) && allocate(&device.fault, 4L * (p->kernels + 1)) &&
             allocate(&device.counts, (long)COUNT_BYTES * p->loops) &&
             allocate(&device.sizes, (long)sizeof(long) * p->sizes);
    /* Of extents that a run says, trips read what lies behind the end: numbers, whichever these are. */
    if (ok && p->sizes)
        ok = did(cuMemsetD8Async(device.arena, 0, (size_t)p->arena, device.stream), "clearing memory", "");
    for (int i = 0; i < p->leaves && ok; i++)
        ok = allocate(&device.leaf[i], p->leaf[i].bytes) &&
             to_device(device.leaf[i], r->leaf[i], p->leaf[i].bytes, "a copy of a weight");
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

static int load_all(const device_program *p)
{
    device.function = calloc((size_t)p->all + 1, sizeof *device.function);
    int ok = device.function != NULL;
    for (int k = 0; k < p->all && ok; k++)
        ok = p->kernel[k].loop || p->kernel[k].copies || p->kernel[k].joins || load(&p->kernel[k], &device.function[k]);
    return ok;
}

static CUdeviceptr address(const device_program *p, device_at at)
{
    const CUdeviceptr piece = !at.piece                           ? device.arena
                              : at.piece <= p->leaves             ? device.leaf[at.piece - 1]
                              : at.piece <= p->leaves + p->inputs ? device.input[at.piece - 1 - p->leaves]
                                                                  : device.counts;
    return piece + (CUdeviceptr)at.at;
}

typedef struct arguments {
    CUdeviceptr of[MOST_OPERANDS + 4];
    void *at[MOST_OPERANDS + 4 + MOST_BOXES];
    CUtensorMap map[MOST_BOXES];
} arguments;

typedef CUresult (*encoding)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                             const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                             CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* Drivers of older devices may not have it: it is asked for where a kernel needs it. */
static int describe(const device_box *b, CUdeviceptr operand, CUtensorMap *out)
{
    static encoding encode;
    CUdriverProcAddressQueryResult found;
    cuuint64_t extent[DEVICE_DIMS], stride[DEVICE_DIMS];
    cuuint32_t count[DEVICE_DIMS], step[DEVICE_DIMS];
    if (!encode &&
        !did(cuGetProcAddress("cuTensorMapEncodeTiled", (void **)&encode, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found),
             "finding cuTensorMapEncodeTiled", ""))
        return 0;
    for (int d = 0; d < b->dims; d++) {
        extent[d] = (cuuint64_t)b->extent[d], count[d] = (cuuint32_t)b->count[d], step[d] = 1;
        if (d)
            stride[d - 1] = (cuuint64_t)b->stride[d];
    }
    return encode && did(encode(out, b->size == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16 : CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                (cuuint32_t)b->dims, (void *)(operand + (CUdeviceptr)b->first), extent, stride, count,
                                step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                b->row == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                : b->row == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                : b->row == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                               : CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                         "describing a tensor", "");
}

/* outer: the kernel of the plan that faults are told of */
static int give(const device_program *p, int k, int outer, const device_at *operand, arguments *out)
{
    const int n = p->kernel[k].operands;
    if (n > MOST_OPERANDS)
        return 0;
    for (int o = 0; o < n; o++)
        out->of[o] = address(p, operand[o]);
    out->of[n] = device.spill;
    out->of[n + 1] = device.fault + 4 * (CUdeviceptr)outer;
    int all = n + 2;
    if (p->kernel[k].asks)
        out->of[all++] = address(p, operand[n]);
    if (p->kernel[k].sizes)
        out->of[all++] = device.sizes;
    for (int o = 0; o < all; o++)
        out->at[o] = &out->of[o];
    for (int b = 0; b < p->kernel[k].boxes; b++) {
        const device_box *box = &p->kernel[k].box[b];
        if (b == MOST_BOXES || !describe(box, out->of[box->operand], &out->map[b]))
            return 0;
        out->at[all + b] = &out->map[b];
    }
    return 1;
}

static int add(const device_program *p, int i, CUgraph graph, CUgraphNode *node)
{
    const device_kernel *k = &p->kernel[i];
    arguments given;
    device_at operand[MOST_OPERANDS];
    CUDA_KERNEL_NODE_PARAMS how = {.func = device.function[i],
                                   .gridDimX = k->groups,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = k->lanes,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = k->shared,
                                   .kernelParams = given.at};
    CUgraphNode *after = calloc((size_t)k->waits + 1, sizeof *after);
    int ok = after && k->operands <= MOST_OPERANDS;
    for (int w = 0; ok && w < k->waits; w++)
        after[w] = node[k->wait[w]];
    if (ok) {
        device_places(p, i, operand);
        ok = give(p, i, i, operand, &given) &&
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
        ok = p->kernel[i].joins || add(p, i, graph, node);
    ok = ok && did(cuGraphInstantiate(&device.graph, graph, 0), "building the graph", "");
    free(node);
    return ok;
}

/* ---- loops ---- */
static int launch(void *user, int which, int outer, const device_at *operand)
{
    const device_program *p = user;
    const device_kernel *k = &p->kernel[which];
    arguments given;
    return give(p, which, outer, operand, &given) &&
           did(cuLaunchKernel(device.function[which], k->groups, 1, 1, k->lanes, 1, 1, k->shared, device.stream,
                              given.at, NULL),
               "launching", k->name);
}

static int copy(void *user, device_at to, device_at from, long bytes)
{
    return !bytes || did(cuMemcpyDtoDAsync(address(user, to), address(user, from), (size_t)bytes, device.stream),
                         "a copy on the device", "");
}

static int clear(void *user, device_at at, long bytes)
{
    return did(cuMemsetD8Async(address(user, at), 0, (size_t)bytes, device.stream), "clearing memory", "");
}

static int count(void *user, device_at at, long trip)
{
    const unsigned long long n = (unsigned long long)trip;
    return did(cuMemsetD32Async(address(user, at), (unsigned)n, 1, device.stream), "setting memory", "") &&
           did(cuMemsetD32Async(address(user, at) + 4, (unsigned)(n >> 32), 1, device.stream), "setting memory", "");
}

static int truth(void *user, device_at at, int *is)
{
    const device_program *p = user;
    unsigned char *byte = (unsigned char *)&device.faults[p->kernels];
    const int ok = did(cuMemcpyDtoHAsync(byte, address(p, at), 1, device.stream), "a copy from the device", "") &&
                   did(cuStreamSynchronize(device.stream), "a trip of a loop", "");
    *is = ok && *byte;
    return ok;
}

static int walk(const device_program *p)
{
    const device_calls calls = {(void *)(size_t)p, launch, copy, clear, count, truth};
    return device_kernels(p, &calls, 0, p->kernels);
}

/* Trips of which the host need not hear are one graph, too. */
static int record(const device_program *p)
{
    CUgraph graph;
    if (device_steps(p, RECORDED) < 0)
        return 1;
    int ok = did(cuStreamBeginCapture(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "recording a graph", "");
    const int walked = ok && walk(p);
    return ok && did(cuStreamEndCapture(device.stream, &graph), "recording a graph", "") && walked &&
           did(cuGraphInstantiate(&device.graph, graph, 0), "building the graph", "");
}

/* ---- runs ---- */
static int run(const device_program *p, const ts_run *r)
{
    int ok = did(cuMemsetD32Async(device.fault, 0, (size_t)p->kernels + 1, device.stream), "clearing memory", "");
    for (int i = 0; i < p->inputs && ok; i++)
        ok = to_device(device.input[i], r->input[i], p->input[i].bytes, "a copy to the device");
    if (ok && p->sizes)
        ok = to_device(device.sizes, r->input[p->inputs], (long)sizeof(long) * p->sizes, "a copy to the device");
    ok = ok &&
         (device.graph ? did(cuGraphLaunch(device.graph, device.stream), "launching the kernels", "") : walk(p)) &&
         did(cuMemcpyDtoHAsync(device.faults, device.fault, sizeof *device.faults * (size_t)p->kernels, device.stream),
             "a copy from the device", "");
    for (int i = 0; i < p->values && ok; i++)
        ok = to_host(r->arena + p->value[i].at, device.arena + (CUdeviceptr)p->value[i].at, p->value[i].bytes);
    for (int i = 0; i < p->inputs && ok; i++)
        ok = !p->input[i].written || to_host(r->input[i], device.input[i], p->input[i].bytes);
    ok = ok && did(cuStreamSynchronize(device.stream), "a run", "");
    for (int i = 0; i < p->kernels && ok; i++)
        if (device.faults[i])
            *r->fault = 1;
    return ok;
}

void device_run(const device_program *p, const ts_run *r)
{
    if (!device.open)
        device.open = begin(p->device) && find_memory(p, r) && load_all(p) && (p->walked ? record(p) : make_graph(p))
                          ? 1
                          : -1;
    if (device.open < 0 || !run(p, r))
        *r->fault = RUN_SAID;
}
