/* Machines from text, their defaults, refusals, and this host: whatever it is, it prints as text that reads back. */
/* ctest: fast */
#include "backends/cpu/cpu.h"
#include "backends/cpu/machine.h"
#include "backends/host_memory.h"
#include "tests/check.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define RATES \
    "rates:avx2(clock=3300,fma=200,latency=4,l1=8200,l2=3900,l3=820,memory=470,near=1500,far=820,seen=3,start=100)"

static void prints(const char *in, const char *want)
{
    machine m;
    err e = {0};
    text t = {0};
    if (CHECK(machine_load(&m, in, &e))) {
        machine_print(&t, &m);
        CHECK_TEXT(t.s, want);
        text again = {0};
        CHECK(machine_load(&m, t.s, &e));
        machine_print(&again, &m);
        CHECK_TEXT(again.s, t.s);
        text_free(&again);
    }
    text_free(&t);
}

static void test_text(void)
{
    prints("core:1", "package:1 numa:1 l3:0 l2:1(1MB) l1d:1(32KB) core:1 line:64 isa:plain");
    prints("package:1 l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx512",
           "package:1 numa:1 l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 line:64 isa:avx512");
    prints(
        "  isa:avx2 core:3(4,6,9)  line:128 l3:2(36608KiB)=2+1 l1d:3(48K) cpu:Some CPU: 3 GHz",
        "package:1 numa:1 l3:2(36608KB)=2+1 l2:3(1MB) l1d:3(48KB) core:3(4,6,9) line:128 isa:avx2 cpu:Some CPU: 3 GHz");
    prints("nta:l2 core:1 cpu:b", "package:1 numa:1 l3:0 l2:1(1MB) l1d:1(32KB) core:1 line:64 isa:plain nta:l2 cpu:b");
    prints("core:1 isa:avx512 " RATES " cpu:b",
           "package:1 numa:1 l3:0 l2:1(1MB) l1d:1(32KB) core:1 line:64 isa:avx512 " RATES " cpu:b");
    prints("core:2 l3:1(1000B) cpu:a\x1b[0m",
           "package:1 numa:1 l3:1(1000B) l2:2(1MB) l1d:2(32KB) core:2 line:64 isa:plain cpu:a\\x1b[0m");
}

static void test_tiers(void)
{
    machine m;
    err e = {0};
    CHECK(machine_load(&m, "package:2 numa:2 l3:4(16MB)=3+1+2+2 l2:4(2MB) core:8(0,2,4,6,8,10,12,14) isa:avx512", &e));
    static const int l3[] = {0, 0, 0, 1, 2, 2, 3, 3};
    for (int c = 0; c < 8; c++) {
        CHECK(m.tier[TIER_L3].of[c] == l3[c] && m.tier[TIER_L2].of[c] == c / 2 && m.tier[TIER_PACKAGE].of[c] == c / 4);
        CHECK(m.tier[TIER_L1D].of[c] == c && m.os[c] == 2 * c);
    }
    CHECK(m.tier[TIER_L3].bytes == 16 << 20 && m.tier[TIER_L1D].bytes == 32 << 10 && m.line == 64);
    CHECK(machine_sharers(&m, TIER_L3) == 3 && machine_sharers(&m, TIER_L2) == 2 &&
          machine_sharers(&m, TIER_NUMA) == 4);
    CHECK(machine_load(&m, "core:5 l2:2(1MB)", &e)); /* five cores on two: dealt as evenly as possible */
    CHECK(m.tier[TIER_L2].of[1] == 0 && m.tier[TIER_L2].of[2] == 1 && m.tier[TIER_L2].of[4] == 1);
    CHECK(machine_sharers(&m, TIER_L3) == 0);
}

static void becomes(const char *part, const char *want)
{
    machine m;
    err e = {0};
    text t = {0};
    CHECK(machine_load(&m, "numa:2=3+1 l3:2(16MB)=2+2 l2:4(2MB) core:4(0,2,4,6) isa:avx2 " RATES, &e));
    const bool ok = machine_part(&m, part, &e);
    if (ok)
        machine_print(&t, &m);
    CHECK_TEXT(ok ? text_str(&t) : e.text, want);
    CHECK(m.part == ok);
    text_free(&t);
}

