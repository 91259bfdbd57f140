/* vexpr_test.c - functions over vectors: loops of every length, in sums, inside one another and behind conditions, give
 * what the interpreter gives, with large arguments among small ones too; what a condition keeps from being read is not
 * read. */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool fill(ts_array *a)
{
    for (int64_t i = 0; i < ts_array_count(a); i++) {
        double v = 0.37 * (double)(i % 977) - 150;
        if (i % 101 == 7)
            v *= 1e12;
        if (a->dtype == TS_F32)
            ((float *)a->data)[i] = (float)v;
        else if (a->dtype == TS_F64)
            ((double *)a->data)[i] = v;
    }
    return true;
}

/* Every output is near the interpreter's, by `within` of what it may be at most. */
static void test(const char *source, const char *of, int rows, int columns, double within)
{
    char whole[1024], shape[32];
    ts_error e = {0};
    ts_tensor t;
    int n = 0;
    ts_array judge = {0}, ours = {0};
    ts_given in = {.name = "x"};
    ts_graph *g = ts_graph_make();
    snprintf(shape, sizeof shape, "%s[%d,%d]", of, rows, columns);
    snprintf(whole, sizeof whole, source, shape, shape);
    bool ok = ts_parse(g, whole, 1, &t, &n, &e) &&
              ts_array_make(&in.value, !strcmp(of, "f32") ? TS_F32 : TS_F64, 2, (int64_t[]){rows, columns}, &e) &&
              fill(&in.value) && ts_eval(1, &t, 1, &in, &(ts_options){.target = "interp"}, &judge, &e) &&
              ts_eval(1, &t, 1, &in, &(ts_options){.target = "c"}, &ours, &e);
    if (!CHECK(ok))
        printf("%s%s\n", whole, e.text);
    double most = 0;
    for (int64_t i = 0; ok && i < ts_array_count(&judge); i++)
        most = fmax(most, fabs(ts_array_at(&ours, i) - ts_array_at(&judge, i)));
    if (!CHECK(most <= within))
        printf("%soff by %g, more than %g\n", whole, most, within);
    ts_array_free(&judge), ts_array_free(&ours), ts_array_free(&in.value);
    ts_graph_free(g);
}

static void test_forms(const char *of, int rows, int columns, double eps)
{
    char more[256];
    test("n0 = input \"x\" : %s\nn1 = sin(n0) : %s\nreturn n1\n", of, rows, columns, eps);
    test("n0 = input \"x\" : %s\nn1 = formula(n0) text=cos(a)*cos(a)+sin(sin(a)+cos(a)) : %s\nreturn n1\n", of, rows,
         columns, 8 * eps);
    test("n0 = input \"x\" : %s\nn1 = formula(n0) text=\"a<0?sin(a):cos(-a)\" : %s\nreturn n1\n", of, rows, columns,
         eps);
    snprintf(more, sizeof more,
             "n0 = input \"x\" : %%s\nn1 = cos(n0) : %%s\nn2 = sum(n1) axes=[1] keepdims=0 : %s[%d]\nreturn n2\n", of,
             rows);
    test(more, of, rows, columns, eps * columns * sqrt(columns));
    snprintf(more, sizeof more,
             "n0 = input \"x\" : %%s\nn1 = sin(n0) : %%s\nn2 = concat(n1, n0, n1) axis=1 : %s[%d,%d]\n"
             "n3 = cos(n2) : %s[%d,%d]\nreturn n3\n",
             of, rows, 3 * columns, of, rows, 3 * columns);
    test(more, of, rows, columns, 2 * eps);
}

/* Reals as whole numbers: beyond the ends, and no numbers at all */
static void test_whole(const char *of, int columns)
{
    static const char *const to[] = {"i8", "u8", "i16", "u16", "i32"};
    for (int i = 0; i < COUNT(to); i++) {
        char source[256];
        snprintf(source, sizeof source,
                 "n0 = input \"x\" : %%s\nn1 = formula(n0) text=log(a)*a*90 : %%s\nn2 = cast(n1) to=%s : %s[3,%d]\n"
                 "n3 = cast(n2) to=f64 : f64[3,%d]\nreturn n3\n",
                 to[i], to[i], columns, columns);
        test(source, of, 3, columns, i == 4 ? 1 : 0);
    }
}

int main(void)
{
    static const int columns[] = {1, 33, 200, 257, 1000};
    for (int i = 0; i < COUNT(columns); i++) {
        test_forms("f32", 3, columns[i], 0x1p-22);
        test_forms("f64", 3, columns[i], 0x1p-51);
        test_whole("f32", columns[i]), test_whole("f64", columns[i]);
    }
    return check_done();
}
