/* Loops when nobody said otherwise: which operands are copied first, and how the work is spread. */
/* ctest: fast */
#include "graph/ir/rule.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <string.h>

static void guessed_on(const char *set, maker *make, int threads, const char *loops)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){make, two_cores, set, NULL, threads})) {
        nest_print(&t, b.p->kernel, false);
        CHECK_TEXT(text_str(&t), loops);
    }
    text_free(&t);
    free_plan(&b);
}

static void guessed(maker *make, int threads, const char *loops)
{
    guessed_on("avx512", make, threads, loops);
}

/* y[m,n] = sum over k of a[m,k] b[k,n] */
static const node *fresh(graph *g, int64_t m, int64_t k, int64_t n, bool left, bool right)
{
    const type ta = {.dtype = TS_F32, .rank = 2, .dim = {left ? k : m, left ? m : k}},
               tb = {.dtype = TS_F32, .rank = 2, .dim = {right ? n : k, right ? k : n}};
    const node *a = g_input(g, "a", &ta, NULL), *b = g_input(g, "b", &tb, NULL);
    return g_call2(g, "matmul", left ? g_call1(g, "transpose", a) : a, right ? g_call1(g, "transpose", b) : b);
}

static const node *weight_gradient(graph *g)
{
    return fresh(g, 384, 2048, 1536, true, false);
}

static const node *input_gradient(graph *g)
{
    return fresh(g, 2048, 384, 1536, false, true);
}

/* Three products of a vocabulary: of its weights' gradient, of what it reads, and of many tokens. */
static const node *vocabulary_gradient(graph *g)
{
    return fresh(g, 50257, 256, 768, true, false);
}

static const node *vocabulary_input(graph *g)
{
    return fresh(g, 256, 50257, 768, false, false);
}

static const node *vocabulary_deep(graph *g)
{
    return fresh(g, 50257, 2048, 768, true, false);
}

/* Scores of 32 texts with 12 heads each; all heads of a text read its mask, so texts are what its stages share. */
static const node *masked_scores(graph *g)
{
    const type q = {.dtype = TS_F32, .rank = 4, .dim = {32, 12, 64, 32}},
               k = {.dtype = TS_F32, .rank = 4, .dim = {32, 12, 32, 64}},
               row = {.dtype = TS_F32, .rank = 4, .dim = {32, 1, 1, 64}},
               column = {.dtype = TS_F32, .rank = 4, .dim = {1, 1, 64, 1}};
    const node *mask = g_call2(g, "multiply", g_input(g, "row", &row, NULL), g_input(g, "column", &column, NULL)),
               *scores = g_call2(g, "matmul", g_input(g, "q", &q, NULL), g_input(g, "k", &k, NULL));
    return g_call2(g, "add", scores, g_call1(g, "exp", mask));
}

static const node *long_rows(graph *g) /* f64: what moves many points, by few numbers */
{
    const type a = {.dtype = TS_F64, .rank = 2, .dim = {10000, 88}}, b = {.dtype = TS_F64, .rank = 2, .dim = {88, 78}};
    return g_call2(g, "matmul", g_input(g, "a", &a, NULL), g_input(g, "b", &b, NULL));
}

static const node *rows_along(graph *g)
{
    const type a = {.dtype = TS_F64, .rank = 2, .dim = {1000, 1600}},
               b = {.dtype = TS_F64, .rank = 2, .dim = {1000, 64}};
    return g_call2(g, "matmul", g_call1(g, "transpose", g_input(g, "a", &a, NULL)), g_input(g, "b", &b, NULL));
}

static const node *few_rows(graph *g)
{
    return fresh(g, 64, 384, 1536, false, false);
}

static const node *narrow(graph *g)
{
    return fresh(g, 2048, 384, 40, false, true);
}

static const node *one_row(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {1, 768}};
    const node *w = ts_weight(g, "w", TS_F32, 2, (const int64_t[]){768, 3072}, 0, 1, 1),
               *c = ts_weight(g, "c", TS_F32, 1, (const int64_t[]){3072}, 0, 1, 1);
    return g_call2(g, "add", g_call2(g, "matmul", g_input(g, "x", &t, NULL), w), c);
}

