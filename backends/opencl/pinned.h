/* pinned.h - copies between the host and a device. Where the device has memory of its own they go by way of two pieces
 * of memory that its driver gives the host, mapped for good, in turn: the device copies by itself from the one while
 * the host copies to the other. Where it shares the host's, one copy is all there is. */
#ifndef TS_OCL_PINNED_H
#define TS_OCL_PINNED_H
#include "backends/opencl/units.h"

typedef struct ocl_pinned {
    const ocl_host *on;
    cl_memory memory;
    char *at;         /* of both pieces; NULL: the device shares the host's memory */
    size_t piece;     /* bytes of one */
    cl_event done[2]; /* by piece: of the copy from it, or to it */
    int turn;         /* which of them is next */
} ocl_pinned;

/* h: borrowed for its life; most: bytes of one copy, as far as is known; larger ones go in more pieces */
bool ocl_pinned_make(ocl_pinned *p, const ocl_host *h, size_t most, err *e);
void ocl_pinned_free(ocl_pinned *p); /* accepts a zeroed one */

typedef struct ocl_place {
    cl_memory memory;
    size_t at;
} ocl_place;
/* In the order of the queue; what is said when it fails: "sending an input". */
/* `from` stays as it is until ocl_given, or until the queue is settled, whichever is first */
bool ocl_give(ocl_pinned *p, ocl_place to, const void *from, size_t bytes, const char *what, err *e);
bool ocl_given(const ocl_pinned *p, err *e);
bool ocl_take(ocl_pinned *p, void *to, ocl_place from, size_t bytes, const char *what, err *e); /* it is there */
bool ocl_settle(const ocl_host *h, err *e); /* all that was asked for is done */
/* A piece of the device's memory, of its program until it is dropped */
bool ocl_memory_take(const ocl_host *h, cl_memory *out, size_t bytes, const char *what, err *e);
#endif
