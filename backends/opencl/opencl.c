/* opencl.c - the OpenCL back end: programs for one device, memory there, kernels launched one after another in one
 * queue, which keeps their order. Inputs go to the device at the start of a run; what is written into inputs comes back
 * at its end, and results when they are asked for. */
#include "backends/emit/tables.h"
#include "backends/opencl/inputs.h"
#include "backends/opencl/runtime/opencl_memory.h"
#include "backends/outside.h"
#include "backends/weights.h"
#include "graph/base/clock.h"
#include "schedule/passes/launches.h"

#include <stdlib.h>
#include <string.h>

typedef struct mirror { /* what was read back of the arena last */
    char *at;
    size_t cap;
} mirror;

struct program {
    const plan *p;
    ocl_host host;
    ocl_units units;
    weights weights;
    device_tables tables;
    cl_kernel *kernel;  /* by number, those of trips behind the plan's; of scans and copies NULL */
    opencl_memory on;   /* its memory there */
    ocl_pinned *pieces; /* by way of which all goes there and comes back */
    ocl_inputs inputs;
    bool faults;
    size_t spill_bytes;
    mirror *seen;
    void *const *given; /* inputs of the run under way */
    bool ended;         /* its last kernel was launched: what it wrote is to be taken back */
};

/* ---- the device ---- */
/* Of a processor as many of its units as the plan is for. */
static bool take_part(ocl_host *h, int units, err *e)
{
    cl_device part = NULL;
    if (opencl_part(&h->cl, h->id, units, &part) == CL_SUCCESS && part)
        return h->id = part, h->part = true;
    err_set(e, TS_DEVICE, "%s does not let %d of its %d units run alone", h->device.name, units, h->device.units);
    return err_hint(e, "leave out the number of threads");
}

static bool open_host(ocl_host *h, const ocl_device *planned, err *e)
{
    int32_t answer = CL_SUCCESS;
    *h = (ocl_host){0};
    if (!opencl_open(&h->cl, e) || !(h->id = ocl_find(&h->cl, planned->number, &h->device, e)))
        return false;
    if (ocl_part(planned) && !take_part(h, ocl_part(planned), e))
        return false;
    h->context = h->cl.context(NULL, 1, &h->id, NULL, NULL, &answer);
    if (!h->context)
        return opencl_fail(answer, "opening the device", e);
    h->queue = h->cl.queue(h->context, h->id, 0, &answer);
    return h->queue || opencl_fail(answer, "opening a queue", e);
}

static void close_host(ocl_host *h)
{
    if (h->queue)
        opencl_drop_queue(&h->cl, h->queue);
    if (h->timed)
        opencl_drop_queue(&h->cl, h->timed);
    if (h->context)
        h->cl.drop_context(h->context);
    if (h->part)
        h->cl.drop_device(h->id);
    opencl_close(&h->cl);
}

/* ---- making and ending ---- */
static void drop_all(const program *g, cl_memory *m, int n)
{
    for (int i = 0; m && i < n; i++)
        if (m[i])
            g->host.cl.drop_memory(m[i]);
    free(m);
}

/* A program in any state of making. */
static void drop(program *g)
{
    if (!g)
        return;
    for (int k = 0; g->kernel && k < g->units.levels.n_kernel; k++)
        if (g->kernel[k])
            g->host.cl.drop_kernel(g->kernel[k]);
    drop_all(g, g->on.leaf, g->p->n_leaf), ocl_inputs_free(&g->inputs);
    if (g->on.arena)
        g->host.cl.drop_memory(g->on.arena);
    if (g->on.counts)
        g->host.cl.drop_memory(g->on.counts);
    if (g->on.spill)
        g->host.cl.drop_memory(g->on.spill);
    if (g->on.fault)
        g->host.cl.drop_memory(g->on.fault);
    ocl_pinned_free(g->pieces);
    ocl_units_free(&g->units, &g->host.cl), device_tables_free(&g->tables);
    close_host(&g->host);
    weights_free(&g->weights);
    free(g->seen ? g->seen->at : NULL), free(g->seen), free(g->kernel), free(g);
}

/* Settled here, because the weights' own copy may go as soon as this returns. */
static bool upload(void *user, int which, const void *from, size_t bytes, err *e)
{
    program *g = user;
    return ocl_memory_take(&g->host, &g->on.leaf[which], bytes, "a weight", e) &&
           ocl_give(g->pieces, (ocl_place){g->on.leaf[which], 0}, from, bytes, "sending a weight", e) &&
           ocl_given(g->pieces, e);
}

