/* explain.c - the figures of a kernel as members of plan/1: "group":{...}. docs/plan.md has the keys. */
#include "backends/gpu/figures.h"
#include "backends/gpu/guess_parts.h"
#include "schedule/nest.h"

#include <string.h>

static double share(double of, double all)
{
    return all > 0 ? of / all : 1;
}

static void put_access(text *t, const kernel *k, const gpu_access *a)
{
    text_add(t, "{\"operand\":\"%s%s%c\",\"space\":\"%s\"", k->n_stage > 1 ? a->s->name : "", k->n_stage > 1 ? "." : "",
             a->load == MAX_LOADS ? 'y' : 'a' + a->load, a->shared ? "shared" : "global");
    if (a->copy)
        text_add(t, ",\"copy\":true");
    text_add(t, ",\"bytes\":%lld,\"times\":%.0f,\"%s\":%lld,\"least\":%lld}", (long long)a->bytes, a->times,
             a->shared ? "cycles" : "sectors", (long long)a->parts, (long long)a->least);
}

/* Of each contraction: the matrix unit that forms it, or why none does. */
static void put_products(text *t, const plan *p, const kernel *k)
{
    const char *comma = "", *other = strcmp(k->rule, "guess") ? "a rule gives other loops"
                                                              : "no block of it has room in shared memory";
    for (int i = 0; i < k->n_stage && p->on->n_unit; i++) {
        const stage *s = &k->stage[i];
        unit_loops u;
        product c;
        if (!stage_contracts(s))
            continue;
        text_add(t, "%s{\"stage\":\"%s\"", *comma ? comma : ",\"products\":[", s->name);
        comma = ",";
        if (gpu_by_unit(s, &u))
            text_add(t, ",\"unit\":\"%lld x %lld x %lld of %s\"}", (long long)u.trips[0], (long long)u.trips[1],
                     (long long)u.trips[2], ts_dtype_name(s->load[u.load[0]]->from->type.dtype));
        else {
            const char *why = gpu_product_find(&c, p, k, s) ? gpu_no_unit(&c) : "it has one row, or one column";
            text_add(t, ",\"why\":\"%s\"}", why ? why : other);
        }
    }
    text_add(t, "%s", *comma ? "]" : "");
}

void gpu_explain(const plan *p, const kernel *k, text *out)
{
    gpu_figures f;
    if (!stage_nested(k->stage))
        return;
    gpu_figures_find(p, k, &f);
    text_add(out, ",\"group\":{\"groups\":%.0f,\"lanes\":%lld,\"registers\":%lld,\"shared_bytes\":%lld", f.groups,
             (long long)f.lanes, (long long)f.room.registers, (long long)f.room.shared);
    text_add(out, ",\"resident\":%lld,\"limit\":\"%s\",\"occupancy\":%.4g,\"waves\":%.0f,\"last_wave\":%.4g",
             (long long)f.room.resident, f.room.limit, f.occupancy, f.waves, f.last);
    text_add(out, ",\"moved_bytes\":%.0f,\"coalesced\":%.4g", f.moved, share(f.asked, f.moved));
    if (f.banks > 0)
        text_add(out, ",\"bank_conflicts\":%.4g", f.banks / f.banks_least - 1);
    put_products(out, p, k);
    text_add(out, ",\"predicted_ns\":%.4g,\"bound\":\"%s\",\"accesses\":[", f.seconds * 1e9, f.bound);
    for (int i = 0; i < f.n_access; i++) {
        text_add(out, "%s", i ? "," : "");
        put_access(out, k, &f.access[i]);
    }
    text_add(out, "]}");
}
