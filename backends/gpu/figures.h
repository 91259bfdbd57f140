/* figures.h - what a kernel comes to on a card: groups and lanes, what they take of a processor, how lanes touch
 * memory, and the time that follows. Derived from the plan alone; nothing is measured. Figures are plain values; what
 * they point to is the plan's. */
#pragma once
#include "backends/gpu/gpu.h"
#include "schedule/nest/nest.h"

enum { SECTOR = 32, MAX_ACCESS = 96 }; /* bytes of global memory that come together */

/* gpu_access: one way in which lanes touch a value, as the first warp of a group does it. Staged operands have two: the
 * copy, whose reads are of global memory, and the reads of the slice. */
typedef struct gpu_access {
    const stage *s;
    int load;          /* MAX_LOADS: the result */
    bool shared, copy; /* in shared memory; by the copy of a slice */
    int64_t bytes;     /* that a lane moves at once */
    double times;      /* that warps of one group do it */
    int64_t parts,
        least; /* sectors that a warp touches, or cycles that banks take for it; and those it needs at least */
} gpu_access;

typedef struct gpu_figures {
    double groups;             /* trips that are dealt to them */
    int64_t lanes;             /* of a group */
    bool written;              /* it has a text, of which these are: */
    op_counts counts;          /* what it does */
    gpu_room foretold;         /* registers of a lane, bytes of a group's memory */
    gpu_room room;             /* the same as the assembler has them, where it was asked; and what follows */
    double occupancy;          /* lanes on a processor, of those that it has room for; 0: not known */
    double waves, last;        /* rounds of groups, each as many as all processors hold; the share of the last one's */
    double moved, asked;       /* bytes between a group and global memory: in sectors, and as lanes ask for them */
    double banks, banks_least; /* cycles for shared memory, of a group */
    double products, shared, cache, memory, latency; /* cycles of the kernel, if nothing else took any */
    double seconds;                                  /* of the longest of these, and of what it does not hide */
    const char *bound;                               /* which of these it is */
    int n_access;
    gpu_access access[MAX_ACCESS];
} gpu_figures;
bool gpu_by_unit(const stage *s, unit_loops *u); /* the lanes of a warp form its products together */
/* Multiply-adds of a processor in a cycle that a matrix unit of the target reaches */
double gpu_unit_rate(const plan *p, const matrix_unit *u);
void gpu_figures_find(const plan *p, const kernel *k, gpu_figures *f, footprint *bytes); /* bytes: found, too */
/* target.explain */
bool gpu_explain(const plan *p, const kernel *k, op_counts *counts, footprint *bytes, text *out);
