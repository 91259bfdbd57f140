/* pinned.c - pieces of pinned memory in turn. */
#include "backends/cuda/pinned.h"

#include <string.h>

/* At 25 GB/s a piece takes 170 us, some ten times what it takes to begin a copy and to wait for it. */
enum { PIECE = 4 << 20 };

bool pinned_make(pinned *p, const device *d, int64_t most, err *e)
{
    *p = (pinned){.on = d, .piece = int_max(int_min(most, PIECE), 1)};
    bool ok = device_pin(d, 2 * p->piece, (void **)&p->at, e);
    for (int i = 0; i < 2 && ok; i++)
        ok = device_did(d, d->cu.event_make(&p->event[i], CU_EVENT_NO_TIMES), "making an event", e);
    return ok;
}

void pinned_free(pinned *p)
{
    const device *d = p->on;
    if (!d)
        return;
    for (int i = 0; i < 2; i++)
        if (p->event[i])
            d->cu.event_free(p->event[i]);
    device_unpin(d, (void **)&p->at);
    *p = (pinned){0};
}

static char *piece_at(const pinned *p, int which)
{
    return p->at + which * p->piece;
}

static bool settle(const pinned *p, int which, const char *doing, err *e)
{
    return !p->used[which] || device_did(p->on, p->on->cu.event_wait(p->event[which]), doing, e);
}

static bool begun(pinned *p, err *e) /* the copy of the piece whose turn it was */
{
    const int which = p->turn;
    p->turn = 1 - which, p->used[which] = true;
    return device_did(p->on, p->on->cu.event_record(p->event[which], p->on->stream), "marking a copy", e);
}

bool pinned_give(pinned *p, cu_address to, const void *from, int64_t bytes, err *e)
{
    bool ok = true;
    for (int64_t at = 0; at < bytes && ok; at += p->piece) {
        const int64_t n = int_min(p->piece, bytes - at);
        char *piece = piece_at(p, p->turn);
        ok = settle(p, p->turn, "a copy to the device", e);
        if (ok)
            memcpy(piece, (const char *)from + at, (size_t)n);
        ok = ok && device_write(p->on, to + (cu_address)at, piece, n, e) && begun(p, e);
    }
    return ok;
}

static bool ask(pinned *p, cu_address from, int64_t bytes, err *e) /* for the next piece */
{
    return settle(p, p->turn, "a copy to the device", e) &&
           device_read(p->on, piece_at(p, p->turn), from, int_min(p->piece, bytes), e) && begun(p, e);
}

/* The next piece is asked for before the last one is waited for. */
bool pinned_take(pinned *p, void *to, cu_address from, int64_t bytes, const char *doing, err *e)
{
    bool ok = bytes <= 0 || ask(p, from, bytes, e);
    for (int64_t at = 0; at < bytes && ok; at += p->piece) {
        const int64_t next = at + p->piece;
        const int which = 1 - p->turn;
        ok = (next >= bytes || ask(p, from + (cu_address)next, bytes - next, e)) && settle(p, which, doing, e);
        if (ok)
            memcpy((char *)to + at, piece_at(p, which), (size_t)int_min(p->piece, bytes - at));
    }
    return ok;
}