static size_t groups_of(const program *g, int k)
{
    return ocl_groups(g->units.on, &g->units.text[k]);
}

static bool find_memory(program *g, err *e)
{
    const plan *p = g->p;
    bool ok = ocl_memory_take(&g->host, &g->on.arena, (size_t)p->arena_bytes, "values", e);
    ok = ok && ocl_inputs_make(&g->inputs, p, g->pieces, e);
    g->on.input = g->inputs.memory;
    for (int k = 0; k < g->units.n_kernel; k++) {
        const size_t bytes = (size_t)g->units.text[k].spill * groups_of(g, k);
        g->spill_bytes = bytes > g->spill_bytes ? bytes : g->spill_bytes;
        g->faults = g->faults || g->units.text[k].faults;
    }
    const size_t flags = ((size_t)p->n_kernel + 1) * sizeof(int);
    int *zero = heap_array(1, flags);
    ok = ok && ocl_memory_take(&g->host, &g->on.spill, g->spill_bytes, "values of groups", e) &&
         ocl_memory_take(&g->host, &g->on.counts, (size_t)g->tables.program.loops * COUNT_BYTES, "the trips' numbers",
                         e) &&
         ocl_memory_take(&g->host, &g->on.fault, flags, "faults", e) &&
         ocl_give(g->pieces, (ocl_place){g->on.fault, 0}, zero, flags, "clearing faults", e) && ocl_given(g->pieces, e);
    free(zero);
    return ok;
}

static bool refused(const program *g, int k, err *e)
{
    const plan *p;
    const kernel *own = levels_kernel(&g->units.levels, k, &p);
    return err_set(e, TS_DEVICE, "kernel %d (%s): the driver does not take its arguments", k, own->op);
}

/* Arguments of a trip's kernels are given anew at each launch. */
static bool give_places(const program *g, int k, err *e)
{
    const int operands = text_operands(&g->units.text[k]);
    device_at *at = heap_array((size_t)operands + 1, sizeof *at);
    device_places(&g->tables.program, k, at);
    const bool ok = opencl_arguments(&g->on, g->kernel[k], operands, at, k) == CL_SUCCESS || refused(g, k, e);
    free(at);
    return ok;
}

static bool make_kernel(program *g, int k, err *e)
{
    int32_t answer = CL_SUCCESS;
    g->kernel[k] = g->host.cl.kernel(ocl_program_of(&g->units, k), g->units.text[k].name, &answer);
    if (!g->kernel[k])
        return opencl_fail(answer, "making a kernel", e);
    return k >= g->p->n_kernel || give_places(g, k, e);
}

static bool make_kernels(program *g, err *e)
{
    bool ok = true;
    for (int k = 0; ok && k < g->units.n_kernel; k++)
        ok = g->units.unit[k] < 0 || make_kernel(g, k, e);
    for (int k = 0; k < g->p->n_kernel; k++)
        for (int i = 0; i < g->units.text[k].n_operand; i++) {
            const operand *o = &g->units.text[k].operand[i];
            if (o->written && g->p->buffer[o->node->id].where == IN_INPUT)
                g->inputs.written[input_of(g->p, o->node)] = true;
        }
    return ok;
}

/* Members of a JSON object, without its braces: `build` of what explain and bench print. */
static void tell(const program *g, double seconds, text *facts)
{
    json_add(facts, "compiler:%s,units:%d,compiled:%d,cached:%d,seconds:%.6f,found:%i,notes:%s,scratch_bytes:%zu",
             g->host.device.identity, g->units.n_unit, g->units.compiled, g->units.cached, seconds, !g->units.compiled,
             text_str(&g->units.notes), g->spill_bytes);
}

static bool make(program *g, const build_options *w, text *facts, err *e);

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = heap_array(1, sizeof *g);
    g->p = p;
    g->on = (opencl_memory){.cl = &g->host.cl, .leaves = p->n_leaf, .inputs = p->n_input};
    g->seen = heap_array(1, sizeof *g->seen);
    g->on.leaf = heap_array((size_t)p->n_leaf + 1, sizeof *g->on.leaf);
    if (make(g, w, facts, e))
        return g;
    return drop(g), NULL;
}

