/* explain.c - a plan as JSON: kernels with their loops, what fits where, and what is worth knowing about them. */
#include "schedule/explain/explain.h"
#include "schedule/plan/declined.h"
#include "schedule/nest/stride.h"
#include "schedule/passes/launches.h"
#include "schedule/plan/extents.h"
#include "schedule/plan/hazard.h"
#include "schedule/plan/resident.h"
#include "schedule/nest/nest.h"
#include "schedule/schema/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON: values of the model (labels) come through json_add, so nothing in them can end the document ---- */
static void put_taken(text *t, const char *name, text *s) /* frees s */
{
    json_add(t, "%s:%s", name, text_str(s));
    text_free(s);
}

/* ---- parts of a kernel ---- */
typedef struct told { /* of a kernel, by its text */
    const plan *p;
    const kernel *k;
    bool written; /* it has one */
    op_counts counts;
    footprint bytes;
} told;

/* Axis to extent, as {"m":512,"k":768}. */
static void put_dims(text *t, const stage *s)
{
    json_add(t, "dims:{");
    for (int a = 0; a < s->n_axis; a++)
        json_add(t, "%s:%lld", s->letter[a], (long long)s->extent[a]);
    text_add(t, "}");
}

static void put_stages(text *t, const kernel *k, const op_counts *n)
{
    json_add(t, "stages:[");
    for (int i = 0; k->n_stage > 1 && i < k->n_stage; i++) { /* of one stage all is said already */
        text loops = {0};
        json_add(t, "{name:%s", k->stage[i].name);
        if (k->stage[i].rule)
            json_add(t, "rule:%s", k->stage[i].rule);
        if (k->stage[i].guessed)
            json_add(t, "guessed:true");
        put_dims(t, &k->stage[i]);
        nest_print_stage(&loops, &k->stage[i], true);
        put_taken(t, "loops", &loops);
        if (n && stage_fold(&k->stage[i]))
            json_add(t, "registers:%.0f", ceil(n->registers[i]));
        text_add(t, "}");
    }
    text_add(t, "]");
}

/* Dimensions of one element are left out; the others go by the axis that walks them, or by their number. */
static void print_layout(text *t, const layout *y, const stage *s, const expr *const *sub, const type *of)
{
    char number[MAX_RANK][8];
    const char *letter[MAX_RANK];
    layout shown = {.n = 0};
    for (int d = 0; d < of->rank; d++) {
        text name = {0};
        text_add(&name, "d%d", d);
        memcpy(number[d], name.s, name.length + 1);
        text_free(&name);
        letter[d] = sub[d]->kind == X_AXIS ? s->letter[sub[d]->axis] : number[d];
    }
    for (int i = 0; i < y->n; i++)
        if (of->dim[y->digit[i].dim] != 1)
            shown.digit[shown.n++] = y->digit[i];
    layout_print(t, &shown, letter);
}

/* What load `load` of the stage reads, or, for MAX_LOADS, what the stage stores */
static void put_operand(text *t, const plan *p, const kernel *k, const stage *s, int load)
{
    text name = {0}, shape = {0}, order = {0};
    const bool reads = load < MAX_LOADS;
    const node *n = reads ? s->load[load]->from : s->node;
    const int entry = reads && s->leaf ? s->leaf[load] : -1;
    const layout *y = entry >= 0 ? &p->leaf[entry].layout : &p->buffer[n->id].layout;
    if (k->n_stage > 1)
        text_add(&name, "%s.", s->name);
    text_add(&name, "%s", operand_called(load).s);
    type_print(&shape, &n->type);
    print_layout(&order, y, s, reads ? s->load[load]->arg : s->store, &n->type);
    json_add(t, "{operand:%s,tensor:%s,type:%s,layout:%s}", name.s, n->label, shape.s, text_str(&order));
    text_free(&name), text_free(&shape), text_free(&order);
}

