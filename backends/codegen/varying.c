/* varying.c - extents that a run says: size0, size1, ... in a kernel. Loops outside tiles make as many trips as there
 * is something left for. Along an axis of the result the last trip may compute elements that are not there: they lie
 * within the bound, and nobody reads them. A fold has to end where the extent does, so a tile that may meet the end is
 * there twice: for trips that have all their elements, as if the extent were a constant, and clipped: serial loops end
 * where whole steps do, and one trip more adds only what is there. */
#include "backends/codegen/trips.h"
#include "schedule/plan/extents.h"

#include <stdio.h>
#include <string.h>

void varying_begin(emitter *m)
{
    for (int v = 0; v < m->p->n_variable; v++) {
        char name[16];
        snprintf(name, sizeof name, "size%d", v);
        m->sp.size[v] = affine_var(&m->sp, var_add(&m->sp, name, m->p->variable[v].low, m->p->variable[v].high));
    }
}

bool varying_axis(const emitter *m, int axis)
{
    return m->s->varies[axis].by != 0;
}

static void use(emitter *m, int v)
{
    *(m->tile.made ? &m->tile.made->sizes : &m->varies.used) |= 1u << v;
}

void varying_name(emitter *m, text *t, int v)
{
    use(m, v);
    text_add(t, "size%d", v);
}

/* They are the first variables of the kernel's indices. */
void varying_used(emitter *m, const affine *a)
{
    for (int i = 0; i < a->n && m->p->n_variable; i++) {
        const atom *q = a->t[i].a;
        if (q->kind == A_DIV)
            varying_used(m, q->of);
        else if (q->kind == A_VAR && q->var < m->p->n_variable)
            use(m, q->var);
    }
}

static const affine *extent_of(emitter *m, const varying *v)
{
    const affine *all = affine_const(&m->sp, v->plus);
    for (int i = 0; i < m->p->n_variable; i++)
        if (v->by >> i & 1)
            all = affine_add(&m->sp, all, m->sp.size[i], v->times[i]);
    return affine_div(&m->sp, all, v->per);
}

/* What there is of an axis from `at` on */
static const cexpr *left(emitter *m, const varying *v, const affine *at)
{
    if (m->tile.made)
        emit_passed(m, at);
    const cexpr *sum = emit_index(m, affine_add(&m->sp, extent_of(m, v), at, -1));
    return v->ends ? cexpr_least(m->mem, sum, emit_index(m, affine_add(&m->sp, affine_const(&m->sp, v->limit), at, -1)))
                   : sum;
}

const cexpr *varying_trips(emitter *m, const varying *v, const affine *at, int64_t step)
{
    return cexpr_floor(m->mem, cexpr_plus(m->mem, left(m, v, at), step - 1), step, false);
}

/* The same of whole steps */
static const cexpr *varying_whole(emitter *m, const varying *v, const affine *at, int64_t step)
{
    return cexpr_floor(m->mem, left(m, v, at), step, false);
}

const cexpr *varying_full(emitter *m) /* along axes that it sums up */
{
    const cexpr *all = NULL;
    for (int a = 0; a < m->s->n_axis; a++)
        if (stage_exact(m->s) >> a & 1)
            all = cexpr_both(m->mem, all,
                             cexpr_whole(m->mem, W_LEAST, left(m, &m->s->varies[a], m->here.axis[a]),
                                         emit_whole(m, m->here.cur[a])));
    return all;
}

/* Half of n elements, in whole steps; 0: one step cannot be halved. */
static int64_t half_of(int64_t n, int64_t step)
{
    return step && n >= 2 * step ? int_ceil_div(int_ceil_div(n, step), 2) * step : 0;
}

/* Of a tile of sums, or of half of it: what half of that has of a varying axis of the result, as whole vectors; 0:
 * there is none. */
static int64_t tile_half(const emitter *m, int axis)
{
    const int tile = nest_tile(m->s);
    const int64_t all = m->here.cur[axis], whole = nest_left(m->k, m->s, axis, tile - 1);
    int64_t step = 0;
    if (!varying_axis(m, axis) || !m->stage.fold || !stage_contracts(m->s) || m->group > 1)
        return 0;
    for (int l = tile; l < m->s->nest.n; l++) {
        const loop *q = &m->s->nest.loop[l];
        if (q->axis == axis && (!q->role->in_registers || q->step > 1))
            return 0;
        if (q->axis == axis)
            step = q->role->lanes ? nest_lanes(m->p, m->s) : 1;
    }
    return all == whole || all == half_of(whole, step) ? half_of(all, step) : 0;
}

