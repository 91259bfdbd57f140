/* cuda_driver.c - memory, copies and kernels by the functions of CUDA's driver. */
#include "backends/cuda/runtime/cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 4096 };

static cuda_host *host(device *d)
{
    return (cuda_host *)d;
}

/* ---- what went wrong ---- */
int cuda_did(cuda_host *h, cu_status s, const char *doing)
{
    const char *name = NULL, *what = NULL;
    if (s == CU_OK)
        return 1;
    if (h->cu.error_name(s, &name) || !name)
        name = "an unknown error";
    if (h->cu.error_text(s, &what) || !what)
        what = "the driver has no words for it";
    return device_wrong(&h->d, DEVICE_FAILED, "cuda:%d%s%s%s: %s failed: %s, %s (%d)", h->number, *h->name ? " (" : "",
                        h->name, *h->name ? ")" : "", doing, name, what, s);
}

/* ---- opening ---- */
static void *open_library(const char *path)
{
    enum { MODE = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE }; /* it stays, so that the next device finds it at once */
    void *found = dlopen(path ? path : "libcuda.so.1", MODE);
    return found || path ? found : dlopen("libcuda.so", MODE);
}

/* Its version is asked first: what an old one lacks is then no riddle. */
static int open_driver(cuda_host *h, const char *path)
{
    device *d = &h->d;
    cu_api *a = &h->cu;
    a->library = open_library(path);
    if (!a->library)
        return device_wrong(d, DEVICE_ABSENT, "there is no driver of CUDA: %s", dlerror());
    *(void **)&a->driver_version = dlsym(a->library, "cuDriverGetVersion");
    if (!a->driver_version || a->driver_version(&a->version))
        return device_wrong(d, DEVICE_FAILED, "the driver library of CUDA does not say its version");
    if (a->version < CU_LEAST) {
        device_hint(d, "install a newer driver");
        return device_wrong(d, DEVICE_FAILED, "the driver of CUDA is too old: it serves version %d.%d, needed is %d.%d",
                            a->version / 1000, a->version % 1000 / 10, CU_LEAST / 1000, CU_LEAST % 1000 / 10);
    }
    const char *missing = cu_functions(a);
    return !missing || device_wrong(d, DEVICE_FAILED, "the driver library of CUDA has no function %s", missing);
}

static int find(cuda_host *h)
{
    int n = 0;
    const cu_status s = h->cu.init(0);
    if (s == CU_NO_DEVICE || (s == CU_OK && h->cu.device_count(&n) == CU_OK && n == 0)) {
        device_hint(&h->d, "nvidia-smi lists the devices; CUDA_VISIBLE_DEVICES hides those that it does not name");
        return device_wrong(&h->d, DEVICE_FAILED, "the driver of CUDA finds no device");
    }
    if (!cuda_did(h, s, "the start of the driver"))
        return 0;
    if (h->number >= n) {
        device_hint(&h->d, "there %s %d: cuda:0%s", n == 1 ? "is" : "are", n, n == 1 ? "" : " and on");
        return device_wrong(&h->d, DEVICE_FAILED, "there is no device cuda:%d", h->number);
    }
    return cuda_did(h, h->cu.device_get(&h->id, h->number), "asking for the device");
}

static int enter(device *d)
{
    cuda_host *h = host(d);
    return cuda_did(h, h->cu.context_use(h->context), "turning to the device");
}

int cuda_fact(const cuda_host *h, cu_attribute which)
{
    int v = 0;
    return h->cu.device_attribute(&v, (int)which, h->id) == CU_OK ? v : 0;
}

static int open_device(device *d, const device_where *w)
{
    cuda_host *h = host(d);
    h->number = w->number;
    if (!open_driver(h, w->library) || !find(h) ||
        !cuda_did(h, h->cu.device_name(h->name, (int)sizeof h->name, h->id), "asking for the device's name") ||
        !cuda_did(h, h->cu.context_retain(&h->context, h->id), "opening the device"))
        return 0;
    h->major = cuda_fact(h, CU_MAJOR), h->minor = cuda_fact(h, CU_MINOR);
    return enter(d) && cuda_did(h, h->cu.stream_make(&h->stream, CU_STREAM_APART), "making a stream");
}

