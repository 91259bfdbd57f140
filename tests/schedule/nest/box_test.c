/* Slices as boxes of a tensor: its dimensions, what a box has of each, and why others are none. */
/* ctest: fast */
#include "schedule/make.h"
#include "schedule/nest/box.h"
#include "backends/gpu/gpu.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

static const char *card_name = "gpu:h100", *lacks;

static void print_box(const box *b, const stage *s, text *t)
{
    for (int i = 0; i < b->n; i++) {
        text_add(t, "%s%lld of %lld by %lld at", i ? ", " : "", (long long)b->dim[i].count, (long long)b->dim[i].extent,
                 (long long)b->dim[i].stride);
        for (int a = 0; a < s->n_axis; a++)
            if (b->dim[i].by[a] == 1)
                text_add(t, " %s", s->letter[a]);
            else if (b->dim[i].by[a])
                text_add(t, " %lld %s", (long long)b->dim[i].by[a], s->letter[a]);
        if (b->dim[i].at)
            text_add(t, " %+lld", (long long)b->dim[i].at);
    }
    text_add(t, "; rows of %d, %lld of %lld bytes", b->row, (long long)b->pieces, (long long)b->apart);
}

/* Of the load of the row's kernel that is staged first */
static void lies(const char *row, const char *loops, const char *want)
{
    err e = {0};
    arena mem = {0};
    gpu_facts card;
    text schema = {0}, got = {0};
    row_inputs in = {0};
    scratch folder = scratch_make();
    graph *g = ts_graph_make();
    const node *y = row_build(g, row, 0, &in);
    const char *path = scratch_in(&folder, "test.json");
    text_add(&schema,
             "{\"format\":\"tiling/1\",\"target\":\"cuda\",\"rules\":[{\"match\":{\"op\":[\"matmul\","
             "\"conv2d\"]},\"loops\":\"%s\"}]}",
             loops);
    CHECK(y && file_save(path, schema.s, schema.length, &e) && gpu_read(&card, card_name, &e));
    const target *on = gpu_target_with_units(&mem, &card, 0, lacks, &e);
    plan *p = plan_make(g, 1, &y, &(plan_options){.on = on, .target = "cuda", .schema = path}, &e);
    if (CHECK(p && p->kernel->stage->n_staging)) {
        const stage *s = p->kernel->stage;
        box b;
        const char *why = box_find(p, p->kernel, s, s->staging, &b);
        if (why)
            text_add(&got, "%s", why);
        else
            print_box(&b, s, &got);
    } else
        text_add(&got, "%s", e.text);
    CHECK_TEXT(text_str(&got), want);
    row_inputs_free(&in), text_free(&schema), text_free(&got), scratch_free(&folder);
    plan_free(p), ts_graph_free(g), arena_free(&mem);
}

#define LOOPS " k/16@unroll m/16@warp m@mma n@mma k@mma"
int main(void)
{
    static const char product[] = "a bf16[128,96]; b bf16[96,128]; y matmul a b";
    /* neighbours first; the own axis's in columns of 128 bytes */
    lies(product, "m/64@block n/64@block k/32+a*2+b*2" LOOPS,
         "32 of 96 by 2 at k, 64 of 128 by 192 at m; rows of 64, 1 of 4096 bytes");
    lies(product, "m/64@block n/128@block k/64+b*2+a*2" LOOPS,
         "64 of 128 by 2 at n, 64 of 96 by 256 at k; rows of 128, 2 of 8192 bytes");
    /* batches are a dimension that boxes have one of; parts of a sum end with whole slices */
    lies("a bf16[3,128,96]; b bf16[3,96,128]; y matmul a b", "b@block m/64@block n/64@block k/32+a*2+b*2" LOOPS,
         "32 of 96 by 2 at k, 64 of 128 by 192 at m, 1 of 3 by 24576 at b; rows of 64, 1 of 4096 bytes");
    lies(product, "k/32@block m/64@block n/64@block k/16+a*2+b*2 m/16@warp m@mma n@mma k@mma",
         "16 of 96 by 2 at k, 64 of 128 by 192 at m; rows of 32, 1 of 2048 bytes");
    lies(product, "k/48@block m/64@block n/64@block k/32+a*2+b*2" LOOPS, "its slices end within a part of the sum");
    /* padding is outside of a dimension, from which places are counted */
    static const char image[] = "x f16[2,32,9,64]; w! f16[64,32,3,3]; y conv2d pads=[1,1,1,1] x w",
                      over[] = "n@block oc/64@block oh@block ow/32@block kh kw ic/32+a*2+b*2 ic/16@unroll oc/16@warp "
                               "oc@mma ow@mma ic@mma";
    lies(image, over,
         "32 of 64 by 2 at ow kw -1, 1 of 9 by 128 at oh kh -1, 32 of 32 by 1152 at ic, 1 of 2 by 36864 at n; rows of "
         "64, 1 of 2048 bytes");
    /* why not */
    lies("a bf16[128,70]; b bf16[70,128]; y matmul a b", "m/64@block n/64@block k/32+a*2+b*2" LOOPS,
         "its rows begin at no multiples of 16 bytes");
    lies(product, "m/64@block n/64@block k/32+a+b" LOOPS, "it has no ring of slices");
    lies(product, "m/64@block n/64@block k/32+a*2+b*2 k/16@unroll m/16@warp n/8@unroll m@mma n@mma k@mma",
         "warps load its slices one by one");
    lacks = "the driver has no function cuTensorMapEncodeTiled";
    lies(product, "m/64@block n/64@block k/32+a*2+b*2" LOOPS, lacks);
    return check_done();
}
