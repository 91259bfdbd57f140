/* What a plan says of ways that were weighed and not taken: both numbers, and the kernel that they would change. */
#include "schedule/plan/declined.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdlib.h>
#include <string.h>

static const node *matrix(graph *g, const char *name, int64_t rows, int64_t columns)
{
    return ts_weight(g, name, TS_F32, 2, (const int64_t[]){rows, columns}, 0, 1, 1);
}

static const node *wide(graph *g) /* 36, 72 and 72 MiB of weights */
{
    const int64_t k = 3072;
    const node *y = g_input(g, "x", &(type){.dtype = TS_F32, .rank = 2, .dim = {128, k}}, 0);
    y = ts_call2(g, "matmul", y, matrix(g, "u", k, k));
    y = ts_call2(g, "matmul", y, matrix(g, "v", k, 2 * k));
    return ts_call2(g, "matmul", y, matrix(g, "w", 2 * k, k));
}

static const node *row_of(graph *g) /* one of 128 rows is read */
{
    const node *x = g_input(g, "x", &(type){.dtype = TS_F32, .rank = 2, .dim = {128, 1024}}, 0);
    return ts_call1(g, "slice starts=[0,0] sizes=[1,1024] steps=[1,1]",
                    ts_call2(g, "matmul", x, matrix(g, "w", 1024, 1024)));
}

static const node *image(graph *g) /* two convolutions that Winograd would serve, one after the other */
{
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {1, 64, 12, 12}};
    const node *y = g_input(g, "x", &t, 0);
    for (int i = 0; i < 2; i++)
        y = ts_call2(g, "conv2d pads=[1,1,1,1]", y,
                     ts_weight(g, i ? "v" : "w", TS_F32, 4, (const int64_t[]){64, 64, 3, 3}, 0, 1, 1));
    return y;
}

static const node *small(graph *g) /* 16 x 16: too little for Strassen */
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {16, 16}};
    const node *y = ts_call2(g, "matmul", g_input(g, "x", &t, 0), matrix(g, "w", 16, 16));
    return ts_call2(g, "matmul", y, ts_call1(g, "transpose", y));
}

/* The lines of kernel k; on: a machine, as settings have it */
static void says(maker *make, const char *on, const char *rules, int k, const char *want)
{
    planned b;
    if (make_plan(&b, &(setting){make, on, "avx512", rules, 2}) && CHECK(k < b.p->n_kernel)) {
        text *lines = calloc((size_t)b.p->n_kernel, sizeof *lines);
        declined_print(b.p, lines);
        CHECK_TEXT(text_str(&lines[k]), want);
        for (int i = 0; i < b.p->n_kernel; i++)
            text_free(&lines[i]);
        free(lines);
    }
    free_plan(&b);
}

int main(void)
{
    /* Strassen serves the second, which leaves 10 of 64 MiB. */
    says(wide, two_cores, NULL, 0,
         "Strassen: bytes by which weights grow: 28311552, at most 10485760 expected\n"
         "inlining into k1: it is read at several places\n"
         "loops of matmul: a tile of 13 rows, vectors a row: 2, 0.8339 of the peak, the one taken 0.8421\n");
    says(wide, two_cores, NULL, 4,
         "Strassen: bytes by which weights grow: 56659984, at most 10485760 expected\n"
         "loops shared with k3: leading loops that both walk in step: 0, at least 1 expected\n"
         "loops of matmul: a tile of 13 rows, vectors a row: 2, 0.8339 of the peak, the one taken 0.8421\n");
    says(row_of, two_cores, NULL, 0,
         "Strassen: share of its value that is read: 0.007812, at least 0.5 expected\n"
         "inlining into k1: it is a sum that is not read at its reader's own axes\n"
         "loops of matmul: a tile of 1 rows, vectors a row: 5, 0.2676 of the peak, the one taken 0.276\n");
    says(image, two_cores, "{\"match\":{\"op\":\"conv2d\"},\"compute\":\"f32\"}", 1,
         "Winograd: a rule has options for it as the model says it\n"
         "loops shared with k0: leading loops that both walk in step: 0, at least 1 expected\n"
         "loops of conv2d: a tile of 12 rows, vectors a row: 2, 0.8312 of the peak, the one taken 0.8366\n");
    says(small, two_cores, NULL, 0,
         "Strassen: operations, what weights and values gone through take among them: 32070, at most 9366 expected\n"
         "inlining into k1: movement to its reader repeats elements\n"
         "loops of matmul: a tile of 8 rows, vectors a row: 1, 0.64 of the peak, the one taken 0.6957\n");
    says(small, two_cores, NULL, 1,
         "Strassen: operations, what weights and values gone through take among them: 39742, at most 8761 expected\n"
         "loops shared with k0: leading loops that both walk in step: 0, at least 1 expected\n"
         "loops of matmul: a tile of 8 rows, vectors a row: 1, 0.64 of the peak, the one taken 0.6957\n");
    says(product, "gpu:h100", NULL, 0,
         "Strassen: operations, what weights and values gone through take among them: 151891312, at most 147975045 "
         "expected\n"
         "loops of matmul: m/32@block n/32@block k/192@block k/32+a@shared+b@shared k/2 k@lane m/4@lane n/8@unroll "
         "n@lane m@unroll: "
         "21380 cycles, 20945 of those taken\n");
    return check_done();
}
