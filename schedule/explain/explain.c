/* explain.c - a plan as JSON: kernels with their loops, what fits where, and what is worth knowing about them. */
#include "schedule/explain/explain.h"
#include "schedule/plan/declined.h"
#include "schedule/nest/fit.h"
#include "schedule/passes/launches.h"
#include "schedule/plan/extents.h"
#include "schedule/plan/resident.h"
#include "schedule/nest/nest.h"
#include "schedule/schema/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */
static void key(text *t, const char *name) /* with the comma that it needs */
{
    const char last = t->length ? t->s[t->length - 1] : '{';
    text_add(t, "%s\"%s\":", last == '{' || last == '[' ? "" : ",", name);
}

/* Values of the model (labels) come through text_json, so nothing in them can end the document. */
static void put_text(text *t, const char *name, const char *s)
{
    key(t, name);
    text_json(t, s);
}

static void put_whole(text *t, const char *name, double v)
{
    key(t, name);
    text_add(t, "%.0f", v);
}

/* Four digits: what is foretold is not known better. */
static void put_share(text *t, const char *name, double v)
{
    key(t, name);
    text_add(t, "%.4g", v);
}

static void put_taken(text *t, const char *name, text *s) /* frees s */
{
    put_text(t, name, text_str(s));
    text_free(s);
}

static void open_one(text *t) /* an object of a list */
{
    text_add(t, t->s[t->length - 1] == '[' ? "{" : ",{");
}

static void put_line(text *t, const char *s, size_t n) /* a text of a list */
{
    text line = {0};
    text_bytes(&line, s, n);
    text_add(t, t->s[t->length - 1] == '[' ? "" : ",");
    text_json(t, text_str(&line));
    text_free(&line);
}

/* One item of a list for each line that is not empty. */
static void put_lines(text *t, const char *s)
{
    for (size_t n; *s; s += n + (s[n] == '\n')) {
        n = strcspn(s, "\n");
        if (n)
            put_line(t, s, n);
    }
}

/* ---- parts of a kernel ---- */
/* Axis to extent, as {"m":512,"k":768}. */
static void put_dims(text *t, const stage *s)
{
    key(t, "dims");
    text_add(t, "{");
    for (int a = 0; a < s->n_axis; a++)
        put_whole(t, s->letter[a], (double)s->extent[a]);
    text_add(t, "}");
}

static void put_stages(text *t, const plan *p, const kernel *k)
{
    key(t, "stages");
    text_add(t, "[");
    for (int i = 0; k->n_stage > 1 && i < k->n_stage; i++) { /* of one stage all is said already */
        text loops = {0};
        open_one(t);
        put_text(t, "name", k->stage[i].name);
        if (k->stage[i].rule)
            put_text(t, "rule", k->stage[i].rule);
        if (k->stage[i].guessed)
            key(t, "guessed"), text_add(t, "true");
        put_dims(t, &k->stage[i]);
        nest_print_stage(&loops, k, i, true);
        put_taken(t, "loops", &loops);
        if (stage_fold(&k->stage[i]))
            put_whole(t, "registers", (double)fit_registers(p, &k->stage[i]));
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
    open_one(t);
    if (k->n_stage > 1)
        text_add(&name, "%s.", s->name);
    text_add(&name, "%s", operand_called(load).s);
    put_taken(t, "operand", &name);
    put_text(t, "tensor", n->label);
    type_print(&shape, &n->type);
    put_taken(t, "type", &shape);
    print_layout(&order, y, s, reads ? s->load[load]->arg : s->store, &n->type);
    put_taken(t, "layout", &order);
    text_add(t, "}");
}

static bool within(const kernel *k, const node *n) /* a value of the kernel's own, in scratch memory */
{
    for (int i = 0; i < k->n_stage; i++)
        if (k->stage[i].node == n && k->stage[i].scratch)
            return true;
    return false;
}

static void put_operands(text *t, const plan *p, const kernel *k)
{
    key(t, "operands");
    text_add(t, "[");
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        for (int j = 0; j < s->n_load; j++)
            if (!within(k, s->load[j]->from))
                put_operand(t, p, k, s, j);
        if (!s->scratch)
            put_operand(t, p, k, s, MAX_LOADS);
    }
    text_add(t, "]");
}

