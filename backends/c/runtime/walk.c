/* walk.c - calls of kernels, and the trips of scans: all parts go through them together, with a barrier before each, so
 * that claims of chunks, which have two sets in turns, begin anew; where a trip is planned for one worker, one part
 * makes all of them. Trips that are made within one kernel are not seen here. */
#include "backends/c/runtime/walk.h"

#include <string.h>

typedef struct walker {
    const walk_program *g;
    long part, parts, claims; /* claims: where the set of this trip begins */
    int number;               /* of the kernel that faults are told of, or 0 */
} walker;

static void make_calls(const ts_run *r, const walker *w, long first, long end);

static void meet(const ts_run *r, const walker *w)
{
    if (w->parts > 1)
        r->wait(r->team);
}

static void clear(const ts_run *r, const walker *w, long first, long end)
{
    memset(r->scratch + w->part * r->scratch_bytes + w->claims + CLAIM * first, 0, (size_t)(CLAIM * (end - first)));
}

/* ---- trips ---- */

static void copy_share(const walker *w, char *to, const char *from, long bytes)
{
    const long first = bytes * w->part / w->parts, last = bytes * (w->part + 1) / w->parts;
    memcpy(to + first, from + first, (size_t)(last - first));
}

static void find_inputs(const walker *w, const loop_row *l, void *const *at, long trips, const long *trip, void **now)
{
    const loop_address *a = w->g->address + l->address;
    for (int i = 0; i < l->inputs; i++)
        now[i] = a[i].of < 0 ? (void *)trip : (char *)at[a[i].of] + loop_place(&a[i], l, trips, *trip);
}

/* Rows of trips that were not made are zeros. */
static void clear_rows(const walker *w, const loop_row *l, void *const *at, long trips, long done)
{
    const loop_address *a = w->g->address + l->address;
    for (int i = 0; i < l->inputs; i++) {
        long from;
        const long bytes = loop_left(&a[i], l, trips, done, &from);
        if (bytes && !w->part)
            memset((char *)at[a[i].of] + from, 0, (size_t)bytes);
    }
}

/* One trip; 0: it was the last. r: the loop's own; w->claims: of this trip. */
static int make_trip(const ts_run *own, const walker *w, const loop_row *l, void **now)
{
    const loop_copy *c = w->g->copy;
    make_calls(own, w, l->first, l->end);
    if (l->behind < l->last || l->until >= 0)
        meet(own, w);
    for (int i = l->behind; i < l->last; i++)
        copy_share(w, now[c[i].input], own->arena + c[i].at, c[i].bytes);
    return l->until < 0 || !own->arena[l->until];
}

static void make_trips(const ts_run *r, const walker *by, long k, void *const *at)
{
    const loop_row *l = by->g->loop + by->g->call[k].loop;
    const loop_copy *c = by->g->copy;
    const long set = (long)CLAIM * by->g->all, trips = loop_made(l, at[l->room + 1]);
    void *now[by->g->inputs + 1];
    ts_run own = *r;
    walker w = {by->g, by->part, by->parts, 0, by->number ? by->number : (int)k + 1};
    long trip = 0;
    if (by->g->call[k].alone) {
        own.scratch += w.part * own.scratch_bytes;
        w.part = 0, w.parts = 1;
    }
    own.arena = at[l->room], own.input = now;
    now[l->inputs] = at[l->room + 1];
    find_inputs(&w, l, at, trips, &trip, now);
    for (int i = l->before; i < l->behind; i++)
        if (now[c[i].input] != at[c[i].of])
            copy_share(&w, now[c[i].input], at[c[i].of], c[i].bytes);
    clear(&own, &w, l->first, l->end);
    for (int more = 1; more && trip < trips; trip++) {
        meet(&own, &w);
        w.claims = set * (~trip & 1);
        clear(&own, &w, l->first, l->end); /* for the next trip */
        w.claims = set * (trip & 1);
        find_inputs(&w, l, at, trips, &trip, now);
        more = make_trip(&own, &w, l, now);
    }
    if (trip < trips)
        clear_rows(&w, l, at, trips, trip);
}

/* ---- calls ---- */

static void make_call(const ts_run *r, const walker *w, long k)
{
    const walk_call *c = w->g->call + k;
    const walk_place *p = w->g->place + c->first;
    void *at[w->g->operands + 1];
    at[c->n] = NULL;
    for (int i = 0; i < c->n; i++)
        at[i] = p[i].in == ARENA ? r->arena + p[i].at : (p[i].in == LEAF ? r->leaf : r->input)[p[i].at];
    if (c->loop) {
        make_trips(r, w, k, at);
        return;
    }
    if (!c->kernel) {
        r->custom->call(r->custom, (int)k, at, w->part, w->parts);
        return;
    }
    const ts_share share = {w->part, w->parts, r->scratch + w->claims + CLAIM * k, r->scratch_bytes};
    int fault = 0;
    c->kernel(at, r->scratch + w->part * r->scratch_bytes + w->g->claims, &fault, &share);
    if (fault && !*r->fault)
        *r->fault = w->number ? w->number : (int)k + 1;
}

static int is_others(const walk_call *c, const walker *w)
{
    return c->alone && (c->alone - 1) % w->parts != w->part;
}

static void make_timed(const ts_run *r, const walker *w, long k)
{
    const ts_moments *m = r->moments;
    double *at = m->at + 2 * (w->part * m->calls + k);
    at[0] = m->now();
    make_call(r, w, k);
    at[1] = m->now();
}

static void make_calls(const ts_run *r, const walker *w, long first, long end)
{
    for (long k = first; k < end; k++) {
        if (w->g->call[k].meets && k > first)
            meet(r, w);
        if (is_others(w->g->call + k, w))
            continue;
        if (r->moments && !w->number)
            make_timed(r, w, k);
        else
            make_call(r, w, k);
    }
}

void walk_calls(const walk_program *g, const ts_run *r, long first, long end, long part, long parts)
{
    const walker w = {g, part, parts, 0, 0};
    clear(r, &w, first, end);
    meet(r, &w);
    make_calls(r, &w, first, end);
}
