/* ctest: long large timeout=3600 */
#include "tests/backends/exact.h"
#include "tests/check.h"

int main(void)
{
    exact_check(true);
    return check_done();
}
