/* opencl.c - the OpenCL back end: programs for one device, memory there, kernels launched one after another in one
 * queue, which keeps their order. Inputs go to the device at the start of a run; what is written into inputs comes back
 * at its end, and results when they are asked for. */
#include "backends/opencl/units.h"
#include "backends/outside.h"
#include "backends/weights.h"
#include "graph/base/clock.h"

#include <stdlib.h>
#include <string.h>

typedef struct mirror { /* what was read back of the arena last */
    char *at;
    size_t room;
} mirror;

struct program {
    const plan *p;
    ocl_host host;
    ocl_units units;
    weights weights;
    cl_kernel *kernel;
    cl_memory *leaf, *input, arena, spill, fault;
    bool *written; /* inputs that kernels write */
    bool faults;
    size_t spill_bytes;
    mirror *seen;
    void *const *given; /* inputs of the run under way */
};

/* ---- the device ---- */
static bool open_host(ocl_host *h, const ocl_device *d, err *e)
{
    int32_t answer = CL_SUCCESS;
    *h = (ocl_host){.device = d};
    if (!opencl_open(&h->cl, e) || !(h->id = ocl_find(&h->cl, d->number, e)))
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
        h->cl.drop_queue(h->queue);
    if (h->context)
        h->cl.drop_context(h->context);
    opencl_close(&h->cl);
}

static bool take_memory(const program *g, cl_memory *out, size_t bytes, const char *what, err *e)
{
    int32_t answer = CL_SUCCESS;
    if ((int64_t)bytes > g->host.device->most) {
        err_set(e, TS_MEMORY, "%s: %zu bytes in one piece, %s gives %lld", what, bytes, g->host.device->facts.name,
                (long long)g->host.device->most);
        return err_hint(e, "bind smaller dimensions, or run on another device");
    }
    *out = g->host.cl.memory(g->host.context, CL_READ_WRITE, bytes ? bytes : 1, NULL, &answer);
    return *out || opencl_fail(answer, what, e);
}

static bool send(const program *g, cl_memory to, const void *from, size_t bytes, const char *what, err *e)
{
    const int32_t answer = bytes ? g->host.cl.write(g->host.queue, to, CL_FALSE, 0, bytes, from, 0, NULL, NULL)
                                 : CL_SUCCESS;
    return answer == CL_SUCCESS || opencl_fail(answer, what, e);
}

static bool receive(const program *g, cl_memory from, size_t offset, void *to, size_t bytes, err *e)
{
    const int32_t answer = bytes ? g->host.cl.read(g->host.queue, from, CL_TRUE, offset, bytes, to, 0, NULL, NULL)
                                 : CL_SUCCESS;
    return answer == CL_SUCCESS || opencl_fail(answer, "reading a value", e);
}

static bool settle(const program *g, err *e) /* all that was asked for is done */
{
    const int32_t answer = g->host.cl.finish(g->host.queue);
    return answer == CL_SUCCESS || opencl_fail(answer, "running kernels", e);
}

/* ---- making and ending ---- */
static void drop_all(const program *g, cl_memory *m, int n)
{
    for (int i = 0; m && i < n; i++)
        if (m[i])
            g->host.cl.drop_memory(m[i]);
    free(m);
}

static void drop(program *g)
{
    if (!g)
        return;
    for (int k = 0; g->kernel && k < g->p->n_kernel; k++)
        if (g->kernel[k])
            g->host.cl.drop_kernel(g->kernel[k]);
    drop_all(g, g->leaf, g->p->n_leaf), drop_all(g, g->input, g->p->n_input);
    if (g->arena)
        g->host.cl.drop_memory(g->arena);
    if (g->spill)
        g->host.cl.drop_memory(g->spill);
    if (g->fault)
        g->host.cl.drop_memory(g->fault);
    ocl_units_free(&g->units, &g->host.cl);
    close_host(&g->host);
    weights_free(&g->weights);
    free(g->seen ? g->seen->at : NULL), free(g->seen), free(g->kernel), free(g->written), free(g);
}

static bool spread(void *user, weight_work *work, void *arg, err *e)
{
    (void)user, (void)e;
    work(arg, 0, 1);
    return true;
}

static bool upload(void *user, int which, const void *from, size_t bytes, err *e)
{
    program *g = user;
    return take_memory(g, &g->leaf[which], bytes, "a weight", e) &&
           send(g, g->leaf[which], from, bytes, "sending a weight", e) && settle(g, e);
}

static size_t groups_of(const program *g, int k)
{
    return ocl_groups(g->host.device, &g->units.text[k]);
}

