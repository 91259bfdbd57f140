/* ctest: large timeout=600
 * Loops over lanes (lane_cases.h), run on the stand-in for the driver with all its checks: no finding is allowed. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/lane_cases.h"
#include "tests/check.h"

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    lane_cases_check(&(ts_options){.target = "cuda"});
    return check_done();
}
