/* tables.h - what tables.c tells model.c of the one model at hand. */
#ifndef TABLES_H
#define TABLES_H
#include "backends/c/runtime/model.h"

typedef enum model_kind { SCRATCH, WEIGHT, STATE, INPUT, OUTPUT } model_kind;
/* A block of memory that the program is given a pointer to */
typedef struct model_space {
    model_kind kind;
    long at; /* its place in weights.bin; -1: it has none, and begins with zeros */
    size_t bytes;
} model_space;
extern const int model_spaces;
extern const model_space model_table[];
extern const int model_state_space[]; /* of each state, its row there */
extern const int model_size_space;    /* the row of the sizes, each a long */
extern const int *const model_cpu;    /* the processor of each thread, where the model was planned; NULL: any */
/* Every thread calls it with its part; wait is the barrier, and *fault, 0 before, is set when an index read from the
 * inputs is outside its axis. */
typedef void model_program(void *const *space, int *fault, int part, int parts, void (*wait)(void *team), void *team);
extern model_program *const model_entry;
#endif
