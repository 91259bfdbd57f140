/* copies.c - how slices come: all lanes of a group copy together, in the order in which the operand lies in memory, or
 * the device brings boxes of a tensor; and how a matrix unit's fragments are loaded from them. */
#include "backends/gpu/figuring.h"
#include "schedule/nest/box.h"
#include "schedule/nest/fit.h"
#include "schedule/nest/kept.h"

#include <string.h>

typedef struct copied {
    const figuring *c;
    const staging *g;
    spot spot;
    slice y;
    int order[MAX_AXIS]; /* of the slice, from far apart in memory to neighbours */
    int64_t grain;       /* bytes of which all slices begin at multiples */
    int ring;            /* the axis of which slices are on their way; or -1 */
    stand_at stand;
    walk walk;
    known read, put;
    int64_t pieces; /* that a warp copies at the same time as others do theirs: turns of warps in a whole slice */
} copied;

static bool is_within(void *user, const atom *a)
{
    const uint32_t axes = *(const uint32_t *)user;
    return a->kind == A_EXPR && x_axes(a->x) & axes;
}

/* Whether neighbours along each of the slice's axes lie apart by one number. */
static bool lies_even(const affine *at, uint32_t axes)
{
    bool even = true;
    for (int i = 0; i < at->n; i++) {
        const affine one = {.n = 1, .t = &at->t[i]};
        even = even &&
               (at->t[i].a->kind == A_VAR || (at->t[i].a->kind == A_EXPR && !affine_uses(&one, is_within, &axes)));
    }
    return even;
}

static void find_order(copied *q)
{
    const figuring *c = q->c;
    int64_t step[MAX_AXIS] = {0};
    uint32_t axes = 0;
    for (int i = 0; i < q->y.n; i++)
        axes |= 1u << q->y.order[i];
    const bool even = lies_even(q->spot.at, axes);
    memcpy(q->order, q->y.order, sizeof q->order);
    for (int i = 1; i < q->y.n && even; i++)
        for (int j = i; j > 0 && q->spot.stride[q->order[j]] > q->spot.stride[q->order[j - 1]]; j--) {
            const int a = q->order[j];
            q->order[j] = q->order[j - 1], q->order[j - 1] = a;
        }
    for (int d = 1; d <= q->stand.upto; d++) {
        const loop *l = fit_loop(c->k, c->s, d);
        if (d > c->k->shared.n || l->axis < c->s->n_shared)
            step[l->axis] = int_gcd(l->step, step[l->axis]);
    }
    q->grain = spot_grain(&q->spot, 0, step);
}

/* Elements along an axis that the copy has: of a unit's slice and of a ring's axis all, be they there or not */
static int64_t along(const copied *q, int axis, const standing *now)
{
    const int64_t n = q->y.whole ? q->y.extent[axis] : axis == q->ring ? q->y.extent[axis] : now->left[axis];
    return n > 1 ? n : 1;
}

static bool is_along(void *user, const atom *a)
{
    const int axis = *(const int *)user;
    return a->kind == A_VAR ? a->var == axis : a->kind == A_EXPR && x_axes(a->x) >> axis & 1;
}

/* Elements moved at once: neighbours, of whose number all places of operand and slice are multiples */
static int64_t width_of(const copied *q, const standing *now)
{
    const stage *s = q->c->s;
    const int64_t size = q->spot.size;
    const int inner = q->y.n ? q->order[q->y.n - 1] : -1;
    if (inner < 0 || q->g->shared || stage_guard(s, q->g->load) || q->spot.stride[inner] != size ||
        q->y.stride[inner] != 1)
        return 1;
    const int64_t run = affine_run(q->spot.at, is_along, &(int){inner});
    for (int64_t bytes = WIDE; bytes > size && bytes >= BANK; bytes /= 2) {
        const int64_t width = bytes / size,
                      ends[] = {along(q, inner, now), inner == q->ring ? now->run : now->left[inner]};
        bool fits = run % width == 0 && ends[0] % width == 0 && ends[1] % width == 0 && q->grain % bytes == 0;
        for (int i = 0; i < q->y.n - 1 && fits; i++)
            fits = along(q, q->order[i], now) <= 1 ||
                   (q->spot.stride[q->order[i]] % bytes == 0 && q->y.stride[q->order[i]] % width == 0);
        if (fits)
            return width;
    }
    return 1;
}

typedef struct copied_pick { /* of one warp: where its lanes read, and where they write */
    int n, n_read;
    int64_t from[WARP], to[WARP];
} copied_pick;

