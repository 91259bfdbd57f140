/* What somebody who comes from numpy expects of tensors that are built and not yet computed: scalars on either side,
 * dtypes that are what was declared, copies where an element is set, shared work, random numbers that follow from their
 * seed, and norms at the sizes of real networks. On both targets. */
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const targets[] = {"interp", "c"};
enum { N_TARGET = sizeof targets / sizeof *targets, MOST = 4 };

/* All outputs at once; false with the reason said. */
static bool evaluate(int target, int n, const ts_tensor *t, int n_given, const ts_given *given, ts_array *out)
{
    ts_error e = {0};
    const ts_options o = {.target = targets[target]};
    const bool ok = CHECK(ts_eval(n, t, n_given, given, &o, out, &e));
    if (!ok)
        fprintf(stderr, "  %s: %s\n", targets[target], e.text);
    return ok;
}

static void free_all(int n, ts_array *a)
{
    for (int i = 0; i < n; i++)
        ts_array_free(&a[i]);
}

static ts_array filled(ts_dtype d, int rank, const int64_t *dim, uint64_t seed)
{
    ts_array a;
    ts_error e = {0};
    CHECK(ts_array_make(&a, d, rank, dim, &e));
    ts_array_random(&a, seed, 100);
    return a;
}

/* 2 - a, 1 / a, -a, a ** 2: a scalar has the dtype that it was given, so the result has a's. */
static void test_reflected(ts_dtype d, double tolerance)
{
    const int64_t dim[] = {3, 4};
    ts_graph *g = ts_graph_make();
    ts_tensor a = ts_input(g, "a", d, 2, dim), two = ts_scalar(g, d, 2), one = ts_scalar(g, d, 1);
    const ts_tensor y[] = {ts_call2(g, "subtract", two, a), ts_call2(g, "divide", one, a), ts_call1(g, "negative", a),
                           ts_call2(g, "power", a, two)};
    ts_array value = filled(d, 2, dim, 3), got[MOST];
    for (int t = 0; t < N_TARGET && evaluate(t, MOST, y, 1, &(ts_given){"a", value}, got); t++) {
        for (int64_t i = 0; i < 12; i++) {
            const double x = ts_array_at(&value, i), want[] = {2 - x, 1 / x, -x, x * x};
            for (int k = 0; k < MOST; k++)
                CHECK(fabs(ts_array_at(&got[k], i) - want[k]) <= tolerance * (1 + fabs(want[k])));
        }
        for (int k = 0; k < MOST; k++)
            CHECK(got[k].dtype == d && got[k].rank == 2 && got[k].dim[0] == 3 && got[k].dim[1] == 4);
        free_all(MOST, got);
    }
    ts_array_free(&value);
    ts_graph_free(g);
}

/* A copy with a part set, the original beside it, and two functions of one sum, all from one evaluation. */
static void test_shared(void)
{
    const int64_t dim[] = {4, 5};
    ts_graph *g = ts_graph_make();
    ts_tensor a = ts_input(g, "a", TS_F32, 2, dim), b = ts_input(g, "b", TS_F32, 2, dim);
    ts_tensor sum = ts_call2(g, "add", a, b), again = ts_call2(g, "add", a, b);
    CHECK(sum == again);
    const ts_tensor y[] = {ts_call2(g, "set_item key=1:3,::2", sum, ts_scalar(g, TS_F32, 7)), sum,
                           ts_call1(g, "exp", sum), ts_call1(g, "tanh", again)};
    ts_array va = filled(TS_F32, 2, dim, 1), vb = filled(TS_F32, 2, dim, 2), got[MOST];
    const ts_given given[] = {{"a", va}, {"b", vb}};
    for (int t = 0; t < N_TARGET && evaluate(t, MOST, y, 2, given, got); t++) {
        for (int64_t i = 0; i < 20; i++) {
            const double x = ts_array_at(&va, i) + ts_array_at(&vb, i);
            const bool is_set = i / 5 >= 1 && i / 5 < 3 && i % 5 % 2 == 0;
            CHECK(fabs(ts_array_at(&got[0], i) - (is_set ? 7 : x)) < 1e-6);
            CHECK(fabs(ts_array_at(&got[1], i) - x) < 1e-6);
            CHECK(fabs(ts_array_at(&got[2], i) - exp(x)) < 1e-5);
            CHECK(fabs(ts_array_at(&got[3], i) - tanh(x)) < 1e-6);
        }
        free_all(MOST, got);
    }
    ts_array_free(&va);
    ts_array_free(&vb);
    ts_graph_free(g);
}

