/* plain.c - how the lanes of a group touch operands and the result where these lie, in the group's scratch, or in a
 * slice that a copy has filled: warp by warp, for each trip of the loops that move the value. */
#include "backends/gpu/figuring.h"
#include "schedule/nest/fit.h"
#include "schedule/nest/kept.h"
#include "schedule/nest/slice.h"

#include <math.h>

uint32_t figure_axes(const stage *s, int load)
{
    return stage_axes(s, load) & (load == MAX_LOADS ? ~s->folds : ~0u); /* parts of a sum are written once each */
}

void figure_warp(gpu_access *a, tally *t, const int64_t *at, int n)
{
    if (!n)
        return;
    const int64_t parts = a->shared ? warp_cycles(at, n, a->bytes) : warp_sectors(at, n, a->bytes),
                  least = a->shared ? warp_cycles_least(n, a->bytes) : warp_sectors_least(at, n, a->bytes);
    t->times++, t->parts += (double)parts, t->least += (double)least;
    if (!a->parts)
        a->parts = parts, a->least = least;
}

void figure_add(const figuring *c, gpu_access *a, const tally *t, double share)
{
    gpu_figures *f = c->f;
    a->s = c->s, a->times = share * t->times;
    if (a->shared)
        f->banks += share * t->parts, f->banks_least += share * t->least;
    else
        f->moved += share * t->parts * SECTOR, f->asked += share * t->least * SECTOR;
    if (f->n_access < MAX_ACCESS && a->parts)
        f->access[f->n_access++] = *a;
}

bool known_add(const known *k, int64_t key, tally *t)
{
    const tally *one = &k->one[key % KNOWN].tally;
    if (k->one[key % KNOWN].key != key)
        return false;
    t->times += one->times, t->parts += one->parts, t->least += one->least;
    return true;
}

void known_put(known *k, int64_t key, const tally *before, const tally *t)
{
    k->one[key % KNOWN].key = key;
    k->one[key % KNOWN].tally = (tally){t->times - before->times, t->parts - before->parts, t->least - before->least};
}

/* ---- the loops ---- */
typedef struct touching {
    const figuring *c;
    spot spot;
    stand_at stand;
    bool writes;           /* behind the fold: of lanes that sum up one element together the first one */
    const loop *vector;    /* runs of neighbours that a lane moves, or NULL */
    int64_t grain, pieces; /* bytes of which runs begin at multiples; pieces of a whole run */
    bool by_unit, both;    /* sums of a matrix unit; two of them are neighbours */
    unit_loops unit;
    walk walk;
    int depth[MAX_WALKED];             /* by number: of a loop */
    int warp, piece, row, column, one; /* numbers that are no loop's; or -1 */
    known known;
    int64_t lanes; /* of the stage */
    int n_lane;    /* loops over lanes, the outermost first */
    struct {
        int depth;
        int64_t under, trips; /* lanes of one trip */
        bool one;             /* only its first trip writes */
    } lane[MAX_LOOP];
} touching;

static int add_number(touching *q, int depth, int64_t trips)
{
    q->depth[q->walk.n] = depth, q->walk.trips[q->walk.n] = trips;
    return q->walk.n++;
}

/* Bytes that a lane moves at once of a run of so many: as many as divide it and all places where it can begin. */
static int64_t wide(const touching *q, int64_t run)
{
    int64_t bytes = WIDE;
    while (bytes > q->spot.size && (run * q->spot.size % bytes || q->grain % bytes))
        bytes /= 2;
    return bytes < q->spot.size ? q->spot.size : bytes;
}

static void find_grain(touching *q, int load)
{
    const stage *s = q->c->s;
    int64_t step[MAX_AXIS] = {0};
    for (int d = 1; d <= q->stand.upto; d++) {
        const loop *l = fit_loop(q->c->k, s, d);
        if (l != q->vector && d > q->stand.from && (d > q->c->k->shared.n || l->axis < s->n_shared))
            step[l->axis] = int_gcd(l->step, step[l->axis]);
    }
    const bool one = q->spot.stride[q->vector->axis] != q->spot.size || (load < MAX_LOADS && stage_guard(s, load));
    q->grain = one ? q->spot.size : spot_grain(&q->spot, 1u << q->vector->axis, step);
}

/* Loops within the tile that move the value; those over lanes come with each warp. */
static void add_tile(touching *q, uint32_t axes)
{
    const stage *s = q->c->s;
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *r = &s->nest.loop[l];
        if (r->role->lanes && axes >> r->axis & 1)
            q->vector = r, q->stand.run = q->c->k->shared.n + l + 1;
        else if (axes >> r->axis & 1 && !r->role->group && !r->role->unit)
            add_number(q, q->c->k->shared.n + l + 1, loop_trips(r));
    }
}

