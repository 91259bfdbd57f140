#include "tests/backends/part_cases.h"

/* Extents differ, so that dim tells a row's kernel from the others. */
const ruled part_cases[PART_CASES] = {
    {"a f32[7,1000]; b f32[1000,9]; y matmul a b", "matmul", "\"m\":7",
     "k/128@block m/8@block n/16@block k/16+a@shared+b@shared k m@lane n@lane"},
    {"a f32[8,1024]; b f32[1024,40]; c f32[40]; p matmul a b; q add p c; y relu q", "matmul", "\"m\":8",
     "n/32@block k/256@block m/4@block k/4 k@unroll m@lane n@lane"},
    {"a i32[9,333]; b i32[333,11]; y matmul a b", "matmul", "\"m\":9", "k/50@block m k/10 n/4 k n@lane"},
    {"a bf16[10,300]; b bf16[300,20]; c bf16[20]; p matmul a b; y add p c", "matmul", "\"m\":10",
     "k/64@block n/16@block k m@lane n@lane"},
    {"a f32[1,2000]; b f32[2000,70]; y matmul a b", "matmul", "\"k\":2000",
     "k/300@block n/32@block k/64 k/8@lane n@lane k@unroll"},
    {"x f32[70,333]; y sum axes=[1] x", "sum", "\"c\":333", "r/3@block c/100@block c/64 r@lane c/2@lane c@vector"},
    {"x f32[3001]; y sum x", "sum", "\"c\":3001", "c/500@block c/128 c@lane"},
    {"x i8[700,30]; y max axes=[0] x", "max", "\"c\":700", "c/64@block r/10@block c r@lane"},
    {"x f32[2,5,19,17]; w! f32[12,5,3,3]; y conv2d pads=[1,1,1,1] x w", "conv2d", "\"oc\":12",
     "ic/2@block n@block oh/2@block ow/8@block ic kh kw oc/3@lane oh@lane ow@lane oc@unroll"},
    {"x f64[41,77]; y min axes=[0] x", "min", "\"c\":41", "c/10@block r/16@block c r@lane"},
    {"a i64[3,40,64]; b i64[3,64,5]; y matmul a b", "matmul", "\"m\":40",
     "b@block k/16@block m/8@block k m@lane n@lane"},
    {"x f32[64,4096]; y sum x", NULL, NULL, NULL}, /* by the guess */
};
