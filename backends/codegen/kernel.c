/* kernel.c - the loops around the tiles, and the function that holds them: trips as passes leave them (trips.c), each
 * with its own constants, as statements. */
#include "backends/codegen/trips.h"

#include <stdio.h>
#include <string.h>

static int operand_of(emitter *m, const node *n, const layout *y, int entry, bool written)
{
    for (int i = 0; i < m->data.n_operand; i++)
        if (m->data.operand[i].node == n && m->data.operand[i].written == written &&
            layout_same(m->data.operand[i].layout, y))
            return i;
    MUST(m->data.n_operand < MAX_OPERAND);
    operand *o = &m->data.operand[m->data.n_operand];
    *o = (operand){n, y, entry, written, ""};
    snprintf(o->name, sizeof o->name, "%c%d", written ? 'y' : 'x', m->data.n_operand);
    return m->data.n_operand++;
}

static bool copied(const stage *s, int load)
{
    for (int i = 0; i < s->n_staging; i++)
        if (s->staging[i].load == load && staging_copies(&s->staging[i]))
            return true;
    return false;
}

static void find_sources(emitter *m)
{
    const kernel *k = m->k;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        for (int j = 0; j < s->n_load; j++) {
            source *q = &m->data.source[i][j];
            const node *n = s->load[j]->from;
            *q = (source){.from = FROM_MEMORY};
            for (int o = 0; o < i; o++)
                if (k->stage[o].node == n && k->stage[o].scratch)
                    q->from = FROM_STAGE, q->stage = o;
            if (s->over == n && !copied(s, j)) /* read through the result's pointer: nothing else points there */
                q->from = FROM_RESULT;
            if (q->from != FROM_MEMORY)
                continue;
            const int entry = s->leaf ? s->leaf[j] : -1;
            q->operand = operand_of(m, n, entry >= 0 ? &m->p->leaf[entry].layout : &m->p->buffer[n->id].layout, entry,
                                    false);
        }
    }
    for (int i = 0; i < k->n_stage; i++)
        if (!k->stage[i].scratch)
            operand_of(m, k->stage[i].node, &m->p->buffer[k->stage[i].node->id].layout, -1, true);
}

/* ---- loops outside the tile ---- */
/* Axis and depth: of several stages, their own loops count on from those that they share. */
void loop_name(const emitter *m, const nest *t, int l, char name[24])
{
    const bool shared = t == &m->k->shared;
    snprintf(name, 24, "%s_%d", (shared ? &m->k->stage[m->k->main] : m->s)->letter[t->loop[l].axis],
             shared || m->k->n_stage == 1 ? l : m->k->shared.n + l);
}

int loop_depth(const emitter *m, const nest *t, int l)
{
    return (t == &m->k->shared ? 0 : m->k->shared.n) + l + 1;
}

/* Behind the last of trips up to `all` that counts: those that a mask leaves, and that there are in this run */
static const cexpr *end_of(emitter *m, int l, const strip *c, int64_t all)
{
    const cexpr *end = c->masked ? mask_end(m, l, all) : emit_whole(m, all);
    return c->count ? cexpr_least(m->mem, end, c->count) : end;
}

static void enter_plain(emitter *m, const char *name, const nest *t, int l, const strip *c)
{
    const loop *q = &t->loop[l];
    const bool there = !c->first && c->end == 1; /* an axis has one element at least */
    code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                   .role = q->role->name,
                                   .stage = m->stage.at,
                                   .depth = loop_depth(m, t, l),
                                   .name = name,
                                   .from = emit_whole(m, c->first),
                                   .to = there ? emit_whole(m, 1) : end_of(m, l, c, c->end),
                                   .trips = c->end - c->first});
}

static void name_trip(emitter *m, const char *name, int depth, const strip *c)
{
    code_add(&m->out.code, (stmt){.kind = S_CONSTANT,
                                  .name = name,
                                  .value = cexpr_number(m->mem, c->first),
                                  .stage = m->stage.at,
                                  .depth = depth});
}

