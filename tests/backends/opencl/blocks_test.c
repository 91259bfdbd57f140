/* ctest: large */
#include "tests/backends/blocks.h"
#include "tests/check.h"

int main(void)
{
    blocks_check("opencl", false);
    return check_done();
}
