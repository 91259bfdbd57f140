/* Loops that a card cannot have, and why: rings of slices and matrix units. What it can prints as it was written. */
/* ctest: fast */
#include "backends/gpu/gpu.h"
#include "schedule/make.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

static const char *card_name = "gpu:h100";
static bool of_stages; /* (p - the largest of its row) v follows, of p = a b */

/* y[m,n] = sum over k of a[m,k] b[k,n]: the loops as they are used, or the refusal */
static void planned_so(dtype d, bool units, const char *loops, text *got)
{
    err e = {0};
    arena mem = {0};
    gpu_facts card;
    text schema = {0};
    scratch folder = scratch_make();
    graph *g = ts_graph_make();
    const node *a = g_input(g, "a", &(type){.dtype = d, .rank = 2, .dim = {100, 70}}, NULL),
               *b = g_input(g, "b", &(type){.dtype = d, .rank = 2, .dim = {70, 90}}, NULL),
               *y = g_call2(g, "matmul", a, b);
    if (of_stages) {
        const int64_t dim[][3] = {{2, 100, 24}, {2, 24, 50}, {2, 50, 64}};
        const node *in[3];
        for (int i = 0; i < COUNT(in); i++)
            in[i] = g_input(g, (const char *[]){"p", "q", "v"}[i],
                            &(type){.dtype = d, .rank = 3, .dim = {dim[i][0], dim[i][1], dim[i][2]}}, NULL);
        const node *x = g_call2(g, "matmul", in[0], in[1]), *most = g_call1(g, "max axes=[-1] keepdims=1", x);
        y = g_call2(g, "matmul", g_call2(g, "subtract", x, most), in[2]);
    }
    const char *path = scratch_in(&folder, "test.json");
    text_add(&schema, "{\"format\":\"tiling/1\",\"target\":\"cuda\",\"rules\":[{\"loops\":\"%s\"}]}", loops);
    CHECK(file_save(path, schema.s, schema.length, &e) && gpu_read(&card, card_name, &e));
    const target *on = units ? gpu_target_with_units(&mem, &card, 0, NULL, &e) : gpu_target(&mem, &card, &e);
    plan *p = plan_make(g, 1, &y, &(plan_options){.on = on, .target = "cuda", .schema = path}, &e);
    const char *why = strstr(e.text, "loops \"");
    if (p)
        nest_print(got, p->kernel, true);
    else
        text_add(got, "%.*s", (int)strcspn(why ? why : e.text, "\n"), why ? why : e.text);
    CHECK(p || e.code == TS_BAD_INPUT);
    plan_free(p), ts_graph_free(g), text_free(&schema), scratch_free(&folder), arena_free(&mem);
}

static void reads(dtype d, const char *loops)
{
    text got = {0};
    planned_so(d, true, loops, &got);
    CHECK_TEXT(text_str(&got), loops);
    text_free(&got);
}

static void is_refused(dtype d, bool units, const char *loops, const char *why)
{
    text got = {0}, want = {0};
    text_add(&want, "loops \"%s\"%s", loops, why);
    planned_so(d, units, loops, &got);
    CHECK_TEXT(text_str(&got), want.s);
    text_free(&got), text_free(&want);
}