/* Trips that are chunks, all or some: the loop itself is around all. Whether that opened a block. */
static bool enter_chunk(emitter *m, int l, const char *name, const strip *c)
{
    const int64_t own = c->end - c->first, most = loop_trips(&nest_outer(m->k)->loop[l]);
    const bool some = own < most; /* fewer under a clipped trip of a loop around */
    const cexpr *trip = chunks_trip(m, l), *test = NULL;
    const bool fewer = c->count && !chunks_first(m, l); /* a loop around walks the same axis */
    if (some && c->rest)
        test = cexpr_whole(m->mem, W_SAME, trip, emit_whole(m, c->first));
    if ((some && !c->rest) || fewer) {
        const cexpr *end = some && !c->rest ? emit_whole(m, own) : NULL;
        end = !fewer ? end : end ? cexpr_least(m->mem, end, c->count) : c->count;
        test = cexpr_both(m->mem, test, cexpr_whole(m->mem, W_LESS, trip, end));
    }
    const bool named = trip->kind == C_WORD && !strcmp(trip->text, name);
    if (test)
        code_open(&m->out.code, (stmt){.kind = S_IF,
                                       .value = test,
                                       .share = (double)own / (double)most,
                                       .stage = m->stage.at,
                                       .depth = named ? l + 1 : 0,
                                       .from = emit_whole(m, c->first),
                                       .to = emit_whole(m, c->end)});
    if (!named && own == 1)
        name_trip(m, name, l + 1, c);
    else if (!named) {
        stmt *s = code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), name, trip);
        s->stage = m->stage.at, s->depth = l + 1, s->to = emit_whole(m, own);
    }
    return test;
}

static void enter_core(emitter *m, const char *name, int depth, const strip *c)
{
    const int64_t own = c->end - c->first;
    const cexpr *n = c->count ? cexpr_least(m->mem, emit_whole(m, c->all), c->count) : NULL,
                *to = share_to(m, c->all, n);
    if (c->rest) {
        const cexpr *last = cexpr_whole(m->mem, W_SAME, cexpr_spelled(m->mem, m->d->part),
                                        cexpr_plus(m->mem, cexpr_spelled(m->mem, m->d->parts), -1));
        code_open(&m->out.code,
                  (stmt){.kind = S_IF,
                         .divergent = !m->d->lane, /* all lanes of a group are of one part */
                         .value = c->count ? cexpr_both(m->mem, last,
                                                        cexpr_whole(m->mem, W_LESS, emit_whole(m, c->first), c->count))
                                           : last});
        return;
    }
    if (c->all > own)
        to = cexpr_least(m->mem, emit_long(m, own), to);
    code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                   .stage = m->stage.at,
                                   .depth = depth,
                                   .name = name,
                                   .from = share_from(m, c->all, n),
                                   .to = to,
                                   .trips = own});
}

/* Opens loop l over some of its trips. Whether there is a block to leave. */
static bool enter(emitter *m, const nest *t, int l, const strip *c)
{
    const loop *q = &t->loop[l];
    const bool core = q->role->parallel && c->made;
    bool opened = true;
    char n[24];
    loop_name(m, t, l, n);
    if (c->made == AS_CHUNKS)
        opened = enter_chunk(m, l, n, c);
    else {
        if (core)
            enter_core(m, n, loop_depth(m, t, l), c);
        else
            enter_plain(m, n, t, l, c);
        if (core && c->rest)
            name_trip(m, n, loop_depth(m, t, l), c);
    }
    const int v = var_add(&m->sp, n, c->first, c->end - 1);
    const affine *at = core && c->end - c->first == 1 && !c->rest ? affine_const(&m->sp, 0) : affine_var(&m->sp, v);
    trips_go(m, q->axis, at, q->step);
    m->here.cur[q->axis] = c->left;
    return opened;
}

