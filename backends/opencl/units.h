/* units.h - kernels of a plan as programs of a device: from their text, or from what the cache kept of an earlier
 * build. Texts and programs are of ocl_units until ocl_units_free; the plan, the target's device and the host are
 * borrowed for its life. */
#ifndef TS_OCL_UNITS_H
#define TS_OCL_UNITS_H
#include "backends/codegen/codegen.h"
#include "backends/codegen/levels.h"
#include "backends/opencl/device.h"

typedef struct ocl_host { /* an open device */
    opencl cl;
    ocl_device device; /* as it is, whatever plans were made for */
    cl_device id;      /* the device, or the part of it that plans are for */
    bool part;
    cl_context context;
    cl_queue queue, timed; /* timed: keeps times; NULL: nobody asked for any */
} ocl_host;

typedef struct ocl_units {
    const ocl_device *on; /* that the plan is for */
    levels levels;        /* of the plan: kernels have their numbers */
    int n_kernel, n_unit;
    kernel_text *text; /* by kernel; of scans and copies their operands alone */
    int *unit;         /* of each: distinct kernels by number; -1: it has no text, or is in that of another */
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
bool ocl_emit(const plan *p, const emit_options *w, err *e);      /* emission.c: backend.emit */
bool ocl_units_build(ocl_units *u, const ocl_host *h, const build_options *w, err *e);
/* Groups of a kernel that are launched: as many as there are parts; of those that hold values elsewhere as many as keep
 * the device busy. */
size_t ocl_groups(const ocl_device *d, const kernel_text *k);
/* The text of program `which`: what all its kernels use, then each distinct one, with tile functions of names of its
 * own. */
int ocl_programs(const ocl_units *u);
int ocl_program_number(const ocl_units *u, int kernel);
bool ocl_begins_unit(const ocl_units *u, int kernel, int which); /* it is the first of its unit, which is in there */
void ocl_write_head(const ocl_units *u, int which, text *out);
void ocl_write_kernel(const kernel_text *k, text *out);
void ocl_units_free(ocl_units *u, const opencl *cl);
#endif
