/* ctest: large
 * sites_test N SEED: N random graphs on the processor and the interpreter, as many on the processor and a part of it.
 * The long run: sites_test 2000 1. */
#include "tests/backends/placed.h"
#include "tests/check.h"

#include <stdlib.h>

enum { DEFAULT_CASES = 36 };

int main(int argc, char **argv)
{
    const int64_t cases = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    placed_check(cases, seed, "interp");
    placed_check(cases, seed, "c:cores0");
    return check_done();
}
