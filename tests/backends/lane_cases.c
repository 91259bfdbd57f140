#include "tests/backends/lane_cases.h"

/* One plan of all; dim tells a row's kernel from the others. A tile that is clipped along two axes is four functions,
 * which drivers are slow with: the first one, and few of the others. */
static const ruled cases[] = {
    {"a f32[100,70]; b f32[70,90]; y matmul a b", "matmul", "\"m\":100",
     "m/32@block n/64@block k/16+a@shared+b@shared k m/4@lane n/4@lane m@unroll n@unroll"},
    {"a f32[101,70]; b f32[70,90]; y matmul a b", "matmul", "\"m\":101",
     "m/7@block n/13@block k m@lane n/3@lane n@unroll"},
    {"a f32[96,70]; b f32[70,90]; y matmul a b", "matmul", "\"m\":96",
     "m/16@block n/48@block k/9+a k/4 k@unroll m@lane n/4@lane n@vector"},
    {"a f32[31,70]; b f32[70,41]; y matmul a b", "matmul", "\"m\":31",
     "m/32@block n/32+b k m/16@unroll m@lane n/8@unroll n@lane"},
    {"a f32[32,300]; b f32[300,41]; y matmul a b", "matmul", "\"m\":32",
     "m/4@block n/8@block k/64 m@unroll k/4@lane n@lane k@vector"},
    {"a f32[33,300]; b f32[300,41]; y matmul a b", "matmul", "\"m\":33",
     "m@block n/8@block k/100 k/30+b k/7@lane n@lane k@unroll"},
    {"a f32[34,300]; b f32[300,41]; y matmul a b", "matmul", "\"m\":34", "m/8@block n k/20 k@unroll m@unroll"},
    {"a f32[35,300]; b f32[300,41]; y matmul a b", "matmul", "\"m\":35", "k/50 m/8 n k m@lane"},
    /* slices in rings: of odd extents, clipped at the end, in pieces of 16 bytes, fewer trips than slices, one alone */
    {"a f32[64,70]; b f32[70,90]; y matmul a b", "matmul", "\"m\":64",
     "m/32@block n/64@block k/16+a@shared*2+b@shared*2 k m/4@lane n/4@lane m@unroll n@unroll"},
    {"a f32[38,72]; b f32[72,96]; y matmul a b", "matmul", "\"m\":38",
     "m/16@block n/32@block k/8+a*3+b*3 k/4 k@unroll m/4@lane n/4@lane m@unroll n@unroll"},
    {"a f32[39,20]; b f32[20,96]; y matmul a b", "matmul", "\"m\":39",
     "m/16@block n/32@block k/16+b*4 k m@lane n@lane"},
    {"a f16[48,66]; b f16[66,34]; y matmul a b", "matmul", "\"m\":48",
     "m/16@block n/32@block k/50+a k/10+b*3 k m@lane n@lane"},
    {"a f32[41,64]; b f32[64,34]; y matmul a b", "matmul", "\"m\":41",
     "m/16@block n/32@block k/32+a*2 k/8+b*2 k m@warp n@lane"},
    {"a i64[36,300]; b i64[300,41]; y matmul a b", "matmul", "\"m\":36",
     "m/8@block n/8@block k/32 n@lane m@lane k/4@lane k@unroll"},
    {"x f32[2,5,19,17]; w! f32[12,5,3,3]; y conv2d pads=[1,1,1,1] x w", "conv2d", "\"oc\":12",
     "n@block oh/2@block ow/8@block ic+a@shared kh kw oc/3@lane oh@lane ow@lane oc@unroll"},
    {"x f32[2,5,19,17]; w f32[13,5,3,3]; y conv2d strides=[2,1] pads=[1,2,0,1] x w", "conv2d", "\"oc\":13",
     "n@block oc/4@block oh ow/6 ic+b kh kw oc@lane ow@lane"},
    {"x f32[70,333]; y sum axes=[1] x", "sum", "\"r\":70", "r/3@block c/64 r@lane c/2@lane c@vector"},
    {"x f32[71,333]; y max axes=[1] x", "max", "\"r\":71", "r@block c/50@lane c@unroll"},
    {"x i8[30,700]; y max axes=[0] x", "max", "\"r\":700", "r/64@block c/10@lane r@lane c@unroll"},
    {"a f32[200,101]; b f32[101]; y add a b", "add", "\"b\":200", "b/3@block e/4@lane b@unroll e@vector"},
    {"a f32[203,33]; b f32[33]; y add a b", "add", "\"b\":203", "e/24@block b@block e@block"},
    /* an operand is copied at a loop outside of the tile, and once more within: the tile reads the second copy */
    {"a f32[42,12]; b f32[12,48]; y matmul a b", "matmul", "\"m\":42", "n/24 m+b k/5+b k n@unroll"},
    {"v f32[3,4,31,13]; a argmax axis=0 keepdims=1 last=1 v; w! i64[4,1,3,3]; "
     "y conv2d group=4 strides=[2,2] pads=[1,2,2,1] a w",
     "conv2d", "\"oc\":4,\"oh\":16", "kw/4 ow kw ic/32+a oc/8 ic+a oc@unroll kh@lane oh@vector"},
    /* a stage reads from memory what the one before wrote, in a loop that takes one trip */
    {"a f32[2,48,2,7]; m min axes=[2,3] keepdims=1 a; b f32[1,1]; s subtract b m; u f32[2,18,1,1]; i! i32[18]<48; "
     "p scatter axis=1 reduce=add s i u; q scatter axis=1 reduce=add m i u; y add p q",
     "min", "\"r\":96", "r/100@block\",\"guess"},
    /* partial sums that wait in shared memory */
    {"a f32[33,12,2,2]; s sum axes=[0,3] keepdims=1 a; y max_pool kernel=[3,2] strides=[2,2] pads=[2,1,1,1] s", "sum",
     "\"r\":12", "r; sum: f1 r1 c/24@lane c@unroll"},
    /* rows of 1.2 MB between stages: no group has that much */
    {"a f32[3,300000]; m max axes=[1] keepdims=1 a; d subtract a m; r relu d; s sum axes=[1] keepdims=1 r; y subtract "
     "d s",
     NULL, NULL, NULL},
};

void lane_cases_check(const ts_options *on)
{
    ruled_check(COUNT(cases), cases, on);
}