static void test_parts(void)
{
    static const char none[] =
        "there is no \"%s\" on this machine\n  hint: its parts are numa0 (cores 0 to 2), numa1 (cores "
        "3 to 3), and runs of cores, of which cores0-3 is all";
    becomes("numa0", "package:1 numa:1 l3:2(16MB)=2+1 l2:3(2MB) l1d:3(32KB) core:3(0,2,4) line:64 isa:avx2 " RATES);
    becomes("numa1", "package:1 numa:1 l3:1(16MB) l2:1(2MB) l1d:1(32KB) core:1(6) line:64 isa:avx2 " RATES);
    becomes("cores1-3", "package:1 numa:2=2+1 l3:2(16MB) l2:3(2MB) l1d:3(32KB) core:3(2,4,6) line:64 isa:avx2 " RATES);
    becomes("cores2", "package:1 numa:1 l3:1(16MB) l2:1(2MB) l1d:1(32KB) core:1(4) line:64 isa:avx2 " RATES);
    static const char *const wrong[] = {"numa2", "numa",    "numa0x",  "cores3-2", "cores0-4",
                                        "cores", "cores1-", "cores-1", "1",        ""};
    for (int i = 0; i < COUNT(wrong); i++) {
        char want[300];
        snprintf(want, sizeof want, none, wrong[i]);
        becomes(wrong[i], want);
    }
}

static void test_refusals(void)
{
    static const char *const wrong[] = {
        "",
        "core",
        "core:",
        "core:0",
        "core:x",
        "core:1025",
        "core:99999999999999999999",
        "core:-1",
        "core:2(0",
        "core:2(0,1",
        "core:2(0)",
        "core:2(0,1,2)",
        "core:2(0,1)x",
        "core:2 l2:0",
        "core:2 l2:2",
        "core:2 l2:2()",
        "core:2 l2:2(0KB)",
        "core:2 l2:2(1MB",
        "core:2 l2:2(1XB)",
        "core:2 l2:2(99999999999TB)",
        "core:2 l2:3(1MB)",
        "core:4 l2:2(1MB)=3+2",
        "core:4 l2:2(1MB)=1+1",
        "core:4 l2:2(1MB)=4",
        "core:4 l2:2(1MB)=0+4",
        "core:4 package:0",
        "core:2 isa:sse9",
        "core:2 isa:",
        "core:2 isa:a-name-that-is-far-too-long",
        "core:2 line:0",
        "core:2 gpu:1",
        "core:2 :3",
        "core:2 l2",
        "l3:1(1MB)",
        "core:1 rates:",
        "core:1 rates:avx2",
        "core:1 rates:avx2()",
        "core:1 rates:avx3(clock=3300)",
        "core:1 rates:avx2(clock=3300)",
        "core:1 rates:avx2(fma=200,clock=3300)",
        "core:1 rates:avx2(clock=0,fma=200,latency=4,l1=8200,l2=3900,l3=820,memory=470,"
        "near=1500,far=820,seen=3,start=100)",
        "core:1 " RATES "x",
        "core:1 rates:avx2(clock=3300,fma=200,latency=4,l1=8200,l2=3900,l3=820,memory=470,"
        "near=1500,far=99999999999999999999,seen=3,start=100)"};
    for (int i = 0; i < COUNT(wrong); i++) {
        machine m;
        err e = {0};
        if (!CHECK(!machine_load(&m, wrong[i], &e) && e.code == TS_BAD_INPUT && strncmp(e.text, "machine: ", 9) == 0))
            CHECK_TEXT(wrong[i], e.text);
    }
}

/* What a text does not say follows from the set; what it says is for that set alone, and is what a target has. */
static void test_rates(void)
{
    machine m;
    err e = {0};
    arena mem = {0};
    CHECK(machine_load(&m, "core:2 isa:avx512 " RATES, &e));
    const rates known = machine_rates(&m, isa_find("avx2")), derived = machine_rates(&m, isa_find("avx512"));
    CHECK(known.at[RATE_NEAR] == 1500 && known.at[RATE_SEEN] == 3);
    CHECK(derived.at[RATE_L1] == 12800 && derived.at[RATE_MEMORY] == 1200 && derived.at[RATE_SEEN] == 25);
    CHECK(derived.at[RATE_NEAR] == derived.at[RATE_L3] && derived.at[RATE_START] == 1000);
    const target *t = cpu_target(&mem, &(machine_options){.machine = "core:2 isa:avx2 " RATES}, &e);
    CHECK(t && t->cost.shown == 0.03 && t->cost.exposed == 0.25 && t->cost.fma_latency == 4 &&
          t->level[2].bytes_per_cycle == 8.2);
    /* 32 operations a cycle, 15 bytes of a pass in the second cache, 8.2 beyond */
    CHECK(t && target_flops_per_passed(t, 1 << 20) == 32 / 15.0 &&
          target_flops_per_passed(t, (1 << 20) + 1) == 32 / 8.2);
    t = cpu_target(&mem, &(machine_options){.machine = "core:2 isa:avx2"}, &e);
    CHECK(t && target_flops_per_passed(t, 1) == target_flops_per_byte(t, 2) &&
          fabs(t->cost.start_seconds - 1e-6) < 1e-12);
    arena_free(&mem);
}

