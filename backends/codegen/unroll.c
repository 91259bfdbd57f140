/* unroll.c - which loops are written out: those that the text says, by their roles; and those that a device's compiler
 * takes by itself, all trips of those that come to few operations, and some of those whose trips are short, as many as
 * divide them. NVVM's thresholds (LLVM, "NVPTXTargetTransformInfo": loops of up to 300, parts of up to 75) stand for
 * those of others, too. */
#include "backends/codegen/unroll.h"
#include "backends/codegen/trips.h"

#include <math.h>

/* ---- by the text ---- */
bool role_unrolled(const role *r)
{
    return r->in_registers && !r->lanes && !r->group;
}

int tile_rows(const emitter *m)
{
    int l = nest_unrolled(m->s);
    while (l < m->s->nest.n - 1 && m->s->folds >> m->s->nest.loop[l].axis & 1)
        l++;
    return l;
}

static opening opening_of(const emitter *m, const strip *t)
{
    const role *r = trips_loop(m, t)->role;
    if (t->kind == T_VECTORS)
        return t->to ? AS_IT_IS : WRITTEN_OUT;
    if (r->serial && matrix_sums(m))
        return WRITTEN_OUT;
    if (role_unrolled(r))
        return m->tile.sums && t->loop == tile_rows(m) ? AS_IT_IS : WRITTEN_OUT;
    if (!r->lanes || t->ph == MERGE)
        return AS_IT_IS;
    return m->stage.fold && m->d->lanes_written_out ? WRITTEN_OUT : IN_LANES;
}

/* Without sums nothing stays in registers from trip to trip. */
static int64_t together(const emitter *m, const strip *t)
{
    enum { VECTORS = 4 };
    const int64_t trips = t->end - t->first, most = t->kind == T_VECTORS ? VECTORS : m->d->unroll_most;
    if (t->kind == T_LOOP && trips_loop(m, t)->role->serial && matrix_sums(m))
        return 1; /* as far as the nest says */
    return m->stage.fold || !most ? trips : int_min(trips, most);
}

strip *unroll_pass(emitter *m, strip *t)
{
    if (t->kind == T_LOOP || t->kind == T_VECTORS)
        t->how = opening_of(m, t), t->together = together(m, t);
    return t;
}

/* ---- by a compiler ---- */
enum { WHOLE = 300, PART = 75 };

typedef struct around { /* a loop around, in the text of which trips are written out */
    const struct around *up;
    const stmt *loop;
} around;

/* What is read once for several trips counts once. */
static double operations_in(const cexpr *x, const around *up, double times)
{
    double n = x->does || x->moves || cexpr_in_memory(x) ? times : 0;
    for (; cexpr_in_memory(x) && up; up = up->up)
        n /= cexpr_over(*x->arg, up->loop->name) ? 1 : fmax(stmt_trips(up->loop), 1);
    for (int i = 0; i < x->n; i++)
        n += operations_in(x->arg[i], up, times);
    return n;
}

static double operations_of(const stmt *in, const around *up, double times)
{
    double n = 0;
    for (const stmt *s = in->first; s; s = s->next) {
        const bool loops = s->kind == S_LOOP || s->kind == S_CHUNKS || s->kind == S_REPEAT;
        if (loops && s->how == WRITTEN_OUT)
            n += operations_of(s, &(around){up, s}, times * fmax(stmt_trips(s), 1));
        else if (loops) {
            const unrolling own = unroll_of(s);
            n += own.copies < stmt_trips(s) ? INFINITY : own.operations * own.copies * times;
        } else
            n += operations_of(s, up, times);
        n += s->value && s->kind != S_TABLE ? operations_in(s->value, up, times) : 0;
        n += s->kind == S_STORE && cexpr_in_memory(s->place) ? times : 0;
        n += s->other ? operations_of(s->other, up, times) : 0;
    }
    return n;
}

unrolling unroll_of(const stmt *s)
{
    const double trips = fmax(stmt_trips(s), 1), one = fmax(operations_of(s, NULL, 1), 1);
    const bool whole = s->how == WRITTEN_OUT || (s->kind == S_LOOP && one * trips <= WHOLE);
    double some = s->kind == S_LOOP ? fmax(floor(PART / one), 1) : 1;
    while (fmod(trips, some) > 0)
        some--;
    return (unrolling){one, whole ? trips : some};
}
