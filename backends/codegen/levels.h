/* levels.h - the plans that a program is made of: the one it is for, and those of its scans' trips, and of theirs, but
 * for trips that are made within one kernel. All their kernels are numbered through, each plan's in a row. Plans are
 * borrowed and have to outlive it; the list is its maker's to free. */
#pragma once
#include "backends/codegen/codegen.h"

typedef struct level {
    const plan *plan;
    int first;       /* number of its first kernel */
    int around;      /* the level that the scan is of; -1: the plan itself */
    int scan;        /* number of the scan's kernel */
    const int *leaf; /* of each leaf of this plan: that of the level around it; NULL: the same */
    const scan_plan *trips;
} level;
typedef struct levels {
    int n, n_kernel;
    level *of;
} levels;
void levels_make(levels *l, const plan *p);
void levels_free(levels *l);
/* launch.c: of kernels that are launched together one text, in place of the last one's; of the others none is left.
 * all: by number of the kernel. */
void launches_write(const dialect *d, const levels *l, kernel_text *all);
/* header.c: a comment that lists the kernels of which the text is that one, by number of the plan's own, as explain has
 * them, with their labels. unit_of: by number of the kernel. */
void layers_header(text *t, const levels *l, const int *unit_of, int unit);
int levels_leaf(const levels *l, int which, int entry); /* a level's leaf, as the first one has it */
int levels_of_scan(const levels *l, int number);        /* the level of its trips; -1: it is no scan */
const kernel *levels_kernel(const levels *l, int number, const plan **of);
