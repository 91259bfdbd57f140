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
    text_add(t, "{\"operand\":\"%s%s", k->n_stage > 1 ? a->s->name : "", k->n_stage > 1 ? "." : "");
    text_add(t, "%s", operand_called(a->load).s);
    text_add(t, "\",\"space\":\"%s\"", a->shared ? "shared" : "global");
    if (a->copy)
        text_add(t, ",\"copy\":true");
    text_add(t, ",\"bytes\":%lld,\"times\":%.0f,\"%s\":%lld,\"least\":%lld}", (long long)a->bytes, a->times,
             a->shared ? "cycles" : "sectors", (long long)a->parts, (long long)a->least);
}

/* Slices of a unit that several warps share: whose the device brings, and why lanes copy the others */
static void put_slices(text *t, const plan *p, const kernel *k, const stage *s)
{
    text boxes = {0}, lanes = {0};
    box b;
    for (int i = 0; i < s->n_staging; i++) {
        const staging *g = &s->staging[i];
        const char *why = staging_copies(g) ? box_find(p, k, s, g, &b) : NULL;
        if (why)
            text_add(&lanes, "%s{\"operand\":\"%s\",\"why\":\"%s\"}", lanes.length ? "," : "",
                     operand_called(g->load).s, why);
        else if (staging_copies(g))
            text_add(&boxes, "%s\"%s\"", boxes.length ? "," : "", operand_called(g->load).s);
    }
    if (boxes.length)
        text_add(t, ",\"boxes\":[%s]", boxes.s);
    if (lanes.length)
        text_add(t, ",\"lanes\":[%s]", lanes.s);
    text_free(&boxes), text_free(&lanes);
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
        const matrix_unit *v = gpu_by_unit(s, &u) ? nest_unit_row(p, s, &u) : NULL;
        if (v) {
            text_add(t, ",\"unit\":\"%d x %d x %d of %s", v->m * (v->warps ? v->warps : 1), v->n, v->k,
                     ts_dtype_name(v->operand));
            if (v->warps)
                text_add(t, ", %d warps together", v->warps);
            text_add(t, "\"");
            if (v->warps)
                put_slices(t, p, k, s);
            text_add(t, "}");
        } else {
            const char *why = gpu_product_find(&c, p, k, s) ? gpu_no_unit(&c) : "it has one row, or one column";
            text_add(t, ",\"why\":\"%s\"}", why ? why : other);
        }
    }
    text_add(t, "%s", *comma ? "]" : "");
}

/* Where the assembler told what a group takes: what it spills, and what was foretold */
static void put_estimated(text *t, const plan *p, const kernel *k)
{
    if (k->made.registers)
        text_add(t, ",\"spilled_bytes\":%lld,\"estimated\":{\"registers\":%lld,\"shared_bytes\":%lld}",
                 (long long)k->made.spilled, (long long)gpu_registers(p, k), (long long)gpu_shared_bytes(p, k));
}

void gpu_explain(const plan *p, const kernel *k, text *out)
{
    gpu_figures f;
    if (!stage_nested(k->stage))
        return;
    gpu_figures_find(p, k, &f);
    text_add(out, ",\"group\":{\"groups\":%.0f,\"lanes\":%lld,\"registers\":%lld,\"shared_bytes\":%lld", f.groups,
             (long long)f.lanes, (long long)f.room.registers, (long long)f.room.shared);
    put_estimated(out, p, k);
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