static void put_operands(text *t, const plan *p, const kernel *k)
{
    json_add(t, "operands:[");
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        for (int j = 0; j < s->n_load; j++)
            if (!kernel_hands_on(k, s->load[j]->from))
                put_operand(t, p, k, s, j);
        if (!s->scratch)
            put_operand(t, p, k, s, MAX_LOADS);
    }
    text_add(t, "]");
}

/* ---- levels: what a trip of each loop works on ---- */
/* The nearest level that holds it, and which share of it is taken (of memory: of the last cache) */
static int level_of(const plan *p, const working_set *w, double *share)
{
    for (int level = 0; level <= target_last(p->on); level++) {
        *share = (p->on->level[level].shared ? w->all : w->bytes) / (double)target_bytes(p->on, level);
        if (*share <= 1)
            return level;
    }
    return p->on->n_level - 1;
}

/* Loop l of the stage's own, or of those that stages share. Loops of the register tile have no level. */
static void put_level(text *t, const told *of, const stage *s, const nest *from, int l)
{
    const plan *p = of->p;
    const kernel *k = of->k;
    const bool shared = from == &k->shared, tile = !shared && l >= nest_unrolled(s);
    const loop *q = &from->loop[l];
    const working_set *w = footprint_of(&of->bytes, (int)(s - k->stage), l + 1 + (shared ? 0 : k->shared.n));
    text name = {0};
    double share = 0;
    const int level = level_of(p, w, &share);
    json_add(t, !shared && k->n_stage > 1 ? "{stage:%s" : "{", s->name);
    loop_print(&name, s, q);
    put_taken(t, "loop", &name);
    json_add(t, "axis:%s,trips:%lld,step:%lld", s->letter[q->axis], (long long)loop_trips(q), (long long)q->step);
    /* tail: of the last trip, when it is clipped; else 0 */
    json_add(t, "tail:%lld,working_set:%.0f,level:%s", (long long)(q->range % q->step), w->bytes,
             tile ? "registers" : p->on->level[level].name);
    if (!tile && level <= target_last(p->on))
        json_add(t, "share:%.4g", share); /* four digits: what is foretold is not known better */
    text_add(t, "}");
}

static void put_levels(text *t, const told *of)
{
    const kernel *k = of->k;
    json_add(t, "levels:[");
    for (int l = 0; of->written && l < k->shared.n; l++)
        put_level(t, of, &k->stage[k->main], &k->shared, l);
    for (int i = 0; of->written && i < k->n_stage; i++)
        for (int l = 0; l < k->stage[i].nest.n; l++)
            put_level(t, of, &k->stage[i], &k->stage[i].nest, l);
    text_add(t, "]");
}

/* Of a text that no nest walks: each byte once, that of what is added to where it lies among them */
static double moved_once(const told *of)
{
    const stage *s = of->k->stage;
    const bool added = stage_updates(s) && s->value->fn;
    return of->k->bytes - (added ? stage_stored(s) * stored_width(of->p, s->node) : 0);
}

static void put_traffic(text *t, const told *of)
{
    const bool walked = of->written && stage_nested(of->k->stage);
    json_add(t, "traffic:{");
    for (int level = 0; level <= target_last(of->p->on); level++)
        json_add(t, "%s:%.0f", of->p->on->level[level].name, walked ? of->bytes.traffic[level] : moved_once(of));
    text_add(t, "}");
}

/* ---- notes ---- */
typedef struct notes {
    const plan *p;
    const kernel *k;
    const stage *s;
    const told *of;
    text *t;
} notes;

/* Of a kernel of several stages a note starts with the stage's name, by which a rule can reach it. */
static void begin_note(const notes *n)
{
    if (n->k->n_stage > 1)
        text_add(n->t, "%s: ", n->s->name);
}

