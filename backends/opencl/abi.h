/* abi.h - the library of OpenCL's loader, opened when it is asked for.
 * Whoever opened it closes it; its functions are valid until then. */
#ifndef TS_OCL_ABI_H
#define TS_OCL_ABI_H
#include "backends/opencl/runtime/opencl_abi.h"
#include "graph/base/base.h"

/* loader.c */
bool opencl_open(opencl *cl, err *e); /* TS_DEVICE: there is no loader here, or no OpenCL behind it */
void opencl_close(opencl *cl);
/* When what is in it is done, and nobody else holds it, as memory does that was written last in it */
void opencl_drop_queue(const opencl *cl, cl_queue q);
/* The error, always false: what was asked for and the answer's name. Memory is TS_MEMORY, the rest TS_DEVICE. */
bool opencl_fail(int32_t answer, const char *what, err *e);
#endif
