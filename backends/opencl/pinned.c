/* pinned.c - pieces of pinned memory in turn. */
#include "backends/opencl/pinned.h"

#include <string.h>

enum { PIECE = 4 << 20 }; /* bytes: 170 us at 25 GB/s, some ten times what it takes to begin a copy */

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

/* ---- the pieces ---- */
bool ocl_pinned_make(ocl_pinned *p, const ocl_host *h, size_t most, err *e)
{
    static const char what[] = "pinned memory of the host";
    int32_t answer = CL_SUCCESS;
    *p = (ocl_pinned){.on = h, .piece = (size_t)int_max(int_min((int64_t)most, PIECE), 1)};
    if (!h->device.apart)
        return true;
    p->memory = h->cl.memory(h->context, CL_READ_WRITE | CL_OF_HOST, 2 * p->piece, NULL, &answer);
    if (!p->memory)
        return opencl_fail(answer, what, e);
    p->at = h->cl.map(h->queue, p->memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 2 * p->piece, 0, NULL, NULL,
                      &answer);
    return p->at || opencl_fail(answer, what, e);
}

static void drop_event(const ocl_pinned *p, int which)
{
    if (p->done[which])
        p->on->cl.drop_event(p->done[which]);
}

void ocl_pinned_free(ocl_pinned *p)
{
    drop_event(p, 0), drop_event(p, 1);
    if (p->at) {
        p->on->cl.unmap(p->on->queue, p->memory, p->at, 0, NULL, NULL);
        p->on->cl.finish(p->on->queue);
    }
    if (p->memory)
        p->on->cl.drop_memory(p->memory);
    *p = (ocl_pinned){0};
}

static char *piece_at(const ocl_pinned *p, int which)
{
    return p->at + (size_t)which * p->piece;
}

static bool wait_for(ocl_pinned *p, int which, const char *what, err *e) /* the copy of that piece, if there was one */
{
    const bool ok = !p->done[which] || did(p->on->cl.wait_for(1, &p->done[which]), what, e);
    drop_event(p, which);
    p->done[which] = NULL;
    return ok;
}

/* ---- copies ---- */
bool ocl_give(ocl_pinned *p, ocl_place to, const void *from, size_t bytes, const char *what, err *e)
{
    const opencl *cl = &p->on->cl;
    const cl_queue q = p->on->queue;
    bool ok = true;
    if (!p->at)
        return !bytes || did(cl->write(q, to.memory, CL_FALSE, to.at, bytes, from, 0, NULL, NULL), what, e);
    for (size_t at = 0, n; at < bytes && ok; at += n) {
        char *piece = piece_at(p, p->turn);
        n = bytes - at < p->piece ? bytes - at : p->piece;
        ok = wait_for(p, p->turn, what, e);
        if (ok)
            memcpy(piece, (const char *)from + at, n);
        ok = ok && did(cl->write(q, to.memory, CL_FALSE, to.at + at, n, piece, 0, NULL, &p->done[p->turn]), what, e);
        p->turn = 1 - p->turn;
    }
    return ok;
}

bool ocl_given(const ocl_pinned *p, err *e)
{
    return p->at || ocl_settle(p->on, e);
}

static bool ask(ocl_pinned *p, ocl_place from, size_t bytes, const char *what, err *e) /* for the next piece */
{
    const int which = p->turn;
    p->turn = 1 - which;
    return wait_for(p, which, what, e) &&
           did(p->on->cl.read(p->on->queue, from.memory, CL_FALSE, from.at, bytes < p->piece ? bytes : p->piece,
                              piece_at(p, which), 0, NULL, &p->done[which]),
               what, e);
}

/* The next piece is asked for before the last one is waited for. */
static bool take_pieces(ocl_pinned *p, void *to, ocl_place from, size_t bytes, const char *what, err *e)
{
    bool ok = ask(p, from, bytes, what, e);
    for (size_t at = 0; at < bytes && ok; at += p->piece) {
        const size_t next = at + p->piece;
        const int which = 1 - p->turn;
        const ocl_place behind = {from.memory, from.at + next};
        ok = (next >= bytes || ask(p, behind, bytes - next, what, e)) && wait_for(p, which, what, e);
        if (ok)
            memcpy((char *)to + at, piece_at(p, which), bytes - at < p->piece ? bytes - at : p->piece);
    }
    return ok;
}

bool ocl_take(ocl_pinned *p, void *to, ocl_place from, size_t bytes, const char *what, err *e)
{
    if (!bytes || p->at)
        return !bytes || take_pieces(p, to, from, bytes, what, e);
    return did(p->on->cl.read(p->on->queue, from.memory, CL_TRUE, from.at, bytes, to, 0, NULL, NULL), what, e);
}
