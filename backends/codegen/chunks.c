/* chunks.c - how parts share a kernel's work. All trips of the loop spread over cores and of those around it, counted
 * together, are its chunks. Each part has its share, in one piece, and takes the next of its own in ever smaller steps;
 * who has none left takes from others (guided self-scheduling, Polychronopoulos and Kuck 1987): a core that lost time
 * is not waited for. Who computes a chunk changes no bit of it. Where something goes from trip to trip of a loop around
 * (sums, copies), or those trips are not alike, parts keep to their own. */
#include "backends/codegen/trips.h"

#include <stdio.h>

static const varying *varies(const emitter *m, int axis)
{
    return &m->k->stage[m->k->n_stage > 1 ? m->k->main : 0].varies[axis];
}

bool chunks_first(const emitter *m, int l)
{
    const nest *t = nest_outer(m->k);
    for (int i = 0; i < l; i++)
        if (t->loop[i].axis == t->loop[l].axis)
            return false;
    return true;
}

static bool counted(const emitter *m, int l) /* its trips are known when the program runs */
{
    return varies(m, nest_outer(m->k)->loop[l].axis)->by && chunks_first(m, l);
}

static void name_counts(emitter *m, const nest *t)
{
    for (int l = 0; l <= m->chunks.core; l++)
        if (counted(m, l))
            code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), arena_format(m->mem, "trips%d", l),
                     varying_trips(m, varies(m, t->loop[l].axis), affine_const(&m->sp, 0), t->loop[l].step));
}

static const cexpr *trips_at(const emitter *m, int l)
{
    return cexpr_word(m->mem, arena_format(m->mem, "trips%d", l));
}

/* Of the trips of loops from ... to, n if they are constants; NULL: that is what they are */
static const cexpr *product(const emitter *m, int from, int to, int64_t n)
{
    const nest *t = nest_outer(m->k);
    const cexpr *all = NULL;
    for (int l = from; l <= to; l++)
        if (counted(m, l))
            n /= loop_trips(&t->loop[l]),
                all = all ? cexpr_whole(m->mem, W_TIMES, all, trips_at(m, l)) : trips_at(m, l);
    return all ? cexpr_times(m->mem, all, n) : NULL;
}

void chunks_open(emitter *m, const strip *c)
{
    const nest *t = nest_outer(m->k);
    m->chunks.core = c->loop, m->chunks.parts = c->end;
    name_counts(m, t);
    if (c->loop) /* a loop on its own counts itself */
        snprintf(m->chunks.name, sizeof m->chunks.name, "chunk");
    else
        loop_name(m, t, 0, m->chunks.name);
    for (int i = 0; m->d->chunks[i]; i++)
        callees_form(m->out.uses, m->d, m->d->chunks[i], "");
    code_open(&m->out.code, (stmt){.kind = S_CHUNKS,
                                   .depth = !c->loop,
                                   .name = m->chunks.name,
                                   .trips = c->end,
                                   .to = product(m, 0, c->loop, c->end)});
}

const cexpr *chunks_trip(const emitter *m, int l)
{
    const nest *t = nest_outer(m->k);
    int64_t inner = 1;
    for (int i = l + 1; i <= m->chunks.core; i++)
        inner *= loop_trips(&t->loop[i]);
    const cexpr *within = product(m, l + 1, m->chunks.core, inner), *trip = cexpr_word(m->mem, m->chunks.name);
    trip = within ? cexpr_whole(m->mem, W_QUOTIENT, trip, within) : cexpr_floor(m->mem, trip, inner, false);
    if (!l)
        return trip;
    return cexpr_whole(m->mem, W_REST, trip, counted(m, l) ? trips_at(m, l) : emit_whole(m, loop_trips(&t->loop[l])));
}

/* The last loop whose trips are in chunks, -1: there are none; how many chunks */
static int last_of(const emitter *m, int64_t *n)
{
    const nest *t = nest_outer(m->k);
    int core = nest_chunks(m->k) - 1;
    for (int l = 0; l < core; l++)
        if (m->k->n_stage == 1 && t->loop[l].role->serial && m->stage.peeled >> t->loop[l].axis & 1)
            core = -1;
    *n = 1;
    for (int l = 0; l <= core; l++)
        *n *= loop_trips(&t->loop[l]);
    return *n ? core : -1;
}

strip *chunks_pass(emitter *m, strip *t)
{
    int64_t n;
    if (m->tile.made || (t->kind != T_LOOP && t->kind != T_CARRIED) || t->shared != (m->k->n_stage > 1))
        return t;
    const bool wrapped = t->shared && trips_loop(m, t)->axis == kernel_carried(m->k); /* as T_CARRIED */
    const int core = last_of(m, &n);
    if (t->kind == T_LOOP)
        t->made = t->loop <= core ? AS_CHUNKS : t->loop == nest_parallel(m->k) ? BY_PARTS : BY_EACH;
    if (t->loop || core < 0 || wrapped != (t->kind == T_CARRIED))
        return t;
    strip *all = trips_wrap(m, T_CHUNKS, t);
    all->loop = core, all->end = n;
    return all;
}

static const cexpr *share(emitter *m, const cexpr *n, const cexpr *part, const char *parts)
{
    return cexpr_form(m->mem, "($0 * $1 / $2)", 3, (const cexpr *const[]){n, part, cexpr_spelled(m->mem, parts)});
}

static const cexpr *part_of(emitter *m, const char *part, int64_t further)
{
    return cexpr_plus(m->mem, cexpr_spelled(m->mem, part), further);
}

const cexpr *share_from(emitter *m, int64_t n, const cexpr *count)
{
    return share(m, count ? count : emit_long(m, n), part_of(m, m->d->part, 0), m->d->parts);
}

const cexpr *share_to(emitter *m, int64_t n, const cexpr *count)
{
    return share(m, count ? count : emit_long(m, n), part_of(m, m->d->part, 1), m->d->parts);
}

void emit_range(emitter *m, int64_t n) /* where a part is a group of lanes, each of its lanes is one here */
{
    const char *part = m->d->lane ? m->d->lane_of_all : m->d->part,
               *parts = m->d->lane ? m->d->lanes_in_all : m->d->parts;
    m->chunks.parts = n < 1 ? 1 : (n + m->group - 1) / m->group;
    if (!m->d->lane) /* elements are no chunks: a part for each worker */
        m->chunks.parts = int_min(m->chunks.parts, m->p->threads);
    if (n < 0) {
        code_open(&m->out.code,
                  (stmt){.kind = S_IF, .value = cexpr_spelled(m->mem, part), .tight = true, .divergent = true});
        code_add(&m->out.code, (stmt){.kind = S_RETURN});
        code_close(&m->out.code);
        return;
    }
    code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), "low",
             share(m, emit_long(m, n), part_of(m, part, 0), parts));
    code_also(&m->out.code, "high", share(m, emit_long(m, n), part_of(m, part, 1), parts));
}
