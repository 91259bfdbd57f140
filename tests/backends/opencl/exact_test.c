/* ctest: large timeout=1800 */
#include "tests/backends/exact.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

int main(void)
{
    rig_hurry();
    exact_check_on("opencl");
    return check_done();
}
