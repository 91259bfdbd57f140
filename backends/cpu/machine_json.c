/* machine_json.c - the machine as `tessera doctor` shows it, under the caller's choice of instruction set and
 * threads. */
#include "backends/cpu/machine.h"
#include "backends/host_memory.h"

static void caches(text *t, const machine *m)
{
    static const char *const name[] = {[TIER_L1D] = "l1d", [TIER_L2] = "l2", [TIER_L3] = "l3"};
    json_add(t, "caches:[");
    for (int k = TIER_L1D; k >= TIER_L3; k--)
        if (m->tier[k].n)
            json_add(t, "{name:%s,bytes:%lld,count:%d,cores:%d}", name[k], (long long)m->tier[k].bytes, m->tier[k].n,
                     machine_sharers(m, (tier_kind)k));
    json_add(t, "],line:%d", m->line);
}

static void print(text *t, const machine *m, const isa *chosen, int threads)
{
    text line = {0};
    json_add(t, "{cpu:%s,packages:%d,numa_nodes:%d,cores:%d,core_numbers:[", m->cpu, m->tier[TIER_PACKAGE].n,
             m->tier[TIER_NUMA].n, m->n_core);
    for (int i = 0; i < m->n_core; i++)
        json_add(t, "%d", m->os[i]);
    text_add(t, "]");
    caches(t, m);
    json_add(t, "isas:[");
    for (const isa *i = isa_table; i->name; i++)
        if (isa_includes(m->isa, i))
            json_add(t, "{name:%s,vector_bytes:%d,registers:%d}", i->name, i->vector_bytes, i->n_register);
    machine_print(&line, m);
    json_add(t, "],isa:%s,threads:%d,free_memory_bytes:%lld,text:%s}", chosen->name, threads,
             (long long)host_memory_free(), line.s);
    text_free(&line);
}

char *ts_machine_json(const ts_options *o, ts_error *e)
{
    machine m;
    const isa *chosen;
    int threads;
    if (!machine_load(&m, o ? o->machine : NULL, e) || !(chosen = machine_isa(&m, o ? o->isa : NULL, e)) ||
        !(threads = machine_threads(&m, o ? o->threads : 0, e)))
        return NULL;
    text t = {0};
    print(&t, &m, chosen, threads);
    return text_take(&t);
}
