/* Folds of several values in register tiles: serial, in rows of sums, in lanes of vectors, behind and before what is
 * fused with them. Whole numbers, which give the interpreter's bits. */
#include "tests/backends/ruled.h"
#include "tests/check.h"
#include "tests/tuples.h"

static const ruled cases[] = {
    {"x f32[5,701]; y argmax axis=1 x", "argmax", "\"c\":701", "r c/64 c@vector"},
    {"x f32[5,702]; y argmin axis=1 last=1 x", "argmin", "\"c\":702", "r@core c"},
    {"x i32[6,703]; y argmax axis=1 x", "argmax", "\"c\":703", "r/2@core c/16 r@unroll c@vector"},
    {"x i64[7,704]; y argmax axis=1 last=1 x", "argmax", "\"c\":704", "r/2 c/7 r@unroll c@unroll"},
    {"x f32[706,33]; y argmin axis=0 x", "argmin", "\"c\":706", "r/8@core c r@vector"},
    {"x f64[707,70]; y argmax axis=0 x", "argmax", "\"c\":707", "r/8 c/5 c@unroll r@vector"},
    {"x f32[8,708]; b f32[708]; p add x b; a argmax axis=1 keepdims=1 p; y multiply a a", "argmax", "\"c\":708",
     "r c/24 c@vector"},
    {"x i32[5,301]", "", "\"c\":301", "r c/32 c@vector"},
    {"x i64[6,302]", "", "\"c\":302", "r/3 c r@unroll"},
    {"x i32[7,303]", "", "\"c\":303", "r c/16 c@vector"},
    {"x i64[8,304]", "", "\"c\":304", "r/2 c/8 r@unroll c@vector"},
    {"x u8[30,40]; y argmax axis=1 x", NULL, NULL, NULL},
    {"x bf16[3,40,5]; y argmin axis=1 keepdims=1 x", NULL, NULL, NULL},
    {"x f32[4,6]; s add x x; a argmax axis=-1 keepdims=1 s; c cast to=f32 a; p multiply c s; y sum axes=[-1] p", NULL,
     NULL, NULL},
};
static const op *const then[COUNT(cases)] = {
    [7] = &tuple_both, [8] = &tuple_both, [9] = &tuple_place, [10] = &tuple_signs};

int main(void)
{
    ruled_check_then(COUNT(cases), cases, then, &(ts_options){.target = "c"});
    return check_done();
}
