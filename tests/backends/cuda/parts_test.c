/* ctest: large
 * Sums in parts that groups share, on the stand-in for the driver, with all its checks; of a matrix unit's too. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/part_cases.h"
#include "tests/check.h"

static const ruled units[] = {
    {"a bf16[128,512]; b bf16[512,64]; y matmul a b", "matmul", "\"m\":128",
     "k/128@block m/64@block n/32@block k/32+a*3+b*3 k/16 m/32@warp n/16@warp m/16@unroll n/8@unroll m@mma n@mma "
     "k@mma"},
    {"a f16[20,300]; w! f16[300,24]; c f16[24]; p matmul a w; y add p c", "matmul", "\"m\":20",
     "m/16@block n/8@block k/96@block k/32+a*2+b*2 k/16 m@mma n@mma k@mma"},
};

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    ruled_check(PART_CASES, part_cases, &(ts_options){.target = "cuda"});
    ruled_check(COUNT(units), units, &(ts_options){.target = "cuda"});
    return check_done();
}