/* ---- running ---- */
typedef struct walking { /* kernels and copies under way in a queue */
    const program *g;
    cl_queue queue;
    cl_event *first, *last; /* of launches; NULL: nobody asks */
    err *e;
} walking;

/* k: kernel of all levels; outer: the kernel of the plan that it is part of, a scan for those of its trips. */
static int launch(void *user, int k, int outer, const device_at *at)
{
    const walking *w = user;
    const program *g = w->g;
    const size_t lanes = (size_t)g->units.text[k].lanes, items = lanes * groups_of(g, k);
    cl_event done = NULL;
    if (!items)
        return true;
    if (k >= g->p->n_kernel &&
        opencl_arguments(&g->on, g->kernel[k], text_operands(&g->units.text[k]), at, outer) != CL_SUCCESS)
        return refused(g, k, w->e);
    const int32_t answer = g->host.cl.launch(w->queue, g->kernel[k], 1, NULL, &items, &lanes, 0, NULL,
                                             w->first ? &done : NULL);
    if (answer != CL_SUCCESS) {
        opencl_fail(answer, "launching a kernel", w->e);
        return err_in(w->e, "kernel %d (%s)", outer, g->p->kernel[outer].op);
    }
    if (done && !*w->first)
        *w->first = done;
    else if (done) {
        if (*w->last)
            g->host.cl.drop_event(*w->last);
        *w->last = done;
    }
    return true;
}

static int copy_here(void *user, device_at to, device_at from, long bytes)
{
    const walking *w = user;
    const int32_t answer = opencl_copy(&w->g->on, w->queue, to, from, bytes);
    return answer == CL_SUCCESS || opencl_fail(answer, "a copy of a state", w->e);
}

/* Rows behind an early end of a scan are zero. */
static int clear(void *user, device_at at, long bytes)
{
    const walking *w = user;
    const int32_t answer = opencl_clear(&w->g->on, w->queue, at, bytes);
    return answer == CL_SUCCESS || opencl_fail(answer, "filling memory", w->e);
}

static int count(void *user, device_at at, long trip)
{
    const walking *w = user;
    const int32_t answer = opencl_count(&w->g->on, w->queue, at, trip);
    return answer == CL_SUCCESS || opencl_fail(answer, "filling memory", w->e);
}

/* A scan that may end early asks after each trip. */
static int truth(void *user, device_at at, int *is)
{
    const walking *w = user;
    const int32_t answer = opencl_truth(&w->g->on, w->queue, at, is);
    return answer == CL_SUCCESS || opencl_fail(answer, "reading whether a trip was the last one", w->e);
}

static bool launch_all(const walking *w, int first, int end)
{
    const device_calls calls = {(void *)(uintptr_t)w, launch, copy_here, clear, count, truth};
    if (device_kernels(&w->g->tables.program, &calls, first, end))
        return true;
    return err_is(w->e) ? false : err_memory(w->e, 0, "the places of operands");
}

static bool launch_span(const program *g, int first, int end, err *e)
{
    return launch_all(&(walking){.g = g, .queue = g->host.queue, .e = e}, first, end);
}

/* Behind all other arguments of a kernel that mentions some: they stay until the next run. */
static bool give_sizes(const program *g, const int64_t *size, err *e)
{
    for (int k = 0; k < g->p->n_kernel; k++) {
        const kernel_text *t = &g->units.text[k];
        if (g->units.unit[k] >= 0 &&
            opencl_extents(&g->on, g->kernel[k], text_operands(t), t->sizes, size) != CL_SUCCESS)
            return refused(g, k, e);
    }
    return true;
}

static bool send_inputs(program *g, void *const *input, err *e)
{
    bool moved = false, ok = ocl_inputs_send(&g->inputs, input, &moved, e);
    for (int k = 0; ok && moved && k < g->p->n_kernel; k++)
        ok = g->units.unit[k] < 0 || give_places(g, k, e);
    return ok && (!g->p->n_variable || give_sizes(g, input[g->p->n_input], e));
}

/* The device knows which kernel, the interpreter finds where: outside_kernel says the tensor, the place and its bound.
 */
