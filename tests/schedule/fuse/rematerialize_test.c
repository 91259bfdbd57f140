/* What is computed again rather than read from memory, in a piece of a step of training: an activation, whose parts the
 * backward pass reads beside what they are made of. */
/* ctest: fast */
#include "backends/cpu/cpu.h"
#include "graph/ir/rule.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>

enum { ROOTS = 2 };

static const node *input(graph *g, const char *name, int64_t rows, int64_t columns)
{
    return g_input(g, name, &(type){.dtype = TS_F32, .rank = 2, .dim = {rows, columns}}, NULL);
}

/* y = x s(x) of a product x; and the gradient of x, in the epilogue of another */
static plan *step(graph *g, target *on, const char *how, bool product, const node **gate)
{
    err e = {0};
    const node *x = ts_call2(g, "matmul", input(g, "a", 64, 48), input(g, "w", 48, 96)), *back;
    *gate = g_call1(g, how, x);
    back = product ? ts_call2(g, "matmul", input(g, "d", 64, 32), input(g, "v", 32, 96)) : input(g, "d", 64, 96);
    const node *root[ROOTS] = {ts_call2(g, "multiply", x, *gate),
                               g_formula(g, 3, (const node *[]){back, x, *gate}, "a*c*(1+b*(1-c))")};
    static machine of;
    const bool ok = ts_graph_ok(g, &e) && machine_load(&of, two_cores, &e);
    const plan_options w = {.on = on, .target = "c"};
    cpu_target_of(on, &of, isa_find("avx512"), 2);
    plan *p = ok ? plan_make(g, ROOTS, root, &w, &e) : NULL;
    if (!CHECK(p != NULL))
        printf("  %s\n", e.text);
    return p;
}

static bool in_memory(const plan *p, const node *n)
{
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            if (p->kernel[k].stage[i].node == n)
                return true;
    return false;
}

static void check(const char *how, bool product, bool want)
{
    target on;
    const node *gate;
    graph *g = ts_graph_make();
    plan *p = step(g, &on, how, product, &gate);
    if (p && !CHECK(in_memory(p, gate) == want))
        printf("  %s\n", how);
    plan_free(p);
    ts_graph_free(g);
}

int main(void)
{
    check("sigmoid", true, false);
    check("sigmoid", false, true); /* both readers walk the same rows */
    check("softmax axis=1", true, true);
    check("cumsum axis=1", true, true);
    return check_done();
}