/* What two measurements of one machine differ by is less than a step, or stays less than one from what was known. */
static void test_steps(void)
{
    const double first[N_RATE] = {3381, 200, 4.04, 11492, 5241, 849, 496, 1866, 822, 20, 81},
                 second[N_RATE] = {3254, 200, 3.97, 12004, 5804, 781, 502, 1705, 787, 11, 91},
                 wild[N_RATE] = {1e9, 1e9, 1e9, 0, 0, 0, 0, 0, 0, 1e9, 0}, other[N_RATE] = {4400, [RATE_SEEN] = 3};
    const isa *i = isa_find("avx512");
    const rates a = rates_stepped(i, first, NULL), b = rates_stepped(i, second, NULL);
    CHECK(!memcmp(a.at, b.at, sizeof a.at) && a.at[RATE_L2] == 5600 && a.at[RATE_SEEN] == 25);
    for (double by = 0.87; by < 1.15; by += 0.01) { /* across the border of a step, too */
        double third[N_RATE];
        for (int k = 0; k < N_RATE; k++)
            third[k] = (double)a.at[k] * by;
        const rates c = rates_stepped(i, third, &a);
        CHECK(!memcmp(a.at, c.at, sizeof a.at));
    }
    const rates d = rates_stepped(i, other, &a);
    CHECK(d.at[RATE_CLOCK] == 4700 && d.at[RATE_SEEN] == 3);
    const rates w = rates_stepped(i, wild, NULL);
    text t = {0};
    rates_print(&t, &w);
    const char *s = t.s + 6;
    rates again;
    CHECK(rates_read(&s, &again) && !*s && !memcmp(w.at, again.at, sizeof w.at)); /* brought within bounds */
    again.disturbed = true;
    text_free(&t);
    rates_print(&t, &again);
    s = t.s + 6;
    CHECK(!w.disturbed && rates_read(&s, &again) && !*s && again.disturbed);
    text_free(&t);
}

static void test_sentences(void)
{
    static const char *const refused[][2] = {
        {"core:2 isa:sse9", "machine: one of plain, avx2, avx512, avx512vnni, neon expected at 'isa:sse9'"},
        {"core:2 l2:0", "machine: l2:N(SIZE) or l2:N(SIZE)=CORES+CORES, N from 1 to 1024, expected at 'l2:0'"},
        {"core:2 gpu:1",
         "machine: one of package, numa, l3, l2, l1d, core, line, isa, nta, rates or cpu expected at 'gpu:1'"},
        {"core:2(0,1)x", "machine: a blank between words expected at 'x'"},
        {"l3:1(1MB)", "machine: core:N expected at 'l3:1(1MB)'"},
        {"core", "machine: NAME:COUNT expected at 'core'"},
    };
    for (int i = 0; i < COUNT(refused); i++) {
        machine m;
        err e = {0};
        CHECK(!machine_load(&m, refused[i][0], &e));
        e.text[strcspn(e.text, "\n")] = 0; /* the hint is an example of a machine */
        CHECK_TEXT(e.text, refused[i][1]);
    }
}

