/* ctest: large timeout=900
 * Products formed by matrix units on the stand-in for the driver, with all its checks: ragged extents, rows and columns
 * that lie either way round, slices in rings and alone, epilogues, batches, images, warps that share a sum, and what an
 * earlier stage of the kernel left. Sums of small whole numbers give the interpreter's bits. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/ruled.h"
#include "tests/check.h"

/* One plan of all; dim tells a row's kernel from the others. */
static const ruled cases[] = {
    {"a bf16[128,128]; b bf16[128,64]; y matmul a b", "matmul", "\"m\":128",
     "m/64@block n/32@block k/32+a@shared+b@shared k/16@unroll m/32@warp n/16@warp m/16@unroll n/8@unroll m@mma n@mma "
     "k@mma"},
    {"a bf16[129,128]; w! bf16[128,64]; y matmul a w", "matmul", "\"m\":129",
     "m/64@block n/32@block k/32+a*3+b*3 k/16 m/32@warp n/16@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a bf16[100,70]; b bf16[70,90]; y matmul a b", "matmul", "\"m\":100",
     "m/64@block n/64@block k/32+a*2+b*2 k/16 m/32@warp n/32@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a f16[101,70]; w! f16[70,90]; c f16[90]; p matmul a w; s add p c; y relu s", "matmul", "\"m\":101",
     "m/64@block n/64@block k/16+a*4+b*4 m/32@warp n/32@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a bf16[70,102]; b bf16[90,70]; t transpose axes=[1,0] a; u transpose axes=[1,0] b; y matmul t u", "matmul",
     "\"m\":102",
     "m/64@block n/48@block k/48+a*2+b*2 k/16@unroll m/32@warp n/24@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a bf16[7,103]; b bf16[103,5]; y matmul a b", "matmul", "\"m\":7",
     "m/16@block n/8@block k/32+a*2+b*2 k/16 m@mma n@mma k@mma"},
    {"a bf16[3,40,48]; b bf16[3,48,56]; y matmul a b", "matmul", "\"m\":40",
     "b@block m/48@block n/64@block k/16+a*3+b*3 m/16@warp n/32@warp n/8@unroll m@mma n@mma k@mma"},
    {"a bf16[131,200]; b bf16[200,136]; y matmul a b", "matmul", "\"m\":131",
     "m/128@block n/128@block k/64+a*3+b*3 k/16@unroll m/64@warp n/32@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a f32[104,70]; b f32[70,90]; y matmul a b", "matmul", "\"m\":104",
     "m/64@block n/64@block k/16+a*2+b*2 k/8 m/32@warp n/32@warp m/16@unroll n/8@unroll m@mma n@mma k@mma"},
    {"a f32[105,72]; w! f32[72,96]; y matmul a w", "matmul", "\"m\":105",
     "m/32@block n/32@block k/24+a*2+b*2 k/8 m/16@warp n/16@warp n/8@unroll m@mma n@mma k@mma"},
    {"a f32[106,70]; b f32[70,90]; y matmul a b", "matmul", "\"m\":106",
     "m/32@block n/64@block k/16+a*3+b*3 k m/4@lane n/4@lane m@unroll n@unroll"},
    {"a f32[107,72]; b f32[72,96]; y matmul a b", "matmul", "\"m\":107",
     "m/32@block n/64@block k/8+a*2+b*2 k m/16@warp m/2@lane n/16@lane m@unroll n@unroll"},
    {"a bf16[47,32]; b bf16[32,35]; y matmul a b", "matmul", "\"m\":47",
     "m/16@block n/32@block k/16+a*2+b*2 n/16@warp n/8@unroll m@mma n@mma k@mma"},
    {"a bf16[3,39,16]; b bf16[3,16,48]; v bf16[3,48,32]; p matmul a b; m max axes=[-1] keepdims=1 p; s subtract p m; "
     "y matmul s v",
     "matmul", "\"r1\":39",
     "r@block r1/16@block ; matmul: k/16+a+b n/16@warp n/8@unroll r1@mma n@mma k@mma ; matmul2: k/16+b n/16@warp "
     "n/8@unroll r1@mma n@mma k@mma"},
    {"a bf16[3,41,18]; b bf16[3,18,50]; v bf16[3,50,35]; p matmul a b; m max axes=[-1] keepdims=1 p; s subtract p m; "
     "y matmul s v",
     "matmul", "\"r1\":41",
     "r@block r1/32@block ; matmul: k/32+a+b k/16 n/32@warp r1/16@unroll n/8@unroll r1@mma n@mma k@mma ; matmul2: "
     "k/32+b*2 k/16 r1/16@warp n/16@warp n/8@unroll r1@mma n@mma k@mma"},
    {"a bf16[2,42,18]; b bf16[2,18,50]; v bf16[2,50,35]; p matmul a b; m max axes=[-1] keepdims=1 p; s subtract p m; "
     "y matmul s v",
     "matmul", "\"r1\":42",
     "r@block r1/48@block ; matmul: k/16+a+b n/32@warp r1/16@unroll n/8@unroll r1@mma n@mma k@mma ; matmul2: "
     "k/64+b k/16@unroll r1/32@warp n/16@warp r1/16@unroll n/8@unroll r1@mma n@mma k@mma"},
    {"a f16[2,43,18]; b f16[2,18,50]; v f16[2,50,35]; p matmul a b; m max axes=[-1] keepdims=1 p; s subtract p m; "
     "y matmul s v",
     "matmul", "\"r1\":43",
     "r@block ; matmul: r1/16 k/16+a+b n/32@warp n/8@unroll r1@mma n@mma k@mma ; matmul2: "
     "n/16 k/32+b*2 k/16@unroll r1/16@warp n/8@unroll r1@mma n@mma k@mma"},
    {"a f32[2,44,18]; b f32[2,18,50]; v f32[2,50,35]; p matmul a b; m max axes=[-1] keepdims=1 p; s subtract p m; "
     "y matmul s v",
     "matmul", "\"r1\":44",
     "r@block r1/16@block ; matmul: k/16+a+b k/8 n/32@warp n/8@unroll r1@mma n@mma k@mma ; matmul2: "
     "k/16+b*2 k/8@unroll n/16@warp n/8@unroll r1@mma n@mma k@mma"},
};

int main(void)
{
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    ruled_check(COUNT(cases), cases, &(ts_options){.target = "cuda"});
    return check_done();
}
