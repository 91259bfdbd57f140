/* opencl_driver.c - memory, copies and kernels by OpenCL's functions. */
#ifndef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "backends/opencl/runtime/opencl_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_DEVICES = 64, LOG_BYTES = 1 << 14 };

static opencl_host *host(device *d)
{
    return (opencl_host *)d;
}

int opencl_did(opencl_host *h, int32_t answer, const char *doing)
{
    device *d = &h->d;
    switch (answer) {
    case CL_SUCCESS: return 1;
    case CL_NO_MEMORY_OBJECT:
    case CL_NO_HOST_MEMORY:
    case CL_BAD_BUFFER_SIZE:
        device_hint(d, "bind smaller dimensions, or run on another device");
        return device_wrong(d, DEVICE_NO_MEMORY, "%s: the device has no memory for it (OpenCL %d)", doing, (int)answer);
    case CL_NO_RESOURCES:
        return device_wrong(d, DEVICE_FAILED, "%s: the device has not enough of its resources (OpenCL %d)", doing,
                            (int)answer);
    default: return device_wrong(d, DEVICE_FAILED, "%s: the driver answers with OpenCL error %d", doing, (int)answer);
    }
}

/* ---- opening ---- */
static int open_loader(opencl_host *h, const char *path)
{
    const char *library = path ? path : OPENCL_LIBRARY;
    h->cl.library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!h->cl.library)
        return device_wrong(&h->d, DEVICE_ABSENT, "no OpenCL here: %s", dlerror());
    const char *missing = opencl_functions(&h->cl, h->cl.library);
    return !missing ||
           device_wrong(&h->d, DEVICE_FAILED, "%s has no function %s: OpenCL 1.2 is needed", library, missing);
}

static void name_of(const opencl *cl, cl_device id, char out[64])
{
    size_t have = 0;
    memset(out, 0, 64);
    if (cl->device_info(id, CL_DEVICE_NAME, 63, out, &have) != CL_SUCCESS)
        *out = 0;
    for (char *s = out; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 127)
            *s = '?';
}

static int no_device(opencl_host *h, int number, const opencl_device *all, int n)
{
    char have[200] = "";
    size_t at = 0;
    if (n < 1)
        return device_wrong(&h->d, DEVICE_ABSENT,
                            n ? "OpenCL has no driver here" : "OpenCL has drivers here, but no device");
    for (int i = 0; i < n && at < sizeof have; i++) {
        char name[64];
        name_of(&h->cl, all[i].device, name);
        at += (size_t)snprintf(have + at, sizeof have - at, "%s%d (%s)", i ? ", " : "", i, name);
    }
    device_hint(&h->d, "the devices are: %s", have);
    return device_wrong(&h->d, DEVICE_FAILED, "there is no OpenCL device %d", number);
}

int opencl_find(opencl_host *h, const device_where *w)
{
    opencl_device all[MOST_DEVICES];
    if (!open_loader(h, w->library))
        return 0;
    const int n = opencl_devices(&h->cl, all, MOST_DEVICES);
    if (w->number < 0 || w->number >= n)
        return no_device(h, w->number, all, n);
    h->id = all[w->number].device, h->platform = all[w->number].platform;
    h->shared = opencl_number(&h->cl, h->id, CL_SHARES_MEMORY) != 0;
    name_of(&h->cl, h->id, h->name);
    return 1;
}

/* Of a processor as many of its units as the plan is for. */
static int take_part(opencl_host *h, int units)
{
    cl_device part = NULL;
    if (opencl_part(&h->cl, h->id, units, &part) == CL_SUCCESS && part)
        return h->id = part, h->part = 1;
    device_hint(&h->d, "leave out the number of threads");
    return device_wrong(&h->d, DEVICE_FAILED, "%s does not let %d of its %d units run alone", h->name, units,
                        (int)opencl_number(&h->cl, h->id, CL_COMPUTE_UNITS));
}

