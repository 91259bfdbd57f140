/* reuse_test.c - which results may lie over an operand of their kernel, and that no others do. */
/* ctest: fast */
#include "backends/cpu/cpu.h"
#include "schedule/make.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>

static const struct reused {
    const char *row, *loops; /* loops: of products; NULL: the guess */
    bool over;               /* whether the last result is */
} cases[] = {
    /* a residual, read where the sum is written */
    {"x f32[32,64]; u! f32[64,64]; v! f32[64,64]; p matmul x u; q matmul p v; s matmul q u; y add s p", NULL, true},
    {"x f32[32,64]; u! f32[64,64]; v! f32[64,64]; p matmul x u; q matmul p v; s matmul q u; y add s p",
     "m/8 n/32 k m@unroll n@vector", true},
    /* copied before the sum is written */
    {"x f32[32,64]; u! f32[64,64]; v! f32[64,64]; p matmul x u; q matmul p v; s matmul q u; y add s p",
     "n/32 m/8+c k m@unroll n@vector", true},
    /* partial sums wait in the result */
    {"x f32[32,64]; u! f32[64,64]; v! f32[64,64]; p matmul x u; q matmul p v; s matmul q u; y add s p",
     "k/16 m/8 n/32 k m@unroll n@vector", false},
    /* the operand of the product itself, whose rows are read by every tile */
    {"x f32[64,64]; u! f32[64,64]; p matmul x u; y matmul p u", NULL, false},
    /* turned */
    {"x f32[64,64]; u! f32[64,64]; v! f32[64,64]; p matmul x u; q matmul p v; s matmul q u; t transpose p; y add s t",
     NULL, false},
    /* one element on */
    {"x f32[32,64]; u! f32[64,64]; v! f32[64,64]; p matmul x u; q matmul p v; a slice starts=[0,1] sizes=[32,63] q; "
     "y add a a",
     NULL, false},
    /* of another type */
    {"x i32[32,64]; u! i32[64,64]; p matmul x u; c cast to=f32 p; y sum axes=[1] keepdims=1 c", NULL, false},
    /* rows read by earlier stages, then written */
    {"x f32[64,512]; u! f32[512,512]; p matmul x u; m max axes=[1] keepdims=1 p; y subtract p m", NULL, true},
    /* put into, where no update reads it; turned; and where one does */
    {"x f32[32,64]; u! f32[64,64]; i i64[9]<32; z f32[9,64]; p matmul x u; y scatter reduce=add p i z", NULL, true},
    {"x f32[64,64]; u! f32[64,64]; i i64[9]<64; z f32[9,64]; p matmul x u; v matmul p u; t transpose p; w matmul t u; "
     "a add v w; y scatter reduce=add t i z",
     NULL, false},
    {"x f32[32,64]; u! f32[64,64]; i i64[9]<32; p matmul x u; s slice starts=[3,0] sizes=[9,64] p; y scatter p i s",
     NULL, false},
    /* columns of other rows are still to be read */
    {"x f32[64,512]; u! f32[512,64]; p matmul x u; t transpose p; m max axes=[1] keepdims=1 t; y subtract p m", NULL,
     false},
};

static void test(const char *path, int i)
{
    const struct reused *c = &cases[i];
    err e = {0};
    machine on;
    row_inputs in = {0};
    text schema = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor y = row_build(g, c->row, i, &in);
    text_add(&schema,
             "{\"format\":\"tiling/1\",\"rules\":[{\"match\":{\"op\":[\"matmul\"]},\"loops\":[\"%s\",\"guess\"]}]}\n",
             c->loops ? c->loops : "guess");
    bool ok = y && machine_load(&on, "l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx512", &e) &&
              file_save(path, schema.s, schema.length, &e);
    target made;
    const plan_options w = {.on = &made, .target = "c", .schema = path};
    cpu_target_of(&made, &on, isa_find("avx512"), 2);
    plan *p = ok ? plan_make(g, 1, &y, &w, &e) : NULL;
    if (!CHECK(p != NULL) || !CHECK((p->buffer[y->id].over != NULL) == c->over))
        printf("  %s, loops %s\n  %s\n", c->row, c->loops ? c->loops : "guess", e.text);
    plan_free(p);
    row_inputs_free(&in), text_free(&schema), ts_graph_free(g);
}

int main(void)
{
    scratch folder = scratch_make();
    const char *path = scratch_in(&folder, "rules.json");
    for (int i = 0; i < COUNT(cases); i++)
        test(path, i);
    scratch_free(&folder);
    return check_done();
}
