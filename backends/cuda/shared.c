/* shared.c - memory of a card that programs share, with a stream of its own, and what cards send to each other by NCCL.
 * Programs' runs have ended when memory is used here, and what is begun here has ended when a call returns. */
#include "backends/cuda/nccl.h"
#include "backends/cuda/program.h"
#include "backends/cuda/target.h"

#include <stdlib.h>

typedef struct card_memory {
    ts_shared s;   /* first: one is the other */
    cuda_host *on; /* opened for it: a program may end before */
    cu_address at;
    nccl_api nccl;
    nccl_comm comm; /* NULL: it is alone */
} card_memory;

static card_memory *card(const ts_shared *s)
{
    return (card_memory *)(uintptr_t)s;
}

/* ---- memory ---- */
static void close_memory(ts_shared *s)
{
    card_memory *m = card(s);
    if (m->comm)
        m->nccl.drop(m->comm);
    if (m->at && m->on->d.by->enter(&m->on->d))
        m->on->cu.release(m->at);
    device_drop(&m->on->d);
}

static bool fill(card_memory *m)
{
    cuda_host *h = m->on;
    const cu_status s = h->cu.alloc(&m->at, (size_t)m->s.n * sizeof(float));
    return cuda_did(h, s, "taking memory that plans share") &&
           cuda_did(h, h->cu.set(m->at, 0, (size_t)m->s.n, h->stream), "clearing memory") &&
           h->d.by->wait(&h->d, "clearing memory");
}

static ts_shared *make(const program *g, int64_t n, err *e)
{
    device *d = device_make(&cuda_driver);
    MUST(d);
    if (!cuda_device((cuda_host *)d, cuda_number(g->p->on), e))
        return free(d), NULL;
    card_memory *m = heap_array(1, sizeof *m);
    *m = (card_memory){.s = {&cuda_shared, n}, .on = (cuda_host *)d};
    if (fill(m))
        return &m->s;
    hosted_failed(d, e);
    close_memory(&m->s), free(m);
    return NULL;
}

/* Graphs know addresses: they are made again before the next run. */
static bool lay(program *g, int input, cu_address at, err *e)
{
    cuda_host *h = (cuda_host *)g->on;
    const int piece = device_input(h->d.program, input);
    g->held.send[input] = 0, g->held.newer[input] = 1;
    if (g->placed && g->placed[input] && h->memory[piece] == at)
        return true;
    if (!g->placed)
        g->placed = heap_array((size_t)g->p->n_input + 1, 1);
    if (!h->d.by->enter(&h->d) ||
        (!g->placed[input] && !cuda_did(h, h->cu.release(h->memory[piece]), "freeing memory")))
        return hosted_failed(&h->d, e);
    if (h->graph)
        h->cu.exec_free(h->graph);
    h->graph = NULL, h->memory[piece] = at;
    return g->placed[input] = 1, g->displaced = true;
}

static bool place(program *g, int input, ts_shared *s, int64_t at, err *e)
{
    const cuda_host *h = (cuda_host *)g->on;
    if (h->number != card(s)->on->number)
        return err_set(e, TS_USAGE, "memory of cuda:%d cannot be shared by a plan for cuda:%d", card(s)->on->number,
                       h->number);
    return lay(g, input, card(s)->at + (cu_address)at * sizeof(float), e);
}

static bool lies(program *g, int input, const program *of, const node *n, err *e)
{
    const cuda_host *h = (cuda_host *)g->on, *from = (cuda_host *)of->on;
    return h->number == from->number && !n->leaf && of->p->buffer[n->id].where == IN_ARENA &&
           stored_as(of->p, n) == n->type.dtype &&
           lay(g, input, from->memory[0] + (cu_address)of->p->buffer[n->id].offset, e);
}

void shared_leave(program *g)
{
    for (int i = 0; g->placed && i < g->p->n_input; i++)
        if (g->placed[i])
            ((cuda_host *)g->on)->memory[device_input(g->on->program, i)] = 0;
}

