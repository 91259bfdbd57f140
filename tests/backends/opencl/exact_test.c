/* ctest: large timeout=1800
 * exact_test SHARE FIRST: of every SHARE rows of exact sums one, on an OpenCL device. The long run: exact_test 1 0. */
#include "tests/backends/exact.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    rig_hurry();
    exact_check_on("opencl", argc > 2 ? (int)strtol(argv[1], NULL, 10) : 2,
                   argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0);
    return check_done();
}
