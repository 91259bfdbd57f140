/* environment.c - what is read from files of the system and asked of the library; what cannot be read is null, with
 * the reason. */
#include "bench/machine/environment.h"
#include "backends/probe/clock.h"
#include "backends/probe/cpus.h"
#include "bench/machine/probe.h"
#include "graph/base/base.h"
#include "graph/base/stats.h"
#include "backends/probe/units.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { LINE = 4096, NOISE_SAMPLES = 4000 }; /* bytes of a line of /proc; runs of the canary, at most */
static const double NOISE_SECONDS = 0.5;    /* of listening to an idle core */

/* The first line of a file without its end; or, with a key, the value of the first line "KEY : VALUE". */
static bool line_of(const char *path, const char *key, char value[LINE])
{
    FILE *f = fopen(path, "r");
    char line[LINE];
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        const size_t n = key ? strlen(key) : 0;
        const char *at = line;
        if (key && (strncmp(line, key, n) != 0 || *(at += n + strspn(line + n, " \t")) != ':'))
            continue;
        at += key ? 1 + strspn(at + 1, " \t") : 0;
        snprintf(value, LINE, "%.*s", (int)strcspn(at, "\n"), at);
        found = true;
    }
    if (f)
        fclose(f);
    return found;
}

typedef struct fact {
    const char *name, *path, *key; /* of line_of */
    double scale;                  /* of a number; 0: it is a text */
    const char *why;               /* it is not known, where it cannot be read */
} fact;

static void add_facts(cJSON *out, const fact *f) /* a list that ends with {0} */
{
    for (; f->name; f++) {
        char line[LINE];
        if (!line_of(f->path, f->key, line))
            js_absent(out, f->name, f->why);
        else if (f->scale > 0)
            js_number(out, f->name, strtod(line, NULL) * f->scale);
        else
            js_text(out, f->name, line);
    }
}

static void add_known(cJSON *out, const char *name, double v, const char *why) /* not where it is 0 or less */
{
    if (v > 0)
        js_number(out, name, v);
    else
        js_absent(out, name, why);
}

cpu_ticks cpu_ticks_now(void)
{
    char line[LINE];
    double v[8] = {0};
    if (!line_of("/proc/stat", NULL, line))
        return (cpu_ticks){NAN, NAN};
    int n = sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7);
    cpu_ticks t = {0, n == 8 ? v[7] : NAN};
    for (int i = 0; i < n; i++)
        t.all += v[i];
    return t;
}

double load_now(void)
{
    char line[LINE];
    return line_of("/proc/loadavg", NULL, line) ? strtod(line, NULL) : NAN;
}

double stolen_share(cpu_ticks from, cpu_ticks to)
{
    return to.all > from.all ? (to.stolen - from.stolen) / (to.all - from.all) : NAN;
}

/* ---- parts of the block ---- */
static const char unstated[] = "not stated by the system", no_cpuinfo[] = "not stated in /proc/cpuinfo",
                  cpuinfo[] = "/proc/cpuinfo";

static void add_processor(cJSON *out)
{
    static const fact known[] = {{"cpu", cpuinfo, "model name", 0, no_cpuinfo},
                                 {"cpu_family", cpuinfo, "cpu family", 0, no_cpuinfo},
                                 {"cpu_model", cpuinfo, "model", 0, no_cpuinfo},
                                 {"cpu_stepping", cpuinfo, "stepping", 0, no_cpuinfo},
                                 {"microcode", cpuinfo, "microcode", 0, no_cpuinfo},
                                 {0}},
                      threads[] = {{"smt", "/sys/devices/system/cpu/smt/control", NULL, 0, unstated}, {0}};
    cpu_list cpus;
    cpus_allowed(&cpus);
    add_facts(out, known);
    js_put(out, "cores:%d,processors:%d", cpus.cores, cpus.n);
    add_facts(out, threads);
    cJSON *list = js_array(out, "isa_available");
    for (const unit *u = units; u->isa; u++)
        if (u->present())
            js_item(list, u->isa);
    const cache_sizes c = cpus_caches();
    cJSON *caches = js_object(out, "caches");
    add_known(caches, "l1d_bytes", (double)c.l1, unstated);
    add_known(caches, "l2_bytes", (double)c.l2, unstated);
    add_known(caches, "l3_bytes", (double)c.l3, unstated);
}

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/"
static void add_clocks(cJSON *out)
{
    static const char none[] = "no cpufreq directory: the host sets the clock";
    static const fact known[] = {{"governor", CPUFREQ "scaling_governor", NULL, 0, none},
                                 {"mhz_min", CPUFREQ "cpuinfo_min_freq", NULL, 1e-3, none},
                                 {"mhz_max", CPUFREQ "cpuinfo_max_freq", NULL, 1e-3, none},
                                 {"mhz_stated", cpuinfo, "cpu MHz", 1, no_cpuinfo}, /* a guest is told a constant */
                                 {0}},
                      heat[] = {
                          {"temperature_c", "/sys/class/thermal/thermal_zone0/temp", NULL, 1e-3, "no thermal zone"},
                          {0}};
    add_facts(out, known);
    js_number(out, "canary_ns", canary_measure());
    add_facts(out, heat);
}