/* Loops that make as many trips as a run needs */
static void note_varying(const notes *n)
{
    for (int a = 0; a < n->s->n_axis; a++) {
        const varying *v = &n->s->varies[a];
        if (!v->by)
            continue;
        begin_note(n);
        text_add(n->t, "%s is ", n->s->letter[a]);
        extents_print(n->t, n->p, v);
        text_add(n->t, ", which runs say, %lld at most", (long long)n->s->extent[a]);
        int found = 0;
        for (int shared = 1; shared >= 0; shared--) {
            const nest *t = shared ? &n->k->shared : &n->s->nest;
            for (int l = 0; l < t->n; l++)
                if (t->loop[l].axis == a && !t->loop[l].role->in_registers && (!shared || n->k->n_stage > 1))
                    text_add(n->t, "%s", found++ ? ", " : ": loops "),
                        loop_print(n->t, shared ? &n->k->stage[n->k->main] : n->s, &t->loop[l]);
        }
        text_add(n->t, "\n");
    }
}

/* Right, but most likely not what was meant: steps of 64 where 12 are left. */
static void note_clipped(const notes *n)
{
    for (int l = 0; l < n->s->nest.n; l++) {
        const loop *q = &n->s->nest.loop[l];
        if (q->step <= q->range || q->step == 1)
            continue;
        begin_note(n);
        text_add(n->t, "loop ");
        loop_print(n->t, n->s, q);
        text_add(n->t, ": only %lld are left there, so it is one clipped trip\n", (long long)q->range);
    }
}

/* What the tile walks again and again should stay near. */
static void note_working_set(const notes *n)
{
    const int l = nest_tile(n->s);
    const double bytes = footprint_of(&n->of->bytes, (int)(n->s - n->k->stage), n->k->shared.n + l)->bytes,
                 cache = (double)target_bytes(n->p->on, n->p->on->near);
    if (!stage_fold(n->s) || l < 1 || bytes <= cache)
        return;
    begin_note(n);
    text_add(n->t, "loop ");
    loop_print(n->t, n->s, &n->s->nest.loop[l - 1]);
    text_add(n->t,
             ": one trip works on %.0f KiB, %.0f %% of %s (%.0f KiB): smaller steps outside it, or a step for a folded "
             "axis, would fit\n",
             bytes / 1024, 100 * bytes / cache, n->p->on->level[n->p->on->near].name, cache / 1024);
}

/* Allowed, since a processor has memory for what does not fit; slow. */
static void note_registers(const notes *n)
{
    const double registers = n->of->counts.registers[n->s - n->k->stage];
    if (!stage_fold(n->s) || registers <= n->p->on->n_register || n->p->on->group)
        return;
    begin_note(n);
    text_add(n->t, "the register tile takes %.0f vector registers, %s has %d: some go through memory; unroll less\n",
             ceil(registers), n->p->on->model, n->p->on->n_register);
}

/* Neighbours a multiple of so many bytes apart share one set of the first cache, which holds few of them. */
static void note_strides(const notes *n)
{
    const stage *s = n->s;
    const memory_level *first = n->p->on->level;
    for (int j = 0; j < s->n_load && j < 26 && stage_fold(s) && first->repeats; j++)
        for (int a = 0; a < s->n_axis; a++) {
            const int64_t stride = kernel_hands_on(n->k, s->load[j]->from) ? 0 : stride_along(n->p, s, j, a);
            const int64_t rows = nest_left(n->k, s, a, nest_tile(s) - 1);
            bool copied = false;
            for (int g = 0; g < s->n_staging; g++)
                copied = copied || (s->staging[g].load == j && staging_copies(&s->staging[g]));
            if (!stride || stride % first->repeats || rows <= first->ways || copied)
                continue;
            begin_note(n);
            text_add(n->t,
                     "operand %s: the tile walks %lld steps of %s that lie %lld bytes apart, a multiple of %lld: they "
                     "compete for the same few places in %s; +%s at an outer loop copies them together\n",
                     operand_called(j).s, (long long)rows, s->letter[a], (long long)stride, (long long)first->repeats,
                     first->name, operand_called(j).s);
        }
}

