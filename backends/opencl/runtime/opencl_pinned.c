/* opencl_pinned.c - copies by way of mapped memory. */
#include "backends/opencl/runtime/opencl_pinned.h"

int32_t opencl_pin(opencl_pinned *p, cl_context c, cl_device d, size_t most)
{
    int32_t answer = CL_SUCCESS;
    p->pieces.piece = device_piece((long)most);
    const size_t both = 2 * (size_t)p->pieces.piece;
    if (opencl_number(p->cl, d, CL_SHARES_MEMORY))
        return CL_SUCCESS;
    p->memory = p->cl->memory(c, CL_READ_WRITE | CL_OF_HOST, both, NULL, &answer);
    if (p->memory)
        p->pieces.at = p->cl->map(p->queue, p->memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, both, 0, NULL, NULL,
                                  &answer);
    return answer;
}

void opencl_unpin(opencl_pinned *p)
{
    for (int i = 0; i < 2; i++)
        if (p->done[i])
            p->cl->drop_event(p->done[i]);
    if (p->pieces.at) {
        p->cl->unmap(p->queue, p->memory, p->pieces.at, 0, NULL, NULL);
        p->cl->finish(p->queue);
    }
    if (p->memory)
        p->cl->drop_memory(p->memory);
    *p = (opencl_pinned){0};
}

/* ---- copies ---- */
typedef struct copying {
    opencl_pinned *by;
    cl_memory device;
    size_t start;
    int32_t answer;
} copying;

static int send(void *user, int which, char *piece, long at, long bytes)
{
    copying *c = user;
    c->answer = c->by->cl->write(c->by->queue, c->device, CL_FALSE, c->start + (size_t)at, (size_t)bytes, piece, 0,
                                 NULL, &c->by->done[which]);
    return c->answer == CL_SUCCESS;
}

static int fetch(void *user, int which, char *piece, long at, long bytes)
{
    copying *c = user;
    c->answer = c->by->cl->read(c->by->queue, c->device, CL_FALSE, c->start + (size_t)at, (size_t)bytes, piece, 0, NULL,
                                &c->by->done[which]);
    return c->answer == CL_SUCCESS;
}

static int settle(void *user, int which)
{
    copying *c = user;
    cl_event *done = &c->by->done[which];
    if (*done) {
        c->answer = c->by->cl->wait_for(1, done);
        c->by->cl->drop_event(*done);
    }
    *done = NULL;
    return c->answer == CL_SUCCESS;
}

int32_t opencl_give(opencl_pinned *p, cl_memory to, size_t at, const void *from, size_t bytes)
{
    copying own = {p, to, at, CL_SUCCESS};
    if (p->pieces.at)
        device_give(&p->pieces, &(device_copying){&own, send, settle}, from, (long)bytes);
    else if (bytes)
        own.answer = p->cl->write(p->queue, to, CL_FALSE, at, bytes, from, 0, NULL, NULL);
    return own.answer;
}

int32_t opencl_take(opencl_pinned *p, void *to, cl_memory from, size_t at, size_t bytes)
{
    copying own = {p, from, at, CL_SUCCESS};
    if (p->pieces.at)
        device_take(&p->pieces, &(device_copying){&own, fetch, settle}, to, (long)bytes);
    else if (bytes)
        own.answer = p->cl->read(p->queue, from, CL_TRUE, at, bytes, to, 0, NULL, NULL);
    return own.answer;
}