static int open_device(device *d, const device_where *w)
{
    opencl_host *h = host(d);
    int32_t answer = CL_SUCCESS;
    if (!opencl_find(h, w) || (w->units && !take_part(h, w->units)))
        return 0;
    h->context = h->cl.context(NULL, 1, &h->id, NULL, NULL, &answer);
    if (!h->context)
        return opencl_did(h, answer, "opening the device");
    h->queue = h->stream[0] = h->cl.queue(h->context, h->id, 0, &answer);
    return h->queue || opencl_did(h, answer, "opening a queue");
}

/* PoCL's workers give up what a command holds, its queue last, when clFinish has long returned. With a queue they give
 * up its context and with that a part of a device, of which they then read on (3.1: now and then the process ends). */
void opencl_drop_queue(const opencl *cl, cl_queue q)
{
    enum { STEP = 50 * 1000, MOST = 20000 }; /* nanoseconds; steps: a second in all */
    uint32_t holders = 0;
    size_t have = 0;
    cl->finish(q);
    for (int i = 0; i < MOST; i++) {
        if (cl->queue_info(q, CL_QUEUE_HOLDERS, sizeof holders, &holders, &have) != CL_SUCCESS || holders < 2)
            break;
        nanosleep(&(struct timespec){.tv_nsec = STEP}, NULL);
    }
    cl->drop_queue(q);
}

static void forget(opencl_host *h) /* events; what was begun goes on */
{
    for (int k = 0; h->ended && k <= h->d.program->kernels; k++)
        if (h->ended[k])
            h->cl.drop_event(h->ended[k]);
    free(h->ended), h->ended = NULL, h->n_after = 0;
}

static void drop_memory(opencl_host *h)
{
    const device_program *p = h->d.program;
    for (int i = 0; p && h->memory && i < device_piece(p, DEVICE_EXTRAS); i++)
        if (h->memory[i])
            h->cl.drop_memory(h->memory[i]);
    for (int i = 0; i < 2; i++)
        if (h->copied[i])
            h->cl.drop_event(h->copied[i]);
    if (h->d.pinned) {
        h->cl.unmap(h->queue, h->staging, h->d.pinned, 0, NULL, NULL);
        h->cl.finish(h->queue);
    }
    if (h->staging)
        h->cl.drop_memory(h->staging);
}

static void close_device(device *d)
{
    opencl_host *h = host(d);
    for (int k = 0; h->kernel && k < d->program->all; k++)
        if (h->kernel[k])
            h->cl.drop_kernel(h->kernel[k]);
    for (int k = 0; h->program && k < d->program->all; k++)
        if (h->program[k])
            h->cl.drop_program(h->program[k]);
    drop_memory(h), forget(h);
    for (int i = DEVICE_STREAMS; i-- > 0;)
        if (h->stream[i])
            opencl_drop_queue(&h->cl, h->stream[i]);
    if (h->context)
        h->cl.drop_context(h->context);
    if (h->part)
        h->cl.drop_device(h->id);
    if (h->cl.library)
        dlclose(h->cl.library);
    free(h->memory), free(h->lent), free(h->mapped), free(h->kernel), free(h->program), free(h->told);
}

static int enter(device *d) /* its functions may be called from every thread */
{
    return d != NULL;
}

/* ---- streams ---- */
static cl_event *own_event(opencl_host *h) /* of the next command; it stands for those of the kernel before it */
{
    cl_event *own = h->ended ? &h->ended[h->now] : NULL;
    if (own && *own)
        h->cl.drop_event(*own), *own = NULL;
    return own;
}

static const cl_event *before(const opencl_host *h)
{
    return h->n_after ? h->after : NULL;
}

static int begun(opencl_host *h, int32_t answer, const char *doing)
{
    h->n_after = 0;
    return opencl_did(h, answer, doing);
}

static int mark(opencl_host *h)
{
    return begun(h, h->cl.marker(h->queue, h->n_after, before(h), own_event(h)), "marking a place in a queue");
}

