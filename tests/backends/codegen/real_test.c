/* real_test.c - functions of reals, as vector code, are within 2 units in the last place: a sample of all numbers (all
 * of them in real_all_test.c), and those that are apart. */
#include "tests/backends/codegen/real.h"
#include "tests/check.h"

int main(void)
{
    real_check(&(real_sample){.first = 1, .stride = 2503, .count = 4});
    return check_done();
}
