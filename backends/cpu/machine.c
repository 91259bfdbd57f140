/* machine.c - this host as hwloc sees it, within the calling thread's affinity mask. */
#include "backends/cpu/machine.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool machine_parse(machine *m, const char *s, err *e); /* machine_text.c */

static const hwloc_obj_type_t tier_type[N_TIER] = {
    [TIER_PACKAGE] = HWLOC_OBJ_PACKAGE, [TIER_NUMA] = HWLOC_OBJ_NUMANODE, [TIER_L3] = HWLOC_OBJ_L3CACHE,
    [TIER_L2] = HWLOC_OBJ_L2CACHE,      [TIER_L1D] = HWLOC_OBJ_L1CACHE,
};

/* Only what a machine is made of. hwloc's own cpuid walk binds the thread to every core in turn; the system's tables
 * know as much, without moving anybody. */
static bool topology_load(hwloc_topology_t *t, err *e)
{
    if (hwloc_topology_init(t) != 0)
        return err_set(e, TS_FAILED, "cannot read the machine's topology: %s", strerror(errno));
    hwloc_topology_set_components(*t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    hwloc_topology_set_all_types_filter(*t, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(*t, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    for (int k = 0; k < N_TIER; k++)
        hwloc_topology_set_type_filter(*t, tier_type[k], HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(*t) == 0)
        return true;
    hwloc_topology_destroy(*t);
    return err_set(e, TS_FAILED, "cannot read the machine's topology: %s", strerror(errno));
}

/* What core belongs to at tier k: an object, or for memory, which is no ancestor, a number. -1: nothing. */
static long long instance(hwloc_topology_t t, hwloc_obj_t core, tier_kind k, int64_t *bytes)
{
    *bytes = 0;
    if (k == TIER_NUMA)
        return hwloc_bitmap_first(core->nodeset);
    hwloc_obj_t o = hwloc_get_ancestor_obj_by_type(t, tier_type[k], core);
    if (o && hwloc_obj_type_is_cache(o->type))
        *bytes = (int64_t)o->attr->cache.size;
    return o ? (long long)o->logical_index : -1;
}

/* Objects come in the order of the tree, so what the last core does not share is new. */
static void add_core(machine *m, hwloc_topology_t t, hwloc_obj_t core, unsigned os, long long last[N_TIER])
{
    int c = m->n_core++;
    m->os[c] = (int)os;
    for (int k = 0; k < N_TIER; k++) {
        tier *r = &m->tier[k];
        int64_t bytes;
        long long here = instance(t, core, (tier_kind)k, &bytes);
        if (here < 0)
            continue;
        r->n += here != last[k];
        last[k] = here;
        r->of[c] = r->n - 1;
        if (bytes > 0 && (r->bytes == 0 || bytes < r->bytes))
            r->bytes = bytes;
    }
}

/* A tier that the system does not describe, as in some containers. The C library asks the processor for cache sizes. */
static void fill_tier(machine *m, tier_kind k)
{
    static const int size_name[N_TIER] = {
        [TIER_L3] = _SC_LEVEL3_CACHE_SIZE, [TIER_L2] = _SC_LEVEL2_CACHE_SIZE, [TIER_L1D] = _SC_LEVEL1_DCACHE_SIZE};
    static const int64_t fallback[N_TIER] = {[TIER_L2] = 1 << 20, [TIER_L1D] = 32 << 10};
    tier *r = &m->tier[k];
    bool cache = size_name[k] != 0, each = k == TIER_L2 || k == TIER_L1D;
    if (r->n > 0 && (!cache || r->bytes > 0))
        return;
    long size = cache ? sysconf(size_name[k]) : 0;
    r->bytes = size > 0 ? size : fallback[k];
    r->n = each ? m->n_core : !cache || r->bytes > 0;
    for (int c = 0; c < m->n_core; c++)
        r->of[c] = each ? c : 0;
}

static void read_cores(machine *m, hwloc_topology_t t, hwloc_const_cpuset_t mask)
{
    hwloc_obj_type_t kind = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    long long last[N_TIER];
    for (int k = 0; k < N_TIER; k++)
        last[k] = -1;
    for (hwloc_obj_t o = NULL; own && (o = hwloc_get_next_obj_by_type(t, kind, o)) && m->n_core < MAX_CORE;) {
        hwloc_bitmap_and(own, o->cpuset, mask);
        if (!hwloc_bitmap_iszero(own))
            add_core(m, t, o, (unsigned)hwloc_bitmap_first(own), last);
    }
    hwloc_bitmap_free(own);
}

static void read_names(machine *m, hwloc_topology_t t)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, 0);
    const char *name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    ENDED_BY(text_free) text safe = {0};
    text_safe(&safe, name ? name : "unknown");
    snprintf(m->cpu, sizeof m->cpu, "%s", text_str(&safe));
    hwloc_obj_t l1 = hwloc_get_obj_by_type(t, HWLOC_OBJ_L1CACHE, 0);
    m->line = l1 && l1->attr->cache.linesize > 0 ? (int)l1->attr->cache.linesize : 64;
}

bool machine_load(machine *m, const char *fake, err *e)
{
    *m = (machine){0};
    if (fake)
        return machine_parse(m, fake, e);
    hwloc_topology_t t;
    if (!topology_load(&t, e))
        return false;
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    if (mask && hwloc_get_cpubind(t, mask, HWLOC_CPUBIND_THREAD) != 0)
        hwloc_bitmap_fill(mask); /* a system that does not tell: everything */
    if (mask)
        read_cores(m, t, mask);
    hwloc_bitmap_free(mask);
    read_names(m, t);
    hwloc_topology_destroy(t);
    for (int k = 0; k < N_TIER; k++)
        fill_tier(m, (tier_kind)k);
    m->isa = isa_of_host();
    m->nta = nontemporal_of_host();
    if (m->n_core > 0)
        return true;
    err_set(e, TS_FAILED, "no core of this machine is open to this process, at least one expected");
    return err_hint(e, "its affinity mask and its cgroup say which are: taskset -p shows the first");
}

rates machine_rates(const machine *m, const isa *i)
{
    const rates *r = &m->known[i - isa_table];
    return r->of ? *r : rates_derived(i);
}

int machine_sharers(const machine *m, tier_kind k)
{
    int most = 0, run = 0;
    for (int c = 0; c < m->n_core && m->tier[k].n > 0; c++) {
        run = c > 0 && m->tier[k].of[c] == m->tier[k].of[c - 1] ? run + 1 : 1;
        most = run > most ? run : most;
    }
    return most;
}

const isa *machine_isa(const machine *m, const char *name, err *e)
{
    const isa *found = name ? isa_find(name) : m->isa;
    if (found && isa_includes(m->isa, found))
        return found;
    ENDED_BY(text_free) text has = {0};
    isa_list(&has, found ? m->isa : NULL);
    if (found) {
        err_set(e, TS_UNSUPPORTED, "this processor lacks %s; it has %s", name, text_str(&has));
        err_hint(e, "to plan or emit for another: --machine \"core:%d isa:%s\"", m->n_core, name);
    } else {
        err_set(e, TS_USAGE, "there is no instruction set '%s'; known are %s", name, text_str(&has));
        err_hint(e, "without --isa it is the best one of this processor, %s", m->isa->name);
    }
    return NULL;
}

/* More threads than cores are allowed: they share cores, slowly, and compute the same. */
int machine_threads(const machine *m, int asked, err *e)
{
    if (asked >= 0 && asked <= MAX_CORE)
        return asked > 0 ? asked : m->n_core;
    err_set(e, TS_USAGE, "%d threads: not in 1...%d", asked, MAX_CORE);
    err_hint(e, "leave it out for one per core: %d", m->n_core);
    return 0;
}