const cexpr *varying_more(emitter *m, int axis, int64_t than)
{
    return cexpr_two(m->mem, "($0 > $1)", left(m, &m->s->varies[axis], m->here.axis[axis]), emit_whole(m, than));
}

/* Branches: `more` where the tile has more than `left` elements of the axis, else `rest`; axis -1: all those summed */
static strip *two_ways(emitter *m, strip *more, strip *rest, int axis, int64_t left)
{
    more = trips_wrap(m, T_IF, more), rest = trips_wrap(m, T_ELSE, rest);
    more->loop = rest->loop = axis, more->left = rest->left = left, more->next = rest;
    return more;
}

strip *halves_pass(emitter *m, strip *t)
{
    int64_t half = 0;
    if (t->kind != T_TILE)
        return t;
    while (t->loop < m->s->n_result && !(half = tile_half(m, t->loop)))
        t->loop++;
    if (!half)
        return t;
    strip *more = trips_copy(m, t), *rest = trips_copy(m, t);
    more->loop++;
    return two_ways(m, more, rest, t->loop, half);
}

strip *sums_pass(emitter *m, strip *t)
{
    const uint32_t axes = stage_exact(m->s);
    bool asked = true; /* a tile that has all of some axis is never whole for certain */
    if (t->kind != T_TILE || t->way || !axes)
        return t;
    for (int a = 0; a < m->s->n_axis; a++)
        asked = asked && !(axes >> a & 1 && m->here.cur[a] == m->s->extent[a]);
    strip *whole = asked ? trips_copy(m, t) : NULL;
    t->way = TRIPS_LEFT;
    if (!whole)
        return t;
    whole->way = WHOLE_TRIPS;
    return two_ways(m, whole, t, -1, 0);
}

/* ---- in a tile ---- */
/* It sums up the axis, which may end within. */
static bool varying_clips(const emitter *m, int axis)
{
    return m->tile.clipped && stage_exact(m->s) >> axis & 1;
}

static bool serial_below(const emitter *m, int axis, int l) /* in the tile, a loop over it behind loop l */
{
    for (int i = l + 1; i < nest_unrolled(m->s); i++)
        if (m->s->nest.loop[i].axis == axis)
            return true;
    return false;
}

/* In which ways the trips of the loop are made: how many ways. */
static int ways_of(const emitter *m, const strip *t, trips_way out[2])
{
    const loop *q = trips_loop(m, t);
    if (!varying_clips(m, q->axis))
        return out[0] = EVERY_TRIP, 1;
    if (q->step == 1 || serial_below(m, q->axis, t->loop))
        return out[0] = TRIPS_LEFT, 1;
    if (t->left < q->step)
        return out[0] = LAST_TRIP, 1;
    return out[0] = WHOLE_TRIPS, out[1] = LAST_TRIP, 2;
}

enum { VECTORS = 2 }; /* that a row is walked by */

bool varying_row(const emitter *m, int l, int64_t trips)
{
    const loop *q = &m->s->nest.loop[l];
    return varying_axis(m, q->axis) && !m->stage.fold && !m->stage.carries && q->role->lanes && q->step == 1 &&
           trips > VECTORS * nest_lanes(m->p, m->s);
}

void varying_bounds(emitter *m, int l, trips_way way, const cexpr **from, const cexpr **to)
{
    const loop *q = &m->s->nest.loop[l];
    const varying *v = &m->s->varies[q->axis];
    const affine *at = m->tile.plain[q->axis];
    const int64_t row = VECTORS * nest_lanes(m->p, m->s);
    const cexpr *end = way == WHOLE_TRIPS    ? varying_whole(m, v, at, q->step)
                       : way == VECTORS_LEFT ? cexpr_times(m->mem, varying_trips(m, v, at, row), row)
                                             : varying_trips(m, v, at, q->step);
    *to = cexpr_least(m->mem, *to, end);
    if (way == LAST_TRIP)
        *from = cexpr_most(m->mem, *from, varying_whole(m, v, at, q->step));
}

static void end_within(emitter *m, strip *t, trips_way way)
{
    t->way = way;
    if (!way)
        return;
    t->from = t->from ? t->from : emit_whole(m, t->first), t->to = t->to ? t->to : emit_whole(m, t->end);
    varying_bounds(m, t->loop, way, &t->from, &t->to);
}

strip *ends_pass(emitter *m, strip *t)
{
    trips_way way[2] = {VECTORS_LEFT};
    int n = 1;
    if (!m->tile.made || t->kind != T_LOOP)
        return t;
    if (t->loop < nest_unrolled(m->s))
        n = ways_of(m, t, way);
    else if (!varying_row(m, t->loop, t->end - t->first))
        return t;
    strip *more = n > 1 ? trips_copy(m, t) : NULL;
    end_within(m, t, way[0]);
    if (more)
        end_within(m, more, way[1]), t->next = more;
    return t;
}

