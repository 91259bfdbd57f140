/* Where values between kernels lie: in blocks of channels while every reader can walk them, else in rows. */
/* ctest: fast */
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <string.h>

static const node *filter(graph *g, const char *label, int64_t oc, int64_t ic, int64_t k)
{
    return ts_weight(g, label, TS_F32, 4, (const int64_t[]){oc, ic, k, k}, 0, 1, 1);
}

static const node *image(graph *g, int64_t channels)
{
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {1, channels, 20, 20}};
    return g_input(g, "x", &t, 0);
}

static const node *chain(graph *g) /* convolution, pool, convolution, mean */
{
    const node *y = ts_call2(g, "conv2d pads=[1,1,1,1]", image(g, 3), filter(g, "w", 40, 3, 3));
    y = ts_call1(g, "max_pool kernel=[2,2] strides=[2,2]", y);
    y = ts_call2(g, "conv2d", y, filter(g, "v", 64, 40, 1));
    return ts_call1(g, "mean axes=[2,3]", y);
}

static const node *flattened(graph *g) /* the pool's reader walks channels and pixels as one */
{
    const node *y = ts_call2(g, "conv2d pads=[1,1,1,1]", image(g, 3), filter(g, "w", 40, 3, 3));
    y = ts_call1(g, "max_pool kernel=[2,2] strides=[2,2]", y);
    y = ts_call1(g, "reshape shape=[1,4000]", y);
    return ts_call2(g, "matmul", y, ts_weight(g, "v", TS_F32, 2, (const int64_t[]){4000, 10}, 0, 1, 1));
}

static void lies(maker *make, const char *set, const char *const *want) /* of each kernel: its op and layout */
{
    static const char *const letter[] = {"n", "c", "h", "w"};
    planned b;
    if (make_plan(&b, &(setting){make, two_cores, set, NULL, 2}))
        for (int i = 0; i < b.p->n_kernel; i++) {
            text t = {0};
            text_add(&t, "%s ", b.p->kernel[i].op);
            layout_print(&t, &b.p->buffer[b.p->kernel[i].stage->node->id].layout, letter);
            CHECK_TEXT(text_str(&t), want[i]);
            text_free(&t);
        }
    free_plan(&b);
}

static void loops(maker *make, int at, const char *want)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){make, two_cores, "avx512", NULL, 1})) {
        nest_print(&t, &b.p->kernel[at], false);
        CHECK_TEXT(text_str(&t), want);
    }
    text_free(&t);
    free_plan(&b);
}

static const node *heads(graph *g) /* products by head, read as rows of all heads' columns, and those as rows */
{
    const type q = {.dtype = TS_F32, .rank = 4, .dim = {2, 3, 40, 16}},
               k = {.dtype = TS_F32, .rank = 4, .dim = {2, 3, 16, 32}};
    const node *y = ts_call2(g, "matmul", g_input(g, "q", &q, 0), g_input(g, "k", &k, 0));
    y = ts_call1(g, "reshape shape=[80,96]", ts_call1(g, "transpose axes=[0,2,1,3]", y));
    const node *turned = ts_call1(g, "transpose axes=[1,0]", y);
    turned = ts_call2(g, "matmul", turned, ts_weight(g, "u", TS_F32, 2, (const int64_t[]){80, 48}, 0, 1, 1));
    y = ts_call2(g, "matmul", y, ts_weight(g, "v", TS_F32, 2, (const int64_t[]){96, 48}, 0, 1, 1));
    return ts_call2(g, "concat axis=0", turned, y);
}

int main(void)
{
    lies(chain, "avx512",
         (const char *const[]){"conv2d n c/16 h w c", "max_pool n c/16 h w c", "conv2d n c/16 h w c", "mean n c"});
    lies(chain, "avx2",
         (const char *const[]){"conv2d n c/8 h w c", "max_pool n c/8 h w c", "conv2d n c/8 h w c", "mean n c"});
    lies(flattened, "avx512", (const char *const[]){"conv2d n c/16 h w c", "max_pool n c h w", "matmul n c"});
    /* batch, row, head, column: those who make it have its last dimension in vectors */
    lies(heads, "avx512", (const char *const[]){"matmul n h c w", "matmul n c", "matmul n c", "concat n c"});
    loops(chain, 1, "c/16 oh ow/8 kh kw ow@unroll c@vector");
    return check_done();
}