static bool write_to(ts_shared *s, int64_t at, const float *from, int64_t n, err *e)
{
    cuda_host *h = card(s)->on;
    const cu_address to = card(s)->at + (cu_address)at * sizeof *from;
    return (h->d.by->enter(&h->d) &&
            cuda_did(h, h->cu.to_device(to, from, (size_t)n * sizeof *from, h->stream), "a copy to the device") &&
            h->d.by->wait(&h->d, "a copy to the device")) ||
           hosted_failed(&h->d, e);
}

static bool read_from(const ts_shared *s, int64_t at, float *to, int64_t n, err *e)
{
    cuda_host *h = card(s)->on;
    const cu_address from = card(s)->at + (cu_address)at * sizeof *to;
    return (h->d.by->enter(&h->d) &&
            cuda_did(h, h->cu.to_host(to, from, (size_t)n * sizeof *to, h->stream), "a copy to the host") &&
            h->d.by->wait(&h->d, "a copy to the host")) ||
           hosted_failed(&h->d, e);
}

/* ---- several ---- */
static bool sends(err *e)
{
    return nccl_open(&(nccl_api){0}, e);
}

static bool meeting(ts_shared_id *id, err *e)
{
    nccl_api a;
    return nccl_open(&a, e) && nccl_did(&a, a.id(id), "making an id", e);
}

/* What members of one process do must be begun together, or the first would wait for the others. */
static bool join(int n, ts_shared *const *s, int first, int count, const ts_shared_id *id, err *e)
{
    nccl_api a;
    if (!nccl_open(&a, e) || !nccl_did(&a, a.begin(), "beginning a group", e))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < n; i++) {
        card_memory *m = card(s[i]);
        m->nccl = a;
        ok = (m->on->d.by->enter(&m->on->d) || hosted_failed(&m->on->d, e)) &&
             nccl_did(&a, a.join(&m->comm, count, *id, first + i), "joining", e);
    }
    return nccl_did(&a, a.end(), "joining", ok ? e : NULL) && ok;
}

static bool one(const ts_transfer *t, err *e)
{
    const card_memory *m = card(t->of);
    void *at = (void *)(uintptr_t)(m->at + (cu_address)t->at * sizeof(float));
    const size_t n = (size_t)t->n;
    if (!m->comm)
        return err_set(e, TS_USAGE, "shared memory that has not joined others cannot send to them: ts_shared_join");
    return (m->on->d.by->enter(&m->on->d) || hosted_failed(&m->on->d, e)) &&
           nccl_did(&m->nccl,
                    t->sends ? m->nccl.send(at, n, NCCL_F32, t->with, m->comm, m->on->stream)
                             : m->nccl.receive(at, n, NCCL_F32, t->with, m->comm, m->on->stream),
                    t->sends ? "sending" : "receiving", e);
}

static bool ended(const ts_transfer *t, err *e)
{
    const card_memory *m = card(t->of);
    int later = NCCL_OK;
    return ((m->on->d.by->enter(&m->on->d) && m->on->d.by->wait(&m->on->d, "an exchange between cards")) ||
            hosted_failed(&m->on->d, e)) &&
           nccl_did(&m->nccl, m->nccl.later(m->comm, &later), "asking how it went", e) &&
           nccl_did(&m->nccl, later, "an exchange between cards", e);
}

static bool exchange(int n, const ts_transfer *t, err *e)
{
    const nccl_api *a = &card(t->of)->nccl;
    if (!card(t->of)->comm)
        return one(t, e);
    bool ok = nccl_did(a, a->begin(), "beginning a group", e);
    for (int i = 0; ok && i < n; i++)
        ok = one(&t[i], e);
    ok = nccl_did(a, a->end(), "an exchange between cards", ok ? e : NULL) && ok;
    for (int i = 0; ok && i < n; i++)
        ok = ended(&t[i], e);
    return ok;
}

const by_memory cuda_shared = {.sends = sends,
                               .make = make,
                               .close = close_memory,
                               .place = place,
                               .lies = lies,
                               .write = write_to,
                               .read = read_from,
                               .meeting = meeting,
                               .join = join,
                               .exchange = exchange};
