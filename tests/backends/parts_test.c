/* Sums, and folds of several values, in parts that cores share, put together by a kernel behind: the interpreter's
 * bits, with any threads. */
/* ctest: O1 */
#include "tests/backends/ruled.h"
#include "tests/check.h"
#include "tests/tuples.h"

static const ruled cases[] = {
    {"a f32[7,1000]; b f32[1000,9]; y matmul a b", "matmul", "\"m\":7", "k/128@core m k n@vector"},
    {"a f32[8,1024]; b f32[1024,40]; c f32[40]; p matmul a b; q add p c; y relu q", "matmul", "\"m\":8",
     "k/256@core n/32 m/4 k/4 k@unroll m@unroll n@vector"},
    {"a i32[9,333]; b i32[333,11]; y matmul a b", "matmul", "\"m\":9", "m/4 k/50@core k/10 n m k@unroll"},
    {"a bf16[10,300]; b! bf16[300,20]; c bf16[20]; p matmul a b; y add p c", "matmul", "\"m\":10",
     "k/64@core m/2 k m@unroll n@vector"},
    {"a f32[1,2000]; w! f32[2000,70]; y matmul a w", "matmul", "\"k\":2000", "k/300@core n/32 k n@vector"},
    {"x f32[70,333]; y sum axes=[1] x", "sum", "\"c\":333", "r c/100@core c/32 c@vector"},
    {"x f32[3001]; y sum x", "sum", "\"c\":3001", "c/500@core c/64 c@vector"},
    {"x i8[700,30]; y max axes=[0] x", "max", "\"c\":700", "c/64@core c r@vector"},
    {"x f32[2,5,19,17]; w! f32[12,5,3,3]; y conv2d pads=[1,1,1,1] x w", "conv2d", "\"oc\":12",
     "ic/2@core n oc/4 oh ic kh kw oc@unroll ow@vector"},
    {"a i64[3,40,64]; b i64[3,64,5]; y matmul a b", "matmul", "\"m\":40", "b k/16@core+a m n k"},
    /* places of which a condition says that they are inside, and those of which it does not hold */
    {"a i32[5,300]; b i32[5,401]; p concat axis=1 a b; y sum axes=[1] p", "sum", "\"c\":701", "r c/100@core c"},
    /* steps of one, and one step that takes all */
    {"a f32[2,6]; b f32[6,3]; y matmul a b", "matmul", "\"m\":2", "k@core m n"},
    {"a f32[3,70]; b f32[70,3]; y matmul a b", "matmul", "\"m\":3", "k/100@core m n k"},
};

/* f32 beside i32 leaves three numbers for each part, f64 beside it two, whole numbers one a state. */
static const ruled tuples[] = {
    {"x f32[5,701]; y argmax axis=1 x", "argmax", "\"c\":701", "c/100@core r c"},
    {"x f32[3,702]; y argmin axis=1 last=1 x", "argmin", "\"c\":702", "r c/200@core c/32 c@vector"},
    {"x i8[4,703]; y argmax axis=1 x", "argmax", "\"c\":703", "c/300@core r c/64 c@vector"},
    {"x i64[704,9]; y argmax axis=0 last=1 x", "argmax", "\"c\":704", "c/64@core c r@vector"},
    {"x f64[2,705]; y argmax axis=1 x", "argmax", "\"c\":705", "c/50@core r c/10 c@unroll"},
    {"x f16[5,707]; y argmax axis=1 x", "argmax", "\"c\":707", "r c/128@core c"},
    {"x f32[8,708]; b f32[708]; p add x b; a argmax axis=1 keepdims=1 p; y multiply a a", "argmax", "\"c\":708",
     "c/200@core r/4 c r@unroll"},
    {"x i32[5,301]", "", "\"c\":301", "c/32@core r c"},
    {"x i64[6,302]", "", "\"c\":302", "c/100@core r c/8 c@vector"},
    {"x f32[7,303]", "", "\"c\":303", "r c/50@core c@unroll"},
    {"x i64[8,304]", "", "\"c\":304", "c/304@core r c"}, /* one part is the fold */
    {"x i32[200000]; y argmax x", NULL, NULL, NULL},     /* by the guess */
    {"a f32[5,309]; b f32[5,401]; x concat axis=1 a b; y argmax axis=1 x", "argmax", "\"c\":710", "c/100@core r c"},
};
static const op *const then[COUNT(tuples)] = {
    [7] = &tuple_both, [8] = &tuple_place, [9] = &tuple_place, [10] = &tuple_signs};

int main(void)
{
    ruled_check(COUNT(cases), cases, &(ts_options){.target = "c"});
    ruled_check_then(COUNT(tuples), tuples, then, &(ts_options){.target = "c"});
    return check_done();
}
