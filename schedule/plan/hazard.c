/* hazard.c - hazards from what kernels touch. Kernels are taken in order; of what they touched that is kept which a
 * later one can still conflict with first: what is written over as a whole is forgotten, for who conflicts with it then
 * conflicts with the writer, which waited. */
#include "schedule/plan/hazard.h"

#include <stdlib.h>

typedef struct touched {
    access a;
    int kernel;
} touched;

static bool conflict(const access *a, const access *b)
{
    return (a->written || b->written) && int_max(a->from, b->from) < int_min(a->to, b->to);
}

static void wait_for(hazards *h, int k, int before)
{
    for (int i = h->first[k]; i < h->first[k + 1]; i++)
        if (h->wait[i] == before)
            return;
    h->wait = reallocarray(h->wait, (size_t)h->first[k + 1] + 1, sizeof *h->wait);
    MUST(h->wait);
    h->wait[h->first[k + 1]++] = before;
}

static bool covered(const access *by, int n, const access *a)
{
    for (int i = 0; i < n; i++)
        if (by[i].written && by[i].from <= a->from && a->to <= by[i].to)
            return true;
    return false;
}

void hazards_add(hazards *h, int n, const access *a)
{
    const int k = h->n_kernel++;
    int left = 0;
    h->first = reallocarray(h->first, (size_t)k + 2, sizeof *h->first);
    h->open = reallocarray(h->open, (size_t)h->n_open + (size_t)n + 1, sizeof *h->open);
    MUST(h->first && h->open);
    if (!k)
        h->first[0] = 0;
    h->first[k + 1] = h->first[k];
    for (int o = 0; o < h->n_open; o++) {
        const touched was = h->open[o];
        for (int i = 0; i < n; i++)
            if (conflict(&a[i], &was.a))
                wait_for(h, k, was.kernel);
        if (!covered(a, n, &was.a))
            h->open[left++] = was;
    }
    for (int i = 0; i < n; i++)
        if (a[i].from < a[i].to)
            h->open[left++] = (touched){a[i], k};
    h->n_open = left;
}

typedef struct device_memory { /* of one device, behind those before it */
    const plan *part;
    int64_t base;
} device_memory;

static device_memory memory_of(const plan *p, int of)
{
    device_memory m = {p->n_site ? p->site[of].part : p, 0};
    for (int i = 0; i < of && p->n_site; i++)
        if (p->site[i].part)
            m.base += p->site[i].part->arena_bytes + p->site[i].part->n_input;
    return m;
}

/* Inputs are behind the arena, one place each. */
static access access_of(device_memory m, const node *n, bool written)
{
    const buffer *h = &m.part->buffer[n->id];
    const int64_t input = input_of(m.part, n), at = m.base + (h->where == IN_ARENA ? h->offset : m.part->arena_bytes);
    if (h->where == IN_ARENA)
        return (access){at, at + h->bytes, written};
    return input < 0 ? (access){0, 0, written} : (access){at + input, at + input + 1, written};
}

bool kernel_hands_on(const kernel *k, const node *n)
{
    const int i = kernel_stage(k, n);
    return i >= 0 && k->stage[i].scratch;
}

static void add_transfer(hazards *h, const plan *p, const transfer *t)
{
    hazards_add(
        h, 2,
        (access[]){access_of(memory_of(p, t->from), t->node, false), access_of(memory_of(p, t->to), t->node, true)});
}

void hazards_add_kernel(hazards *h, const plan *p, const kernel *k)
{
    int most = 1, n = 0;
    if (k->moves) {
        add_transfer(h, p, k->moves);
        return;
    }
    const device_memory m = memory_of(p, k->site);
    k = p->n_site ? &m.part->kernel[k->within] : k;
    for (int i = 0; i < k->n_stage; i++)
        most += k->stage[i].n_load + 1;
    ENDED_BY(heap_free) access *a = heap_array((size_t)most, sizeof *a);
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        for (int j = 0; j < s->n_load; j++)
            if ((!s->leaf || s->leaf[j] < 0) && !kernel_hands_on(k, s->load[j]->from))
                a[n++] = access_of(m, s->load[j]->from, false);
        if (!s->scratch)
            a[n++] = access_of(m, s->node, true);
    }
    const buffer *room = k->scan ? k->scan->room : NULL;
    if (room)
        a[n++] = (access){m.base + room->offset, m.base + room->offset + room->bytes, true};
    hazards_add(h, n, a);
}

void hazards_join(hazards *h, const plan *p)
{
    hazards all = {.first = calloc((size_t)h->n_kernel + 1, sizeof *all.first)};
    MUST(all.first);
    for (int row = 0; row < h->n_kernel; row++) {
        all.n_kernel++, all.first[row + 1] = all.first[row];
        for (int k = 0; k <= row; k++)
            for (int i = h->first[k]; k + p->kernel[k].joins == row && i < h->first[k + 1]; i++)
                wait_for(&all, row, h->wait[i] + p->kernel[h->wait[i]].joins);
    }
    hazards_free(h);
    *h = all;
}

int hazards_last(const hazards *h, int k)
{
    int last = -1;
    for (int i = h->first[k]; i < h->first[k + 1]; i++)
        last = h->wait[i] > last ? h->wait[i] : last;
    return last;
}

void hazards_free(hazards *h)
{
    free(h->first), free(h->wait), free(h->open);
    *h = (hazards){0};
}
