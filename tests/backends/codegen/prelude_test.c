/* prelude_test.c - the larger and the smaller of two numbers, as vectors and as folds: what the interpreter gives, down
 * to zeros of either sign and not-a-numbers. */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 3.5};
enum { N = COUNT(special) };

static void fill(ts_array *a, bool rows) /* [N, N]: special[row], or special[column] */
{
    for (int i = 0; i < N * N; i++) {
        const double v = special[rows ? i / N : i % N];
        if (a->dtype == TS_F32)
            ((float *)a->data)[i] = (float)v;
        else
            ((double *)a->data)[i] = v;
    }
}

static bool same(double a, double b)
{
    return isnan(b) ? isnan(a) : a == b && signbit(a) == signbit(b);
}

static void test(const char *of, dtype d, const char *operation)
{
    char source[512];
    ts_error e = {0};
    ts_tensor t[2];
    int n = 0;
    ts_array judge[2] = {0}, ours[2] = {0};
    ts_given in[2] = {{.name = "a"}, {.name = "b"}};
    ts_graph *g = ts_graph_make();
    snprintf(source, sizeof source,
             "n0 = input \"a\" : %s[%d,%d]\nn1 = input \"b\" : %s[%d,%d]\nn2 = %simum(n0, n1) : %s[%d,%d]\n"
             "n3 = %s(n0) axes=[0] keepdims=0 : %s[%d]\nreturn n2, n3\n",
             of, N, N, of, N, N, operation, of, N, N, operation, of, N);
    bool ok = ts_parse(g, source, 2, t, &n, &e);
    for (int i = 0; ok && i < 2; i++)
        if ((ok = ts_array_make(&in[i].value, d, 2, (int64_t[]){N, N}, &e)))
            fill(&in[i].value, i);
    ok = ok && ts_eval(2, t, 2, in, &(ts_options){.target = "interp"}, judge, &e) &&
         ts_eval(2, t, 2, in, &(ts_options){.target = "c"}, ours, &e);
    if (!CHECK(ok))
        printf("%s%s\n", source, e.text);
    for (int i = 0; ok && i < 2; i++)
        for (int64_t k = 0; k < ts_array_count(&judge[i]); k++)
            if (!CHECK(same(ts_array_at(&ours[i], k), ts_array_at(&judge[i], k))))
                printf("%s %s, output %d, %d: %g, not %g\n", of, operation, i, (int)k, ts_array_at(&ours[i], k),
                       ts_array_at(&judge[i], k));
    for (int i = 0; i < 2; i++)
        ts_array_free(&judge[i]), ts_array_free(&ours[i]), ts_array_free(&in[i].value);
    ts_graph_free(g);
}

int main(void)
{
    test("f32", TS_F32, "max"), test("f32", TS_F32, "min");
    test("f64", TS_F64, "max"), test("f64", TS_F64, "min");
    return check_done();
}
