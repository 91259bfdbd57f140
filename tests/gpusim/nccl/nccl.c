/* nccl.c - a stand-in for NCCL: members of one process on the stand-in for the driver send to each other. Types and
 * numbers are NCCL's own. As there, a group's transfers are given to streams, and done behind what these have to do; as
 * nowhere else, what would hang or race is an error, which is said: a transfer that nobody meets, one of another size,
 * a range that is received while another transfer of the group uses it. With SIMNCCL_SENT=FILE a line of JSON says at
 * the end how many groups there were, and how many bytes they sent. */
#include "tests/gpusim/cuda_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CUDA_ERROR = 1, ARGUMENT = 4, USAGE = 5, F32 = 7 };
typedef struct unique_id {
    char bytes[128];
} unique_id;
typedef struct comm {
    int rank, count;
    CUcontext context;
    unique_id id;
} comm;
typedef struct transfer {
    comm *of;
    int with;
    uint64_t at, bytes;
    CUstream stream;
    bool sends, met;
} transfer;

CUresult cuCtxGetCurrent(CUcontext *c);
CUresult cuCtxSetCurrent(CUcontext c);
CUresult cuEventCreate(CUevent *v, unsigned flags);
CUresult cuEventRecord(CUevent v, CUstream s);
CUresult cuEventDestroy_v2(CUevent v);
CUresult cuStreamWaitEvent(CUstream s, CUevent v, unsigned flags);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s);

#define API __attribute__((visibility("default")))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static comm *member[64];
static int n_member;
static __thread transfer *all; /* of the group at hand */
static __thread int n_all, depth;
static unsigned long long groups, sent;

static int wrong(const char *what, int code)
{
    fprintf(stderr, "simnccl: %s\n", what);
    return code;
}

static void write_sent(void)
{
    FILE *f = fopen(getenv("SIMNCCL_SENT"), "w");
    if (f)
        fprintf(f, "{\"groups\":%llu,\"bytes\":%llu}\n", groups, sent), fclose(f);
}

/* ---- members ---- */
API int ncclGetVersion(int *version)
{
    *version = 22809;
    return OK;
}
API int ncclGetUniqueId(unique_id *id)
{
    static int made;
    *id = (unique_id){0};
    snprintf(id->bytes, sizeof id->bytes, "simnccl-%d-%d", (int)getpid(), ++made);
    return OK;
}
API int ncclCommInitRank(comm **out, int count, unique_id id, int rank)
{
    comm *c = calloc(1, sizeof *c);
    if (!c || rank < 0 || rank >= count || n_member == 64 || cuCtxGetCurrent(&c->context) || !c->context)
        return wrong("a member without a place, or a context", ARGUMENT);
    c->rank = rank, c->count = count, c->id = id;
    if (!n_member && getenv("SIMNCCL_SENT"))
        atexit(write_sent);
    pthread_mutex_lock(&lock);
    member[n_member++] = *out = c;
    pthread_mutex_unlock(&lock);
    return OK;
}
API int ncclCommDestroy(comm *c)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_member; i++)
        if (member[i] == c)
            member[i] = member[--n_member];
    pthread_mutex_unlock(&lock);
    free(c);
    return OK;
}
API int ncclCommAbort(comm *c)
{
    return ncclCommDestroy(c);
}
API int ncclCommGetAsyncError(comm *c, int *status)
{
    (void)c;
    *status = OK;
    return OK;
}
API const char *ncclGetErrorString(int status)
{
    static const char *const text[] = {"no error",       "unhandled cuda error", "unhandled system error",
                                       "internal error", "invalid argument",     "invalid usage"};
    return status >= 0 && status <= USAGE ? text[status] : "unknown result code";
}

/* ---- groups ---- */
static bool race(const transfer *a, const transfer *b)
{
    return !a->sends && a != b && a->at < b->at + b->bytes && b->at < a->at + a->bytes;
}

static transfer *partner(const transfer *t)
{
    for (int i = 0; i < n_all; i++) {
        transfer *x = &all[i];
        if (!x->met && !x->sends && x->of->rank == t->with && x->with == t->of->rank &&
            !memcmp(&x->of->id, &t->of->id, sizeof t->of->id))
            return x;
    }
    return NULL;
}

/* `to` waits for what is before the mark on `on` */
static bool follow(const transfer *on, const transfer *to)
{
    CUevent v;
    const bool ok = !cuCtxSetCurrent(on->of->context) && !cuEventCreate(&v, 2) && !cuEventRecord(v, on->stream) &&
                    !cuCtxSetCurrent(to->of->context) && !cuStreamWaitEvent(to->stream, v, 0);
    return ok && !cuEventDestroy_v2(v);
}

static int meet(transfer *from, transfer *to)
{
    if (!to)
        return wrong("nobody receives what a member sends", USAGE);
    if (from->bytes != to->bytes)
        return wrong("a member receives other bytes than are sent", USAGE);
    from->met = to->met = true, sent += from->bytes;
    return follow(from, to) && !cuMemcpyDtoDAsync_v2(to->at, from->at, from->bytes, to->stream) && follow(to, from)
               ? OK
               : CUDA_ERROR;
}

static int run_group(void)
{
    int code = OK;
    groups += n_all > 0;
    for (int i = 0; i < n_all; i++)
        for (int k = 0; k < n_all; k++)
            if (race(&all[i], &all[k]))
                return wrong("what a member receives is used by another transfer of the group", USAGE);
    for (int i = 0; i < n_all && !code; i++)
        if (all[i].sends)
            code = meet(&all[i], partner(&all[i]));
    for (int i = 0; i < n_all && !code; i++)
        if (!all[i].met)
            code = wrong("nobody sends what a member receives", USAGE);
    return code;
}

API int ncclGroupStart(void)
{
    depth++;
    return OK;
}
API int ncclGroupEnd(void)
{
    if (depth < 1)
        return wrong("a group ends that has not begun", USAGE);
    if (--depth)
        return OK;
    CUcontext before;
    cuCtxGetCurrent(&before);
    pthread_mutex_lock(&lock);
    const int code = run_group();
    pthread_mutex_unlock(&lock);
    cuCtxSetCurrent(before);
    free(all), all = NULL, n_all = 0;
    return code;
}
static int add(const transfer *t)
{
    if (t->with < 0 || t->with >= t->of->count || t->with == t->of->rank)
        return wrong("there is no such member to send to", ARGUMENT);
    ncclGroupStart();
    all = reallocarray(all, (size_t)n_all + 1, sizeof *all);
    all[n_all++] = *t;
    return ncclGroupEnd();
}
API int ncclSend(const void *at, size_t n, int type, int to, comm *c, CUstream s)
{
    if (type != F32)
        return wrong("f32 expected", ARGUMENT);
    return add(&(transfer){c, to, (uintptr_t)at, n * sizeof(float), s, true, false});
}
API int ncclRecv(void *at, size_t n, int type, int from, comm *c, CUstream s)
{
    if (type != F32)
        return wrong("f32 expected", ARGUMENT);
    return add(&(transfer){c, from, (uintptr_t)at, n * sizeof(float), s, false, false});
}
