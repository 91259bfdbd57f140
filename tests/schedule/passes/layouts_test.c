/* Layouts of inputs, of values between kernels and of results, by rule: where they lie, and what is copied for it. */
/* ctest: fast */
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <string.h>

/* "convert x > matmul y > convert y", and the order of dimensions in which each kernel's result lies */
static void said(const plan *p, text *out)
{
    static const char *const dim[] = {"d0", "d1", "d2", "d3"};
    for (int i = 0; i < p->n_kernel; i++) {
        const kernel *k = &p->kernel[i];
        const stage *s = &k->stage[k->n_stage - 1];
        text_add(out, "%s%s: ", i ? "; " : "", k->op);
        layout_print(out, &p->buffer[s->node->id].layout, dim);
    }
}

static void follows(maker *make, const char *rules, const char *want, const char *notes)
{
    planned b;
    text t = {0}, all = {0};
    if (make_plan(&b, &(setting){make, two_cores, "avx512", rules, 2})) {
        said(b.p, &t);
        for (int i = 0; i < b.p->n_kernel; i++)
            if (!b.p->kernel[i].converts)
                text_add(&all, "%s", b.p->kernel[i].notes);
        CHECK_TEXT(text_str(&t), want);
        CHECK_TEXT(text_str(&all), notes);
    }
    text_free(&t), text_free(&all);
    free_plan(&b);
}

/* y = w (v x): two products of 24 x 36 x 36 */
static const node *two_products(graph *g)
{
    const int64_t x[] = {24, 36}, w[] = {36, 36};
    const node *a = g_call2(g, "matmul", ts_input(g, "x", TS_F32, 2, x), ts_weight(g, "v", TS_F32, 2, w, 0, 1, 1));
    return g_call2(g, "matmul", a, ts_weight(g, "w", TS_F32, 2, w, 0, 1, 2));
}

static const node *batch(graph *g) /* m is 3 batches of 14 rows */
{
    const int64_t x[] = {3, 14, 32}, w[] = {32, 48};
    return g_call2(g, "matmul", ts_input(g, "x", TS_F32, 3, x), ts_weight(g, "w", TS_F32, 2, w, 0, 1, 1));
}

#define FIRST "{\"match\":{\"name\":\"v\"},\"layout\":"
#define SECOND "{\"match\":{\"name\":\"w\"},\"layout\":"

static void test_between(void)
{
    follows(two_products, FIRST "{\"y\":\"n/16 m n\"}}", "matmul: d1/16 d0 d1; matmul: d0 d1", "");
    follows(two_products, SECOND "{\"a\":\"k/9 m/4 k m\"}}", "matmul: d1/9 d0/4 d1 d0; matmul: d0 d1", "");
    follows(two_products, FIRST "{\"y\":\"n/tile m n\"}}", "matmul: d1/36 d0 d1; matmul: d0 d1", "");
    /* the one before has the say: what asks for another gets a copy */
    follows(two_products, FIRST "{\"y\":\"n/16 m n\"}}," SECOND "{\"a\":\"k m\"}}",
            "matmul: d1/16 d0 d1; convert: d1 d0; matmul: d0 d1", "");
    follows(two_products, FIRST "{\"y\":\"n/16 m n\"}}," SECOND "{\"a\":\"k/16 m k\"}}",
            "matmul: d1/16 d0 d1; matmul: d0 d1", "");
}

static void test_ends(void)
{
    follows(two_products, FIRST "{\"a\":\"k m\"}}", "convert: d1 d0; matmul: d0 d1; matmul: d0 d1", "");
    follows(two_products, SECOND "{\"y\":\"n m\"}}", "matmul: d0 d1; matmul: d1 d0; convert: d0 d1", "");
    follows(two_products, SECOND "{\"y\":\"m n\"}}", "matmul: d0 d1; matmul: d0 d1", ""); /* it does */
    follows(batch, "{\"layout\":{\"a\":\"k/16 m/28 k m\",\"y\":\"m/7 n m n\"}}",
            "convert: d2/16 d0/2 d2 d0 d1; matmul: d0 d1/7 d2 d1 d2; convert: d0 d1 d2", "");
    follows(batch, "{\"layout\":{\"y\":\"d2 d0 d1\"}}", "matmul: d2 d0 d1; convert: d0 d1 d2", "");
}

/* Depthwise: 32 channels of an input in rows go into blocks once; what a product reads as single numbers does not. */
static const node *depthwise(graph *g)
{
    const int64_t x[] = {1, 32, 12, 12}, w[] = {32, 1, 3, 3}, v[] = {16, 32, 1, 1};
    const node *y = g_call2(g, "conv2d group=32 pads=[1,1,1,1]", ts_input(g, "x", TS_F32, 4, x),
                            ts_weight(g, "w", TS_F32, 4, w, 0, 1, 1));
    return g_call2(g, "conv2d", y, ts_weight(g, "v", TS_F32, 4, v, 0, 1, 2));
}

static void test_gathered(void)
{
    follows(depthwise, NULL, "convert: d0 d1/16 d2 d3 d1; conv2d: d0 d1/16 d2 d3 d1; conv2d: d0 d1 d2 d3", "");
    follows(convolution, NULL, "conv2d: d0 d1 d2 d3", "");
}

static void test_refused(void)
{
    follows(two_products, FIRST "{\"f\":\"k m\"}}", "matmul: d0 d1; matmul: d0 d1",
            "layout of f by rule \"rule 0\" left aside: there is no such operand\n");
    plan_is_refused(
        &(setting){two_products, two_cores, "avx512", FIRST "{\"y\":\"n q m\"}}", 2}, TS_BAD_INPUT,
        "test.json:2:1 (/rules/0): rule \"rule 0\" on matmul v, operand y: layout \"n q m\": the tensor has "
        "no dimension q\n  hint: its dimensions are: m n");
    plan_is_refused(&(setting){batch, two_cores, "avx512", "{\"layout\":{\"y\":\"m/20 n m\"}}", 2}, TS_BAD_INPUT,
                    "test.json:2:1 (/rules/0): rule \"rule 0\" on matmul w, operand y: layout \"m/20 n m\": m is of "
                    "several dimensions, whose steps are less than the last or a multiple of it");
}

int main(void)
{
    test_between();
    test_ends();
    test_gathered();
    test_refused();
    return check_done();
}
