/* device_pieces.c - pieces of pinned memory in turn. */
#include "backends/emit/runtime/device_pieces.h"

#include <string.h>

enum { PIECE = 4 << 20 }; /* at 25 GB/s 170 us, some ten times what it takes to begin a copy and to wait for it */

long device_piece(long most)
{
    return most < 1 ? 1 : most < PIECE ? most : PIECE;
}

static long part(const device_pieces *p, long bytes)
{
    return bytes < p->piece ? bytes : p->piece;
}

static char *piece_at(const device_pieces *p, int which)
{
    return p->at + which * p->piece;
}

static int settle(device_pieces *p, const device_copying *c, int which)
{
    const int ok = !p->begun[which] || c->settle(c->user, which);
    p->begun[which] = 0;
    return ok;
}

static int begin(device_pieces *p, const device_copying *c, long at, long bytes) /* with the piece whose turn it is */
{
    const int which = p->turn;
    p->turn = 1 - which, p->begun[which] = 1;
    return c->begin(c->user, which, piece_at(p, which), at, bytes);
}

int device_give(device_pieces *p, const device_copying *c, const void *from, long bytes)
{
    int ok = 1;
    for (long at = 0; at < bytes && ok; at += p->piece) {
        const long n = part(p, bytes - at);
        ok = settle(p, c, p->turn);
        if (ok)
            memcpy(piece_at(p, p->turn), (const char *)from + at, (size_t)n);
        ok = ok && begin(p, c, at, n);
    }
    return ok;
}

static int ask(device_pieces *p, const device_copying *c, long at, long bytes)
{
    return settle(p, c, p->turn) && begin(p, c, at, part(p, bytes - at));
}

/* The next piece is asked for before the last one is waited for. */
int device_take(device_pieces *p, const device_copying *c, void *to, long bytes)
{
    int ok = bytes <= 0 || ask(p, c, 0, bytes);
    for (long at = 0; at < bytes && ok; at += p->piece) {
        const long next = at + p->piece;
        const int which = 1 - p->turn;
        ok = (next >= bytes || ask(p, c, next, bytes)) && settle(p, c, which);
        if (ok)
            memcpy((char *)to + at, piece_at(p, which), (size_t)part(p, bytes - at));
    }
    return ok;
}
