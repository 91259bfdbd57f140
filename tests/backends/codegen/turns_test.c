/* Operands and results whose neighbours are along another loop than that over vectors: of each kind, with borders,
 * sums, and choices that keep an operand from being read ahead. Held against the interpreter, for each instruction set
 * that this machine has. */
#include "tests/backends/ruled.h"
#include "tests/check.h"

static const ruled cases[] = {
    {"x f32[24,40]; y transpose axes=[1,0] x", "transpose", "\"r\":40", "r/8 c/8 c@unroll r@vector"},
    {"x f32[37,21]; y transpose axes=[1,0] x", "transpose", "\"r\":21", "r/8 c/12 c@unroll r@vector"},
    {"x f32[26,42]; y transpose axes=[1,0] x", "transpose", "\"r\":42", "c/8 r/8 r@unroll c@vector"},
    {"x f64[18,41]; y transpose axes=[1,0] x", "transpose", "\"r\":41", "r/8 c/8 c@unroll r@vector"},
    {"x f16[18,43]; y transpose axes=[1,0] x", "transpose", "\"r\":43", "r/8 c/8 c@unroll r@vector"},
    {"x bool[18,44]; y transpose axes=[1,0] x", "transpose", "\"r\":44", "r/8 c/8 c@unroll r@vector"},
    {"x u8[18,45]; y transpose axes=[1,0] x", "transpose", "\"r\":45", "r/8 c/8 c@unroll r@vector"},
    {"x i64[18,46]; y transpose axes=[1,0] x", "transpose", "\"r\":46", "r/8 c/8 c@unroll r@vector"},
    {"x f32[9,38]; w f32[38,23]; y matmul x w", "matmul", "\"k\":38", "m/8 n/6 k n@unroll m@vector"},
    {"x f32[20,39]; w f32[39,24]; y matmul x w", "matmul", "\"k\":39", "m/8 n/6 k n@unroll m/4@unroll m@vector"},
    {"x f32[18,47]; z f32[47,18]; t transpose axes=[1,0] x; e exp t; y multiply e z", NULL, NULL, NULL},
    {"x f32[18,49]; p pad pads=[1,2,3,4] x; y transpose axes=[1,0] p", NULL, NULL, NULL},
    {"x f32[2,19,6,50]; y transpose axes=[0,3,2,1] x", NULL, NULL, NULL},
};

int main(void)
{
    ruled_check_sets(COUNT(cases), cases, "plain avx2 avx512 neon");
    return check_done();
}