static bool find_memory(program *g, err *e)
{
    const plan *p = g->p;
    bool ok = take_memory(g, &g->arena, (size_t)p->arena_bytes, "values", e);
    for (int i = 0; ok && i < p->n_input; i++)
        ok = take_memory(g, &g->input[i], (size_t)type_bytes(&p->input[i]->type), "an input", e);
    for (int k = 0; k < p->n_kernel; k++) {
        const size_t bytes = (size_t)g->units.text[k].spill * groups_of(g, k);
        g->spill_bytes = bytes > g->spill_bytes ? bytes : g->spill_bytes;
        g->faults = g->faults || g->units.text[k].faults;
    }
    const size_t flags = ((size_t)p->n_kernel + 1) * sizeof(int);
    int *zero = calloc(1, flags);
    MUST(zero);
    ok = ok && take_memory(g, &g->spill, g->spill_bytes, "values of groups", e) &&
         take_memory(g, &g->fault, flags, "faults", e) && send(g, g->fault, zero, flags, "clearing faults", e) &&
         settle(g, e);
    free(zero);
    return ok;
}

static cl_memory memory_of(const program *g, const operand *o, uint64_t *offset)
{
    const buffer *b = &g->p->buffer[o->node->id];
    *offset = o->leaf < 0 && b->where == IN_ARENA ? (uint64_t)b->offset : 0;
    return o->leaf >= 0 ? g->leaf[o->leaf] : b->where == IN_ARENA ? g->arena : g->input[input_of(g->p, o->node)];
}

static bool give_arguments(program *g, int k)
{
    const opencl *cl = &g->host.cl;
    const kernel_text *u = &g->units.text[k];
    const cl_kernel f = g->kernel[k];
    const int32_t number = k;
    uint32_t n = 0;
    bool ok = true;
    for (int i = 0; i < u->n_operand; i++) {
        const operand *o = &u->operand[i];
        uint64_t offset;
        const cl_memory m = memory_of(g, o, &offset);
        ok = ok && cl->argument(f, n++, sizeof m, &m) == CL_SUCCESS &&
             cl->argument(f, n++, sizeof offset, &offset) == CL_SUCCESS;
        if (o->written && g->p->buffer[o->node->id].where == IN_INPUT)
            g->written[input_of(g->p, o->node)] = true;
    }
    return ok && cl->argument(f, n++, sizeof g->spill, &g->spill) == CL_SUCCESS &&
           cl->argument(f, n++, sizeof g->fault, &g->fault) == CL_SUCCESS &&
           cl->argument(f, n, sizeof number, &number) == CL_SUCCESS;
}

static bool make_kernels(program *g, err *e)
{
    for (int k = 0; k < g->p->n_kernel; k++) {
        int32_t answer = CL_SUCCESS;
        g->kernel[k] = g->host.cl.kernel(ocl_program_of(&g->units, k), g->units.text[k].name, &answer);
        if (!g->kernel[k])
            return opencl_fail(answer, "making a kernel", e);
        if (!give_arguments(g, k))
            return err_set(e, TS_DEVICE, "kernel %d (%s): the driver does not take its arguments", k,
                           g->p->kernel[k].op);
    }
    return true;
}

static void tell(const program *g, double seconds, text *facts)
{
    text_add(facts, "\"compiler\":");
    text_json(facts, g->host.device->identity);
    text_add(facts,
             ",\"units\":%d,\"compiled\":%d,\"cached\":%d,\"seconds\":%.6f,\"found\":%s,\"notes\":", g->units.n_unit,
             g->units.compiled, g->units.cached, seconds, g->units.compiled ? "false" : "true");
    text_json(facts, text_str(&g->units.notes));
    text_add(facts, ",\"scratch_bytes\":%zu", g->spill_bytes);
}

static bool make(program *g, const build_options *w, text *facts, err *e);

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = calloc(1, sizeof *g);
    MUST(g);
    g->p = p;
    g->seen = calloc(1, sizeof *g->seen);
    g->kernel = calloc((size_t)p->n_kernel + 1, sizeof *g->kernel);
    g->leaf = calloc((size_t)p->n_leaf + 1, sizeof *g->leaf);
    g->input = calloc((size_t)p->n_input + 1, sizeof *g->input);
    g->written = calloc((size_t)p->n_input + 1, sizeof *g->written);
    MUST(g->seen && g->kernel && g->leaf && g->input && g->written);
    if (make(g, w, facts, e))
        return g;
    return drop(g), NULL;
}

