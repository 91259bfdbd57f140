/* pinned.c - copies by way of pinned memory. */
#include "backends/cuda/pinned.h"

#include <stdlib.h>

pinned *pinned_make(const device *d, int64_t most, err *e)
{
    pinned *p = heap_array(1, sizeof *p);
    *p = (pinned){.on = d, .pieces.piece = device_piece((long)most)};
    bool ok = device_pin(d, 2 * p->pieces.piece, (void **)&p->pieces.at, e);
    for (int i = 0; i < 2 && ok; i++)
        ok = device_did(d, d->cu.event_make(&p->event[i], CU_EVENT_NO_TIMES), "making an event", e);
    return ok ? p : (pinned_free(p), NULL);
}

void pinned_free(pinned *p)
{
    if (!p)
        return;
    for (int i = 0; i < 2; i++)
        if (p->event[i])
            p->on->cu.event_free(p->event[i]);
    device_unpin(p->on, (void **)&p->pieces.at);
    free(p);
}

/* ---- copies ---- */
typedef struct copying {
    const pinned *by;
    cu_address device;
    const char *doing;
    err *e;
} copying;

static int mark(const copying *c, int which)
{
    const device *d = c->by->on;
    return device_did(d, d->cu.event_record(c->by->event[which], d->stream), "marking a copy", c->e);
}

static int send(void *user, int which, char *piece, long at, long bytes)
{
    const copying *c = user;
    return device_write(c->by->on, c->device + (cu_address)at, piece, bytes, c->e) && mark(c, which);
}

static int fetch(void *user, int which, char *piece, long at, long bytes)
{
    const copying *c = user;
    return device_read(c->by->on, piece, c->device + (cu_address)at, bytes, c->e) && mark(c, which);
}

static int settle(void *user, int which)
{
    const copying *c = user;
    return device_did(c->by->on, c->by->on->cu.event_wait(c->by->event[which]), c->doing, c->e);
}

bool pinned_give(pinned *p, cu_address to, const void *from, int64_t bytes, err *e)
{
    copying own = {p, to, "a copy to the device", e};
    return device_give(&p->pieces, &(device_copying){&own, send, settle}, from, (long)bytes);
}

bool pinned_take(pinned *p, void *to, cu_address from, int64_t bytes, const char *doing, err *e)
{
    copying own = {p, from, doing, e};
    return device_take(&p->pieces, &(device_copying){&own, fetch, settle}, to, (long)bytes);
}
