/* Jacobians against one tangent for each column: bands along one and two axes, by tangents and by gradients, at a cost
 * of their width; vectors that hold several things, which are added up behind bands; what none depends on. */
#include "tests/check.h"
#include "graph/ir/graph.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double flops(ts_tensor t)
{
    const int count = g_reach(1, &t, NULL);
    const node **all = calloc((size_t)count, sizeof *all);
    double sum = 0;
    MUST(all);
    g_reach(1, &t, all);
    for (int i = 0; i < count; i++)
        sum += node_is_leaf(all[i]) ? 0 : node_flops(all[i]);
    return free(all), sum;
}

/* [axes of y..., elements of x], a tangent along each element of x */
static ts_tensor dense(ts_graph *g, ts_tensor y, ts_tensor x)
{
    const int64_t n = type_count(&x->type);
    ts_tensor *column = calloc((size_t)n, sizeof *column), all;
    double *one = calloc((size_t)n, sizeof *one);
    char words[32];
    MUST(column && one);
    for (int64_t k = 0; k < n; k++) {
        ts_array at = {TS_F64, x->type.rank, {0}, one};
        memcpy(at.dim, x->type.dim, sizeof at.dim);
        snprintf(words, sizeof words, "unit%lld", (long long)k);
        one[k] = 1;
        ts_tensor unit = ts_constant(g, words, &at);
        one[k] = 0;
        CHECK(unit && ts_pushforward(g, 1, &x, &unit, 1, &y, &column[k]));
    }
    snprintf(words, sizeof words, "stack axis=%d", y->type.rank);
    all = ts_call(g, words, (int)n, column);
    return free(column), free(one), all;
}

static ts_array of(ts_tensor t, ts_tensor x, const double *at)
{
    ts_error e = {0};
    ts_array out = {0}, in = {TS_F64, x->type.rank, {0}, (void *)(uintptr_t)at};
    memcpy(in.dim, x->type.dim, sizeof in.dim);
    const int needed = ts_leaves(1, &t, NULL) > 0; /* zeros need nothing */
    if (!CHECK(ts_eval(1, &t, needed, &(ts_given){"x", in}, &(ts_options){.target = "interp"}, &out, &e)))
        printf("  %s\n", e.text);
    return out;
}

/* J of y by x is right; its operations are at most `most` times those of y. */
static void check(ts_graph *g, ts_tensor y, ts_tensor x, const char *what, double most)
{
    double at[256];
    ts_error e = {0};
    for (int i = 0; i < COUNT(at); i++)
        at[i] = 0.3 + 0.05 * (i * 29 % 37);
    ts_tensor j = ts_jacobian(g, y, x, NULL, NULL), want = dense(g, y, x);
    if (!CHECK(ts_graph_ok(g, &e) && j)) {
        printf("  %s: %s\n", what, e.text);
        return;
    }
    if (!CHECK(flops(j) <= most * flops(y)))
        printf("  %s: %g operations for %g\n", what, flops(j), flops(y));
    ts_array got = of(j, x, at), all = of(want, x, at);
    const int64_t n = ts_array_count(&got);
    CHECK(n > 0 && n == ts_array_count(&all) && got.rank == y->type.rank + x->type.rank);
    for (int64_t i = 0; got.data && i < n; i++) {
        const double a = ts_array_at(&got, i), b = ts_array_at(&all, i);
        if (!CHECK(fabs(a - b) <= 1e-14 * (1 + fabs(b)))) {
            printf("  %s: element %lld: %.17g, want %.17g\n", what, (long long)i, a, b);
            break;
        }
    }
    ts_array_free(&got), ts_array_free(&all);
}

/* x[n, m], or x[n] where m is 0 */
static void check_call(const char *call, int64_t n, int64_t m, double most)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F64, m ? 2 : 1, (const int64_t[]){n, m}), y = ts_call1(g, call, x);
    check(g, ts_call1(g, "formula text=sin(a)*a", y), x, call, most);
    ts_graph_free(g);
}

