/* ctest: large timeout=1800 */
#include "tests/backends/exact.h"
#include "tests/check.h"

#include <stdlib.h>

int main(void)
{
    setenv("TESSERA_OPENCL", "-cl-opt-disable", 0); /* hundreds of kernels, each run once */
    exact_check_on("opencl");
    return check_done();
}
