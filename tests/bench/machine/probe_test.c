/* Ceilings: loose bounds only, for a busy machine must pass too. ctest: serial O3 */
#include "backends/probe/clock.h"
#include "backends/probe/cpus.h"
#include "graph/base/js.h"
#include "bench/machine/probe.h"
#include "backends/probe/units.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void test_ceilings(double effort)
{
    ts_error e = {0};
    char *text = probe_json(NULL, 1, effort, &e);
    CHECK(text != NULL);
    cJSON *p = js_parse(text != NULL ? text : "", "probe", &e);
    CHECK_TEXT(e.text, "");
    double f32 = js_get_number(p, "fma_f32_gflops", 0), f64 = js_get_number(p, "fma_f64_gflops", 0);
    CHECK(f32 > 1 && f32 < 1000 && f64 > 0.3 * f32 && f64 < 0.8 * f32); /* half as many lanes */
    double memory = js_get_number(p, "read_gbs", 0);
    CHECK(memory > 0.5 && js_get_number(p, "l1_gbs", 0) > memory && js_get_number(p, "l2_gbs", 0) > memory);
    CHECK(js_get_number(p, "write_gbs", 0) > 0.2 && js_get_number(p, "threads", 0) == 1);
    CHECK(js_get_number(p, "canary_ns", 0) > 1e4 && js_get_number(p, "barrier_ns", -1) >= 0);
    const cJSON *units_list = js_get(p, "units"),
                *last = cJSON_GetArrayItem(units_list, cJSON_GetArraySize(units_list) - 1);
    CHECK_TEXT(js_get_text(last, "isa"), "plain");
    CHECK(js_get_number(cJSON_GetArrayItem(units_list, 0), "gflops", 0) >= 0.5 * js_get_number(last, "gflops", 1e9));
    cJSON_Delete(p);
    free(text);
}

static void test_refusals(void)
{
    ts_error e = {0};
    CHECK(probe_json("avx1024", 1, 1, &e) == NULL && e.code == TS_USAGE && strstr(e.text, "avx1024") != NULL);
    ts_error f = {0};
    CHECK(probe_json(NULL, 100000, 1, &f) == NULL && f.code == TS_USAGE && strstr(f.text, "100000") != NULL);
}

static void test_parts(void)
{
    CHECK(unit_find("plain") != NULL && unit_find(NULL) != NULL && unit_find("") == NULL);
    double c = canary_measure(), again = canary_measure();
    CHECK(c > 1e4 && c < 1e8 && again > 0.05 * c);
    clock_facts k = clock_measure();
    CHECK(k.resolution_ns > 0 && k.resolution_ns < 1e6 && k.overhead_ns > 0 && k.overhead_ns < 1e5);
    cpu_list l;
    cpus_allowed(&l);
    CHECK(l.n >= 1 && l.cores >= 1 && l.cores <= l.n);
    CHECK(cpus_pin(&l, 0, 1));
    cpu_list pinned;
    cpus_allowed(&pinned);
    CHECK(pinned.n == 1 && pinned.cpu[0] == l.cpu[0]);
    CHECK(cpus_pin(&l, 0, l.n));
}

typedef struct meeting {
    barrier b;
    _Atomic int here;
    _Atomic int early;
} meeting;

/* Whoever leaves the barrier must find everybody arrived. */
static void meet(void *arg, int thread)
{
    (void)thread;
    meeting *m = arg;
    for (int i = 1; i <= 200; i++) {
        m->here++;
        barrier_wait(&m->b);
        if (m->here < i * m->b.parties)
            m->early++;
        barrier_wait(&m->b);
    }
}

static void test_barrier(void)
{
    cpu_list l;
    cpus_allowed(&l);
    meeting m = {.b = {.parties = 3}}; /* more than this machine may have: spinning must give way */
    cpus_job job = {&l, 3, 1, meet, &m, false, 0};
    cpus_time t = cpus_run(&job);
    CHECK(t.ran == 3 && m.here == 600 && m.early == 0 && t.seconds > 0 && t.seconds < 60);
    CHECK(t.rate >= 3 / t.seconds * 0.999); /* each by itself is no slower than all together */
}

/* Is off its processor in all repeats but every fourth. */
static void doze(void *arg, int thread)
{
    int *trips = arg;
    if (trips[thread]++ % 4)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    else
        unit_cycles(20000);
}

static void test_disturbed(bool apart)
{
    cpu_list l;
    cpus_allowed(&l);
    const int threads = l.n < 2 ? l.n : 2;
    int trips[2] = {0};
    cpus_time t = cpus_run(&(cpus_job){&l, threads, 200, doze, trips, apart, 0});
    CHECK(t.quiet > 0 && t.quiet <= 50 && t.seconds < 2e-3); /* any repeat of the others takes that long */
    trips[0] = trips[1] = 1;
    t = cpus_run(&(cpus_job){&l, threads, 3, doze, trips, apart, 0});
    CHECK(t.quiet == 0 && t.seconds >= 2e-3);
    t = cpus_run(&(cpus_job){&l, threads, 1 << 16, doze, trips, apart, 0.05});
    CHECK(t.ran == threads && trips[0] > 3 && trips[0] < 1 << 15 && (apart || trips[0] == trips[threads - 1]));
}

int main(void)
{
    test_disturbed(false);
    test_disturbed(true);
    test_ceilings(1);
    test_ceilings(0.001);
    test_refusals();
    test_parts();
    test_barrier();
    return check_done();
}