/* What is begun next waits for kernel k of another stream, whose queue may go on by itself then. */
static int come_behind(opencl_host *h, int k, int stream)
{
    if (!h->ended[k])
        return 1;
    h->after[h->n_after++] = h->ended[k];
    return opencl_did(h, h->cl.flush(h->stream[stream]), "flushing a queue");
}

static int begin_turns(opencl_host *h)
{
    const device_program *p = h->d.program;
    int32_t answer = CL_SUCCESS;
    for (int s = 1; s < p->streams; s++)
        if (!h->stream[s] && !(h->stream[s] = h->cl.queue(h->context, h->id, 0, &answer)))
            return opencl_did(h, answer, "opening a queue");
    for (int s = 0; s < DEVICE_STREAMS; s++)
        h->latest[s] = -1;
    h->ended = calloc((size_t)p->kernels + 1, sizeof(cl_event)), h->now = p->kernels;
    return h->ended ? mark(h) : device_wrong(&h->d, DEVICE_NO_MEMORY, "no memory for lists");
}

/* In the first queue, behind all */
static int end_turns(opencl_host *h)
{
    int ok = 1;
    h->queue = h->stream[0], h->now = h->d.program->kernels;
    for (int s = 1; s < DEVICE_STREAMS && ok; s++)
        ok = h->latest[s] < 0 || come_behind(h, h->latest[s], s);
    ok = ok && (!h->n_after || mark(h));
    forget(h);
    return ok;
}

static int wait_for_others(opencl_host *h, const device_kernel *q)
{
    const device_kernel *all = h->d.program->kernel;
    int last[DEVICE_STREAMS], ok = 1;
    for (int s = 0; s < DEVICE_STREAMS; s++)
        last[s] = -1;
    for (int i = 0; i < q->waits; i++) /* those of one stream end in order */
        if (q->wait[i] > last[all[q->wait[i]].stream])
            last[all[q->wait[i]].stream] = q->wait[i];
    for (int s = 0; s < DEVICE_STREAMS && ok; s++)
        ok = s == q->stream || last[s] < 0 || come_behind(h, last[s], s);
    return ok && (!q->stream || h->latest[q->stream] >= 0 || come_behind(h, h->d.program->kernels, 0));
}

/* Of kernels that are timed one queue keeps the order. */
static int turn(device *d, int k)
{
    opencl_host *h = host(d);
    const device_kernel *q = k < 0 ? NULL : &d->program->kernel[k];
    int ok = h->watch || (h->ended ? (!h->n_after && h->ended[h->now]) || mark(h) : !q || begin_turns(h));
    if (h->watch || !ok || !h->ended)
        return ok;
    if (!q)
        return end_turns(h);
    h->queue = h->stream[q->stream], h->now = k;
    ok = wait_for_others(h, q);
    h->latest[q->stream] = k;
    return ok;
}

/* ---- memory ---- */
static int make_lists(opencl_host *h)
{
    const size_t n = (size_t)device_piece(h->d.program, DEVICE_EXTRAS);
    if (h->memory)
        return 1;
    h->memory = calloc(n, sizeof(cl_memory)), h->lent = calloc(n, sizeof *h->lent);
    h->mapped = calloc(n, 1);
    return (h->memory && h->lent && h->mapped) || device_wrong(&h->d, DEVICE_NO_MEMORY, "no memory for lists");
}

/* From here on a copy takes longer than what it takes to lend. (PoCL 3.1, two cores: to map and to unmap 10 us, 64 KiB
 * copied at 6 GB/s 11 us.) */
enum { LENT_LEAST = 64 << 10 };

static int is_lent(const opencl_host *h, int piece, long bytes)
{
    const device_program *p = h->d.program;
    return h->shared && bytes >= LENT_LEAST && piece >= device_input(p, 0) && piece < device_input(p, p->inputs);
}

