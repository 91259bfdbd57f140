/* ctest: large Og unkept timeout=1800
 * cases_test SHARE FIRST: one problem in SHARE. The long run: cases_test 1 0. */
#include "tests/backends/cases.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

#include <stdlib.h>

enum { DEFAULT_SHARE = 6 };

int main(int argc, char **argv)
{
    rig_hurry();
    cases_check("opencl", false, argc > 1 ? (int)strtol(argv[1], NULL, 10) : DEFAULT_SHARE,
                argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0);
    return check_done();
}