uint32_t varying_always(const emitter *m)
{
    uint32_t axes = 0;
    for (int a = 0; a < m->s->n_axis; a++)
        if (varying_clips(m, a) && !serial_below(m, a, nest_tile(m->s) - 1))
            axes |= 1u << a;
    return axes;
}

static const expr *there(emitter *m, const stage *s, uint32_t axes) /* whether the element is, along these axes */
{
    const expr *all = NULL;
    for (int a = 0; a < s->n_axis; a++) {
        if (!(axes >> a & 1))
            continue;
        const expr *one = x2(m->mem, "lt", x_axis(m->mem, a), extents_expr(m->mem, &s->varies[a]));
        all = all ? x2(m->mem, "and", all, one) : one;
    }
    return all;
}

const expr *varying_term(emitter *m, const expr *x)
{
    const fn *by = m->stage.fold->fn;
    const expr *inside = m->tile.there = m->tile.tested ? there(m, m->s, m->tile.tested) : NULL;
    if (!inside)
        return x;
    if (x_is_call(x, "mul") && !strcmp(by->name, "add") &&
        dtype_class(x->dtype) == D_REAL) { /* it stays a product, which is added in one step */
        const expr *zero = x_real(m->mem, 0);
        return x2(m->mem, "mul", x3(m->mem, "select", inside, x->arg[0], zero),
                  x3(m->mem, "select", inside, x->arg[1], zero));
    }
    return x3(m->mem, "select", inside, x, x_unit(m->mem, by, m->stage.fold->dtype));
}

const expr *varying_step(emitter *m, const expr *x, int k)
{
    const expr *inside = m->tile.there = m->tile.tested ? there(m, m->s, m->tile.tested) : NULL;
    return inside ? x3(m->mem, "select", inside, x, x_state(m->mem, x->dtype, k)) : x;
}

/* A place that data say: below what there is of the dimension; what data say where there are none is not asked. */
const expr *varying_place(emitter *m, const expr *x, const varying *below)
{
    const uint32_t axes = x_axes(x) & stage_varying(m->s);
    const bool at = x_is_call(x, "at");
    if (!axes && !below->by)
        return x;
    const expr *place = at ? x->arg[0] : x, *end = below->by ? extents_expr(m->mem, below) : at ? x->arg[1] : NULL;
    if (axes)
        place = x3(m->mem, "select", there(m, m->s, axes), place, x_whole(m->mem, 0));
    return end ? x2(m->mem, "at", place, end) : place;
}

static bool rounded(const stage *s)
{
    bool any = false;
    for (int a = 0; a < s->n_axis; a++)
        any = any || (s->varies[a].by && (s->varies[a].per > 1 || s->varies[a].ends));
    return any;
}

/* The condition that the element exists: beyond the run's extent a place counted from an end may lie outside. For
 * places that data say, varying_place asks, together with all that is read for them. */
static const expr *inside_of(emitter *m, const node *from, int d, const expr *at)
{
    const varying v = extents_of(m->p, from, d);
    if (x_find(at, X_LOAD))
        return NULL;
    if (x_find(at, X_SIZE) && x_axes(at) & stage_varying(m->s) & ~stage_exact(m->s))
        return x2(m->mem, "and", x2(m->mem, "le", x_whole(m->mem, 0), at),
                  x2(m->mem, "lt", at, x_whole(m->mem, from->type.dim[d])));
    const bool along = at->kind == X_AXIS && extents_same(&v, &m->s->varies[at->axis]);
    return v.by && !along && rounded(m->s) ? x2(m->mem, "lt", at, extents_expr(m->mem, &v)) : NULL;
}

static const expr *inside(void *user, const expr *x)
{
    emitter *m = user;
    const expr *all = NULL;
    for (int i = 0; x->kind == X_LOAD && i < x->n; i++) {
        const expr *one = inside_of(m, x->from, i, x->arg[i]);
        all = !one ? all : all ? x2(m->mem, "and", all, one) : one;
    }
    return all ? x3(m->mem, "select", all, x, x_whole(m->mem, 0)) : x;
}

const expr *varying_inside(emitter *m, const expr *x)
{
    return rounded(m->s) || x_find(x, X_SIZE) ? x_map_values(m->mem, x, inside, m) : x;
}

void varying_arguments(emitter *m, const tile_made *f, arguments *a)
{
    for (int v = 0; v < m->p->n_variable; v++)
        if (f->sizes >> v & 1)
            use(m, v), argument_number(m, a, arena_format(m->mem, "size%d", v), NULL);
}
