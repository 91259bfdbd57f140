/* ctest: large */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/misuse.h"
#include "tests/check.h"

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    misuse_check(&(ts_options){.target = "cuda"});
    return check_done();
}
