/* device_run.h - the kernels of a program on a device of its own memory, by the device's driver. The program's tables
 * say what they are; memory of the host is where run.h has it. Kernels of trips of scans have numbers behind those of
 * the plan, each plan's in a row. Tables are constant; the first run opens the device and takes its memory, for as
 * long as the process lives. */
#ifndef DEVICE_RUN_H
#define DEVICE_RUN_H
#include "backends/c/runtime/loops.h"
#include "backends/c/runtime/run.h"

typedef enum device_space { DEVICE_ARENA, DEVICE_LEAF, DEVICE_INPUT } device_space;
typedef struct device_place { /* of an operand: bytes from the start of the arena, or the number of a leaf or input */
    device_space space;
    long at;
} device_place;
enum { DEVICE_DIMS = 5, DEVICE_STREAMS = 4 /* at most */ };
/* A tensor in an operand, of which the device copies boxes by itself: bytes from where the operand begins; bytes of an
 * element, and of rows whose pieces are swizzled; dimensions, neighbours first: elements, bytes from one to the next,
 * and those that a box has */
typedef struct device_box {
    int operand;
    long first;
    int size, row, dims;
    long extent[DEVICE_DIMS], stride[DEVICE_DIMS];
    int count[DEVICE_DIMS];
} device_box;
typedef struct device_kernel {
    const char *name, *file; /* of the function; where it is, as source or built */
    int operands;
    const device_place *operand;
    unsigned groups, lanes, shared; /* lanes of a group; bytes of shared memory that it asks for at its launch */
    int waits;
    const int *wait; /* kernels before it that it waits for */
    int loop;        /* it is trips of other kernels: a row of loop, and no function; 0: it is not */
    int copies;      /* it copies bytes of operand 0, from there on, to operand 1, and is no function */
    long from, bytes;
    int boxes; /* maps of tensors that it takes behind all else */
    const device_box *box;
    int asks;       /* behind operands the walk has the place of a byte: whether a trip before was the last one */
    unsigned sizes; /* extents of the run that it takes behind these: a bit for each */
    int joins;      /* it is part of the launch so many kernels on, and is no function; 0: it is not */
    int stream;     /* of the device: those of one are done in order; the first is where all else is */
} device_kernel;
typedef struct device_port {
    long at, bytes;
    int written; /* of an input: kernels write it */
} device_port;
typedef struct device_program {
    int device; /* its number */
    int units;  /* of it that run; 0: all */
    int kernels, leaves, inputs, values;
    const device_kernel *kernel;
    const device_port *leaf, *input, *value; /* value: of the arena, that is wanted after a run */
    long arena, spill;                       /* bytes */
    int all, loops;                          /* kernels with those of trips; rows of loop, row 0 being none */
    int walked;                              /* some are no functions: loops, copies */
    const loop_row *loop;
    const loop_address *address;
    const loop_copy *copy;
    int sizes;   /* extents that a run says: a list of them stands for an input behind the last one */
    int faults;  /* some kernels check places that data say */
    int streams; /* that kernels are in */
} device_program;

enum { RUN_SAID = 2 };
/* *r->fault becomes 1 when an index led outside, and RUN_SAID when the device failed, as standard error then says. */
typedef struct device_driver device_driver;
void device_run(const device_program *p, const device_driver *by, const ts_run *r);
#endif
