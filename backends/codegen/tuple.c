/* tuple.c - folds of several values in the register tile. Each state has an accumulator as the sum of one value has,
 * acc0, acc1, ...; a step computes all of them from what they were; what lanes of a vector or of a group have folded
 * apart is put together by the fold's merge, in halves. */
#include "backends/codegen/vectors.h"

static int states(const emitter *m)
{
    return m->stage.fold->n_state;
}

bool tuple_fold(const emitter *m)
{
    return m->stage.fold && m->stage.fold->kind == X_SCAN;
}

static dtype dtype_of(const emitter *m, int k)
{
    return tuple_fold(m) ? m->stage.fold->arg[k]->dtype : m->stage.fold->dtype;
}

const char *tuple_type(emitter *m, int k)
{
    return value_spelled(m, dtype_of(m, k));
}

int64_t tuple_bytes(const emitter *m, int k)
{
    return value_width(m, dtype_of(m, k));
}

const cexpr *tuple_acc(emitter *m, int k, const cexpr *lane)
{
    return tuple_fold(m) ? emit_acc(m, arena_format(m->mem, "acc%d", k), lane) : value_acc(m, lane);
}

void tuple_clear(emitter *m)
{
    writer w = emit_writer(m);
    code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    for (int k = 0; k < states(m); k++)
        code_store(&m->out.code, tuple_acc(m, k, NULL), value_of(m, &w, m->stage.fold->arg[k]));
    code_close(&m->out.code);
}

static writer writer_of(emitter *m, const cexpr *lane) /* states are the accumulators */
{
    writer w = emit_writer(m);
    w.states = "acc", w.state = emit_subscripts(m, lane);
    return w;
}

/* Accumulators become what these say, all computed from what they were; some: of the elements that there are. */
static void become(emitter *m, writer *w, const expr *const *x, const cexpr *(*acc)(emitter *, int, const cexpr *),
                   const cexpr *at, bool some)
{
    const stage_state was = m->stage;
    m->stage.states = w->states, m->stage.state = w->state;
    for (int k = 0; k < states(m); k++)
        value_let(m, "next", k, dtype_of(m, k), value_of(m, w, x[k]));
    m->stage.states = was.states, m->stage.state = was.state;
    for (int k = 0; k < states(m); k++) {
        const cexpr *to = acc(m, k, at), *next = cexpr_word(m->mem, arena_format(m->mem, "next%d", k));
        code_store(&m->out.code, to, some ? value_counted(m, dtype_of(m, k), next, to) : next);
    }
}

void tuple_step(emitter *m)
{
    writer w = writer_of(m, NULL);
    const expr *step[MAX_STATE];
    for (int k = 0; k < states(m); k++)
        step[k] = varying_step(m, m->stage.fold->arg[states(m) + k], k);
    become(m, &w, step, tuple_acc, NULL, true);
}

void tuple_merge(emitter *m, const cexpr *(*mine)(emitter *m, int k, const cexpr *at),
                 const cexpr *(*with)(emitter *m, int k, const cexpr *at), const cexpr *at)
{
    const int n = states(m);
    writer w = emit_writer(m);
    w.states = "was";
    for (int k = 0; k < 2 * n; k++)
        value_let(m, "was", k, dtype_of(m, k % n), k < n ? mine(m, k, at) : with(m, k - n, at));
    become(m, &w, m->stage.fold->arg + 2 * n + 1, mine, at, false);
}

static const cexpr *low_lane(emitter *m, int k, const cexpr *at)
{
    (void)at;
    return tuple_acc(m, k, cexpr_word(m->mem, "i"));
}

const cexpr *tuple_first(emitter *m, int k, const cexpr *at)
{
    (void)at;
    return tuple_acc(m, k, emit_whole(m, 0));
}

static void take_lane(emitter *m, const cexpr *low, const cexpr *high)
{
    tuple_merge(m, low->kind == C_NUMBER ? tuple_first : low_lane, tuple_acc, high);
}

static const cexpr *moved_down(emitter *m, int k, const cexpr *by)
{
    return vector_down(m, dtype_of(m, k), tuple_acc(m, k, emit_whole(m, 0)), by);
}

void tuple_lanes(emitter *m, int64_t lanes)
{
    phase_halves(m, lanes, take_lane);
    for (int half = m->tile.vectors.n / 2; half; half /= 2) {
        code_open(&m->out.code, (stmt){.kind = S_BLOCK});
        tuple_merge(m, tuple_first, moved_down, emit_whole(m, half));
        code_close(&m->out.code);
    }
}

void tuple_result(emitter *m)
{
    const expr *x = x_result(m->stage.fold);
    writer w = writer_of(m, emit_whole(m, 0));
    code_let(&m->out.code, arena_format(m->mem, "const %s", value_spelled(m, x->dtype)), "folded", value_of(m, &w, x));
}

void tuple_leave(emitter *m)
{
    for (m->tile.piece = 0; m->tile.piece < m->s->n_piece; m->tile.piece++) {
        writer w = writer_of(m, emit_whole(m, 0));
        code_open(&m->out.code, (stmt){.kind = S_BLOCK});
        value_put(m, value_of(m, &w, m->s->piece[m->tile.piece]));
        code_close(&m->out.code);
    }
    m->tile.piece = 0;
}
