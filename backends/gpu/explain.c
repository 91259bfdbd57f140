/* explain.c - the figures of a kernel as members of plan/1: "group":{...}. docs/plan.md has the keys. */
#include "backends/gpu/figures.h"
#include "backends/gpu/guess_parts.h"
#include "schedule/nest/box.h"
#include "schedule/nest/nest.h"

#include <string.h>

static double share(double of, double all)
{
    return all > 0 ? of / all : 1;
}

static void put_access(text *t, const kernel *k, const gpu_access *a)
{
    json_add(t, "{operand:");
    text_add(t, k->n_stage > 1 ? "\"%s.%s\"" : "\"%s%s\"", k->n_stage > 1 ? a->s->name : "", operand_called(a->load).s);
    json_add(t, "space:%s", a->shared ? "shared" : "global");
    if (a->copy)
        json_add(t, "copy:true");
    json_add(t, "bytes:%lld,times:%.0f,%s:%lld,least:%lld}", (long long)a->bytes, a->times,
             a->shared ? "cycles" : "sectors", (long long)a->parts, (long long)a->least);
}

/* Slices of a unit that several warps share: which ones the device copies, and why lanes copy the others */
static void put_slices(text *t, const plan *p, const kernel *k, const stage *s)
{
    ENDED_BY(text_free) text boxes = {0}, lanes = {0};
    box b;
    for (int i = 0; i < s->n_staging; i++) {
        const staging *g = &s->staging[i];
        const char *why = staging_copies(g) ? box_find(p, k, s, g, &b) : NULL;
        if (why)
            json_add(&lanes, "{operand:%s,why:%s}", operand_called(g->load).s, why);
        else if (staging_copies(g))
            json_add(&boxes, "%s", operand_called(g->load).s);
    }
    if (boxes.length)
        json_add(t, "boxes:["), json_add_raw(t, boxes.s), text_add(t, "]");
    if (lanes.length)
        json_add(t, "lanes:["), json_add_raw(t, lanes.s), text_add(t, "]");
}

/* Of each contraction: the matrix unit that forms it, or why none does. */
static void put_products(text *t, const plan *p, const kernel *k)
{
    const char *other = strcmp(k->rule, "guess") ? "a rule gives other loops"
                                                 : "no block of it has room in shared memory";
    int n = 0;
    for (int i = 0; i < k->n_stage && p->on->n_unit; i++) {
        const stage *s = &k->stage[i];
        unit_loops u;
        product c;
        if (!stage_contracts(s))
            continue;
        json_add(t, n++ ? "{stage:%s" : "products:[{stage:%s", s->name);
        const matrix_unit *v = gpu_by_unit(s, &u) ? nest_unit_row(p, s, &u) : NULL;
        if (v) {
            ENDED_BY(text_free) text unit = {0};
            text_add(&unit, "%d x %d x %d of %s", v->m * (v->warps ? v->warps : 1), v->n, v->k,
                     ts_dtype_name(v->operand));
            if (v->warps)
                text_add(&unit, ", %d warps together", v->warps);
            json_add(t, "unit:%s", unit.s);
            if (v->warps)
                put_slices(t, p, k, s);
        } else {
            const char *why = gpu_product_find(&c, p, k, s) ? gpu_no_unit(&c) : "it has one row, or one column";
            json_add(t, "why:%s", why ? why : other);
        }
        text_add(t, "}");
    }
    text_add(t, n ? "]" : "");
}

/* Where the assembler told what a group takes: what it spills, and what was foretold */
static void put_estimated(text *t, const kernel *k, const gpu_figures *f)
{
    if (k->made.registers)
        json_add(t, "spilled_bytes:%lld,estimated:{registers:%lld,shared_bytes:%lld}", (long long)k->made.spilled,
                 (long long)f->foretold.registers, (long long)f->foretold.shared);
}

bool gpu_explain(const plan *p, const kernel *k, op_counts *counts, footprint *bytes, text *out)
{
    gpu_figures f;
    if (!stage_nested(k->stage))
        return false;
    gpu_figures_find(p, k, &f, bytes), *counts = f.counts;
    json_add(out, "group:{groups:%.0f,lanes:%lld,registers:%lld,shared_bytes:%lld", f.groups, (long long)f.lanes,
             (long long)f.room.registers, (long long)f.room.shared);
    put_estimated(out, k, &f);
    json_add(out, "resident:%lld,limit:%s,occupancy:%.4g,waves:%.0f,last_wave:%.4g,moved_bytes:%.0f,coalesced:%.4g",
             (long long)f.room.resident, f.room.limit, f.occupancy, f.waves, f.last, f.moved, share(f.asked, f.moved));
    if (f.banks > 0)
        json_add(out, "bank_conflicts:%.4g", f.banks / f.banks_least - 1);
    put_products(out, p, k);
    json_add(out, "predicted_ns:%.4g,bound:%s,accesses:[", f.seconds * 1e9, f.bound);
    for (int i = 0; i < f.n_access; i++)
        put_access(out, k, &f.access[i]);
    text_add(out, "]}");
    return f.written;
}
