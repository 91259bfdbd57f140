/* ctest: large timeout=1800 */
#include "tests/backends/exact.h"
#include "tests/check.h"

#include <stdlib.h>

int main(void)
{
    exact_check_on("opencl");
    return check_done();
}