static void find_piece(const copied *q, const standing *now, int64_t piece, int64_t width, copied_pick *out)
{
    standing one = *now;
    int64_t place = 0, rest = piece;
    bool there = true;
    for (int j = q->y.n; j-- > 0;) {
        const int a = q->order[j];
        const int64_t each = j == q->y.n - 1 ? width : 1, n = along(q, a, now) / each, at = rest % n * each;
        there = there && at < now->left[a], one.at[a] += at, one.own[a] += at;
        place += q->y.stride[a] == 1 ? slice_along(&q->y, at) : at * q->y.stride[a];
        rest /= n;
    }
    out->to[out->n++] = slice_swizzled(place, q->y.shift, q->y.mask, q->y.piece) * q->spot.size;
    if (there && spot_reads(&q->spot, &one))
        out->from[out->n_read++] = spot_at(&q->spot, &one);
}

static void find_trips(const copied *q, const int64_t *number, int64_t *trip)
{
    memset(trip, 0, MAX_DEPTH * sizeof *trip);
    for (int d = 1; d <= q->stand.upto; d++)
        trip[d] = number[d - 1];
}

/* The pieces of one warp's turn, and of those after as many turns as whole slices have */
static void copy_turn(copied *q, const int64_t *number, gpu_access *one, tally *read, gpu_access *two, tally *put)
{
    const int64_t warp = int_min(q->c->p->on->warp, WARP);
    int64_t trip[MAX_DEPTH], all = 1;
    standing now;
    find_trips(q, number, trip);
    if (!walk_stand(&q->stand, trip, &now))
        return;
    const int64_t sector = q->spot.even ? int_floor_mod(spot_at(&q->spot, &now), SECTOR) : 0,
                  key = 1 + number[q->stand.upto] * SECTOR + sector;
    const bool alike = q->spot.even && now.full;
    const tally before = *read, before_put = *put;
    if (alike && known_add(&q->read, key, read) && known_add(&q->put, key, put))
        return;
    const int64_t width = width_of(q, &now);
    for (int i = 0; i < q->y.n; i++)
        all *= along(q, q->order[i], &now);
    all /= width;
    gpu_access from = *one, to = *two;
    from.bytes = to.bytes = width * q->spot.size;
    for (int64_t turn = number[q->stand.upto]; turn * warp < all; turn += q->pieces) {
        copied_pick pick = {0};
        for (int64_t i = turn * warp; i < int_min((turn + 1) * warp, all); i++)
            find_piece(q, &now, i, width, &pick);
        figure_warp(&from, read, pick.from, pick.n_read), figure_warp(&to, put, pick.to, pick.n);
    }
    one->parts = from.parts, one->least = from.least, two->parts = to.parts, two->least = to.least;
    if (alike)
        known_put(&q->read, key, &before, read), known_put(&q->put, key, &before_put, put);
}

/* ---- boxes ---- */
/* Rows of a box, of which what lies outside of the tensor is not read; a sector that goes on where the row before ended
 * comes once. */
static void box_turn(const copied *q, const box *b, const int64_t *number, tally *read)
{
    int64_t trip[MAX_DEPTH], rows = 1, first[BOX_DIMS], last = INT64_MIN;
    standing now;
    find_trips(q, number, trip);
    if (!walk_stand(&q->stand, trip, &now))
        return;
    for (int d = 0; d < b->n; d++) {
        first[d] = b->dim[d].at;
        for (int a = 0; a < q->c->s->n_axis; a++)
            first[d] += b->dim[d].by[a] * now.at[a];
        rows *= d ? b->dim[d].count : b->pieces;
    }
    for (int64_t i = 0; i < rows; i++) {
        int64_t rest = i / b->pieces, at = b->first;
        const int64_t begin = first[0] + i % b->pieces * b->dim[0].count,
                      end = int_min(begin + b->dim[0].count, b->dim[0].extent);
        bool inside = int_max(begin, 0) < end;
        for (int d = 1; d < b->n; d++) {
            const int64_t place = first[d] + rest % b->dim[d].count;
            inside = inside && place >= 0 && place < b->dim[d].extent;
            at += place * b->dim[d].stride, rest /= b->dim[d].count;
        }
        if (!inside)
            continue;
        const int64_t low = (at + int_max(begin, 0) * b->size) / SECTOR, high = (at + end * b->size - 1) / SECTOR;
        read->times++, read->parts += (double)(high - low + (low != last)), last = high;
        read->least += (double)((end - int_max(begin, 0)) * b->size) / SECTOR;
    }
}

/* ---- slices ---- */
static standing whole_slice(const copied *q)
{
    standing whole = {.run = q->ring < 0 ? 0 : q->c->s->extent[q->ring]};
    memcpy(whole.left, q->y.extent, sizeof whole.left);
    return whole;
}

