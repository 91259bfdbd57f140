/* ctest: large timeout=900 O3
 * Products that four warps form together, on the stand-in for the driver as a card of capability 9.0, with all its
 * checks: rows of 32, 64 and 128 bytes, longer ones cut, either way round, in rings and alone, ragged extents,
 * epilogues, batches, images, several blocks of rows and of columns. Sums of small whole numbers give the interpreter's
 * bits. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/ruled.h"
#include "tests/check.h"

#include <stdlib.h>

/* One plan of all; dim tells a row's kernel from the others. */
static const ruled cases[] = {
    {"a bf16[128,128]; b bf16[128,64]; y matmul a b", "matmul", "\"m\":128",
     "m/64@block n/64@block k/64+a+b k/16@unroll m/16@warp m@mma n@mma k@mma"},
    {"a bf16[129,128]; b bf16[128,256]; y matmul a b", "matmul", "\"m\":129",
     "m/128@block n/256@block k/64+a*3+b*3 k/16@unroll m/16@warp m@mma n@mma k@mma"},
    {"a bf16[130,104]; b bf16[104,136]; y matmul a b", "matmul", "\"m\":130",
     "m/128@block n/128@block k/32+a*2+b*2 k/16@unroll m/16@warp n/64@unroll m@mma n@mma k@mma"},
    {"a bf16[131,70]; b bf16[70,90]; y matmul a b", "matmul", "\"m\":131",
     "m/64@block n/64@block k/16+a*4+b*4 m/16@warp n/32@unroll m@mma n@mma k@mma"},
    {"a f16[132,80]; w! f16[80,96]; c f16[96]; p matmul a w; s add p c; y relu s", "matmul", "\"m\":132",
     "m/128@block n/64@block k/64+a*3+b*3 k/16@unroll m/16@warp n/32@unroll m@mma n@mma k@mma"},
    {"a bf16[96,133]; b bf16[72,96]; t transpose axes=[1,0] a; u transpose axes=[1,0] b; y matmul t u", "matmul",
     "\"m\":133", "m/128@block n/64@block k/64+a*2+b*2 k/16 m/16@warp m@mma n@mma k@mma"},
    {"a bf16[96,134]; b bf16[96,160]; t transpose axes=[1,0] a; y matmul t b", "matmul", "\"m\":134",
     "m/64@block n/128@block k/32+a*2+b*2 k/16@unroll n/64@warp m/16@warp m@mma n@mma k@mma"},
    {"a bf16[3,70,48]; b bf16[3,48,56]; y matmul a b", "matmul", "\"m\":70",
     "b@block m/64@block n/32@block k/16+a*3+b*3 m/16@warp m@mma n@mma k@mma"},
    {"x f16[1,32,3,34]; w f16[65,32,3,2]; y conv2d pads=[1,1,1,1] x w", "conv2d", "\"oc\":65",
     "oc/64@block oh@block ow/32@block kh kw ic/32+a*2+b*2 ic/16@unroll oc/16@warp oc@mma ow@mma ic@mma"},
    /* Of which the device brings what it can: padding and ends come as zeros */
    {"x f16[2,32,3,64]; w! f16[66,32,3,3]; y conv2d pads=[1,1,1,1] x w", "conv2d", "\"oc\":66",
     "n@block oc/64@block oh@block ow/32@block kh kw ic/32+a*2+b*2 ic/16@unroll oc/16@warp oc@mma ow@mma ic@mma"},
    {"x f16[1,24,7,40]; w f16[67,24,2,3]; y conv2d pads=[0,2,1,0] strides=[2,1] x w", "conv2d", "\"oc\":67",
     "oc/64@block oh@block ow/32@block kh kw ic/16+a*3+b*3 oc/16@warp oc@mma ow@mma ic@mma"},
    {"a bf16[135,192]; b bf16[192,64]; y matmul a b", "matmul", "\"m\":135",
     "k/96@block m/64@block n/64@block k/32+a*4+b*4 k/16@unroll m/16@warp m@mma n@mma k@mma"},
    {"a bf16[2,2,136,64]; b bf16[2,2,72,64]; t transpose axes=[0,1,3,2] b; y matmul a t", "matmul", "\"m\":136",
     "b@block m/64@block n/32@block k/32+a*2+b*2 k/16@unroll m/16@warp m@mma n@mma k@mma"},
    /* Of f32 ten bits behind the first */
    {"a f32[137,70]; b f32[70,90]; y matmul a b", "matmul", "\"m\":137",
     "m/64@block n/64@block k/32+a*3+b*3 k/8@unroll m/16@warp n/32@unroll m@mma n@mma k@mma"},
    {"a f32[138,96]; w! f32[96,128]; c f32[128]; p matmul a w; y add p c", "matmul", "\"m\":138",
     "m/128@block n/128@block k/16+a*2+b*2 k/8@unroll m/16@warp m@mma n@mma k@mma"},
    {"x f32[1,32,3,36]; w! f32[68,32,3,2]; y conv2d pads=[1,1,1,1] x w", "conv2d", "\"oc\":68",
     "oc/64@block oh@block ow/32@block kh kw ic/32+a*2+b*2 ic/8@unroll oc/16@warp oc@mma ow@mma ic@mma"},
    /* A stage among others, which have as many lanes, or more */
    {"a f16[2,140,32]; b f16[2,32,64]; p matmul a b; m max axes=[-1] keepdims=1 p; y subtract p m", "matmul",
     "\"r1\":140", "r@block r1/64@block ; matmul: k/32+a*2+b*2 k/16@unroll r1/16@warp r1@mma n@mma k@mma"},
    {"a bf16[2,141,40]; b bf16[2,40,60]; v bf16[2,60,40]; p matmul a b; m max axes=[-1] keepdims=1 p; s subtract p m; "
     "y matmul s v",
     "matmul", "\"r1\":141",
     "r@block r1/64@block ; matmul: k/16+a*3+b*3 r1/16@warp n/32@unroll r1@mma n@mma k@mma ; matmul2: "
     "k/32+b*2 k/16@unroll r1/16@warp n/32@warp n/8@unroll r1@mma n@mma k@mma"},
    /* The guess: of rows that are no whole blocks */
    {"a bf16[100,64]; b bf16[64,1024]; y matmul a b", NULL, NULL, NULL},
    {"a f16[264,96]; w! f16[96,256]; y matmul a w", NULL, NULL, NULL},
};

int main(void)
{
    setenv("SIMCUDA_SM", "90", 1);
    const int skipped = rig_cuda();
    if (skipped)
        return skipped;
    ruled_check(COUNT(cases), cases, &(ts_options){.target = "cuda"});
    return check_done();
}