static bool check_faults(const program *g, void *const *input, err *e)
{
    const int n = g->p->n_kernel;
    bool ok = true;
    if (!g->faults)
        return true;
    int *at = heap_array((size_t)n + 1, sizeof *at), k = 0;
    ok = ocl_take(g->pieces, at, (ocl_place){g->on.fault, 0}, (size_t)n * sizeof *at, "reading faults", e);
    while (ok && k < n && !at[k])
        k++;
    if (ok && k < n) {
        memset(at, 0, (size_t)n * sizeof *at);
        ok = ocl_give(g->pieces, (ocl_place){g->on.fault, 0}, at, (size_t)n * sizeof *at, "clearing faults", e) &&
             ocl_given(g->pieces, e) && outside_kernel(g->p, &g->p->kernel[k], input, e);
    }
    free(at);
    return ok;
}

static bool run(program *g, void *const *input, err *e)
{
    bool ok = send_inputs(g, input, e);
    ok = ok && launch_span(g, 0, g->p->n_kernel, e);
    return ocl_settle(&g->host, e) && ok && check_faults(g, input, e) && ocl_inputs_take(&g->inputs, input, e);
}

/* Waits behind every kernel, so times of the host contain a launch and a wait; `time` asks the device instead. */
static bool run_each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    bool ok = send_inputs(g, input, e) && ocl_settle(&g->host, e);
    for (int k = 0; ok && k < g->p->n_kernel; k++) {
        ok = launch_span(g, k, k + 1, e) && ocl_settle(&g->host, e);
        if (ok)
            launches_each(g->p, k, after, user);
    }
    return ok && check_faults(g, input, e) && ocl_inputs_take(&g->inputs, input, e);
}

/* ---- times ---- */
/* In nanoseconds of the device's clock. */
static bool moment_of(const program *g, cl_event v, uint32_t what, uint64_t *at, err *e)
{
    size_t have;
    const int32_t answer = v ? g->host.cl.event_time(v, what, sizeof *at, at, &have) : CL_SUCCESS;
    return answer == CL_SUCCESS || opencl_fail(answer, "reading the time of a kernel", e);
}

/* From the start of the first launch to the end of the last; of a scan with all between them. */
static bool seconds_of(const program *g, cl_event first, cl_event last, double *seconds, err *e)
{
    uint64_t from = 0, to = 0;
    const bool ok = moment_of(g, first, CL_KERNEL_START, &from, e) &&
                    moment_of(g, last ? last : first, CL_KERNEL_END, &to, e);
    *seconds = ok && to > from ? 1e-9 * (double)(to - from) : 0;
    return ok;
}

/* In a queue of its own, which keeps times; all kernels are under way before the host waits. */
static bool time_in(const program *g, cl_queue queue, double *seconds, err *e)
{
    const opencl *cl = &g->host.cl;
    const int n = g->p->n_kernel;
    cl_event *done = calloc(2 * (size_t)n + 1, sizeof(cl_event));
    bool ok = true;
    MUST(done);
    for (int k = 0; ok && k < n; k++)
        ok = launch_all(&(walking){g, queue, &done[2 * k], &done[2 * k + 1], e}, k, k + 1);
    const int32_t answer = cl->finish(queue);
    ok = ok && (answer == CL_SUCCESS || opencl_fail(answer, "running kernels", e));
    for (int k = 0; ok && k < n; k++)
        ok = seconds_of(g, done[2 * k], done[2 * k + 1], &seconds[k], e);
    launches_share(g->p, seconds);
    for (int k = 0; k < 2 * n; k++)
        if (done[k])
            cl->drop_event(done[k]);
    free(done);
    return ok;
}

static bool run_timed(program *g, void *const *input, double *seconds, err *e)
{
    ocl_host *h = &g->host;
    int32_t answer = CL_SUCCESS;
    if (!h->timed && !(h->timed = h->cl.queue(h->context, h->id, CL_QUEUE_TIMES, &answer)))
        return opencl_fail(answer, "opening a queue that keeps times", e);
    const bool ok = send_inputs(g, input, e) && ocl_settle(h, e) && time_in(g, h->timed, seconds, e);
    return ok && check_faults(g, input, e) && ocl_inputs_take(&g->inputs, input, e);
}

/* ---- parts of plans over several devices ---- */
static bool wait(program *g, err *e)
{
    return ocl_settle(&g->host, e) &&
           (!g->ended || (check_faults(g, g->given, e) && ocl_inputs_take(&g->inputs, g->given, e)));
}

static bool span(program *g, void *const *input, int first, int end, err *e)
{
    bool ok = first || send_inputs(g, input, e);
    ok = ok && launch_span(g, first, end, e);
    g->given = input, g->ended = ok && end == g->p->n_kernel;
    return ok;
}

