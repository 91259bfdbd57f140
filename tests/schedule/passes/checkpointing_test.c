/* Values computed again: which, where their kernels come, what the plan says of it, and that less is alive at once. */
#include "backends/cpu/cpu.h"
#include "schedule/explain/explain.h"
#include "schedule/plan/checkpointing.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 4, WEIGHTS = 6 * LAYERS };
typedef struct trained { /* a plan of a loss and of the gradients of all weights */
    graph *g;
    machine machine;
    target on;
    plan *p;
    scratch folder;
} trained;

static const node *matrix(graph *g, const node **w, int *n, int64_t rows, int64_t columns)
{
    char name[20];
    snprintf(name, sizeof name, "w%d", *n);
    return w[(*n)++] = g_input(g, name, &(type){.dtype = TS_F32, .rank = 2, .dim = {rows, columns}}, NULL);
}

/* One head, 96 places, 32 wide; layer i's values are named "layer.i.*". */
static const node *transformer(graph *g, const node **w, int *n)
{
    const node *x = g_input(g, "x", &(type){.dtype = TS_F32, .rank = 2, .dim = {96, 32}}, NULL);
    for (int i = 0; i < LAYERS; i++) {
        char name[40];
        const node *q = g_call2(g, "matmul", x, matrix(g, w, n, 32, 32)),
                   *k = g_call2(g, "matmul", x, matrix(g, w, n, 32, 32)),
                   *v = g_call2(g, "matmul", x, matrix(g, w, n, 32, 32)),
                   *s = g_call2(g, "matmul", q, g_call1(g, "transpose", k)),
                   *a = g_call2(g, "matmul", g_call1(g, "softmax axis=-1", s), v);
        snprintf(name, sizeof name, "layer.%d.attention", i), g_label(g, a, name);
        x = g_call2(g, "add", x, g_call2(g, "matmul", a, matrix(g, w, n, 32, 32)));
        const node *u = g_call2(g, "matmul", x, matrix(g, w, n, 32, 128));
        x = g_call2(g, "add", x, g_call2(g, "matmul", g_call1(g, "gelu", u), matrix(g, w, n, 128, 32)));
        snprintf(name, sizeof name, "layer.%d.out", i), g_label(g, x, name);
    }
    return g_call1(g, "mean", g_call1(g, "square", x));
}

static const node *images(graph *g, const node **w, int *n) /* convolutions in a row, 3 x 3 */
{
    const node *x = g_input(g, "x", &(type){.dtype = TS_F32, .rank = 4, .dim = {4, 8, 16, 16}}, NULL);
    for (int i = 0; i < 6; i++) {
        char name[20];
        snprintf(name, sizeof name, "w%d", *n);
        w[*n] = g_input(g, name, &(type){.dtype = TS_F32, .rank = 4, .dim = {8, 8, 3, 3}}, NULL);
        x = g_call1(g, "relu", g_call2(g, "conv2d strides=[1,1] pads=[1,1,1,1]", x, w[(*n)++]));
    }
    return g_call1(g, "mean", x);
}

static bool make(trained *t, const node *(*model)(graph *, const node **, int *), bool gradients, const char *rules)
{
    const node *w[WEIGHTS], *root[WEIGHTS + 1];
    int n = 0;
    text source = {0};
    err e = {0};
    *t = (trained){.g = ts_graph_make(), .folder = scratch_make()};
    const char *path = scratch_in(&t->folder, "test.json");
    text_add(&source, "{\"format\":\"tiling/1\",\"rules\":[%s]}", rules ? rules : "");
    root[0] = model(t->g, w, &n);
    if (gradients)
        CHECK(ts_chain_rule(t->g, 1, root, NULL, n, w, root + 1));
    CHECK(file_save(path, source.s, source.length, &e) && machine_load(&t->machine, two_cores, &e));
    const plan_options asked = {.on = &t->on, .target = "c", .schema = path};
    cpu_target_of(&t->on, &t->machine, isa_find("avx512"), 2);
    t->p = ts_graph_ok(t->g, &e) ? plan_make(t->g, gradients ? n + 1 : 1, root, &asked, &e) : NULL;
    if (!CHECK(t->p != NULL))
        printf("  %s\n", e.text);
    text_free(&source);
    return t->p != NULL;
}