static void put_notes(text *t, const told *of)
{
    const kernel *k = of->k;
    text lines = {0};
    text_add(&lines, "%s\n", k->notes);
    for (int i = 0; i < k->n_stage; i++) {
        const notes n = {of->p, k, &k->stage[i], of, &lines};
        note_varying(&n);
        note_clipped(&n);
        note_working_set(&n);
        note_registers(&n);
        note_strides(&n);
    }
    json_add_lines(t, "notes", text_str(&lines));
    text_free(&lines);
}

/* ---- kernels ---- */
/* Extent of an axis once every trip of its loops from number l on is a full one. */
static double padded(const plan *p, const stage *s, int axis, int l, int64_t left)
{
    while (l < s->nest.n && s->nest.loop[l].axis != axis)
        l++;
    if (l == s->nest.n)
        return (double)left;
    const loop *q = &s->nest.loop[l];
    const int64_t lane = nest_lanes(p, s);
    if (q->role->lanes)
        return (double)((left + lane - 1) / lane * lane);
    if (q->step == 1)
        return (double)left;
    const int64_t step = q->step < left ? q->step : left;
    return (double)((left + step - 1) / step) * padded(p, s, axis, l + 1, step);
}

/* Work of full tiles and vectors over real work, less 1 */
static double stage_waste(const plan *p, const kernel *k, const stage *s)
{
    double real = 1, full = 1;
    for (int a = 0; a < s->n_axis; a++) {
        const int64_t left = nest_left(k, s, a, -1);
        real *= (double)left, full *= padded(p, s, a, 0, left);
    }
    return real > 0 ? full / real - 1 : 0;
}

static double waste_of(const plan *p, const kernel *k) /* of all stages, by their work */
{
    double real = 0, full = 0;
    for (int i = 0; i < k->n_stage; i++) {
        double work = 1;
        for (int a = 0; a < k->stage[i].n_axis; a++)
            work *= (double)k->stage[i].extent[a];
        real += work, full += work * (1 + stage_waste(p, k, &k->stage[i]));
    }
    return real > 0 ? full / real - 1 : 0;
}

/* "loops" is what a schema may say; "derived" has the copies and prefetches, too, that were added to it. */
static void put_walked(text *t, const plan *p, const kernel *k)
{
    const stage *s = &k->stage[k->main];
    text loops = {0}, derived = {0}, own = {0};
    told of = {.p = p, .k = k};
    of.written = p->on->explain && p->on->explain(p, k, &of.counts, &of.bytes, &own);
    const op_counts *n = of.written ? &of.counts : NULL;
    json_add(t, "op:%s,label:%s,rule:%s", k->op, k->label, k->rule);
    if (k->apart)
        json_add(t, "apart:%s", k->apart);
    if (k->guessed)
        json_add(t, "guessed:true");
    json_add(t, "dtype:%s", ts_dtype_name(s->node->type.dtype));
    put_dims(t, s);
    nest_print(&loops, k, false);
    nest_print(&derived, k, true);
    json_add(t, "loops:%s", text_str(&loops));
    if (strcmp(text_str(&loops), text_str(&derived)))
        json_add(t, "derived:%s", text_str(&derived));
    text_free(&loops), text_free(&derived);
    put_stages(t, k, n);
    put_operands(t, p, k);
    json_add(t, "flops:%.0f,bytes:%.0f,calls:1", k->flops, k->bytes);
    put_levels(t, &of);
    put_traffic(t, &of);
    if (n && stage_fold(s))
        json_add(t, "registers:{used:%.0f,of:%d}", ceil(n->registers[k->main]), p->on->n_register);
    tile_explain(t, p, k, n);
    if (own.length)
        json_add_raw(t, own.s);
    text_free(&own);
    if (p->on->count) {
        const prediction f = kernel_predict(p, k, n, &of.bytes);
        json_add(t, "predicted:{time_ns:%.4g,bound:%s}", f.seconds * 1e9, f.bound);
    }
    json_add(t, "tail_waste:%.4g", waste_of(p, k));
    put_notes(t, &of);
    footprint_free(&of.bytes);
}

