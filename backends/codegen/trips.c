/* trips.c - from nests to trees of trips: the loops as the nest has them, the passes in their order, and where the
 * emitter stands at each node. */
#include "backends/codegen/trips.h"

#include <string.h>

const trips_pass trips_passes[N_TRIPS_PASS] = {
    {"chunks", "counts together the trips of the loop over cores and of those around it, as chunks that parts share",
     "a nest", "loops whose trips are chunks, each part's own, or all made by each", true, chunks_pass},
    {"matrix", "takes the loops of a matrix unit as what the lanes of a warp have of it", "a nest",
     "no loop is a unit's", false, matrix_pass},
    {"vectors", "vectorizes the loop over lanes, where the language has vectors", "a nest",
     "no loop is over elements of a vector", false, vectors_pass},
    {"lanes", "leaves loops whose trips are lanes to these, where all of them do alike", "a nest",
     "loops that lanes walk apart", false, lanes_pass},
    {"phases", "takes folded loops out of what is done before and behind the sums", "matrix, vectors, lanes",
     "loops that the phase walks", false, phases_pass},
    {"rings", "stages slices of several trips in a ring, where a loop copies ahead", "a nest",
     "a ring is around its loop", false, rings_pass},
    {"accesses", "moves at once, around a loop over neighbours, what it reads and writes", "phases",
     "it is around its loop", false, accesses_pass},
    {"cut", "writes full trips apart from a rest", "phases, rings, accesses",
     "all trips of a loop have as many elements", true, cut_pass},
    {"borders", "writes first and last trips around a tile apart where padding depends on them", "cut",
     "tiles at a border know where they are", true, borders_pass},
    {"halves", "takes half a tile of sums, or a quarter, where a run leaves no more of a varying axis", "cut",
     "tiles that are half empty at most", true, halves_pass},
    {"sums", "writes tiles apart whose sums the run may end", "halves", "tiles that sum up all, or ask what there is",
     true, sums_pass},
    {"guards", "splits guards, comparisons that say what is padding, into bounds of loops", "cut",
     "no trip is made for padding that bounds can leave out", false, guards_pass},
    {"partial", "writes trips apart whose number decides what is computed", "cut", "their number is known", false,
     partial_pass},
    {"masks", "ends loops where a mask leaves nothing", "guards", "no trip is made for what a mask leaves out", true,
     masks_pass},
    {"counted", "ends loops where the call of a tile says", "masks",
     "one tile serves calls with more trips and with fewer", false, counted_pass},
    {"ends", "ends loops where the run does, and writes the trip that may end within apart", "counted",
     "sums of what there is", false, ends_pass},
    {"turns", "takes what has its neighbours along another loop than vectors have as vectors along that loop", "ends",
     "elements change places in registers, and none is moved by itself", false, turns_pass},
    {"tails",
     "writes the vector apart that has fewer elements, and ends loops over vectors where a mask or the run does",
     "ends", "vectors that have as many elements in all trips", false, tails_pass},
    {"dots", "takes products by an instruction that adds several, or else writes their loop out", "tails",
     "what is left within vectors is one value", false, dots_pass},
    {"unroll", "says of loops which trips are written out, and how many at a time", "tails, dots",
     "what is summed up has names of registers", false, unroll_pass},
};

/* ---- nodes ---- */
strip *trips_node(emitter *m, strip own)
{
    strip *t = arena_get(m->mem, sizeof *t);
    *t = own;
    return t;
}

strip *trips_copy(emitter *m, const strip *t)
{
    strip *own = trips_node(m, *t), **end = &own->in;
    for (const strip *i = t->in; i; i = i->next, end = &(*end)->next)
        *end = trips_copy(m, i);
    own->next = NULL;
    return own;
}

strip *trips_wrap(emitter *m, trips_kind kind, strip *t)
{
    return trips_node(m, (strip){.kind = kind, .ph = t->ph, .loop = t->loop, .shared = t->shared, .in = t});
}

strip *trips_apart(emitter *m, strip *t, int64_t at)
{
    strip *more = trips_copy(m, t);
    more->first = t->end = at, more->next = t->next;
    return t->next = more;
}

strip *trips_two_ways(emitter *m, strip *more, strip *rest, int axis, int64_t left)
{
    more = trips_wrap(m, T_IF, more), rest = trips_wrap(m, T_ELSE, rest);
    more->loop = rest->loop = axis, more->left = rest->left = left, more->next = rest;
    return more;
}

bool trips_folds(const emitter *m, const strip *t)
{
    return m->s->folds >> trips_loop(m, t)->axis & 1;
}

bool trips_even(const emitter *m, int l)
{
    bool even = !(m->tile.apart >> l & 1) && !mask_bounds(m, l);
    for (int i = 0; i < m->bounds.n; i++)
        even = even && !(m->bounds.split[i].done && m->bounds.split[i].last == l);
    return even;
}

const loop *trips_loop(const emitter *m, const strip *t)
{
    return &(t->shared ? &m->k->shared : &m->s->nest)->loop[t->loop];
}

/* ---- where the emitter stands ---- */
void trips_save(const emitter *m, trips_place *was)
{
    was->here = m->here, was->shared = m->shared;
    memcpy(was->inner, m->tile.inner, sizeof was->inner), memcpy(was->plain, m->tile.plain, sizeof was->plain);
    was->scratch = m->data.scratch, was->n_var = m->sp.n, was->count = m->tile.vectors.count;
}

