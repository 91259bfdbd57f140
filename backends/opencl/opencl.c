/* opencl.c - the OpenCL back end: programs for one device, kernels launched one after another in one queue, which keeps
 * their order, or in several with events between; large inputs are lent to a device that shares the host's memory. */
#include "backends/opencl/units.h"

#include <stdlib.h>

static device *open_device(const plan *p, err *e)
{
    const ocl_device *planned = ocl_device_of(p->on);
    device *d = device_make(&opencl_driver);
    MUST(d);
    if (ocl_open((opencl_host *)d, planned->number, ocl_part(planned), e))
        return d;
    return free(d), NULL;
}

/* ---- times, in a queue of its own, which keeps them ---- */
typedef struct ocl_times {
    cl_queue plain, timed;
    cl_event event[]; /* of each kernel: its first launch and its last; behind them of none */
} ocl_times;

static void time_end(device *d, void *times, int n)
{
    opencl_host *h = (opencl_host *)d;
    ocl_times *t = times;
    for (int i = 0; i < 2 * n; i++)
        if (t->event[i])
            h->cl.drop_event(t->event[i]);
    if (t->timed)
        opencl_drop_queue(&h->cl, t->timed);
    h->queue = t->plain, h->watch = NULL;
    free(t);
}

static void *time_begin(device *d, int n)
{
    opencl_host *h = (opencl_host *)d;
    int32_t answer = CL_SUCCESS;
    ocl_times *t = calloc(1, sizeof *t + (2 * (size_t)n + 2) * sizeof(cl_event));
    MUST(t);
    t->plain = h->queue;
    if (d->by->wait(d, "a copy to the device"))
        t->timed = h->cl.queue(h->context, h->id, CL_QUEUE_TIMES, &answer);
    if (t->timed)
        return h->queue = t->timed, t;
    opencl_did(h, answer, "opening a queue that keeps times"), time_end(d, t, n);
    return NULL;
}

static int time_mark(device *d, void *times, int k)
{
    return ((opencl_host *)d)->watch = ((ocl_times *)times)->event + 2 * (size_t)k, 1;
}

static int moment_of(opencl_host *h, cl_event v, uint32_t what, uint64_t *at) /* nanoseconds of the device's clock */
{
    size_t have;
    return !v || opencl_did(h, h->cl.event_time(v, what, sizeof *at, at, &have), "reading the time of a kernel");
}

/* From the start of the first launch to the end of the last; of a scan with all between them. */
static int time_read(device *d, void *times, int n, double *seconds)
{
    opencl_host *h = (opencl_host *)d;
    int ok = 1;
    for (int k = 0; k < n && ok; k++) {
        const cl_event *v = ((ocl_times *)times)->event + 2 * (size_t)k;
        uint64_t from = 0, to = 0;
        ok = moment_of(h, v[0], CL_KERNEL_START, &from) && moment_of(h, v[1] ? v[1] : v[0], CL_KERNEL_END, &to);
        seconds[k] = ok && to > from ? 1e-9 * (double)(to - from) : 0;
    }
    return ok;
}

/* ---- the record ---- */
static const hosted own = {.by = &backend_opencl,
                           .launching = {.groups = ocl_groups},
                           .write = ocl_write,
                           .open = open_device,
                           .load = ocl_load,
                           .unload = ocl_unload,
                           .time_begin = time_begin,
                           .time_mark = time_mark,
                           .time_read = time_read,
                           .time_end = time_end};

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    return hosted_build(&own, p, w, facts, e);
}

static bool takes(const plan *p, err *e)
{
    device_texts t;
    return ocl_write(p, &t, e) && (device_texts_free(&t), true);
}

static bool show(const plan *p, const kernel *k, const char *as, const build_options *w, text *out, err *e)
{
    (void)w;
    return kernel_show(&ocl_device_of(p->on)->language, p, k, as, out, e);
}

static const presence present = {.usable = ocl_usable, .runs = ocl_runs, .alike = ocl_alike};
static const by_text texts = {.show = show};

const backend backend_opencl = {
    .name = "opencl",
    .kinds = "gpu cpu",
    .doc = "OpenCL C, built by the device's driver; opened when it is used, on any device that has one.",
    .as_written = true, /* what algebraic alternatives cost is known of processors alone */
    .in_blocks = true,
    .varies = true,
    .described = "gpu:h100",
    .target = ocl_target,
    .present = &present,
    .takes = takes,
    .takes_kernel = ocl_takes_kernel,
    .build = build,
    .texts = &texts,
    .run = hosted_run,
    .kernels = &hosted_kernels,
    .at = hosted_at,
    .get = hosted_get,
    .inputs = &hosted_inputs,
    .emit = ocl_emit,
    .drop = hosted_drop,
    .numbered = true,
    .spans = &hosted_spans,
};