static void close_device(device *d)
{
    cuda_host *h = host(d);
    const int entered = h->context && enter(d);
    if (entered && h->graph)
        h->cu.exec_free(h->graph);
    for (int i = 0; entered && h->memory && i < device_piece(d->program, DEVICE_EXTRAS); i++)
        if (h->memory[i])
            h->cu.release(h->memory[i]);
    for (int i = 0; entered && i < 2; i++)
        if (h->copied[i])
            h->cu.event_free(h->copied[i]);
    if (entered && d->pinned)
        h->cu.pinned_release(d->pinned);
    if (h->stream)
        h->cu.stream_free(h->stream);
    if (h->context)
        h->cu.context_release(h->id);
    if (h->cu.library)
        dlclose(h->cu.library);
    free(h->memory), free(h->function);
}

/* ---- memory ---- */
static int no_memory(cuda_host *h, long bytes, const char *what)
{
    size_t unused = 0, all = 0;
    if (h->cu.memory_free_bytes(&unused, &all))
        all = 0;
    device_hint(&h->d, "bind smaller dimensions, or end what else uses the device");
    return device_wrong(&h->d, DEVICE_FAILED,
                        "cuda:%d (%s) is out of memory: %s would take %ld bytes, %zu of %zu are free", h->number,
                        h->name, what, bytes, unused, all);
}

static int take_memory(device *d, int piece, long bytes, const char *what)
{
    cuda_host *h = host(d);
    if (!h->memory)
        h->memory = calloc((size_t)device_piece(d->program, DEVICE_EXTRAS), sizeof *h->memory);
    if (!h->memory)
        return device_wrong(d, DEVICE_NO_MEMORY, "no memory for lists");
    const cu_status s = h->cu.alloc(&h->memory[piece], bytes ? (size_t)bytes : 1);
    if (s != CU_OK)
        h->memory[piece] = 0;
    return s == CU_OUT_OF_MEMORY ? no_memory(h, bytes, what) : cuda_did(h, s, "taking memory of the device");
}

static int pin(device *d, long bytes)
{
    cuda_host *h = host(d);
    void *at = NULL;
    int ok = cuda_did(h, h->cu.pinned_alloc(&at, (size_t)bytes, 0), "taking pinned memory of the host");
    d->pinned = at;
    for (int i = 0; i < 2 && ok; i++)
        ok = cuda_did(h, h->cu.event_make(&h->copied[i], CU_EVENT_NO_TIMES), "making an event");
    return ok;
}

static cu_address address(const cuda_host *h, device_at at)
{
    return h->memory[at.piece] + (cu_address)at.at;
}

/* ---- copies ---- */
static int mark(cuda_host *h, int turn)
{
    return turn < 0 || cuda_did(h, h->cu.event_record(h->copied[turn], h->stream), "marking a copy");
}

static int write_to(device *d, device_at to, const void *from, long bytes, int turn, const char *doing)
{
    cuda_host *h = host(d);
    return cuda_did(h, h->cu.to_device(address(h, to), from, (size_t)bytes, h->stream), doing) && mark(h, turn);
}

static int read_from(device *d, void *to, device_at from, long bytes, int turn, const char *doing)
{
    cuda_host *h = host(d);
    return cuda_did(h, h->cu.to_host(to, address(h, from), (size_t)bytes, h->stream), doing) && mark(h, turn) &&
           (turn >= 0 || cuda_did(h, h->cu.stream_wait(h->stream), doing));
}

static int settle(device *d, int turn, const char *doing)
{
    cuda_host *h = host(d);
    return cuda_did(h, h->cu.event_wait(h->copied[turn]), doing);
}