static void put_launch(text *t, const plan *p, int i) /* of several kernels */
{
    const int last = i + p->kernel[i].joins;
    const int n = launches_members(p, last);
    if (n > 1)
        json_add(t, "launch:{last:'k%d',kernels:%d}", last, n);
}

static void put_trips(text *t, const kernel *k) /* of a scan */
{
    const scan_plan *s = k->scan;
    if (s)
        json_add(t, "trips:{count:%lld,kernels:%d,threads:%d,ends:%i,inside:%i}", (long long)s->trips,
                 s->plan->n_kernel, s->plan->threads, s->until >= 0, s->inside);
}

static void put_kernel(text *t, const plan *p, int i, const text *lines)
{
    const kernel *k = &p->kernel[i];
    const plan *own = sites_plan(p, k);
    json_add(t, "{name:'k%d'", i);
    if (k->moves)
        sites_explain_transfer(t, p, k);
    else {
        put_walked(t, own, k);
        work_explain(t, own, own == p ? i : k->within);
        const int id = work_node(p, i)->id;
        if (own == p && id < p->n_model && p->of_model[id])
            json_add(t, "graph_node:%d", id);
    }
    if (lines->length)
        json_add_lines(t, "declined", text_str(lines));
    put_trips(t, k);
    put_launch(t, p, i);
    if (p->n_site)
        json_add(t, "place:%s", p->site[k->site].name);
    text_add(t, "}");
}

static void put_kernels(text *t, const plan *p)
{
    text *lines = heap_array((size_t)p->n_kernel + 1, sizeof *lines);
    declined_print(p, lines);
    for (int i = 0; i < p->n_kernel; i++)
        put_kernel(t, p, i, &lines[i]), text_free(&lines[i]);
    free(lines);
}

/* ---- the plan ---- */
/* Without a schema the hash is that of the guess, so that results can always be told apart by it. */
static void put_schema(text *t, const plan *p, const char *by)
{
    arena mem = {0};
    schema guess;
    const schema *s = p->schema;
    if (!s)
        MUST(schema_load(&mem, NULL, &(schema_use){.by = by}, &guess, NULL));
    s = s ? s : &guess;
    json_add(t, "schema:{name:%s,source:%s,hash:%s}", s->name, s->source, s->hash);
    arena_free(&mem);
}

/* in_place: the new value is written where the old one lies, so nothing is copied at the end of a run. */
static void put_state(text *t, const plan *p)
{
    if (!p->n_carried)
        return;
    json_add(t, "state:[");
    for (int i = 0; i < p->n_carried; i++) {
        const carried *c = &p->carried[i];
        const buffer *h = &p->buffer[p->root[c->root]->id];
        json_add(t, "{input:%s,in_place:%i}", p->input[c->input]->label, h->where == IN_INPUT && h->index == c->input);
    }
    text_add(t, "]");
}

static double resident_bytes(const plan *p)
{
    return (double)resident_weights(p);
}

static double own_bytes(const plan *p) /* of values that share memory with no other, because a rule says so */
{
    double sum = 0;
    for (int id = 0; id < p->n_buffer; id++)
        sum += p->buffer[id].where == IN_ARENA && p->buffer[id].own ? (double)p->buffer[id].bytes : 0;
    return sum;
}

