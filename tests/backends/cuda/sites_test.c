/* ctest: large timeout=900
 * sites_test N SEED: N random graphs on the processor and the stand-in for the driver, with all its checks. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/placed.h"
#include "tests/check.h"

#include <stdlib.h>

enum { DEFAULT_CASES = 24 };

int main(int argc, char **argv)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    placed_check(argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES, argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                 "cuda:0");
    return check_done();
}
