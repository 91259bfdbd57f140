/* model.h - the model as a few C functions. Who opens a model closes it; it belongs to the process that opened it.
 * Values of inputs and outputs are the caller's, those of states the model's. */
#ifndef MODEL_H
#define MODEL_H
#include "backends/c/runtime/counts.h"

#include <stddef.h>

/* Sizes that a run has; what their names are says ports.json. */
typedef struct model_range {
    long low, high, step; /* what it may be: multiples of step */
} model_range;
extern const model_range model_size[];
/* An extent: plus and times[i] of the steps that size i has, the sum of it / per, rounded down */
typedef struct model_axis {
    long most; /* where all sizes are the largest */
    long times[4], plus, per;
} model_axis;
/* What numpy writes into a .npy file about an array of this type and shape, and the bytes of its values. Where axis is
 * not NULL, each # in npy is an extent, one after the other, and the bytes are those at the largest. */
typedef struct model_port {
    const char *npy;
    size_t bytes;
    const model_axis *axis;
} model_port;
extern const model_port model_input[], model_output[];
extern const model_port model_state[]; /* what a run leaves for the next one */

typedef struct model model;
model *model_open(const char *weights); /* the file weights.bin; NULL: it cannot be read, or too little memory */
/* Size i of the runs from now on, the largest before. 0: it is not within its range. */
int model_resize(model *m, int i, long n);
enum { MODEL_TEXT = 1024 };
model_port model_now(const model *m, const model_port *p, char npy[MODEL_TEXT]); /* as it is at these sizes */
/* Pointers to the values of each input and output, aligned to 64 bytes. One run at a time. 0: an index in the inputs is
 * outside its axis, or the process is not the one that opened the model. */
int model_run(model *m, const void *const *input, void *const *output);
int model_said(const model *m); /* why the last run gave 0 is on standard error already */
/* The values of a state, model_state[i].bytes of them, to be read and changed between runs; they live as long as m. */
void *model_state_of(model *m, int i);
void model_close(model *m);
#endif
