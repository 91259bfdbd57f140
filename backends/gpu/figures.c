/* figures.c - how lanes touch memory, and what the kernel comes to. */
#include "backends/gpu/figures.h"
#include "backends/gpu/guess.h"
#include "schedule/explain_fit.h"
#include "schedule/kept.h"
#include "schedule/nest.h"
#include "schedule/slice.h"

#include <math.h>
#include <string.h>

enum {
    WARP = 64,
    BANKS = 32,
    BANK = 4,
    WIDE = 16
}; /* lanes of a warp at most; banks, their bytes; bytes moved at once */

typedef struct figuring {
    const plan *p;
    const kernel *k;
    const stage *s;
    gpu_figures *f;
    double begin[SECTOR]; /* gpu_begin of the access at hand */
} figuring;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- one warp ---- */
bool gpu_by_unit(const stage *s, unit_loops *u)
{
    return nest_unit(s, u) && s->nest.loop[u->loop[0]].role->warp;
}

/* Where the lanes of a warp of the stage are, from strides of its axes in bytes; how many there are: of those that sum
 * up one element together the first one writes it. Sums of matrix units lie four lanes to a row, two neighbours in each
 * (PTX ISA, "Matrix Fragments"), alike in all warps. */
static int warp_of_stage(const figuring *c, const int64_t *stride, int64_t warp, bool writes, int64_t *at)
{
    unit_loops u;
    if (gpu_by_unit(c->s, &u)) {
        for (int i = 0; i < c->p->on->warp; i++)
            at[i] = i / 4 * stride[c->s->nest.loop[u.loop[0]].axis] +
                    i % 4 * 2 * stride[c->s->nest.loop[u.loop[1]].axis];
        return c->p->on->warp;
    }
    const int64_t all = least(c->p->on->warp, WARP), first = warp * c->p->on->warp;
    int n = 0;
    for (int64_t i = first; i < least(first + all, nest_group(c->s)); i++) {
        int64_t rest = i;
        bool one = true;
        at[n] = 0;
        for (int l = c->s->nest.n; l-- > nest_unrolled(c->s);) {
            const loop *q = &c->s->nest.loop[l];
            if (!q->role->group || !loop_trips(q))
                continue;
            one = one && !(writes && c->s->folds >> q->axis & 1 && rest % loop_trips(q));
            at[n] += rest % loop_trips(q) * q->step * stride[q->axis];
            rest /= loop_trips(q);
        }
        n += one;
    }
    return n;
}

static bool is_new(const int64_t *seen, int n, int64_t what)
{
    int i = 0;
    while (i < n && seen[i] != what)
        i++;
    return i == n;
}

static int64_t sectors(const int64_t *at, int n, int64_t bytes)
{
    int64_t seen[WARP * (WIDE / SECTOR + 2)];
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int64_t sector = at[i] / SECTOR; sector <= (at[i] + bytes - 1) / SECTOR && count < COUNT(seen); sector++)
            if (is_new(seen, count, sector))
                seen[count++] = sector;
    return count;
}

/* The same on average, wherever in a sector such a warp begins */
static double sectors_usual(const double *begin, const int64_t *at, int n, int64_t bytes)
{
    double sum = 0;
    for (int b = 0; b < SECTOR; b++) {
        int64_t moved[WARP];
        for (int i = 0; i < n; i++)
            moved[i] = at[i] + b;
        sum += begin[b] > 0 ? begin[b] * (double)sectors(moved, n, bytes) : 0;
    }
    return sum;
}

/* Cycles in which banks of four bytes give a warp its words: each bank one word at a time, the same to all who ask for
 * it. Lanes that move more than four bytes go by as many at a time as fill the banks. */
static int64_t bank_cycles(const int64_t *at, int n, int64_t bytes)
{
    const int together = (int)(BANKS * BANK / (bytes > BANK ? bytes : BANK));
    int64_t cycles = 0;
    for (int first = 0; first < n; first += together) {
        int64_t word[BANKS * 2], most = 1;
        int in_bank[BANKS] = {0}, count = 0;
        for (int i = first; i < n && i < first + together; i++)
            for (int64_t w = at[i] / BANK; w <= (at[i] + bytes - 1) / BANK && count < COUNT(word); w++)
                if (is_new(word, count, w)) {
                    word[count++] = w;
                    const int now = ++in_bank[((w % BANKS) + BANKS) % BANKS];
                    most = now > most ? now : most;
                }
        cycles += most;
    }
    return cycles;
}

