/* Kernels that are launched together, on the stand-in for the driver of CUDA. */
/* ctest: large timeout=600 */
#include "tests/backends/launched.h"
#include "tests/backends/cuda/rig.h"
#include "tests/check.h"

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    launched_check(&(ts_options){.target = "cuda"}, 90);
    return check_done();
}