/* ---- running ---- */
static bool launch_in(const program *g, cl_queue queue, int k, cl_event *done, err *e)
{
    const kernel_text *u = &g->units.text[k];
    const size_t lanes = (size_t)u->lanes, items = lanes * groups_of(g, k);
    if (!items)
        return true;
    const int32_t answer = g->host.cl.launch(queue, g->kernel[k], 1, NULL, &items, &lanes, 0, NULL, done);
    if (answer == CL_SUCCESS)
        return true;
    opencl_fail(answer, "launching a kernel", e);
    return err_in(e, "kernel %d (%s)", k, g->p->kernel[k].op);
}

static bool launch(const program *g, int k, err *e)
{
    return launch_in(g, g->host.queue, k, NULL, e);
}

static bool send_inputs(const program *g, void *const *input, err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < g->p->n_input; i++)
        ok = send(g, g->input[i], input[i], (size_t)type_bytes(&g->p->input[i]->type), "sending an input", e);
    return ok;
}

static bool take_inputs(const program *g, void *const *input, err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < g->p->n_input; i++)
        if (g->written[i])
            ok = receive(g, g->input[i], 0, input[i], (size_t)type_bytes(&g->p->input[i]->type), e);
    return ok;
}

static bool check_faults(const program *g, void *const *input, err *e)
{
    const int n = g->p->n_kernel;
    bool ok = true;
    if (!g->faults)
        return true;
    int *at = calloc((size_t)n + 1, sizeof *at), k = 0;
    MUST(at);
    ok = receive(g, g->fault, 0, at, (size_t)n * sizeof *at, e);
    while (ok && k < n && !at[k])
        k++;
    if (ok && k < n) {
        memset(at, 0, (size_t)n * sizeof *at);
        ok = send(g, g->fault, at, (size_t)n * sizeof *at, "clearing faults", e) && settle(g, e) &&
             outside_kernel(g->p, &g->p->kernel[k], input, e);
    }
    free(at);
    return ok;
}

static bool run(program *g, void *const *input, err *e)
{
    bool ok = send_inputs(g, input, e);
    for (int k = 0; ok && k < g->p->n_kernel; k++)
        ok = launch(g, k, e);
    return settle(g, e) && ok && check_faults(g, input, e) && take_inputs(g, input, e);
}

static bool run_each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    bool ok = send_inputs(g, input, e) && settle(g, e);
    for (int k = 0; ok && k < g->p->n_kernel; k++) {
        ok = launch(g, k, e) && settle(g, e);
        if (ok)
            after(user, k);
    }
    return ok && check_faults(g, input, e) && take_inputs(g, input, e);
}

/* ---- times ---- */
static bool seconds_of(const program *g, cl_event done, double *seconds, err *e)
{
    uint64_t from = 0, to = 0;
    size_t have;
    int32_t answer = CL_SUCCESS;
    if (done)
        answer = g->host.cl.event_time(done, CL_KERNEL_START, sizeof from, &from, &have);
    if (done && answer == CL_SUCCESS)
        answer = g->host.cl.event_time(done, CL_KERNEL_END, sizeof to, &to, &have);
    *seconds = to > from ? 1e-9 * (double)(to - from) : 0;
    return answer == CL_SUCCESS || opencl_fail(answer, "reading the time of a kernel", e);
}

/* In a queue of its own, which keeps times; all kernels are under way before the host waits. */
static bool time_in(const program *g, cl_queue queue, double *seconds, err *e)
{
    const opencl *cl = &g->host.cl;
    const int n = g->p->n_kernel;
    cl_event *done = calloc((size_t)n + 1, sizeof(cl_event));
    bool ok = true;
    MUST(done);
    for (int k = 0; ok && k < n; k++)
        ok = launch_in(g, queue, k, &done[k], e);
    const int32_t answer = cl->finish(queue);
    ok = ok && (answer == CL_SUCCESS || opencl_fail(answer, "running kernels", e));
    for (int k = 0; ok && k < n; k++)
        ok = seconds_of(g, done[k], &seconds[k], e);
    for (int k = 0; k < n; k++)
        if (done[k])
            cl->drop_event(done[k]);
    free(done);
    return ok;
}

static bool run_timed(program *g, void *const *input, double *seconds, err *e)
{
    const opencl *cl = &g->host.cl;
    int32_t answer = CL_SUCCESS;
    const cl_queue queue = cl->queue(g->host.context, g->host.id, CL_QUEUE_TIMES, &answer);
    if (!queue)
        return opencl_fail(answer, "opening a queue that keeps times", e);
    const bool ok = send_inputs(g, input, e) && settle(g, e) && time_in(g, queue, seconds, e);
    cl->drop_queue(queue);
    return ok && check_faults(g, input, e) && take_inputs(g, input, e);
}