static int64_t least_cycles(int n, int64_t bytes)
{
    return int_ceil_div(n, BANKS * BANK / (bytes > BANK ? bytes : BANK));
}

static int64_t least_sectors(const int64_t *at, int n, int64_t bytes)
{
    int64_t seen[WARP];
    int count = 0;
    for (int i = 0; i < n; i++)
        if (is_new(seen, count, at[i]))
            seen[count++] = at[i];
    return int_ceil_div(count * bytes, SECTOR);
}

/* What one warp does so many times; a is what is told of it, of the first one alone. */
static void add_warp(const figuring *c, gpu_access *a, double times, const int64_t *at, int n)
{
    gpu_figures *f = c->f;
    const int64_t parts = a->shared ? bank_cycles(at, n, a->bytes) : sectors(at, n, a->bytes),
                  fewest = a->shared ? least_cycles(n, a->bytes) : least_sectors(at, n, a->bytes);
    if (!n)
        return;
    if (a->shared)
        f->banks += times * (double)parts, f->banks_least += times * (double)fewest;
    else
        f->moved += times * sectors_usual(c->begin, at, n, a->bytes) * SECTOR,
            f->asked += times * (double)(fewest * SECTOR);
    if (!a->parts)
        a->parts = parts, a->least = fewest;
    a->times += times;
}

static void add_access(const figuring *c, const gpu_access *a)
{
    gpu_figures *f = c->f;
    if (f->n_access < MAX_ACCESS && a->parts)
        f->access[f->n_access] = *a, f->access[f->n_access++].s = c->s;
}

static int64_t warps_of(const figuring *c, int64_t lanes)
{
    return int_ceil_div(lanes, c->p->on->warp);
}

/* All warps of the stage, each so many times */
static void add_warps(const figuring *c, gpu_access *a, double times, const int64_t *stride)
{
    int64_t at[WARP];
    unit_loops u;
    const int64_t warps = warps_of(c, nest_group(c->s));
    const bool alike = gpu_by_unit(c->s, &u);
    for (int64_t w = 0; w < (alike ? 1 : warps); w++) {
        const int n = warp_of_stage(c, stride, w, a->load == MAX_LOADS, at);
        add_warp(c, a, alike ? times * (double)warps : times, at, n);
    }
    add_access(c, a);
}

/* ---- how often ---- */
static bool is_dealt(const loop *q) /* to groups: one of them has one trip */
{
    return q->role->parallel;
}

static double shared_trips(const kernel *k, int upto) /* of loops that stages share, in one group */
{
    double n = 1;
    for (int l = 0; l < upto && k->n_stage > 1; l++)
        n *= is_dealt(&k->shared.loop[l]) ? 1 : (double)loop_trips(&k->shared.loop[l]);
    return n;
}

/* Of loops of the stage itself up to that one: axis by axis, as those within end where those around do; of an axis that
 * a mask ends, the part that is walked. */
static double own_trips(const kernel *k, const stage *s, int upto)
{
    double n = 1;
    for (int l = 0; l < upto; l++) {
        const loop *q = &s->nest.loop[l], *last = NULL;
        bool first = true;
        for (int i = 0; i < upto; i++) {
            const loop *r = &s->nest.loop[i];
            if (r->axis != q->axis || r->role->in_registers || is_dealt(r))
                continue;
            first = first && i >= l, last = r;
        }
        if (!last || !first || q->role->in_registers || is_dealt(q))
            continue;
        const bool masked = k->mask && k->mask->along[s - k->stage] == q->axis;
        const int64_t left = nest_left(k, s, q->axis, l - 1);
        n *= (double)int_ceil_div(left, last->step) * (masked ? k->mask->share : 1);
    }
    return n;
}

