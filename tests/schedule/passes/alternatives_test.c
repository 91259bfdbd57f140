/* Where an operation knows a cheaper way it is taken, unless a rule or an option says otherwise. */
#include "backends/cpu/cpu.h"
#include "schedule/explain/explain.h"
#include "schedule/nest/nest.h"
#include "schedule/schema/schema.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <string.h>

static const node *chain(graph *g) /* two convolutions that gain, each with a bias */
{
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {1, 64, 12, 12}};
    const node *y = g_input(g, "x", &t, 0);
    for (int i = 0; i < 2; i++) {
        const node *w = ts_weight(g, i ? "v" : "w", TS_F32, 4, (const int64_t[]){64, 64, 3, 3}, 0, 1, 1),
                   *c = ts_weight(g, i ? "c" : "b", TS_F32, 4, (const int64_t[]){1, 64, 1, 1}, 0, 1, 1);
        y = ts_call2(g, "conv2d pads=[1,1,1,1]", y, w);
        g_label(g, y, i ? "second" : "first");
        y = ts_call1(g, "relu", ts_call2(g, "add", y, c));
    }
    return y;
}

static const node *wide(graph *g, int64_t k) /* k x k, k x 2k, 2k x k: 36, 72 and 72 MiB of weights for k = 3072 */
{
    const int64_t dim[] = {k, k, 2 * k, k};
    static const char *const name[] = {"u", "v", "w"};
    const node *y = g_input(g, "x", &(type){.dtype = TS_F32, .rank = 2, .dim = {128, k}}, 0);
    for (int i = 0; i < COUNT(name); i++)
        y = ts_call2(g, "matmul", y, ts_weight(g, name[i], TS_F32, 2, dim + i, 0, 1, 1));
    return y;
}

static const node *stretched(graph *g) /* the way back through strides, with weights that change */
{
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {4, 64, 14, 14}}, w = {TS_F32, 4, {64, 32, 3, 3}};
    return ts_call2(g, "conv_transpose strides=[2,2] pads=[1,1,1,1] output_padding=[1,1]", g_input(g, "x", &t, NULL),
                    g_input(g, "w", &w, NULL));
}

static const node *update(graph *g) /* a layer forth and back, the gradient of whose value is the value */
{
    const node *x = g_input(g, "x", &(type){TS_F32, 3, {8, 128, 768}}, 0),
               *w = g_input(g, "w", &(type){TS_F32, 2, {768, 3072}}, 0), *y = ts_call2(g, "matmul", x, w);
    const node *dx = ts_call2(g, "matmul", y, ts_call1(g, "transpose", w)),
               *dw = ts_call2(g, "matmul", ts_call1(g, "transpose", ts_call1(g, "reshape shape=[1024,768]", x)),
                              ts_call1(g, "reshape shape=[1024,3072]", y));
    return ts_call2(g, "add", ts_call1(g, "sum", dx), ts_call1(g, "sum", dw));
}

static const node *small(graph *g)
{
    return wide(g, 1024);
}

static const node *first_row(graph *g)
{
    return ts_call1(g, "slice starts=[0,0] sizes=[1,1024] steps=[1,1]", small(g));
}

static const node *few_rows(graph *g)
{
    return ts_call2(g, "matmul", g_input(g, "x", &(type){.dtype = TS_F32, .rank = 2, .dim = {64, 64}}, 0),
                    ts_weight(g, "w", TS_F32, 2, (const int64_t[]){64, 64}, 0, 1, 1));
}

static const node *large(graph *g)
{
    return wide(g, 3072);
}

/* Without rules a second time, too: nodes that the first plan made of the graph change nothing. */
static void kernels_of(const node *(*make)(graph *g), const char *rules, const char *want)
{
    planned b;
    err e = {0};
    make_plan(&b, &(setting){make, two_cores, "avx512", rules, 2});
    for (int turn = 0; b.p && turn < (rules ? 1 : 2); turn++) {
        ENDED_BY(text_free) text t = {0};
        plan *p = turn ? plan_make(b.g, 1, &b.root, &(plan_options){.on = &b.on, .target = "c"}, &e) : b.p;
        for (int i = 0; p && i < p->n_kernel; i++)
            text_add(&t, "%s%s", i ? " " : "", p->kernel[i].op);
        CHECK_TEXT(text_str(&t), want);
        plan_free(turn ? p : NULL);
    }
    for (int i = 0; b.p && b.p->schema && i < b.p->schema->n_rule; i++)
        CHECK(b.p->rule_used[i]);
    free_plan(&b);
}

