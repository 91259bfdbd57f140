/* probe.c - loops of units.h on one processor and on all, and of those repeats the one in which the processors ran
 * most together. */
#include "bench/machine/probe.h"
#include "backends/probe/clock.h"
#include "backends/probe/cpus.h"
#include "graph/base/err.h"
#include "graph/base/js.h"
#include "backends/probe/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* about 0.1 ms; meetings that are timed; pieces of a level; of which the best counts, with all effort and with least */
enum { CANARY_TRIPS = 45000, BARRIERS = 500, PIECES = 32, MOST_REPEATS = 25, FEWEST_REPEATS = 3, TRIED_AGAIN = 3 };
static const double PROBE_SECONDS = 1e-3; /* of one repeat: long against a timer, short against a slice of time */
static const size_t KIB = 1024, MIB = 1024 * 1024;

double canary_measure(void)
{
    const unit *u = unit_find("plain"); /* never the widest: wide units change clocks on some processors */
    int64_t start = clock_ns();
    u->fma_f32(CANARY_TRIPS);
    return (double)(clock_ns() - start);
}

/* ---- multiply-add ---- */

typedef struct fma_task {
    void (*run)(long trips);
    long trips;
} fma_task;

static void fma_work(void *arg, int thread)
{
    (void)thread;
    fma_task *t = arg;
    t->run(t->trips);
}

typedef struct probing {
    cpu_list cpus;
    int threads, repeats;
    bool thorough, disturbed; /* disturbed: of some loop no repeat was quiet */
} probing;

/* The best of a job: of the first run of it that had a quiet repeat, or of all that are tried. */
static cpus_time timed(probing *p, const cpus_job *job)
{
    cpus_time best = cpus_run(job);
    for (int i = 0; i < TRIED_AGAIN && best.quiet == 0; i++) {
        const cpus_time is = cpus_run(job);
        if (is.quiet || is.seconds < best.seconds)
            best = is;
    }
    p->disturbed = p->disturbed || best.quiet == 0;
    return best;
}

/* GFLOP/s of all threads together. */
static double fma_peak(probing *p, int threads, void (*run)(long trips), double flops_per_trip)
{
    fma_task t = {run, 2000};
    cpus_job job = {&p->cpus, 1, FEWEST_REPEATS, fma_work, &t, false, 0};
    t.trips = (long)fmax(2000, PROBE_SECONDS / cpus_run(&job).seconds * 2000);
    job.threads = threads;
    job.repeats = p->repeats;
    return flops_per_trip * (double)t.trips * timed(p, &job).rate * 1e-9;
}

static void add_unit(cJSON *list, probing *p, const unit *u)
{
    const char *const dtype[] = {"f32", "f64"};
    for (int d = 0; d < 2; d++) {
        void (*run)(long) = d == 0 ? u->fma_f32 : u->fma_f64;
        double flops = d == 0 ? u->f32_flops : u->f64_flops;
        const double all = fma_peak(p, p->threads, run, flops);
        js_row(list, "isa:%s,dtype:%s,gflops:%g,one_thread_gflops:%g", u->isa, dtype[d], all,
               p->threads == 1 ? all : fma_peak(p, 1, run, flops));
    }
}

/* ---- memory ---- */

typedef struct memory_task {
    char *base;         /* each thread has its own `part` of it, */
    size_t part, piece; /* and walks a piece of that, `passes` times, the next piece at the next turn */
    size_t passes;
    size_t *turn; /* of each thread */
    void (*read)(const void *p, size_t bytes);
    void (*write)(void *p, size_t bytes);
} memory_task;

static void memory_work(void *arg, int thread)
{
    memory_task *t = arg;
    size_t at = t->turn[thread]++ % (t->part / t->piece) * t->piece;
    char *mine = t->base + t->part * (size_t)thread + at;
    for (size_t i = 0; i < t->passes; i++) {
        if (t->read)
            t->read(mine, t->piece);
        else
            t->write(mine, t->piece);
    }
}

/* GB/s of all threads together. */
static double bandwidth(probing *p, memory_task *t)
{
    cpus_job job = {&p->cpus, p->threads, 1, memory_work, t, false, 0};
    t->passes = 1;
    double once = cpus_run(&job).seconds;
    if (t->piece == t->part) /* stays where it is after the first walk: more of them make a time to measure */
        t->passes = (size_t)fmax(1, PROBE_SECONDS / fmax(once, 1e-7));
    job.repeats = t->piece == t->part ? p->repeats : (int)(t->part / t->piece);
    const cpus_time best = timed(p, &job);
    return (double)t->piece * (double)t->passes * best.ran / best.seconds * 1e-9;
}

static size_t whole_steps(size_t bytes)
{
    return bytes < UNIT_STEP ? UNIT_STEP : bytes / UNIT_STEP * UNIT_STEP;
}

/* Bytes per thread at which each level is met: half of it, so that nothing else has to leave; memory: far more than the
 * last level, which other tenants may share and which then holds less than it says. 0: no such level apart from
 * the one above. */
typedef struct level_sizes {
    size_t l1, l2, l3, dram;
} level_sizes;

