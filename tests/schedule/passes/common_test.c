/* What formulas have in common is computed once where that is cheaper, with the same bits; what is cheap, would go
 * through memory or has a rounding of its own is left where it is. */
#include "backends/cpu/cpu.h"
#include "graph/ir/rule.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <string.h>

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

static int calls_in(const expr *x, const char *name)
{
    int n = x_is_call(x, name);
    for (int i = 0; i < x->n; i++)
        n += calls_in(x->arg[i], name);
    return n;
}

/* How often the plan's kernels say that function, for one element of each */
static int calls(graph *g, int n, const node *const *root, const char *name)
{
    plan *p = made(g, n, root);
    int found = 0;
    for (int k = 0; p && k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            found += calls_in(p->kernel[k].stage[i].value, name);
    plan_free(p);
    return found;
}

static const node *input(graph *g, const char *name, dtype d, int64_t n, int64_t m)
{
    const type t = {.dtype = d, .rank = 2, .dim = {n, m}};
    return g_input(g, name, &t, NULL);
}

/* cos(a) in three formulas, and in one beside the node that it is; 1 / a in two */
static void test_shared(void)
{
    graph *g = ts_graph_make();
    const node *a = input(g, "a", TS_F32, 64, 128), *root[4];
    for (int i = 0; i < 3; i++)
        root[i] = g_formula(g, 2, (const node *[]){a, input(g, (char[]){(char)('b' + i), 0}, TS_F32, 64, 128)},
                            i ? "cos(a)*b+1/a" : "b-cos(a)");
    root[3] = g_callf(g, 1, &a, "cos");
    CHECK(calls(g, 3, root, "cos") == 1);
    CHECK(calls(g, 3, root, "div") == 1);
    CHECK(calls(g, 4, root, "cos") == 1);
    CHECK(calls(g, 1, root, "cos") == 1);
    ts_graph_free(g);
}

/* Within what is folded, and by a part that others hold in another one */
static void test_within(void)
{
    graph *g = ts_graph_make();
    const node *a = input(g, "a", TS_F64, 32, 64), *b = input(g, "b", TS_F64, 32, 64), *both[] = {a, b};
    const spelling sum = {1, 1, (const int64_t[]){32, 64}, "add", "exp(a[i0,i1]*b[i0,i1])"};
    const node *root[] = {g_element(g, 2, both, &sum), g_formula(g, 2, both, "exp(a*b)+a"),
                          g_formula(g, 2, both, "sqrt(exp(a*b)+2)*a"), g_formula(g, 2, both, "sqrt(exp(a*b)+2)-b")};
    CHECK(calls(g, 4, root, "exp") == 1);
    CHECK(calls(g, 4, root, "sqrt") == 1);
    ts_graph_free(g);
}

/* Sums are cheap, halves are rounded where they are stored, and elsewhere it is another value. */
static void test_left_alone(void)
{
    graph *g = ts_graph_make();
    const node *a = input(g, "a", TS_F32, 64, 64), *b = input(g, "b", TS_F32, 64, 64), *both[] = {a, b},
               *half = input(g, "h", TS_F16, 64, 64);
    const node *cheap[] = {g_formula(g, 2, both, "(a+b)*a"), g_formula(g, 2, both, "(a+b)-b*a")},
               *narrow[] = {g_formula(g, 1, &half, "cos(a)*a"), g_formula(g, 1, &half, "cos(a)+a")};
    const spelling turned = {2, 0, (const int64_t[]){64, 64}, "add", "cos(a[i1,i0])+1"};
    const node *other[] = {g_formula(g, 1, &a, "cos(a)*a"), g_element(g, 1, &a, &turned)};
    CHECK(calls(g, 2, cheap, "add") == 2);
    CHECK(calls(g, 2, narrow, "cos") == 2);
    CHECK(calls(g, 2, other, "cos") == 2);
    ts_graph_free(g);
}

/* Behind two products, each a kernel of its own, the value would be written and read for ten operations. */
static void test_apart(void)
{
    graph *g = ts_graph_make();
    const node *a = input(g, "a", TS_F32, 512, 512), *root[2];
    for (int i = 0; i < 2; i++) {
        const node *x = input(g, i ? "x" : "y", TS_F32, 512, 300 + i),
                   *w = input(g, i ? "w" : "v", TS_F32, 300 + i, 512);
        root[i] = g_formula(g, 2, (const node *[]){a, g_call2(g, "matmul", x, w)}, i ? "cos(a)*b" : "cos(a)+b");
    }
    CHECK(calls(g, 2, root, "cos") == 2);
    ts_graph_free(g);
}

/* All together have the bits that each has by itself. */
static void test_bits(void)
{
    enum { N = 3 };
    static const char *const words[N] = {"a == 0 ? 1.0 : cos(b)*a/b", "sin(b)+cos(b)/b", "-(a/b)/b+cos(b)"};
    graph *g = ts_graph_make();
    const int64_t n = 300;
    const ts_tensor in[] = {ts_input(g, "a", TS_F32, 1, &n), ts_input(g, "b", TS_F32, 1, &n)};
    ts_tensor all[N];
    ts_given given[2] = {{.name = "a"}, {.name = "b"}};
    ts_array one = {0}, out[N] = {{0}};
    ts_error e = {0};
    const ts_options o = {.target = "c"};
    for (int i = 0; i < N; i++)
        all[i] = g_formula(g, 2, in, words[i]);
    for (int i = 0; i < 2; i++)
        CHECK(ts_array_make(&given[i].value, TS_F32, 1, &n, &e)), ts_array_random(&given[i].value, 7 + (uint64_t)i, 0);
    CHECK(calls(g, N, all, "cos") == 1);
    CHECK(ts_eval(N, all, 2, given, &o, out, &e));
    for (int i = 0; i < N; i++) {
        CHECK(ts_eval(1, &all[i], 2, given, &o, &one, &e));
        CHECK(one.data && out[i].data && !memcmp(one.data, out[i].data, (size_t)n * sizeof(float)));
        ts_array_free(&one), ts_array_free(&out[i]);
    }
    for (int i = 0; i < 2; i++)
        ts_array_free(&given[i].value);
    ts_graph_free(g);
}

int main(void)
{
    test_shared();
    test_within();
    test_left_alone();
    test_apart();
    test_bits();
    return check_done();
}