/* ---- levels: what a trip of each loop works on ---- */
/* depth counts from the outermost loop of the kernel, shared ones first. Loops of the register tile have no level. */
static void put_level(text *t, const plan *p, const kernel *k, const stage *s, int depth)
{
    const bool shared = depth <= k->shared.n;
    const stage *named = shared ? &k->stage[k->main] : s;
    const loop *l = fit_loop(k, named, depth);
    const bool tile = !shared && depth > k->shared.n + nest_unrolled(s);
    text name = {0};
    double share = 0;
    const int level = tile ? -1 : fit_level(p, k, shared && k->n_stage > 1 ? NULL : s, depth, &share);
    open_one(t);
    if (!shared && k->n_stage > 1)
        put_text(t, "stage", s->name);
    loop_print(&name, named, l);
    put_taken(t, "loop", &name);
    put_text(t, "axis", named->letter[l->axis]);
    put_whole(t, "trips", (double)loop_trips(l));
    put_whole(t, "step", (double)l->step);
    put_whole(t, "tail", (double)(l->range % l->step)); /* of the last trip, when it is clipped; else 0 */
    put_whole(t, "working_set", fit_bytes(p, k, shared && k->n_stage > 1 ? NULL : s, depth));
    put_text(t, "level", tile ? "registers" : p->on->level[level].name);
    if (!tile && level <= target_last(p->on))
        put_share(t, "share", share);
    text_add(t, "}");
}

static void put_levels(text *t, const plan *p, const kernel *k)
{
    key(t, "levels");
    text_add(t, "[");
    for (int d = 1; d <= k->shared.n; d++)
        put_level(t, p, k, &k->stage[k->main], d);
    for (int i = 0; i < k->n_stage; i++)
        for (int d = k->shared.n + 1; d <= fit_depth(k, &k->stage[i]); d++)
            put_level(t, p, k, &k->stage[i], d);
    text_add(t, "]");
}

static void put_traffic(text *t, const plan *p, const kernel *k)
{
    key(t, "traffic");
    text_add(t, "{");
    for (int level = 0; level <= target_last(p->on); level++)
        put_whole(t, p->on->level[level].name, fit_traffic(p, k, level));
    text_add(t, "}");
}

/* ---- notes ---- */
typedef struct notes {
    const plan *p;
    const kernel *k;
    const stage *s;
    text *t;
} notes;

/* Of a kernel of several stages a note starts with the stage's name, by which a rule can reach it. */
static void begin_note(const notes *n, text *line)
{
    if (n->k->n_stage > 1)
        text_add(line, "%s: ", n->s->name);
}

static void end_note(const notes *n, text *line)
{
    put_line(n->t, line->s, line->length);
    text_free(line);
}

/* Loops that make as many trips as a run needs */
static void note_varying(const notes *n)
{
    for (int a = 0; a < n->s->n_axis; a++) {
        const varying *v = &n->s->varies[a];
        text line = {0};
        if (!v->by)
            continue;
        begin_note(n, &line);
        text_add(&line, "%s is ", n->s->letter[a]);
        extents_print(&line, n->p, v);
        text_add(&line, ", which runs say, %lld at most", (long long)n->s->extent[a]);
        int found = 0;
        for (int shared = 1; shared >= 0; shared--) {
            const nest *t = shared ? &n->k->shared : &n->s->nest;
            for (int l = 0; l < t->n; l++)
                if (t->loop[l].axis == a && !t->loop[l].role->in_registers && (!shared || n->k->n_stage > 1))
                    text_add(&line, "%s", found++ ? ", " : ": loops "),
                        loop_print(&line, shared ? &n->k->stage[n->k->main] : n->s, &t->loop[l]);
        }
        end_note(n, &line);
    }
}

/* Right, but most likely not what was meant: steps of 64 where 12 are left. */
static void note_clipped(const notes *n)
{
    for (int l = 0; l < n->s->nest.n; l++) {
        const loop *q = &n->s->nest.loop[l];
        text line = {0};
        if (q->step <= q->range || q->step == 1)
            continue;
        begin_note(n, &line);
        text_add(&line, "loop ");
        loop_print(&line, n->s, q);
        text_add(&line, ": only %lld are left there, so it is one clipped trip", (long long)q->range);
        end_note(n, &line);
    }
}

