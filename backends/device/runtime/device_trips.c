/* device_trips.c - kernels in order, and the trips of loops. */
#include "backends/device/runtime/device_driver.h"

#include <stdlib.h>

typedef struct walk {
    const device_program *p;
    device *on;
    device_at arena;        /* where values of the kernels at hand begin */
    const device_at *input; /* where their inputs are; NULL: those of the plan */
    int outer;              /* the kernel of the plan that they are trips of; -1: they are the plan's */
    device_at ended;        /* whether the trip before was the last one */
} walk;
static int kernels(const walk *w, int first, int end);

static int truth(const walk *w, device_at at, int *is) /* of one byte, when all before it is done */
{
    device *d = w->on;
    char byte = 0, *to = d->pinned ? d->pinned + 2 * d->part : &byte;
    const int ok = d->by->read(d, to, at, 1, -1, "a trip of a loop");
    *is = ok && *to;
    return ok;
}

static device_at place(const walk *w, const device_place *o)
{
    if (o->space == DEVICE_ARENA)
        return (device_at){w->arena.piece, w->arena.at + o->at};
    if (o->space == DEVICE_LEAF)
        return (device_at){device_leaf((int)o->at), 0};
    return w->input ? w->input[o->at] : (device_at){device_input(w->p, (int)o->at), 0};
}

void device_places(const device_program *p, int kernel, device_at *out)
{
    const walk w = {.p = p, .outer = -1};
    for (int i = 0; i < p->kernel[kernel].operands; i++)
        out[i] = place(&w, &p->kernel[kernel].operand[i]);
}

static void find(const walk *w, const loop_row *l, const device_at *at, long all, long trip, device_at *now)
{
    const loop_address *s = w->p->address + l->address;
    for (int i = 0; i < l->inputs; i++)
        now[i] = s[i].of < 0 ? (device_at){device_piece(w->p, DEVICE_COUNTS), COUNT_BYTES * (long)(l - w->p->loop)}
                             : (device_at){at[s[i].of].piece, at[s[i].of].at + loop_place(&s[i], l, all, trip)};
}

static int copy_firsts(const walk *w, const loop_row *l, const device_at *at, const device_at *now)
{
    int ok = 1;
    for (int i = l->before; i < l->behind && ok; i++) {
        const loop_copy *q = &w->p->copy[i];
        const device_at to = now[q->input], from = at[q->of];
        ok = (to.piece == from.piece && to.at == from.at) || w->on->by->copy(w->on, to, from, q->bytes);
    }
    return ok;
}

static int copy_results(const walk *own, const loop_row *l, const device_at *now)
{
    int ok = 1;
    for (int i = l->behind; i < l->last && ok; i++) {
        const loop_copy *q = &own->p->copy[i];
        ok = own->on->by->copy(own->on, now[q->input], (device_at){own->arena.piece, own->arena.at + q->at}, q->bytes);
    }
    return ok;
}

static int clear_rows(const walk *w, const loop_row *l, const device_at *at, long all, long done)
{
    const loop_address *a = w->p->address + l->address;
    int ok = 1;
    for (int i = 0; i < l->inputs && ok; i++) {
        long from;
        const long bytes = loop_left(&a[i], l, all, done, &from);
        if (bytes > 0)
            ok = w->on->by->clear(w->on, (device_at){at[a[i].of].piece, at[a[i].of].at + from}, bytes);
    }
    return ok;
}

/* Of the trips up to `end` that were launched since the host asked: behind the first that was the last one. */
static int find_last(const walk *w, device_at said, int ahead, long end, long *trip, int *last)
{
    const long begin = (end - 1) / ahead * ahead;
    int ok = truth(w, (device_at){said.piece, said.at + (end - 1) % ahead}, last), is = 0;
    for (long t = begin; ok && *last && t < end && !is; t++) {
        ok = t == end - 1 || truth(w, (device_at){said.piece, said.at + t % ahead}, &is);
        is = is || t == end - 1, *trip = t + 1;
    }
    return ok;
}

/* The trip said whether it is the last one: the host hears of it, or, where trips are launched ahead, the next ones do,
 * which do nothing then. */
