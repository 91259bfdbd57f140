/* device.h - devices that OpenCL drivers offer, numbered: graphics processors first, then others, in the order of
 * drivers. A target is for one of them, or for a card that is described and need not be here. */
#ifndef TS_OCL_DEVICE_H
#define TS_OCL_DEVICE_H
#include "backends/gpu/gpu.h"
#include "backends/opencl/abi.h"

typedef struct ocl_device {
    gpu_facts facts;    /* first: what the target's own is */
    int number;         /* -1: it is described, and not here */
    bool wide, exact;   /* has reals of 8 bytes; can round quotients and roots correctly */
    bool plain;         /* its compiler is right only where it does not optimise */
    int64_t most;       /* bytes of one memory object */
    int64_t parameters; /* bytes of a kernel's parameters */
    char identity[384]; /* platform, device and driver with their versions */
} ocl_device;

enum { OCL_PER_OPERAND = 16, OCL_BESIDES = 24 }; /* bytes of parameters */
const target *ocl_target(arena *mem, const machine_options *asked, err *e);
const ocl_device *ocl_device_of(const target *t);
cl_device ocl_find(const opencl *cl, int number, err *e); /* NULL with e set */
bool ocl_usable(text *why);
#endif
