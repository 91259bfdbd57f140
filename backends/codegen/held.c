/* held.c - where values wait within a kernel for later stages, and for the next trip: in scratch, or elsewhere where
 * that has no room for them. */
#include "backends/codegen/emit.h"
#include "schedule/nest/kept.h"

static void place(emitter *m, held *h, int64_t bytes)
{
    bytes = target_aligned(m->p->on, bytes);
    const bool fits = !m->data.room || m->data.scratch + bytes <= m->data.room - m->data.besides;
    int64_t *in = fits ? &m->data.scratch : &m->data.spill;
    *h = (held){*in, !fits};
    *in += bytes;
}

void held_give(emitter *m)
{
    for (int i = 0; i < m->k->n_stage; i++) {
        const stage *s = &m->k->stage[i];
        const int states = stage_carries(s) ? s->value->n_state : 0;
        kept y;
        kept_find(m->k, i, &y);
        for (int k = 0; k < states; k++)
            place(m, &m->data.state[i][k], y.size * ts_dtype_bytes(s->value->arg[k]->dtype));
        if (s->scratch)
            place(m, &m->data.slice[i], y.size * ts_dtype_bytes(stored_as(m->p, s->node)));
    }
    m->data.scratch_most = m->data.scratch;
}

static void clear_one(emitter *m, int i, int64_t n)
{
    const dtype d = stored_as(m->p, m->k->stage[i].node);
    code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    code_let(&m->out.code, pointer_type(m, slice_reach(m, i), d, true), "gaps", slice_at(m, i, true));
    code_open(&m->out.code, (stmt){.kind = S_LOOP,
                                   .name = "i",
                                   .from = lanes_lane(m),
                                   .to = emit_whole(m, n),
                                   .step = m->group,
                                   .tight = true});
    code_store(&m->out.code, cexpr_element(m->mem, "gaps", cexpr_word(m->mem, "i"), IN_REGISTERS), emit_whole(m, 0));
    code_close(&m->out.code);
    code_close(&m->out.code);
}

void held_clear(emitter *m)
{
    bool any = false;
    for (int i = 0; i < m->k->n_stage; i++) {
        kept y;
        kept_find(m->k, i, &y);
        if (y.gaps)
            clear_one(m, i, y.size), any = true;
    }
    if (any)
        emit_meet(m);
}
