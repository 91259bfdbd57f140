/* warp.c - operators on integers, worked out for each lane. */
#include "backends/codegen/warp.h"
#include "schedule/nest/slice.h"

#include <string.h>

#define ALL_CHANGED UINT64_MAX

static int64_t whole_value(whole_op does, int64_t a, int64_t b, int64_t c)
{
    switch (does) {
    case W_LESS: return a < b;
    case W_LEAST: return a >= b;
    case W_SAME: return a == b;
    case W_MIN: return int_min(a, b);
    case W_MAX: return int_max(a, b);
    case W_BOTH: return a && b;
    case W_EITHER: return a || b;
    case W_REST: return b ? a % b : 0;
    case W_QUOTIENT: return b ? a / b : 0;
    case W_TIMES: return a * b;
    case W_NOT: return !a;
    case W_BITS: return a ^ b;
    case W_WHERE: return a ? b : c;
    default: return a;
    }
}

void warp_make(warp *w, const emitter *m, arena *mem)
{
    *w = (warp){.m = m, .mem = mem};
}

void warp_forget(warp *w)
{
    memset(w->loop, 0, sizeof w->loop);
    w->changed = ALL_CHANGED, w->n_row = 0, w->round++;
}

void warp_enter(warp *w, int64_t first)
{
    w->changed = first == w->first && w->changed != ALL_CHANGED ? 0 : ALL_CHANGED;
    w->first = first, w->n = (int)int_min(int_min(w->m->p->on->warp, LANES), w->m->group - first);
}

void warp_leave(warp *w)
{
    w->changed = 0;
}

void warp_loop(warp *w, int which, int64_t at, integer *from, integer *to, bool *there)
{
    int64_t *own = w->loop[which];
    const int64_t *first = from ? warp_numbers(w, from) : NULL, *end = to ? warp_numbers(w, to) : NULL;
    bool same = true;
    for (int k = 0; k < w->n; k++) {
        const int64_t v = (first ? first[k] : 0) + at;
        same = same && own[k] == v, own[k] = v, there[k] = there[k] && (!end || v < end[k]);
    }
    w->changed |= same ? 0 : UINT64_C(1) << which;
}

int64_t warp_trips(warp *w, const stmt *s, integer *from, integer *to)
{
    if (s->trips || !to)
        return int_max(s->trips, 1);
    w->n = 1, w->first = 0;
    const int64_t first = from ? *warp_numbers(w, from) : 0, end = *warp_numbers(w, to);
    return int_max(int_ceil_div(end - first, s->step), 0);
}

static void evaluate_sum(warp *w, const integer *t)
{
    for (int i = 0; i < w->n; i++)
        t->at[i] = t->number;
    for (int k = 0; k < t->n; k++) {
        const int64_t *of = warp_numbers(w, t->arg[k]);
        for (int i = 0; i < w->n; i++)
            t->at[i] += t->times[k] * of[i];
    }
}

static int64_t evaluate_one(warp *w, const integer *t, const int64_t *v, int lane)
{
    const mask_skip *table = w->m->k->mask;
    switch (t->kind) {
    case OF_LANE: return w->first + lane;
    case OF_FLOOR: return int_floor_div(v[0], t->number);
    case OF_WHOLE: return whole_value(t->does, v[0], v[1], v[2]);
    case OF_SWIZZLE: return slice_swizzled(v[0], (int)v[1], (int)v[2], (int)v[3]);
    case OF_TABLE: return table->count[int_max(0, int_min(v[0], table->n - 1))];
    case OF_FN: return fn_whole(t->fn, TS_I64, v);
    default: return t->number;
    }
}

/* It has numbers; false: they are of before. */
static bool is_current(warp *w, integer *t)
{
    if (t->round == w->round)
        return w->changed != ALL_CHANGED && !(t->loops & w->changed);
    w->row = arena_grown(w->mem, w->row, w->n_row, &w->cap, sizeof *w->row);
    if (!w->row[w->n_row])
        w->row[w->n_row] = arena_get(w->mem, sizeof **w->row);
    t->round = w->round, t->at = *w->row[w->n_row++];
    return false;
}

const int64_t *warp_numbers(warp *w, integer *t)
{
    if (t->kind == OF_LOOP)
        return w->loop[t->number];
    if (is_current(w, t))
        return t->at;
    if (t->kind == OF_SUM)
        return evaluate_sum(w, t), t->at;
    const int64_t *of[MAX_ARG];
    const int n = t->kind == OF_DATA ? 0 : t->n;
    for (int k = 0; k < n; k++)
        of[k] = warp_numbers(w, t->arg[k]);
    for (int i = 0; i < w->n; i++) {
        int64_t v[MAX_ARG] = {0};
        for (int k = 0; k < n; k++)
            v[k] = of[k][i];
        t->at[i] = evaluate_one(w, t, v, i);
    }
    return t->at;
}
