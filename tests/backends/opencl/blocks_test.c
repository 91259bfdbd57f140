#include "tests/backends/blocks.h"
#include "tests/check.h"

#include <stdlib.h>

int main(void)
{
    setenv("TESSERA_OPENCL", "-cl-opt-disable", 0); /* each kernel is run once */
    blocks_check("opencl", false);
    return check_done();
}
