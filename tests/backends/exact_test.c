/* ctest: large timeout=1800 */
#include "tests/backends/exact.h"
#include "tests/check.h"

int main(void)
{
    exact_check(false);
    return check_done();
}
