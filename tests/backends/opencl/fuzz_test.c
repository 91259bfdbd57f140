/* ctest: large unkept timeout=900
 * fuzz_test N SEED: N random graphs under random schedules for groups of lanes. The long run: fuzz_test 1000 1. */
#include "tests/backends/fuzz.h"
#include "tests/backends/opencl/rig.h"

#include <stdlib.h>

enum { DEFAULT_CASES = 24 };

int main(int argc, char **argv)
{
    const fuzz_of opencl = {"opencl", RIG_CARD, fuzz_device, random_group_loops};
    rig_hurry();
    return fuzz_run(&opencl, argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES,
                    argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
}
