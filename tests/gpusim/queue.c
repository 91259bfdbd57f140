/* queue.c - work that was given to streams, and the order in which it is done. */
#include "tests/gpusim/driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

pthread_mutex_t driver_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
bool initialised;
CUresult sticky;
int devices;
struct sim_context primary[MOST_DEVICES];
__thread CUcontext stack[16];
__thread int depth;
static struct sim_stream thread_stream;
struct sim_stream null_stream, *streams = &thread_stream;
uint64_t seq_counter;
int compute_major, compute_minor, sm_count;

int device_now(void)
{
    return depth ? stack[depth - 1]->device : 0;
}

driver_entry driver_lock_it(void)
{
    pthread_mutex_lock(&driver_lock);
    return (driver_entry){OK};
}

void driver_leave(const driver_entry *e)
{
    (void)e;
    pthread_mutex_unlock(&driver_lock);
}

driver_entry driver_enter_first(const char *name)
{
    driver_lock_it();
    return (driver_entry){initialised ? fail_call(name) : E_NOT_INITIALIZED};
}

driver_entry driver_enter(const char *name)
{
    const driver_entry e = driver_enter_first(name);
    return e.failed ? e : (driver_entry){sticky ? sticky : depth ? OK : E_CONTEXT};
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void free_op(operation *op)
{
    free(op->launch.parameters);
    free(op->staged);
    free(op->deps);
    free(op);
}

operation *clone_op(const operation *op)
{
    operation *c = malloc(sizeof *c);
    *c = *op;
    c->next = NULL;
    c->deps = NULL;
    c->ndeps = 0;
    if (op->launch.parameters) {
        size_t n = op->launch.fn->parameter_size;
        c->launch.parameters = malloc(n + 1);
        memcpy(c->launch.parameters, op->launch.parameters, n);
    }
    if (op->staged) {
        c->staged = malloc(op->bytes);
        memcpy(c->staged, op->staged, op->bytes);
    }
    return c;
}

static void *side(uint64_t addr, bool host, uint64_t bytes)
{
    return host ? (void *)(uintptr_t)addr : mem_host(addr, bytes);
}

static CUresult copy_now(const operation *op)
{
    if (op->bytes == 0)
        return OK;
    void *d = side(op->dst, op->dst_host, op->bytes),
         *s = op->staged ? op->staged : side(op->src, op->src_host, op->bytes);
    if (!d || !s) {
        sim_note("copy of %llu bytes reaches outside an allocation (or it was freed before the copy ran)",
                 (unsigned long long)op->bytes);
        return E_ILLEGAL_ADDRESS;
    }
    memmove(d, s, op->bytes);
    if (!op->dst_host) {
        if (op->src_host || op->staged)
            mem_mark_valid(op->dst, op->bytes, 1);
        else
            mem_copy_valid(op->dst, op->src, op->bytes);
    }
    return OK;
}

static CUresult set_now(const operation *op)
{
    uint8_t *d = mem_host(op->dst, op->bytes);
    if (!op->bytes)
        return OK;
    if (!d)
        return E_ILLEGAL_ADDRESS;
    for (uint64_t i = 0; i < op->bytes; i += op->element)
        memcpy(d + i, &op->value, op->element);
    mem_mark_valid(op->dst, op->bytes, 1);
    return OK;
}

static void run_op(operation *op)
{
    CUresult r = OK;
    switch (op->kind) {
    case OP_LAUNCH: {
        launch l = op->launch;
        l.status = l.reports = l.stop = 0;
        r = launch_run(&l);
        break;
    }
    case OP_COPY: r = copy_now(op); break;
    case OP_SET: r = set_now(op); break;
    case OP_RECORD:
        op->event->done = op->seq;
        op->event->time = now();
        break;
    case OP_WAIT: drain(op->on, op->on_seq); break;
    case OP_HOST:
        if (op->fn)
            op->fn(op->arg);
        else
            op->callback(op->stream, sticky, op->arg);
        break;
    case OP_FREE:
        if (mem_free(op->dst))
            r = E_VALUE;
        break;
    case OP_EMPTY: break;
    }
    if (r && !sticky)
        sticky = r;
}

/* Carries out the stream's work up to and including number upto, and before each piece
 * whatever the legacy default stream's rules put before it. */
void drain(CUstream s, uint64_t upto)
{
    while (s->head && s->head->seq <= upto) {
        operation *op = s->head;
        if (s == &null_stream) {
            for (CUstream t = streams; t; t = t->next)
                if (!(t->flags & 1))
                    drain(t, op->seq - 1);
        } else if (!(s->flags & 1))
            drain(&null_stream, op->seq - 1);
        if (s->head != op)
            continue;
        s->head = op->next;
        if (!s->head)
            s->tail = NULL;
        if (!sticky || op->kind == OP_RECORD)
            run_op(op);
        free_op(op);
    }
}

void drain_all(void)
{
    drain(&null_stream, ~0ull);
    for (CUstream t = streams; t; t = t->next)
        drain(t, ~0ull);
}

CUstream resolve(CUstream s)
{
    return s == NULL || s == (CUstream)1 ? &null_stream : s == (CUstream)2 ? &thread_stream : s;
}

void add_node(CUgraph g, operation *op, const int *deps, int ndeps)
{
    op->index = g->n;
    op->deps = calloc(((size_t)ndeps + 1), sizeof *op->deps);
    if (ndeps)
        memcpy(op->deps, deps, (size_t)ndeps * sizeof *deps);
    op->ndeps = ndeps;
    g->nodes = reallocarray(g->nodes, (size_t)(g->n + 1), sizeof *g->nodes);
    g->nodes[g->n++] = op;
}

bool anything_capturing(void)
{
    for (CUstream t = streams; t; t = t->next)
        if (t->capture)
            return true;
    return false;
}

/* Queues work, or adds it to the graph that the stream is capturing. */
CUresult submit(CUstream s, operation *op)
{
    s = resolve(s);
    op->stream = s;
    if (s->capture) {
        if (s->invalid) {
            free_op(op);
            return E_CAPTURE_INVALIDATED;
        }
        add_node(s->capture, op, s->deps, s->ndeps);
        s->deps = realloc(s->deps, sizeof *s->deps);
        s->deps[0] = op->index;
        s->ndeps = 1;
        return OK;
    }
    if (s == &null_stream && anything_capturing()) {
        free_op(op);
        return E_CAPTURE_IMPLICIT;
    }
    op->seq = ++seq_counter;
    op->next = NULL;
    if (s->tail)
        s->tail->next = op;
    else
        s->head = op;
    s->tail = op;
    if (sim_opt.eager)
        drain_all();
    return sticky;
}

operation *new_op(operation_kind k)
{
    operation *op = calloc(1, sizeof *op);
    op->kind = k;
    return op;
}

CUresult forbid_capture(CUstream s)
{
    s = resolve(s);
    if (s->capture) {
        s->invalid = true;
        return E_CAPTURE_UNSUPPORTED;
    }
    if (s == &null_stream && anything_capturing()) {
        for (CUstream t = streams; t; t = t->next)
            if (t->capture)
                t->invalid = true;
        return E_CAPTURE_UNSUPPORTED;
    }
    return OK;
}