static void test_bands(void)
{
    check_call("element dims=[62] text=a[i0]*a[i0+1]-a[i0+2]", 64, 0, 24);
    check_call("element dims=[64] text=\"i0 > 0 ? a[i0-1]*a[i0] : a[i0]\"", 64, 0, 24);
    check_call("element dims=[63] text=a[63-i0]*a[62-i0]", 64, 0, 24);
    check_call("element dims=[32] text=a[2*i0]*a[2*i0+1]", 64, 0, 24);
    check_call("element dims=[60] folds=[5] text=a[i0+i1]*a[i0+i1]", 64, 0, 40);
    check_call("element dims=[20] text=a[3*i0]*a[3*i0+1]*a[3*i0+4]", 64, 0, 24); /* two rows, five columns */
    check_call("element dims=[6,14] text=a[5*i1+i0]*a[5*i1]", 75, 0, 40);
    check_call("element dims=[10,10] text=a[i0,i1+1]+a[i0+1,i1]*a[i0+2,i1+1]-a[i0+1,i1+2]", 12, 12, 60);
    check_call("element dims=[10,12] text=a[i0,i1]*a[i0+2,i1]", 12, 12, 20);
    check_call("formula text=a*a*a", 64, 0, 24);
    check_call("cumsum axis=0", 12, 0, 1e3);
    check_call("softmax axis=1", 4, 5, 1e3);
}

/* A pose of turn and shift, and three fingers of two angles each: rows of w say how far each point goes with each. */
static void test_parts(void)
{
    enum { N = 40 };
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F64, 1, (const int64_t[]){9}), y, moved;
    ts_tensor w = ts_weight(g, "w", TS_F64, 2, (const int64_t[]){N, 3}, 0, 1, 3);
    ts_tensor turn = ts_call1(g, "element dims=[2,2] text=\"i0 == i1 ? cos(a[0]) : i0 < i1 ? sin(a[0]) : -sin(a[0])\"",
                              x);
    ts_tensor bend = ts_call1(g, "element dims=[3,4] text=sin(a[3+2*i0]*f64(i1+1))*cos(a[4+2*i0])", x);
    moved = ts_call2(g, "einsum equation=nf,fr->nr", w, bend);
    y = ts_call2(g, "element dims=[40,2] text=b[i1,0]*(a[i0,0]+a[i0,2])+b[i1,1]*(a[i0,1]-a[i0,3])", moved, turn);
    y = ts_call2(g, "add", y, ts_call1(g, "element dims=[2] text=a[1+i0]", x));
    check(g, y, x, "pose", 9);
    ts_tensor j = ts_jacobian(g, y, x, NULL, NULL);
    char *shown = ts_print(1, &j);
    CHECK(shown && strstr(shown, "concat") && !strstr(shown, "f64[9,"));
    ts_free(shown);
    /* the same where bands are read by what is no sum over them, and where pieces overlap */
    ts_tensor most = ts_call1(g, "max axes=[0]", bend);
    check(g, ts_call2(g, "multiply", y, ts_call1(g, "sum", most)), x, "largest", 1e3);
    check(g, ts_call2(g, "multiply", y, ts_call1(g, "element dims=[2] text=a[2+i0]", x)), x, "overlap", 1e3);
    ts_graph_free(g);
}

/* Of y[rows, ...] by x[rows, ...]: each row of y depends on that row of x alone, so that the rows are a pair, the first
 * of `pairs`, and the whole is as dear as for one row. */
static void check_rows(ts_graph *g, ts_tensor y, ts_tensor x, int pairs, const char *what, double most)
{
    int n_pair = 0, pair[TS_MAX_RANK][2];
    check(g, y, x, what, most);
    ts_tensor j = ts_jacobian(g, y, x, &n_pair, pair);
    if (!CHECK(j && n_pair == pairs && pair[0][0] == 0 && pair[0][1] == 0))
        printf("  %s: %d pairs\n", what, n_pair);
    CHECK(j && j->type.rank == y->type.rank + x->type.rank - pairs && flops(j) <= most * flops(y));
}

static void check_rows_call(ts_graph *g, const char *call, const ts_tensor *more, ts_tensor x, int pairs, double most)
{
    const int n = more ? 1 + (more[1] != NULL) : 0;
    ts_tensor in[3] = {x, n > 0 ? more[0] : NULL, n > 1 ? more[1] : NULL};
    ts_tensor y = ts_call(g, call, n + 1, in);
    check_rows(g, ts_call1(g, "formula text=sin(a)*a", y), x, pairs, call, most);
}

