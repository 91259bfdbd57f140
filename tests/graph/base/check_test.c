/* Checked arithmetic: at the limits, and against a wider type over a grid of awkward numbers. */
/* ctest: fast */
#include "graph/base/base.h"
#include "tests/check.h"

static void test_sizes(void)
{
    size_t r = 0;
    CHECK(size_add(SIZE_MAX - 1, 1, &r) && r == SIZE_MAX);
    CHECK(!size_add(SIZE_MAX, 1, &r));
    CHECK(size_mul((size_t)1 << 32, ((size_t)1 << 32) - 1, &r) && r == SIZE_MAX - (((size_t)1 << 32) - 1));
    CHECK(!size_mul((size_t)1 << 32, (size_t)1 << 32, &r));
    CHECK(size_mul(0, SIZE_MAX, &r) && r == 0);
}

static void test_integers(void)
{
    __extension__ typedef __int128 wide;
    static const int64_t v[] = {0,
                                1,
                                -1,
                                2,
                                -2,
                                3,
                                7,
                                -7,
                                INT64_MAX,
                                INT64_MIN,
                                INT64_MAX - 1,
                                INT64_MIN + 1,
                                INT64_C(3037000499),
                                INT64_C(3037000500),
                                -INT64_C(3037000500),
                                INT64_C(1) << 32,
                                INT64_C(1) << 62,
                                -(INT64_C(1) << 62)};
    bool sums = true, products = true, floors = true;
    for (int i = 0; i < COUNT(v); i++)
        for (int j = 0; j < COUNT(v); j++) {
            wide s = (wide)v[i] + v[j], p = (wide)v[i] * v[j];
            int64_t r = 0;
            bool fits = s >= INT64_MIN && s <= INT64_MAX;
            sums = sums && int_add(v[i], v[j], &r) == fits && (!fits || r == s);
            fits = p >= INT64_MIN && p <= INT64_MAX;
            products = products && int_mul(v[i], v[j], &r) == fits && (!fits || r == p);
            if (v[j] > 0) {
                int64_t q = int_floor_div(v[i], v[j]), m = int_floor_mod(v[i], v[j]);
                floors = floors && m >= 0 && m < v[j] && (wide)q * v[j] + m == v[i];
            }
        }
    CHECK(sums);
    CHECK(products);
    CHECK(floors);
    CHECK(int_floor_div(-7, 2) == -4 && int_floor_mod(-7, 2) == 1);
    CHECK(int_gcd(12, 18) == 6 && int_gcd(0, 5) == 5 && int_gcd(5, 0) == 5 && int_gcd(7, 9) == 1);
    CHECK(int_floor_div(7, 2) == 3 && int_floor_mod(-8, 2) == 0);
}

int main(void)
{
    test_sizes();
    test_integers();
    return check_done();
}