static int ends(const walk *w, const loop_row *l, device_at until, device_at said, long *trip, int *last)
{
    const long end = *trip + 1, all = loop_made(l, w->on->size);
    if (l->ahead == 1)
        return truth(w, until, last);
    if (!w->on->by->copy(w->on, (device_at){said.piece, said.at + *trip % l->ahead}, until, 1))
        return 0;
    if (end % l->ahead && end < all)
        return 1;
    long behind = end;
    const int ok = find_last(w, said, l->ahead, end, &behind, last);
    *trip = behind - 1;
    return ok;
}

static int trips(const walk *w, int outer, const loop_row *l, const device_at *at)
{
    enum { NUMBER = COUNT_BYTES - MOST_AHEAD };
    device_at *now = calloc((size_t)l->inputs + 1, sizeof *now);
    const device_at count = {device_piece(w->p, DEVICE_COUNTS), COUNT_BYTES * (long)(l - w->p->loop)},
                    said = {count.piece, count.at + NUMBER}, until = {at[l->room].piece, at[l->room].at + l->until};
    walk own = {w->p, w->on, at[l->room], now, outer, said};
    const long all = loop_made(l, w->on->size);
    long trip = 0;
    int last = 0;
    if (now)
        find(w, l, at, all, trip, now);
    int ok = now && copy_firsts(w, l, at, now) && (l->until < 0 || w->on->by->clear(w->on, said, MOST_AHEAD));
    for (; ok && !last && trip < all; trip++) {
        find(w, l, at, all, trip, now);
        own.ended.at = said.at + (trip + l->ahead - 1) % l->ahead;
        ok = (!l->counted || w->on->by->count(w->on, count, trip)) && kernels(&own, l->first, l->end) &&
             copy_results(&own, l, now) && (l->until < 0 || ends(w, l, until, said, &trip, &last));
    }
    ok = ok && (trip == all || clear_rows(w, l, at, all, trip));
    free(now);
    return ok;
}

static int turn(const walk *w, int kernel)
{
    device *d = w->on;
    return w->outer >= 0 || w->p->streams < 2 || !d->by->turn || d->by->turn(d, kernel);
}

static int kernels(const walk *w, int first, int end)
{
    int most = 0, ok = 1;
    for (int k = first; k < end; k++)
        most = w->p->kernel[k].operands > most ? w->p->kernel[k].operands : most;
    device_at *at = calloc((size_t)most + 2, sizeof *at);
    for (int k = first; k < end && at && ok; k++) {
        const device_kernel *q = &w->p->kernel[k];
        const int outer = w->outer < 0 ? k : w->outer;
        for (int i = 0; i < q->operands; i++)
            at[i] = place(w, &q->operand[i]);
        at[q->operands] = w->ended;
        ok = q->joins      ? 1
             : !turn(w, k) ? 0
             : q->loop     ? trips(w, outer, w->p->loop + q->loop, at)
             : q->copies   ? w->on->by->copy(w->on, at[1], (device_at){at[0].piece, at[0].at + q->from}, q->bytes)
                           : w->on->by->launch(w->on, k, outer, at);
    }
    ok = ok && at;
    free(at);
    return ok;
}

static long steps(const device_program *p, int first, int end, long most)
{
    long n = 0;
    for (int k = first; k < end && n >= 0; k++) {
        const loop_row *l = p->loop + p->kernel[k].loop;
        long one = !p->kernel[k].joins;
        if (p->kernel[k].loop && (l->until >= 0 || l->per))
            return -1;
        if (p->kernel[k].loop) {
            one = steps(p, l->first, l->end, most);
            one = one < 0 ? -1 : one + l->counted + l->last - l->behind;
            one = one < 0 || (one && l->trips > most / one) ? -1 : l->trips * one + l->behind - l->before;
        }
        n = one < 0 || n + one > most ? -1 : n + one;
    }
    return n;
}

long device_steps(const device_program *p, long most)
{
    return steps(p, 0, p->kernels, most);
}

int device_kernels(device *d, int first, int end)
{
    const walk w = {.p = d->program, .on = d, .arena = {0, 0}, .outer = -1};
    const int ok = kernels(&w, first, end);
    return (turn(&w, -1) && ok) || device_wrong(d, DEVICE_NO_MEMORY, "no memory for the places of operands");
}