static void begin(copied *q, const figuring *c, const staging *g)
{
    const int upto = g->shared ? g->loop + 1 : c->k->shared.n + g->loop + 1;
    const bool ring = !g->shared && g->stages > 1;
    int64_t all = 1;
    *q = (copied){.c = c, .g = g, .ring = ring ? c->s->nest.loop[g->loop].axis : -1};
    q->stand = (stand_at){.k = c->k, .s = c->s, .upto = upto, .run = ring ? upto : 0};
    stand_begin(&q->stand);
    slice_find(c->p, c->k, c->s, g, &q->y);
    spot_make(&q->spot, c->p, c->s, g->load);
    if (stage_guard(c->s, g->load))
        spot_conditions(&q->spot, stage_guard(c->s, g->load), c->s->load[g->load]);
    find_order(q);
    for (int i = 0; i < q->y.n; i++)
        all *= q->y.extent[q->y.order[i]] > 1 ? q->y.extent[q->y.order[i]] : 1;
    const standing whole = whole_slice(q);
    for (int d = 1; d <= upto; d++)
        q->walk.trips[q->walk.n++] = loop_trips(fit_loop(c->k, c->s, d));
    q->pieces = int_ceil_div(all / width_of(q, &whole), int_min(c->p->on->warp, WARP));
}

void figure_copy(const figuring *c, const staging *g)
{
    copied q;
    box b;
    tally read = {0}, put = {0};
    int64_t number[MAX_WALKED];
    begin(&q, c, g);
    const bool boxed = !box_find(c->p, c->k, c->s, g, &b);
    if (!boxed)
        q.walk.trips[q.walk.n++] = q.pieces;
    const standing whole = whole_slice(&q);
    gpu_access one = {.load = g->load, .copy = true, .bytes = boxed ? WIDE : width_of(&q, &whole) * q.spot.size},
               two = one;
    two.shared = true;
    walk_begin(&q.walk);
    for (int64_t i = 0; i < q.walk.few; i++) {
        walk_pick(&q.walk, i, number);
        if (boxed)
            box_turn(&q, &b, number, &read);
        else
            copy_turn(&q, number, &one, &read, &two, &put);
    }
    const double masked = g->shared ? 1 : trips_masked(c->k, c->s, g->loop + 1),
                 share = q.walk.few ? masked * q.walk.all / (double)q.walk.few / c->f->groups : 0;
    if (boxed && read.times > 0)
        one.parts = (int64_t)(read.parts / read.times + 0.5), one.least = (int64_t)(read.least / read.times + 0.5);
    figure_add(c, &one, &read, share), figure_add(c, &two, &put, share);
    spot_free(&q.spot);
}

int64_t figure_held(const figuring *c, const staging *g)
{
    copied q;
    box b;
    if (g->shared || g->stages < 2 || !box_find(c->p, c->k, c->s, g, &b))
        return 0;
    begin(&q, c, g);
    const standing whole = whole_slice(&q);
    const bool sent = !stage_guard(c->s, g->load) && width_of(&q, &whole) * q.spot.size >= BANK;
    spot_free(&q.spot);
    return sent ? 0 : int_ceil_div(q.pieces * int_min(c->p->on->warp, WARP), nest_group_lanes(c->p, c->k));
}

/* ---- fragments ---- */
void figure_fragments(const figuring *c, int load, const staging *g, const unit_loops *u)
{
    enum { ROWS = 8 };
    const stage *s = c->s;
    const int own = s->nest.loop[u->loop[load == u->load[1]]].axis, folded = s->nest.loop[u->loop[2]].axis;
    const int64_t size = ts_dtype_bytes(stage_value(s, load)->type.dtype);
    slice y = {.size = 1};
    int64_t at[ROWS];
    if (g)
        slice_find(c->p, c->k, s, g, &y);
    else
        y.stride[own] = kept_stride(c->k, s, load, own), y.stride[folded] = kept_stride(c->k, s, load, folded);
    for (int i = 0; i < ROWS; i++)
        at[i] = size * slice_swizzled(i * y.stride[y.stride[folded] == 1 ? own : folded], y.shift, y.mask, y.piece);
    const matrix_unit *v = nest_unit_row(c->p, s, u);
    gpu_access a = {.load = load, .shared = true, .bytes = WIDE};
    double times = trips_of_value(c->k, s, figure_axes(s, load)) * (double)int_ceil_div(nest_group(s), c->p->on->warp);
    if (v && v->warps && load == u->load[1]) /* it is read once for all of them */
        times /= v->warps;
    a.least = u->trips[load == u->load[1]] * u->trips[2] * size / (ROWS * WIDE);
    a.parts = a.least * warp_cycles(at, ROWS, WIDE);
    figure_add(c, &a, &(tally){1, (double)a.parts, (double)a.least}, times);
}
