/* fail_test.c - memory that is not there: of what needs much of it, the first, second, ... request is refused, until
 * none is left to refuse. Each time the answer is the value or TS_MEMORY with a sentence, and the heap holds afterwards
 * what it held before. Descriptions are another matter: an arena ends the process (graph/base/arena.c), so requests
 * below LARGE, which all its chunks are, are granted.
 *
 * ctest: fast large */
#include "graph/base/base.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "train/order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LARGE = (1 << 20) + 4096, MOST_REQUESTS = 200, SIDE = 1024 };

/* ---- requests: those of the program and of its library come here in place of libc ---- */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

static int allowed = -1; /* large requests before one is refused; -1: all are granted */
static bool refused;

static bool refuse(size_t n)
{
    if (n < LARGE || allowed < 0 || refused)
        return false;
    refused = allowed-- == 0;
    errno = refused ? ENOMEM : errno;
    return refused;
}

static long live; /* blocks of the heap */

static void *counted(void *p)
{
    live += p != NULL;
    return p;
}

void *malloc(size_t n)
{
    return refuse(n) ? NULL : counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return refuse(n * size) ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
    return refuse(n) ? NULL : p ? __libc_realloc(p, n) : counted(__libc_malloc(n));
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t all;
    return size_mul(n, size, &all) ? realloc(p, all) : NULL;
}

void *aligned_alloc(size_t align, size_t n)
{
    return refuse(n) ? NULL : counted(__libc_memalign(align, n));
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
    return fd < 0 && refuse(n) ? MAP_FAILED : (void *)syscall(SYS_mmap, at, n, protection, flags, fd, from);
}

/* ---- what needs much ---- */
static char npy[300], tensors[300];
static const int64_t dim[] = {SIDE, SIDE};

static bool make(ts_error *e)
{
    ts_array a;
    const bool ok = ts_array_make(&a, TS_F32, 2, dim, e);
    ts_array_free(&a);
    return ok;
}

static bool read_npy(ts_error *e)
{
    ts_array a = {0};
    const bool ok = ts_npy_read(npy, &a, e);
    ts_array_free(&a);
    return ok;
}

static bool read_tensors(ts_error *e)
{
    ts_array a = {0};
    ts_tensors *file = ts_tensors_open(tensors, e);
    const bool ok = file && ts_tensors_get(file, "w", &a, e);
    ts_array_free(&a), ts_tensors_free(file);
    return ok;
}

static bool make_order(ts_error *e) /* places of a million examples */
{
    order o;
    const bool ok = order_make(&o, SIDE * SIDE, 8, 1, false, e);
    order_free(&o);
    return ok;
}

static bool add(ts_error *e) /* y = x + x through a plan and its program */
{
    ts_array x = {0}, y = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor in = ts_input(g, "x", TS_F32, 2, dim), out = ts_call2(g, "add", in, in);
    const bool ok = ts_npy_read(npy, &x, e) &&
                    ts_eval(1, &out, 1, &(ts_given){"x", x}, &(ts_options){.target = "interp"}, &y, e);
    ts_array_free(&x), ts_array_free(&y), ts_graph_free(g);
    return ok;
}

static bool set(ts_plan *p, int input, ts_dtype dtype, int rank, const int64_t *extent, ts_error *e) /* to zeros */
{
    ts_array x;
    const bool ok = ts_array_make(&x, dtype, rank, extent, e) && ts_plan_set(p, input, &x, e);
    ts_array_free(&x);
    return ok;
}

static bool run_model(ts_error *e) /* whose weights are drawn */
{
    ts_array y = {0};
    ts_model *m = ts_model_open("bert-tiny", e);
    bool ok = m && ts_model_bind(m, 1, &(const char *){"seq=4"}, NULL, e);
    ts_plan *p = ok ? ts_plan_make(m, &(ts_options){.target = "interp", .threads = 1}, e) : NULL;
    ok = p && ts_plan_build(p, e);
    for (int i = 0; ok && i < ts_model_inputs(m); i++) {
        ts_port port;
        ok = ts_model_input(m, i, &port) && set(p, i, port.dtype, port.rank, port.dim, e);
    }
    ok = ok && ts_plan_run(p, e) && ts_plan_get(p, 0, &y, e);
    ts_array_free(&y), ts_plan_free(p), ts_model_free(m);
    return ok;
}

static bool step(ts_error *e) /* of Adam on a matrix, with its state */
{
    ts_graph *g = ts_graph_make();
    ts_tensor w = ts_input(g, "w", TS_F32, 2, dim), k = ts_input(g, "step", TS_F64, 0, NULL), grad,
              loss = ts_call1(g, "mean", ts_call2(g, "multiply", w, w));
    const ts_optimizer how = {.recipe = "adam", .rate = ts_scalar(g, TS_F64, 0.1), .step = k};
    ts_updates u = {0};
    ts_state state[9];
    bool ok = ts_chain_rule(g, 1, &loss, NULL, 1, &w, &grad) && ts_optimize(g, &how, 1, &w, &grad, &u);
    for (int i = 0; ok && i < u.n; i++)
        state[i] = (ts_state){u.update[i].from, u.update[i].to};
    ts_plan *p = ok ? ts_plan_of(g, 1, &loss, u.n, state, &(ts_options){.target = "interp", .threads = 1}, e) : NULL;
    ok = p && ts_plan_build(p, e);
    for (int i = 0; ok && i < u.n; i++)
        ok = set(p, ts_plan_find(p, ts_name(u.update[i].from)), ts_type(u.update[i].from), ts_rank(u.update[i].from),
                 ts_shape(u.update[i].from), e);
    ok = ok && ts_plan_run(p, e);
    ts_plan_free(p), ts_graph_free(g);
    return ok;
}

static void without(const char *what, bool (*run)(ts_error *e), int least)
{
    int n = 0;
    ts_error none = {0};
    CHECK(run(&none)); /* tables that are made once are there then */
    const long before = live;
    for (bool more = true; more && n < MOST_REQUESTS; n += more) {
        ts_error e = {0};
        allowed = n, refused = false;
        const bool ok = run(&e);
        more = refused, allowed = -1;
        if (!CHECK(ok || (more && e.code == TS_MEMORY && *e.text)))
            fprintf(stderr, "  %s without request %d: code %d, \"%s\"\n", what, n, e.code, e.text);
        if (!CHECK(live == before))
            fprintf(stderr, "  %s without request %d: %ld blocks stay\n", what, n, live - before);
    }
    if (!CHECK(n >= least && n < MOST_REQUESTS))
        fprintf(stderr, "  %s: %d large requests, at least %d expected\n", what, n, least);
}

int main(void)
{
    scratch s = scratch_make();
    ts_array a;
    ts_error e = {0};
    snprintf(npy, sizeof npy, "%s/a.npy", s.path), snprintf(tensors, sizeof tensors, "%s/a.safetensors", s.path);
    CHECK(ts_array_make(&a, TS_F32, 2, dim, &e) && ts_npy_write(npy, &a, &e));
    char sha256[65];
    CHECK(ts_tensors_write(tensors, 1, &(ts_given){"w", a}, sha256, &e));
    ts_array_free(&a);
    without("an array", make, 1);
    without("an npy file", read_npy, 1);
    without("a safetensors file", read_tensors, 1);
    without("an order of examples", make_order, 1);
    without("a plan", add, 3);
    without("a model's run", run_model, 1);
    without("a step of training", step, 3);
    scratch_free(&s);
    return check_done();
}
