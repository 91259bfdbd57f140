/* ctest: long large timeout=3600
 * Every small model that exporters wrote, on an OpenCL device. */
#include "tests/backends/opencl/rig.h"
#include "tests/check.h"
#include "tests/import/reference.h"

int main(void)
{
    rig_hurry();
    if (references_small("opencl") == 0)
        return check_skip("neither TESSERA_MODELS nor SHARED names a folder with exported models");
    return check_done();
}