/* Equal calls are one node and give equal bits, in every evaluation and on every target; another seed gives others. */
static void test_random(void)
{
    ts_array first[3] = {{0}}, got[3];
    ts_graph *g = ts_graph_make();
    const ts_tensor y[] = {ts_call(g, "random_uniform shape=[50] seed=1", 0, NULL),
                           ts_call(g, "random_uniform shape=[50] seed=2", 0, NULL),
                           ts_call(g, "random_normal shape=[50] seed=1 to=f64", 0, NULL)};
    CHECK(y[0] == ts_call(g, "random_uniform shape=[50] seed=1", 0, NULL) && y[0] != y[1]);
    CHECK(evaluate(0, 3, y, 0, NULL, first));
    for (int t = 0; t < 2 * N_TARGET && evaluate(t % N_TARGET, 3, y, 0, NULL, got); t++) {
        CHECK(got[0].dtype == TS_F32 && got[2].dtype == TS_F64);
        CHECK(!memcmp(got[0].data, first[0].data, 50 * sizeof(float)));
        CHECK(!memcmp(got[1].data, first[1].data, 50 * sizeof(float)));
        CHECK(memcmp(got[0].data, got[1].data, 50 * sizeof(float)));
        for (int i = 0; i < 50; i++)
            CHECK(fabs(ts_array_at(&got[2], i) - ts_array_at(&first[2], i)) < 1e-12);
        free_all(3, got);
    }
    free_all(3, first);
    ts_graph_free(g);
}

/* As docs/numerics.md says: a half is rounded where it is kept. interp keeps every value, c what leaves a kernel. */
static void test_halves(void)
{
    enum { N = 40 };
    const int64_t dim[] = {N};
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F16, 1, dim), three = ts_scalar(g, TS_F16, 3);
    ts_tensor kept = ts_call1(g, "tan", x), y = ts_call2(g, "multiply", kept, three);
    ts_tensor cast = ts_call1(g, "cast to=f32", ts_call1(g, "cast to=f16", ts_call1(g, "cast to=f32", kept)));
    ts_tensor z = ts_call1(g, "cast to=f16", ts_call2(g, "multiply", cast, ts_scalar(g, TS_F32, 3)));
    ts_array value = filled(TS_F16, 1, dim, 4), plain, whole, rounded;
    const ts_given given = {"x", value};
    int differ = 0;
    if (evaluate(0, 1, &y, 1, &given, &plain) && evaluate(1, 1, &y, 1, &given, &whole) &&
        evaluate(1, 1, &z, 1, &given, &rounded)) {
        for (int i = 0; i < N; i++) {
            const double once = 3 * tan(ts_array_at(&value, i));
            CHECK(fabs(ts_array_at(&whole, i) - once) <= ldexp(fabs(once), -11) + 1e-6); /* half a unit, once */
            CHECK(ts_array_at(&rounded, i) == ts_array_at(&plain, i));
            differ += ts_array_at(&whole, i) != ts_array_at(&plain, i);
        }
        CHECK(differ > 0);
        ts_array_free(&plain), ts_array_free(&whole), ts_array_free(&rounded);
    }
    ts_array_free(&value);
    ts_graph_free(g);
}

/* Every `count` neighbouring values of x have mean 0 and variance 1 in y. */
static void check_rows(const ts_array *x, const ts_array *y, int64_t count, double epsilon)
{
    double worst = 0;
    for (int64_t row = 0; row < ts_array_count(x) / count; row++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < count; i++)
            mean += ts_array_at(x, row * count + i) / (double)count;
        for (int64_t i = 0; i < count; i++)
            square += pow(ts_array_at(x, row * count + i) - mean, 2) / (double)count;
        for (int64_t i = 0; i < count; i++) {
            const double want = (ts_array_at(x, row * count + i) - mean) / sqrt(square + epsilon);
            const double off = fabs(ts_array_at(y, row * count + i) - want);
            worst = off > worst ? off : worst;
        }
    }
    if (!CHECK(worst < 1e-5))
        fprintf(stderr, "  off by %g\n", worst);
}

/* layer norm of [2, 128, 768], group norm of [2, 128, 64, 16] in 32 groups: scale 1, bias 0. */
static void test_norms(void)
{
    const int64_t rows[] = {2, 128, 768}, image[] = {2, 128, 64, 16};
    ts_graph *g = ts_graph_make();
    ts_tensor a = ts_input(g, "a", TS_F32, 3, rows), b = ts_input(g, "b", TS_F32, 4, image);
    ts_tensor width = ts_weight(g, "one", TS_F32, 1, rows + 2, 1, 0, 1),
              none = ts_weight(g, "zero", TS_F32, 1, rows + 2, 0, 0, 1);
    ts_tensor channel = ts_weight(g, "ones", TS_F32, 1, image + 1, 1, 0, 1),
              zero = ts_weight(g, "zeros", TS_F32, 1, image + 1, 0, 0, 1);
    const ts_tensor y[] = {ts_call3(g, "layer_norm epsilon=1e-05", a, width, none),
                           ts_call3(g, "group_norm groups=32", b, channel, zero)};
    ts_array va = filled(TS_F32, 3, rows, 5), vb = filled(TS_F32, 4, image, 6), got[2];
    const ts_given given[] = {{"a", va}, {"b", vb}};
    for (int t = 0; t < N_TARGET && evaluate(t, 2, y, 2, given, got); t++) {
        check_rows(&va, &got[0], 768, 1e-5);
        check_rows(&vb, &got[1], 4 * 64 * 16, 1e-5);
        free_all(2, got);
    }
    ts_array_free(&va);
    ts_array_free(&vb);
    ts_graph_free(g);
}

int main(void)
{
    test_reflected(TS_F32, 1e-6);
    test_reflected(TS_F64, 1e-14);
    test_shared();
    test_random();
    test_halves();
    test_norms();
    return check_done();
}
