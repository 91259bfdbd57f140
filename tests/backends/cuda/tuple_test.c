/* ctest: large
 * Folds of several values whose parts lie in different lanes, on the stand-in for the driver, with all its checks. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/tuple_cases.h"
#include "tests/check.h"

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    ruled_check_then(TUPLE_CASES, tuple_cases, tuple_then, &(ts_options){.target = "cuda"});
    return check_done();
}
