/* calibrate.c - measures the rates of this machine by one instruction set: loops of backends/probe on all of its
 * cores. Other work only adds time, so of each loop the best repeat counts, and it is to have been a quiet one in
 * which no thread waited for its core. What disturbs without a wait (another tenant, a sibling of the core, where
 * pages lie in a cache) is seen as turns that differ: all is done three times, one behind the other and each in other
 * pages, and what was not quiet then, or of which the two best differ, again until the time is up. Two tenths of a
 * second on most machines. */
#include "backends/cpu/machine.h"
#include "backends/host_memory.h"
#include "graph/base/clock.h"
#include "backends/probe/cpus.h"
#include "backends/probe/units.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { REPEATS = 5, TURNS = 3, ENOUGH = 12, PIECES = 16, MEETINGS = 50, MEETING_REPEATS = 40, LOOKS = 50, PAGE = 4096 };
static const double REPEAT_SECONDS = 2e-4; /* of one repeat; short against a slice of time */
static const double JOB_SECONDS = 0.01;    /* of repeats of one loop, where they take longer than on a quiet machine */
static const double LAST_START = 0.8;      /* of a loop, in seconds, but for what has not run at all by then */
static const double ALIKE = 1.1;           /* between the two best turns: about half a step of rates.c */
static const int64_t MEMORY_BYTES = (int64_t)16 << 20; /* of each core; no cache has them when they are read */

/* What is timed. Bests are in seconds of one trip */
typedef enum figure {
    CYCLES,
    MULTIPLY,
    CHAIN,
    READ_L1,
    READ_L2,
    READ_L3,
    READ_MEMORY,
    PASS_NEAR,
    PASS_FAR,
    TILE_L1,
    TILE_L2,
    MEET,
    N_FIGURE
} figure;

typedef struct turns {
    double best, next; /* of all turns: infinite where there are none */
    int quiet;         /* turns that had a quiet repeat */
} turns;