static void test_isa(void)
{
    CHECK_TEXT(isa_table[0].name, "plain");
    CHECK(isa_find("mmx") == NULL && isa_find("") == NULL);
    CHECK(isa_find("avx512")->vector_bytes == 64 && isa_find("avx512")->n_register == 32);
    CHECK(isa_find("avx2")->vector_bytes == 32 && isa_find("avx2")->n_register == 16);
    CHECK(isa_find("neon")->vector_bytes == 16 && isa_find("neon")->n_register == 32);
    for (const isa *i = isa_table; i->name; i++)
        CHECK(isa_includes(i, i) && isa_includes(i, isa_table) && (i == isa_table || !isa_includes(isa_table, i)));
    CHECK(isa_includes(isa_find("avx512"), isa_find("avx2")) && !isa_includes(isa_find("avx2"), isa_find("avx512")));
    CHECK(!isa_includes(isa_find("neon"), isa_find("avx2")) && !isa_includes(isa_find("avx512"), isa_find("neon")));
    machine m;
    err e = {0};
    CHECK(machine_load(&m, "core:1 isa:avx2", &e));
    CHECK(machine_isa(&m, NULL, &e) == isa_find("avx2") && machine_isa(&m, "plain", &e) == isa_find("plain"));
    CHECK(machine_isa(&m, "avx512", &e) == NULL && e.code == TS_UNSUPPORTED);
    CHECK_TEXT(e.text, "this processor lacks avx512; it has plain, avx2\n  hint: to plan or emit for another: "
                       "--machine \"core:1 isa:avx512\"");
    e = (err){0};
    CHECK(machine_isa(&m, "mmx", &e) == NULL && e.code == TS_USAGE);
    CHECK_TEXT(e.text, "there is no instruction set 'mmx'; known are plain, avx2, avx512, avx512vnni, neon\n"
                       "  hint: without --isa it is the best one of this processor, avx2");
    e = (err){0};
    CHECK(machine_threads(&m, 0, &e) == 1 && machine_threads(&m, 5, &e) == 5 && !err_is(&e));
    CHECK(machine_threads(&m, -1, &e) == 0 && e.code == TS_USAGE);
    CHECK(machine_threads(&m, MAX_CORE + 1, NULL) == 0);
}

static bool open_to_us(int core)
{
    cpu_set_t mask;
    return sched_getaffinity(0, sizeof mask, &mask) != 0 || CPU_ISSET((size_t)core, &mask);
}

static void test_host(void)
{
    machine m;
    err e = {0};
    CHECK(machine_load(&m, NULL, &e) && m.n_core >= 1 && m.line >= 16 && m.isa && m.cpu[0]);
    for (int c = 0; c < m.n_core; c++)
        CHECK(open_to_us(m.os[c]));
    for (int k = 0; k < N_TIER; k++) {
        const tier *r = &m.tier[k];
        CHECK(r->n <= m.n_core && (r->n > 0 || k == TIER_L3) && r->of[m.n_core - 1] == (r->n ? r->n - 1 : 0));
        CHECK((r->bytes > 0) == (k >= TIER_L3 && r->n > 0));
    }
    text t = {0};
    machine_print(&t, &m);
    prints(t.s, t.s);
    text_free(&t);
    int64_t free_bytes = host_memory_free();
    CHECK(free_bytes > 1 << 20 && free_bytes < INT64_MAX);

    /* With the mask narrowed to the last core, that one is all there is. */
    int last = m.os[m.n_core - 1];
    cpu_set_t mask, was;
    CHECK(sched_getaffinity(0, sizeof was, &was) == 0);
    CPU_ZERO(&mask);
    CPU_SET((size_t)last, &mask);
    CHECK(sched_setaffinity(0, sizeof mask, &mask) == 0);
    CHECK(machine_load(&m, NULL, &e) && m.n_core == 1 && m.os[0] == last && m.tier[TIER_L2].n == 1);
    CHECK(sched_setaffinity(0, sizeof was, &was) == 0);
}

static void test_json(void)
{
    err e = {0};
    ts_options o = {.isa = "plain", .threads = 3};
    char *s = ts_machine_json(&o, &e);
    CHECK(s && strstr(s, "\"isa\":\"plain\",\"threads\":3") && strstr(s, "{\"name\":\"l1d\",\"bytes\":"));
    ts_free(s);
    s = ts_machine_json(NULL, &e);
    CHECK(s != NULL);
    ts_free(s);
    o.isa = "mmx";
    CHECK(ts_machine_json(&o, &e) == NULL && e.code == TS_USAGE);
}

static void test_left(void)
{
    CHECK(host_memory_left(100, 30, 5) == 75 && host_memory_left(100, 130, 5) == 0 &&
          host_memory_left(100, 130, 40) == 10);
    CHECK(host_memory_left(-1, 30, 5) == INT64_MAX && host_memory_left(100, -1, 5) == INT64_MAX);
    CHECK(host_memory_left(INT64_MAX / 4096 * 4096, 1 << 20, 1 << 30) == INT64_MAX); /* "none", more idle than in use */
}

int main(void)
{
    test_text();
    test_tiers();
    test_parts();
    test_refusals();
    test_rates();
    test_steps();
    test_sentences();
    test_isa();
    test_host();
    test_json();
    test_left();
    return check_done();
}