/* What the tile walks again and again should stay near. */
static void note_working_set(const notes *n)
{
    const int l = nest_tile(n->s), depth = n->k->shared.n + l;
    const double bytes = fit_bytes(n->p, n->k, n->s, depth), cache = (double)target_bytes(n->p->on, n->p->on->near);
    text line = {0};
    if (!stage_fold(n->s) || l < 1 || bytes <= cache)
        return;
    begin_note(n, &line);
    text_add(&line, "loop ");
    loop_print(&line, n->s, &n->s->nest.loop[l - 1]);
    text_add(&line,
             ": one trip works on %.0f KiB, %.0f %% of %s (%.0f KiB): smaller steps outside it, or a step for a folded "
             "axis, would fit",
             bytes / 1024, 100 * bytes / cache, n->p->on->level[n->p->on->near].name, cache / 1024);
    end_note(n, &line);
}

/* Allowed, since a processor has memory for what does not fit; slow. */
static void note_registers(const notes *n)
{
    const int64_t used = fit_registers(n->p, n->s);
    text line = {0};
    if (used <= n->p->on->n_register)
        return;
    begin_note(n, &line);
    text_add(&line, "the register tile takes %lld vector registers, %s has %d: some go through memory; unroll less",
             (long long)used, n->p->on->model, n->p->on->n_register);
    end_note(n, &line);
}

/* Neighbours a multiple of so many bytes apart share one set of the first cache, which holds few of them. */
static void note_strides(const notes *n)
{
    const stage *s = n->s;
    const memory_level *first = n->p->on->level;
    for (int j = 0; j < s->n_load && j < 26 && stage_fold(s) && first->repeats; j++)
        for (int a = 0; a < s->n_axis; a++) {
            const int64_t stride = within(n->k, s->load[j]->from) ? 0 : fit_stride(n->p, s, j, a);
            const int64_t rows = nest_left(n->k, s, a, nest_tile(s) - 1);
            text line = {0};
            bool copied = false;
            for (int g = 0; g < s->n_staging; g++)
                copied = copied || (s->staging[g].load == j && staging_copies(&s->staging[g]));
            if (!stride || stride % first->repeats || rows <= first->ways || copied)
                continue;
            begin_note(n, &line);
            text_add(&line,
                     "operand %s: the tile walks %lld steps of %s that lie %lld bytes apart, a multiple of %lld: they "
                     "compete for the same few places in %s; +%s at an outer loop copies them together",
                     operand_called(j).s, (long long)rows, s->letter[a], (long long)stride, (long long)first->repeats,
                     first->name, operand_called(j).s);
            end_note(n, &line);
        }
}

static void put_notes(text *t, const plan *p, const kernel *k)
{
    key(t, "notes");
    text_add(t, "[");
    put_lines(t, k->notes);
    for (int i = 0; i < k->n_stage; i++) {
        const notes n = {p, k, &k->stage[i], t};
        note_varying(&n);
        note_clipped(&n);
        note_working_set(&n);
        note_registers(&n);
        note_strides(&n);
    }
    text_add(t, "]");
}

/* ---- kernels ---- */
static double waste_of(const plan *p, const kernel *k) /* of all stages, by their work */
{
    double real = 0, full = 0;
    for (int i = 0; i < k->n_stage; i++) {
        double work = 1;
        for (int a = 0; a < k->stage[i].n_axis; a++)
            work *= (double)k->stage[i].extent[a];
        real += work, full += work * (1 + fit_waste(p, k, &k->stage[i]));
    }
    return real > 0 ? full / real - 1 : 0;
}

