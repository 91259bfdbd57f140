/* pinned.h - a program's memory on the device, and what goes there and comes back, with what was done when it fails:
 * "sending an input". Pieces are of ocl_pinned until it is freed, the host is borrowed for its life; memory is
 * whoever's that took it. */
#ifndef TS_OCL_PINNED_H
#define TS_OCL_PINNED_H
#include "backends/opencl/runtime/opencl_pinned.h"
#include "backends/opencl/units.h"

typedef struct ocl_pinned {
    const ocl_host *on;
    opencl_pinned by;
} ocl_pinned;

/* h: borrowed for its life; most: bytes of one copy, as far as is known; larger ones go in more pieces */
ocl_pinned *ocl_pinned_make(const ocl_host *h, size_t most, err *e);
void ocl_pinned_free(ocl_pinned *p);

typedef struct ocl_place {
    cl_memory memory;
    size_t at;
} ocl_place;
/* `from` stays as it is until ocl_given, or until the queue is settled, whichever is first */
bool ocl_give(ocl_pinned *p, ocl_place to, const void *from, size_t bytes, const char *what, err *e);
bool ocl_given(const ocl_pinned *p, err *e);
bool ocl_take(ocl_pinned *p, void *to, ocl_place from, size_t bytes, const char *what, err *e); /* it is there */
bool ocl_settle(const ocl_host *h, err *e); /* all that was asked for is done */
/* A piece of the device's memory, of its program until it is dropped */
bool ocl_memory_take(const ocl_host *h, cl_memory *out, size_t bytes, const char *what, err *e);
#endif
