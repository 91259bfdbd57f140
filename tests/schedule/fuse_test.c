/* What becomes one kernel, and which loops its stages share. */
#include "backends/cpu/cpu.h"
#include "graph/ir/rule.h"
#include "schedule/plan.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>

/* A plan for two cores, or a failed check; one at a time */
static plan *made(graph *g, int n, const node *const *root)
{
    static machine on;
    static target two;
    err e = {0};
    const bool ok = ts_graph_ok(g, &e) && machine_load(&on, two_cores, &e);
    const plan_options w = {.on = &two, .target = "c"};
    cpu_target_of(&two, &on, isa_find("avx512"), 2);
    plan *p = ok ? plan_make(g, n, root, &w, &e) : NULL;
    if (!CHECK(p != NULL))
        printf("  %s\n", e.text);
    return p;
}

/* Keys and values that are results too, as those of a cache are: they are copied by kernels of their own, and what is
 * computed from them shares heads and queries as it does without. */
static void test_copies_that_are_results(void)
{
    err e = {0};
    graph *g = ts_graph_make();
    const type q = {.dtype = TS_F32, .rank = 4, .dim = {1, 3, 40, 16}},
               k = {.dtype = TS_F32, .rank = 3, .dim = {1, 24, 48}};
    const node *split = g_callf(g, 1, (const node *[]){g_input(g, "k", &k, NULL)}, "reshape shape=[1,24,3,16]"),
               *keys = g_callf(g, 1, &split, "transpose axes=[0,2,1,3]"),
               *seen = g_call3(g, "attention", g_input(g, "q", &q, NULL), keys, keys), *root[] = {keys, seen};
    plan *p = made(g, 2, root);
    if (CHECK(p != NULL) && CHECK(p->n_kernel == 2)) {
        CHECK(p->kernel[0].n_stage == 1);
        CHECK_TEXT(p->kernel[1].op, "attention");
        CHECK(p->kernel[1].n_shared == 2);
    }
    if (!p)
        printf("  %s\n", e.text);
    plan_free(p);
    ts_graph_free(g);
}

/* A batch of which every layer reads one mask, made from an input: attention does not share the batch with what makes
 * the mask, for then it would keep the scores of all heads and queries. */
static void test_mask_of_a_batch(void)
{
    graph *g = ts_graph_make();
    const type t = {.dtype = TS_F32, .rank = 4, .dim = {2, 3, 40, 16}},
               mask = {.dtype = TS_F32, .rank = 4, .dim = {2, 1, 1, 40}};
    const node *x = g_input(g, "x", &t, NULL),
               *bias = g_formula(g, 1, (const node *[]){g_input(g, "mask", &mask, NULL)}, "(a-1)*10000");
    for (int i = 0; i < 2; i++)
        x = g_call(g, "attention", 4, (const node *[]){x, x, x, bias});
    plan *p = made(g, 1, &x);
    for (int k = 1; CHECK(p && p->n_kernel == 3) && k < 3; k++)
        CHECK(p->kernel[k].n_stage == 6 && p->kernel[k].n_shared == 3); /* batch, head, query */
    plan_free(p);
    ts_graph_free(g);
}

/* Expressions that would double with every step, pointwise and in subscripts: cut into kernels of bounded size. */
static void test_doubling(void)
{
    enum { STEPS = 200 };
    graph *g = ts_graph_make();
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {6, 35}};
    const node *sum = g_input(g, "x", &t, NULL), *turned = sum;
    for (int i = 0; i < STEPS; i++) {
        sum = g_call2(g, "add", sum, sum);
        turned = g_callf(g, 1, &turned, i % 2 ? "reshape shape=[6,35]" : "reshape shape=[10,21]");
        turned = g_callf(g, 1, &turned, "transpose");
    }
    const node *root[] = {sum, g_callf(g, 1, &turned, "negative")};
    plan *p = made(g, 2, root);
    if (p)
        CHECK(p->n_kernel > 10 && p->n_kernel < STEPS);
    plan_free(p);
    ts_graph_free(g);
}

