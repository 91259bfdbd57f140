/* ctest: large unkept
 * Folds of several values whose parts lie in different lanes: the interpreter's bits. */
#include "tests/backends/opencl/rig.h"
#include "tests/backends/tuple_cases.h"
#include "tests/check.h"

int main(void)
{
    rig_hurry();
    ruled_check_then(TUPLE_CASES, tuple_cases, tuple_then, &(ts_options){.target = "opencl", .machine = RIG_CARD});
    return check_done();
}
