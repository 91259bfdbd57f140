/* calibrate.c - measures the rates of this machine by one instruction set: loops of backends/probe on all of its
 * cores, of which the best repeat counts. All is done three times, one behind the other and each in other pages, so
 * that neither a short disturbance nor where pages lie in a cache meets all. A tenth of a second on most machines;
 * from some moment on each loop runs once, so that a busy one takes no longer. */
#include "backends/cpu/machine.h"
#include "backends/host_memory.h"
#include "graph/base/clock.h"
#include "backends/probe/cpus.h"
#include "backends/probe/units.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { REPEATS = 5, TURNS = 3, PIECES = 16, MEETINGS = 50, MEETING_REPEATS = 40, PAGE = 4096 };
static const double REPEAT_SECONDS = 2e-4, LAST_START = 0.4; /* of one repeat; seconds, from which on there is one */
static const int64_t MEMORY_BYTES = (int64_t)16 << 20;       /* of each core; no cache has them when they are read */

typedef struct measuring {
    const unit *u;
    const machine *m;
    cpu_list cpus;
    int64_t l1, l2, l3, memory; /* bytes of one core in which each level is met */
    char *base;                 /* [core, memory] */
    size_t *turn;               /* of each core: the piece of memory that it reads next */
    double until;
    double of[N_RATE]; /* best so far: cycles and sums that wait, in ns; else as rates are, of which a clock is known */
} measuring;

typedef struct task {
    measuring *q;
    long trips;
    int64_t bytes;
    barrier meet;
} task;

static char *own(const task *t, int thread)
{
    return t->q->base + t->q->memory * thread;
}

/* ---- what a thread does ---- */
static void cycles(void *arg, int thread)
{
    (void)thread, unit_cycles(((const task *)arg)->trips);
}

static void multiply(void *arg, int thread)
{
    const task *t = arg;
    (void)thread, t->q->u->fma_f32(t->trips);
}

static void chain(void *arg, int thread)
{
    const task *t = arg;
    (void)thread, t->q->u->chain(t->trips);
}

static void read_level(void *arg, int thread)
{
    const task *t = arg;
    for (long i = 0; i < t->trips; i++)
        t->q->u->read(own(t, thread), (size_t)t->bytes);
}

static void touch(void *arg, int thread) /* by the core that will read it */
{
    const task *t = arg;
    t->q->u->write(own(t, thread), (size_t)t->bytes);
}

static void flush(void *arg, int thread)
{
    const task *t = arg;
    unit_flush(own(t, thread), (size_t)t->bytes);
}

static void read_memory(void *arg, int thread) /* each piece once */
{
    const task *t = arg;
    t->q->u->read(own(t, thread) + t->bytes * (int64_t)(t->q->turn[thread]++ % PIECES), (size_t)t->bytes);
}

static void pass(void *arg, int thread)
{
    const task *t = arg;
    for (long i = 0; i < t->trips; i++)
        t->q->u->pass(own(t, thread), own(t, thread) + PASS_READ * t->bytes, (size_t)t->bytes);
}

static long tile_steps(const unit *u, int64_t bytes)
{
    return (long)(bytes / (u->vector_bytes * u->tile_vectors + 4 * u->tile_rows));
}

static void tiles(void *arg, int thread)
{
    const task *t = arg;
    const unit *u = t->q->u;
    const long steps = tile_steps(u, t->bytes);
    const char *columns = own(t, thread), *rows = columns + (int64_t)u->vector_bytes * u->tile_vectors * steps;
    for (long i = 0; i < t->trips; i++)
        u->tile(columns, rows, steps);
}

static void meet(void *arg, int thread)
{
    task *t = arg;
    (void)thread;
    for (int i = 0; i < MEETINGS; i++)
        barrier_wait(&t->meet);
}

