/* Loops over lanes in vectors: ends within one, elements that are no neighbours, choices of some, several kinds,
 * rows of scans, scatters and copies. Held against the interpreter, for each instruction set that this machine has. */
#include "tests/backends/ruled.h"
#include "tests/check.h"

static const ruled cases[] = {
    {"x f32[9,37]; w f32[37,21]; y matmul x w", "matmul", "\"n\":21", "m/2 k m@unroll n@vector"},
    {"x f64[9,37]; w f64[37,22]; y matmul x w", "matmul", "\"n\":22", "m k n@vector"},
    {"x f32[9,39]; w f32[39,43]; y matmul x w", "matmul", "\"n\":43", "n/22+b m k n@vector"},
    {"x f32[9,38]; w f32[38,23]; p matmul x w; y transpose axes=[1,0] p", "matmul", "\"k\":38", "m k n@vector"},
    {"x f32[7,45]; y sum axes=[1] x", "sum", "\"c\":45", "r c/32 c@vector"},
    {"x f32[7,46]; y max axes=[1] x", "max", "\"c\":46", "r c/46 c@vector"},
    {"x bool[3,47]; a any axes=[1] x; y cast to=i64 a", "any", "\"c\":47", "r c@vector"},
    {"x f32[3,20]; y argmax axis=1 x", "argmax", "\"c\":20", "r c@vector"},
    {"x f32[35,34]; y argmax axis=0 x", "argmax", "\"c\":35", "r/17 c r@vector"},
    {"x f32[5,3]; y strassen_blocks role=a x", NULL, NULL, NULL},
    {"x f32[6,50]; y strassen_blocks role=b x", NULL, NULL, NULL},
    {"x f32[1,3]; y tile reps=[2,2] x", NULL, NULL, NULL},
    {"x i64[33]; c cast to=f32 x; y multiply c c", NULL, NULL, NULL},
    {"x f16[43]; y multiply x x", NULL, NULL, NULL},
    {"x bool[35]; a f64[35]; b f64[35]; y where x a b", NULL, NULL, NULL},
    {"x u8[35]; z u8[35]; l less x z; y cast to=i64 l", NULL, NULL, NULL},
    {"x i16[2,35]; z i16[2,35]; p multiply x z; y maximum p x", NULL, NULL, NULL},
    {"x f32[5,37]; z f32[5,23]; y concat axis=1 x z", NULL, NULL, NULL},
    {"x f32[9,37]; y cumsum axis=0 x", NULL, NULL, NULL},
    {"x f32[9,37]; z f32[4,9]; u f32[4,37]; i argmax axis=1 z; y scatter axis=0 reduce=add x i u", NULL, NULL, NULL},
    {"x f32[39]; h cast to=f64 x; a multiply x x; b multiply h h; i cast to=i8 a; j cast to=u16 b; k cast to=i32 a; l "
     "cast to=i32 b; m add i j; n add k l; y add m n",
     NULL, NULL, NULL},
    {"x f32[5,39]; s f32[]; z i8[]; q quantize to=i8 x s z; y dequantize q s z", NULL, NULL, NULL},
    {"x i16[3,2050]; w i8[2050,32]; a cast to=i32 x; b cast to=i32 w; p matmul a b; y cast to=f32 p", NULL, NULL, NULL},
    {"x f32[1,2,6,7]; g f32[1,5,6,2]; y grid_sample mode=nearest x g", NULL, NULL, NULL},
};

int main(void)
{
    ruled_check_sets(COUNT(cases), cases, "plain avx2 avx512 avx512vnni neon");
    return check_done();
}