/* ---- parts of plans over several devices ---- */
static bool wait(program *g, err *e)
{
    return settle(g, e) && (!g->given || (check_faults(g, g->given, e) && take_inputs(g, g->given, e)));
}

static bool span(program *g, void *const *input, int first, int end, err *e)
{
    bool ok = first || send_inputs(g, input, e);
    g->given = input;
    for (int k = first; ok && k < end; k++)
        ok = launch(g, k, e);
    return ok;
}

static bool put(program *g, const node *n, const void *from, err *e)
{
    const int32_t answer = g->host.cl.write(g->host.queue, g->arena, CL_TRUE, (size_t)g->p->buffer[n->id].offset,
                                            (size_t)type_bytes(&n->type), from, 0, NULL, NULL);
    return answer == CL_SUCCESS || opencl_fail(answer, "sending a value", e);
}

static bool fetch(program *g, const node *n, void *to, err *e)
{
    return receive(g, g->arena, (size_t)g->p->buffer[n->id].offset, to, (size_t)type_bytes(&n->type), e);
}

static const void *at(const program *g, const node *n, dtype *stored)
{
    err e = {0};
    *stored = stored_as(g->p, n);
    const size_t bytes = (size_t)g->p->buffer[n->id].bytes;
    if (bytes > g->seen->room) {
        g->seen->at = realloc(g->seen->at, g->seen->room = bytes);
        MUST(g->seen->at);
    }
    return receive(g, g->arena, (size_t)g->p->buffer[n->id].offset, g->seen->at, bytes, &e) ? g->seen->at : NULL;
}

static bool get(program *g, int root, ts_array *out, err *e)
{
    const node *n = g->p->root[root];
    const int64_t count = type_count(&n->type);
    const size_t bytes = (size_t)type_bytes(&n->type), offset = (size_t)g->p->buffer[n->id].offset;
    if (n->leaf)
        return leaf_read(n, out->data, 0, count), true;
    if (stored_as(g->p, n) == n->type.dtype)
        return receive(g, g->arena, offset, out->data, bytes, e);
    dtype stored;
    const double *wide = at(g, n, &stored);
    if (!wide)
        return err_set(e, TS_DEVICE, "a result cannot be read from %s", g->host.device->facts.name);
    for (int64_t i = 0; i < count; i++)
        store_real(n->type.dtype, out->data, i, wide[i]);
    return true;
}

/* ---- the record ---- */
static bool runs(const target *t, err *e)
{
    if (ocl_device_of(t)->number >= 0)
        return true;
    err_set(e, TS_DEVICE, "the plan is for %s, which is described and not here", t->model);
    return err_hint(e, "leave --machine out to run on the device that is here");
}

static bool takes(const plan *p, err *e)
{
    ocl_units u;
    const bool ok = ocl_units_write(&u, p, e);
    ocl_units_free(&u, NULL);
    return ok;
}

static bool make(program *g, const build_options *w, text *facts, err *e)
{
    const double start = seconds_now();
    const weight_host host = {.by = &backend_opencl, .asked = w, .spread = spread, .upload = upload, .user = g};
    if (!ocl_units_write(&g->units, g->p, e) || !open_host(&g->host, ocl_device_of(g->p->on), e) ||
        !ocl_units_build(&g->units, &g->host, w, e))
        return false;
    tell(g, seconds_now() - start, facts);
    return weights_load(&g->weights, g->p, &host, e) && find_memory(g, e) && make_kernels(g, e);
}

const backend backend_opencl = {
    .name = "opencl",
    .kinds = "gpu",
    .doc = "OpenCL C, built by the device's driver; opened when it is used, on any device that has one.",
    .as_written = true, /* what algebraic alternatives cost is known of processors alone */
    .in_blocks = true,
    .described = "gpu:h100",
    .target = ocl_target,
    .runs = runs,
    .usable = ocl_usable,
    .takes = takes,
    .takes_kernel = ocl_takes_kernel,
    .build = build,
    .run = run,
    .each = run_each,
    .time = run_timed,
    .at = at,
    .get = get,
    .emit = ocl_emit,
    .drop = drop,
    .numbered = true,
    .span = span,
    .put = put,
    .fetch = fetch,
    .wait = wait,
};
