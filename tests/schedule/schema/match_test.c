/* Which kernels, stages and operations a rule is for: by every name that explain prints of them. */
#include "schedule/schema/schema.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <string.h>

static const node *weight(graph *g, const char *label, int64_t a, int64_t b)
{
    const int64_t dim[] = {a, b};
    return ts_weight(g, label, TS_F32, b ? 2 : 1, dim, 0, 1, 1);
}

static const node *named(graph *g, const node *n, const char *label)
{
    g_label(g, n, label);
    return n;
}

/* As exporters write a projection and what follows it: the product and the sum have labels of their own. */
static const node *exported(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {16, 64}};
    const node *x = g_input(g, "hidden", &t, 0), *w = weight(g, "query.weight", 64, 64);
    const node *y = named(g, g_call2(g, "matmul", x, w), "/query/MatMul");
    y = named(g, g_call2(g, "add", y, weight(g, "query.bias", 64, 0)), "/query/Add");
    y = named(g, g_call1(g, "gelu", y), "/act/Gelu");
    const node *z = named(g, g_call2(g, "matmul", y, weight(g, "out.weight", 64, 48)), "/out/MatMul");
    z = g_call3(g, "layer_norm axis=-1 epsilon=1e-5", z, weight(g, "norm.weight", 48, 0),
                weight(g, "norm.bias", 48, 0));
    return named(g, z, "/out/Norm");
}

/* The kernels (or stages, as "k1.exp") that one rule with these conditions decides. */
static void decides(maker *make, const char *match, const char *want)
{
    char rules[300];
    planned b;
    text t = {0};
    snprintf(rules, sizeof rules, "{\"name\":\"r\",\"match\":{%s},\"loops\":\"guess\"}", match);
    if (make_plan(&b, &(setting){make, two_cores, "avx512", rules, 2}))
        for (int i = 0; i < b.p->n_kernel; i++) {
            if (schema_match(b.p->schema, &b.p->kernel[i], 0) == 0)
                text_add(&t, "k%d %s;", i, b.p->kernel[i].op);
            for (int s = 0; s < b.p->kernel[i].n_stage; s++)
                if (schema_match_stage(b.p->schema, &b.p->kernel[i], s, 0) == 0)
                    text_add(&t, "k%d.%s;", i, b.p->kernel[i].stage[s].name);
        }
    if (strcmp(text_str(&t), want))
        printf("  %s\n", match);
    CHECK_TEXT(text_str(&t), want);
    text_free(&t);
    free_plan(&b);
}

static void test_names(void)
{
    decides(exported, "\"name\":\"/act/Gelu\"", "k0 matmul;"); /* the label; who reads it is not meant */
    decides(exported, "\"name\":\"query.weight\"", "k0 matmul;");
    decides(exported, "\"name\":\"query.bias\"", "k0 matmul;");
    decides(exported, "\"name\":\"hidden\"", "k0 matmul;");
    decides(exported, "\"name\":\"/query/MatMul\"", "k0 matmul;"); /* what it does, before what follows */
    decides(exported, "\"name\":\"query\"", "");
    decides(exported, "\"name\":\"query.weight\",\"op\":\"softmax\"", "");
    decides(exported, "\"name\":\"*.weight\",\"dims\":{\"n\":\"48\"}", "k1 matmul;");
    decides(exported, "\"name\":\"*\"", "k0 matmul;k1 matmul;k2 layer_norm;");
    decides(attention, "\"name\":\"q\"", "k0.matmul;");
}