/* A value is loaded by each warp within the last serial loop that moves it, once for every unrolled trip that does. */
static double times_of(const figuring *c, uint32_t axes, const loop **vector)
{
    const stage *s = c->s;
    int last = nest_unrolled(s);
    double each = 1;
    while (last > 0 && !(axes >> s->nest.loop[last - 1].axis & 1))
        last--;
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        if (q->role->group || q->role->unit || !(axes >> q->axis & 1))
            continue;
        if (q->role->lanes)
            *vector = q;
        else
            each *= (double)loop_trips(q);
    }
    return shared_trips(c->k, c->k->shared.n) * own_trips(c->k, s, last) * each;
}

/* ---- operands ---- */
static const node *value_of(const stage *s, int load)
{
    return load == MAX_LOADS ? s->node : s->load[load]->from;
}

static uint32_t axes_of(const stage *s, int load)
{
    uint32_t axes = 0;
    for (int i = 0; i < value_of(s, load)->type.rank; i++)
        axes |= x_axes((load == MAX_LOADS ? s->store : s->load[load]->arg)[i]);
    return load == MAX_LOADS ? axes & ~s->folds : axes; /* parts of a sum are written once each */
}

/* Bytes that a lane moves at once of a run of neighbours: as many as divide it and all places where it can begin. */
static int64_t vector_bytes(const figuring *c, int load, const loop *vector, const int64_t *stride)
{
    const stage *s = c->s;
    const int64_t size = ts_dtype_bytes(value_of(s, load)->type.dtype);
    int64_t grain = stride[vector->axis] == size ? loop_trips(vector) * size : size, bytes = WIDE;
    for (int d = 1; d <= fit_depth(c->k, s); d++) {
        const loop *q = fit_loop(c->k, s, d);
        if (q != vector && (d > c->k->shared.n || q->axis < s->n_shared))
            grain = int_gcd(stride[q->axis] * q->step, grain);
    }
    while (bytes > size && (grain % bytes || (load < MAX_LOADS && stage_guard(s, load))))
        bytes /= 2;
    return bytes;
}

static void add_plain(figuring *c, int load) /* where it lies, or in the group's scratch */
{
    const stage *s = c->s;
    const uint32_t axes = axes_of(s, load);
    const int64_t size = ts_dtype_bytes(value_of(s, load)->type.dtype);
    const bool own = load == MAX_LOADS ? s->scratch : kept_by(c->k, s, load) >= 0;
    int64_t stride[MAX_AXIS] = {0};
    const loop *vector = NULL;
    gpu_access a = {.load = load, .bytes = size, .shared = own};
    double times = times_of(c, axes, &vector);
    for (int x = 0; x < s->n_axis; x++)
        if (axes >> x & 1)
            stride[x] = own ? kept_stride(c->k, s, load, x) * size : fit_stride(c->p, s, load, x);
    if (vector)
        a.bytes = vector_bytes(c, load, vector, stride), times *= (double)(loop_trips(vector) * size / a.bytes);
    unit_loops u;
    if (gpu_by_unit(s, &u)) { /* of four sums two are neighbours */
        const int across = s->nest.loop[u.loop[1]].axis;
        const bool both = stride[across] == size;
        times *= axes >> across & 1 && !both ? 4 : 2;
        a.bytes = both ? 2 * size : size;
    }
    if (!own) {
        gpu_begin(c->p, c->k, s, load, fit_depth(c->k, s), stride, c->begin);
        times *= gpu_there(s, load, stride) * gpu_whole(c->k, s, axes);
    }
    add_warps(c, &a, times, stride);
}

/* ---- slices ---- */
/* Bytes that a lane moves at once: neighbours, of whose number all places of operand and slice are multiples */
static int64_t moved_at_once(const figuring *c, const staging *g, const slice *y, int inner, const int64_t *stride)
{
    const int64_t size = ts_dtype_bytes(value_of(c->s, g->load)->type.dtype);
    for (int64_t bytes = WIDE; bytes > size && bytes >= BANK; bytes /= 2) {
        const int64_t width = bytes / size;
        bool fits = stride[inner] == size && y->stride[inner] == 1 && c->s->extent[inner] % width == 0 &&
                    y->extent[inner] % width == 0 && !stage_guard(c->s, g->load);
        for (int i = 0; i < y->n && fits; i++)
            fits = y->order[i] == inner || y->extent[y->order[i]] <= 1 ||
                   (stride[y->order[i]] % bytes == 0 && y->stride[y->order[i]] % width == 0);
        if (fits)
            return bytes;
    }
    return size;
}