/* Bytes. A buffer lives from kernel `first` to kernel `last`, both included; `over`: whose place it takes. */
static void put_memory(text *t, const plan *p)
{
    json_add(t, "memory:{arena_bytes:%lld,lower_bound_bytes:%lld,weights_bytes:%.0f,resident_weights_bytes:%.0f",
             (long long)p->arena_bytes, (long long)p->lower_bound, sites_sum(p, sites_weights),
             sites_sum(p, resident_bytes));
    if (own_bytes(p) > 0)
        json_add(t, "own_bytes:%.0f", own_bytes(p));
    json_add(t, "inputs_bytes:%lld,buffers:[", (long long)plan_given(p));
    for (int id = 0; id < p->n_buffer; id++) { /* the graph may have grown since */
        const buffer *h = &p->buffer[id];
        if (h->where != IN_ARENA)
            continue;
        json_add(t, "{name:%s,kernel:'k%d',bytes:%lld,offset:%lld,first:%d,last:%d",
                 *p->g->node[id]->label ? p->g->node[id]->label : p->kernel[h->first].label, h->first,
                 (long long)h->bytes, (long long)h->offset, h->first, h->last);
        if (h->over)
            json_add(t, "over:'k%d'", p->buffer[h->over->id].first);
        text_add(t, h->own ? ",\"own\":true}" : "}");
    }
    text_add(t, "]");
    put_state(t, p);
    text_add(t, "}");
}

/* For each rule what it gives up (values, bytes), what the peak of memory falls by, and what it costs (flops). */
static void put_recompute(text *t, const plan *p)
{
    double flops = 0;
    for (int k = 0; k < p->n_kernel; k++)
        flops += p->kernel[k].flops;
    if (!p->checkpointing)
        return;
    json_add(t, "recompute:[");
    for (int i = 0; i < p->schema->n_rule; i++) {
        const saving s = checkpointing_saving(p, i);
        if (!p->schema->rule[i].recompute || p->schema->aside[i])
            continue;
        json_add(t, "{rule:%s,values:%.0f,forgone_bytes:%.0f,saved_bytes:%.0f,flops:%.0f,share:%.4g}",
                 p->schema->rule[i].name, (double)s.values, (double)s.bytes, (double)s.peak, s.flops,
                 flops > 0 ? s.flops / flops : 0);
    }
    text_add(t, "]");
}

/* What a device states that it can do at most; processors of hosts are measured instead (bench). */
static void put_peak(text *out, const target *t)
{
    const double all = t->cost.cycles_per_second * t->workers;
    if (!t->group)
        return;
    json_add(out, "peak:{f32_gflops:%.6g,levels:[", 2e-9 * all * t->cost.fma_per_cycle);
    for (int l = 0; l < t->n_level; l++) {
        const memory_level *m = &t->level[l];
        const int64_t times = m->shared ? 1 : t->workers; /* each has one of its own */
        json_add(out, "{name:%s,bytes:%lld,gbs:%.6g}", m->name, (long long)(m->bytes * times),
                 1e-9 * all * m->bytes_per_cycle);
    }
    text_add(out, "]}");
}

static void put_machine(text *out, const target *t)
{
    text line = {0};
    if (t->print)
        t->print(t, &line), json_add(out, "machine:%s", text_str(&line));
    text_free(&line);
}

void plan_explain(const plan *p, const char *by, const char *facts, text *out)
{
    text lines = {0};
    json_add(out, "{format:'plan/1',target:%s,isa:%s,threads:%d", by, p->on->model, p->threads);
    put_machine(out, p->on);
    put_peak(out, p->on);
    put_schema(out, p, by);
    json_add(out, "kernels:[");
    put_kernels(out, p);
    text_add(out, "]");
    if (p->on->side_by_side && !p->n_site)
        json_add(out, "launches:%d", launches_count(p));
    sites_explain(out, p);
    bits_explain(out, p);
    put_memory(out, p);
    put_recompute(out, p);
    if (p->threads > p->on->places)
        text_add(&lines, "%d threads take turns on %d core%s: one per core is quicker\n", p->threads, p->on->places,
                 p->on->places == 1 ? "" : "s");
    sites_notes(p, &lines);
    if (p->schema)
        schema_refused(p, &lines), schema_unused(p->schema, p, p->rule_used, &lines), checkpointing_unused(p, &lines);
    json_add_lines(out, "notes", text_str(&lines));
    json_add(out, "build:{"), text_add(out, "%s}}\n", facts);
    text_free(&lines);
}
