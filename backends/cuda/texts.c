/* texts.c - a plan's kernels as CUDA C, each distinct one once. */
#include "backends/cuda/dialect.h"
#include "backends/cuda/program.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { RESIDENT = 16 }; /* groups that a processor runs at the same time, at most where each holds memory of its own */

void cuda_texts_free(cuda_texts *t)
{
    for (int i = 0; i < t->n_unit; i++)
        kernel_text_free(&t->unit[i]);
    for (int k = 0; k < t->n_kernel; k++)
        kernel_text_free(&t->kernel[k]);
    free(t->unit), free(t->unit_of), free(t->kernel);
    hazards_free(&t->hazards), levels_free(&t->levels);
    *t = (cuda_texts){0};
}

static int take_unit(cuda_texts *t, kernel_text *k) /* the number of the unit that it is; k keeps its operands alone */
{
    kernel_text own = *k;
    int i = 0;
    own.operand = NULL, own.box = NULL, k->text = k->header = NULL;
    while (i < t->n_unit && strcmp(t->unit[i].name, own.name))
        i++;
    if (i < t->n_unit) {
        kernel_text_free(&own);
        return i;
    }
    t->unit = reallocarray(t->unit, (size_t)i + 1, sizeof *t->unit);
    MUST(t->unit);
    t->unit[t->n_unit++] = own;
    return i;
}

/* What a group holds elsewhere lies in memory that all kernels share: one works in it at a time. */
static void add_hazards(cuda_texts *t, const plan *p, int number, int *spilled)
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

static bool write_kernel(const dialect *d, cuda_texts *t, int k, err *e)
{
    const plan *p;
    const kernel *own = levels_kernel(&t->levels, k, &p);
    int64_t from;
    if ((own->scan && !own->scan->inside) || kernel_copies(p, own, &from))
        call_operands(p, own, &t->kernel[k]);
    else if (!kernel_write(d, p, own, &t->kernel[k], e))
        return false;
    t->n_kernel++;
    return true;
}

static bool write_kernels(const dialect *d, const plan *p, cuda_texts *out, err *e)
{
    int spilled = -1;
    *out = (cuda_texts){0};
    levels_make(&out->levels, p);
    const size_t n = (size_t)out->levels.n_kernel + 1;
    out->unit_of = heap_array(n, sizeof *out->unit_of);
    out->kernel = heap_array(n, sizeof *out->kernel);
    for (int k = 0; k < out->levels.n_kernel; k++) {
        if (!write_kernel(d, out, k, e))
            return cuda_texts_free(out), false;
        if (k < p->n_kernel)
            add_hazards(out, p, k, &spilled);
    }
    return true;
}

static void take_units(cuda_texts *t)
{
    for (int k = 0; k < t->n_kernel; k++)
        t->unit_of[k] = t->kernel[k].text ? take_unit(t, &t->kernel[k]) : -1;
}

bool cuda_write_each(const plan *p, cuda_texts *out, err *e)
{
    dialect alone = cuda_dialect;
    alone.member = NULL;
    if (!write_kernels(&alone, p, out, e))
        return false;
    take_units(out);
    return true;
}

bool cuda_write(const plan *p, cuda_texts *out, err *e)
{
    if (!write_kernels(&cuda_dialect, p, out, e))
        return false;
    launches_write(&cuda_dialect, &out->levels, out->kernel);
    hazards_join(&out->hazards, p);
    take_units(out);
    return true;
}

unsigned cuda_groups(const plan *p, const kernel_text *k)
{
    const int64_t most = k->spill ? (int64_t)p->on->workers * RESIDENT : INT_MAX;
    const int64_t n = k->parts < 1 ? 1 : k->parts < most ? k->parts : most;
    return (unsigned)n;
}
