/* ctest: large Og timeout=1800
 * Built-in models of two layers and models as exporters write them, on an OpenCL device. */
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"
#include "tests/import/reference.h"
#include "tests/models/agree.h"

int main(void)
{
    static const reference row[] = {
        {"exports-small/evalmode", "opencl", 1e-5},
        {"exports-small/loopif", "opencl", 1e-5},
    };
    rig_hurry();
    agree_check("opencl");
    agree_generation("opencl");
    references_check(sizeof row / sizeof *row, row);
    return check_done();
}