static void test_stages(void)
{
    decides(exported, "\"name\":\"norm.bias\"", "k2.add;"); /* it is one stage that reads it */
    decides(exported, "\"name\":\"norm.bias\",\"op\":\"add\"", "k2.add;");
    decides(exported, "\"name\":\"norm.bias\",\"op\":\"mean\"", "");
    decides(exported, "\"name\":\"norm.bias\",\"op\":\"layer_norm\"", "k2 layer_norm;"); /* the group is asked for */
    decides(exported, "\"name\":\"/out/Norm\"", "k2 layer_norm;");
    decides(exported, "\"stage\":\"subtract\"", "k2.subtract;");
    decides(exported, "\"stage\":\"mean*\",\"op\":\"layer_norm\"", "k2.mean;k2.mean2;");
    decides(exported, "\"stage\":\"*\",\"op\":\"mean\"", "k2.mean;k2.mean2;");
    decides(exported, "\"stage\":\"*\",\"dims\":{\"c\":\">1\"}", "k2.mean;k2.mean2;");
    decides(exported, "\"stage\":\"mean\",\"name\":\"/out/Norm\"", "k2.mean;");
    decides(exported, "\"stage\":\"mean\",\"name\":\"query.weight\"", "");
    decides(attention, "\"stage\":\"matmul2\"", "k0.matmul2;");
}

/* Every kernel that computes something, with the rule that it follows */
static void apart(const char *rules, const char *want)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){exported, two_cores, "avx512", rules, 2}))
        for (int i = 0; i < b.p->n_kernel; i++)
            text_add(&t, "%s %s: %s;", b.p->kernel[i].op, b.p->kernel[i].label, b.p->kernel[i].rule);
    CHECK_TEXT(text_str(&t), want);
    text_free(&t);
    free_plan(&b);
}

static void test_apart(void) /* labels from before and from after serve */
{
    static const char all[] = "matmul /query/MatMul: r;add /query/Add: guess;gelu /act/Gelu: r;matmul /out/MatMul: "
                              "guess;layer_norm /out/Norm: guess;";
    apart("{\"name\":\"r\",\"match\":{\"name\":\"/act/Gelu\"},\"fuse\":\"none\",\"loops\":\"guess\"}", all);
    apart("{\"name\":\"r\",\"match\":{\"name\":\"/query/MatMul\"},\"fuse\":\"none\"}",
          "matmul /query/MatMul: r;add /query/Add: guess;gelu /act/Gelu: guess;matmul /out/MatMul: guess;layer_norm "
          "/out/Norm: guess;");
    apart("{\"name\":\"r\",\"match\":{\"name\":\"/query/Add\"},\"fuse\":\"none\"}",
          "matmul /query/MatMul: guess;add /query/Add: r;gelu /act/Gelu: guess;matmul /out/MatMul: guess;layer_norm "
          "/out/Norm: guess;");
}

static void unused(maker *make, const char *match, const char *want)
{
    char rules[300];
    planned b;
    text t = {0};
    snprintf(rules, sizeof rules, "{\"name\":\"r\",\"match\":{%s},\"loops\":\"guess\"}", match);
    if (make_plan(&b, &(setting){make, two_cores, "avx512", rules, 2})) {
        schema_unused(b.p->schema, b.p, b.p->rule_used, &t);
        const char *at = strstr(text_str(&t), "rule \"r\" decides no kernel: ");
        CHECK_TEXT(at ? at + strlen("rule \"r\" decides no kernel: ") : "", want);
    }
    text_free(&t);
    free_plan(&b);
}

static void test_nearest(void)
{
    unused(exported, "\"name\":\"*qeury.weight\"",
           "none fits; nearest are matmul query.weight m=16 n=64 k=64; matmul out.weight m=16 n=48 k=64; layer_norm "
           "norm.weight r=16 e=48\n");
    unused(exported, "\"op\":\"layer_norm\",\"name\":\"norm\"",
           "none fits; nearest are layer_norm norm.weight r=16 e=48\n");
    unused(exported, "\"op\":\"gelu\"",
           "gelu is computed within other kernels, as in matmul /act/Gelu; \"fuse\": \"none\" makes it one\n");
    unused(exported, "\"op\":\"conv2d\"", "the plan has none of its operations; it has matmul, layer_norm\n");
    unused(exported, "\"stage\":\"max\"",
           "no stage fits; there are mean, subtract, mean2, add in k2 layer_norm /out/Norm\n");
    unused(product, "\"stage\":\"mean\"", "no stage fits; there are none: each kernel is one\n");
}

int main(void)
{
    test_names();
    test_stages();
    test_apart();
    test_nearest();
    return check_done();
}
