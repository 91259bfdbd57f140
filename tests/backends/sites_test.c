/* ctest: large
 * sites_test N SEED: N random graphs on the processor and the interpreter. The long run: sites_test 2000 1. */
#include "tests/backends/placed.h"
#include "tests/check.h"

#include <stdlib.h>

enum { DEFAULT_CASES = 36 };

int main(int argc, char **argv)
{
    placed_check(argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_CASES, argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                 "interp");
    return check_done();
}
