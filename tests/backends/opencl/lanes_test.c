/* ctest: large unkept timeout=600
 * Loops over lanes (lane_cases.h), run on an OpenCL device. */
#include "tests/backends/lane_cases.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

int main(void)
{
    rig_hurry();
    lane_cases_check(&(ts_options){.target = "opencl", .machine = RIG_CARD});
    return check_done();
}
