/* levels.c - a plan, and the plans within it. */
#include "backends/codegen/levels.h"

#include <stdlib.h>

static void add(levels *l, const level *x)
{
    l->of = reallocarray(l->of, (size_t)l->n + 1, sizeof *l->of);
    MUST(l->of);
    l->of[l->n++] = *x, l->n_kernel += x->plan->n_kernel;
}

void levels_make(levels *l, const plan *p)
{
    *l = (levels){0};
    add(l, &(level){.plan = p, .around = -1, .scan = -1});
    for (int i = 0; i < l->n; i++) /* which grows */
        for (int k = 0; k < l->of[i].plan->n_kernel; k++) {
            const scan_plan *s = l->of[i].plan->kernel[k].scan;
            if (s && !s->inside)
                add(l, &(level){s->plan, l->n_kernel, i, l->of[i].first + k, s->leaf, s});
        }
}

void levels_free(levels *l)
{
    free(l->of);
    *l = (levels){0};
}

int levels_leaf(const levels *l, int which, int entry)
{
    for (; entry >= 0 && l->of[which].around >= 0; which = l->of[which].around)
        entry = l->of[which].leaf[entry];
    return entry;
}

int levels_of_scan(const levels *l, int number)
{
    int i = l->n - 1;
    while (i >= 0 && l->of[i].scan != number)
        i--;
    return i;
}

const kernel *levels_kernel(const levels *l, int number, const plan **of)
{
    int i = 0;
    while (i + 1 < l->n && l->of[i + 1].first <= number)
        i++;
    *of = l->of[i].plan;
    return &l->of[i].plan->kernel[number - l->of[i].first];
}
