/* ctest: large unkept */
#include "tests/backends/blocks.h"
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"

int main(void)
{
    rig_hurry();
    blocks_check(&(ts_options){.target = "opencl", .machine = RIG_CARD, .cache_folder = "none"}, false);
    return check_done();
}
