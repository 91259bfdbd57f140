/* How what stages hand on lies in a group's scratch, where matrix units take it, and why they cannot. */
/* ctest: fast */
#include "schedule/make.h"
#include "schedule/nest/kept.h"
#include "backends/gpu/gpu.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

typedef struct trial {
    graph *g;
    arena mem;
    gpu_facts card;
    plan *p;
    err e;
} trial;

/* p = a b, s = p - the largest of its rows; then s v, or v s where the rows of s are summed up */
static void open_trial(trial *t, dtype d, int64_t rows, int64_t columns, bool last, const char *loops)
{
    text schema = {0};
    scratch folder = scratch_make();
    *t = (trial){.g = ts_graph_make()};
    const node *a = g_input(t->g, "a", &(type){.dtype = d, .rank = 3, .dim = {2, rows, 16}}, NULL),
               *b = g_input(t->g, "b", &(type){.dtype = d, .rank = 3, .dim = {2, 16, columns}}, NULL),
               *v = g_input(t->g, "v",
                            &(type){.dtype = d, .rank = 3, .dim = {2, last ? 24 : columns, last ? rows : 24}}, NULL),
               *p = g_call2(t->g, "matmul", a, b),
               *s = g_call2(t->g, "subtract", p, g_call1(t->g, "max axes=[-1] keepdims=1", p)),
               *y = g_call2(t->g, "matmul", last ? v : s, last ? s : v);
    const char *path = scratch_in(&folder, "test.json");
    text_add(&schema, "{\"format\":\"tiling/1\",\"target\":\"cuda\",\"rules\":[{\"loops\":\"%s\"}]}", loops);
    CHECK(file_save(path, schema.s, schema.length, &t->e) && gpu_read(&t->card, "gpu:h100", &t->e));
    const target *on = gpu_target_with_units(&t->mem, &t->card, 0, NULL, &t->e);
    t->p = plan_make(t->g, 1, &y, &(plan_options){.on = on, .target = "cuda", .schema = path}, &t->e);
    text_free(&schema), scratch_free(&folder);
}

static void close_trial(trial *t)
{
    plan_free(t->p), ts_graph_free(t->g), arena_free(&t->mem);
}

static void is_refused(dtype d, int64_t rows, int64_t columns, bool last, const char *loops, const char *why)
{
    trial t;
    open_trial(&t, d, rows, columns, last, loops);
    char *at = strstr(t.e.text, "\": a matrix");
    if (at)
        at[strcspn(at, "\n")] = 0;
    if (!CHECK(!t.p && at && !strcmp(at + 3, why)))
        printf("  %s\n", t.e.text);
    close_trial(&t);
}

#define ROWS "r@block r1/16@block ; matmul: k/16+a+b n/32@warp n/8@unroll r1@mma n@mma k@mma ; "

static void test_lies(void)
{
    trial t;
    kept y;
    open_trial(&t, TS_BF16, 40, 50, false, ROWS "matmul2: k/32+b k/16 n/8@warp r1@mma n@mma k@mma");
    if (CHECK(t.p && t.p->n_kernel == 1 && t.p->kernel->n_stage == 4)) {
        const kernel *k = t.p->kernel;
        kept_find(k, 0, &y); /* read by lanes */
        CHECK(y.dim[2] == 1 && y.axis[1] == 50 && y.axis[0] == 16 * 50 && y.size == 16 * 50 && !y.gaps);
        kept_find(k, 2, &y); /* 50 columns in two slices of 32, and an odd number of pieces */
        CHECK(y.dim[2] == 1 && y.axis[1] == 72 && y.size == 16 * 72 && y.gaps && !y.dim[1]);
        CHECK(kept_by(k, &k->stage[3], 0) == 2 && kept_by(k, &k->stage[3], 1) == -1);
        CHECK(kept_stride(k, &k->stage[3], 0, 1) == 72 && kept_stride(k, &k->stage[3], 0, 3) == 1 &&
              kept_stride(k, &k->stage[3], 0, 2) == 0);
        /* p 1792 in whole 256, the largest 256, s 2304; a slice of b is 32 x 24, one of a and b 16 x 16 and 16 x 64 */
        CHECK(kept_besides(t.p, k, nest_group_lanes(t.p, k)) == 512 + 2048 &&
              kept_bytes(t.p, k) == 1792 + 256 + 2304 + 512 + 2048);
    }
    close_trial(&t);
    open_trial(&t, TS_BF16, 32, 48, false, ROWS "matmul2: k/16+b n/8@warp r1@mma n@mma k@mma");
    if (CHECK(t.p && t.p->kernel->n_stage == 4)) {
        kept_find(t.p->kernel, 2, &y);
        CHECK(y.axis[1] == 56 && !y.gaps); /* all of it is written */
    }
    close_trial(&t);
}

int main(void)
{
    test_lies();
    is_refused(
        TS_BF16, 400, 700, false,
        "r@block r1/80@block ; matmul: k/16+a+b n/32@warp r1/16@unroll n/8@unroll r1@mma n@mma k@mma ; matmul2: "
        "k/32+b k/16 r1/16@warp n/8@warp r1@mma n@mma k@mma",
        "a matrix unit takes operand a from @shared, where stage subtract leaves it; with what else is there that "
        "takes 251648 bytes of 232448: walk fewer steps in a group, or copy smaller slices");
    is_refused(
        TS_F32, 32, 48, true,
        "b@block ; matmul: k/8+a+b n/16@warp m/16@unroll n/8@unroll m@mma n@mma k@mma ; matmul2: k/8+a m/16@warp "
        "n/8@unroll m@mma n@mma k@mma",
        "a matrix unit does not take operand b: it does not lie in rows of an axis that the unit takes where an "
        "earlier stage computes it");
    return check_done();
}