/* Pointwise work over the same elements is one kernel, whether one reads the other or both read a third: here a step of
 * an optimizer with two states. What is scaled by one number for two tensors stays two kernels. */
static void test_pointwise_together(void)
{
    err e = {0};
    graph *g = ts_graph_make();
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {300, 700}};
    const node *in[2][3], *root[6], *rate = g_input(g, "rate", &(type){.dtype = TS_F32}, NULL);
    static const char *const name[2][3] = {{"a", "am", "av"}, {"b", "bm", "bv"}};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++)
            in[i][k] = g_input(g, name[i][k], &t, NULL);
        const node *grad = g_call1(g, "exp", in[i][0]),
                   *m = g_formula(g, 2, (const node *[]){in[i][1], grad}, "0.9*a+0.1*b"),
                   *v = g_formula(g, 2, (const node *[]){in[i][2], grad}, "0.99*a+0.01*b*b");
        root[3 * i] = m, root[3 * i + 1] = v;
        root[3 * i + 2] = g_formula(g, 4, (const node *[]){in[i][0], m, v, rate}, "a-d*b/(sqrt(c)+1e-8)");
    }
    plan *p = made(g, 6, root);
    if (CHECK(p != NULL) && CHECK(p->n_kernel == 2))
        CHECK(p->kernel[0].n_stage == 4 && p->kernel[0].n_shared == 1 && p->kernel[1].n_stage == 4);
    if (!p)
        printf("  %s\n", e.text);
    plan_free(p);
    ts_graph_free(g);
}

/* Pointwise work over the same elements, read by several: whatever shares a kernel, no two kernels need each other. */
static void test_order(void)
{
    enum { GRAPHS = 300, NODES = 24 };
    machine on;
    err e = {0};
    CHECK(machine_load(&on, two_cores, &e));
    target two;
    const plan_options w = {.on = &two, .target = "c"};
    cpu_target_of(&two, &on, isa_find("avx512"), 2);
    for (int k = 0; k < GRAPHS; k++) {
        graph *g = ts_graph_make();
        const type t = {.dtype = TS_F32, .rank = 2, .dim = {12, 20}};
        const node *all[NODES] = {g_input(g, "x", &t, NULL), g_input(g, "y", &t, NULL)};
        for (int i = 2; i < NODES; i++) {
            const uint64_t r = quick_hash(&(int[]){k, i}, 2 * sizeof(int), 1);
            const node *a = all[r % (uint64_t)i], *b = all[r / 97 % (uint64_t)i];
            const uint64_t kind = r / 9973 % 5;
            all[i] = kind == 0   ? g_call1(g, "sum axes=[1] keepdims=1", a)
                     : kind == 1 ? g_call1(g, "reshape shape=[12,20]", g_call1(g, "transpose", g_fitted(g, a, &t)))
                     : kind == 2 ? g_call1(g, "floor", a)
                                 : g_call2(g, kind == 3 ? "add" : "multiply", a, b);
        }
        plan *p = ts_graph_ok(g, &e) ? plan_make(g, 3, all + NODES - 3, &w, &e) : NULL;
        if (!CHECK(p != NULL))
            printf("  graph %d: %s\n", k, e.text);
        plan_free(p), ts_graph_free(g);
        e = (err){0};
    }
}

/* A product times 0: nothing of its sum is left to walk. */
static void test_nothing_left(void)
{
    err e = {0};
    graph *g = ts_graph_make();
    const type a = {.dtype = TS_I64, .rank = 2, .dim = {4, 5}}, b = {.dtype = TS_I64, .rank = 2, .dim = {5, 3}};
    const node *product = g_call2(g, "matmul", g_input(g, "a", &a, NULL), g_input(g, "b", &b, NULL)),
               *root[] = {g_call2(g, "multiply", product, g_scalar(g, TS_I64, 0))};
    plan *p = made(g, 1, root);
    if (!CHECK(p != NULL && p->n_kernel == 1))
        printf("  %s\n", e.text);
    plan_free(p);
    ts_graph_free(g);
}

