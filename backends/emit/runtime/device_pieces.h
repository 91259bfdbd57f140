/* device_pieces.h - copies between memory of the host, whosever it is, and a device, by way of two pieces of pinned
 * memory in turn: the device copies by itself from the one while the host copies to the other. Drivers do the same with
 * memory that is not pinned, but wait for all that is under way first. The memory is the caller's, and the driver's
 * calls are. Emitted programs carry this file. */
#ifndef DEVICE_PIECES_H
#define DEVICE_PIECES_H

typedef struct device_pieces {
    char *at;     /* of both */
    long piece;   /* bytes of one: device_piece */
    int begun[2]; /* a copy from it, or to it, was begun and not waited for */
    int turn;     /* which of them is next */
} device_pieces;
long device_piece(long most); /* most: bytes of one copy, as far as is known; larger ones go in more pieces */

typedef struct device_copying { /* each gives 0 where it failed */
    void *user;
    /* Has the driver copy so many bytes between a piece and the device, from `at` on of what is copied */
    int (*begin)(void *user, int which, char *piece, long at, long bytes);
    int (*settle)(void *user, int which); /* waits for that */
} device_copying;
/* 0: a call failed. `from` is free when device_give returns, where copies may be under way; a take is done. */
int device_give(device_pieces *p, const device_copying *c, const void *from, long bytes);
int device_take(device_pieces *p, const device_copying *c, void *to, long bytes);
#endif
