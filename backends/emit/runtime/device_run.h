/* device_run.h - the kernels of an emitted program on a device of its own memory, by the device's driver. The program's
 * tables say what they are; memory of the host is where run.h has it. */
#ifndef DEVICE_RUN_H
#define DEVICE_RUN_H
#include "backends/c/runtime/run.h"

typedef enum device_space { DEVICE_ARENA, DEVICE_LEAF, DEVICE_INPUT } device_space;
typedef struct device_place { /* of an operand: bytes from the start of the arena, or the number of a leaf or input */
    device_space space;
    long at;
} device_place;
typedef struct device_kernel {
    const char *name, *file; /* of the function; where it is, as source or built */
    int operands;
    const device_place *operand;
    unsigned groups, lanes, shared; /* lanes of a group; bytes of shared memory that it asks for at its launch */
    int waits;
    const int *wait; /* kernels before it that it waits for */
} device_kernel;
typedef struct device_port {
    long at, bytes;
    int written; /* of an input: kernels write it */
} device_port;
typedef struct device_program {
    int device; /* its number */
    int kernels, leaves, inputs, values;
    const device_kernel *kernel;
    const device_port *leaf, *input, *value; /* value: of the arena, that is wanted after a run */
    long arena, spill;                       /* bytes */
} device_program;

enum { RUN_SAID = 2 };
/* *r->fault becomes 1 when an index led outside, and RUN_SAID when the device failed, as standard error then says. */
void device_run(const device_program *p, const ts_run *r);

/* The bytes of a file beside the program, with a zero behind them; NULL, and standard error says why. To be freed. */
char *device_file(const char *name);
#endif
