/* texts.c - kernels of all levels of a plan, and which of them are the same text. */
#include "backends/device/texts.h"

#include <stdlib.h>
#include <string.h>

void device_texts_free(device_texts *t)
{
    for (int k = 0; k < t->n_kernel; k++)
        kernel_text_free(&t->kernel[k]);
    free(t->kernel), free(t->unit_of), free(t->first);
    hazards_free(&t->hazards), levels_free(&t->levels);
    *t = (device_texts){0};
}

const kernel_text *device_unit(const device_texts *t, int unit)
{
    return &t->kernel[t->first[unit]];
}

static void number_unit(device_texts *t, int k)
{
    const kernel_text *own = &t->kernel[k];
    int u = own->text ? 0 : -1;
    while (own->text && u < t->n_unit && strcmp(device_unit(t, u)->name, own->name))
        u++;
    t->unit_of[k] = u;
    if (u == t->n_unit)
        t->first[t->n_unit++] = k;
}

/* What a group holds elsewhere lies in memory that all kernels share: one works in it at a time. */
static void add_hazards(device_texts *t, const plan *p, int number, int *spilled)
{
    const kernel_text *k = &t->kernel[number];
    hazards *h = &t->hazards;
    const int at = h->n_kernel;
    hazards_add_kernel(h, p, &p->kernel[number]);
    if (!k->spill)
        return;
    bool waits = *spilled < 0;
    for (int i = h->first[at]; i < h->first[at + 1]; i++)
        waits = waits || h->wait[i] == *spilled;
    if (!waits) {
        h->wait = reallocarray(h->wait, (size_t)h->first[at + 1] + 1, sizeof *h->wait);
        MUST(h->wait);
        h->wait[h->first[at + 1]++] = *spilled;
    }
    *spilled = at;
}

bool device_walks(const plan *p, const kernel *k)
{
    int64_t from;
    return (k->scan && !k->scan->inside) || kernel_copies(p, k, &from);
}

static bool write_kernel(device_texts *t, int k, const dialect *d, device_writer *write, err *e)
{
    const plan *p;
    const kernel *own = levels_kernel(&t->levels, k, &p);
    if (device_walks(p, own))
        call_operands(p, own, &t->kernel[k]);
    else if (!write(d, p, own, &t->kernel[k], e))
        return false;
    t->n_kernel++;
    return true;
}

bool device_texts_make(device_texts *t, const plan *p, const dialect *d, device_writer *write, bool together, err *e)
{
    int spilled = -1;
    *t = (device_texts){0};
    levels_make(&t->levels, p);
    const size_t n = (size_t)t->levels.n_kernel + 1;
    t->kernel = heap_array(n, sizeof *t->kernel);
    t->unit_of = heap_array(n, sizeof *t->unit_of), t->first = heap_array(n, sizeof *t->first);
    for (int k = 0; k < t->levels.n_kernel; k++) {
        if (!write_kernel(t, k, d, write, e))
            return device_texts_free(t), false;
        if (k < p->n_kernel)
            add_hazards(t, p, k, &spilled);
    }
    if (together)
        launches_write(d, &t->levels, t->kernel), hazards_join(&t->hazards, p);
    for (int k = 0; k < t->n_kernel; k++)
        number_unit(t, k);
    return true;
}