static int64_t swizzled(const slice *y, int64_t p)
{
    return p ^ ((p >> y->shift & y->mask) * y->piece);
}

/* All lanes copy together, in the order in which the operand lies in memory. */
static void add_copy(figuring *c, const staging *g)
{
    slice y;
    int order[MAX_AXIS];
    int64_t from[WARP], to[WARP], stride[MAX_AXIS], all = 1;
    const int64_t size = ts_dtype_bytes(value_of(c->s, g->load)->type.dtype);
    slice_find(c->p, c->k, c->s, g, &y);
    memcpy(order, y.order, sizeof order);
    for (int x = 0; x < c->s->n_axis; x++)
        stride[x] = fit_stride(c->p, c->s, g->load, x);
    for (int i = 0; i < y.n; i++)
        all *= y.extent[order[i]];
    for (int i = 1; i < y.n; i++)
        for (int j = i; j > 0 && stride[order[j]] > stride[order[j - 1]]; j--) {
            const int a = order[j];
            order[j] = order[j - 1], order[j - 1] = a;
        }
    const int64_t bytes = y.n ? moved_at_once(c, g, &y, order[y.n - 1], stride) : size, width = bytes / size;
    all /= width;
    gpu_access one = {.load = g->load, .copy = true, .bytes = bytes}, two = one;
    const double times = g->shared ? shared_trips(c->k, g->loop + 1)
                                   : shared_trips(c->k, c->k->shared.n) * own_trips(c->k, c->s, g->loop + 1);
    const int64_t lanes = least(c->p->on->warp, WARP);
    two.shared = true;
    gpu_begin(c->p, c->k, c->s, g->load, g->shared ? g->loop + 1 : c->k->shared.n + g->loop + 1, stride, c->begin);
    const double there = gpu_there(c->s, g->load, stride), whole = gpu_whole(c->k, c->s, axes_of(c->s, g->load));
    for (int64_t first = 0; first < all; first += lanes) {
        int n = 0;
        for (int64_t i = first; i < least(first + lanes, all); i++, n++) {
            int64_t rest = i * width, place = 0;
            from[n] = 0;
            for (int j = y.n; j-- > 0;) {
                const int64_t left = y.extent[order[j]] > 1 ? y.extent[order[j]] : 1;
                from[n] += rest % left * stride[order[j]], place += rest % left * y.stride[order[j]];
                rest /= left;
            }
            to[n] = swizzled(&y, place) * size;
        }
        add_warp(c, &one, times * there * whole, from, n), add_warp(c, &two, times * whole, to, n);
    }
    add_access(c, &one), add_access(c, &two);
}

/* Fragments of a matrix unit: eight rows of 16 bytes at a time, of a slice or of what an earlier stage left (g NULL) */
static void add_fragments(const figuring *c, int load, const staging *g, const unit_loops *u)
{
    enum { ROWS = 8 };
    const stage *s = c->s;
    const int own = s->nest.loop[u->loop[load == u->load[1]]].axis, folded = s->nest.loop[u->loop[2]].axis;
    const int64_t size = ts_dtype_bytes(value_of(s, load)->type.dtype);
    const uint32_t axes = axes_of(s, load);
    slice y = {.size = 1};
    int64_t at[ROWS];
    const loop *vector = NULL;
    if (g)
        slice_find(c->p, c->k, s, g, &y);
    else
        y.stride[own] = kept_stride(c->k, s, load, own), y.stride[folded] = kept_stride(c->k, s, load, folded);
    for (int i = 0; i < ROWS; i++)
        at[i] = swizzled(&y, i * y.stride[y.stride[folded] == 1 ? own : folded]) * size;
    const double warps = (double)warps_of(c, nest_group(s));
    gpu_access a = {.load = load, .shared = true, .bytes = WIDE, .times = times_of(c, axes, &vector) * warps};
    a.least = u->trips[load == u->load[1]] * u->trips[2] * size / (ROWS * WIDE);
    a.parts = a.least * bank_cycles(at, ROWS, WIDE);
    c->f->banks += a.times * (double)a.parts, c->f->banks_least += a.times * (double)a.least;
    add_access(c, &a);
}