/* "loops" is what a schema may say; "derived" has the copies and prefetches, too, that were added to it. */
static void put_walked(text *t, const plan *p, const kernel *k)
{
    const stage *s = &k->stage[k->main];
    text loops = {0}, derived = {0};
    put_text(t, "op", k->op);
    put_text(t, "label", k->label);
    put_text(t, "rule", k->rule);
    if (k->apart)
        put_text(t, "apart", k->apart);
    if (k->guessed)
        key(t, "guessed"), text_add(t, "true");
    put_text(t, "dtype", ts_dtype_name(s->node->type.dtype));
    put_dims(t, s);
    nest_print(&loops, k, false);
    nest_print(&derived, k, true);
    put_text(t, "loops", text_str(&loops));
    if (strcmp(text_str(&loops), text_str(&derived)))
        put_text(t, "derived", text_str(&derived));
    text_free(&loops), text_free(&derived);
    put_stages(t, p, k);
    put_operands(t, p, k);
    put_whole(t, "flops", k->flops);
    put_whole(t, "bytes", k->bytes);
    put_whole(t, "calls", 1);
    put_levels(t, p, k);
    put_traffic(t, p, k);
    if (stage_fold(s)) {
        key(t, "registers");
        text_add(t, "{\"used\":%lld,\"of\":%d}", (long long)fit_registers(p, s), p->on->n_register);
    }
    tile_explain(t, p, k);
    if (p->on->explain)
        p->on->explain(p, k, t);
    put_share(t, "tail_waste", waste_of(p, k));
    put_notes(t, p, k);
}

static void put_launch(text *t, const plan *p, int i) /* of several kernels */
{
    const int last = i + p->kernel[i].joins;
    const int n = launches_members(p, last);
    if (n == 1)
        return;
    key(t, "launch");
    text_add(t, "{\"last\":\"k%d\",\"kernels\":%d}", last, n);
}

static void put_trips(text *t, const kernel *k) /* of a scan */
{
    const scan_plan *s = k->scan;
    if (!s)
        return;
    key(t, "trips");
    text_add(t, "{\"count\":%lld,\"kernels\":%d,\"threads\":%d,\"ends\":%s,\"inside\":%s}", (long long)s->trips,
             s->plan->n_kernel, s->plan->threads, s->until < 0 ? "false" : "true", s->inside ? "true" : "false");
}

static void put_kernel(text *t, const plan *p, int i, const text *lines)
{
    const kernel *k = &p->kernel[i];
    text name = {0};
    open_one(t);
    text_add(&name, "k%d", i);
    put_taken(t, "name", &name);
    if (k->moves)
        sites_explain_transfer(t, p, k);
    else
        put_walked(t, sites_plan(p, k), k);
    if (lines->length)
        key(t, "declined"), text_add(t, "["), put_lines(t, text_str(lines)), text_add(t, "]");
    put_trips(t, k);
    put_launch(t, p, i);
    if (p->n_site)
        put_text(t, "place", p->site[k->site].name);
    text_add(t, "}");
}

static void put_kernels(text *t, const plan *p)
{
    text *lines = calloc((size_t)p->n_kernel + 1, sizeof *lines);
    MUST(lines);
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
    key(t, "schema");
    text_add(t, "{");
    put_text(t, "name", s->name);
    put_text(t, "source", s->source);
    put_text(t, "hash", s->hash);
    text_add(t, "}");
    arena_free(&mem);
}

/* in_place: the new value is written where the old one lies, so nothing is copied at the end of a run. */
static void put_state(text *t, const plan *p)
{
    if (!p->n_carried)
        return;
    key(t, "state");
    text_add(t, "[");
    for (int i = 0; i < p->n_carried; i++) {
        const carried *c = &p->carried[i];
        const buffer *h = &p->buffer[p->root[c->root]->id];
        open_one(t);
        put_text(t, "input", p->input[c->input]->label);
        key(t, "in_place");
        text_add(t, "%s}", h->where == IN_INPUT && h->index == c->input ? "true" : "false");
    }
    text_add(t, "]");
}

static double resident_bytes(const plan *p)
{
    return (double)resident_weights(p);
}