/* Recurrences over a batch, elements in order, and what goes to places that data say within a row */
static void test_rows(void)
{
    enum { ROWS = 16, WIDE = 3, TRIPS = 4 };
    ts_graph *g = ts_graph_make();
    const int64_t dim[] = {ROWS, WIDE}, slices[] = {TRIPS, ROWS, WIDE};
    ts_tensor x = ts_input(g, "x", TS_F64, 2, dim), out[2];
    ts_tensor w = ts_weight(g, "w", TS_F64, 2, (const int64_t[]){WIDE, WIDE}, 0, 1, 3);
    for (int of = 0; of < 2; of++) { /* by the first state, and by what the trips are given */
        ts_tensor all = of ? ts_input(g, "x", TS_F64, 2, dim) : ts_weight(g, "u", TS_F64, 3, slices, 0, 1, 4);
        all = of ? ts_call1(g, "broadcast_to shape=[4,16,3]", all) : all;
        ts_scan *s = ts_scan_begin(g, TRIPS);
        ts_tensor h = ts_scan_state(s, of ? ts_weight(g, "h", TS_F64, 2, dim, 0, 1, 5) : x),
                  u = ts_scan_slice(s, all, of);
        ts_tensor next = ts_call1(g, "tanh", ts_call2(g, "add", ts_call2(g, "matmul", h, w), u));
        CHECK(ts_scan_step(s, h, next) && ts_scan_gather(s, next, false) && ts_scan_end(s, out));
        check_rows(g, out[0], x, 1, of ? "scan by slices" : "scan by state", 60);
        check_rows(g, ts_call1(g, "transpose axes=[1,0,2]", out[1]), x, 1, "rows of a scan", 60);
    }
    int64_t place[ROWS * 2];
    for (int i = 0; i < ROWS * 2; i++)
        place[i] = i * 7 % WIDE;
    const ts_array at = {TS_I64, 2, {ROWS, 2}, place}, columns = {TS_I64, 1, {2}, place};
    ts_tensor many[] = {ts_constant(g, "places", &at),
                        ts_weight(g, "v", TS_F64, 2, (const int64_t[]){ROWS, 2}, 0, 1, 6)},
              few[] = {ts_constant(g, "columns", &columns), many[1]};
    check_rows_call(g, "put_along_axis axis=1 reduce=add", many, x, 2, 40);
    check_rows_call(g, "scatter axis=1 reduce=add", few, x, 2, 40);
    check_rows_call(g, "take_along_axis axis=1", (const ts_tensor[]){many[0], NULL}, x, 1, 40);
    check_rows_call(g, "sort axis=1", NULL, x, 1, 200);
    check_rows_call(g, "cumsum axis=1", NULL, x, 1, 200);
    ts_tensor base = ts_weight(g, "base", TS_F64, 2, (const int64_t[]){ROWS, 5}, 0, 1, 7);
    ts_tensor put = ts_call3(g, "put_along_axis axis=1 reduce=add", base, many[0],
                             ts_call1(g, "slice starts=[0,0] sizes=[16,2]", x));
    check_rows(g, put, x, 1, "what is put", 40);
    ts_graph_free(g);
}

static void test_none(void)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F64, 1, (const int64_t[]){4});
    ts_tensor w = ts_input(g, "w", TS_F64, 1, (const int64_t[]){5}),
              j = ts_jacobian(g, ts_call1(g, "sin", w), x, NULL, NULL);
    CHECK(j && j->type.rank == 2 && j->type.dim[0] == 5 && j->type.dim[1] == 4 && flops(j) == 0);
    check(g, ts_call1(g, "element dims=[3] text=a[0]*a[0]", x), x, "one place", 1e3);
    ts_graph_free(g);
}

/* One that no memory holds is refused with the place: where it is asked for, or by the value there is too much of. */
static void test_large(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    const int64_t most = (int64_t)1 << 40, many = 1 << 20;
    ts_tensor x = ts_input(g, "x", TS_F64, 1, &most);
    CHECK(!ts_jacobian(g, ts_named(g, ts_call1(g, "cumsum axis=0", x), "sums"), x, NULL, NULL));
    CHECK(!ts_graph_recover(g, &e));
    CHECK_TEXT(e.text, "jacobian of sums by x: f64[1099511627776,1099511627776]: the size in bytes overflows 63 bits\n"
                       "  hint: no option raises this: make the extents smaller");
    e = (ts_error){0};
    x = ts_input(g, "y", TS_F64, 1, &many);
    ts_tensor j = ts_jacobian(g, ts_call1(g, "cumsum axis=0", x), x, NULL, NULL);
    ts_plan *p = ts_plan_of(g, 1, &j, 0, NULL, &(ts_options){.target = "interp", .mem_limit = "1G"}, &e);
    CHECK(!p || !ts_plan_build(p, &e));
    CHECK(e.code == TS_MEMORY && strstr(e.text, "are allowed; the largest is "));
    CHECK(strstr(e.text, " f64[1048576,1048576]"));
    ts_plan_free(p), ts_graph_free(g);
}

int main(void)
{
    test_large();
    test_bands();
    test_parts();
    test_rows();
    test_none();
    return check_done();
}
