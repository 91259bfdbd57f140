/* Rules for stages of kernels: own loops under what the stages share, alternatives, which rule goes first, layouts. */
/* ctest: fast */
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <string.h>

#define SHARED "h@core+matmul.b q/24 ; "
#define MATMUL "matmul: n/16 q/6 k/4 k@unroll q@unroll n@vector ; "
#define MAX "max: q c@vector ; "
#define ROWS "exp: q e@vector ; sum: q c@vector ; divide: q e@vector ; "
#define MATMUL2 "matmul2: n/16 q/6 k/4 k@unroll q@unroll n@vector"
#define EIGHT "h q/8 ; matmul: n/16 q/4 k/4 k@unroll q@unroll n@vector ; " /* queries */
#define EIGHT2 "matmul2: q/2 k/4 k@unroll q@unroll n@vector"

static void planned_as(maker *make, const char *rules, const char *want, const char *notes)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){make, two_cores, "avx2", rules, 2})) {
        nest_print(&t, b.p->kernel, false);
        CHECK_TEXT(text_str(&t), want);
        CHECK_TEXT(b.p->kernel->notes, notes);
    }
    text_free(&t);
    free_plan(&b);
}

static void test_stages(void)
{
    planned_as(attention, NULL, SHARED MATMUL MAX ROWS MATMUL2, "");
    planned_as(attention, "{\"match\":{\"stage\":\"max\"},\"loops\":\"c/8 q c@vector\"}",
               SHARED MATMUL "max: c/8 q c@vector ; " ROWS MATMUL2, "");
    /* the axes that the stages share may be named, by what the stage's operation calls them, too */
    planned_as(attention, "{\"match\":{\"stage\":\"matmul2\"},\"loops\":\"b1 b m/8 n k m\"}",
               SHARED MATMUL MAX ROWS "matmul2: q/8 n k q", "");
    planned_as(attention, "{\"match\":{\"name\":\"v\"},\"loops\":\"q k n@vector\"}",
               SHARED MATMUL MAX ROWS "matmul2: q k n@vector", "");
    planned_as(attention, "{\"match\":{\"stage\":\"max\"},\"loops\":[\"q\",\"q c\"]}",
               SHARED MATMUL "max: q c ; " ROWS MATMUL2,
               "stage max: loops \"q\", column 2: no loop c without a step: every axis ends in one\n");
    planned_as(attention, "{\"match\":{\"stage\":\"max\"},\"loops\":[\"q\",\"guess\"]}", SHARED MATMUL MAX ROWS MATMUL2,
               "stage max: loops \"q\", column 2: no loop c without a step: every axis ends in one\n");
}

/* What is written for the kernel stands against a rule behind it, and gives way to one before. */
static void test_first(void)
{
    static const char kernel_rule[] = "{\"match\":{\"op\":\"attention\"},\"loops\":\"h q/8 ; max: q c\"}",
                      stage_rule[] = "{\"match\":{\"stage\":\"m*\",\"op\":\"max\"},\"loops\":\"q/8 q c@vector\"}",
                      other_rule[] = "{\"match\":{\"stage\":\"exp\"},\"loops\":\"q e\"}";
    char rules[400];
    snprintf(rules, sizeof rules, "%s,%s", kernel_rule, stage_rule);
    planned_as(attention, rules, EIGHT "max: q c ; " ROWS EIGHT2, "");
    snprintf(rules, sizeof rules, "%s,%s", stage_rule, kernel_rule);
    planned_as(attention, rules, EIGHT "max: q/8 q c@vector ; " ROWS EIGHT2, "");
    snprintf(rules, sizeof rules, "%s,%s", kernel_rule, other_rule);
    planned_as(attention, rules, EIGHT "max: q c ; exp: q e ; sum: q c@vector ; divide: q e@vector ; " EIGHT2, "");
}

/* Convolutions that share the images: loops of one convolution are for each of them. */
static const node *chain(graph *g)
{
    const int64_t x[] = {2, 8, 6, 6}, w[] = {8, 8, 1, 1};
    const node *y = ts_input(g, "x", TS_F32, 4, x);
    static const char *const label[] = {"first", "second"};
    for (int i = 0; i < 2; i++)
        y = g_call1(g, "relu",
                    g_call2(g, "conv2d strides=[1,1] pads=[0,0,0,0]", y,
                            ts_weight(g, label[i], TS_F32, 4, w, 0, 1, (uint64_t)i)));
    return y;
}

static void test_each(void)
{
    planned_as(chain, "{\"match\":{\"op\":\"conv2d\"},\"loops\":\"n oc oh ow ic kh kw\"}",
               "r/2 ; conv2d: r oc ow ic kh kw ; conv2d2: r oc ow ic kh kw", "");
    planned_as(chain, "{\"match\":{\"name\":\"second\"},\"loops\":\"n ow oc ic kh kw\"}",
               "r/2 ; conv2d: r ow/8 oc/8 ic kh kw oc@unroll ow@vector ; conv2d2: r ow oc ic kh kw", "");
    plan_is_refused(
        &(setting){chain, two_cores, "avx2",
                   "{\"name\":\"r\",\"match\":{\"op\":\"conv2d\"},\"loops\":\"n oc ow ic kh kw q\"}", 2},
        TS_BAD_INPUT,
        "test.json:2:45 (/rules/0/loops): rule \"r\" on conv2d first: every alternative is refused:\n"
        "  stage conv2d: loops \"n oc ow ic kh kw q\", column 18: no axis \"q\" here; the axes are: r oc ow ic kh "
        "kw\n"
        "  hint: add \"guess\" to its loops, or \"optional\": true to pass on to the next rule");
}

static void test_layouts(void)
{
    planned b;
    static const char *const letter[] = {"oc", "ic", "kh", "kw"};
    static const char rules[] =
        "{\"match\":{\"name\":\"second\"},\"layout\":{\"b\":\"ic oc kh kw\",\"conv2d9.b\":\"ic\"}},"
        "{\"match\":{\"op\":\"conv2d\"},\"layout\":{\"conv2d.b\":\"oc/4 ic oc kh kw\"}}";
    if (make_plan(&b, &(setting){chain, two_cores, "avx2", rules, 2})) {
        text t = {0};
        for (int i = 0; i < b.p->n_leaf; i++)
            layout_print(&t, &b.p->leaf[i].layout, letter), text_add(&t, ";");
        CHECK_TEXT(text_str(&t), "oc/4 ic oc kh kw;ic oc kh kw;");
        CHECK_TEXT(b.p->kernel->notes, "layout of conv2d9.b by rule \"rule 0\" left aside: there is no such stage\n");
        text_free(&t);
    }
    free_plan(&b);
}

int main(void)
{
    test_stages();
    test_first();
    test_each();
    test_layouts();
    return check_done();
}
