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

/* The first line of a file without its end, or false. */
static bool first_line(const char *path, char line[LINE])
{
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    bool got = fgets(line, LINE, f) != NULL;
    fclose(f);
    line[got ? strcspn(line, "\n") : 0] = 0;
    return got;
}

/* The value of "KEY : VALUE" in a file of such lines; the first one. */
static bool keyed_line(const char *path, const char *key, char value[LINE])
{
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    char line[LINE];
    bool found = false;
    size_t n = strlen(key);
    while (!found && fgets(line, sizeof line, f)) {
        const char *at = line + n;
        if (strncmp(line, key, n) != 0)
            continue;
        at += strspn(at, " \t");
        if (*at != ':')
            continue;
        at += 1 + strspn(at + 1, " \t");
        snprintf(value, LINE, "%.*s", (int)strcspn(at, "\n"), at);
        found = true;
    }
    fclose(f);
    return found;
}

static void text_of_file(cJSON *out, const char *key, const char *path, const char *why)
{
    char line[LINE];
    if (first_line(path, line))
        js_text(out, key, line);
    else
        js_absent(out, key, why);
}

static void number_of_file(cJSON *out, const char *key, const char *path, double scale, const char *why)
{
    char line[LINE];
    if (first_line(path, line))
        js_number(out, key, strtod(line, NULL) * scale);
    else
        js_absent(out, key, why);
}

cpu_ticks cpu_ticks_now(void)
{
    char line[LINE];
    double v[8] = {0};
    if (!first_line("/proc/stat", line))
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
    return first_line("/proc/loadavg", line) ? strtod(line, NULL) : NAN;
}

double stolen_share(cpu_ticks from, cpu_ticks to)
{
    return to.all > from.all ? (to.stolen - from.stolen) / (to.all - from.all) : NAN;
}

/* ---- parts of the block ---- */

static void add_processor(cJSON *out)
{
    static const struct {
        const char *key, *field;
    } field[] = {{"cpu", "model name"},
                 {"cpu_family", "cpu family"},
                 {"cpu_model", "model"},
                 {"cpu_stepping", "stepping"},
                 {"microcode", "microcode"}};
    char line[LINE];
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        if (keyed_line("/proc/cpuinfo", field[i].field, line))
            js_text(out, field[i].key, line);
        else
            js_absent(out, field[i].key, "not stated in /proc/cpuinfo");
    }
    cpu_list cpus;
    cpus_allowed(&cpus);
    js_put(out, "cores:%d,processors:%d", cpus.cores, cpus.n);
    text_of_file(out, "smt", "/sys/devices/system/cpu/smt/control", "not stated by the system");
    cJSON *list = js_array(out, "isa_available");
    for (const unit *u = units; u->isa; u++)
        if (u->present())
            js_item(list, u->isa);
    cache_sizes c = cpus_caches();
    cJSON *caches = js_object(out, "caches");
    const char *const name[] = {"l1d_bytes", "l2_bytes", "l3_bytes"};
    const size_t size[] = {c.l1, c.l2, c.l3};
    for (int i = 0; i < 3; i++) {
        if (size[i] > 0)
            js_number(caches, name[i], (double)size[i]);
        else
            js_absent(caches, name[i], "not stated by the system");
    }
}

static void add_clocks(cJSON *out)
{
    static const char cpufreq[] = "/sys/devices/system/cpu/cpu0/cpufreq/";
    static const char none[] = "no cpufreq directory: the host sets the clock";
    char path[128], line[LINE];
    snprintf(path, sizeof path, "%sscaling_governor", cpufreq);
    text_of_file(out, "governor", path, none);
    snprintf(path, sizeof path, "%scpuinfo_min_freq", cpufreq);
    number_of_file(out, "mhz_min", path, 1e-3, none);
    snprintf(path, sizeof path, "%scpuinfo_max_freq", cpufreq);
    number_of_file(out, "mhz_max", path, 1e-3, none);
    if (keyed_line("/proc/cpuinfo", "cpu MHz", line))
        js_number(out, "mhz_stated", strtod(line, NULL)); /* a guest is told a constant */
    else
        js_absent(out, "mhz_stated", "not stated in /proc/cpuinfo");
    js_number(out, "canary_ns", canary_measure());
    number_of_file(out, "temperature_c", "/sys/class/thermal/thermal_zone0/temp", 1e-3, "no thermal zone");
}

static void add_memory(cJSON *out)
{
    char line[LINE];
    if (keyed_line("/proc/meminfo", "MemTotal", line))
        js_number(out, "memory_bytes", strtod(line, NULL) * 1024);
    else
        js_absent(out, "memory_bytes", "not stated in /proc/meminfo");
    text_of_file(out, "huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled", "not stated by the system");
    text_of_file(out, "numa_nodes", "/sys/devices/system/node/online", "not stated by the system");
    text_of_file(out, "address_layout_random", "/proc/sys/kernel/randomize_va_space", "not stated by the system");
    text_of_file(out, "overcommit", "/proc/sys/vm/overcommit_memory", "not stated by the system");
    text_of_file(out, "cgroup_memory_max", "/sys/fs/cgroup/memory.max", "no limit stated by the cgroup");
    int quota = cpus_quota();
    if (quota > 0)
        js_number(out, "cgroup_processors", quota);
    else
        js_absent(out, "cgroup_processors", "not limited");
}

static void add_company(cJSON *out)
{
    char line[LINE];
    bool guest = keyed_line("/proc/cpuinfo", "flags", line) && strstr(line, " hypervisor");
    js_flag(out, "hypervisor", guest);
    text_of_file(out, "hypervisor_name", "/sys/class/dmi/id/sys_vendor", "not readable");
    if (first_line("/proc/loadavg", line))
        js_number(out, "load", strtod(line, NULL));
    else
        js_absent(out, "load", "not readable");
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
    if (threads > 0)
        js_number(out, "threads", threads);
    else
        js_absent(out, "threads", "not chosen yet");
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
    char line[LINE];
    js_number(out, "load", first_line("/proc/loadavg", line) ? strtod(line, NULL) : NAN);
    return js_to_text(out, true);
}
