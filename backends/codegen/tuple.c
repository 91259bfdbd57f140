/* tuple.c - folds of several values in the register tile. Each state has an accumulator as the sum of one value has,
 * acc0, acc1, ...; a step computes all of them from what they were; what lanes of a vector or of a group have folded
 * apart is put together by the fold's merge, in halves. */
#include "backends/codegen/emit.h"

static int states(const emitter *m)
{
    return m->stage.fold->n_state;
}

bool tuple_fold(const emitter *m)
{
    return m->stage.fold && m->stage.fold->kind == X_SCAN;
}

const char *tuple_type(const emitter *m, int k)
{
    return tuple_fold(m) ? value_type(m->d, m->stage.fold->arg[k]->dtype, m->p->reference) : acc_type(m);
}

const char *tuple_acc(emitter *m, int k, const char *lane)
{
    text t = {0};
    if (tuple_fold(m))
        text_add(&t, "acc%d", k), emit_acc_place(m, &t, lane);
    else
        emit_acc(m, &t, lane);
    return code_keep(&m->out.code, &t);
}

static void name(emitter *m, const char *prefix, int number, int k, const char *value)
{
    code_let(&m->out.code, arena_format(m->mem, "const %s", tuple_type(m, k)),
             arena_format(m->mem, "%s%d", prefix, number), value);
}

void tuple_clear(emitter *m)
{
    writer w = emit_writer(m);
    code_open(&m->out.code, (stmt){.kind = S_BLOCK});
    for (int k = 0; k < states(m); k++)
        code_store(&m->out.code, tuple_acc(m, k, NULL), emit_value(m, &w, m->stage.fold->arg[k]));
    code_close(&m->out.code);
}

static writer writer_of(emitter *m, const char *lane) /* states are the accumulators */
{
    writer w = emit_writer(m);
    text place = {0};
    emit_acc_place(m, &place, lane);
    w.states = "acc", w.state = place.length ? code_keep(&m->out.code, &place) : "";
    return w;
}

/* Accumulators become what these say, all computed from what they were. */
static void become(emitter *m, writer *w, const expr *const *x, const char *(*acc)(emitter *, int, const char *),
                   const char *at)
{
    for (int k = 0; k < states(m); k++)
        name(m, "next", k, k, emit_value(m, w, x[k]));
    for (int k = 0; k < states(m); k++)
        code_store(&m->out.code, acc(m, k, at), arena_format(m->mem, "next%d", k));
}

void tuple_step(emitter *m)
{
    writer w = writer_of(m, NULL);
    const expr *step[MAX_STATE];
    for (int k = 0; k < states(m); k++)
        step[k] = varying_step(m, m->stage.fold->arg[states(m) + k], k);
    become(m, &w, step, tuple_acc, NULL);
}

void tuple_merge(emitter *m, const char *(*mine)(emitter *m, int k, const char *at),
                 const char *(*with)(emitter *m, int k, const char *at), const char *at)
{
    const int n = states(m);
    writer w = emit_writer(m);
    w.states = "was";
    for (int k = 0; k < 2 * n; k++)
        name(m, "was", k, k % n, k < n ? mine(m, k, at) : with(m, k - n, at));
    become(m, &w, m->stage.fold->arg + 2 * n + 1, mine, at);
}

static const char *low_lane(emitter *m, int k, const char *at)
{
    (void)at;
    return tuple_acc(m, k, "i");
}

const char *tuple_first(emitter *m, int k, const char *at)
{
    (void)at;
    return tuple_acc(m, k, "0");
}

void tuple_lanes(emitter *m, int64_t lanes)
{
    for (int64_t half; lanes > 1; lanes = half) {
        half = (lanes + 1) / 2;
        const bool one = lanes - half == 1; /* takes no loop */
        const stmt turns = {
            .kind = S_LOOP, .how = IN_LANES, .name = "i", .from = "0", .to = number_text(m, lanes - half)};
        code_open(&m->out.code, one ? (stmt){.kind = S_BLOCK} : turns);
        tuple_merge(m, one ? tuple_first : low_lane, tuple_acc,
                    arena_format(m->mem, one ? "%lld" : "i + %lld", (long long)half));
        code_close(&m->out.code);
    }
}

void tuple_result(emitter *m)
{
    const expr *x = x_result(m->stage.fold);
    writer w = writer_of(m, "0");
    code_let(&m->out.code, arena_format(m->mem, "const %s", value_type(m->d, x->dtype, m->p->reference)), "folded",
             emit_value(m, &w, x));
}

void tuple_leave(emitter *m)
{
    const char *wrap = cstyle_store(m->mem, m->d, m->out.uses, stored_as(m->p, m->s->node));
    for (m->tile.piece = 0; m->tile.piece < m->s->n_piece; m->tile.piece++) {
        writer w = writer_of(m, "0");
        text y = {0};
        emit_result(m, &y);
        code_open(&m->out.code, (stmt){.kind = S_BLOCK});
        const char *x = emit_value(m, &w, m->s->piece[m->tile.piece]);
        code_store(&m->out.code, code_keep(&m->out.code, &y),
                   arena_format(m->mem, "%s%s%s", wrap, x, *wrap ? ")" : ""));
        code_close(&m->out.code);
    }
    m->tile.piece = 0;
}