static void add_memory(cJSON *out)
{
    static const fact known[] = {
        {"memory_bytes", "/proc/meminfo", "MemTotal", 1024, "not stated in /proc/meminfo"},
        {"huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled", NULL, 0, unstated},
        {"numa_nodes", "/sys/devices/system/node/online", NULL, 0, unstated},
        {"address_layout_random", "/proc/sys/kernel/randomize_va_space", NULL, 0, unstated},
        {"overcommit", "/proc/sys/vm/overcommit_memory", NULL, 0, unstated},
        {"cgroup_memory_max", "/sys/fs/cgroup/memory.max", NULL, 0, "no limit stated by the cgroup"},
        {0}};
    add_facts(out, known);
    add_known(out, "cgroup_processors", cpus_quota(), "not limited");
}

static void add_company(cJSON *out)
{
    static const fact known[] = {{"hypervisor_name", "/sys/class/dmi/id/sys_vendor", NULL, 0, "not readable"},
                                 {"load", "/proc/loadavg", NULL, 1, "not readable"},
                                 {0}};
    char line[LINE];
    js_flag(out, "hypervisor", line_of(cpuinfo, "flags", line) && strstr(line, " hypervisor"));
    add_facts(out, known);
}

static const char *build_kind(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return "sanitizer";
#elif defined(NDEBUG)
    return "release";
#else
    return "debug";
#endif
}

static void add_software(cJSON *out, const char *isa, int threads)
{
    struct utsname os;
    if (uname(&os) == 0) {
        char name[256];
        snprintf(name, sizeof name, "%.60s %.120s %.60s", os.sysname, os.release, os.machine);
        js_text(out, "os", name);
    }
    js_text(out, "libc", gnu_get_libc_version());
    cJSON *tool = js_object(out, "tool");
    js_put(tool, "version:%s,built_with:%s,build:%s", TS_VERSION, __VERSION__, build_kind());
    if (*revision)
        js_text(tool, "revision", revision);
    else
        js_absent(tool, "revision", "not built from a git checkout");
    ts_error e = {0};
    ts_options o = {.isa = isa, .threads = threads};
    ENDED_BY(heap_free) char *machine = ts_machine_json(&o, &e);
    cJSON *parsed = machine ? cJSON_Parse(machine) : NULL;
    if (parsed)
        cJSON_AddItemToObject(out, "machine", parsed);
    else
        js_absent(out, "machine", e.code != TS_OK ? e.text : "not valid");
}

/* Variables that change the speed of a contestant that is started with them. */
static void add_variables(cJSON *out)
{
    static const char *const name[] = {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "OMP_PROC_BIND",   "OPENBLAS_CORETYPE",
                                       "MKL_NUM_THREADS", "LD_PRELOAD",      "MALLOC_ARENA_MAX"};
    cJSON *list = js_object(out, "variables");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (env_text(name[i]))
            js_text(list, name[i], env_text(name[i]));
}

cJSON *environment_make(const char *isa, int threads, uint64_t seed)
{
    cJSON *out = cJSON_CreateObject();
    add_processor(out);
    add_known(out, "threads", threads, "not chosen yet");
    const unit *u = unit_find(isa);
    js_text(out, "isa", isa ? isa : u->isa);
    add_clocks(out);
    add_memory(out);
    add_company(out);
    add_software(out, isa, threads);
    add_variables(out);
    js_number(out, "seed", (double)seed);
    return out;
}

char *environment_json(const char *isa, int threads, uint64_t seed, ts_error *e)
{
    (void)e;
    ENDED_BY(js_free) cJSON *out = environment_make(isa, threads, seed);
    return js_to_text(out, true);
}

/* ---- noise ---- */

char *noise_json(ts_error *e)
{
    (void)e;
    static const double disturbed = 1.005;
    ENDED_BY(heap_free) double *v = calloc(NOISE_SAMPLES, sizeof *v);
    cpu_ticks before = cpu_ticks_now();
    int64_t end = clock_ns() + (int64_t)(NOISE_SECONDS * 1e9);
    int n = 0, slow = 0;
    while (v && n < NOISE_SAMPLES && clock_ns() < end)
        v[n++] = canary_measure();
    double median = stats_median(v, n);
    for (int i = 0; i < n; i++)
        slow += v[i] > disturbed * median;
    ENDED_BY(js_free) cJSON *out = cJSON_CreateObject();
    js_put(out, "n:%d,median_ns:%g,p10_ns:%g,p90_ns:%g,max_ns:%g,disturbed_share:%g,steal_share:%g", n, median,
           stats_quantile(v, n, 0.1), stats_quantile(v, n, 0.9), stats_quantile(v, n, 1),
           n > 0 ? (double)slow / n : NAN, stolen_share(before, cpu_ticks_now()));
    js_number(out, "load", load_now());
    return js_to_text(out, true);
}