/* A device says how large one piece may be: often a quarter of its memory. Pieces of 0 bytes are refused by drivers. */
static int take_memory(device *d, int piece, long bytes, const char *what)
{
    opencl_host *h = host(d);
    const uint64_t most = opencl_number(&h->cl, h->id, CL_MOST_BYTES);
    int32_t answer = CL_SUCCESS;
    if (!make_lists(h) || is_lent(h, piece, bytes))
        return !d->said.what;
    if (bytes > 0 && (uint64_t)bytes > most) {
        device_hint(d, "bind smaller dimensions, or run on another device");
        return device_wrong(d, DEVICE_NO_MEMORY, "%s: %ld bytes in one piece, %s gives %llu", what, bytes, h->name,
                            (unsigned long long)most);
    }
    h->memory[piece] = h->cl.memory(h->context, CL_READ_WRITE, bytes ? (size_t)bytes : 1, NULL, &answer);
    return h->memory[piece] || opencl_did(h, answer, what);
}

static int pin(device *d, long bytes)
{
    static const char doing[] = "pinned memory of the host";
    opencl_host *h = host(d);
    int32_t answer = CL_SUCCESS;
    if (h->shared)
        return 1;
    h->staging = h->cl.memory(h->context, CL_READ_WRITE | CL_OF_HOST, (size_t)bytes, NULL, &answer);
    if (!h->staging)
        return opencl_did(h, answer, doing);
    d->pinned = h->cl.map(h->queue, h->staging, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, (size_t)bytes, 0, NULL, NULL,
                          &answer);
    return d->pinned || opencl_did(h, answer, doing);
}

/* ---- lending ---- */
static int unmap(opencl_host *h, int piece)
{
    const int mapped = h->mapped[piece];
    h->mapped[piece] = 0;
    return !mapped ||
           opencl_did(h, h->cl.unmap(h->queue, h->memory[piece], h->lent[piece], 0, NULL, NULL), "lending an input");
}

static int lend(device *d, int piece, void *at, long bytes)
{
    opencl_host *h = host(d);
    int32_t answer = CL_SUCCESS;
    if (!is_lent(h, piece, bytes) || !unmap(h, piece))
        return 0;
    if (h->lent[piece] == at)
        return 1;
    if (h->memory[piece])
        h->cl.drop_memory(h->memory[piece]);
    h->memory[piece] = h->cl.memory(h->context, CL_READ_WRITE | CL_THE_HOSTS, (size_t)bytes, at, &answer);
    h->lent[piece] = at;
    if (h->told) /* places have changed */
        memset(h->told, 0, (size_t)d->program->all);
    return h->memory[piece] || opencl_did(h, answer, "lending an input");
}

/* Does not wait: the next call does. */
static int give_back(device *d, int piece, long bytes)
{
    opencl_host *h = host(d);
    int32_t answer = CL_SUCCESS;
    if (h->mapped[piece])
        return 1;
    h->mapped[piece] = h->cl.map(h->queue, h->memory[piece], CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, (size_t)bytes, 0,
                                 NULL, NULL, &answer) != NULL;
    return opencl_did(h, answer, "lending an input");
}

/* ---- copies ---- */
static int write_to(device *d, device_at to, const void *from, long bytes, int turn, const char *doing)
{
    opencl_host *h = host(d);
    return opencl_did(h,
                      h->cl.write(h->queue, h->memory[to.piece], CL_FALSE, (size_t)to.at, (size_t)bytes, from, 0, NULL,
                                  turn < 0 ? NULL : &h->copied[turn]),
                      doing);
}

static int read_from(device *d, void *to, device_at from, long bytes, int turn, const char *doing)
{
    opencl_host *h = host(d);
    return begun(h,
                 h->cl.read(h->queue, h->memory[from.piece], turn < 0 ? CL_TRUE : CL_FALSE, (size_t)from.at,
                            (size_t)bytes, to, h->n_after, before(h), turn < 0 ? NULL : &h->copied[turn]),
                 doing);
}

