#include "tests/backends/opencl/rig.h"
#include "backends/backend.h"
#include "backends/opencl/runtime/opencl_driver.h"
#include "tests/check.h"

void rig_hurry(void)
{
    static opencl_host h = {.d.by = &opencl_driver}; /* until the process ends */
    opencl_driver.open(&h.d, &(device_where){0});
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
