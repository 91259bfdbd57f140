/* ctest: large timeout=600
 * Values that go from plan to plan, from an OpenCL device and to it. */
#include "tests/backends/merged.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

int main(void)
{
    const int skipped = rig_opencl();
    if (skipped)
        return skipped;
    merged_check("opencl:0", "opencl:0", 50);
    merged_check("c", "opencl:0", 50);
    return check_done();
}
