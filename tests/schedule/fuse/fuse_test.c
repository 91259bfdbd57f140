/* What becomes one kernel, and which loops its stages share. */
/* ctest: fast */
#include "backends/cpu/cpu.h"
#include "graph/ir/rule.h"
#include "schedule/explain/explain.h"
#include "schedule/nest/nest.h"
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

/* What two kernels of pointwise work give to a third one makes one kernel of all, with the columns that are gathered
 * for them, once each, and with what puts values side by side. What is put side by side in long rows is apart. */
static void test_rows_of_columns(void)
{
    graph *g = ts_graph_make();
    const type rows = {.dtype = TS_F64, .rank = 2, .dim = {50, 3}}, which = {.dtype = TS_I64, .rank = 1, .dim = {700}},
               one = {.dtype = TS_F64, .rank = 1, .dim = {700}};
    const node *of = g_call2(g, "gather", g_input(g, "rows", &rows, NULL), g_input(g, "which", &which, NULL)),
               *x = g_input(g, "x", &one, NULL), *y = g_input(g, "y", &one, NULL), *c[3], *part[3], *root[3];
    for (int i = 0; i < 3; i++)
        c[i] = g_callf(g, 1, &of, "element dims=[700] text=a[i0,%d]", i);
    const node *p = g_formula(g, 3, (const node *[]){x, c[0], c[1]}, "a*b+c"),
               *q = g_formula(g, 3, (const node *[]){y, c[1], c[2]}, "a*b-c");
    root[0] = p, root[1] = q;
    for (int i = 0; i < 3; i++)
        part[i] = g_callf(g, 1, (const node *[]){g_formula(g, 3, (const node *[]){p, q, c[i]}, "a*b-c*a")},
                          "reshape shape=[700,1]");
    root[2] = g_joined(g, 3, part, 1);
    plan *made_of = made(g, 3, root);
    int gathered = 0;
    for (int i = 0; CHECK(made_of && made_of->n_kernel == 1) && i < made_of->kernel[0].n_stage; i++)
        gathered += x_find(made_of->kernel[0].stage[i].value, X_CALL) != NULL &&
                    !x_count(made_of->kernel[0].stage[i].value, X_FOLD) &&
                    made_of->kernel[0].stage[i].value->kind == X_LOAD;
    CHECK(gathered == 3);
    plan_free(made_of);
    ts_graph_free(g);
}

/* More stages than a word has bits: their loops read back. What a graph gets after a plan is no part of it. */
static void test_many_stages(void)
{
    enum { MANY = 45 };
    graph *g = ts_graph_make();
    const type t = {.dtype = TS_F32, .rank = 1, .dim = {500}};
    const node *root[MANY] = {g_input(g, "x", &t, NULL), g_input(g, "y", &t, NULL)};
    for (int i = 2; i < MANY; i++)
        root[i] = g_formula(g, 2, root + i - 2, "a*0.5+b");
    plan *p = made(g, MANY - 2, root + 2);
    text loops = {0}, before = {0}, after = {0};
    err e = {0};
    if (CHECK(p && p->n_kernel == 1 && p->kernel[0].n_stage == MANY - 2)) {
        nest_print(&loops, p->kernel, false);
        CHECK(nest_parse(p->on, p->kernel, text_str(&loops), &e));
        text_add(&loops, " ; add41: e");
        CHECK(!nest_parse(p->on, p->kernel, text_str(&loops), &e));
        plan_explain(p, "c", "", &before);
        for (int i = 0; i < 400; i++)
            root[0] = g_formula(g, 2, (const node *[]){root[0], root[1]}, "a*b+0.25");
        plan_explain(p, "c", "", &after);
        CHECK_TEXT(text_str(&after), text_str(&before));
    }
    text_free(&loops), text_free(&before), text_free(&after);
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
    test_rows_of_columns();
    test_many_stages();
    test_doubling();
    test_nothing_left();
    test_copies_that_are_results();
    return check_done();
}
