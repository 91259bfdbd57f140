/* ctest: large Og unkept timeout=1800
 * exact_test SHARE FIRST: of every SHARE rows of exact sums one by the loops of the device that is here, and the one
 * SHARE / 2 behind it by those of a card. The long run: exact_test 1 0. */
#include "tests/backends/exact.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    rig_hurry();
    const int share = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 4,
              first = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    exact_check_on(&(ts_options){.target = "opencl", .cache_folder = "none"}, share, first);
    exact_check_on(&(ts_options){.target = "opencl", .machine = RIG_CARD, .cache_folder = "none"}, share,
                   (first + share / 2) % share);
    return check_done();
}
