/* ctest: large Og unkept
 * streams_test.c - what one worker makes goes to queues of its own where nothing orders it, and what is to wait is told
 * by events: commands are followed on their way to the driver. Results are those of one queue.
 * streams_test N: the time of N runs in several queues and in one. */
#include "backends/device/hosted.h"
#include "backends/driver.h"
#include "backends/opencl/runtime/opencl_driver.h"
#include "graph/base/clock.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, TRIPS = 500, LONG = 20000, LOOPS = 3, COMMANDS = 256, EVENTS = 8 };

/* ---- commands on their way ---- */
typedef struct command {
    cl_queue queue;
    cl_kernel kernel; /* NULL: it is a marker */
    bool after[COMMANDS];
} command;
static command told[COMMANDS];
static cl_event event_of[COMMANDS];
static int n_told, n_event;
static const opencl *driver;

static void tell(cl_queue q, cl_kernel k, uint32_t n, const cl_event *wait)
{
    command *c = &told[n_told];
    MUST(n_told < COMMANDS);
    *c = (command){.queue = q, .kernel = k};
    for (int i = 0; i < n_told; i++) {
        bool before = told[i].queue == q;
        for (uint32_t e = 0; e < n; e++)
            before = before || event_of[i] == wait[e];
        for (int j = 0; before && j < i; j++)
            c->after[j] = c->after[j] || told[i].after[j];
        c->after[i] = c->after[i] || before;
    }
    n_event += (int)n;
}

static void tell_done(const cl_event *done) /* events that were given up have their places again */
{
    for (int i = 0; done && i < n_told; i++)
        if (event_of[i] == *done)
            event_of[i] = NULL;
    event_of[n_told++] = done ? *done : NULL;
}

static int32_t launch(cl_queue q, cl_kernel k, uint32_t dimensions, const size_t *from, const size_t *items,
                      const size_t *lanes, uint32_t n, const cl_event *wait, cl_event *done)
{
    tell(q, k, n, wait);
    const int32_t answer = driver->launch(q, k, dimensions, from, items, lanes, n, wait, done);
    return tell_done(done), answer;
}

static int32_t marker(cl_queue q, uint32_t n, const cl_event *wait, cl_event *done)
{
    tell(q, NULL, n, wait);
    const int32_t answer = driver->marker(q, n, wait, done);
    return tell_done(done), answer;
}

/* ---- the plan ---- */
/* Loops over rows of x, each of its own weight, and running sums of a long vector: all by one worker; then their sum */
static ts_tensor build(ts_graph *g)
{
    ts_tensor all = NULL;
    const ts_tensor x = ts_input(g, "x", TS_F32, 2, (int64_t[]){TRIPS, WIDTH}),
                    y = ts_input(g, "y", TS_F32, 1, (int64_t[]){LONG});
    for (int i = 0; i < LOOPS; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%d", i);
        const ts_tensor w = ts_input(g, name, TS_F32, 2, (int64_t[]){WIDTH, WIDTH});
        ts_scan *s = ts_scan_begin(g, TRIPS);
        const ts_tensor state = ts_scan_state(s, ts_call1(g, "sum axes=[0]", x)), row = ts_scan_slice(s, x, i == 1);
        const ts_tensor next = ts_call1(g, "tanh", ts_call2(g, "add", ts_call2(g, "matmul", state, w), row));
        ts_tensor last = NULL;
        if (ts_scan_step(s, state, next) && ts_scan_end(s, &last))
            all = all ? ts_call2(g, "add", all, last) : last;
    }
    const ts_tensor sums = ts_call1(g, "scan axis=0 fn=add exclusive=0", y);
    return ts_call2(g, "add", all, ts_call1(g, "sum axes=[0]", sums));
}

static ts_plan *make(ts_graph *g, ts_tensor y, bool beside, err *e)
{
    ts_plan *p = y ? ts_plan_of(g, 1, &y, 0, NULL, &(ts_options){.target = "opencl", .cache_folder = "none"}, e) : NULL;
    for (int k = 0; p && !beside && k < p->plan->n_kernel; k++)
        p->plan->kernel[k].beside = 0;
    bool ok = p && ts_plan_build(p, e);
    for (int i = 0; ok && i < p->plan->n_input; i++) {
        const type *t = &p->plan->input[i]->type;
        ts_array v;
        ok = ts_array_make(&v, TS_F32, t->rank, t->dim, e);
        if (ok)
            ts_array_random(&v, (uint64_t)i + 1, 0), ok = ts_plan_set(p, i, &v, e), ts_array_free(&v);
    }
    return ok ? p : (ts_plan_free(p), NULL);
}

