/* hazard.h - which kernels of a plan must wait for which: who reads what another one wrote, or writes where another one
 * read or wrote. A back end says that as it can: by barriers, as edges of a graph, as events. What follows from other
 * waits need not be listed. A list is the caller's, until hazards_free; the plan is only read. */
#pragma once
#include "schedule/plan/plan.h"

typedef struct access { /* bytes [from, to) of memory that kernels share */
    int64_t from, to;
    bool written;
} access;

typedef struct hazards {
    int n_kernel;
    int *first; /* wait[first[k]] up to wait[first[k + 1]]: the kernels before k that it waits for */
    int *wait;
    struct touched *open; /* what later kernels may have to wait for */
    int n_open;
} hazards;

void hazards_add(hazards *h, int n, const access *a); /* the next kernel, by what it touches */
/* Of a plan whose values have their places. Over several devices each has memory of its own; a transfer reads in one
 * and writes in the other. */
void hazards_add_kernel(hazards *h, const plan *p, const kernel *k);
bool kernel_hands_on(const kernel *k, const node *n); /* the value stays within it, from stage to stage */
/* Of kernels that are launched together: the last one waits for all that any of them waits for, and stands for all */
void hazards_join(hazards *h, const plan *p);
int hazards_last(const hazards *h, int k); /* the last kernel that kernel k waits for; -1: none */
void hazards_free(hazards *h);
