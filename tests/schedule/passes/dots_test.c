/* What the guess makes of products of integers on each instruction set, and what is refused. */
#include "graph/ir/rule.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <string.h>

static const node *product_of(graph *g, int64_t deep)
{
    const type a = {TS_U8, 2, {32, deep}}, b = {TS_I8, 2, {deep, 96}};
    return g_call2(g, "integer_matmul", g_leaf(g, op_find("input"), "x", &a, &(leaf){.kind = LEAF_INPUT}),
                   g_leaf(g, op_find("weight"), "w", &b, &(leaf){.kind = LEAF_WEIGHT}));
}

static const node *whole(graph *g)
{
    return product_of(g, 128);
}

static const node *odd(graph *g) /* sums of no multiple of what an instruction takes */
{
    return product_of(g, 127);
}

static const node *of_eight(graph *g, const node *x, double step, const char *to) /* rounded to them and back */
{
    const attr as = attr_word("to", to);
    dtype d = TS_U8;
    MUST(dtype_parse(to, &d));
    const node *scale = g_scalar(g, TS_F32, step), *zero = g_scalar(g, d, 0);
    x = g_make(g, op_find("quantize"), 3, (const node *const[]){x, scale, zero}, &as, 1);
    return g_make(g, op_find("dequantize"), 3, (const node *const[]){x, scale, zero}, NULL, 0);
}

static const node *image_of(graph *g, int64_t channels, int64_t side, const char *conv)
{
    const type x = {TS_F32, 4, {1, channels, 14, 14}}, w = {TS_F32, 4, {64, channels, side, side}};
    const node *input = g_leaf(g, op_find("input"), "x", &x, &(leaf){.kind = LEAF_INPUT}),
               *weight = g_leaf(g, op_find("weight"), "w", &w, &(leaf){.kind = LEAF_WEIGHT});
    return g_call2(g, conv, of_eight(g, input, 0.02, "u8"), of_eight(g, weight, 0.01, "i8"));
}

static const node *pixels(graph *g)
{
    return image_of(g, 64, 1, "conv2d");
}

static const node *windows(graph *g)
{
    return image_of(g, 32, 3, "conv2d strides=[2,2] pads=[1,1,1,1]");
}

static const node *colours(graph *g) /* too few channels */
{
    return image_of(g, 3, 3, "conv2d");
}

static void guessed(maker *make, const char *set, const char *end)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){make, two_cores, set, NULL, 1}))
        nest_print(&t, &b.p->kernel[b.p->n_kernel - 1], false);
    const size_t n = strlen(text_str(&t)), m = strlen(end);
    if (!CHECK(n >= m && !strcmp(text_str(&t) + n - m, end)))
        printf("%s: %s\n", set, text_str(&t));
    text_free(&t), free_plan(&b);
}

/* what: the operation with what it multiplies, as rules name it */
static void refused(maker *make, const char *set, const char *what, const char *loops, const char *why)
{
    char rules[160], want[640];
    snprintf(rules, sizeof rules, "{\"loops\":\"%s\"}", loops);
    snprintf(want, sizeof want,
             "test.json:2:10 (/rules/0/loops): rule \"rule 0\" on %s: every alternative is refused:\n  loops \"%s\"%s\n"
             "  hint: add \"guess\" to its loops, or \"optional\": true to pass on to the next rule",
             what, loops, why);
    plan_is_refused(&(setting){make, two_cores, set, rules, 1}, TS_BAD_INPUT, want);
}

/* An instruction takes products where the loop says so: 32 rows of 96 sums of 128, so many at once. */
static void taken(const char *set, int lanes, int at_once)
{
    planned b;
    op_counts n = {0};
    if (make_plan(&b, &(setting){whole, two_cores, set, NULL, 1}))
        CHECK(b.on.count(b.p, &b.p->kernel[b.p->n_kernel - 1], &n, NULL) &&
              n.dots == 32.0 * 96 * 128 / lanes / at_once);
    free_plan(&b);
}

int main(void)
{
    taken("avx512vnni", 16, 4);
    taken("avx2", 8, 2);
    guessed(whole, "avx512vnni", " k/16 k/4@unroll m@unroll n@vector k@dot");
    guessed(whole, "avx512", " k/8 k/2@unroll m@unroll n@vector k@dot");
    guessed(whole, "avx2", " k/8 k/2@unroll m@unroll n@vector k@dot");
    guessed(whole, "plain", " k/4 k@unroll m@unroll n@vector");
    guessed(pixels, "avx512vnni", " kh kw ic/16 ic/16 ic/4@unroll ow@unroll oc/16@unroll oc@vector ic@dot");
    guessed(windows, "avx512vnni", " kh kw ic/16 ic/4 ow@unroll oc/16@unroll oc@vector ic@dot");
    guessed(colours, "avx512vnni", " ow@unroll oc@vector");
    guessed(windows, "avx512", " ic ow@unroll oc/16@unroll oc@vector"); /* as reals */
    guessed(odd, "avx512vnni", " k/4 k@unroll m@unroll n@vector");
    static const char takes[] = ": @dot takes a sum in i32 of products of u8 and i8, 4 at once along its first folded "
                                "axis, of which there is a "
                                "multiple; the vector loop walks the second operand";
    refused(whole, "plain", "integer_matmul w", "m n/8 k/4 n@vector k@dot", ": plain has no instruction for @dot");
    refused(whole, "avx512vnni", "integer_matmul w", "m n/16 k/8 n@vector k@dot", takes);
    refused(whole, "avx512vnni", "integer_matmul w", "m n/16 k/4 n@unroll k@dot",
            ", column 21: the dot loop must be within one over lanes");
    refused(small_product, "avx512vnni", "matmul ", "m n/16 k/4 n@vector k@dot", takes);
    return check_done();
}
