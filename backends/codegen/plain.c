/* plain.c - loops written as they are, and elements stored: what scatters and scans share. A loop over neighbours goes
 * along vectors where the language has them, and then along what is left of them, one by one. */
#include "backends/codegen/vectors.h"

static const char *loop_axis(const emitter *m, int axis)
{
    return arena_format(m->mem, "%s_%d", m->s->letter[axis], axis);
}

static void stand(emitter *m, int axis) /* in the loop over it */
{
    const int64_t last = int_max(m->s->extent[axis] - 1, 0);
    m->here.axis[axis] = affine_var(&m->sp, var_add(&m->sp, loop_axis(m, axis), 0, last));
}

static void open_loop(emitter *m, int axis, stmt s)
{
    s.kind = S_LOOP, s.name = loop_axis(m, axis);
    code_open(&m->out.code, s);
    stand(m, axis);
}

void plain_loop(emitter *m, int axis, const cexpr *from, const cexpr *to)
{
    open_loop(m, axis, (stmt){.from = from, .to = to});
}

void plain_end(emitter *m, int n)
{
    while (n-- > 0)
        code_close(&m->out.code);
}

void plain_row(emitter *m, const row_loop *r, const cexpr *from, const cexpr *to)
{
    if (r->n) {
        const cexpr *left = vectors_enter(m, r->n, loop_axis(m, r->axis), from, to);
        m->tile.vectors.axis = r->axis;
        stand(m, r->axis);
        r->write(r->user);
        vectors_leave(m);
        from = left;
    }
    open_loop(m, r->axis, (stmt){.how = IN_LANES, .from = from, .to = to});
    r->write(r->user);
    code_close(&m->out.code);
}

static const cexpr *element_at(emitter *m, const affine *place)
{
    return cexpr_element(m->mem, m->data.operand[m->stage.result].name, emit_index(m, place), RESULT);
}

void plain_put(emitter *m, const affine *place, const cexpr *value, bool combined)
{
    const dtype d = stored_as(m->p, m->s->node);
    const cexpr *y = element_at(m, place);
    value_write(m, d, y, combined ? value_combined(m, value_read(m, d, y), value) : value);
}