/* What a reader of the plan takes each kernel to compute: what it stands for, by which name and way. */
static void works_of(const node *(*make)(graph *g), const char *want)
{
    planned b;
    text t = {0}, all = {0};
    if (make_plan(&b, &(setting){make, two_cores, "avx512", NULL, 2}))
        plan_explain(b.p, "c", "", &all);
    for (const char *at = text_str(&all); (at = strstr(at, "\"work\":{")); at++) {
        char whose[32] = "", label[32] = "", by[32] = "";
        sscanf(at, "\"work\":{\"operation\":\"%31[^\"]\",\"label\":\"%31[^\"]\",\"flops\":%*f,\"by\":\"%31[^\"]", whose,
               label, by);
        text_add(&t, "%s%s %s %s", t.length ? ", " : "", whose, label, by);
    }
    CHECK_TEXT(text_str(&t), want);
    text_free(&t), text_free(&all);
    free_plan(&b);
}

static void kernels(const char *rules, const char *want)
{
    kernels_of(chain, rules, want);
}

static void loops(int at, const char *want)
{
    planned b;
    text t = {0};
    if (make_plan(&b, &(setting){chain, two_cores, "avx512", NULL, 2})) {
        nest_print(&t, &b.p->kernel[at], false);
        CHECK_TEXT(text_str(&t), want);
    }
    text_free(&t);
    free_plan(&b);
}

static void as_asked(void)
{
    graph *g = ts_graph_make();
    machine on;
    err e = {0};
    const node *root = chain(g);
    CHECK(machine_load(&on, two_cores, &e));
    for (int i = 0; i < 2; i++) {
        target made;
        const plan_options w = {.on = &made, .target = "c", .as_written = i == 1};
        cpu_target_of(&made, &on, isa_find("avx512"), 1);
        plan *p = plan_make(g, 1, &root, &w, &e);
        CHECK(p && p->n_kernel == (i ? 2 : 6) && (p->root[0] == root) == (i == 1));
        plan_free(p);
    }
    ts_graph_free(g);
}

int main(void)
{
    /* None shares loops with what puts them together: images and channels would be read again for every row. */
    kernels_of(stretched, NULL, "conv_transpose conv_transpose conv_transpose conv_transpose element");
    kernels(NULL, "winograd_tiles contract relu winograd_tiles contract relu");
    kernels("{\"match\":{\"op\":\"conv2d\"},\"compute\":\"f32\"}", "conv2d conv2d");
    kernels("{\"match\":{\"op\":\"conv2d\"},\"loops\":\"guess\"}", "conv2d conv2d");
    kernels("{\"match\":{\"op\":\"contract\"},\"loops\":\"guess\"}",
            "winograd_tiles contract relu winograd_tiles contract relu");
    loops(0, "ic/16 th@core tw i@unroll j@unroll ic@vector");
    loops(2, "b1/16 b/2 e/2 b@unroll e@unroll b1@vector");
    as_asked();
    /* The largest first, as long as there is room: 64 MiB here, where each but the first takes 54 more. */
    kernels_of(small, NULL,
               "strassen_blocks contract strassen_sums strassen_blocks contract strassen_sums strassen_blocks contract "
               "formula");
    works_of(small, "matmul u Strassen, matmul u Strassen, matmul u Strassen, matmul v Strassen, matmul v Strassen, "
                    "matmul v Strassen, matmul w Strassen, matmul w Strassen, matmul w Strassen");
    works_of(chain, "conv2d w Winograd, conv2d w Winograd, conv2d w Winograd, conv2d v Winograd, conv2d v Winograd, "
                    "conv2d v Winograd");
    /* One row of each is needed; pairs would be computed. */
    kernels_of(first_row, NULL, "matmul matmul matmul slice");
    kernels_of(large, NULL, "matmul strassen_blocks contract strassen_sums matmul");
    /* What reads one matrix goes first, and together: 12 MiB each, of which five would fit. */
    kernels_of(triples, NULL, "strassen_blocks contract contract contract add matmul matmul matmul matmul matmul");
    kernels_of(small, "{\"match\":{\"op\":\"matmul\"},\"compute\":\"f32\"}", "matmul matmul matmul");
    kernels_of(small, "{\"match\":{\"op\":\"matmul\"},\"alternative\":false}", "matmul matmul matmul");
    /* costs speak against it */
    kernels_of(few_rows, NULL, "matmul");
    kernels_of(few_rows, "{\"match\":{\"op\":\"matmul\"},\"alternative\":true}",
               "strassen_blocks contract strassen_sums");
    /* What is summed once of x and y serves two products each; sums of w are made where they are read. */
    kernels_of(update, NULL,
               "strassen_blocks strassen_blocks contract strassen_sums strassen_blocks strassen_blocks contract "
               "contract sum sum");
    return check_done();
}
