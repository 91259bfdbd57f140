/* masks.c - blocks of rows are walked as far as a mask leaves something (schedule/passes/mask.h): a table says how far,
 * `limit` holds it, in grains, and loops along the masked axis end there. Behind the stage that finds the largest score
 * of each row a block in which one is too small begins again, and is walked whole. */
#include "backends/codegen/trips.h"

static void name_limit(emitter *m, const mask_skip *y, int rows)
{
    ENDED_BY(text_free) text line = {0};
    for (int i = 0; i < y->n; i++)
        text_add(&line, "%s%d", i ? ", " : "", y->count[i]);
    code_add(&m->out.code,
             (stmt){.kind = S_TABLE, .name = MASK_TABLE, .value = cexpr_spelled(m->mem, text_str(&line))});
    code_let(&m->out.code, m->d->index, "limit",
             cexpr_element(m->mem, MASK_TABLE, emit_index(m, affine_div(&m->sp, m->shared.axis[rows], y->rows)),
                           IN_REGISTERS));
}

void mask_open(emitter *m)
{
    const mask_skip *y = m->k->mask;
    if (!y || y->carried)
        return;
    name_limit(m, y, m->k->n_shared - 1);
    code_open(&m->out.code,
              (stmt){.kind = S_REPEAT, .place = cexpr_word(m->mem, "limit"), .value = emit_whole(m, y->grains)});
}

bool mask_carried(emitter *m)
{
    const mask_skip *y = m->k->mask;
    const bool is = y && y->carried;
    if (is) {
        code_open(&m->out.code, (stmt){.kind = S_BLOCK});
        name_limit(m, y, kernel_carried(m->k) - 1);
    }
    return is;
}

/* How many rows the block has. Of the outermost axis along which there are several, those that a run has come first. */
static const cexpr *rows_of(emitter *m)
{
    int64_t outer = 1, inner = 1;
    int axis = -1;
    for (int a = 0; a < m->s->n_result; a++) {
        if (outer == 1 && varying_axis(m, a))
            axis = a, inner = 1;
        else
            inner *= m->shared.cur[a];
        outer *= m->shared.cur[a];
    }
    if (axis < 0)
        return emit_whole(m, outer);
    return cexpr_times(m->mem,
                       cexpr_least(m->mem, emit_whole(m, m->shared.cur[axis]),
                                   varying_trips(m, &m->s->varies[axis], m->shared.axis[axis], 1)),
                       inner);
}

/* Of the rows of the block: how many have a largest value that is too small. */
static void count_low(emitter *m, const mask_skip *y)
{
    const char *suffix = y->carried && m->s->node->type.dtype != TS_F64 ? m->d->suffix : "";
    const cexpr *rows = rows_of(m);
    code_let(&m->out.code, pointer_type(m, slice_reach(m, m->stage.at), stored_as(m->p, m->s->node), false), "most",
             slice_at(m, m->stage.at, false));
    code_let(&m->out.code, m->d->index, "low", emit_whole(m, 0));
    code_open(&m->out.code, (stmt){.kind = S_LOOP, .name = "i", .from = emit_whole(m, 0), .to = rows, .tight = true});
    const cexpr *most = cexpr_element(m->mem, "most", cexpr_word(m->mem, "i"), IN_REGISTERS),
                *least = cexpr_word(m->mem, arena_format(m->mem, "%.9e%s", y->least, suffix)),
                *lower = cexpr_not(m->mem, cexpr_whole(m->mem, W_LEAST, most, least));
    code_store(
        &m->out.code, cexpr_word(m->mem, "low"),
        cexpr_sum(m->mem, 0, 2, (const cexpr *const[]){cexpr_word(m->mem, "low"), lower}, (const int64_t[]){1, 1}));
    code_close(&m->out.code);
}

/* In the last trip that counts: whether the others do after all. */
static void check_carried(emitter *m, const mask_skip *y)
{
    code_if(&m->out.code, cexpr_whole(m->mem, W_SAME, emit_index(m, m->shared.axis[kernel_carried(m->k)]),
                                      cexpr_plus(m->mem, cexpr_word(m->mem, "limit"), -1)));
    count_low(m, y);
    code_open(&m->out.code, (stmt){.kind = S_IF, .tight = true, .value = cexpr_word(m->mem, "low")});
    code_store(&m->out.code, cexpr_word(m->mem, "limit"), cexpr_number(m->mem, y->grains));
    code_close(&m->out.code);
    code_close(&m->out.code);
}

void mask_check(emitter *m)
{
    const mask_skip *y = m->k->mask;
    if (!y || m->stage.at != y->check)
        return;
    if (y->carried) {
        check_carried(m, y);
        return;
    }
    count_low(m, y);
    code_open(&m->out.code, (stmt){.kind = S_IF,
                                   .tight = true,
                                   .value = cexpr_whole(m->mem, W_EITHER, cexpr_not(m->mem, cexpr_word(m->mem, "low")),
                                                        cexpr_whole(m->mem, W_SAME, cexpr_word(m->mem, "limit"),
                                                                    emit_whole(m, y->grains)))});
    code_add(&m->out.code, (stmt){.kind = S_LEAVE});
    code_close(&m->out.code);
    code_close(&m->out.code);
}

bool mask_bounds(const emitter *m, int l)
{
    const mask_skip *y = m->k->mask;
    if (!y || y->along[m->stage.at] != m->s->nest.loop[l].axis)
        return false;
    for (int i = 0; i < l; i++)
        if (m->s->nest.loop[i].axis == y->along[m->stage.at])
            return false;
    return true;
}

const cexpr *mask_end(const emitter *m, int l, int64_t end)
{
    const mask_skip *y = m->k->mask;
    const cexpr *limit = cexpr_word(m->mem, "limit");
    if (y->carried)
        return limit;
    const loop *q = &m->s->nest.loop[l];
    limit = cexpr_times(m->mem, limit, y->grain / q->step);
    return end * q->step == y->grain * y->grains ? limit /* what says more to a compiler */
                                                 : cexpr_least(m->mem, emit_whole(m, end), limit);
}

strip *masks_pass(emitter *m, strip *t)
{
    if (t->kind != T_LOOP)
        return t;
    t->masked = t->shared ? m->k->mask && m->k->mask->carried && trips_loop(m, t)->axis == kernel_carried(m->k)
                          : mask_bounds(m, t->loop);
    if (t->masked && m->tile.made) {
        t->from = emit_whole(m, t->first), t->to = mask_end(m, t->loop, t->end);
        m->tile.made->masked = true;
    }
    return t;
}