static int settle(device *d, int turn, const char *doing)
{
    opencl_host *h = host(d);
    cl_event *done = &h->copied[turn];
    const int32_t answer = *done ? h->cl.wait_for(1, done) : CL_SUCCESS;
    if (*done)
        h->cl.drop_event(*done);
    *done = NULL;
    return opencl_did(h, answer, doing);
}

static int copy(device *d, device_at to, device_at from, long bytes)
{
    opencl_host *h = host(d);
    return !bytes || begun(h,
                           h->cl.copy(h->queue, h->memory[from.piece], h->memory[to.piece], (size_t)from.at,
                                      (size_t)to.at, (size_t)bytes, h->n_after, before(h), own_event(h)),
                           "a copy on the device");
}

static int fill(opencl_host *h, device_at at, const void *pattern, size_t size, long bytes)
{
    return !bytes || begun(h,
                           h->cl.fill(h->queue, h->memory[at.piece], pattern, size, (size_t)at.at, (size_t)bytes,
                                      h->n_after, before(h), own_event(h)),
                           "filling memory");
}

static int clear(device *d, device_at at, long bytes)
{
    const char none = 0;
    return fill(host(d), at, &none, 1, bytes);
}

static int count(device *d, device_at at, long trip)
{
    const int64_t number = trip;
    return fill(host(d), at, &number, sizeof number, sizeof number);
}

/* ---- kernels ---- */
int opencl_kernel(opencl_host *h, int k, cl_program p)
{
    const size_t n = (size_t)h->d.program->all + 1;
    int32_t answer = CL_SUCCESS;
    if (!h->kernel)
        h->kernel = calloc(n, sizeof(cl_kernel)), h->told = calloc(n, 1);
    if (!h->kernel || !h->told)
        return device_wrong(&h->d, DEVICE_NO_MEMORY, "no memory for lists");
    h->kernel[k] = h->cl.kernel(p, h->d.program->kernel[k].name, &answer);
    return h->kernel[k] || opencl_did(h, answer, "making a kernel");
}

static int most_lanes(const device_program *p)
{
    int most = 0;
    for (int k = 0; k < p->all; k++)
        most = (int)p->kernel[k].lanes > most ? (int)p->kernel[k].lanes : most;
    return most;
}

static cl_program build(opencl_host *h, const char *file, const char *source)
{
    char options[256], doing[96];
    const size_t bytes = strlen(source);
    int32_t answer = CL_SUCCESS;
    opencl_options(options, &h->cl, h->id, most_lanes(h->d.program) > 1);
    cl_program made = h->cl.program(h->context, 1, &source, &bytes, &answer);
    if (made && (answer = h->cl.build(made, 1, &h->id, options, NULL, NULL)) != CL_SUCCESS) {
        char *log = calloc(1, LOG_BYTES + 1);
        size_t have = 0;
        if (log && h->cl.build_info(made, h->id, CL_BUILD_LOG, LOG_BYTES, log, &have) == CL_SUCCESS)
            device_hint(&h->d, "the driver says: %.200s", log);
        free(log), h->cl.drop_program(made), made = NULL;
    }
    snprintf(doing, sizeof doing, "building %.64s", file);
    return opencl_did(h, answer, doing) ? made : NULL;
}

static int load(device *d, int k, int like, const char *code)
{
    opencl_host *h = host(d);
    if (!h->program)
        h->program = calloc((size_t)d->program->all + 1, sizeof(cl_program));
    if (!h->program)
        return device_wrong(d, DEVICE_NO_MEMORY, "no memory for lists");
    if (like < 0 && !(h->program[k] = build(h, d->program->kernel[k].file, code)))
        return 0;
    return opencl_kernel(h, k, h->program[like < 0 ? k : like]);
}

