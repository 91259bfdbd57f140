/* Attention in blocks on the stand-in for the driver, with all its checks. */
#include "tests/backends/blocks.h"
#include "tests/backends/cuda/rig.h"
#include "tests/check.h"

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    blocks_check(&(ts_options){.target = "cuda"}, false);
    return check_done();
}
