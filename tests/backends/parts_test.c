/* Sums in parts that cores share, each added up by a kernel behind it: the interpreter's bits, with any threads. */
#include "tests/backends/ruled.h"
#include "tests/check.h"

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
    /* steps of one, and one step that takes all */
    {"a f32[2,6]; b f32[6,3]; y matmul a b", "matmul", "\"m\":2", "k@core m n"},
    {"a f32[3,70]; b f32[70,3]; y matmul a b", "matmul", "\"m\":3", "k/100@core m n k"},
};

int main(void)
{
    ruled_check(COUNT(cases), cases, "c");
    return check_done();
}
