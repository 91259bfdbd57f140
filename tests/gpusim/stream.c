/* stream.c - streams and events. */
#include "tests/gpusim/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- streams ---- */
static CUstream ended; /* events may still name them: shells are kept until the library goes */
__attribute__((destructor)) static void free_shells(void)
{
    for (CUstream s = ended, next; s; s = next)
        next = s->next, free(s);
    ended = NULL;
}
API cuStreamCreateWithPriority(CUstream *s, unsigned flags, int priority)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!(s && flags <= 1))
        return E_VALUE;
    *s = calloc(1, sizeof **s);
    (*s)->flags = flags;
    (*s)->priority = priority;
    (*s)->next = streams;
    streams = *s;
    return OK;
}
API cuStreamCreate(CUstream *s, unsigned flags)
{
    return cuStreamCreateWithPriority(s, flags, 0);
}
API cuStreamDestroy_v2(CUstream s)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!s || s == (CUstream)1 || s == (CUstream)2)
        return E_HANDLE;
    drain(s, ~0ull);
    for (CUstream *p = &streams; *p; p = &(*p)->next)
        if (*p == s) {
            *p = s->next;
            break;
        }
    free(s->deps);
    s->capture = NULL;
    s->deps = NULL, s->next = ended, ended = s;
    return sticky;
}
API cuStreamSynchronize(CUstream s)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    CUresult r = forbid_capture(s);
    if (r)
        return r;
    s = resolve(s);
    if (s == &null_stream) {
        operation *op = new_op(OP_EMPTY);
        submit(s, op);
    }
    drain(s, ~0ull);
    return sticky;
}
API cuStreamQuery(CUstream s)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    CUresult r = forbid_capture(s);
    if (r)
        return r;
    s = resolve(s);
    if (!s->head)
        return OK;
    drain(s, s->head->seq); /* polling makes progress */
    return sticky ? sticky : E_NOT_READY;
}
API cuStreamGetFlags(CUstream s, unsigned *f)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!f)
        return E_VALUE;
    *f = resolve(s)->flags;
    return OK;
}
API cuStreamGetPriority(CUstream s, int *p)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!p)
        return E_VALUE;
    *p = resolve(s)->priority;
    return OK;
}
API cuStreamGetCtx(CUstream s, CUcontext *c)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)s;
    if (!c)
        return E_VALUE;
    *c = stack[depth - 1];
    return OK;
}
API cuLaunchHostFunc(CUstream s, CUhostFn fn, void *arg)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!fn)
        return E_VALUE;
    operation *op = new_op(OP_HOST);
    op->fn = fn;
    op->arg = arg;
    return submit(s, op);
}
API cuStreamAddCallback(CUstream s, CUstreamCallback cb, void *arg, unsigned f)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)f;
    if (!cb)
        return E_VALUE;
    operation *op = new_op(OP_HOST);
    op->callback = cb;
    op->arg = arg;
    return submit(s, op);
}

/* ---- events ---- */
API cuEventCreate(CUevent *e, unsigned flags)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!e)
        return E_VALUE;
    *e = calloc(1, sizeof **e);
    (*e)->flags = flags;
    return OK;
}
API cuEventDestroy_v2(CUevent e)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!e)
        return E_HANDLE;
    if (e->recorded && e->done < e->seq)
        drain(e->on, e->seq);
    free(e->deps);
    free(e);
    return OK;
}
API cuEventRecord(CUevent e, CUstream s)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!e)
        return E_HANDLE;
    s = resolve(s);
    if (s->capture) {
        e->capture = s->capture;
        e->deps = reallocarray(e->deps, ((size_t)s->ndeps + 1), sizeof *e->deps);
        memcpy(e->deps, s->deps, (size_t)s->ndeps * sizeof *e->deps);
        e->ndeps = s->ndeps;
        return OK;
    }
    e->capture = NULL;
    operation *op = new_op(OP_RECORD);
    op->event = e;
    e->on = s;
    e->recorded = true;
    e->seq = seq_counter + 1;
    return submit(s, op);
}
API cuEventRecordWithFlags(CUevent e, CUstream s, unsigned f)
{
    (void)f;
    return cuEventRecord(e, s);
}
API cuEventSynchronize(CUevent e)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!e)
        return E_HANDLE;
    if (e->capture)
        return E_CAPTURE_UNSUPPORTED;
    if (e->recorded)
        drain(e->on, e->seq);
    return sticky;
}
API cuEventQuery(CUevent e)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!e)
        return E_HANDLE;
    if (!e->recorded || e->done >= e->seq)
        return OK;
    if (e->on->head)
        drain(e->on, e->on->head->seq);
    return sticky ? sticky : e->done >= e->seq ? OK : E_NOT_READY;
}
API cuEventElapsedTime_v2(float *ms, CUevent a, CUevent b)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    if (!ms)
        return E_VALUE;
    if (!a || !b || !a->recorded || !b->recorded || (a->flags & 2) || (b->flags & 2))
        return E_HANDLE;
    if (a->done < a->seq || b->done < b->seq)
        return E_NOT_READY;
    *ms = (float)((b->time - a->time) * 1e3);
    return OK;
}
API cuEventElapsedTime(float *ms, CUevent a, CUevent b)
{
    return cuEventElapsedTime_v2(ms, a, b);
}
API cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    HELD entry = driver_enter(__func__);
    if (entry.failed)
        return entry.failed;
    (void)flags;
    if (!e)
        return E_HANDLE;
    s = resolve(s);
    if (e->capture) { /* the stream joins the capture */
        if (s->capture && s->capture != e->capture)
            return E_CAPTURE_UNMATCHED;
        if (s == &null_stream)
            return E_CAPTURE_IMPLICIT;
        s->capture = e->capture;
        s->deps = reallocarray(s->deps, (size_t)(s->ndeps + e->ndeps + 1), sizeof *s->deps);
        memcpy(s->deps + s->ndeps, e->deps, (size_t)e->ndeps * sizeof *s->deps);
        s->ndeps += e->ndeps;
        return OK;
    }
    if (s->capture)
        return E_CAPTURE_UNSUPPORTED;
    if (!e->recorded || e->done >= e->seq)
        return OK;
    operation *op = new_op(OP_WAIT);
    op->on = e->on;
    op->on_seq = e->seq;
    return submit(s, op);
}
