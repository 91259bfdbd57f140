/* cuda.c - the CUDA back end: kernels in CUDA C, compiled by NVRTC, run as one graph on a device of NVIDIA. */
#include "backends/cuda/dialect.h"
#include "backends/cuda/program.h"
#include "backends/cuda/target.h"

#include <limits.h>
#include <stdlib.h>

/* ---- texts ---- */
bool cuda_write_each(const plan *p, device_texts *out, err *e)
{
    return device_texts_make(out, p, &cuda_dialect, kernel_write_alone, false, e);
}

bool cuda_write(const plan *p, device_texts *out, err *e)
{
    return device_texts_make(out, p, &cuda_dialect, kernel_write, true, e);
}

static unsigned groups_of(const target *on, const kernel_text *k)
{
    enum { RESIDENT = 16 }; /* that a processor runs at the same time, at most where each holds memory of its own */
    const int64_t most = k->spill ? (int64_t)on->workers * RESIDENT : INT_MAX;
    const int64_t n = k->parts < 1 ? 1 : k->parts < most ? k->parts : most;
    return (unsigned)n;
}
const device_launching cuda_launching = {.groups = groups_of, .declared = SHARED_DECLARED};

/* ---- the device, and functions ---- */
static device *open_device(const plan *p, err *e)
{
    device *d = device_make(&cuda_driver);
    MUST(d);
    if (cuda_device((cuda_host *)d, cuda_number(p->on), e))
        return d;
    return free(d), NULL;
}

static bool load(program *g, const build_options *w, text *facts, err *e)
{
    const settings env = settings_read();
    const device_texts *t = &g->texts;
    cuda_host *h = (cuda_host *)g->on;
    const char **source = heap_array((size_t)t->n_unit + 1, sizeof *source),
               **name = heap_array((size_t)t->n_unit + 1, sizeof *name);
    images *code = g->code = heap_array(1, sizeof *code);
    image_report r;
    for (int i = 0; i < t->n_unit; i++)
        source[i] = device_unit(t, i)->text, name[i] = device_unit(t, i)->name;
    const image_request asked = {.on = h,
                                 .env = &env,
                                 .n = t->n_unit,
                                 .text = source,
                                 .name = name,
                                 .cache_folder = w->cache_folder,
                                 .progress = w->progress,
                                 .user = w->user};
    bool ok = images_load(code, &asked, &r, e);
    for (int k = 0; ok && k < t->n_kernel; k++)
        ok = t->unit_of[k] < 0 || cuda_take_function(h, k, code->function[t->unit_of[k]]) || hosted_failed(g->on, e);
    json_add(facts, "device:%s,compiler:'NVRTC %d.%d',architecture:%s,driver:'%d.%d'", h->name, r.nvrtc / 1000,
             r.nvrtc % 1000 / 10, r.arch, h->cu.version / 1000, h->cu.version % 1000 / 10);
    json_add(facts, "units:%d,compiled:%d,cached:%d,seconds:%.6f,found:%i,notes:%s", t->n_unit, r.compiled, r.cached,
             r.seconds, !r.compiled, text_str(&r.notes));
    image_report_free(&r), free(source), free(name);
    return ok;
}

static void unload(program *g)
{
    shared_leave(g);
    images_free(g->code, (cuda_host *)g->on), free(g->code);
}

/* ---- times: an event before the first kernel and one behind each ---- */
static void *time_begin(device *d, int n)
{
    cuda_host *h = (cuda_host *)d;
    cu_event *event = heap_array((size_t)n + 1, sizeof(cu_event));
    int ok = 1;
    for (int k = 0; k <= n && ok; k++)
        ok = cuda_did(h, h->cu.event_make(&event[k], 0), "making an event");
    return event;
}

static int time_mark(device *d, void *times, int k)
{
    cuda_host *h = (cuda_host *)d;
    return cuda_did(h, h->cu.event_record(((cu_event *)times)[k], h->stream), "marking the time of a kernel");
}

static int time_read(device *d, void *times, int n, double *seconds)
{
    cuda_host *h = (cuda_host *)d;
    const cu_event *event = times;
    float ms = 0;
    int ok = 1;
    for (int k = 0; k < n && ok; k++) {
        ok = cuda_did(h, h->cu.event_between(&ms, event[k], event[k + 1]), "reading the time of a kernel");
        seconds[k] = 1e-3 * (double)ms;
    }
    return ok;
}

static void time_end(device *d, void *times, int n)
{
    cu_event *event = times;
    for (int k = 0; k <= n; k++)
        if (event[k])
            ((cuda_host *)d)->cu.event_free(event[k]);
    free(event);
}

/* ---- the record ---- */
static const hosted own = {.by = &backend_cuda,
                           .launching = {.groups = groups_of, .declared = SHARED_DECLARED},
                           .write = cuda_write,
                           .open = open_device,
                           .load = load,
                           .unload = unload,
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
    const bool ok = cuda_write(p, &t, e);
    if (ok)
        device_texts_free(&t);
    return ok;
}

/* What calls a function of C is done elsewhere. */
static bool takes_kernel(const target *on, const kernel *k, err *e)
{
    if (k->stage->node->trip) /* what it is made of is asked for by itself */
        return true;
    for (int i = 0; i < k->n_stage; i++)
        if (k->stage[i].value->kind == X_ROUTINE && !k->stage[i].value->run->copies)
            return err_set(e, TS_UNSUPPORTED, "%s is a routine of C, which cannot be written in cuda", k->op);
    return kernel_operands_fit(on, k, e);
}

static bool at_edges(const plan *p) /* of one graph, where the host need not walk through it */
{
    bool walks = false;
    for (int k = 0; k < p->n_kernel; k++)
        walks = walks || device_walks(p, &p->kernel[k]);
    return !walks;
}

static const presence present = {.usable = cuda_usable, .runs = cuda_runs, .alike = cuda_alike};
static const by_text texts = {.show = cuda_show, .assemble = cuda_assemble};

const backend backend_cuda = {
    .name = "cuda",
    .doc = "CUDA C, one kernel for each of the plan's, compiled by NVRTC and run as one graph on a device of NVIDIA.",
    .kinds = "gpu",
    .numbered = true,
    .described = "gpu:h100",
    .as_written = true, /* what algebraic alternatives cost is known of processors alone */
    .in_blocks = true,
    .varies = true,
    .target = cuda_target,
    .present = &present,
    .takes = takes,
    .takes_kernel = takes_kernel,
    .build = build,
    .texts = &texts,
    .run = hosted_run,
    .kernels = &hosted_kernels,
    .at = hosted_at,
    .get = hosted_get,
    .inputs = &hosted_inputs,
    .at_edges = at_edges,
    .shared = &cuda_shared,
    .emit = cuda_emit,
    .spans = &hosted_spans,
    .drop = hosted_drop,
};
