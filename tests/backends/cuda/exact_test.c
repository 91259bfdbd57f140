/* ctest: large timeout=1800
 * exact_test SHARE FIRST: of every SHARE rows of exact sums one, on the stand-in for the driver, with all its checks;
 * OpenCL's test has the others. The long run: exact_test 1 0. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/exact.h"
#include "tests/check.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    exact_check_on(&(ts_options){.target = "cuda", .cache_folder = "none"},
                   argc > 2 ? (int)strtol(argv[1], NULL, 10) : 2, argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1);
    return check_done();
}
