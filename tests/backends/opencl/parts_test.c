/* ctest: large unkept
 * Sums in parts that groups share, each added up by a kernel behind it: the interpreter's bits. */
#include "tests/backends/opencl/rig.h"
#include "tests/backends/part_cases.h"
#include "tests/check.h"

int main(void)
{
    rig_hurry();
    ruled_check(PART_CASES, part_cases, &(ts_options){.target = "opencl", .machine = RIG_CARD});
    return check_done();
}
