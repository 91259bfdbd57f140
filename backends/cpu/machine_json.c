/* machine_json.c - the machine as `tessera doctor` shows it, under the caller's choice of instruction set and
 * threads. */
#include "backends/cpu/machine.h"
#include "backends/backend.h"
#include "backends/host_memory.h"

#include <string.h>

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
    ENDED_BY(text_free) text line = {0};
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
    const rates r = machine_rates(m, chosen);
    json_add(t, "],isa:%s,threads:%d,free_memory_bytes:%lld,measured:%i,disturbed:%i,rates:", chosen->name, threads,
             (long long)host_memory_free(), m->known[chosen - isa_table].of != NULL, r.disturbed);
    rates_json(t, &r);
    json_add(t, ",text:%s}", line.s);
}

static char *described(const ts_options *o, rates_wanted how, ts_error *e)
{
    machine m;
    const isa *chosen;
    int threads;
    const machine_options asked = {.isa = o ? o->isa : NULL, .cache_folder = o ? o->cache_folder : NULL};
    const presence *here = backend_usual()->present;
    const bool given = o && o->machine;
    text t = {0}, word = {0};
    if (!machine_load(&m, given ? o->machine : NULL, e) || !(chosen = machine_isa(&m, asked.isa, e)) ||
        !(threads = machine_threads(&m, o ? o->threads : 0, e)) ||
        (!given && here && here->rates && !here->rates(&asked, how, &word, e)))
        return NULL;
    if (word.length) { /* "rates:..." */
        const char *s = word.s + strcspn(word.s, ":") + 1;
        MUST(rates_read(&s, &m.known[chosen - isa_table]));
    }
    text_free(&word);
    print(&t, &m, chosen, threads);
    return text_take(&t);
}

char *ts_machine_json(const ts_options *o, ts_error *e)
{
    return described(o, RATES_KEPT, e);
}

char *ts_machine_calibrate(const ts_options *o, ts_error *e)
{
    ts_options here = o ? *o : (ts_options){0};
    here.machine = NULL;
    return described(&here, RATES_AGAIN, e);
}