static void add_slice(const figuring *c, const staging *g) /* what lanes read of it */
{
    unit_loops u;
    if (gpu_by_unit(c->s, &u) && (g->load == u.load[0] || g->load == u.load[1])) {
        add_fragments(c, g->load, g, &u);
        return;
    }
    slice y;
    int64_t stride[MAX_AXIS];
    const loop *vector = NULL;
    const int64_t size = ts_dtype_bytes(value_of(c->s, g->load)->type.dtype);
    slice_find(c->p, c->k, c->s, g, &y);
    for (int x = 0; x < c->s->n_axis; x++)
        stride[x] = y.stride[x] * size;
    gpu_access a = {.load = g->load, .shared = true, .bytes = size};
    double times = times_of(c, axes_of(c->s, g->load), &vector);
    if (vector)
        a.bytes = vector_bytes(c, g->load, vector, stride), times *= (double)(loop_trips(vector) * size / a.bytes);
    add_warps(c, &a, times, stride);
}

static dtype sum_dtype(const stage *s)
{
    const expr *fold = stage_fold(s);
    const dtype d = fold ? fold->dtype : s->node->type.dtype;
    return dtype_class(d) == D_REAL && ts_dtype_bytes(d) < 4 ? TS_F32 : d;
}

static int64_t warps_where(const figuring *c, int l, int64_t end) /* some lane's digit of loop l is below end */
{
    const int64_t under = nest_lanes_under(c->s, l), trips = loop_trips(&c->s->nest.loop[l]);
    int64_t warps = 0, last = -1;
    for (int64_t i = 0; i < nest_group(c->s); i++)
        if (i / under % trips < end && i / c->p->on->warp != last)
            last = i / c->p->on->warp, warps++;
    return warps;
}

/* Sums that lanes merge: each lane writes its own, and in each step the lower half of those that are left adds what
 * lies in the upper half. */
static void add_merges(const figuring *c)
{
    const stage *s = c->s;
    double times = shared_trips(c->k, c->k->shared.n) * own_trips(c->k, s, nest_tile(s)), warps = 0;
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        const bool folded = s->folds >> q->axis & 1;
        times *= folded || q->role->group ? 1 : (double)loop_trips(q);
        for (int64_t half, n = folded && q->role->group ? loop_trips(q) : 1; n > 1; n = half) {
            half = (n + 1) / 2;
            warps += 2 * (double)warps_where(c, l, n - half);
        }
    }
    if (warps > 0)
        warps += (double)warps_of(c, c->f->lanes);
    const double passes = times * warps * (double)int_ceil_div(ts_dtype_bytes(sum_dtype(s)), BANK);
    c->f->banks += passes, c->f->banks_least += passes;
}

static void add_stage(figuring *c)
{
    add_merges(c);
    const stage *s = c->s;
    bool staged[MAX_LOADS] = {false};
    unit_loops u;
    for (int i = 0; i < 2 && gpu_by_unit(s, &u); i++)
        if (u.load[i] >= 0 && kept_by(c->k, s, u.load[i]) >= 0)
            staged[u.load[i]] = true, add_fragments(c, u.load[i], NULL, &u);
    for (int i = 0; i < s->n_staging; i++) {
        if (!staging_copies(&s->staging[i]))
            continue;
        staged[s->staging[i].load] = true;
        add_copy(c, &s->staging[i]);
        add_slice(c, &s->staging[i]);
    }
    for (int i = 0; i < s->n_load && i < MAX_LOADS; i++)
        if (!staged[i])
            add_plain(c, i);
    add_plain(c, MAX_LOADS);
}

/* ---- what a group takes ---- */
static int64_t merged(const plan *p, const kernel *k, const stage *s) /* bytes for sums that lanes merge */
{
    for (int l = nest_unrolled(s); l < s->nest.n; l++)
        if (s->nest.loop[l].role->group && s->folds >> s->nest.loop[l].axis & 1 && loop_trips(&s->nest.loop[l]) > 1)
            return stage_states(s) * target_aligned(p->on, nest_group_lanes(p, k) * ts_dtype_bytes(TS_F64));
    return 0;
}

