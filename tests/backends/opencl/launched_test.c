/* ctest: large unkept */
#include "tests/backends/launched.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

int main(void)
{
    rig_hurry();
    launched_check(&(ts_options){.target = "opencl", .machine = RIG_CARD, .cache_folder = "none"}, 100);
    return check_done();
}
