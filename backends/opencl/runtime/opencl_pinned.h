/* opencl_pinned.h - copies between the host and a device. Where the device has memory of its own they go by way of
 * memory that its driver gives the host, mapped for good. Where it shares the host's, one copy is all there is. Each
 * gives OpenCL's answer, and is done in the order of the queue. Emitted programs carry this file. */
#ifndef CL_PINNED_H
#define CL_PINNED_H
#include "backends/emit/runtime/device_pieces.h"
#include "backends/opencl/runtime/opencl_abi.h"

typedef struct opencl_pinned {
    const opencl *cl; /* borrowed, as the queue is: set before opencl_pin */
    cl_queue queue;
    cl_memory memory;
    device_pieces pieces; /* at NULL: the device shares the host's memory */
    cl_event done[2];     /* by piece: of the copy from it, or to it */
} opencl_pinned;

/* most: bytes of one copy, as far as is known */
int32_t opencl_pin(opencl_pinned *p, cl_context c, cl_device d, size_t most);
void opencl_unpin(opencl_pinned *p); /* accepts a zeroed one */
/* What comes from memory that is shared stays as it is until the queue is done; else it is free at once. */
int32_t opencl_give(opencl_pinned *p, cl_memory to, size_t at, const void *from, size_t bytes);
int32_t opencl_take(opencl_pinned *p, void *to, cl_memory from, size_t at, size_t bytes); /* it is there */
#endif