static int copy(device *d, device_at to, device_at from, long bytes)
{
    cuda_host *h = host(d);
    return !bytes || cuda_did(h, h->cu.within(address(h, to), address(h, from), (size_t)bytes, h->stream),
                              "a copy on the device");
}

static int between(device *d, device_at to, const device *other, device_at from, long bytes)
{
    static const char doing[] = "a copy from another device";
    cuda_host *h = host(d);
    const cuda_host *o = (const cuda_host *)other;
    return cuda_did(h,
                    h->cu.between(address(h, to), h->context, address(o, from), o->context, (size_t)bytes, h->stream),
                    doing) &&
           cuda_did(h, h->cu.stream_wait(h->stream), doing);
}

static int clear(device *d, device_at at, long bytes)
{
    cuda_host *h = host(d);
    const cu_address to = address(h, at);
    const cu_status s = bytes % 4 || to % 4 ? h->cu.set_bytes(to, 0, (size_t)bytes, h->stream)
                        : bytes             ? h->cu.set(to, 0, (size_t)bytes / 4, h->stream)
                                            : CU_OK;
    return cuda_did(h, s, "clearing memory");
}

static int count(device *d, device_at at, long trip)
{
    cuda_host *h = host(d);
    const uint64_t n = (uint64_t)trip;
    return cuda_did(h, h->cu.set(address(h, at), (unsigned)n, 1, h->stream), "setting memory") &&
           cuda_did(h, h->cu.set(address(h, at) + 4, (unsigned)(n >> 32), 1, h->stream), "setting memory");
}

/* ---- functions ---- */
int cuda_load(cuda_host *h, const char *image, const char *name, cu_module *m, cu_function *f, cu_status *answer)
{
    char said[LOG_BYTES] = "";
    int option[] = {CU_JIT_LOG, CU_JIT_LOG_BYTES};
    void *value[] = {said, (void *)(uintptr_t)sizeof said};
    cu_status s = h->cu.module_load(m, image, 2, option, value);
    if (s)
        *m = NULL, said[sizeof said - 1] = 0;
    else
        s = h->cu.module_function(f, *m, name);
    if (answer)
        *answer = s;
    if (s == CU_OK || cuda_did(h, s, "loading a kernel"))
        return 1;
    if (*said)
        device_hint(&h->d, "of %s the driver says: %.180s", name, said);
    return 0;
}

static int asked(const cuda_host *h, cu_function f, cu_function_attribute which)
{
    int v = 0;
    return h->cu.function_attribute(&v, (int)which, f) == CU_OK ? v : 0;
}

/* Whether a block of it fits on the device; grants shared memory over what every kernel has. */
static int fits(cuda_host *h, cu_function f, const device_kernel *k)
{
    const int lanes = asked(h, f, CU_FN_LANES), own = asked(h, f, CU_FN_SHARED),
              most = cuda_fact(h, CU_GROUP_SHARED_MOST);
    if (lanes && k->lanes > (unsigned)lanes) {
        device_hint(&h->d, "use smaller steps of its loops over lanes, or a smaller register tile");
        return device_wrong(&h->d, DEVICE_FAILED,
                            "cuda:%d (%s): kernel %s is too large: groups have %u lanes, with its %d registers %d run",
                            h->number, h->name, k->name, k->lanes, asked(h, f, CU_FN_REGISTERS), lanes);
    }
    if ((long long)own + k->shared > most) {
        device_hint(&h->d, "copy smaller slices of its operands");
        return device_wrong(&h->d, DEVICE_FAILED,
                            "cuda:%d (%s): kernel %s is too large: a group takes %lld bytes of shared memory, %d are "
                            "there",
                            h->number, h->name, k->name, (long long)own + k->shared, most);
    }
    return !k->shared ||
           cuda_did(h, h->cu.function_set(f, CU_FN_DYNAMIC_SHARED, (int)k->shared), "asking for shared memory");
}

