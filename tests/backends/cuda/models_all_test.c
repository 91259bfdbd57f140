/* ctest: long large timeout=3600
 * Every small model that exporters wrote, on the stand-in for the driver with all its checks. */
#include "tests/backends/cuda/rig.h"
#include "tests/check.h"
#include "tests/import/reference.h"

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    if (references_small("cuda") == 0)
        return check_skip("neither TESSERA_MODELS nor SHARED names a folder with exported models");
    return check_done();
}