static void end(trained *t)
{
    plan_free(t->p);
    ts_graph_free(t->g);
    scratch_free(&t->folder);
}

static int64_t alive(const node *(*model)(graph *, const node **, int *), const char *rules)
{
    trained t;
    const int64_t most = make(&t, model, true, rules) ? t.p->lower_bound : 0;
    end(&t);
    return most;
}

/* The first kernel that reads n from memory after kernel k, or -1. */
static int next_reader(const plan *p, int k, const node *n)
{
    while (++k < p->n_kernel)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            for (int j = 0; j < p->kernel[k].stage[i].n_load; j++)
                if (p->kernel[k].stage[i].load[j]->from == n)
                    return k;
    return -1;
}

/* Copies are computed after the whole forward pass; from a copy to its first reader there are but copies and what that
 * reader reads beside. Gives how many kernels compute copies alone. */
static int placed_late(const plan *p)
{
    int found = 0, last_forward = 0;
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            if (p->kernel[k].stage[i].node->id == p->root[0]->id)
                last_forward = k;
    for (int k = 0; k < p->n_kernel; k++) {
        const node *n = p->kernel[k].stage[p->kernel[k].n_stage - 1].node;
        if (checkpointing_rule(p, n) < 0)
            continue;
        found++;
        CHECK(k > last_forward);
        const int next = next_reader(p, k, n);
        int others = 0;
        for (int i = k + 1; i < next; i++)
            others += checkpointing_rule(p, p->kernel[i].stage[0].node) < 0;
        CHECK(next > k && others <= 1);
    }
    return found;
}

static const char softmax[] = "{\"name\":\"s\",\"match\":{\"op\":\"softmax\"},\"recompute\":true}";
static const char all[] = "{\"name\":\"all\",\"recompute\":true}";

static void test_softmax(void)
{
    trained t;
    const double bytes = 96 * 96 * 4;
    if (make(&t, transformer, true, softmax)) {
        const saving s = checkpointing_saving(t.p, 0);
        CHECK(s.values == LAYERS && s.bytes == LAYERS * bytes);
        /* the scores, and what the recipe makes of them, once more */
        CHECK(s.flops > LAYERS * 2.0 * 96 * 96 * 32 && s.flops < LAYERS * (2.0 * 32 + 16) * 96 * 96);
        CHECK(placed_late(t.p) == LAYERS);
        CHECK(plan_check(t.p, NULL));
    }
    end(&t);
    const double less = (double)(alive(transformer, NULL) - alive(transformer, softmax));
    if (!CHECK(less > (LAYERS - 2) * bytes && less <= LAYERS * bytes))
        printf("  %g bytes less\n", less);
}

/* What is recognised as attention is that, and not what lies beside it in the graph or belongs to its gradient. */
static void test_attention(void)
{
    trained t;
    if (make(&t, transformer, true, "{\"match\":{\"op\":\"attention\"},\"recompute\":true}")) {
        const saving s = checkpointing_saving(t.p, 0);
        if (!CHECK(s.values == 2 * LAYERS && s.bytes == LAYERS * 4.0 * (96 * 96 + 96 * 32)))
            printf("  %d values, %g bytes\n", s.values, s.bytes);
    }
    end(&t);
}

static const node *repeated(graph *g, const node **w, int *n) /* a recipe asked for again, long after */
{
    const node *x = g_input(g, "x", &(type){.dtype = TS_F32, .rank = 2, .dim = {8, 32}}, NULL),
               *y = g_call2(g, "matmul", x, matrix(g, w, n, 32, 32)), *z = g_call1(g, "softmax axis=-1", y);
    for (int i = 0; i < 80; i++)
        z = g_call1(g, "softmax axis=-1", z);
    return g_call1(g, "sum", g_call1(g, "square", g_call2(g, "add", z, g_call1(g, "softmax axis=-1", y))));
}

static void test_repeated(void)
{
    trained t;
    if (make(&t, repeated, true, softmax))
        CHECK(checkpointing_saving(t.p, 0).values > 0);
    end(&t);
}

