/* More operands than the parameters of a kernel have room for: drivers need not take more than 1024 bytes of them. */
#include "tests/backends/many.h"
#include "tests/check.h"

#include <stdlib.h>

int main(void)
{
    setenv("TESSERA_OPENCL", "-cl-opt-disable", 0);
    many_check("opencl", 150);
    return check_done();
}
