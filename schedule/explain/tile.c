/* tile.c - counted from the nest alone: how often each operand is read in a tile, how many sums wait for each
 * other. */
#include "schedule/explain/explain.h"
#include "schedule/nest/nest.h"

static bool is_lanes(const loop *l)
{
    return l->role->lanes;
}

/* Copies of the innermost loop's body that a loop of the tile makes: trips, or vectors. */
static int64_t copies_of(const plan *p, const stage *s, const loop *l)
{
    return is_lanes(l) ? nest_vectors(p, s, l) : loop_trips(l);
}

static int64_t copies(const plan *p, const stage *s, uint32_t axes)
{
    int64_t n = 1;
    for (int l = nest_unrolled(s); l < s->nest.n; l++)
        if (axes >> s->nest.loop[l].axis & 1)
            n *= copies_of(p, s, &s->nest.loop[l]);
    return n;
}

/* Axes along which the tile folds, and how many steps of the innermost loops that takes. */
static uint32_t folded_in_tile(const stage *s, int64_t *steps)
{
    uint32_t axes = 0;
    *steps = 1;
    for (int l = nest_tile(s); l < s->nest.n; l++) {
        if (!(s->folds >> s->nest.loop[l].axis & 1))
            continue;
        axes |= 1u << s->nest.loop[l].axis;
        *steps *= l < nest_unrolled(s) ? loop_trips(&s->nest.loop[l]) : 1;
    }
    return axes;
}

static bool sums_wait(const stage *s) /* partial sums are fetched and put back for every trip around the tile */
{
    for (int l = 0; l < nest_tile(s); l++)
        if (s->folds >> s->nest.loop[l].axis & 1 && loop_trips(&s->nest.loop[l]) > 1)
            return true;
    return false;
}

/* What moves along no fold of the tile is loaded before it. */
static double loads_each(const plan *p, const stage *s, const tile_facts *f)
{
    int64_t steps, all = 0;
    const uint32_t folds = folded_in_tile(s, &steps);
    for (int i = 0; i < s->n_folded; i++) {
        const uint32_t axes = x_axes_of(s->load[i]);
        if (!folds || axes & folds)
            all += copies(p, s, axes);
    }
    const double waiting = sums_wait(s) ? 2.0 * (double)f->sums / (double)steps : 0;
    return ((double)all + waiting) / (double)f->multiply_adds;
}

static int64_t cores_of(const plan *p, const kernel *k)
{
    const nest *outer = nest_outer(k);
    const int core = nest_parallel(k), chunks = nest_chunks(k);
    int64_t trips = core < 0 || chunks ? 1 : loop_trips(&outer->loop[core]);
    for (int l = 0; l < chunks; l++)
        trips *= loop_trips(&outer->loop[l]);
    return trips < p->threads ? trips : p->threads;
}

tile_facts tile_facts_of(const plan *p, const kernel *k, const stage *s)
{
    const expr *fold = stage_fold(s);
    tile_facts f = {.lanes_of = nest_lanes(p, s), .cores = cores_of(p, k)};
    const loop *last = s->nest.n ? &s->nest.loop[nest_last(s)] : NULL;
    if (last && is_lanes(last))
        f.lanes = f.lanes_of;
    else if (last && s->folds >> last->axis & 1)
        f.lanes = 1; /* sums keep their order: no compiler makes vectors of them */
    if (!fold || !stage_nested(s))
        return f;
    f.sums = nest_sums(p, s);
    f.sums_of = (int64_t)(p->on->cost.fma_latency * p->on->cost.fma_per_cycle);
    f.multiply_adds = copies(p, s, ~0u);
    f.loads = loads_each(p, s, &f);
    return f;
}

void tile_explain(text *t, const plan *p, const kernel *k)
{
    const tile_facts f = tile_facts_of(p, k, &k->stage[k->main]);
    json_add(t, "tile:{cores:%lld", (long long)f.cores);
    if (f.lanes)
        json_add(t, "lanes:%lld,lanes_of:%lld", (long long)f.lanes, (long long)f.lanes_of);
    if (f.sums)
        json_add(t, "sums:%lld,sums_of:%lld,multiply_adds:%lld,loads:%.4g", (long long)f.sums, (long long)f.sums_of,
                 (long long)f.multiply_adds, f.loads);
    text_add(t, "}");
}
