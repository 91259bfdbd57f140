/* figures.h - what a kernel comes to on a card: groups and lanes, what they take of a processor, how lanes touch
 * memory, and the time that follows. Derived from the plan alone; nothing is measured. */
#ifndef TS_GPU_FIGURES_H
#define TS_GPU_FIGURES_H
#include "backends/gpu/gpu.h"
#include "schedule/nest.h"

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
    double groups; /* trips that are dealt to them */
    int64_t lanes; /* of a group */
    gpu_room room;
    double occupancy;          /* lanes on a processor, of those that it has room for; 0: not known */
    double waves, last;        /* rounds of groups, each as many as all processors hold; the share of the last one's */
    double moved, asked;       /* bytes between a group and global memory: in sectors, and as lanes ask for them */
    double banks, banks_least; /* cycles for shared memory, of a group */
    double products, shared, cache, memory, latency; /* cycles of the kernel, if nothing else took any */
    double seconds;
    const char *bound; /* which of these it is */
    int n_access;
    gpu_access access[MAX_ACCESS];
} gpu_figures;
bool gpu_by_unit(const stage *s, unit_loops *u); /* the lanes of a warp form its products together */
void gpu_figures_find(const plan *p, const kernel *k, gpu_figures *f);
int64_t gpu_shared_bytes(const plan *p, const kernel *k); /* of a group: slices, what stages hand on, sums that merge */
int64_t gpu_registers(const plan *p, const kernel *k);    /* of a lane: sums, what they are made of, addresses */
/* Groups that a processor is to run at the same time: what keeps to this has the registers that are foretold. */
int64_t gpu_at_once(const plan *p, const kernel *k);
/* touched.c: of all times that a stage's access is made within the loops up to that depth, the shares that begin at
 * each byte of a sector. stride: by axis, in bytes */
void gpu_begin(const plan *p, const kernel *k, const stage *s, int load, int upto, const int64_t *stride,
               double share[SECTOR]);
/* The part of whole trips along such axes that is there. */
double gpu_whole(const kernel *k, const stage *s, uint32_t axes);
/* The part of that in which this operand is read. What depends on where in a sector it is read takes no sector away. */
double gpu_there(const stage *s, int load, const int64_t *stride);
void gpu_explain(const plan *p, const kernel *k, text *out); /* target.explain */
#endif