int cuda_take_function(cuda_host *h, int k, cu_function f)
{
    if (!h->function)
        h->function = calloc((size_t)h->d.program->all + 1, sizeof(cu_function));
    if (!h->function)
        return device_wrong(&h->d, DEVICE_NO_MEMORY, "no memory for lists");
    h->function[k] = f;
    return fits(h, f, &h->d.program->kernel[k]);
}

static int load(device *d, int k, int like, const char *code) /* a file has one function */
{
    cuda_host *h = host(d);
    cu_module module;
    cu_function f = like < 0 ? NULL : h->function[like];
    return (f || cuda_load(h, code, d->program->kernel[k].name, &module, &f, NULL)) && cuda_take_function(h, k, f);
}

/* ---- launches ---- */
enum { MOST_OPERANDS = 1024, MOST_BOXES = 8, RECORDED = 1 << 14 /* launches and copies of a graph, at most */ };
typedef struct arguments {
    cu_address of[MOST_OPERANDS + 4];
    void *at[MOST_OPERANDS + 4 + MOST_BOXES];
    cu_map map[MOST_BOXES];
} arguments;

/* What tells a device of a tensor of which it copies boxes by itself. Drivers of older devices may not have it. */
static int describe(cuda_host *h, const device_box *b, cu_address operand, cu_map *out)
{
    uint64_t extent[DEVICE_DIMS], stride[DEVICE_DIMS];
    uint32_t box[DEVICE_DIMS], step[DEVICE_DIMS];
    const int swizzle = b->row == 128 ? CU_MAP_SWIZZLE_128 : b->row == 64 ? CU_MAP_SWIZZLE_64 : b->row == 32;
    for (int i = 0; i < b->dims; i++) {
        extent[i] = (uint64_t)b->extent[i], box[i] = (uint32_t)b->count[i], step[i] = 1;
        if (i)
            stride[i - 1] = (uint64_t)b->stride[i];
    }
    if (!h->cu.map_tiled) {
        device_hint(&h->d, "install a newer driver, or plan for the device that is here");
        return device_wrong(&h->d, DEVICE_FAILED,
                            "cuda:%d (%s): slices come as boxes of tensors, and the driver has no function "
                            "cuTensorMapEncodeTiled",
                            h->number, h->name);
    }
    return cuda_did(h,
                    h->cu.map_tiled(out, b->size == 2 ? CU_MAP_U16 : CU_MAP_U32, (unsigned)b->dims,
                                    operand + (cu_address)b->first, extent, stride, box, step, 0, swizzle,
                                    CU_MAP_PROMOTE_128, 0),
                    "describing a tensor");
}

/* outer: the kernel of the plan that faults are told of */
static int give(cuda_host *h, int k, int outer, const device_at *operand, arguments *out)
{
    const device_program *p = h->d.program;
    const device_kernel *q = &p->kernel[k];
    const int n = q->operands;
    if (n > MOST_OPERANDS || q->boxes > MOST_BOXES)
        return device_wrong(&h->d, DEVICE_FAILED, "kernel %s takes %d operands", q->name, n);
    for (int i = 0; i < n; i++)
        out->of[i] = address(h, operand[i]);
    out->of[n] = h->memory[device_piece(p, DEVICE_SPILL)];
    out->of[n + 1] = h->memory[device_piece(p, DEVICE_FAULT)] + 4 * (cu_address)outer;
    int all = n + 2;
    if (q->asks)
        out->of[all++] = address(h, operand[n]);
    if (q->sizes)
        out->of[all++] = h->memory[device_piece(p, DEVICE_SIZES)];
    for (int i = 0; i < all; i++)
        out->at[i] = &out->of[i];
    int ok = 1;
    for (int b = 0; b < q->boxes && ok; b++) {
        ok = describe(h, &q->box[b], out->of[q->box[b].operand], &out->map[b]);
        out->at[all + b] = &out->map[b];
    }
    return ok;
}