/* ---- how long it takes ---- */
/* Seconds of one trip on all cores, or on one: as many as fill a repeat. */
static double seconds(measuring *q, bool all, int64_t bytes, void (*work)(void *arg, int thread))
{
    enum { TRIED = 64 }; /* of loops in registers, which are over at once */
    task t = {.q = q, .trips = bytes ? 1 : TRIED, .bytes = bytes, .meet = {.parties = q->cpus.n}};
    cpus_job job = {&q->cpus, all ? q->cpus.n : 1, 1, work, &t};
    const double once = cpus_run(&job).together;
    if (work == touch || work == flush)
        return once;
    if (work == read_memory || work == meet)
        t.trips = 1, job.repeats = work == meet ? MEETING_REPEATS : PIECES;
    else
        t.trips = (long)fmax(1, REPEAT_SECONDS / once * (double)t.trips), job.repeats = REPEATS;
    if (seconds_now() > q->until)
        job.repeats = 1;
    return cpus_run(&job).together / (double)t.trips;
}

static void higher(measuring *q, rate_kind k, double x)
{
    q->of[k] = fmax(q->of[k], x);
}

static void lower(measuring *q, rate_kind k, double x)
{
    q->of[k] = q->of[k] > 0 ? fmin(q->of[k], x) : x;
}

static double gigabytes(measuring *q, int64_t bytes, void (*work)(void *arg, int thread))
{
    return (double)bytes / seconds(q, true, bytes, work) * 1e-9;
}

/* Parts of a pass that take so many bytes together; pages of their own, as rows of matrices often have. */
static int64_t part_of(int64_t bytes)
{
    return int_max(bytes / (PASS_READ + PASS_WRITTEN) / PAGE, 1) * PAGE;
}

/* Everything once, in units of time. */
static void take_turn(measuring *q, double *cycle, double tile[2])
{
    const unit *u = q->u;
    const double steps[] = {(double)tile_steps(u, q->l1), (double)tile_steps(u, q->l2)};
    const int64_t near = part_of(q->l2), far = part_of(q->l3);
    *cycle = fmin(*cycle, seconds(q, true, 0, cycles) * 1e9 / UNIT_CHAIN);
    higher(q, RATE_FMA, u->f32_flops / 2 / (u->vector_bytes / 4.0) / (seconds(q, true, 0, multiply) * 1e9));
    lower(q, RATE_LATENCY, seconds(q, false, 0, chain) * 1e9 / UNIT_CHAIN);
    higher(q, RATE_L1, gigabytes(q, q->l1, read_level));
    higher(q, RATE_L2, gigabytes(q, q->l2, read_level));
    higher(q, RATE_L3, gigabytes(q, q->l3, read_level));
    seconds(q, true, q->memory, flush);
    higher(q, RATE_MEMORY, gigabytes(q, q->memory / PIECES / UNIT_STEP * UNIT_STEP, read_memory));
    higher(q, RATE_NEAR, (PASS_READ + PASS_WRITTEN) * gigabytes(q, near, pass));
    higher(q, RATE_FAR, (PASS_READ + PASS_WRITTEN) * gigabytes(q, far, pass));
    tile[0] = fmin(tile[0], seconds(q, true, q->l1, tiles) * 1e9 / steps[0]);
    tile[1] = fmin(tile[1], seconds(q, true, q->l2, tiles) * 1e9 / steps[1]);
    lower(q, RATE_START, seconds(q, true, 0, meet) * 1e9 / MEETINGS);
}

/* Of multiplying and loading as guess.c counts them, what is seen of the shorter: of columns and rows that come from
 * the first cache, or the second, whichever shows more. */
static double seen_of(const unit *u, const double of[N_RATE], const double tile[2])
{
    const double loads = u->tile_rows + u->tile_vectors, multiply = u->tile_rows * u->tile_vectors / of[RATE_FMA],
                 first = loads * u->vector_bytes / of[RATE_L1],
                 brought = (u->tile_vectors * u->vector_bytes + 4.0 * u->tile_rows) / of[RATE_L2];
    double most = 0;
    for (int i = 0; i < 2; i++) {
        const double move = first + (i ? brought : 0);
        most = fmax(most, (tile[i] - fmax(multiply, move)) / fmin(multiply, move));
    }
    return most;
}