static int ready(device *d)
{
    return d->by->wait(d, "a copy of the weights"); /* whose memory may go */
}

/* Each operand, spill and fault, and the number of the kernel of the plan that faults are told of. */
static int32_t set_arguments(opencl_host *h, int k, int outer, const device_at *operand)
{
    const device_program *p = h->d.program;
    const cl_kernel f = h->kernel[k];
    const int32_t told = outer;
    uint32_t n = 0;
    int32_t answer = CL_SUCCESS;
    for (int i = 0; i < p->kernel[k].operands && answer == CL_SUCCESS; i++) {
        const uint64_t offset = (uint64_t)operand[i].at;
        answer = h->cl.argument(f, n++, sizeof(cl_memory), &h->memory[operand[i].piece]);
        if (answer == CL_SUCCESS)
            answer = h->cl.argument(f, n++, sizeof offset, &offset);
    }
    if (answer == CL_SUCCESS)
        answer = h->cl.argument(f, n++, sizeof(cl_memory), &h->memory[device_piece(p, DEVICE_SPILL)]);
    if (answer == CL_SUCCESS)
        answer = h->cl.argument(f, n++, sizeof(cl_memory), &h->memory[device_piece(p, DEVICE_FAULT)]);
    return answer == CL_SUCCESS ? h->cl.argument(f, n, sizeof told, &told) : answer;
}

/* Behind these, of the extents that a run says, those that it mentions */
static int32_t set_extents(opencl_host *h, int k)
{
    const device_kernel *q = &h->d.program->kernel[k];
    uint32_t n = 2 * (uint32_t)q->operands + 3;
    int32_t answer = CL_SUCCESS;
    for (int v = 0; q->sizes >> v && answer == CL_SUCCESS; v++)
        if (q->sizes >> v & 1)
            answer = h->cl.argument(h->kernel[k], n++, sizeof h->d.size[v], &h->d.size[v]);
    return answer;
}

static void watch(opencl_host *h, cl_event done) /* keeps those of the first launch and of the last */
{
    if (!done || !h->watch[0]) {
        h->watch[0] = done ? done : h->watch[0];
        return;
    }
    if (h->watch[1])
        h->cl.drop_event(h->watch[1]);
    h->watch[1] = done;
}

static int launch(device *d, int k, int outer, const device_at *operand)
{
    opencl_host *h = host(d);
    const device_kernel *q = &d->program->kernel[k];
    const size_t lanes = q->lanes, items = lanes * q->groups;
    const int own = k < d->program->kernels; /* those of trips get their arguments at each launch */
    cl_event done = NULL;
    if (!items)
        return 1;
    if ((!h->told[k] && set_arguments(h, k, outer, operand) != CL_SUCCESS) || set_extents(h, k) != CL_SUCCESS)
        return device_wrong(d, DEVICE_FAILED, "kernel %d (%s): the driver does not take its arguments", k, q->name);
    h->told[k] = (char)own;
    const int32_t answer = h->cl.launch(h->queue, h->kernel[k], 1, NULL, &items, &lanes, h->n_after, before(h),
                                        h->watch ? &done : own_event(h));
    if (h->watch)
        watch(h, done);
    return begun(h, answer, "launching a kernel");
}

static int wait_all(device *d, const char *doing)
{
    opencl_host *h = host(d);
    return opencl_did(h, h->cl.finish(h->queue), doing);
}

const device_driver opencl_driver = {.bytes = sizeof(opencl_host),
                                     .open = open_device,
                                     .close = close_device,
                                     .enter = enter,
                                     .pin = pin,
                                     .take = take_memory,
                                     .lend = lend,
                                     .give_back = give_back,
                                     .write = write_to,
                                     .read = read_from,
                                     .settle = settle,
                                     .copy = copy,
                                     .clear = clear,
                                     .count = count,
                                     .load = load,
                                     .ready = ready,
                                     .turn = turn,
                                     .launch = launch,
                                     .wait = wait_all};