static int launch(device *d, int k, int outer, const device_at *operand)
{
    cuda_host *h = host(d);
    const device_kernel *q = &d->program->kernel[k];
    arguments given;
    return give(h, k, outer, operand, &given) &&
           cuda_did(h,
                    h->cu.launch(h->function[k], q->groups, 1, 1, q->lanes, 1, 1, q->shared, h->stream, given.at, NULL),
                    "launching a kernel");
}

/* ---- graphs ---- */
static int add(cuda_host *h, int k, cu_graph graph, cu_node *node)
{
    const device_kernel *q = &h->d.program->kernel[k];
    arguments given;
    device_at operand[MOST_OPERANDS];
    const cu_kernel_node how = {.function = h->function[k],
                                .grid = {q->groups, 1, 1},
                                .block = {q->lanes, 1, 1},
                                .shared = q->shared,
                                .parameter = given.at};
    cu_node *after = calloc((size_t)q->waits + 1, sizeof(cu_node));
    int ok = after && q->operands <= MOST_OPERANDS;
    for (int i = 0; ok && i < q->waits; i++)
        after[i] = node[q->wait[i]];
    if (ok) {
        device_places(h->d.program, k, operand);
        ok = give(h, k, k, operand, &given) &&
             cuda_did(h, h->cu.graph_kernel(&node[k], graph, after, (size_t)q->waits, &how),
                      "adding a kernel to the graph");
    }
    free(after);
    return ok;
}

static int make_graph(cuda_host *h, cu_graph *graph)
{
    const device_program *p = h->d.program;
    cu_node *node = calloc((size_t)p->kernels + 1, sizeof(cu_node));
    int ok = node && cuda_did(h, h->cu.graph_make(graph, 0), "making a graph");
    for (int k = 0; k < p->kernels && ok; k++)
        ok = p->kernel[k].joins || add(h, k, *graph, node);
    free(node);
    return ok;
}

static int record(cuda_host *h, cu_graph *graph)
{
    if (!cuda_did(h, h->cu.stream_record(h->stream, CU_CAPTURE_THREAD), "recording a graph"))
        return 0;
    const int walked = device_kernels(&h->d, 0, h->d.program->kernels);
    const cu_status s = h->cu.stream_recorded(h->stream, graph);
    return walked && cuda_did(h, s, "recording a graph");
}

static int ready(device *d)
{
    cuda_host *h = host(d);
    const device_program *p = d->program;
    cu_graph graph = NULL;
    if (!p->kernels || (p->walked && device_steps(p, RECORDED) < 0))
        return 1;
    const int ok = (p->walked ? record(h, &graph) : make_graph(h, &graph)) &&
                   cuda_did(h, h->cu.graph_build(&h->graph, graph, 0), "building the graph");
    if (graph)
        h->cu.graph_free(graph);
    return ok;
}

static int start(device *d)
{
    cuda_host *h = host(d);
    return h->graph ? cuda_did(h, h->cu.graph_launch(h->graph, h->stream), "launching the graph")
                    : device_kernels(d, 0, d->program->kernels);
}

static int wait_all(device *d, const char *doing)
{
    cuda_host *h = host(d);
    return cuda_did(h, h->cu.stream_wait(h->stream), doing);
}

const device_driver cuda_driver = {.bytes = sizeof(cuda_host),
                                   .in_memory = 1,
                                   .open = open_device,
                                   .close = close_device,
                                   .enter = enter,
                                   .pin = pin,
                                   .take = take_memory,
                                   .write = write_to,
                                   .read = read_from,
                                   .settle = settle,
                                   .copy = copy,
                                   .between = between,
                                   .clear = clear,
                                   .count = count,
                                   .load = load,
                                   .ready = ready,
                                   .start = start,
                                   .launch = launch,
                                   .wait = wait_all};
