/* varying.c - extents that a run says: size0, size1, ... in a kernel. Loops outside tiles make as many trips as there
 * is something left for. Along an axis of the result the last trip may compute elements that are not there: they lie
 * within the bound, and nobody reads them. A fold has to end where the extent does (sums.c, ends.c). */
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

const cexpr *varying_more(emitter *m, int axis, int64_t than)
{
    return cexpr_two(m->mem, "($0 > $1)", left(m, &m->s->varies[axis], m->here.axis[axis]), emit_whole(m, than));
}

/* ---- in a tile ---- */
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

void varying_arguments(emitter *m, const tile_made *f, arguments *a)
{
    for (int v = 0; v < m->p->n_variable; v++)
        if (f->sizes >> v & 1)
            use(m, v), argument_number(m, a, arena_format(m->mem, "size%d", v), NULL);
}