/* Bytes. A buffer lives from kernel `first` to kernel `last`, both included; `over`: whose place it takes. */
static void put_memory(text *t, const plan *p)
{
    key(t, "memory");
    text_add(t, "{");
    put_whole(t, "arena_bytes", (double)p->arena_bytes);
    put_whole(t, "lower_bound_bytes", (double)p->lower_bound);
    put_whole(t, "weights_bytes", sites_sum(p, sites_weights));
    put_whole(t, "resident_weights_bytes", sites_sum(p, resident_bytes));
    key(t, "buffers");
    text_add(t, "[");
    for (int id = 0; id < p->n_buffer; id++) { /* the graph may have grown since */
        const buffer *h = &p->buffer[id];
        text name = {0};
        if (h->where != IN_ARENA)
            continue;
        open_one(t);
        put_text(t, "name", *p->g->node[id]->label ? p->g->node[id]->label : p->kernel[h->first].label);
        text_add(&name, "k%d", h->first);
        put_text(t, "kernel", text_str(&name));
        put_whole(t, "bytes", (double)h->bytes);
        put_whole(t, "offset", (double)h->offset);
        put_whole(t, "first", h->first);
        put_whole(t, "last", h->last);
        if (h->over)
            name.length = 0, text_add(&name, "k%d", p->buffer[h->over->id].first), put_text(t, "over", text_str(&name));
        text_free(&name);
        text_add(t, "}");
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
    key(t, "recompute");
    text_add(t, "[");
    for (int i = 0; i < p->schema->n_rule; i++) {
        const saving s = checkpointing_saving(p, i);
        if (!p->schema->rule[i].recompute || p->schema->aside[i])
            continue;
        open_one(t);
        put_text(t, "rule", p->schema->rule[i].name);
        put_whole(t, "values", s.values);
        put_whole(t, "forgone_bytes", s.bytes);
        put_whole(t, "saved_bytes", s.peak);
        put_whole(t, "flops", s.flops);
        put_share(t, "share", flops > 0 ? s.flops / flops : 0);
        text_add(t, "}");
    }
    text_add(t, "]");
}

/* What a device states that it can do at most; processors of hosts are measured instead (bench). */
static void put_peak(text *out, const target *t)
{
    const double all = t->cost.cycles_per_second * t->workers;
    if (!t->group)
        return;
    key(out, "peak");
    text_add(out, "{\"f32_gflops\":%.6g,\"levels\":[", 2e-9 * all * t->cost.fma_per_cycle);
    for (int l = 0; l < t->n_level; l++) {
        const memory_level *m = &t->level[l];
        const int64_t times = m->shared ? 1 : t->workers; /* each has one of its own */
        text_add(out, "%s{\"name\":\"%s\",\"bytes\":%lld,\"gbs\":%.6g}", l ? "," : "", m->name,
                 (long long)(m->bytes * times), 1e-9 * all * m->bytes_per_cycle);
    }
    text_add(out, "]}");
}

static void put_machine(text *out, const target *t)
{
    text line = {0};
    if (t->print)
        t->print(t, &line), put_text(out, "machine", text_str(&line));
    text_free(&line);
}

void plan_explain(const plan *p, const char *by, const char *facts, text *out)
{
    text lines = {0};
    text_add(out, "{");
    put_text(out, "format", "plan/1");
    put_text(out, "target", by);
    put_text(out, "isa", p->on->model);
    put_whole(out, "threads", p->threads);
    put_machine(out, p->on);
    put_peak(out, p->on);
    put_schema(out, p, by);
    key(out, "kernels");
    text_add(out, "[");
    put_kernels(out, p);
    text_add(out, "]");
    if (p->on->side_by_side && !p->n_site)
        put_whole(out, "launches", launches_count(p));
    sites_explain(out, p);
    put_memory(out, p);
    put_recompute(out, p);
    key(out, "notes");
    text_add(out, "[");
    if (p->threads > p->on->places)
        text_add(&lines, "%d threads take turns on %d core%s: one per core is quicker\n", p->threads, p->on->places,
                 p->on->places == 1 ? "" : "s");
    sites_notes(p, &lines);
    if (p->schema)
        schema_refused(p, &lines), schema_unused(p->schema, p, p->rule_used, &lines), checkpointing_unused(p, &lines);
    put_lines(out, text_str(&lines));
    text_add(out, "],\"build\":{%s}}\n", facts);
    text_free(&lines);
}