/* Sums of matrix units lie four lanes to a row, two neighbours in each; eight rows below, and eight columns on, are
 * others (PTX ISA, "Matrix Fragments"). */
static void add_sums(touching *q, uint32_t axes)
{
    enum { BLOCK = 8 };
    const stage *s = q->c->s;
    const int across = s->nest.loop[q->unit.loop[1]].axis;
    q->both = q->spot.stride[across] == q->spot.size;
    q->row = axes >> s->nest.loop[q->unit.loop[0]].axis & 1 ? add_number(q, 0, q->unit.trips[0] / BLOCK) : -1;
    q->column = axes >> across & 1 ? add_number(q, 0, q->unit.trips[1] / BLOCK) : -1;
    q->one = axes >> across & 1 && !q->both ? add_number(q, 0, 2) : -1;
}

static void find_lanes(touching *q)
{
    const stage *s = q->c->s;
    q->lanes = nest_group(s);
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *r = &s->nest.loop[l];
        if (!r->role->group)
            continue;
        q->lane[q->n_lane].depth = q->c->k->shared.n + l + 1, q->lane[q->n_lane].under = nest_lanes_under(s, l);
        q->lane[q->n_lane].trips = int_max(loop_trips(r), 1);
        q->lane[q->n_lane++].one = q->writes && s->folds >> r->axis & 1;
    }
}

static void add_loops(touching *q, int load, uint32_t axes)
{
    const kernel *k = q->c->k;
    const stage *s = q->c->s;
    const int last = trips_last(s, axes);
    for (int d = 1; d <= k->shared.n + nest_unrolled(s); d++)
        if (d <= k->shared.n + last || trips_dealt(fit_loop(k, s, d)))
            add_number(q, d, loop_trips(fit_loop(k, s, d)));
    add_tile(q, axes);
    q->warp = add_number(q, 0, int_ceil_div(nest_group(s), q->c->p->on->warp));
    q->piece = q->row = q->column = q->one = -1, q->pieces = 1;
    q->by_unit = gpu_by_unit(s, &q->unit);
    find_lanes(q);
    if (q->by_unit)
        add_sums(q, axes);
    if (!q->vector)
        return;
    find_grain(q, load);
    q->pieces = loop_trips(q->vector) * q->spot.size / wide(q, loop_trips(q->vector));
    q->piece = add_number(q, 0, q->pieces);
}

/* ---- one pick ---- */
typedef struct lane_at {
    int64_t at, run;
    uint32_t rest;
} lane_at;

/* Where the group's lane is: the trips of its loops, and of what it has of a matrix unit's sums; false: it does
 * nothing. */
static bool lane_trips(const touching *q, int64_t lane, const int64_t *number, int64_t *trip)
{
    const int shared = q->c->k->shared.n;
    bool one = lane < q->lanes;
    for (int i = 0; i < q->n_lane; i++) {
        const int64_t own = lane / q->lane[i].under, n = i ? own % q->lane[i].trips : own;
        trip[q->lane[i].depth] = n;
        one = one && n < q->lane[i].trips && !(q->lane[i].one && n);
    }
    if (q->by_unit && one) {
        const int64_t in = lane % q->c->p->on->warp;
        trip[shared + q->unit.loop[0] + 1] = in / 4 + (q->row < 0 ? 0 : 8 * number[q->row]);
        trip[shared + q->unit.loop[1] + 1] = in % 4 * 2 + (q->column < 0 ? 0 : 8 * number[q->column]) +
                                             (q->one < 0 ? 0 : number[q->one]);
    }
    return one;
}

/* Lanes that have as much of each loop's step run the same instructions; others theirs, before or behind. */
static void touch_alike(const touching *q, gpu_access *a, tally *t, const lane_at *lane, int n, int64_t piece)
{
    const uint32_t rest = lane[0].rest;
    const int64_t bytes = q->vector ? wide(q, lane[0].run) : a->bytes,
                  pieces = q->vector ? lane[0].run * q->spot.size / bytes : 1;
    gpu_access own = *a;
    own.bytes = bytes;
    for (int64_t i = piece; i < pieces; i += q->pieces) {
        int64_t at[WARP];
        int count = 0;
        for (int j = 0; j < n; j++)
            if (lane[j].rest == rest)
                at[count++] = lane[j].at + i * bytes;
        figure_warp(&own, t, at, count);
    }
    a->parts = own.parts, a->least = own.least;
}

