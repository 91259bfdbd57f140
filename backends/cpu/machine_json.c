/* machine_json.c - the machine as `tessera doctor` shows it, under the caller's choice of instruction set and
 * threads. */
#include "backends/cpu/machine.h"
#include "backends/host_memory.h"

static void caches(text *t, const machine *m)
{
    static const struct {
        tier_kind kind;
        const char *name;
    } shown[] = {{TIER_L1D, "l1d"}, {TIER_L2, "l2"}, {TIER_L3, "l3"}};
    json_add(t, "caches:[");
    for (int i = 0; i < COUNT(shown); i++) {
        const tier *r = &m->tier[shown[i].kind];
        if (r->n)
            json_add(t, "{name:%s,bytes:%lld,count:%d,cores:%d}", shown[i].name, (long long)r->bytes, r->n,
                     machine_sharers(m, shown[i].kind));
    }
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
    for (int i = 0; isa_at(i); i++)
        if (isa_includes(m->isa, isa_at(i)))
            json_add(t, "{name:%s,vector_bytes:%d,registers:%d}", isa_at(i)->name, isa_at(i)->vector_bytes,
                     isa_at(i)->n_register);
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