/* A deep product with a bias: what is prefetched is the weights, not the bias. */
static const node *deep_layer(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {128, 3072}};
    const node *w = ts_weight(g, "w", TS_F32, 2, (const int64_t[]){3072, 768}, 0, 1, 1),
               *c = ts_weight(g, "c", TS_F32, 1, (const int64_t[]){768}, 0, 1, 1);
    return g_call2(g, "add", g_call2(g, "matmul", g_input(g, "x", &t, NULL), w), c);
}

static const node *layer(graph *g)
{
    return fresh(g, 128, 384, 384, false, false);
}

/* A product to which a value is added, element by element */
static const node *residual(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {128, 768}};
    const node *w = ts_weight(g, "w", TS_F32, 2, (const int64_t[]){768, 768}, 0, 1, 1),
               *x = g_call1(g, "softmax axis=-1", g_input(g, "x", &t, NULL));
    return g_call2(g, "add", g_call2(g, "matmul", x, w), x);
}

static void test_weights(void)
{
    guessed(one_row, 2, "n/192@core k n@vector");
    planned b;
    text t = {0};
    const char *as_written = "{\"compute\":\"f32\"}"; /* not in fewer products */
    /* 9 MB of weights: what does not stay until the next run need not pass through the third cache. One row waits for
     * lines anyway. */
    static const struct {
        maker *make;
        const char *machine, *set, *loops;
    } on[] = {
        {one_row, two_cores, "avx2", "n/48 k n@vector"},
        {deep_layer, two_cores, "avx512", "n/48 k/768[+b@l2*2] m/8 k/4 k@unroll m@unroll n@vector"},
        {deep_layer, "core:1 l3:1(32MB) isa:avx512 nta:l2", "avx512",
         "n/48 k/768[+b@l2*2] m/8 k/4 k@unroll m@unroll n@vector"},
        {deep_layer, "core:1 l3:1(8MB) isa:avx512 nta:l2", "avx512",
         "n/48 k/768[+b@nta*2] m/8 k/4 k@unroll m@unroll n@vector"},
        {deep_layer, "core:1 l3:1(8MB) isa:avx512", "avx512", "n/48 k/768[+b@l2*2] m/8 k/4 k@unroll m@unroll n@vector"},
    };
    for (int i = 0; i < COUNT(on); i++) {
        if (make_plan(&b, &(setting){on[i].make, on[i].machine, on[i].set, as_written, 1})) {
            nest_print(&t, b.p->kernel, true);
            CHECK_TEXT(text_str(&t), on[i].loops);
        }
        text_free(&t);
        free_plan(&b);
    }
}

/* What the rows read is more than the last cache holds: it comes by once, not once for every panel. */
static void test_tall_products(void)
{
    guessed(vocabulary_gradient, 2, "m/768@core n/48+b m/8 k/4 k@unroll m@unroll n@vector");
    guessed(vocabulary_gradient, 1, "m/768 n/48+b m/8 k/4 k@unroll m@unroll n@vector");
    guessed(vocabulary_input, 2, "n/384@core k/768 n/48+b m/8 k/4 k@unroll m@unroll n@vector");
    guessed(vocabulary_deep, 2, "m/256@core k/768 n/48+b m/8 k/4 k@unroll m@unroll n@vector");
}

/* What the rows read is in the third cache alone, and panels are narrow: blocks of rows in the second one. */
static void test_row_blocks(void)
{
    guessed_on("avx2", long_rows, 1, "m/1116 n/8+b m/6 k/4 k@unroll m@unroll n@vector");
    guessed_on("avx2", rows_along, 1, "m/96 n/8 m/6 k/4 k@unroll m@unroll n@vector");
    guessed_on("avx2", rows_along, 2, "m/90@core n/8 m/6 k/4 k@unroll m@unroll n@vector");
}

/* All threads have something to do, and what the stages hand on stays in the second cache: 5 texts of 196608 bytes. */
static void test_shared(void)
{
    guessed(masked_scores, 2, "r/4@core ; exp: r b e@vector ; matmul: r b m/6 k/4 k@unroll m@unroll n@vector");
    guessed(masked_scores, 16, "r/2@core ; exp: r b e@vector ; matmul: r b m/6 k/4 k@unroll m@unroll n@vector");
}

