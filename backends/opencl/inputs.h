/* inputs.h - where a device has the inputs of a plan. They are copied there at the start of a run, and those that
 * kernels write are copied back at its end. Where the device shares the host's memory, large ones are not copied: they
 * are lent to it for the run. Memory on the device is of ocl_inputs, arrays stay the caller's. */
#ifndef TS_OCL_INPUTS_H
#define TS_OCL_INPUTS_H
#include "backends/opencl/pinned.h"

typedef struct ocl_inputs {
    const plan *p;
    ocl_pinned *pieces;
    cl_memory *memory; /* by input */
    void **lent;       /* whose memory that is; NULL: the program's own */
    bool *mapped;      /* of what is lent: it is the host's turn */
    bool *written;     /* kernels write it */
} ocl_inputs;

/* p, pieces: borrowed for its life. What is lent has no memory before the first run. */
bool ocl_inputs_make(ocl_inputs *s, const plan *p, ocl_pinned *pieces, err *e);
void ocl_inputs_free(ocl_inputs *s);
/* moved: some memory is another one than before; kernels are to be told. What is lent belongs to the device until
 * ocl_inputs_take, and its place is kept until another one is given or s is freed. */
bool ocl_inputs_send(ocl_inputs *s, void *const *input, bool *moved, err *e);
bool ocl_inputs_take(ocl_inputs *s, void *const *input, err *e); /* of a run that is done */
#endif
