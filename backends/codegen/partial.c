/* partial.c - choices that are known when a tile is written. Where a stage without a fold chooses among several sums by
 * a loop's number (tiles of Winograd, neighbours put side by side), its unrolled loops are written out trip by trip and
 * each trip says only what it takes. The loops outside write their first and last trips apart where padding depends on
 * them, so that tiles inside hold no test of it. */
#include "backends/codegen/trips.h"

static uint32_t condition_axes(const expr *x)
{
    uint32_t axes = x_is_choice(x) && !x_count(x->arg[0], X_LOAD) ? x_axes(x->arg[0]) : 0;
    for (int i = 0; x->kind != X_LOAD && i < x->n; i++)
        axes |= condition_axes(x->arg[i]);
    return axes;
}

void partial_find(emitter *m)
{
    const stage *s = m->s;
    uint32_t chosen = 0;
    int64_t trips = 1;
    m->stage.known = 0;
    if (m->stage.fold || m->p->reference || x_alone(s->value))
        return;
    for (int a = 0; a < s->n_result; a++)
        if (stage_choice(s, a, NULL))
            chosen |= 1u << a;
    for (int l = nest_unrolled(s); l < s->nest.n; l++) {
        const loop *q = &s->nest.loop[l];
        if (role_unrolled(q->role) && chosen >> q->axis & 1 && (trips *= loop_trips(q)) <= MAX_APART)
            m->stage.known |= 1u << l;
    }
    if (m->stage.known)
        m->stage.peeled = condition_axes(m->stage.value) & ~chosen;
}

static const expr *truth(arena *mem, bool v)
{
    return x2(mem, "lt", x_whole(mem, 0), x_whole(mem, v)); /* a literal: a cast of one would stay a cast */
}

/* -1: not known; else whether a < b (or a <= b: less by `or_equal`), wherever the tile may start */
static int compared(emitter *m, const expr *a, const expr *b, bool or_equal)
{
    const affine *const *const ways[] = {m->tile.inner, m->tile.plain};
    for (int i = 0; i < COUNT(ways); i++) {
        int64_t low, high;
        affine_range(&m->sp, affine_add(&m->sp, affine_of(&m->sp, b, ways[i]), affine_of(&m->sp, a, ways[i]), -1), &low,
                     &high);
        if (low != INT64_MIN && (low >= !or_equal || high < !or_equal))
            return low >= !or_equal;
    }
    return -1;
}

static const expr *partial_one(void *user, const expr *x)
{
    emitter *m = user;
    const bool lt = x_is_call(x, "lt"), le = x_is_call(x, "le");
    if ((lt || le) && dtype_class(x->arg[0]->dtype) != D_REAL && dtype_class(x->arg[1]->dtype) != D_REAL &&
        !x_count(x, X_LOAD)) {
        const int known = compared(m, x->arg[0], x->arg[1], le);
        return known < 0 ? x : truth(m->mem, known);
    }
    for (int i = 0; i < 2 && x_is_call(x, "and"); i++)
        if (x->arg[i]->kind == X_LIT)
            return x->arg[i]->whole ? x->arg[1 - i] : x->arg[i];
    return x_is_choice(x) && x->arg[0]->kind == X_LIT ? x->arg[x->arg[0]->whole ? 1 : 2] : x;
}

const expr *partial_value(emitter *m)
{
    return m->stage.known ? x_share(m->mem, x_map(m->mem, m->stage.value, partial_one, m)) : m->stage.value;
}

strip *partial_pass(emitter *m, strip *t)
{
    if (m->tile.made && t->kind == T_LOOP && t->ph != BODY && m->stage.known >> t->loop & 1)
        for (strip *rest = t; rest->end - rest->first > 1;)
            rest = trips_apart(m, rest, rest->first + 1);
    return t;
}
