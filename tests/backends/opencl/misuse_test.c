/* ctest: large */
#include "tests/backends/misuse.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

int main(void)
{
    const int skipped = rig_opencl();
    if (skipped)
        return skipped;
    misuse_check(&(ts_options){.target = "opencl"});
    return check_done();
}