/* From times to cycles. A cycle is what a sum of whole numbers takes; of clocks that fall while vectors are multiplied
 * it is the lower one, so what seems to be multiplied in a cycle is too little, by up to a quarter. Two units that
 * add, and one of them that multiplies, make of both a sum in 0.7 of one. */
static void to_cycles(measuring *q, double cycle, double tile[2], double measured[N_RATE])
{
    const double each = exp2(ceil(2 * log2(0.97 * q->of[RATE_FMA] * cycle)) / 2),
                 clock = q->of[RATE_FMA] / each; /* in GHz */
    for (int k = 0; k < N_RATE; k++)
        measured[k] = q->of[k] / clock;
    measured[RATE_FMA] = each, measured[RATE_LATENCY] = q->of[RATE_LATENCY] * clock;
    tile[0] *= clock, tile[1] *= clock;
    measured[RATE_SEEN] = seen_of(q->u, measured, tile);
    for (int k = 0; k < N_RATE; k++)
        measured[k] *= 100;
    measured[RATE_LATENCY] /= 100;
    measured[RATE_CLOCK] = clock * 1000, measured[RATE_START] = q->of[RATE_START];
}

/* Half of a level, so that nothing else has to leave */
static void find_sizes(measuring *q)
{
    const machine *m = q->m;
    const tier *of = m->tier;
    const int64_t n = m->n_core, free_bytes = host_memory_free() / 4 / n, step = (int64_t)PIECES * PAGE;
    q->l1 = of[TIER_L1D].bytes / 2 / UNIT_STEP * UNIT_STEP;
    q->l2 = of[TIER_L2].bytes / int_max(machine_sharers(m, TIER_L2), 1) / 2 / UNIT_STEP * UNIT_STEP;
    q->memory = int_min(MEMORY_BYTES, free_bytes) / step * step;
    const int64_t shared = of[TIER_L3].n ? of[TIER_L3].bytes / int_max(machine_sharers(m, TIER_L3), 1) / 2 : 0;
    q->l3 = int_min(int_max(4 * q->l2, int_min(shared, 8 * q->l2)), q->memory) / UNIT_STEP * UNIT_STEP;
}

static bool run_turn(measuring *q, double *cycle, double tile[2])
{
    const size_t bytes = (size_t)q->memory * (size_t)q->cpus.n; /* no more than a quarter of what is free */
    q->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (q->base == MAP_FAILED)
        return false;
    madvise(q->base, bytes, MADV_HUGEPAGE); /* page walks are not what is measured */
    seconds(q, true, q->memory, touch);
    take_turn(q, cycle, tile);
    munmap(q->base, bytes);
    return true;
}

static bool run_turns(measuring *q, double measured[N_RATE])
{
    double cycle = INFINITY, tile[2] = {INFINITY, INFINITY};
    bool all = true;
    for (int i = 0; i < TURNS; i++)
        all = all && run_turn(q, &cycle, tile);
    all = all && isfinite(cycle) && cycle > 0;
    for (int k = 0; k < N_RATE; k++)
        all = all && isfinite(q->of[k]) && (q->of[k] > 0 || k == RATE_CLOCK || k == RATE_SEEN);
    if (all)
        to_cycles(q, cycle, tile, measured);
    return all;
}

bool machine_calibrate(const machine *m, const isa *i, double measured[N_RATE])
{
    measuring q = {.u = unit_find(i->name), .m = m, .until = seconds_now() + LAST_START};
    for (q.cpus.n = q.cpus.cores = 0; q.cpus.n < m->n_core && q.cpus.n < CPUS_MAX; q.cpus.n++)
        q.cpus.cpu[q.cpus.n] = m->os[q.cpus.n];
    find_sizes(&q);
    if (!q.u || q.l1 < UNIT_STEP || q.l2 < UNIT_STEP || q.memory <= 2 * q.l2)
        return false;
    q.turn = calloc((size_t)m->n_core, sizeof *q.turn);
    const bool ok = q.turn && run_turns(&q, measured);
    free(q.turn);
    return ok;
}
