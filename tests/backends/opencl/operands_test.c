/* ctest: unkept */
/* More operands than the parameters of a kernel have room for: drivers need not take more than 1024 bytes of them. */
#include "tests/backends/many.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

int main(void)
{
    rig_hurry();
    many_check("opencl", 150);
    return check_done();
}
