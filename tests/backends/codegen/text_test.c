/* text_test.c - generated C against the interpreter where a kernel reads as many tensors as one can: sums, joins and
 * stages that share loops, with numbers of operands on both sides of every limit. */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 200 };

/* Whole numbers below 1000: every sum of them is exact in f32. Element j of operand i is (37 i + j) mod 1000. */
static bool give(int n, ts_given *in, int rank, const int64_t *dim)
{
    static char name[MOST][16];
    bool ok = true;
    for (int i = 0; i < n; i++) {
        snprintf(name[i], sizeof name[i], "x%d", i);
        in[i] = (ts_given){.name = name[i]};
        ok = ok && ts_array_make(&in[i].value, TS_F32, rank, dim, NULL);
        for (int64_t j = 0; ok && j < ts_array_count(&in[i].value); j++)
            ((float *)in[i].value.data)[j] = (float)((i * 37 + j) % 1000);
    }
    return ok;
}

static void compare(const char *what, int n, ts_graph *g, ts_tensor y, int n_in, const ts_given *in)
{
    ts_error e = {0};
    ts_array judge = {0}, ours = {0};
    const bool ok = ts_graph_ok(g, &e) && ts_eval(1, &y, n_in, in, &(ts_options){.target = "interp"}, &judge, &e) &&
                    ts_eval(1, &y, n_in, in, &(ts_options){.target = "c"}, &ours, &e);
    int64_t off = 0;
    for (int64_t i = 0; ok && i < ts_array_count(&judge); i++)
        off += ts_array_at(&ours, i) != ts_array_at(&judge, i);
    if (!CHECK(ok && off == 0))
        printf("  %s of %d: %lld elements differ %s\n", what, n, (long long)off, e.text);
    ts_array_free(&judge), ts_array_free(&ours);
}

static void release(ts_graph *g, int n, ts_given *in)
{
    for (int i = 0; i < n; i++)
        ts_array_free(&in[i].value);
    ts_graph_free(g);
}

/* x0 + x1 + ...; from the right: x0 + (x1 + ...) */
static ts_tensor sum(ts_graph *g, int n, const ts_tensor *x, bool right)
{
    ts_tensor y = right ? x[n - 1] : x[0];
    for (int i = 1; i < n; i++)
        y = right ? ts_call2(g, "add", x[n - 1 - i], y) : ts_call2(g, "add", y, x[i]);
    return y;
}

static void test_sum(int n, int rank, const int64_t *dim, bool right)
{
    ts_given in[MOST];
    ts_tensor x[MOST];
    ts_graph *g = ts_graph_make();
    CHECK(give(n, in, rank, dim));
    for (int i = 0; i < n; i++)
        x[i] = ts_input(g, in[i].name, TS_F32, rank, dim);
    compare(right ? "a sum from the right" : "a sum", n, g, sum(g, n, x, right), n, in);
    release(g, n, in);
}

/* All rows of one tensor in the opposite order: n loads of one operand. */
static void test_join(int n)
{
    const int64_t dim[] = {n, 3};
    ts_given in[1];
    ts_tensor row[MOST];
    ts_graph *g = ts_graph_make();
    CHECK(give(1, in, 2, dim));
    const ts_tensor x = ts_input(g, in->name, TS_F32, 2, dim);
    for (int i = 0; i < n; i++) {
        char call[64];
        snprintf(call, sizeof call, "slice starts=[%d,0] sizes=[1,3]", n - 1 - i);
        row[i] = ts_call1(g, call, x);
    }
    compare("a join", n, g, ts_call(g, "concat axis=0", n, row), 1, in);
    release(g, 1, in);
}

/* The sum of half of the operands, less its rows' maxima, plus the other half: stages of one kernel, whose operands are
 * more than a stage may load. */
static void test_stages(int n)
{
    const int64_t dim[] = {5, 24};
    ts_given in[MOST];
    ts_tensor x[MOST];
    ts_graph *g = ts_graph_make();
    CHECK(give(n, in, 2, dim));
    for (int i = 0; i < n; i++)
        x[i] = ts_input(g, in[i].name, TS_F32, 2, dim);
    const ts_tensor a = sum(g, n / 2, x, false), most = ts_call1(g, "max axes=[1] keepdims=1", a),
                    b = sum(g, n - n / 2, x + n / 2, false);
    compare("stages", n, g, ts_call2(g, "add", ts_call2(g, "subtract", a, most), b), n, in);
    release(g, n, in);
}

/* A function that is its argument as it stands leaves brackets to whatever that is: x0 stop(x1 + x2). */
static void test_through(int rank, const int64_t *dim)
{
    ts_given in[3];
    ts_tensor x[3];
    ts_graph *g = ts_graph_make();
    CHECK(give(3, in, rank, dim));
    for (int i = 0; i < 3; i++)
        x[i] = ts_input(g, in[i].name, TS_F32, rank, dim);
    const ts_tensor sum = ts_call1(g, "stop", ts_call2(g, "add", x[1], x[2]));
    compare("a product with a sum that stops gradients", 3, g, ts_call2(g, "multiply", x[0], sum), 3, in);
    release(g, 3, in);
}

int main(void)
{
    const int64_t row[] = {40};
    for (int n = 62; n <= 66; n++) {
        test_sum(n, 0, NULL, false), test_sum(n, 0, NULL, true);
        test_sum(n, 1, row, false), test_sum(n, 1, row, true);
    }
    test_sum(70, 0, NULL, false), test_sum(103, 0, NULL, false), test_sum(190, 0, NULL, true);
    test_sum(127, 1, row, false), test_sum(128, 1, row, true);
    for (int n = 62; n <= 64; n++)
        test_join(n);
    test_through(0, NULL), test_through(1, row);
    test_stages(90), test_stages(130);
    return check_done();
}