/* Of a fold outside the tile: whether this is the first and the last of all trips. */
static void enter_fold(emitter *m, int l, const char *name, const strip *c)
{
    const char *of = arena_format(m->mem, "const %s", m->d->truth);
    const char *first = arena_format(m->mem, "first_%d", l), *last = arena_format(m->mem, "last_%d", l);
    code_let(&m->out.code, of, first,
             cexpr_both(m->mem, cexpr_word(m->mem, "first"),
                        cexpr_whole(m->mem, W_SAME, cexpr_word(m->mem, name), emit_whole(m, 0))));
    code_also(&m->out.code, last,
              cexpr_both(m->mem, cexpr_word(m->mem, "last"),
                         cexpr_whole(m->mem, W_SAME, cexpr_word(m->mem, name),
                                     cexpr_plus(m->mem, end_of(m, l, c, c->all), -1))));
    code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    code_let(&m->out.code, of, "first", cexpr_word(m->mem, first));
    code_also(&m->out.code, "last", cexpr_word(m->mem, last));
}

static const cexpr *count_of(emitter *m, const varying *v, const loop *q) /* trips of the loop that are there */
{
    return v->by ? varying_trips(m, v, m->here.axis[q->axis], q->step) : NULL;
}

static void write_trips(emitter *m, strip *t);

/* Of a stage's own loop; its trips that there are in this run are counted where the loop begins. */
static void write_own(emitter *m, strip *t)
{
    const int l = t->loop;
    const loop *q = trips_loop(m, t);
    const bool folds = trips_folds(m, t) && !q->role->parallel; /* whose trips have sums of their own */
    char name[24];
    const source *sources = sources_save(m);
    trips_place was;
    loop_name(m, &m->s->nest, l, name);
    trips_save(m, &was);
    t->count = count_of(m, &m->s->varies[q->axis], q);
    const bool opened = enter(m, &m->s->nest, l, t);
    if (folds)
        enter_fold(m, l, name, t);
    prefetch_enter(m, false, l); /* first: where a copied operand lies in memory is still said */
    copy_enter(m, m->stage.at, false, l);
    write_trips(m, t->in);
    prefetch_leave(m, false, l);
    if (folds)
        code_close(&m->out.code);
    if (opened)
        code_close(&m->out.code);
    sources_back(m, sources);
    trips_leave(m, &was);
}

static int written_by(const emitter *m, const stage *s)
{
    int o = m->data.n_operand - 1;
    while (o > 0 && !(m->data.operand[o].written && m->data.operand[o].node == s->node))
        o--;
    return o;
}

void stage_enter(emitter *m, int i)
{
    const stage *s = &m->k->stage[i];
    m->stage.at = i, m->s = s, m->stage.value = without_round_trips(m, copy_value(m, s)),
    m->stage.fold = stage_fold(&(stage){.value = m->stage.value});
    m->stage.outer_fold = false, m->stage.carries = stage_carries(s), m->stage.lane = -1;
    bounds_find(m);
    partial_find(m);
    for (int a = 0; a < s->n_axis; a++) {
        m->here.axis[a] = m->stage.base[a] = a < s->n_shared && m->k->n_stage > 1 ? m->shared.axis[a]
                                                                                  : affine_const(&m->sp, 0);
        m->here.cur[a] = a < s->n_shared && m->k->n_stage > 1 ? m->shared.cur[a] : s->extent[a];
    }
    for (int l = 0; l < s->nest.n; l++) {
        const bool folded = s->folds >> s->nest.loop[l].axis & 1;
        if (folded && l < nest_tile(s) && !s->nest.loop[l].role->parallel)
            m->stage.outer_fold = true;
        if (folded && s->nest.loop[l].role->lanes)
            m->stage.lane = l;
    }
    m->stage.result = written_by(m, s);
}

static void write_stage(emitter *m, strip *t)
{
    stage_enter(m, t->loop);
    const stage *s = m->s;
    if (!matrix_check(m))
        return;
    if (!stage_nested(s)) {
        (s->value->kind == X_ROUTINE ? emit_routine : s->value->kind == X_SCAN ? emit_scan : emit_scatter)(m);
        return;
    }
    if (m->k->n_stage > 1)
        code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    if (m->stage.outer_fold) {
        code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->truth), "first", emit_whole(m, 1));
        code_also(&m->out.code, "last", emit_whole(m, 1));
    }
    if (m->stage.carries)
        carry_open(m);
    write_trips(m, t->in);
    if (m->k->n_stage > 1) {
        code_close(&m->out.code);
        emit_meet(m); /* later stages read what this one wrote, and its next trip writes there again */
    }
}

