/* opencl_memory.h - a program's memory on the device, in the pieces of device_trips.h: what kernels are given of it,
 * and what trips of loops do there. Each gives OpenCL's answer; what goes into a queue is done in its order. Emitted
 * programs carry this file. */
#ifndef CL_MEMORY_H
#define CL_MEMORY_H
#include "backends/emit/runtime/device_trips.h"
#include "backends/opencl/runtime/opencl_abi.h"

typedef struct opencl_memory {
    const opencl *cl;
    int leaves, inputs;
    cl_memory *leaf, *input, arena, counts;
    cl_memory spill; /* scratch of groups that does not fit local memory: bytes for the largest kernel */
    cl_memory fault; /* an int for each kernel of the plan: not 0 where a place that data said was outside */
} opencl_memory;

/* What kernel f takes: each operand, spill and fault; number: of the kernel of the plan that faults are told of. Behind
 * these, of the extents that a run says, those that it mentions. */
int32_t opencl_arguments(const opencl_memory *m, cl_kernel f, int operands, const device_at *operand, int number);
int32_t opencl_extents(const opencl_memory *m, cl_kernel f, int operands, uint32_t mentions, const int64_t *extent);

/* Begin when what was put into q before is done; pieces of one memory do not overlap. opencl_clear: to zeros. */
int32_t opencl_copy(const opencl_memory *m, cl_queue q, device_at to, device_at from, long bytes);
int32_t opencl_clear(const opencl_memory *m, cl_queue q, device_at at, long bytes);
int32_t opencl_count(const opencl_memory *m, cl_queue q, device_at at, long trip);  /* the number, in 8 bytes */
int32_t opencl_truth(const opencl_memory *m, cl_queue q, device_at at, int *truth); /* of a byte; waits for it */
#endif
