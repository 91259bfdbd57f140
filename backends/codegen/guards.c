/* guards.c - padding without tests. Where a fold adds what a guard lets through ("inside ? x[...] : 0", times a
 * weight; the lowest number under a max), a point outside adds nothing, so the loops may leave it out: each comparison
 * of the guard with a bound becomes a bound of the last loop of the tile that it depends on.
 *
 * A serial fold gets bounds that are computed when it starts (lines of the kernel at an image's border). An unrolled
 * loop needs constants: the folds that it depends on with are written out, trip by trip, and the loops outside write
 * their first and last trips apart, so that a tile at the border knows where it stands. What none of this
 * settles stays in the guard. */
#include "backends/codegen/trips.h"

#include <string.h>

/* ---- the guard and its comparisons ---- */
static bool is_guard(const expr *x, double otherwise)
{
    if (!x_is_choice(x))
        return false;
    const expr *y = x_uncast(x->arg[2]);
    return y->kind == X_LIT && y->lit == otherwise;
}

static const expr *find_guard(const expr *fold)
{
    const expr *x = x_uncast(fold->arg[0]);
    const double unit = fold->fn->unit;
    if (is_guard(x, unit) && (unit == 0 || dtype_class(fold->dtype) == D_REAL))
        return x;
    const bool product = x_is_call(x, "mul") && x_folds_by(fold, "add");
    for (int i = 0; product && i < x->n; i++)
        if (is_guard(x_uncast(x->arg[i]), 0))
            return x_uncast(x->arg[i]);
    return NULL;
}

bool bounds_read(const expr *x, split *c)
{
    const bool strict = x_is_call(x, "lt");
    if (!strict && !x_is_call(x, "le"))
        return false;
    const expr *a = x->arg[0], *b = x->arg[1];
    if (a->kind == X_LIT && a->is_whole && b->dtype == TS_I64)
        *c = (split){.x = x, .place = b, .low = true, .bound = a->whole + strict};
    else if (b->kind == X_LIT && b->is_whole && a->dtype == TS_I64)
        *c = (split){.x = x, .place = a, .bound = b->whole + !strict};
    else
        return false;
    return true;
}

static int comparisons(const expr *x)
{
    return x_is_call(x, "and") ? comparisons(x->arg[0]) + comparisons(x->arg[1]) : 1;
}

static void add_bounds(emitter *m, const expr *x)
{
    if (x_is_call(x, "and")) {
        add_bounds(m, x->arg[0]), add_bounds(m, x->arg[1]);
        return;
    }
    split *c = &m->bounds.split[m->bounds.n++];
    if (!bounds_read(x, c))
        *c = (split){.x = x};
}

static bool is_sum(const emitter *m) /* of one value */
{
    return m->stage.fold && m->stage.fold->kind == X_FOLD;
}

void bounds_find(emitter *m)
{
    const stage *s = m->s;
    m->bounds.n = 0, m->bounds.guard = is_sum(m) ? find_guard(m->stage.fold) : NULL, m->stage.peeled = 0;
    if (!m->bounds.guard || m->p->reference || comparisons(m->bounds.guard->arg[0]) > MAX_SPLIT) {
        m->bounds.guard = NULL;
        return;
    }
    add_bounds(m, m->bounds.guard->arg[0]);
    for (int i = 0; i < m->bounds.n; i++)
        for (int l = nest_unrolled(s); m->bounds.split[i].place && l < s->nest.n; l++)
            if (role_unrolled(s->nest.loop[l].role) && !(s->folds >> s->nest.loop[l].axis & 1))
                m->stage.peeled |= x_axes(m->bounds.split[i].place) & 1u << s->nest.loop[l].axis;
}

/* Whether a comparison of that side can fail in this trip of a loop outside of the tile, which covers the whole axis */
bool bounds_touch(emitter *m, const strip *t, int64_t trip, bool low)
{
    const loop *q = trips_loop(m, t);
    const int n = m->sp.n;
    bool any = false;
    if (nest_left(m->k, m->s, q->axis, t->loop - 1) < m->s->extent[q->axis])
        return false;
    for (int i = 0; i < m->bounds.n && !any; i++) {
        const split *c = &m->bounds.split[i];
        const affine *axis[MAX_AXIS];
        int64_t least, most;
        if (!c->place || c->low != low || !(x_axes(c->place) >> q->axis & 1))
            continue;
        for (int a = 0; a < m->s->n_axis; a++)
            axis[a] = affine_var(&m->sp, var_add(&m->sp, "", 0, (a == q->axis ? q->step : m->s->extent[a]) - 1));
        axis[q->axis] = affine_add(&m->sp, axis[q->axis], affine_const(&m->sp, trip * q->step), 1);
        affine_range(&m->sp, affine_of(&m->sp, c->place, axis), &least, &most);
        any = low ? least < c->bound : most >= c->bound;
        m->sp.n = n;
    }
    return any;
}