void emit_meet(emitter *m)
{
    if (m->d->barrier)
        code_add(&m->out.code, (stmt){.kind = S_BARRIER});
}

static void staged_at(emitter *m, int l) /* operands of any stage staged at a shared loop */
{
    for (int i = 0; i < m->k->n_stage; i++) {
        m->stage.at = i, m->s = &m->k->stage[i], m->stage.result = written_by(m, m->s);
        for (int a = 0; a < m->s->n_axis; a++) {
            m->here.axis[a] = a < m->s->n_shared ? m->shared.axis[a] : affine_const(&m->sp, 0);
            m->here.cur[a] = a < m->s->n_shared ? m->shared.cur[a] : m->s->extent[a];
        }
        prefetch_enter(m, true, l);
        copy_enter(m, i, true, l);
    }
}

static void write_shared(emitter *m, strip *t)
{
    const loop *q = trips_loop(m, t);
    trips_place was;
    trips_save(m, &was);
    m->here = m->shared;
    t->count = count_of(m, &m->k->stage[m->k->main].varies[q->axis], q);
    const bool opened = enter(m, &m->k->shared, t->loop, t);
    m->shared.axis[q->axis] = m->here.axis[q->axis], m->shared.cur[q->axis] = m->here.cur[q->axis];
    staged_at(m, t->loop);
    write_trips(m, t->in);
    prefetch_leave(m, true, t->loop), copy_leave(m, t->loop);
    if (opened)
        code_close(&m->out.code);
    trips_leave(m, &was);
}

static void write_carried(emitter *m, strip *t)
{
    const bool masked = mask_carried(m);
    carry_start(m);
    write_trips(m, t->in);
    if (masked)
        code_close(&m->out.code);
}

static void write_if(emitter *m, strip *t)
{
    code_if(&m->out.code, t->loop < 0 ? varying_full(m) : varying_more(m, t->loop, t->left));
    write_trips(m, t->in);
    code_close(&m->out.code);
}

static void write_else(emitter *m, strip *t)
{
    trips_place was;
    code_else(&m->out.code, m->out.code.at->last);
    trips_enter(m, t, &was);
    write_trips(m, t->in);
    trips_leave(m, &was);
    code_close(&m->out.code);
}

static void write_trips(emitter *m, strip *t)
{
    if (t && t->kind == T_STAGE && m->k->n_stage > 1)
        mask_open(m);
    for (; t && !err_is(m->e); t = t->next)
        switch (t->kind) {
        case T_STAGE: write_stage(m, t), mask_check(m); break;
        case T_CHUNKS: chunks_open(m, t), write_trips(m, t->in), code_close(&m->out.code); break;
        case T_CARRIED: write_carried(m, t); break;
        case T_TILE: emit_tile(m, t); break;
        case T_IF: write_if(m, t); break;
        case T_ELSE: write_else(m, t); break;
        default: (t->shared ? write_shared : write_own)(m, t); break;
        }
}

void kernel_statements(emitter *m)
{
    const kernel *k = m->k;
    MUST(k->n_stage <= MAX_STAGES);
    varying_begin(m);
    find_sources(m);
    lanes_fit(m);
    held_give(m);
    for (int a = 0; a < MAX_AXIS; a++) {
        m->shared.axis[a] = affine_const(&m->sp, 0);
        m->shared.cur[a] = a < k->n_shared ? k->stage[k->main].extent[a] : 1;
    }
    m->out.code = code_begin(m->mem);
    m->chunks.parts = nest_parallel(k) < 0 ? 1 : loop_trips(&nest_outer(k)->loop[nest_parallel(k)]);
    held_clear(m);
    write_trips(m, trips_through(m, trips_of_kernel(m), 0, N_TRIPS_PASS));
    lanes_head(m);
}