int main(void)
{
    reads(TS_F32, "m/32@block n/64@block k/8+a@shared*3+b@shared*3 k m/16@warp m/2@lane n/16@lane m@unroll n@unroll");
    reads(TS_BF16, "m/64@block n/64@block k/32+a@shared*3+b@shared*3 k/16 m/32@warp n/32@warp m/16@unroll n/8@unroll "
                   "m@mma n@mma k@mma");
    reads(TS_F32, "m/16@block n/8@block k/8+a@shared+b@shared m@mma n@mma k@mma");
    /* More than a kernel has without asking */
    reads(TS_F32, "m/100@block n/64@block k/64+a@shared*2 k m/4@lane n/4@lane m@unroll n@unroll");
    is_refused(TS_F32, true, "m/32@block n/16+a@shared*2 k m@lane n@lane",
               ": 2 slices of operand a are held where a sum goes from one to the next: at a serial loop of a folded "
               "axis, with none but such loops between it and those in registers");
    is_refused(TS_F32, true, "m/32@block n/64@block k/8+a*2+b*3 k m@lane n/4@lane n@unroll",
               ": operands copied at one loop come together: operand a has 2 slices, operand b 3");
    is_refused(TS_F32, true, "m/32@block n/64@block k/8+a*9 k m@lane n@lane",
               ", column 30: @shared holds 1 to 8 slices");
    is_refused(TS_F32, false, "m/100@block n/64@block k/64+a*2 k m/4@lane n/4@lane m@unroll n@unroll",
               ": with 2 slices of operand a there are 51712 bytes in @shared, which has 49152: copy at a loop further "
               "inside, or in smaller steps");
    is_refused(TS_BF16, true, "m/16@block n/8@block k/16 m@mma n@mma k@mma",
               ": a matrix unit takes operand a from slices that a group copies: +a at a serial loop of a folded axis, "
               "next to the loops in registers");
    is_refused(TS_BF16, true, "m/16@block n/16@block k/16+a+b m@mma n@mma k@mma",
               ": h100 has no matrix unit for 16 x 16 x 16 of bf16 into f32; those it has: 16 x 8 x 16 of bf16 "
               "into f32, 16 x 32 x 16 of bf16 into f32 in each of 4 warps, 16 x 64 x 16 of bf16 into f32 in each of "
               "4 warps, 16 x 128 x 16 of bf16 into f32 in each of 4 warps, 16 x 256 x 16 of bf16 into f32 in each of "
               "4 warps");
    is_refused(TS_BF16, false, "m/16@block n/8@block k/16+a+b m@mma n@mma k@mma",
               ": h100 has no matrix unit for 16 x 8 x 16 of bf16 into f32; it has none");
    is_refused(TS_BF16, true, "m/16@block n/16@block k/24+a+b k/16 n/8@warp m@mma n@mma k@mma",
               ": loop k/24 cuts trips of the matrix unit, which takes 16 of k at once: use a multiple of that");
    /* Four warps together */
    reads(TS_BF16, "m/64@block n/32@block k/64+a@shared*2+b@shared*2 k/16 m/16@warp m@mma n@mma k@mma");
    is_refused(
        TS_BF16, true, "m/64@block n/32@block k/16+a+b m/32@warp m/16@unroll m@mma n@mma k@mma",
        ": 4 warps form 16 x 32 x 16 together: the innermost loop over warps is m/16@warp, and has a multiple of "
        "4 trips");
    is_refused(
        TS_BF16, true, "m/32@block n/32@block k/16+a+b m/16@warp m@mma n@mma k@mma",
        ": 4 warps form 16 x 32 x 16 together: the innermost loop over warps is m/16@warp, and has a multiple of "
        "4 trips");
    is_refused(
        TS_BF16, true, "m/64@block n/64@block k/16+a+b m/16@warp n/32@warp m@mma n@mma k@mma",
        ": 4 warps form 16 x 32 x 16 together: the innermost loop over warps is m/16@warp, and has a multiple of "
        "4 trips");
    is_refused(
        TS_BF16, true, "m/64@block n/32@block k/48+a+b k/16 m/16@warp m@mma n@mma k@mma",
        ": several warps form a product together of slices whose rows have 32, 64 or 128 bytes: operand a has 96 "
        "of k; use a step of 16, 32 or 64 of k");
    of_stages = true;
    is_refused(TS_BF16, true,
               "r@block r1/64@block ; matmul2: k/32+b*2 k/16@unroll r1/16@warp n/32@unroll r1@mma n@mma k@mma",
               ": several warps form a product together of slices alone: operand a is what stage subtract leaves; let "
               "each warp form it by itself");
    of_stages = false;
    card_name = "gpu:a100";
    is_refused(TS_BF16, true, "m/64@block n/32@block k/16+a+b m/16@warp m@mma n@mma k@mma",
               ": a100 has no matrix unit for 16 x 32 x 16 of bf16 into f32; those it has: 16 x 8 x 16 of bf16 "
               "into f32");
    card_name = "gpu:h100";
    is_refused(TS_BF16, true, "m/16@block n/8@block k/16+a+b m@mma k@mma n",
               ", column 43: serial loop n inside an unrolled one");
    return check_done();
}
