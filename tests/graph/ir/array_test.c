/* Arrays: made zeroed, refused with a reason, filled with the documented noise. */
/* ctest: fast */
#include "graph/ir/type.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The address sanitizer would rather end the program than refuse an allocation. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_make(void)
{
    ts_array a;
    err e = {0};
    CHECK(ts_array_make(&a, TS_F64, 2, (int64_t[]){3, 4}, &e) && ts_array_count(&a) == 12);
    bool zero = true;
    for (int i = 0; i < 12; i++)
        zero = zero && load_real(TS_F64, a.data, i) == 0;
    CHECK(zero);
    ts_array_free(&a);
    CHECK(a.data == NULL);
    ts_array_free(&a);
    ts_array_free(NULL);
    CHECK(ts_array_make(&a, TS_BOOL, 0, NULL, &e) && ts_array_count(&a) == 1);
    ts_array_free(&a);
    CHECK(ts_array_make(&a, TS_F32, 2, (int64_t[]){0, 5}, &e) && a.data != NULL && ts_array_count(&a) == 0);
    ts_array_free(&a);
    CHECK(!ts_array_make(&a, TS_F32, 1, (int64_t[]){-1}, &e) && e.code == TS_BAD_INPUT && a.data == NULL);
    e = (err){0};
    CHECK(!ts_array_make(&a, TS_F32, 9, (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, &e) && e.code == TS_BAD_INPUT);
    e = (err){0};
    CHECK(!ts_array_make(&a, TS_F32, 1, (int64_t[]){INT64_C(1) << 60}, &e) && e.code == TS_MEMORY);
    CHECK(strstr(e.text, "f32[1152921504606846976]") != NULL);
}

/* Much or little: zeroed, on a line of the cache, and given back whole whatever shape it has been given since. */
static void test_data(void)
{
    for (int64_t n = 1; n <= 1 << 21; n *= 128) {
        ts_array a;
        err e = {0};
        CHECK(ts_array_make(&a, TS_F32, 2, (int64_t[]){n, 3}, &e) && (uintptr_t)a.data % 64 == 0);
        float *v = a.data, sum = 0;
        for (int64_t i = 0; i < 3 * n; i++)
            sum += v[i], v[i] = 1;
        CHECK(sum == 0);
        a.rank = 1, a.dim[0] = 1;
        ts_array_free(&a);
        CHECK(ts_array_make(&a, TS_F32, 2, (int64_t[]){n, 3}, &e));
        v = a.data;
        CHECK(v[0] == 0 && v[3 * n - 1] == 0);
        ts_array_free(&a);
    }
}

static void test_random(void)
{
    enum { N = 1000 };
    for (int d = 0; d < TS_N_DTYPE; d++) {
        ts_array a, b;
        err e = {0};
        CHECK(ts_array_make(&a, (dtype)d, 1, (int64_t[]){N}, &e) && ts_array_make(&b, (dtype)d, 1, (int64_t[]){N}, &e));
        ts_array_random(&a, 5, 100);
        ts_array_random(&b, 6, 100);
        CHECK(memcmp(a.data, b.data, (size_t)(N * ts_dtype_bytes((dtype)d))) != 0);
        ts_array_random(&b, 5, 100);
        CHECK(memcmp(a.data, b.data, (size_t)(N * ts_dtype_bytes((dtype)d))) == 0);
        bool fits = true;
        for (int i = 0; i < N; i++) {
            double v = load_real((dtype)d, a.data, i), u = random_unit(5, (uint64_t)i);
            int64_t w = (int64_t)(random_bits(5, (uint64_t)i) % 100);
            const bool small = dtype_small((dtype)d); /* rounded or wrapped: tests/graph/ir/small_test.c */
            fits = fits && (small                         ? v >= (dtype_class((dtype)d) == D_REAL ? -2 : -8) && v <= 15
                            : d == TS_F32 || d == TS_F64  ? v == u
                            : d == TS_F16 || d == TS_BF16 ? v >= -1 && v <= 1 && (v - u) * (v - u) < 2e-5
                            : d == TS_BOOL                ? v == (w != 0)
                                                          : v == (double)w);
        }
        CHECK(fits);
        ts_array_free(&a);
        ts_array_free(&b);
    }
    ts_array ids;
    CHECK(ts_array_make(&ids, TS_I64, 1, (int64_t[]){N}, NULL));
    ts_array_random(&ids, 1, 0); /* nothing is known: 0 and 1 */
    int ones = 0;
    for (int i = 0; i < N; i++) {
        int64_t v = load_whole(TS_I64, ids.data, i);
        CHECK(v == 0 || v == 1);
        ones += v == 1;
    }
    CHECK(ones > N * 4 / 10 && ones < N * 6 / 10);
    ts_array_free(&ids);
}

/* As a cast of f64 has it, in every dtype: NaN and what is too large, too. */
static void test_set(void)
{
    static const double value[] = {0, 1, -1, 2.75, -2.75, 1e300, -1e300, NAN};
    for (int d = 0; d < TS_N_DTYPE; d++) {
        err e = {0};
        ts_given in = {.name = "x"};
        ts_array ours, cast = {0};
        char head[80];
        ts_graph *g = ts_graph_make();
        ts_tensor x = ts_input(g, "x", TS_F64, 1, (int64_t[]){COUNT(value)});
        snprintf(head, sizeof head, "cast to=%s", ts_dtype_name((ts_dtype)d));
        CHECK(ts_array_make(&in.value, TS_F64, 1, (int64_t[]){COUNT(value)}, &e));
        CHECK(ts_array_make(&ours, (ts_dtype)d, 1, (int64_t[]){COUNT(value)}, &e));
        for (int i = 0; i < COUNT(value); i++)
            ts_array_set(&in.value, i, value[i]), ts_array_set(&ours, i, value[i]);
        ts_tensor y = ts_call1(g, head, x);
        if (CHECK(y && ts_eval(1, &y, 1, &in, &(ts_options){.target = "interp"}, &cast, &e)))
            for (int i = 0; i < COUNT(value); i++) {
                const double a = ts_array_at(&ours, i), b = ts_array_at(&cast, i);
                if (!CHECK(a == b || (isnan(a) && isnan(b))))
                    printf("%s of %g: %g, not %g\n", ts_dtype_name((ts_dtype)d), value[i], a, b);
            }
        ts_array_free(&in.value), ts_array_free(&ours), ts_array_free(&cast);
        ts_graph_free(g);
    }
}

int main(void)
{
    test_make();
    test_set();
    test_data();
    test_random();
    return check_done();
}
