/* pinned.c - memory of a device, and copies there and back. */
#include "backends/opencl/pinned.h"

#include <stdlib.h>

static bool did(int32_t answer, const char *what, err *e)
{
    return answer == CL_SUCCESS || opencl_fail(answer, what, e);
}

bool ocl_settle(const ocl_host *h, err *e)
{
    return did(h->cl.finish(h->queue), "running kernels", e);
}

/* A device says how large one piece may be: often a quarter of its memory. Pieces of 0 bytes are refused by drivers. */
bool ocl_memory_take(const ocl_host *h, cl_memory *out, size_t bytes, const char *what, err *e)
{
    int32_t answer = CL_SUCCESS;
    if ((int64_t)bytes > h->device.most) {
        err_set(e, TS_MEMORY, "%s: %zu bytes in one piece, %s gives %lld", what, bytes, h->device.name,
                (long long)h->device.most);
        return err_hint(e, "bind smaller dimensions, or run on another device");
    }
    *out = h->cl.memory(h->context, CL_READ_WRITE, bytes ? bytes : 1, NULL, &answer);
    return *out || opencl_fail(answer, what, e);
}

ocl_pinned *ocl_pinned_make(const ocl_host *h, size_t most, err *e)
{
    ocl_pinned *p = heap_array(1, sizeof *p);
    *p = (ocl_pinned){.on = h, .by = {.cl = &h->cl, .queue = h->queue}};
    if (did(opencl_pin(&p->by, h->context, h->id, most), "pinned memory of the host", e))
        return p;
    return ocl_pinned_free(p), NULL;
}

void ocl_pinned_free(ocl_pinned *p)
{
    if (p)
        opencl_unpin(&p->by);
    free(p);
}

bool ocl_give(ocl_pinned *p, ocl_place to, const void *from, size_t bytes, const char *what, err *e)
{
    return did(opencl_give(&p->by, to.memory, to.at, from, bytes), what, e);
}

bool ocl_given(const ocl_pinned *p, err *e)
{
    return p->by.pieces.at || ocl_settle(p->on, e);
}

bool ocl_take(ocl_pinned *p, void *to, ocl_place from, size_t bytes, const char *what, err *e)
{
    return did(opencl_take(&p->by, to, from.memory, from.at, bytes), what, e);
}