void trips_go(emitter *m, int axis, const affine *at, int64_t by)
{
    const affine **of = m->tile.made ? m->tile.inner : m->here.axis;
    of[axis] = affine_add(&m->sp, of[axis], at, by);
    if (m->tile.made)
        m->tile.plain[axis] = affine_add(&m->sp, m->tile.plain[axis], at, by);
}

void trips_enter(emitter *m, const strip *t, trips_place *was)
{
    trips_save(m, was);
    if (t->kind == T_STAGE)
        stage_enter(m, t->loop);
    if (t->kind == T_ELSE && t->left)
        m->here.cur[t->loop] = t->left;
    if (t->kind == T_LANES && !lanes_to_one(m, t))
        m->here.cur[trips_loop(m, t)->axis] = int_min(m->here.cur[trips_loop(m, t)->axis], trips_loop(m, t)->step);
    if ((t->kind != T_LOOP && t->kind != T_VECTORS) || !t->left)
        return;
    const loop *q = trips_loop(m, t);
    if (t->kind == T_VECTORS)
        m->tile.vectors.count = (int)t->left;
    else
        (t->shared ? m->shared.cur : m->here.cur)[q->axis] = t->left;
    if (!m->tile.made)
        return;
    const char *name = tile_loop(m, t->loop);
    const affine *at = affine_var(&m->sp, var_add(&m->sp, name, t->first, t->end - 1));
    trips_go(m, q->axis, at, t->kind == T_VECTORS ? m->tile.vectors.n : q->step);
}

void trips_leave(emitter *m, const trips_place *was)
{
    m->here = was->here, m->shared = was->shared;
    memcpy(m->tile.inner, was->inner, sizeof was->inner), memcpy(m->tile.plain, was->plain, sizeof was->plain);
    m->data.scratch = was->scratch, m->sp.n = was->n_var, m->tile.vectors.count = was->count;
}

const source *sources_save(const emitter *m)
{
    source *own = arena_array(m->mem, (size_t)m->s->n_load + 1, sizeof *own);
    return memcpy(own, m->data.source[m->stage.at], (size_t)m->s->n_load * sizeof *own);
}

void sources_back(emitter *m, const source *was)
{
    memcpy(m->data.source[m->stage.at], was, (size_t)m->s->n_load * sizeof *was);
}

/* ---- passes ---- */
static strip *run(emitter *m, const trips_pass *p, strip *t);

static void run_inside(emitter *m, const trips_pass *p, strip *t, strip *was) /* was: it is done, and may be in t */
{
    trips_place place;
    trips_enter(m, t, &place);
    if (was && t->in == was)
        run_inside(m, p, was, NULL);
    else
        t->in = run(m, p, t->in);
    trips_leave(m, &place);
}

static strip *run(emitter *m, const trips_pass *p, strip *t)
{
    strip *first = NULL, **end = &first;
    for (strip *next; t; t = next) {
        next = t->next, t->next = NULL;
        for (*end = p->run(m, t); *end; end = &(*end)->next)
            run_inside(m, p, *end, t);
    }
    return first;
}

strip *trips_through(emitter *m, strip *t, int from, int to)
{
    for (int i = from; i < to; i++)
        t = m->tile.made || trips_passes[i].around ? run(m, &trips_passes[i], t) : t;
    return t;
}

/* ---- as the nest has them ---- */
static strip *loops_of(emitter *m, strip own, int from, int to, strip *inner) /* around what is in them */
{
    for (int l = to; l-- > from; inner = trips_node(m, own))
        own.loop = l, own.in = inner;
    return inner;
}

static strip *stages_of(emitter *m)
{
    strip *first = NULL;
    for (int i = m->k->n_stage; i-- > 0;) {
        const stage *s = &m->k->stage[i];
        strip *tile = trips_node(m, (strip){.kind = T_TILE});
        first = trips_node(m, (strip){.kind = T_STAGE,
                                      .loop = i,
                                      .next = first,
                                      .in = stage_nested(s) ? loops_of(m, (strip){0}, 0, nest_tile(s), tile) : NULL});
    }
    return first;
}

strip *trips_of_kernel(emitter *m)
{
    const nest *shared = &m->k->shared;
    strip *t = stages_of(m);
    for (int l = m->k->n_stage > 1 ? shared->n : 0; l-- > 0;) {
        t = trips_node(m, (strip){.shared = true, .loop = l, .in = t});
        if (shared->loop[l].axis == kernel_carried(m->k))
            t = trips_wrap(m, T_CARRIED, t);
    }
    return t;
}

strip *trips_of_phase(emitter *m, tile_phase ph)
{
    const int tile = nest_tile(m->s), unrolled = nest_unrolled(m->s);
    strip *t = loops_of(m, (strip){.ph = ph}, unrolled, m->s->nest.n,
                        trips_node(m, (strip){.kind = T_PHASE, .ph = ph}));
    if (ph == BODY || ph >= CARRY)
        t = trips_wrap(m, T_APART, t);
    if (ph == BODY) {
        strip *fetch = trips_node(m, (strip){.kind = T_FETCH, .next = t});
        t = loops_of(m, (strip){.ph = ph}, tile, unrolled, fetch);
    }
    return t;
}