/* ---- what becomes of each in a tile ---- */
static bool depends(const emitter *m, const split *c, int l)
{
    return c->place && x_axes(c->place) >> m->s->nest.loop[l].axis & 1;
}

/* The place over the whole tile: where it starts, and what its own loops add, as a variable for each axis */
static const affine *over_tile(emitter *m, const split *c, int tile[MAX_AXIS])
{
    const affine *axis[MAX_AXIS];
    for (int a = 0; a < m->s->n_axis; a++) {
        axis[a] = m->tile.plain[a];
        if (x_axes(c->place) >> a & 1)
            axis[a] = affine_add(&m->sp, axis[a],
                                 affine_var(&m->sp, tile[a] = var_add(&m->sp, "", 0, m->here.cur[a] - 1)), 1);
    }
    return affine_of(&m->sp, c->place, axis);
}

static bool always_holds(emitter *m, const split *c)
{
    int64_t low, high;
    int tile[MAX_AXIS];
    const int n = m->sp.n;
    affine_range(&m->sp, over_tile(m, c, tile), &low, &high);
    m->sp.n = n;
    return low != INT64_MIN && (c->low ? low >= c->bound : high < c->bound);
}

/* Whether each step of the comparison's last loop moves the place by the same number other than 0; strides leave a
 * floor. */
static bool moves_evenly(emitter *m, const split *c)
{
    int tile[MAX_AXIS];
    const int n = m->sp.n;
    const affine *place = over_tile(m, c, tile);
    const bool even = affine_pure(place) && (c->last < 0 || affine_coef(place, tile[m->s->nest.loop[c->last].axis]));
    m->sp.n = n;
    return even;
}

static bool starts_known(const emitter *m, const split *c)
{
    for (int a = 0; a < m->s->n_axis; a++)
        if (x_axes(c->place) >> a & 1 && m->tile.plain[a]->n)
            return false;
    return true;
}

/* Whether the last loop it depends on can take it over; the serial loops that must be written out for that */
static bool can_split(emitter *m, split *c, uint32_t *apart)
{
    int64_t trips = 1;
    const stage *s = m->s;
    *apart = 0;
    if (c->last < 0)
        return true;
    const loop *last = &s->nest.loop[c->last];
    if (last->step != 1 || last->role->lanes)
        return false;
    if (last->role->serial)
        return true;
    for (int l = nest_tile(s); l < c->last; l++) {
        const loop *q = &s->nest.loop[l];
        if (!depends(m, c, l))
            continue;
        if (!q->role->serial)
            return false;
        *apart |= 1u << l, trips *= loop_trips(q);
    }
    return starts_known(m, c) && trips <= MAX_APART;
}

static const expr *reduced(void *user, const expr *x)
{
    const emitter *m = user;
    if (x != m->bounds.guard)
        return x;
    const expr *all = NULL;
    for (int i = 0; i < m->bounds.n; i++)
        if (!m->bounds.split[i].done)
            all = all ? x2(m->mem, "and", all, m->bounds.split[i].x) : m->bounds.split[i].x;
    return all ? x3(m->mem, "select", all, x->arg[1], x->arg[2]) : x->arg[1];
}

void bounds_tile(emitter *m)
{
    m->tile.apart = 0, m->tile.term = is_sum(m) ? m->stage.fold->arg[0] : NULL;
    for (int i = 0; i < m->bounds.n; i++) {
        split *c = &m->bounds.split[i];
        uint32_t apart;
        c->done = false, c->last = -1;
        if (!c->place)
            continue;
        if (always_holds(m, c)) {
            c->done = true, c->last = MAX_LOOP;
            continue;
        }
        for (int l = nest_tile(m->s); l < m->s->nest.n; l++)
            if (depends(m, c, l))
                c->last = l;
        if (!moves_evenly(m, c) || !can_split(m, c, &apart))
            continue;
        c->done = true, m->tile.apart |= apart;
    }
    if (m->bounds.guard)
        m->tile.term = x_map(m->mem, m->tile.term, reduced, m);
}

/* ---- bounds ---- */
static const affine *bound_of(emitter *m, const split *c, const affine *place, int64_t coef, bool *low)
{
    /* place + coef * v >= bound, or < bound, solved for v >= or v < what is returned */
    *low = c->low == (coef > 0);
    if (coef > 0)
        return affine_div(&m->sp, affine_add(&m->sp, affine_const(&m->sp, c->bound + coef - 1), place, -1), coef);
    const affine *over = affine_add(&m->sp, place, affine_const(&m->sp, c->bound), -1);
    return affine_add(&m->sp, affine_div(&m->sp, over, -coef), affine_const(&m->sp, 1), 1);
}

