/* model.h - the model as a few C functions. */
#ifndef MODEL_H
#define MODEL_H
#include "backends/c/runtime/counts.h"

#include <stddef.h>

/* What numpy writes into a .npy file about an array of this type and shape, and the bytes of its values. */
typedef struct model_port {
    const char *npy;
    size_t bytes;
} model_port;
extern const model_port model_input[], model_output[];
extern const model_port model_state[]; /* what a run leaves for the next one */

typedef struct model model;
model *model_open(const char *weights); /* the file weights.bin; NULL: it cannot be read, or too little memory */
/* Pointers to the values of each input and output, aligned to 64 bytes. One run at a time. 0: an index in the inputs is
 * outside its axis, or the process is not the one that opened the model. */
int model_run(model *m, const void *const *input, void *const *output);
int model_said(const model *m); /* why the last run gave 0 is on standard error already */
/* The values of a state, model_state[i].bytes of them, to be read and changed between runs; they live as long as m. */
void *model_state_of(model *m, int i);
void model_close(model *m);
#endif
