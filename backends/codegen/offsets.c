/* offsets.c - where a stage's loads and results are: offsets as forms of its axes. */
#include "backends/codegen/emit.h"
#include "schedule/plan/extents.h"
#include "schedule/nest/kept.h"

dtype source_dtype(const emitter *m, int load)
{
    return stored_as(m->p, m->s->load[load]->from);
}

/* The alignment in elements of a load's memory. An input of a part lies in the whole plan's memory, whose alignment may
 * be smaller. */
int64_t place_grain(const emitter *m, int load)
{
    const plan *p = m->p;
    const node *n = load == RESULT ? m->s->node : m->s->load[load]->from;
    const int input = p->input_grain ? input_of(p, n) : -1;
    const int64_t grain = input < 0 ? p->on->align : p->input_grain[input] / ts_dtype_bytes(stored_as(p, n));
    return grain > 1 ? grain : 1;
}

/* Narrows [low, high], the range of a, under a condition. A bound on `place` bounds a too: a is place plus their
 * difference, whose range is known. */
static void bounds_under(emitter *m, const expr *condition, const affine *a, const affine *const *axis, int64_t *low,
                         int64_t *high)
{
    split c;
    int64_t least, most, sum;
    if (x_is_call(condition, "and"))
        for (int i = 0; i < 2; i++)
            bounds_under(m, condition->arg[i], a, axis, low, high);
    if (!bounds_read(condition, &c))
        return;
    affine_bounds(&m->sp, affine_add(&m->sp, a, affine_of(&m->sp, c.place, axis), -1), &least, &most);
    if (c.low && least != INT64_MIN && int_add(c.bound, least, &sum) && sum > *low)
        *low = sum;
    if (!c.low && most != INT64_MAX && int_add(c.bound - 1, most, &sum) && sum < *high)
        *high = sum;
}

/* Whether a subscript stays inside its dimension. A copy made under a condition need not be inside where that fails. */
static bool within(emitter *m, const affine *a, int64_t extent, const affine *const *axis)
{
    int64_t low, high;
    affine_bounds(&m->sp, a, &low, &high);
    if (m->copy.under)
        bounds_under(m, m->copy.under, a, axis, &low, &high);
    return low >= 0 && high < extent;
}

const expr *checked_place(emitter *m, const expr *at, int64_t extent)
{
    const bool done = x_is_call(at, "at") &&
                      (at->arg[1]->kind != X_LIT || at->arg[1]->whole <= extent); /* or what a run has of it */
    return done ? at : x2(m->mem, "at", at, x_whole(m->mem, extent));
}

/* Subscripts of a load; a non-linear one is checked when the kernel runs. A copy also covers elements that a condition
 * hides from the tile (padding, the other part of a concat): there it reads the nearest element. */
static void subscripts(emitter *m, const expr *load, const affine *const *axis, const affine **out)
{
    for (int i = 0; i < load->n; i++) {
        out[i] = affine_of(&m->sp, load->arg[i], axis);
        const int64_t extent = load->from->type.dim[i];
        const bool told = x_count(load->arg[i], X_LOAD) > 0; /* by data; all else is inside wherever it is read */
        if (m->copy.on && !told && !within(m, out[i], extent, axis)) {
            const expr *below = x2(m->mem, "min", load->arg[i], x_whole(m->mem, extent - 1));
            out[i] = affine_of(&m->sp, x2(m->mem, "max", below, x_whole(m->mem, 0)), axis);
        } else if (affine_has_expr(out[i])) {
            const varying below = extents_of(m->p, load->from, i);
            out[i] = affine_of(&m->sp, checked_place(m, varying_place(m, load->arg[i], &below), extent), axis);
        }
    }
}

/* An axis counted from the start of the slice. In a tile that start is part of its pointer already. */
static const affine *relative(emitter *m, const affine *axis, const affine *base)
{
    return m->tile.made ? axis : affine_add(&m->sp, axis, base, -1);
}

/* The offset in a slice that an earlier stage left: shared axes count from the current trip of the shared loops, the
 * others from 0. */
static const affine *slice_offset(emitter *m, const stage *from, const affine *const *sub, const affine *const *axis)
{
    const affine *sum = affine_const(&m->sp, 0);
    kept y;
    kept_find(m->k, (int)(from - m->k->stage), &y);
    for (int d = from->node->type.rank; d-- > 0;)
        if (y.dim[d])
            sum = affine_add(&m->sp, sum, affine_add(&m->sp, sub[d], affine_const(&m->sp, -from->low[d]), 1), y.dim[d]);
    for (int a = from->n_shared; a-- > 0;)
        sum = affine_add(&m->sp, sum, relative(m, axis[a], m->stage.base[a]), y.axis[a]);
    return sum;
}

/* In elements, from where the operand, slice or copy begins. */
const affine *source_offset(emitter *m, int load, const affine *const *axis)
{
    const expr *x = m->s->load[load];
    const source *q = &m->data.source[m->stage.at][load];
    const affine *sub[MAX_RANK], *sum = affine_const(&m->sp, 0);
    if (q->from == FROM_RESULT)
        return store_offset(m, axis);
    if (q->from == FROM_COPY) {
        for (int a = 0; a < m->s->n_axis; a++)
            if (q->stride[a])
                sum = affine_add(&m->sp, sum,
                                 q->inside ? affine_add(&m->sp, axis[a], q->base[a], -1)
                                           : relative(m, axis[a], q->base[a]),
                                 q->stride[a]);
        return sum;
    }
    subscripts(m, x, axis, sub);
    if (q->from == FROM_STAGE)
        return slice_offset(m, &m->k->stage[q->stage], sub, axis);
    return layout_offset(&m->sp, m->data.operand[q->operand].layout, sub);
}

const affine *state_offset(emitter *m, const affine *const *axis)
{
    const affine *sub[MAX_RANK];
    for (int i = 0; i < m->s->node->type.rank; i++)
        sub[i] = affine_of(&m->sp, m->s->store[i], axis);
    return slice_offset(m, m->s, sub, axis);
}

/* In elements of the result's layout, or of its slice in scratch. */
const affine *store_offset(emitter *m, const affine *const *axis)
{
    const affine *sub[MAX_RANK];
    for (int i = 0; i < m->s->node->type.rank; i++)
        sub[i] = affine_of(&m->sp, m->s->store[i], axis);
    if (m->s->n_piece)
        sub[0] = affine_const(&m->sp, m->tile.piece);
    if (m->s->scratch)
        return slice_offset(m, m->s, sub, axis);
    return layout_offset(&m->sp, &m->p->buffer[m->s->node->id].layout, sub);
}