static void touch_lanes(const touching *q, gpu_access *a, tally *t, const int64_t *number, int64_t *trip)
{
    const int64_t warp = q->c->p->on->warp, all = int_min(warp, WARP);
    lane_at lane[WARP];
    int n = 0;
    for (int64_t i = 0; i < all; i++) {
        standing now;
        if (!lane_trips(q, number[q->warp] * warp + i, number, trip) || !walk_stand(&q->stand, trip, &now) ||
            !spot_reads(&q->spot, &now))
            continue;
        lane[n++] = (lane_at){spot_at(&q->spot, &now), now.run, now.rest};
    }
    while (n > 0) { /* those that go with the first one, and the others after them */
        const uint32_t rest = lane[0].rest;
        int left = 0;
        touch_alike(q, a, t, lane, n, q->piece < 0 ? 0 : number[q->piece]);
        for (int i = 0; i < n; i++)
            if (lane[i].rest != rest)
                lane[left++] = lane[i];
        n = left;
    }
}

/* Where nothing ends, warps differ in where in a sector, or among banks, the first lane is. */
static void touch(touching *q, gpu_access *a, tally *t, const int64_t *number)
{
    int64_t trip[MAX_DEPTH] = {0};
    const tally before = *t;
    standing first;
    for (int i = 0; i < q->walk.n; i++)
        if (q->depth[i])
            trip[q->depth[i]] = number[i];
    lane_trips(q, number[q->warp] * q->c->p->on->warp, number, trip);
    int64_t key = 0;
    if (q->spot.even && walk_stand(&q->stand, trip, &first) && first.full)
        key = 1 + number[q->warp] * BANKS * BANK +
              int_floor_mod(spot_at(&q->spot, &first) + (q->piece < 0 ? 0 : number[q->piece] * a->bytes), BANKS * BANK);
    if (key && known_add(&q->known, key, t))
        return;
    touch_lanes(q, a, t, number, trip);
    if (key)
        known_put(&q->known, key, &before, t);
}

/* ---- operands ---- */
/* Padding of one factor, where it is read as it lies: bounds of loops leave out what it is multiplied with, too. */
static const expr *padding_of(const figuring *c, int load)
{
    const stage *s = c->s;
    const expr *fold = stage_fold(s), *found = NULL;
    if (!x_is_call(x_uncast(fold->arg[0]), "mul"))
        return NULL;
    for (int i = 0; i < s->n_load && i < MAX_LOADS; i++) {
        bool staged = false;
        for (int j = 0; j < s->n_staging; j++)
            staged = staged || (staging_copies(&s->staging[j]) && s->staging[j].load == i);
        if (!staged && i != load && stage_guard(s, i))
            found = stage_guard(s, i)->arg[0];
    }
    return found;
}

/* Where it lies: in a slice, in what an earlier stage hands on, or in global memory */
static void find_near(touching *q, int load, const staging *g)
{
    const figuring *c = q->c;
    const stage *s = c->s;
    const int64_t size = ts_dtype_bytes(stage_value(s, load)->type.dtype);
    slice y;
    q->stand.from = c->k->shared.n;
    q->spot = (spot){.size = size, .even = true};
    if (g) {
        slice_find(c->p, c->k, s, g, &y);
        q->stand.from = g->shared ? g->loop + 1 : c->k->shared.n + g->loop + 1;
    }
    for (int x = 0; x < s->n_axis; x++)
        q->spot.stride[x] = g ? y.stride[x] * size : kept_stride(c->k, s, load, x) * size;
}

void figure_value(const figuring *c, int load, const staging *g)
{
    const stage *s = c->s;
    const bool own = g || (load == MAX_LOADS ? s->scratch : kept_by(c->k, s, load) >= 0), folded = load < s->n_folded;
    touching q = {.c = c, .writes = !folded};
    tally t = {0};
    int64_t number[MAX_WALKED];
    uint32_t axes = figure_axes(s, load);
    q.stand = (stand_at){.k = c->k, .s = s, .upto = c->k->shared.n + s->nest.n};
    if (own)
        find_near(&q, load, g);
    else
        spot_make(&q.spot, c->p, s, load);
    if (load < MAX_LOADS && !(g && stage_guard(s, load))) /* slices hold zeros where the condition does not */
        spot_conditions(&q.spot, folded ? stage_fold(s) : s->value, s->load[load]);
    axes |= spot_axes(&q.spot) & (folded ? ~0u : ~s->folds);
    const expr *padding = folded && !own ? padding_of(c, load) : NULL;
    if (padding)
        spot_under(&q.spot, padding);
    stand_begin(&q.stand);
    add_loops(&q, load, axes);
    gpu_access a = {.load = load, .shared = own, .bytes = q.vector ? wide(&q, loop_trips(q.vector)) : q.spot.size};
    if (q.both)
        a.bytes = 2 * q.spot.size;
    walk_begin(&q.walk);
    for (int64_t i = 0; i < q.walk.few; i++) {
        walk_pick(&q.walk, i, number);
        touch(&q, &a, &t, number);
    }
    const double masked = trips_masked(c->k, s, trips_last(s, axes));
    figure_add(c, &a, &t, q.walk.few ? masked * q.walk.all / (double)q.walk.few / c->f->groups : 0);
    spot_free(&q.spot);
}
