/* tables.h - what tables.c, which is written beside each model, tells model.c of the one at hand. All constant.
 * Spaces come as the program takes them; inputs and outputs among them in the order of model.h's ports. */
#ifndef TABLES_H
#define TABLES_H
#include "backends/c/runtime/model.h"

typedef enum model_kind { KIND_SCRATCH, KIND_WEIGHT, KIND_STATE, KIND_INPUT, KIND_OUTPUT } model_kind;
/* A block of memory that the program is given a pointer to, aligned to 64 bytes: inputs and outputs are the
 * caller's for a run, the others the model's from model_open to model_close */
typedef struct model_space {
    model_kind kind;
    long at;      /* bytes from where weights.bin begins; -1: it is not in there, and a state begins with zeros */
    size_t bytes; /* at the largest sizes */
} model_space;
extern const int model_spaces;          /* rows of the table */
extern const model_space model_table[]; /* [model_spaces] */
extern const int model_state_space[];   /* of each state, its row there */
extern const int model_size_space;      /* the row of the sizes, each a long */
extern const int *const model_cpu;      /* the processor of each thread, where the model was planned; NULL: any */
/* space: [model_spaces]. Every thread calls it with its part of [0, parts); wait is the barrier of all, called with
 * team, and *fault, 0 before, is set to another number when an index read from the inputs is outside its axis. */
typedef void model_program(void *const *space, int *fault, int part, int parts, void (*wait)(void *team), void *team);
extern model_program *const model_entry;
#endif
