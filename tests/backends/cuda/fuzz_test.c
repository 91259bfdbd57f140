/* ctest: large timeout=900
 * fuzz_test N SEED: N random graphs under random schedules for groups of lanes, on the stand-in for the driver with all
 * its checks. No finding is allowed. The long run: fuzz_test 1000 1. */
#include "tests/backends/fuzz.h"
#include "tests/backends/cuda/rig.h"

#include <stdlib.h>

enum { DEFAULT_CASES = 36, FIRST_SEED = 140 };

int main(int argc, char **argv)
{
    static const fuzz_of cuda = {"cuda", NULL, fuzz_device, random_group_loops};
    const int skipped = rig_cuda();
    return skipped ? skipped
                   : fuzz_run(&cuda, argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES,
                              argc > 2 ? strtoull(argv[2], NULL, 10) : FIRST_SEED);
}
