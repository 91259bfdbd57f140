/* growth_test.c - plans of recurrences that are written out, with their gradients, take work in proportion to their
 * steps: what backward steps read of forward ones lies as far back as the sequence is long. Work is counted in blocks
 * of code gone through.
 *
 * ctest: counts large */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <stdio.h>

void __sanitizer_cov_trace_pc(void);
static int64_t blocks;

#ifdef WORK_IS_COUNTED
enum { FEW = 64, COUNTED = 1 };
#else
enum { FEW = 12, COUNTED = 0 };
#endif

void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

enum { WIDTH = 14 };

static ts_tensor row(ts_graph *g, ts_tensor of, int i)
{
    char call[64];
    snprintf(call, sizeof call, "slice starts=[%d,0] sizes=[1,%d]", i, WIDTH);
    return ts_call1(g, call, of);
}

/* Gate k of a step: its weights and bias are rows 2 k and 2 k + 1. */
static ts_tensor gate(ts_graph *g, const char *f, ts_tensor w, int k, ts_tensor x)
{
    return ts_call1(g, f, ts_call2(g, "add", ts_call2(g, "multiply", x, row(g, w, 2 * k)), row(g, w, 2 * k + 1)));
}

static ts_tensor recurrence(ts_graph *g, int steps, ts_tensor w)
{
    const ts_tensor of = ts_input(g, "x", TS_F64, 2, (int64_t[]){steps, WIDTH});
    ts_tensor h = ts_input(g, "h", TS_F64, 2, (int64_t[]){1, WIDTH}),
              c = ts_input(g, "c", TS_F64, 2, (int64_t[]){1, WIDTH}),
              total = ts_call1(g, "sum axes=[0,1] keepdims=0", h);
    for (int i = 0; i < steps; i++) {
        const ts_tensor x = row(g, of, i), forget = gate(g, "sigmoid", w, 0, x), in = gate(g, "sigmoid", w, 1, h),
                        out = gate(g, "sigmoid", w, 2, x), change = gate(g, "tanh", w, 3, h);
        c = ts_call2(g, "add", ts_call2(g, "multiply", c, forget), ts_call2(g, "multiply", in, change));
        h = ts_call2(g, "multiply", out, ts_call1(g, "tanh", c));
        total = ts_call2(g, "add", total, ts_call1(g, "sum axes=[0,1] keepdims=0", ts_call1(g, "exp", h)));
    }
    return total;
}

static int64_t work_of(int steps)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    const ts_tensor w = ts_input(g, "w", TS_F64, 2, (int64_t[]){8, WIDTH});
    ts_tensor out[2] = {recurrence(g, steps, w)};
    bool ok = ts_chain_rule(g, 1, out, NULL, 1, &w, out + 1) && ts_graph_ok(g, &e);
    const int64_t before = blocks;
    ts_plan *p = ok ? ts_plan_of(g, 2, out, 0, NULL,
                                 &(ts_options){.target = "c",
                                               .isa = "avx512",
                                               .machine = "l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx512",
                                               .threads = 2},
                                 &e)
                    : NULL;
    const int64_t n = blocks - before;
    if (!CHECK(p != NULL))
        printf("%s\n", e.text);
    ts_plan_free(p);
    ts_graph_free(g);
    return n;
}

int main(void)
{
    const int64_t one = work_of(FEW), four = work_of(4 * FEW);
    if (!CHECK(COUNTED ? one > 0 && four < 6 * one : one == 0 && four == 0))
        printf("%lld blocks, of four times as many steps %lld (%.1f times)\n", (long long)one, (long long)four,
               (double)four / (double)one);
    return check_done();
}