static int64_t clamped(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* The bound that c is of its last loop, where the tile's axes are at `at`. */
static const affine *bound_at(emitter *m, const split *c, const affine *const *at, bool *low)
{
    const int axis = m->s->nest.loop[c->last].axis;
    const affine *one[MAX_AXIS], *place = affine_of(&m->sp, c->place, at);
    memcpy(one, at, sizeof one);
    one[axis] = affine_add(&m->sp, one[axis], affine_const(&m->sp, 1), 1);
    return bound_of(m, c, place, affine_add(&m->sp, affine_of(&m->sp, c->place, one), place, -1)->c, low);
}

/* Whether it is one number of first...end, wherever the loops around stand: that number */
static bool is_number(emitter *m, const affine *bound, int64_t first, int64_t end, int64_t *number)
{
    int64_t low, high;
    affine_range(&m->sp, bound, &low, &high);
    *number = clamped(low, first, end);
    return clamped(high, first, end) == *number;
}

static bool alike(emitter *m, int l, int64_t i) /* trips i and i + 1 of a loop leave the same bounds */
{
    for (int n = 0; n < m->bounds.n; n++) {
        const split *c = &m->bounds.split[n];
        int64_t number[2], end;
        if (!c->done || c->last <= l || c->last == MAX_LOOP || !depends(m, c, l))
            continue;
        end = m->here.cur[m->s->nest.loop[c->last].axis];
        for (int k = l + 1; k < c->last; k++)
            if (depends(m, c, k))
                return false;
        for (int k = 0; k < 2; k++) {
            const affine *at[MAX_AXIS];
            const loop *q = &m->s->nest.loop[l];
            bool low;
            memcpy(at, m->tile.plain, sizeof at);
            at[q->axis] = affine_add(&m->sp, at[q->axis], affine_const(&m->sp, (i + k) * q->step), 1);
            if (!is_number(m, bound_at(m, c, at, &low), 0, end, &number[k]))
                return false;
        }
        if (number[0] != number[1])
            return false;
    }
    return true;
}

/* Narrows the loop; what is known when the program is written is a number. */
static void narrow(emitter *m, strip *t)
{
    const cexpr *from = NULL, *to = NULL;
    for (int pass = 0; pass < 2; pass++) /* constants first */
        for (int i = 0; i < m->bounds.n; i++) {
            const split *c = &m->bounds.split[i];
            int64_t known;
            bool low;
            if (!c->done || c->last != t->loop)
                continue;
            const affine *bound = bound_at(m, c, m->tile.plain, &low);
            const bool constant = is_number(m, bound, t->first, t->end, &known);
            if (!pass && constant)
                *(low ? &t->first : &t->end) = known;
            else if (pass && !(constant && known == (low ? t->first : t->end))) {
                emit_passed(m, bound);
                from = from ? from : emit_whole(m, t->first), to = to ? to : emit_whole(m, t->end);
                const cexpr *one = emit_index(m, bound);
                *(low ? &from : &to) = low ? cexpr_most(m->mem, one, from) : cexpr_least(m->mem, one, to);
            }
        }
    t->from = from, t->to = to;
}

strip *guards_pass(emitter *m, strip *t)
{
    strip *first = NULL, **end = &first;
    if (!m->tile.made || t->kind != T_LOOP || t->ph != BODY)
        return t;
    for (strip *next; t; t = next) {
        for (int64_t i = t->first + 1; m->tile.apart >> t->loop & 1 && i < t->end; i++)
            if (!alike(m, t->loop, i - 1))
                trips_apart(m, t, i);
        next = t->next, t->next = NULL;
        narrow(m, t);
        if (t->first < t->end)
            *end = t, end = &t->next;
    }
    return first;
}

bool bounds_open(emitter *m)
{
    const cexpr *all = NULL;
    for (int i = 0; i < m->bounds.n; i++) {
        const split *c = &m->bounds.split[i];
        if (!c->done || c->last != -1)
            continue;
        const affine *place = affine_of(&m->sp, c->place, m->tile.plain);
        emit_passed(m, place);
        all = cexpr_both(m->mem, all,
                         cexpr_whole(m->mem, c->low ? W_LEAST : W_LESS, emit_index(m, place), emit_whole(m, c->bound)));
    }
    if (all)
        code_if(&m->out.code, all);
    return all;
}