/* The loss of a vocabulary and its gradient: one kernel reads the logits, and nothing else as large is written. */
static void test_loss(void)
{
    int large = 0;
    graph *g = ts_graph_make();
    const type logits = {.dtype = TS_F32, .rank = 3, .dim = {2, 8, 5000}},
               places = {.dtype = TS_I64, .rank = 2, .dim = {2, 8}};
    const node *x = g_input(g, "x", &logits, NULL), *dx;
    const node *loss = g_call2(g, "cross_entropy", x, g_input(g, "label", &places, NULL));
    plan *p = ts_chain_rule(g, 1, &loss, NULL, 1, &x, &dx) ? made(g, 2, (const node *[]){loss, dx}) : NULL;
    for (int k = 0; p && k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            large += type_count(&p->kernel[k].stage[i].node->type) == type_count(&x->type);
    CHECK(large == 1);
    plan_free(p);
    ts_graph_free(g);
}

/* What reads inputs only waits for who reads it. */
static void test_inputs_wait(void)
{
    graph *g = ts_graph_make();
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {64, 64}};
    const node *a = g_input(g, "a", &t, NULL), *b = g_input(g, "b", &t, NULL);
    const node *early = g_call2(g, "matmul", a, b), *y = g_call2(g, "matmul", g_call2(g, "matmul", b, a), a);
    y = g_call2(g, "matmul", y, early);
    plan *p = made(g, 1, &y);
    CHECK(p && p->n_kernel == 4 && p->kernel[2].stage->node == early);
    plan_free(p);
    ts_graph_free(g);
}

/* The norm of a value is taken right behind it, not where it was asked for. */
static void test_sums_are_early(void)
{
    graph *g = ts_graph_make();
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {64, 96}};
    const node *a = g_input(g, "a", &t, NULL), *b = g_call1(g, "transpose", g_input(g, "b", &t, NULL));
    const node *both = g_call2(g, "matmul", a, b), *first = g_call2(g, "matmul", both, both),
               *second = g_call2(g, "matmul", g_call1(g, "transpose", both), both);
    const node *root[] = {first, second, g_call1(g, "sum_square axes=[1]", first)};
    plan *p = made(g, 3, root);
    int k = 0;
    while (p && k < p->n_kernel && p->kernel[k].stage->node != first)
        k++;
    CHECK(p && k + 1 < p->n_kernel && p->kernel[k + 1].stage->node == root[2]);
    plan_free(p);
    ts_graph_free(g);
}

/* y[n,k,i] = sum over j of q[k,i,j] x[n,k,j], squares of which are summed up: in the loops over n and k that both could
 * share, q's slices would be used by one row at a time, small as they may be. With rows last they share. */
static void test_rows_stay_together(int64_t n, int64_t k, int64_t i, int64_t j)
{
    graph *g = ts_graph_make();
    const type q = {.dtype = TS_F64, .rank = 3, .dim = {k, i, j}}, x = {.dtype = TS_F64, .rank = 3, .dim = {n, k, j}};
    const node *in[] = {g_input(g, "q", &q, NULL), g_input(g, "x", &x, NULL)},
               *apart = g_callf(g, 2, in, "einsum equation=\"kij,nkj->nki\""),
               *near = g_callf(g, 2, in, "einsum equation=\"kij,nkj->kni\"");
    const node *root[] = {g_call1(g, "sum_square axes=[2]", apart), g_call1(g, "sum_square axes=[2]", near)};
    for (int r = 0; r < 2; r++) {
        plan *p = made(g, 1, &root[r]);
        if (p && !CHECK(p->n_kernel == (r ? 1 : 2)))
            printf("  %d kernels\n", p->n_kernel);
        plan_free(p);
    }
    ts_graph_free(g);
}

int main(void)
{
    test_rows_stay_together(1000, 25, 64, 64);
    test_rows_stay_together(200, 20, 30, 16);
    test_mask_of_a_batch();
    test_inputs_wait();
    test_sums_are_early();
    test_loss();
    test_order();
    test_pointwise_together();
    test_doubling();
    test_nothing_left();
    test_copies_that_are_results();
    return check_done();
}
