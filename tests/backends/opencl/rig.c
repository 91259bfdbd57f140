#include "tests/backends/opencl/rig.h"
#include "backends/opencl/device.h"
#include "tests/check.h"

void rig_hurry(void)
{
    static opencl cl; /* until the process ends */
    int32_t answer = CL_SUCCESS;
    err e = {0};
    ocl_device is;
    const cl_device d = opencl_open(&cl, &e) ? ocl_find(&cl, 0, &is, &e) : NULL;
    if (d)
        cl.context(NULL, 1, &d, NULL, NULL, &answer);
}

int rig_opencl(void)
{
    err e = {0};
    text why = {0};
    const backend *by = backend_find("opencl", &e);
    const bool here = CHECK(by) && backend_usable(by, &why);
    text_free(&why);
    if (!here)
        return check_skip("no OpenCL device");
    rig_hurry();
    return 0;
}
