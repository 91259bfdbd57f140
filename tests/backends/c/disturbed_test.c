/* Rates that are measured beside other work: the clock, the processors and what they do are faked, so that it is known
 * what is to come out, and which repeats are disturbed. What is disturbed for a while costs turns and no accuracy; what
 * is until the end is marked, kept so, and measured again by the first who finds the machine quiet.
 * ctest: wrap=cpus_run,seconds_now,unit_find,unit_cycles,unit_flush,barrier_wait */
#include "backends/c/calibration.h"
#include "backends/probe/cpus.h"
#include "backends/probe/units.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double CYCLE = 1e-9 / 3;
static struct {
    double now, work; /* seconds; of the work that is being done */
    int jobs;
    int disturbed; /* so many jobs from now on wait for their processors, */
    int slowed;    /* and these take longer, and nobody can say why */
} fake;

/* ---- a processor that does all at fixed rates ---- */
static void multiply(long trips)
{
    fake.work += (double)trips * 14 * CYCLE;
}

static void chain(long trips)
{
    fake.work += (double)trips * UNIT_CHAIN * 4 * CYCLE;
}

static void read_bytes(const void *p, size_t bytes)
{
    (void)p, fake.work += (double)bytes / 16 * CYCLE;
}

static void write_bytes(void *p, size_t bytes)
{
    (void)p, fake.work += (double)bytes / 16 * CYCLE;
}

static void tile(const void *columns, const void *rows, long steps) /* a quarter of the loads is seen */
{
    (void)columns, (void)rows, fake.work += (double)steps * (12 + 8.0 / 4) * CYCLE;
}

static void pass(const void *from, void *to, size_t part)
{
    (void)from, (void)to, fake.work += (double)(part * (PASS_READ + PASS_WRITTEN)) / 8 * CYCLE;
}

void __wrap_unit_cycles(long trips);
void __wrap_unit_cycles(long trips)
{
    fake.work += (double)trips * UNIT_CHAIN * CYCLE;
}

void __wrap_unit_flush(void *p, size_t bytes);
void __wrap_unit_flush(void *p, size_t bytes)
{
    write_bytes(p, bytes);
}

void __wrap_barrier_wait(barrier *b);
void __wrap_barrier_wait(barrier *b)
{
    (void)b, fake.work += 2e-7;
}

const unit *__wrap_unit_find(const char *name);
const unit *__wrap_unit_find(const char *name)
{
    static const unit u = {.isa = "plain",
                           .fma_f32 = multiply,
                           .f32_flops = 2 * 4 * 14,
                           .read = read_bytes,
                           .write = write_bytes,
                           .chain = chain,
                           .tile = tile,
                           .tile_rows = 6,
                           .tile_vectors = 2,
                           .vector_bytes = 16,
                           .pass = pass};
    return !name || strcmp(name, "plain") == 0 ? &u : NULL;
}

cpus_time __wrap_cpus_run(const cpus_job *job);
cpus_time __wrap_cpus_run(const cpus_job *job)
{
    const bool waits = fake.disturbed-- > 0, slow = fake.slowed-- > 0;
    fake.work = 0;
    job->work(job->arg, 0);
    const double seconds = waits || slow ? fake.work * 3 + 3e-3 * (fake.jobs % 7) : fake.work;
    fake.jobs++, fake.now += job->limit > 0 ? fmin(job->repeats * seconds, job->limit + seconds) : seconds;
    return (cpus_time){job->threads, seconds, waits ? 0 : job->repeats, job->threads / seconds};
}

double __wrap_seconds_now(void);
double __wrap_seconds_now(void)
{
    return fake.now;
}

/* ---- what comes of it ---- */
static double measure(double measured[N_RATE], bool *disturbed)
{
    machine m;
    err e = {0};
    CHECK(machine_load(&m, "core:2 isa:plain", &e));
    const double from = fake.now;
    CHECK(machine_calibrate(&m, isa_find("plain"), measured, disturbed));
    return fake.now - from;
}

/* Within a hundredth: trips are whole */
static void check_exact(const double measured[N_RATE])
{
    static const double want[N_RATE] = {3000, 100, 4, 1600, 1600, 1600, 1600, 800, 800, 25, 200};
    for (int k = 0; k < N_RATE; k++) {
        CHECK(fabs(measured[k] / want[k] - 1) < 0.01);
        if (fabs(measured[k] / want[k] - 1) >= 0.01)
            printf("rate %d: %g, %g expected\n", k, measured[k], want[k]);
    }
}

static void test_turns(void)
{
    double measured[N_RATE];
    bool disturbed = true;
    const double least = measure(measured, &disturbed);
    CHECK(!disturbed && least < 0.3);
    check_exact(measured);
    fake.disturbed = 20;
    double took = measure(measured, &disturbed);
    CHECK(!disturbed && took > least && took < 1);
    check_exact(measured);
    fake.slowed = 20;
    took = measure(measured, &disturbed);
    CHECK(!disturbed && took > least && took < 1);
    check_exact(measured);
    fake.disturbed = 1 << 20;
    took = measure(measured, &disturbed);
    CHECK(disturbed && took > 0.8 && took < 1);
    fake.disturbed = 0;
}

static rates find(const char *folder, rates_wanted how)
{
    machine m;
    err e = {0};
    CHECK(machine_load(&m, NULL, &e));
    fake.jobs = 0;
    CHECK(calibration_find(&m, &(machine_options){.isa = "plain", .cache_folder = folder}, how, &e));
    return m.known[isa_find("plain") - isa_table];
}

static void test_kept(void)
{
    scratch s = scratch_make();
    CHECK(!find(s.path, RATES_KEPT).of && fake.jobs == 0);
    fake.disturbed = 1 << 20;
    const rates first = find(s.path, RATES_NEEDED);
    CHECK(first.of && first.disturbed && fake.jobs > 12);
    const rates still = find(s.path, RATES_NEEDED); /* a look, no more */
    CHECK(still.disturbed && fake.jobs == 1 && memcmp(first.at, still.at, sizeof first.at) == 0);
    fake.disturbed = 0;
    CHECK(find(s.path, RATES_KEPT).disturbed && fake.jobs == 0);
    const rates quiet = find(s.path, RATES_NEEDED);
    CHECK(!quiet.disturbed && fake.jobs > 12 && memcmp(first.at, quiet.at, sizeof first.at) != 0);
    fake.disturbed = 1 << 20;
    const rates kept = find(s.path, RATES_NEEDED);
    CHECK(!kept.disturbed && fake.jobs == 0 && memcmp(kept.at, quiet.at, sizeof kept.at) == 0);
    CHECK(find(s.path, RATES_AGAIN).disturbed && find(s.path, RATES_KEPT).disturbed);
    fake.disturbed = 0;
    scratch_free(&s);
}

int main(void)
{
    test_turns();
    test_kept();
    return check_done();
}