typedef struct measuring {
    const unit *u;
    cpu_list cpus;
    int64_t bytes[N_FIGURE]; /* that a loop goes through on one core; of a pass, of one of its parts */
    int64_t memory;
    char *base;   /* [core, memory] */
    size_t *turn; /* of each core: the piece of memory that it reads next */
    double until;
    turns of[N_FIGURE];
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
static const struct {
    void (*work)(void *arg, int thread);
    int repeats;                   /* of one trip each; 0: as many trips as fill a repeat */
    enum { ALL, APART, ALONE } by; /* all cores at once; each for itself, while the others do the same; one */
} does[N_FIGURE] = {
    [CYCLES] = {cycles, 0, APART},
    [MULTIPLY] = {multiply, 0, APART},
    [CHAIN] = {chain, 0, ALONE},
    [READ_L1] = {read_level, 0, APART},
    [READ_L2] = {read_level, 0, APART},
    [READ_L3] = {read_level, 0, ALL},
    [READ_MEMORY] = {read_memory, PIECES, ALL},
    [PASS_NEAR] = {pass, 0, APART},
    [PASS_FAR] = {pass, 0, ALL},
    [TILE_L1] = {tiles, 0, APART},
    [TILE_L2] = {tiles, 0, APART},
    [MEET] = {meet, MEETING_REPEATS, ALL},
};

static bool settled(const turns *t)
{
    return (t->quiet >= TURNS && t->next <= t->best * ALIKE) || t->quiet >= ENOUGH;
}

static void prepare(measuring *q, int64_t bytes, void (*work)(void *arg, int thread))
{
    task t = {.q = q, .bytes = bytes};
    cpus_run(&(cpus_job){.cpus = &q->cpus, .threads = q->cpus.n, .repeats = 1, .work = work, .arg = &t});
}

/* One turn of one loop. Trips follow from the best turn so far, first from a trial. */
static void take_turn(measuring *q, figure f)
{
    enum { TRIED = 64 }; /* of loops in registers, which are over at once */
    turns *of = &q->of[f];
    task t = {.q = q, .trips = 1, .bytes = q->bytes[f], .meet = {.parties = q->cpus.n}};
    cpus_job job = {.cpus = &q->cpus,
                    .threads = does[f].by == ALONE ? 1 : q->cpus.n,
                    .repeats = does[f].repeats ? does[f].repeats : REPEATS,
                    .work = does[f].work,
                    .arg = &t,
                    .apart = does[f].by == APART,
                    .limit = JOB_SECONDS};
    if (!does[f].repeats) {
        const long tried = t.trips = t.bytes ? 1 : TRIED;
        const double once = isinf(of->best) ? cpus_run(&job).seconds / (double)tried : of->best;
        t.trips = (long)fmax(1, REPEAT_SECONDS / once);
    }
    const cpus_time is = cpus_run(&job);
    const double seconds = is.seconds / (double)t.trips;
    of->next = fmin(of->next, fmax(seconds, of->best));
    of->best = fmin(of->best, seconds);
    of->quiet += is.quiet > 0 && (does[f].repeats || is.seconds > REPEAT_SECONDS / 2);
}

/* What is not settled, once, in pages of their own */
static bool take_turns(measuring *q)
{
    const size_t bytes = (size_t)q->memory * (size_t)q->cpus.n; /* no more than a quarter of what is free */
    q->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (q->base == MAP_FAILED)
        return false;
    madvise(q->base, bytes, MADV_HUGEPAGE); /* page walks are not what is measured */
    int64_t walked = 0;
    for (int f = 0; f < N_FIGURE; f++)
        if (!settled(&q->of[f]))
            walked = int_max(walked, does[f].work == pass          ? (PASS_READ + PASS_WRITTEN) * q->bytes[f]
                                     : does[f].work == read_memory ? q->memory
                                                                   : q->bytes[f]);
    if (walked)
        prepare(q, walked, touch);
    for (int f = 0; f < N_FIGURE; f++) {
        const bool due = isinf(q->of[f].best) || (!settled(&q->of[f]) && seconds_now() < q->until);
        if (due && does[f].work == read_memory)
            prepare(q, q->memory, flush);
        if (due)
            take_turn(q, (figure)f);
    }
    munmap(q->base, bytes);
    return true;
}

static bool all_settled(const measuring *q)
{
    bool all = true;
    for (int f = 0; f < N_FIGURE; f++)
        all = all && settled(&q->of[f]);
    return all;
}

/* ---- what follows from it ---- */
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
static void to_rates(const measuring *q, double measured[N_RATE])
{
    static const struct {
        rate_kind rate;
        figure from;
        int parts; /* of so many bytes each */
    } read[] = {{RATE_L1, READ_L1, 1},
                {RATE_L2, READ_L2, 1},
                {RATE_L3, READ_L3, 1},
                {RATE_MEMORY, READ_MEMORY, 1},
                {RATE_NEAR, PASS_NEAR, PASS_READ + PASS_WRITTEN},
                {RATE_FAR, PASS_FAR, PASS_READ + PASS_WRITTEN}};
    const unit *u = q->u;
    const turns *of = q->of;
    const double multiplied = u->f32_flops / 2 / (u->vector_bytes / 4.0) / of[MULTIPLY].best,
                 cycle = of[CYCLES].best / UNIT_CHAIN, each = exp2(ceil(2 * log2(0.97 * multiplied * cycle)) / 2),
                 clock = multiplied / each; /* in Hz */
    measured[RATE_FMA] = each;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        measured[read[i].rate] = (double)(read[i].parts * q->bytes[read[i].from]) / of[read[i].from].best / clock;
    const double tile[] = {of[TILE_L1].best / (double)tile_steps(u, q->bytes[TILE_L1]) * clock,
                           of[TILE_L2].best / (double)tile_steps(u, q->bytes[TILE_L2]) * clock};
    measured[RATE_SEEN] = seen_of(u, measured, tile);
    for (int k = 0; k < N_RATE; k++)
        measured[k] *= 100; /* hundredths, and percent */
    measured[RATE_LATENCY] = of[CHAIN].best / UNIT_CHAIN * clock;
    measured[RATE_CLOCK] = clock * 1e-6, measured[RATE_START] = of[MEET].best * 1e9 / MEETINGS;
}

/* Half of a level, so that nothing else has to leave; parts of a pass that take so many bytes together, with pages of
 * their own, as rows of matrices often have. */
static void find_sizes(measuring *q, const machine *m)
{
    const tier *of = m->tier;
    const int64_t n = m->n_core, free_bytes = host_memory_free() / 4 / n, step = (int64_t)PIECES * PAGE;
    const int64_t l1 = of[TIER_L1D].bytes / 2 / UNIT_STEP * UNIT_STEP,
                  l2 = of[TIER_L2].bytes / int_max(machine_sharers(m, TIER_L2), 1) / 2 / UNIT_STEP * UNIT_STEP;
    q->memory = int_min(MEMORY_BYTES, free_bytes) / step * step;
    const int64_t shared = of[TIER_L3].n ? of[TIER_L3].bytes / int_max(machine_sharers(m, TIER_L3), 1) / 2 : 0,
                  l3 = int_min(int_max(4 * l2, int_min(shared, 8 * l2)), q->memory) / UNIT_STEP * UNIT_STEP;
    q->bytes[READ_L1] = q->bytes[TILE_L1] = l1, q->bytes[READ_L2] = q->bytes[TILE_L2] = l2, q->bytes[READ_L3] = l3;
    q->bytes[READ_MEMORY] = q->memory / PIECES / UNIT_STEP * UNIT_STEP;
    q->bytes[PASS_NEAR] = int_max(l2 / (PASS_READ + PASS_WRITTEN) / PAGE, 1) * PAGE;
    q->bytes[PASS_FAR] = int_max(l3 / (PASS_READ + PASS_WRITTEN) / PAGE, 1) * PAGE;
}

static void open_cores(cpu_list *cpus, const machine *m)
{
    for (cpus->n = 0; cpus->n < m->n_core && cpus->n < CPUS_MAX; cpus->n++)
        cpus->cpu[cpus->n] = m->os[cpus->n];
    cpus->cores = cpus->n;
}

bool machine_calibrate(const machine *m, const isa *i, double measured[N_RATE], bool *disturbed)
{
    measuring q = {.u = unit_find(i->name), .until = seconds_now() + LAST_START};
    open_cores(&q.cpus, m);
    find_sizes(&q, m);
    if (!q.u || q.bytes[READ_L1] < UNIT_STEP || q.bytes[READ_L2] < UNIT_STEP || q.memory <= 2 * q.bytes[READ_L2])
        return false;
    for (int f = 0; f < N_FIGURE; f++)
        q.of[f] = (turns){INFINITY, INFINITY, 0};
    q.turn = calloc((size_t)m->n_core, sizeof *q.turn);
    bool ok = q.turn != NULL;
    do
        ok = ok && take_turns(&q);
    while (ok && !all_settled(&q) && seconds_now() < q.until);
    free(q.turn);
    for (int f = 0; f < N_FIGURE; f++)
        ok = ok && isfinite(q.of[f].best) && q.of[f].best > 0;
    if (ok)
        to_rates(&q, measured), *disturbed = !all_settled(&q);
    return ok;
}

bool machine_quiet(const machine *m)
{
    cpu_list cpus = {0};
    open_cores(&cpus, m);
    task t = {.trips = (long)(REPEAT_SECONDS * 3e9 / UNIT_CHAIN)}; /* about: of a clock of 3 GHz */
    const cpus_time is = cpus_run(&(cpus_job){&cpus, cpus.n, LOOKS, cycles, &t, false, 0});
    return is.ran == cpus.n && is.quiet >= LOOKS - LOOKS / 5; /* the system's own ticks are noticed, too */
}
