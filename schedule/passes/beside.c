/* beside.c - which kernels of one worker may stand beside one another, in what order, and who makes them. */
#include "schedule/nest/nest.h"
#include "schedule/passes/passes.h"

#include <stdlib.h>
#include <string.h>

/* How many run at the same time: workers of a team, or streams of a device */
static int at_once(const plan *p)
{
    return p->part || p->checkpointing ? 1 : p->on->team ? p->threads : p->on->streams;
}

/* Whether one worker makes it alone. A team does so with scans only. A kernel in a stream must outlast two starts,
 * since waiting for another stream costs about one. */
static bool alone(const plan *p, int k)
{
    const kernel *own = &p->kernel[k];
    if (own->scan || p->on->team)
        return own->scan && own->scan->plan->threads == 1;
    return !own->merges && !own->converts && nest_parallel(own) < 0 &&
           kernel_seconds(own, p->on) * p->on->workers > 2 * p->on->cost.start_seconds;
}

/* ---- what waits for what ---- */
static bool reads_marked(const kernel *k, const bool *marked)
{
    for (int s = 0; s < k->n_stage; s++)
        for (int j = 0; j < k->stage[s].n_load; j++)
            if (marked[k->stage[s].load[j]->from->id])
                return true;
    return false;
}

static void mark(const kernel *k, bool *marked)
{
    for (int s = 0; s < k->n_stage; s++)
        if (!k->stage[s].scratch)
            marked[k->stage[s].node->id] = true;
}

/* Which kernels from `first` on wait for one of the n there; and the first scan of one worker that does not. -1: there
 * is none, or a sum and its parts would be torn apart on the way. */
static int next_beside(const plan *p, int first, int n, bool *waits)
{
    ENDED_BY(heap_free) bool *marked = calloc((size_t)p->g->n + 1, sizeof *marked);
    int found = -1;
    bool whole = true;
    MUST(marked);
    for (int k = first; k < first + n; k++)
        mark(&p->kernel[k], marked);
    for (int k = first + n; k < p->n_kernel && found < 0 && whole; k++) {
        waits[k] = reads_marked(&p->kernel[k], marked);
        if (waits[k])
            mark(&p->kernel[k], marked);
        else if (alone(p, k))
            found = k;
        whole = !p->kernel[k].merges || waits[k] == (k > first + n && waits[k - 1]);
    }
    return whole ? found : -1;
}

/* ---- order ---- */
/* What does not wait goes before the n kernels at `first`, what waits behind kernel `next`, which comes to stand behind
 * the n; returns where these begin then. */
static int bring(plan *p, int first, int n, int next, const bool *waits)
{
    ENDED_BY(heap_free) kernel *to = calloc((size_t)(next - first) + 1, sizeof *to);
    const kernel *k = p->kernel;
    int m = 0, begin;
    MUST(to);
    for (int i = first + n; i < next; i++)
        if (!waits[i])
            to[m++] = k[i];
    begin = first + m;
    for (int i = first; i < first + n; i++)
        to[m++] = k[i];
    to[m++] = k[next];
    for (int i = first + n; i < next; i++)
        if (waits[i])
            to[m++] = k[i];
    memcpy(p->kernel + first, to, (size_t)m * sizeof *to);
    return begin;
}

void beside_order(plan *p)
{
    ENDED_BY(heap_free) bool *waits = heap_array((size_t)p->n_kernel + 1, sizeof *waits);
    for (int k = 0; at_once(p) > 1 && k < p->n_kernel; k++) {
        int n = 1, next;
        if (!alone(p, k))
            continue;
        while (n < at_once(p) && (next = next_beside(p, k, n, waits)) >= 0)
            k = bring(p, k, n, next, waits), n++;
        k += n - 1;
    }
}

/* ---- who makes them, and lives ---- */
void beside_number(plan *p)
{
    ENDED_BY(heap_free) bool *marked = heap_array((size_t)p->g->n + 1, sizeof *marked);
    for (int k = 0; k < p->n_kernel; k++) {
        kernel *at = &p->kernel[k];
        at->beside = 0;
        if (at_once(p) > 1 && k && alone(p, k) && alone(p, k - 1) && !reads_marked(at, marked))
            at->beside = at[-1].beside + 1;
        if (!at->beside)
            memset(marked, 0, (size_t)p->g->n * sizeof *marked);
        mark(at, marked);
    }
}

void beside_lives(const plan *p, buffer **all, int n)
{
    for (int i = 0; i < n; i++) {
        buffer *h = all[i];
        h->first -= h->first < p->n_kernel ? p->kernel[h->first].beside : 0;
        while (h->last + 1 < p->n_kernel && p->kernel[h->last + 1].beside)
            h->last++;
    }
}