/* Attention of 3 heads side by side in rows of 192, which products with weights computed. */
static const node *heads(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {256, 192}};
    const char *const turned[] = {"transpose axes=[1,0,2]", "transpose axes=[1,2,0]", "transpose axes=[1,0,2]"};
    const node *x = g_input(g, "x", &t, NULL), *part[3];
    for (int i = 0; i < 3; i++) {
        const char name[] = {(char)('q' + i), 0};
        const node *w = ts_weight(g, name, TS_F32, 2, (const int64_t[]){192, 192}, 0, 1, 1);
        part[i] = g_call1(g, turned[i], g_call1(g, "reshape shape=[256,3,64]", g_call2(g, "matmul", x, w)));
    }
    const node *p = g_call1(g, "softmax axis=-1", g_call2(g, "matmul", part[0], part[1]));
    return g_call1(g, "transpose axes=[1,0,2]", g_call2(g, "matmul", p, part[2]));
}

/* A head is a short piece of each row: those of the next one are fetched while this one is computed. */
static void test_pieces(void)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){heads, two_cores, "avx512", NULL, 1})) {
        int k = 0;
        while (k < b.p->n_kernel - 1 && b.p->kernel[k].n_stage == 1)
            k++;
        nest_print(&t, &b.p->kernel[k], true);
        const char want[] = "h+matmul.b[+matmul.a@l2*2][+matmul.b@l2*2][+matmul2.b@l2*2] q/32 ; ";
        CHECK(!strncmp(text_str(&t), want, strlen(want)));
    }
    text_free(&t);
    free_plan(&b);
}

/* Sums wait for what is added to them: the next tile's rows of that are there when its sums are. */
static void test_residual(void)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){residual, two_cores, "avx512", "{\"compute\":\"f32\"}", 1})) {
        nest_print(&t, &b.p->kernel[b.p->n_kernel - 1], true);
        CHECK_TEXT(text_str(&t), "n/48[+b@l2*2] m/8[+c@l1*2] k/4 k@unroll m@unroll n@vector");
    }
    text_free(&t);
    free_plan(&b);
}

/* Of 16 registers: columns come from the second cache, so that of tiles of 12 sums the one with fewer is faster, and
 * registers are left for those of the next step. */
static void test_tiles(void)
{
    guessed_on("avx2", layer, 1, "n/16 m/6 k/4 k@unroll m@unroll n@vector");
    guessed_on("avx2", few_rows, 1, "n/16 m/6 k/4 k@unroll m@unroll n@vector");
    guessed_on("avx512", layer, 1, "n/48 m/8 k/4 k@unroll m@unroll n@vector");
}

static void test_fresh_products(void)
{
    guessed(weight_gradient, 1, "n/48 k/768+b m/8 k/4 k@unroll m@unroll n@vector");
    guessed(input_gradient, 2, "n/48@core+b m/8 k/4 k@unroll m@unroll n@vector");
    guessed(few_rows, 2, "n/48@core m/8 k/4 k@unroll m@unroll n@vector");
    guessed(narrow, 2, "m/1024@core n/48+b m/8 k/4 k@unroll m@unroll n@vector");
}

/* y[m] = sum over k of a[m,k] b[m,k]: nothing is read twice, and neither is turned to have rows as lanes. */
static const node *row_products(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {256, 768}};
    const node *both = g_call2(g, "multiply", g_input(g, "a", &t, NULL), g_input(g, "b", &t, NULL));
    return g_call1(g, "sum axes=[1]", both);
}

static void test_row_products(void)
{
    guessed(row_products, 1, "r c/32 c@vector");
    guessed(row_products, 2, "r@core c/32 c@vector");
}

/* A matrix with one vector, of f32[m,k] and f32[k]; the vector a weight; and windows of a row, one over another. */
static const node *times_vector(graph *g, int64_t m, int64_t k, bool weight)
{
    const type ta = {.dtype = TS_F32, .rank = 2, .dim = {m, k}}, tb = {.dtype = TS_F32, .rank = 2, .dim = {k, 1}};
    const node *a = g_input(g, "a", &ta, NULL);
    return g_call2(g, "matmul", a, weight ? ts_weight(g, "w", TS_F32, 2, tb.dim, 0, 1, 1) : g_input(g, "b", &tb, NULL));
}

static const node *vector_product(graph *g)
{
    return times_vector(g, 1000, 64, true);
}

static const node *short_rows(graph *g)
{
    return times_vector(g, 1000, 12, false);
}

