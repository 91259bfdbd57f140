/* units.h - kernels of a plan as programs of a device: from their text, or from what the store kept of an earlier
 * build. */
#ifndef TS_OCL_UNITS_H
#define TS_OCL_UNITS_H
#include "backends/codegen/codegen.h"
#include "backends/opencl/device.h"

typedef struct ocl_host { /* an open device */
    opencl cl;
    const ocl_device *device;
    cl_device id;
    cl_context context;
    cl_queue queue;
} ocl_host;

typedef struct ocl_units {
    int n_kernel, n_unit;
    kernel_text *text; /* by kernel of the plan */
    int *unit;         /* of each: distinct kernels by number */
    int n_program;
    cl_program *program;  /* of several units each: ocl_program_of */
    int compiled, cached; /* units */
    text notes;
} ocl_units;
cl_program ocl_program_of(const ocl_units *u, int kernel);

extern const backend backend_opencl;

/* Texts alone; a kernel that the device cannot run is refused with its reason. */
bool ocl_units_write(ocl_units *u, const plan *p, err *e);
bool ocl_takes_kernel(const target *on, const kernel *k, err *e); /* backend.takes_kernel */
bool ocl_kernel_write(const plan *p, const kernel *k, kernel_text *out, err *e);
bool ocl_units_build(ocl_units *u, const ocl_host *h, const build_options *w, err *e);
void ocl_units_free(ocl_units *u, const opencl *cl);
#endif
