/* ctest: large drivers
 * inside_test.c - loops inside of kernels on the stand-in for CUDA's driver, which fails launches whose lanes race or
 * miss barriers. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/inside.h"
#include "tests/check.h"

int main(void)
{
    const int skip = rig_cuda();
    if (skip)
        return skip;
    inside_check(&(ts_options){.target = "cuda"}, 1);
    return check_done();
}
