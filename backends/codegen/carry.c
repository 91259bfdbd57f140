/* carry.c - states that stages carry along a loop they share. Each state has a slice of scratch, laid out as the slice
 * of what the stage computes: a tile takes pointers to them, makes the step of its elements, and writes their value
 * once all have made it. Of a fold of several values the last trip's value is the result. */
#include "backends/codegen/vectors.h"
#include "schedule/nest/kept.h"

#include <string.h>

static int states(const emitter *m)
{
    return m->s->value->n_state;
}

static dtype state_dtype(const emitter *m, int k)
{
    return m->s->value->arg[k]->dtype;
}

/* Before the loop: sets the states to their initial values; the lanes of a group divide them. */
static void start_one(emitter *m, int at, int k)
{
    const stage *s = &m->k->stage[at];
    const expr *start = s->value->arg[k];
    const held *in = &m->data.state[at][k];
    const char *store = cstyle_store(m->mem, m->d, m->out.uses, start->dtype);
    writer w = emit_writer(m);
    const cexpr *value = cstyle_expr(&w, start);
    kept y;
    kept_find(m->k, at, &y);
    code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    code_let(&m->out.code, pointer_type(m, held_reach(in), start->dtype, true), "state",
             held_at(m, in, start->dtype, true));
    const cexpr *from = lanes_lane(m), *to = emit_whole(m, y.size);
    element e;
    const cexpr *place = cexpr_element(m->mem, "state", cexpr_word(m->mem, "i"), IN_REGISTERS);
    if (m->d->vectors && !strcmp(store, "$0") && start->dtype != TS_BOOL && vector_kind(m, start->dtype, &e)) {
        const cexpr *left = vectors_enter(m, vector_count(m, element_bytes(e)), "i", from, to);
        vector_store(m, e, place, vector_splat(m, e, value));
        vectors_leave(m);
        from = left;
    }
    code_open(
        &m->out.code,
        (stmt){.kind = S_LOOP, .how = IN_LANES, .name = "i", .from = from, .to = to, .step = m->group, .tight = true});
    code_store(&m->out.code, place, cexpr_one(m->mem, store, value));
    code_close(&m->out.code);
    code_close(&m->out.code);
}

void carry_start(emitter *m)
{
    for (int i = 0; i < m->k->n_stage; i++)
        for (int k = 0; stage_carries(&m->k->stage[i]) && k < m->k->stage[i].value->n_state; k++)
            start_one(m, i, k);
    emit_meet(m);
}

void carry_open(emitter *m)
{
    const cexpr *at = emit_index(m, m->shared.axis[m->s->value->axis]),
                *end = m->k->mask ? cexpr_word(m->mem, "limit") : emit_whole(m, m->s->extent[m->s->value->axis]);
    if (stage_keeps_last(m->s))
        code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->truth), "last",
                 cexpr_whole(m->mem, W_SAME, at, cexpr_plus(m->mem, end, -1)));
}

void carry_arguments(emitter *m, arguments *a, const tile_made *f)
{
    for (int k = 0; k < states(m); k++) {
        const held *in = &m->data.state[m->stage.at][k];
        argument_add(
            m, a,
            arena_format(m->mem, "%s%s", pointer_type(m, held_reach(in), state_dtype(m, k), true), m->d->restricted),
            arena_format(m->mem, "state%d", k), emit_start(m, held_at(m, in, state_dtype(m, k), true), f, STATES));
    }
    if (stage_keeps_last(m->s))
        argument_add(m, a, arena_format(m->mem, "const %s ", m->d->truth), "last", NULL);
}

static const cexpr *state_at(emitter *m, int k) /* its element, as memory has it */
{
    return emit_at(m, cexpr_word(m->mem, arena_format(m->mem, "state%d", k)), emit_place(m, STATES), STATES);
}

static void name_states(emitter *m, const char *prefix)
{
    for (int k = 0; k < states(m); k++)
        value_let(m, prefix, k, state_dtype(m, k), value_read(m, state_dtype(m, k), state_at(m, k)));
}

void carry_one(emitter *m)
{
    writer w = emit_writer(m);
    const int n = states(m);
    w.states = "was";
    name_states(m, "was");
    for (int k = 0; k < n; k++)
        value_let(m, "next", k, state_dtype(m, k), value_of(m, &w, m->stage.value->arg[n + k]));
    for (int k = 0; k < n; k++)
        value_write(m, state_dtype(m, k), state_at(m, k), cexpr_word(m->mem, arena_format(m->mem, "next%d", k)));
}

void carry_result(emitter *m)
{
    writer w = emit_writer(m);
    w.states = "now";
    name_states(m, "now");
    value_put(m, value_of(m, &w, x_result(m->stage.value)));
}