static ocl_place place_of(const program *g, const node *n)
{
    return (ocl_place){g->on.arena, (size_t)g->p->buffer[n->id].offset};
}

static bool put(program *g, const node *n, const void *from, err *e)
{
    return ocl_give(g->pieces, place_of(g, n), from, (size_t)type_bytes(&n->type), "sending a value", e) &&
           ocl_given(g->pieces, e);
}

static bool fetch(program *g, const node *n, void *to, err *e)
{
    return ocl_take(g->pieces, to, place_of(g, n), (size_t)type_bytes(&n->type), "reading a value", e);
}

/* Good until the next call: one place for what was read back last. */
static const void *at(const program *g, const node *n, dtype *stored)
{
    err e = {0};
    *stored = stored_as(g->p, n);
    const size_t bytes = (size_t)g->p->buffer[n->id].bytes;
    if (bytes > g->seen->cap) {
        g->seen->at = realloc(g->seen->at, g->seen->cap = bytes);
        MUST(g->seen->at);
    }
    return ocl_take(g->pieces, g->seen->at, place_of(g, n), bytes, "reading a value", &e) ? g->seen->at : NULL;
}

/* Plans that judge hold f64, rounded here to what the graph says. */
static bool get(program *g, int root, ts_array *out, err *e)
{
    const node *n = g->p->root[root];
    const int64_t count = type_count(&n->type);
    if (n->leaf)
        return leaf_read(n, out->data, 0, count), true;
    if (stored_as(g->p, n) == n->type.dtype)
        return ocl_take(g->pieces, out->data, place_of(g, n), (size_t)type_bytes(&n->type), "reading a result", e);
    dtype stored;
    const double *wide = at(g, n, &stored);
    if (!wide)
        return err_set(e, TS_DEVICE, "a result cannot be read from %s", g->host.device.name);
    for (int64_t i = 0; i < count; i++)
        store_real(n->type.dtype, out->data, i, wide[i]);
    return true;
}

/* ---- the record ---- */
static bool takes(const plan *p, err *e)
{
    ocl_units u;
    const bool ok = ocl_units_write(&u, p, e);
    ocl_units_free(&u, NULL);
    return ok;
}

static void find_tables(program *g)
{
    const int n = g->units.n_kernel;
    emit_launch *one = heap_array((size_t)n + 1, sizeof *one);
    g->kernel = heap_array((size_t)n + 1, sizeof *g->kernel);
    for (int k = 0; k < n; k++)
        one[k] = (emit_launch){.text = &g->units.text[k]};
    device_tables_make(&g->tables, &g->units.levels, one);
    free(one);
}

static size_t most_bytes(const plan *p) /* of what is copied at once */
{
    int64_t most = p->arena_bytes;
    for (int i = 0; i < p->n_input; i++)
        most = int_max(most, type_bytes(&p->input[i]->type));
    for (int i = 0; i < p->n_leaf; i++)
        most = int_max(most, p->leaf[i].layout.size);
    return (size_t)most;
}

static bool make(program *g, const build_options *w, text *facts, err *e)
{
    const double start = seconds_now();
    const weight_host host = {.by = &backend_opencl, .asked = w, .upload = upload, .user = g};
    if (!ocl_units_write(&g->units, g->p, e) || !phases_done(w->phases, PHASE_TEXTS) ||
        !open_host(&g->host, g->units.on, e) || !phases_done(w->phases, PHASE_LOAD) ||
        !ocl_units_build(&g->units, &g->host, w, e) || !phases_done(w->phases, PHASE_COMPILER))
        return false;
    tell(g, seconds_now() - start, facts);
    find_tables(g);
    g->pieces = ocl_pinned_make(&g->host, most_bytes(g->p), e);
    return g->pieces && weights_load(&g->weights, g->p, &host, e) && find_memory(g, e) && make_kernels(g, e);
}

static const presence present = {.usable = ocl_usable, .runs = ocl_runs};
static const by_kernel kernels = {.each = run_each, .time = run_timed};
static const by_span spans = {.span = span, .put = put, .fetch = fetch, .wait = wait};

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
    .run = run,
    .kernels = &kernels,
    .at = at,
    .get = get,
    .emit = ocl_emit,
    .drop = drop,
    .numbered = true,
    .spans = &spans,
};