static level_sizes sizes_for(const probing *p)
{
    cache_sizes c = cpus_caches();
    size_t l1 = c.l1 > 0 ? c.l1 : 32 * KIB, l2 = c.l2 > 0 ? c.l2 : 512 * KIB, l3 = c.l3, n = (size_t)p->threads;
    size_t shared = l3 / 2 / n < 16 * MIB ? l3 / 2 / n : 16 * MIB;
    size_t least = p->thorough ? 256 * MIB : 64 * MIB, far = (p->thorough ? 4 : 2) * l3;
    size_t whole = far > least ? far : least, most = 768 * MIB;
    size_t available = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 4;
    whole = whole > most ? most : whole;
    whole = whole > available ? available : whole;
    return (level_sizes){.l1 = whole_steps(l1 / 2),
                         .l2 = whole_steps(l2 / 2),
                         .l3 = shared > 2 * l2 ? whole_steps(shared) : 0,
                         .dram = whole_steps(whole / n / PIECES) * PIECES};
}

static void add_level(cJSON *out, const char *key, double gbs, size_t part)
{
    cJSON *row = js_object(cJSON_GetObjectItemCaseSensitive(out, "levels"), NULL);
    js_put(row, "name:%s,bytes_per_thread:%g,gbs:%g", key, (double)part, gbs);
    js_number(out, key, gbs);
}

static bool add_bandwidths(cJSON *out, probing *p, const unit *u, ts_error *e)
{
    level_sizes s = sizes_for(p);
    size_t whole = s.dram * (size_t)p->threads;
    char *base = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ENDED_BY(heap_free) size_t *turn = calloc((size_t)p->threads, sizeof *turn);
    if (base == MAP_FAILED || !turn)
        return err_set(e, TS_MEMORY, "probing memory needs %zu MiB", whole / MIB);
    madvise(base, whole, MADV_HUGEPAGE); /* where the system allows them: page walks are not what is measured */
    js_array(out, "levels");
    memory_task t = {.base = base, .part = s.dram, .piece = s.dram / PIECES, .turn = turn, .write = u->write};
    bandwidth(p, &t); /* first touch, each part by the thread that will use it */
    double write = bandwidth(p, &t);
    t.write = u->stream;
    double stream = bandwidth(p, &t);
    t.read = u->read;
    add_level(out, "read_gbs", bandwidth(p, &t), t.part);
    add_level(out, "write_gbs", write, t.part);
    add_level(out, "stream_gbs", stream, t.part);
    const char *const key[] = {"l1_gbs", "l2_gbs", "l3_gbs"};
    const size_t part[] = {s.l1, s.l2, s.l3};
    for (int i = 0; i < 3; i++) {
        t.part = t.piece = part[i];
        if (part[i] > 0)
            add_level(out, key[i], bandwidth(p, &t), part[i]);
        else
            js_absent(out, key[i], "no last-level cache that is larger than the level before it");
    }
    munmap(base, whole);
    return true;
}

/* ---- synchronisation ---- */

static void barrier_work(void *arg, int thread)
{
    (void)thread;
    for (int i = 0; i < BARRIERS; i++)
        barrier_wait(arg);
}

static double barrier_cost(probing *p)
{
    barrier b = {.parties = p->threads};
    const cpus_time best = timed(p, &(cpus_job){&p->cpus, p->threads, p->repeats, barrier_work, &b, false, 0});
    return best.ran == p->threads ? best.seconds * 1e9 / BARRIERS : NAN;
}

/* ---- what is handed out ---- */

static int threads_or_cores(int threads, const cpu_list *cpus)
{
    return threads > 0 ? threads : cpus->cores;
}

static char *printed(cJSON *out)
{
    char *text = js_to_text(out, true);
    cJSON_Delete(out);
    return text;
}

static void add_peaks(cJSON *out, const cJSON *list, const char *isa)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, list)
    {
        if (strcmp(js_get_text(row, "isa"), isa) == 0)
            js_number(out, strcmp(js_get_text(row, "dtype"), "f32") == 0 ? "fma_f32_gflops" : "fma_f64_gflops",
                      js_get_number(row, "gflops", NAN));
    }
}

char *probe_json(const char *isa, int threads, double effort, ts_error *e)
{
    const unit *u = unit_find(isa);
    ENDED_BY(heap_free) char *machine = ts_machine_json(&(ts_options){.isa = isa}, e); /* knows which there are */
    probing p = {.repeats = (int)fmax(FEWEST_REPEATS, fmin(effort, 1) * MOST_REPEATS), .thorough = effort >= 0.5};
    if (!machine)
        return NULL;
    cpus_allowed(&p.cpus);
    p.threads = threads_or_cores(threads, &p.cpus);
    if (!u) {
        err_set(e, TS_DEVICE, "instruction set \"%s\": unknown, or this processor does not have it", isa);
        return NULL;
    }
    if (p.threads > p.cpus.n) {
        err_set(e, TS_USAGE, "%d threads, 1 to %d expected: so many processors this process may use", p.threads,
                p.cpus.n);
        return NULL;
    }
    cJSON *out = cJSON_CreateObject(), *list = cJSON_CreateArray();
    for (const unit *v = units; v->isa; v++)
        if (v->present())
            add_unit(list, &p, v);
    js_put(out, "isa:%s,threads:%d", u->isa, p.threads);
    add_peaks(out, list, u->isa);
    if (!add_bandwidths(out, &p, u, e)) {
        cJSON_Delete(list);
        cJSON_Delete(out);
        return NULL;
    }
    js_put(out, "barrier_ns:%g,canary_ns:%g", barrier_cost(&p), canary_measure());
    clock_facts c = clock_measure();
    js_put(out, "clock_resolution_ns:%g,clock_overhead_ns:%g,disturbed:%i", c.resolution_ns, c.overhead_ns,
           p.disturbed);
    cJSON_AddItemToObject(out, "units", list);
    return printed(out);
}