int64_t gpu_shared_bytes(const plan *p, const kernel *k)
{
    int64_t handed = 0, most = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        const int states = stage_carries(s) ? s->value->n_state : 0;
        int64_t slices = 0;
        kept own;
        kept_find(k, i, &own);
        for (int j = 0; j < s->n_staging; j++) {
            slice y;
            if (!staging_copies(&s->staging[j]))
                continue;
            slice_find(p, k, s, &s->staging[j], &y);
            slices += target_aligned(p->on, y.size * ts_dtype_bytes(value_of(s, s->staging[j].load)->type.dtype)) *
                      s->staging[j].stages;
        }
        slices = merged(p, k, s) > slices ? merged(p, k, s) : slices; /* when the slices are no longer read */
        most = slices > most ? slices : most;
        handed += s->scratch ? target_aligned(p->on, own.size * ts_dtype_bytes(s->node->type.dtype)) : 0;
        for (int j = 0; j < states; j++)
            handed += target_aligned(p->on, own.size * ts_dtype_bytes(s->value->arg[j]->dtype));
    }
    return handed + most > p->on->space->bytes ? most
                                               : handed + most; /* else what stages hand on lies in global memory */
}

/* Values of one step of the tile that a lane holds: of a product all of them, else as many as are under way. */
static int64_t values_held(const stage *s, int64_t words, bool product)
{
    enum { UNDER_WAY = 4 };
    unit_loops u;
    if (gpu_by_unit(s, &u)) { /* fragments, a word of which is two elements of 16 bits or one of 32 */
        const int64_t size = ts_dtype_bytes(value_of(s, u.load[0])->type.dtype);
        int64_t all = 0;
        for (int i = 0; i < 2; i++) {
            int64_t own = u.trips[i] * u.trips[2] * size / (32 * BANK);
            for (int l = nest_unrolled(s); l < s->nest.n; l++)
                own *= s->nest.loop[l].axis == s->nest.loop[u.loop[i]].axis && !s->nest.loop[l].role->group &&
                               !s->nest.loop[l].role->unit
                           ? loop_trips(&s->nest.loop[l])
                           : 1;
            all += own;
        }
        return all;
    }
    const expr *fold = stage_fold(s), *load[MAX_LOADS];
    const int n = x_loads(fold ? fold : s->value, load, MAX_LOADS);
    int64_t all = 0, most = 1;
    for (int j = 0; j < n && j < MAX_LOADS; j++) {
        int64_t each = words;
        for (int l = nest_unrolled(s); l < s->nest.n; l++)
            if (!s->nest.loop[l].role->group && x_axes_of(load[j]) >> s->nest.loop[l].axis & 1)
                each *= loop_trips(&s->nest.loop[l]);
        all += each, most = each > most ? each : most;
    }
    return product ? all : least(all, UNDER_WAY * most);
}

static int64_t operands_of(const stage *s)
{
    int64_t n = 1; /* the result */
    for (int i = 0; i < s->n_load; i++) {
        bool had = false;
        for (int j = 0; j < i; j++)
            had = had || s->load[j]->from == s->load[i]->from;
        n += !had;
    }
    return n;
}

/* What the assembler takes of kernels that are held to so many (tests/backends/cuda): it fills what it is given with
 * steps of a product written out. */
int64_t gpu_registers(const plan *p, const kernel *k)
{
    enum { PLACES = 16, OF_PRODUCT = 40, ADDRESS = 2, AT_ONCE = 8 };
    int64_t most = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        const bool product = stage_contracts(s);
        const expr *fold = stage_fold(s);
        const int64_t words = int_ceil_div(ts_dtype_bytes((fold ? fold->dtype : s->node->type.dtype)), 4);
        const int64_t now = nest_sums(p, s) * words + values_held(s, words, product) + ADDRESS * operands_of(s) +
                            (product ? OF_PRODUCT : PLACES);
        most = now > most ? now : most;
    }
    return least(int_ceil_div(most, AT_ONCE) * AT_ONCE, gpu_facts_of(p->on)->lane_registers);
}

int64_t gpu_at_once(const plan *p, const kernel *k)
{
    gpu_room room = {
        .lanes = nest_group_lanes(p, k), .registers = gpu_registers(p, k), .shared = gpu_shared_bytes(p, k)};
    gpu_resident(gpu_facts_of(p->on), &room);
    return room.resident > 0 ? room.resident : 1;
}

