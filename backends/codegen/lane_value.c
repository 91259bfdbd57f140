/* lane_value.c - names are what they were given, operators on whole numbers are worked out for each lane; of loops that
 * did not move nothing is worked out again. */
#include "backends/codegen/lane_value.h"
#include "schedule/nest/slice.h"

#include <stdlib.h>
#include <string.h>

#define ALL_CHANGED UINT64_MAX

/* ---- what names stand for ---- */
const meaning *meaning_add(warp *w, const meaning *up, const char *is, const cexpr *value, const meaning *in,
                           int number)
{
    meaning *n = arena_get(w->mem, sizeof *n);
    *n = (meaning){up, in, is, value, number};
    return n;
}

static lane_value *value_add(warp *w, int kind, int64_t number)
{
    lane_value *t = arena_get(w->mem, sizeof *t);
    *t = (lane_value){.kind = kind, .number = number, .slot = w->n_slot++};
    return t;
}

static const lane_value *named(warp *w, const cexpr *x, const meaning *in, known sure)
{
    if (x->whole == W_NUMBER)
        return value_add(w, OF_NUMBER, x->number);
    if (w->m->d->lane && !strcmp(x->text, w->m->d->lane))
        return value_add(w, OF_LANE, 0);
    while (in && strcmp(in->is, x->text))
        in = in->up;
    if (!in)
        return sure == SURE ? NULL : value_add(w, OF_NUMBER, 0);
    if (in->value)
        return lane_value_of(w, in->value, in->in, sure);
    lane_value *t = value_add(w, OF_LOOP, in->loop);
    t->loops = UINT64_C(1) << in->loop;
    return t;
}

const lane_value *lane_value_place(warp *w, const cexpr *x, const meaning *in, known sure)
{
    lane_value *t = value_add(w, OF_SUM, x->kind == C_SUM ? x->number : 0);
    const lane_value **all = arena_array(w->mem, (size_t)x->n, sizeof *all);
    int64_t *times = arena_array(w->mem, (size_t)x->n, sizeof *times);
    for (int i = 0; i < x->n; i++) { /* a pointer and elements behind it; elements behind a pointer */
        const bool base = x->kind != C_SUM && i == (x->kind == C_ELEMENT);
        times[i] = x->kind == C_SUM ? x->times[i] : base ? 1 : x->kind == C_ELEMENT ? x->bytes : x->number;
        if (!(all[i] = lane_value_of(w, x->arg[i], in, sure && base ? WHERE : sure ? SURE : GUESSED)))
            return NULL;
        t->loops |= all[i]->loops;
    }
    t->n = x->n, t->all = all, t->times = times;
    return t;
}

static const lane_value *address_of(warp *w, const cexpr *x, const meaning *in) /* less $1 bytes */
{
    const lane_value *at = lane_value_place(w, x->arg[0], in, GUESSED),
                     *less = x->n > 1 ? lane_value_of(w, x->arg[1], in, GUESSED) : NULL;
    if (!less)
        return at;
    lane_value *all = value_add(w, OF_SUM, 0);
    const lane_value **of = arena_array(w->mem, 2, sizeof *of);
    int64_t *times = arena_array(w->mem, 2, sizeof *times);
    of[0] = at, times[0] = 1, of[1] = less, times[1] = -x->arg[0]->bytes;
    all->n = 2, all->all = of, all->times = times, all->loops = at->loops | less->loops;
    return all;
}

/* Of the table that says how far a mask lets blocks be walked */
static lane_value *table_of(warp *w, const cexpr *x, const meaning *in)
{
    const lane_value *at = w->m->k->mask && !x->bytes ? lane_value_of(w, x->arg[0], in, SURE) : NULL;
    if (!at || x->arg[1]->kind != C_WORD || strcmp(x->arg[1]->text, MASK_TABLE) != 0)
        return NULL;
    lane_value *v = value_add(w, OF_TABLE, 0);
    v->arg[0] = at, v->n = 1, v->loops = at->loops;
    return v;
}

static const lane_value *form_of(warp *w, const cexpr *x, const meaning *in, known sure)
{
    const fn *of = x->does && !x->of.n ? fn_find(x->does) : NULL;
    if (x->whole == W_ADDRESS)
        return address_of(w, x, in);
    if (x->n == 1 && !x->does) /* a cast, and what else changes no number */
        return lane_value_of(w, x->arg[0], in, sure);
    if ((!x->whole && !(of && of->whole)) || x->n > MAX_ARG)
        return sure ? NULL : value_add(w, OF_NUMBER, 0);
    lane_value *t = value_add(w, x->whole == W_SWIZZLED ? OF_SWIZZLE : x->whole ? OF_WHOLE : OF_FN, 0);
    t->whole = x->whole, t->fn = of, t->n = x->n;
    for (int i = 0; i < x->n; i++) {
        if (!(t->arg[i] = lane_value_of(w, x->arg[i], in, sure)))
            return NULL;
        t->loops |= t->arg[i]->loops;
    }
    return t;
}

