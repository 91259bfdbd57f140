/* real_all_test.c - functions of reals, as vector code, are within 2 units in the last place: over all numbers of 4
 * bytes, and 64 million of 8.
 * ctest: long timeout=14400 */
#include "tests/backends/codegen/real.h"
#include "tests/check.h"

int main(void)
{
    real_check(&(real_sample){.first = 0, .stride = 1, .count = 512});
    return check_done();
}
