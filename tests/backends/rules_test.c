/* ctest: large
 * Small graphs under rules that steer the generator into corners: the interpreter's numbers, to the bit. */
#include "backends/cpu/cpu.h"
#include "tests/backends/shrink.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>

static const struct corner {
    const char *row, *rules;
} corners[] = {
    /* an input and a result that lie otherwise, a batch merged with rows, and a value that lies in two ways */
    {"a f32[3,14,32]; b f32[32,48]; y matmul a b",
     "{\"layout\":{\"a\":\"k/16 m/28 k m\",\"b\":\"n/5 k n\",\"y\":\"m/5 n/7 m n\"}}"},
    {"a f32[24,36]; v! f32[36,36]; p matmul a v; e negative p; w! f32[36,20]; q matmul p w; y matmul e v",
     "{\"match\":{\"op\":[\"matmul\"]},\"layout\":{\"a\":\"k/5 m/4 k m\",\"y\":\"n/3 m n\"}}"},
    /* a copy that lies over what it copies: one row in another order of dimensions */
    {"a f32[1,32]; b f32[32,48]; y matmul a b", "{\"match\":{\"op\":\"matmul\"},\"layout\":{\"y\":\"d1 d0\"}}"},
    {"x f32[64,32]; m max axes=[1] keepdims=1 x; y subtract x m",
     "{\"layout\":{\"max.a\":\"d1/7 d0 d1\",\"subtract.a\":\"d1/16 d0/3 d1 d0\",\"subtract.y\":\"d1 d0\"}}"},
    {"x f32[2,3,9,11]; w! f32[8,3,3,3]; c conv2d strides=[1,1] pads=[1,1,1,1] x w; r relu c; y max_pool kernel=[2,2] "
     "strides=[2,2] pads=[0,0,0,0] r",
     "{\"match\":{\"op\":[\"conv2d\"]},\"layout\":{\"a\":\"n d1/2 d2/4 d3 d2 d1\",\"y\":\"oh/3 n oc/3 ow oc oh\"}}"},
    /* a padded operand is copied at a folded loop with nothing but the tile within */
    {"x f32[3,4,33,3]; y max_pool kernel=[2,2] strides=[2,2] pads=[1,0,0,0] x",
     "{\"loops\":[\"kw kh+a c@unroll oh@vector\",\"guess\"]}"},
    {"x f32[4,7,3,4]; w! f32[4,7,1,2]; y conv2d strides=[1,2] pads=[0,1,0,0] x w",
     "{\"loops\":\"kh n oc ic kw+a oh@unroll ow@vector\"}"},
    /* a fold cut twice, of an operand that is read by blocks of the fold, partial sums waiting */
    {"v0! f32[16,8,33]; v1 f32[16,1,33]; v2 maximum v0 v1; v3 reshape shape=[16,264] v2; "
     "v4 reshape shape=[4,4,264] v3; v5! f32[4,264,1]; v6 matmul v4 v5; v7 f32[4,1,1]; v8 maximum v7 v6; "
     "v9! f32[1,20]; v10 matmul v8 v9",
     "{\"match\":{\"op\":[\"matmul\"],\"dims\":{\"k\":\">2\"}},\"loops\":[\"k/8 m/5 k/7 k b@unroll m@vector\"]}"},
    /* a copy that turns the second part of a concat stays inside it */
    {"a f32[13,20]; b f32[7,20]; y concat axis=0 a b", "{\"loops\":\"c/24+b c r\"}"},
    {"a f32[40,33]; b f32[33,33]; y concat axis=0 a b", "{\"loops\":\"c/24+b c r\"}"},
    /* an index is read under its condition alone: beyond the first part of the concat there is none */
    {"v f32[14,4]; s sort axis=0 descending=0 v; t transpose axes=[1,0] s; b f32[3,14]; y concat axis=0 t b",
     "{\"match\":{\"op\":[\"concat\"]},\"loops\":\"c/4 r/8 c r/3 r@unroll\"}"},
    /* the only element of a part of a concat, read before the tile's loops: it is where the part starts */
    {"a f32[1,48]; b f32[1,1]; c concat axis=1 a b; d! f32[1,49]; s add d c; f f32[1,9]; y concat axis=1 s f",
     "{\"match\":{\"op\":[\"add\"]},\"loops\":\"e/5 e\"}"},
    /* an index lies where the result is written, and is read before the tile */
    {"v i64[5,31]; s top_k axis=0 k=1 v; y tile reps=[1,1] s",
     "{\"match\":{\"op\":[\"tile\"]},\"loops\":\"e/32 e\"},{\"loops\":\"guess\"}"},
    /* partial sums of halves, which a result of halves does not hold */
    {"a f16[16,33,5]; b! f16[5]; p max_pool kernel=[3] strides=[1] pads=[1,1] a; y multiply p b",
     "{\"loops\":[\"kh oh ow\",\"guess\"]}"},
    /* modulo the only place that there is, nothing is folded */
    {"v f32[1,10,33]; y argmin axis=0 v", "{\"loops\":[\"c/7 r c@vector\",\"guess\"]}"},
    /* what is copied under a condition is read without it, too */
    {"v f32[17,8]; m bool[17,8]; t trilu k=-2 m; w where t v -1; n bool[17,8]; u where n w v; y add w u",
     "{\"loops\":\"e/4+b b e\"}"},
    /* the other part of a concat is no place to copy from */
    {"a f32[2,16]; b f32[2,9]; c concat axis=1 b a; n negative c; s add n c; i! i32[7]<25; y gather axis=1 s i",
     "{\"match\":{\"op\":[\"gather\"]},\"loops\":[\"c/2 c+c r\",\"guess\"]}"},
    /* no copy comes before the stage that says where it is read */
    {"x f32[4,32,5]; z f32[3,32,5]; i i64[3]<9; m i64[1]<4; j minimum i m; g gather axis=0 x j; s subtract g z; "
     "a abs s; y sum axes=[2] a",
     "{\"loops\":[\"r/3+sum.b\",\"guess\"]}"},
    /* strides leave quotients in the places of a transposed convolution, also where it starts at a constant */
    {"a f32[3,3,12,12]; p max axes=[2,3] keepdims=1 a; w! f32[3,1,3,1]; "
     "c conv_transpose strides=[2,2] dilations=[1,2] output_padding=[1,1] p w; z! f32[2,8]; y matmul c z",
     ""},
    /* what a loop asks for ahead is counted anew wherever it is entered: within borders of borders, very often */
    {"a f32[255,8]; b! f32[8,255]; y matmul a b",
     "{\"loops\":[\"m/128 n/128 m/64 n/64 m/32 n/32 m/16 n/16+b@l2*2 m/2+a@l2*2 k/4 k@unroll m@unroll n@vector\"]}"},
    /* blocks of what is kept are of more elements than a vector of sums */
    {"v i64[5,2,7,20]; m max axes=[0,2] keepdims=1 v; p pad pads=[0,1,0,0,0,4,0,0] m; t tile reps=[1,2,3,1] p; "
     "w! i64[6,7,2,2]; c conv2d group=2 strides=[2,2] pads=[1,1,0,0] t w; b! i64[2,10]; g greater_equal c b; "
     "y pad mode=reflect pads=[0,3,-1,2,3,2,0,0] g",
     ""},
    /* a copy under its own condition (the second padding) goes beyond what the first leaves: no index is read there */
    {"a f32[3,2,8]; s sort axis=2 descending=1 a; p pad mode=constant value=1 pads=[0,0,0,0,2,0] s; b f32[3,1,8]; v "
     "add b p; y max_pool kernel=[2] strides=[2] dilations=[2] pads=[1,0] v",
     "{\"match\":{\"op\":[\"max_pool\"]},\"loops\":[\"c+c kh ow oh\",\"guess\"]}"},
    /* borders within borders: each has its loops, and what one named is forgotten behind it */
    {"a f32[255,8]; b! f32[8,255]; y matmul a b",
     "{\"loops\":[\"m/100 n/100 m/33 n/33 m/10 n/10 m/3 n/3 m k n@vector\"]}"},
    /* a tile without loops: what is summed up and what follows name what they use twice, side by side */
    {"a i32[31,5]; b i32[31,5]; m multiply a b; s sign m; d mod s m; f min axes=[1] d; z i32[31]; y minimum f z",
     "{\"match\":{\"op\":[\"min\"]},\"loops\":\"c r\"}"},
    /* vectors of 64-bit sums that become bytes fill the registers with one row, which is walked once */
    {"v i64[3,20,2,13]; t transpose axes=[2,1,0,3] v; w! i64[17,20,3,2]; "
     "c conv2d strides=[1,2] pads=[1,1,1,1] t w; z! i64[1,7]; d not_equal c z; u transpose axes=[3,0,1,2] d; "
     "o bool[7,2,1,3]; p concat axis=2 u o; q bool[7,2,18,3]; y logical_and p q",
     ""},
    /* a copy of what a condition inside an expression keeps from being read: no place is a bad index */
    {"a! bf16[13,2,2,7]; c cast to=bool a; p pad mode=constant value=0 pads=[4,1,0,2,0,1,4,0] c; "
     "t transpose axes=[3,2,1,0] p; r reshape shape=[3,3,6,4,17] t; y pad mode=edge value=0 "
     "pads=[0,-1,0,0,0,2,-1,2,0,3] r",
     "{\"match\":{\"op\":[\"pad\"]},\"loops\":[\"c/8@core r/16 r1+a r2/32 r2 r@unroll c@vector\",\"guess\"]}"},
};

static void test(int i, const char *path, const char *instructions)
{
    fault f = {.number = i, .o = {.schema = path, .isa = instructions, .cache_folder = "none", .threads = 5}};
    err e = {0};
    text_add(&f.row, "%s", corners[i].row);
    text_add(&f.schema, "{\"format\":\"tiling/1\",\"rules\":[%s]}\n", corners[i].rules);
    if (!CHECK(fault_compute(&f, &e) == AS_WANTED))
        printf("  %s: %s\n  %s\n  %s\n", instructions, corners[i].row, corners[i].rules, e.text);
    text_free(&f.row), text_free(&f.schema);
}

int main(void)
{
    static const char *const isas[] = {"plain", "avx2", "avx512", "neon"};
    scratch folder = scratch_make();
    machine on;
    err e = {0};
    const char *path = scratch_in(&folder, "rules.json");
    for (int k = 0; CHECK(machine_load(&on, NULL, &e)) && k < COUNT(isas); k++)
        for (int i = 0; isa_includes(on.isa, isa_find(isas[k])) && i < COUNT(corners); i++)
            test(i, path, isas[k]);
    scratch_free(&folder);
    return check_done();
}