/* ---- the time ---- */
/* Waits for memory, one after the other: a slice for each trip of its loop, and what is read where it lies four trips
 * at a time. */
static double waits(const plan *p, const kernel *k)
{
    enum { AT_ONCE = 4, STORE = 1 };
    double sum = STORE;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        double copies = 0;
        for (int j = 0; j < s->n_staging; j++)
            if (staging_copies(&s->staging[j]))
                copies = fmax(copies, s->staging[j].shared ? 1 : own_trips(k, s, s->staging[j].loop + 1));
        sum += shared_trips(k, k->shared.n) * (copies > 0 ? copies : ceil(own_trips(k, s, nest_unrolled(s)) / AT_ONCE));
    }
    (void)p;
    return sum;
}

/* Multiply-adds of a processor in a cycle: where matrix units do them, theirs. */
static double products_of(const figuring *c)
{
    const gpu_facts *card = gpu_facts_of(c->p->on);
    bool unit = card->bf16 > 0;
    unit_loops u;
    for (int i = 0; i < c->k->n_stage; i++)
        if (stage_contracts(&c->k->stage[i]))
            unit = unit && gpu_by_unit(&c->k->stage[i], &u);
    const bool half = unit && gpu_by_unit(&c->k->stage[c->k->main], &u) &&
                      ts_dtype_bytes(value_of(&c->k->stage[c->k->main], u.load[0])->type.dtype) == 2;
    return half ? (double)card->bf16 / 2 / (double)card->clock / card->processors : c->p->on->cost.fma_per_cycle;
}

static void find_time(const figuring *c)
{
    gpu_figures *f = c->f;
    const target *t = c->p->on;
    const gpu_facts *card = gpu_facts_of(t);
    const double each = ceil(f->groups / card->processors), resident = f->room.resident ? (double)f->room.resident : 1;
    f->products = each * c->k->flops / f->groups / 2 / products_of(c);
    f->shared = each * f->banks;
    f->cache = each * f->moved / t->level[GPU_L2].bytes_per_cycle;
    f->memory = fmax(fit_traffic(c->p, c->k, GPU_L2), c->k->bytes) / t->level[GPU_MEMORY].bytes_per_cycle /
                card->processors;
    f->latency = ceil(each / resident) * waits(c->p, c->k) * GPU_LATENCY;
    const struct {
        const char *what;
        double cycles;
    } of[] = {{"products", f->products},
              {"shared memory", f->shared},
              {"cache", f->cache},
              {"memory", f->memory},
              {"latency", f->latency}};
    double most = -1;
    for (int i = 0; i < COUNT(of); i++)
        if (of[i].cycles > most)
            most = of[i].cycles, f->bound = of[i].what;
    f->seconds = most / (double)card->clock;
}

void gpu_figures_find(const plan *p, const kernel *k, gpu_figures *f)
{
    const gpu_facts *card = gpu_facts_of(p->on);
    const nest *outer = nest_outer(k);
    *f = (gpu_figures){.groups = 1, .lanes = nest_group_lanes(p, k)};
    for (int l = 0; l < outer->n; l++)
        f->groups *= is_dealt(&outer->loop[l]) ? (double)loop_trips(&outer->loop[l]) : 1;
    f->groups = f->groups < 1 ? 1 : f->groups;
    f->room = (gpu_room){.lanes = f->lanes, .registers = gpu_registers(p, k), .shared = gpu_shared_bytes(p, k)};
    gpu_resident(card, &f->room);
    const double at_once = (double)(f->room.resident * card->processors);
    f->occupancy = card->lanes ? (double)(f->room.resident * f->lanes) / card->lanes : 0;
    f->waves = at_once > 0 ? ceil(f->groups / at_once) : 0;
    f->last = at_once > 0 ? (f->groups - (f->waves - 1) * at_once) / at_once : 0;
    for (int i = 0; i < k->n_stage; i++)
        add_stage(&(figuring){.p = p, .k = k, .s = &k->stage[i], .f = f});
    find_time(&(figuring){.p = p, .k = k, .f = f});
}