const lane_value *lane_value_of(warp *w, const cexpr *x, const meaning *in, known sure)
{
    lane_value *t;
    switch (x->kind) {
    case C_NUMBER: return value_add(w, OF_NUMBER, x->number);
    case C_WORD: return named(w, x, in, sure);
    case C_SUM:
    case C_POINTER: return lane_value_place(w, x, in, sure);
    case C_FORM: return form_of(w, x, in, sure);
    case C_FLOOR:
        t = value_add(w, OF_FLOOR, x->number);
        if (!(t->arg[0] = lane_value_of(w, x->arg[0], in, sure)))
            return NULL;
        t->n = 1, t->loops = t->arg[0]->loops;
        return t;
    case C_ELEMENT:
        if ((t = table_of(w, x, in)))
            return t;
        break;
    default: break;
    }
    return sure ? NULL : value_add(w, OF_NUMBER, 0);
}

/* ---- numbers of all lanes ---- */
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

void warp_free(warp *w)
{
    free(w->slot), w->slot = NULL;
}

void warp_forget(warp *w)
{
    memset(w->loop, 0, sizeof w->loop);
    w->changed = ALL_CHANGED, w->n_slot = 0;
}

static void slots_fit(warp *w)
{
    if (w->n_slot > w->room)
        w->slot = reallocarray(w->slot, (size_t)(w->room = 2 * w->n_slot), sizeof *w->slot);
    MUST(w->slot);
}

void warp_enter(warp *w, int64_t first)
{
    slots_fit(w);
    w->changed = first == w->first && w->changed != ALL_CHANGED ? 0 : ALL_CHANGED;
    w->first = first, w->n = (int)int_min(int_min(w->m->p->on->warp, LANES), w->m->group - first);
}

void warp_leave(warp *w)
{
    w->changed = 0;
}

void warp_loop(warp *w, int which, int64_t at, const lane_value *from, const lane_value *to, bool *there)
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

int64_t warp_trips(warp *w, const stmt *s, const lane_value *from, const lane_value *to)
{
    if (s->trips || !to)
        return int_max(s->trips, 1);
    slots_fit(w);
    w->n = 1, w->first = 0;
    const int64_t first = from ? *warp_numbers(w, from) : 0, end = *warp_numbers(w, to);
    return int_max(int_ceil_div(end - first, s->step), 0);
}

static void evaluate_sum(warp *w, const lane_value *t, int64_t *out)
{
    for (int i = 0; i < w->n; i++)
        out[i] = t->number;
    for (int k = 0; k < t->n; k++) {
        const int64_t *of = warp_numbers(w, t->all[k]);
        for (int i = 0; i < w->n; i++)
            out[i] += t->times[k] * of[i];
    }
}

static int64_t evaluate_one(warp *w, const lane_value *t, const int64_t *v, int lane)
{
    const mask_skip *table = w->m->k->mask;
    switch (t->kind) {
    case OF_LANE: return w->first + lane;
    case OF_FLOOR: return int_floor_div(v[0], t->number);
    case OF_WHOLE: return whole_value(t->whole, v[0], v[1], v[2]);
    case OF_SWIZZLE: return slice_swizzled(v[0], (int)v[1], (int)v[2], (int)v[3]);
    case OF_TABLE: return table->count[int_max(0, int_min(v[0], table->n - 1))];
    case OF_FN: return fn_whole(t->fn, TS_I64, v);
    default: return t->number;
    }
}

const int64_t *warp_numbers(warp *w, const lane_value *t)
{
    int64_t *out = w->slot[t->slot];
    if (t->kind == OF_LOOP)
        return w->loop[t->number];
    if (w->changed != ALL_CHANGED && !(t->loops & w->changed))
        return out;
    if (t->kind == OF_SUM)
        return evaluate_sum(w, t, out), out;
    const int64_t *of[MAX_ARG];
    for (int k = 0; k < t->n; k++)
        of[k] = warp_numbers(w, t->arg[k]);
    for (int i = 0; i < w->n; i++) {
        int64_t v[MAX_ARG] = {0};
        for (int k = 0; k < t->n; k++)
            v[k] = of[k][i];
        out[i] = evaluate_one(w, t, v, i);
    }
    return out;
}

bool lane_value_same(const lane_value *a, const lane_value *b, const int *number)
{
    if (!a || !b || a->kind != b->kind || a->n != b->n || a->whole != b->whole || a->fn != b->fn)
        return a == b;
    bool same = a->kind == OF_LOOP ? number[a->number] == b->number : a->number == b->number;
    for (int i = 0; same && a->kind == OF_SUM && i < a->n; i++)
        same = a->times[i] == b->times[i] && lane_value_same(a->all[i], b->all[i], number);
    for (int i = 0; same && a->kind != OF_SUM && i < a->n; i++)
        same = lane_value_same(a->arg[i], b->arg[i], number);
    return same;
}