/* ---- checks ---- */
static int place_of(const opencl_host *h, int k)
{
    int i = 0;
    while (i < n_told && told[i].kernel != h->kernel[k])
        i++;
    return i;
}

/* All that a kernel is to wait for is done before, and those beside it may be at work with it. */
static void check_order(ts_plan *p)
{
    const opencl_host *h = (opencl_host *)p->program->on;
    const device_program *q = &p->program->tables.program;
    int beside = 0;
    for (int k = 0; k < q->kernels; k++) {
        const int at = place_of(h, k);
        if (q->kernel[k].joins || !CHECK(at < n_told))
            continue;
        for (int i = 0; i < q->kernel[k].waits; i++)
            if (!CHECK(told[at].after[place_of(h, q->kernel[k].wait[i])]))
                printf("  kernel %d does not wait for %d\n", k, q->kernel[k].wait[i]);
        for (int j = k - p->plan->kernel[k].beside; j < k; j++)
            beside += !told[at].after[place_of(h, j)];
    }
    printf("%d kernels, %d commands, %d streams, waiting for %d events; %d pairs side by side\n", q->kernels, n_told,
           q->streams, n_event, beside);
    CHECK(q->streams > 1 && n_event >= 2 * (q->streams - 1) && beside > 0);
}

static void check_ledger(ts_plan *p)
{
    err e = {0};
    char *ledger = ts_plan_ledger(p, &e);
    CHECK(check_count(ledger, "\"by\":\"event\"") > 1 && check_count(ledger, "\"stream\":1") > 0);
    CHECK(!check_count(ledger, "\"streams\":1}"));
    ts_free(ledger);
}

static bool follow(ts_plan *p, err *e)
{
    opencl_host *h = (opencl_host *)p->program->on;
    const opencl own = h->cl;
    driver = &own, n_told = n_event = 0;
    h->cl.launch = launch, h->cl.marker = marker;
    const bool ok = ts_plan_run(p, e);
    h->cl = own;
    return ok;
}

static void print_times(ts_plan *queues, ts_plan *one, long runs)
{
    double best[2] = {1e9, 1e9};
    for (long i = 0; i < runs; i++)
        for (int which = 0; which < 2; which++) {
            const double start = seconds_now();
            CHECK(ts_plan_run(which ? one : queues, &(err){0}));
            const double took = seconds_now() - start;
            best[which] = took < best[which] ? took : best[which];
        }
    printf("%.0f us in several queues, %.0f us in one\n", 1e6 * best[0], 1e6 * best[1]);
}

int main(int argc, char **argv)
{
    err e = {0};
    const int skip = rig_opencl();
    if (skip)
        return skip;
    ts_graph *g = ts_graph_make();
    const ts_tensor y = build(g);
    ts_array want = {0}, got = {0};
    ts_plan *queues = ts_graph_ok(g, &e) ? make(g, y, true, &e) : NULL, *one = queues ? make(g, y, false, &e) : NULL;
    if (queues && queues->plan->on->streams < 2)
        return check_skip("a device of one unit");
    bool ok = one && ts_plan_run(one, &e) && ts_plan_get(one, 0, &want, &e);
    for (int i = 0; ok && i < 20; i++) {
        ok = (i ? ts_plan_run(queues, &e) : follow(queues, &e)) && ts_plan_get(queues, 0, &got, &e);
        CHECK(ok && !memcmp(got.data, want.data, 4 * WIDTH));
        ts_array_free(&got);
    }
    if (CHECK(ok))
        check_order(queues), check_ledger(queues);
    else
        printf("  %s\n", e.text);
    if (ok && argc > 1)
        print_times(queues, one, strtol(argv[1], NULL, 10));
    ts_array_free(&want), ts_plan_free(queues), ts_plan_free(one), ts_graph_free(g);
    return check_done();
}