/* As a whole it is cut where little is handed on; what is told of the peak is what the plan shows. */
static void test_whole(const node *(*model)(graph *, const node **, int *), double most)
{
    trained t;
    if (make(&t, model, true, all)) {
        const saving s = checkpointing_saving(t.p, 0);
        const double now = (double)t.p->lower_bound, before = (double)alive(model, NULL);
        if (!CHECK(now < most * before && s.peak == before - now))
            printf("  %g of %g bytes, %g are told\n", now, before, s.peak);
        CHECK(placed_late(t.p) >= 3);
    }
    end(&t);
}

/* Of several rules each is told what it saves beside the others. */
static void test_each(void)
{
    trained t;
    static const char gelu[] = "{\"name\":\"g\",\"match\":{\"op\":\"gelu\"},\"recompute\":true}";
    char both[400];
    snprintf(both, sizeof both, "%s,%s", softmax, gelu);
    if (make(&t, transformer, true, both)) {
        const double now = (double)t.p->lower_bound,
                     saved[] = {(double)alive(transformer, gelu) - now, (double)alive(transformer, softmax) - now};
        for (int i = 0; i < 2; i++)
            if (!CHECK(checkpointing_saving(t.p, i).peak == saved[i] && saved[i] > 0))
                printf("  rule %d: %g are told, %g saved\n", i, checkpointing_saving(t.p, i).peak, saved[i]);
    }
    end(&t);
}

static int labelled(const graph *g, const char *label) /* the first one's id */
{
    int id = 0;
    while (id < g->n - 1 && strcmp(g->node[id]->label, label))
        id++;
    return id;
}

/* A rule that says false holds what a later one would give up. */
static void test_kept(void)
{
    trained t;
    const char rules[] =
        "{\"match\":{\"op\":\"gelu\"},\"recompute\":false},{\"recompute\":true,\"match\":{\"op\":\"gelu\"}}";
    if (make(&t, transformer, true, rules))
        CHECK(checkpointing_saving(t.p, 1).values == 0 && t.p->checkpointing->fits[0] > 0);
    end(&t);
    if (make(&t, transformer, true, "{\"match\":{\"name\":\"layer.[12].*\"},\"recompute\":true}")) {
        const int from = labelled(t.g, "layer.0.out"), to = labelled(t.g, "layer.2.out");
        CHECK(t.p->checkpointing->n_value > 2);
        for (int i = 0; i < t.p->checkpointing->n_value; i++)
            CHECK(t.p->checkpointing->value[i].value->id > from && t.p->checkpointing->value[i].value->id <= to);
    }
    end(&t);
}

static void told(const node *(*model)(graph *, const node **, int *), bool gradients, const char *rules,
                 const char *want)
{
    trained t;
    text got = {0};
    if (make(&t, model, gradients, rules)) {
        checkpointing_unused(t.p, &got);
        const char *rule_at = got.length ? strstr(got.s, "rule \"") : "";
        CHECK_TEXT(rule_at ? rule_at : text_str(&got), want);
    }
    text_free(&got);
    end(&t);
}

static void test_vain(void)
{
    told(transformer, true, softmax, "");
    told(transformer, false, softmax,
         "rule \"s\" recomputes nothing: the plan has no backward pass; a step of training has one\n");
    told(images, true, softmax,
         "rule \"s\" recomputes nothing: none of the forward pass fits; it has conv2d, relu, mean\n");
    told(images, true, "{\"match\":{\"op\":\"mean\"},\"recompute\":true}",
         "rule \"rule 0\" recomputes nothing: what it fits is not kept for the backward pass, or has to stay\n");
}

/* Rules on loops go by kernels as before: one that says "recompute" alone takes none from them. */
static void test_beside_loops(void)
{
    trained t;
    char rules[400];
    snprintf(rules, sizeof rules, "%s,{\"name\":\"products\",\"match\":{\"op\":\"matmul\"},\"loops\":\"guess\"}", all);
    if (make(&t, transformer, true, rules))
        for (int k = 0; k < t.p->n_kernel; k++)
            CHECK(strcmp(t.p->kernel[k].rule, "all") &&
                  (strcmp(t.p->kernel[k].op, "matmul") || !strcmp(t.p->kernel[k].rule, "products")));
    end(&t);
}

int main(void)
{
    test_softmax();
    test_attention();
    test_repeated();
    test_whole(transformer, 0.75);
    test_whole(images, 0.85);
    test_each();
    test_kept();
    test_vain();
    test_beside_loops();
    return check_done();
}
