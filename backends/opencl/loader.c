/* loader.c - opens the loader of OpenCL drivers and finds its functions. */
#include "backends/opencl/abi.h"
#include "backends/opencl/settings.h"

#include <dlfcn.h>
#include <time.h>

bool opencl_open(opencl *cl, err *e)
{
    ocl_settings asked;
    *cl = (opencl){0};
    if (!ocl_settings_read(&asked, e))
        return false;
    const char *library = asked.loader ? asked.loader : OPENCL_LIBRARY;
    cl->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!cl->library) {
        err_set(e, TS_DEVICE, "no OpenCL here: %s", dlerror());
        return err_hint(e, "install a loader and a driver for the device: ocl-icd-libopencl1 and, to run on the "
                           "processor, pocl-opencl-icd; plans alone need none: --machine gpu:h100");
    }
    const char *missing = opencl_functions(cl, cl->library);
    if (missing) {
        err_set(e, TS_DEVICE, "%s has no function %s: OpenCL 1.2 is needed", library, missing);
        return opencl_close(cl), false;
    }
    return true;
}

void opencl_close(opencl *cl)
{
    if (cl->library)
        dlclose(cl->library);
    *cl = (opencl){0};
}

/* PoCL's workers give up what a command holds, its queue last, when clFinish has long returned. With a queue they give
 * up its context and with that a part of a device, of which they then read on (3.1: now and then the process ends). */
void opencl_drop_queue(const opencl *cl, cl_queue q)
{
    enum { STEP = 50 * 1000, MOST = 20000 }; /* nanoseconds; steps: a second in all */
    uint32_t holders = 0;
    size_t have = 0;
    cl->finish(q);
    for (int i = 0; i < MOST; i++) {
        if (cl->queue_info(q, CL_QUEUE_HOLDERS, sizeof holders, &holders, &have) != CL_SUCCESS || holders < 2)
            break;
        nanosleep(&(struct timespec){.tv_nsec = STEP}, NULL);
    }
    cl->drop_queue(q);
}

bool opencl_fail(int32_t answer, const char *what, err *e)
{
    switch (answer) {
    case CL_NO_MEMORY_OBJECT:
    case CL_NO_HOST_MEMORY:
    case CL_BAD_BUFFER_SIZE:
        err_set(e, TS_MEMORY, "%s: the device has no memory for it (OpenCL %d)", what, answer);
        return err_hint(e, "bind smaller dimensions, or run on another device");
    case CL_NO_RESOURCES:
        return err_set(e, TS_DEVICE, "%s: the device has not enough of its resources (OpenCL %d)", what, answer);
    default: return err_set(e, TS_DEVICE, "%s: the driver answers with OpenCL error %d", what, answer);
    }
}
