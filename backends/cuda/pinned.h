/* pinned.h - copies between memory of the host, whosever it is, and the device, by way of pinned memory. Pieces and
 * events are of pinned until it is freed; the device is borrowed for its life. */
#ifndef TS_CUDA_PINNED_H
#define TS_CUDA_PINNED_H
#include "backends/cuda/device.h"
#include "backends/emit/runtime/device_pieces.h"

typedef struct pinned {
    const device *on;
    device_pieces pieces;
    cu_event event[2]; /* by piece: the copy from it, or to it, is done */
} pinned;

/* d: borrowed for its life; most: bytes of one copy, as far as is known; larger ones go in more pieces */
pinned *pinned_make(const device *d, int64_t most, err *e);
void pinned_free(pinned *p);
/* In the order of the stream. `from` is free when it returns, where the copy may be under way; a take is done. doing:
 * "a copy of a result" */
bool pinned_give(pinned *p, cu_address to, const void *from, int64_t bytes, err *e);
bool pinned_take(pinned *p, void *to, cu_address from, int64_t bytes, const char *doing, err *e);
#endif
