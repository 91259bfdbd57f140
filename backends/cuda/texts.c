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
    for (int k = 0; t->kernel && k < t->hazards.n_kernel; k++)
        free(t->kernel[k].operand);
    free(t->unit), free(t->unit_of), free(t->kernel);
    hazards_free(&t->hazards);
    *t = (cuda_texts){0};
}

static int take_unit(cuda_texts *t, kernel_text *k) /* the number of the unit that it is; k keeps its operands alone */
{
    int i = 0;
    operand *own = calloc((size_t)k->n_operand + 1, sizeof *own);
    MUST(own);
    memcpy(own, k->operand, (size_t)k->n_operand * sizeof *own);
    while (i < t->n_unit && strcmp(t->unit[i].name, k->name))
        i++;
    if (i == t->n_unit) {
        t->unit = reallocarray(t->unit, (size_t)i + 1, sizeof *t->unit);
        MUST(t->unit);
        t->unit[t->n_unit++] = *k;
    } else
        kernel_text_free(&(kernel_text){.text = k->text, .header = k->header, .operand = k->operand});
    k->text = k->header = NULL, k->operand = own;
    return i;
}

/* What a group holds elsewhere lies in memory that all kernels share: one works in it at a time. */
static void add_hazards(cuda_texts *t, const plan *p, const kernel_text *k, int *spilled)
{
    hazards *h = &t->hazards;
    const int at = h->n_kernel;
    hazards_add_kernel(h, p, k->n_operand, k->operand);
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

bool cuda_write(const plan *p, cuda_texts *out, err *e)
{
    int spilled = -1;
    *out = (cuda_texts){0};
    out->unit_of = calloc((size_t)p->n_kernel + 1, sizeof *out->unit_of);
    out->kernel = calloc((size_t)p->n_kernel + 1, sizeof *out->kernel);
    MUST(out->unit_of && out->kernel);
    for (int k = 0; k < p->n_kernel; k++) {
        if (!kernel_write(&cuda_dialect, p, &p->kernel[k], &out->kernel[k], e))
            return cuda_texts_free(out), false;
        out->unit_of[k] = take_unit(out, &out->kernel[k]);
        add_hazards(out, p, &out->kernel[k], &spilled);
    }
    return true;
}

unsigned cuda_groups(const plan *p, const kernel_text *k)
{
    const int64_t most = k->spill ? (int64_t)p->on->workers * RESIDENT : INT_MAX;
    const int64_t n = k->parts < 1 ? 1 : k->parts < most ? k->parts : most;
    return (unsigned)n;
}