static const node *one_filter(graph *g)
{
    const type tx = {.dtype = TS_F32, .rank = 3, .dim = {1, 1, 4000}},
               tw = {.dtype = TS_F32, .rank = 3, .dim = {1, 1, 64}};
    return g_call2(g, "conv1d", g_input(g, "x", &tx, NULL), g_input(g, "w", &tw, NULL));
}

/* Rows are walked as they lie, several at once, where vectors fit into them; windows along one another are not rows. */
static void test_vector_products(void)
{
    guessed(vector_product, 1, "m/8 k/32 m@unroll k@vector");
    guessed_on("avx2", vector_product, 2, "m/2@core k/32 m@unroll k@vector");
    guessed_on("plain", vector_product, 1, "m k/32 k@vector");
    guessed_on("avx2", short_rows, 1, "m/2 m@unroll k@vector");
    guessed(short_rows, 1, "m/192 k m@vector");
    guessed(one_filter, 1, "ow/192 ic kw ow@vector");
}

/* A convolution whose weights change, [8, 64, 28, 28] with 96 filters, and its gradients. */
static const node *windows(graph *g, int of)
{
    const type tx = {.dtype = TS_F32, .rank = 4, .dim = {8, 64, 28, 28}},
               tw = {.dtype = TS_F32, .rank = 4, .dim = {96, 64, 3, 3}},
               ty = {.dtype = TS_F32, .rank = 4, .dim = {8, 96, 28, 28}};
    const node *in[] = {g_input(g, "x", &tx, NULL), g_input(g, "w", &tw, NULL)}, *grad[2];
    const node *y = g_callf(g, 2, in, "conv2d pads=[1,1,1,1]"), *seed = g_input(g, "dy", &ty, NULL);
    if (of < 0 || !ts_chain_rule(g, 1, &y, &seed, 2, in, grad))
        return y;
    return grad[of];
}

static const node *window(graph *g)
{
    return windows(g, -1);
}

static const node *window_input(graph *g)
{
    return windows(g, 0);
}

static const node *window_weight(graph *g)
{
    return windows(g, 1);
}

/* Vectors run along channels, of which the operand without a window is copied; windows are read where they are. */
static void test_windows(void)
{
    guessed(window, 1, "oc/32+b n oh ow/14 kh kw ic ow@unroll oc@vector");
    guessed(window, 2, "n/4@core oc/32+b n oh ow/14 kh kw ic ow@unroll oc@vector");
    guessed(window, 4, "n/2@core oc/32+b n oh ow/14 kh kw ic ow@unroll oc@vector");
    guessed(window_input, 2, "oc/32@core+b n oh ow/14 kh kw ic ow@unroll oc@vector");
    guessed(window_weight, 1, "b3/48 f/3+b b2/8 b1 b f f1 f2 b2@unroll b3@vector");
    guessed(window_weight, 2, "b3/48@core f/3+b b2/8 b1 b f f1 f2 b2@unroll b3@vector");
}

/* Columns side by side, of which one is zeros: a[n], 0, b[n] */
static const node *columns(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 1, .dim = {1000}};
    const node *a = g_input(g, "a", &t, NULL), *part[] = {a, g_filled(g, &t, 0), g_input(g, "b", &t, NULL)};
    return g_callf(g, 3, part, "stack axis=1");
}

/* The same of what one kernel computes before, rows by rows: each column is taken where it is. */
static const node *computed_columns(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 1, .dim = {4000}};
    const node *a = g_input(g, "a", &t, NULL), *root = g_call1(g, "sqrt", a), *way = g_call2(g, "divide", a, root);
    const node *part[] = {g_call2(g, "multiply", root, way), g_filled(g, &t, 0), g_call2(g, "add", root, way)};
    return g_callf(g, 3, part, "stack axis=1");
}

static void test_columns(void)
{
    guessed(columns, 1, "r/16 c@unroll r@vector");
    guessed(computed_columns, 1,
            "r/128 ; sqrt: r@vector ; divide: r@vector ; multiply: r@vector ; add: r@vector ; concat: r/16 e@unroll "
            "r@vector");
}

int main(void)
{
    test_windows();
    test_columns();
    test_tiles();
    test_fresh_products();
    test_row_products();
    test_vector_products();
    test_tall_products();
    test_row_blocks();
    test_shared();
    test_pieces();
    test_residual();
    test_weights();
    return check_done();
}
