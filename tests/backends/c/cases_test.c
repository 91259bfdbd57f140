/* ctest: large Og timeout=1800
 * cases_test SHARE FIRST: one problem in SHARE. */
#include "tests/backends/cases.h"
#include "tests/check.h"

#include <stdlib.h>

enum { DEFAULT_SHARE = 8 };

int main(int argc, char **argv)
{
    cases_check("c", true, argc > 1 ? (int)strtol(argv[1], NULL, 10) : DEFAULT_SHARE,
                argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0);
    return check_done();
}
