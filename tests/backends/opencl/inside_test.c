/* ctest: large Og unkept
 * inside_test.c - loops inside of kernels of an OpenCL device: of a processor, where a worker is alone, and of groups
 * of lanes as a described card has them.
 * inside_test SHARE: one loop in SHARE. */
#include "tests/backends/inside.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

#include <stdlib.h>

enum { DEFAULT_SHARE = 8 };

int main(int argc, char **argv)
{
    const int skip = rig_opencl();
    if (skip)
        return skip;
    const int share = argc > 1 ? (int)strtol(argv[1], NULL, 10) : DEFAULT_SHARE;
    inside_check(&(ts_options){.target = "opencl", .cache_folder = "none"}, share);
    inside_check(&(ts_options){.target = "opencl", .machine = RIG_CARD, .cache_folder = "none"}, share);
    return check_done();
}
