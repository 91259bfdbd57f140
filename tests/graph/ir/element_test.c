/* Elements: every half value both ways, every rounding boundary of both half types, saturation, truncation, wrapping.
 */
/* ctest: fast */
#include "graph/ir/type.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

/* What 16 bits mean, computed another way than the library does. */
static double meaning(unsigned bits, int exponent_bits, int mantissa_bits)
{
    int top = (1 << exponent_bits) - 1, bias = top >> 1;
    int exponent = (int)(bits >> mantissa_bits) & top, mantissa = (int)bits & ((1 << mantissa_bits) - 1);
    double v = exponent == top ? (mantissa ? NAN : INFINITY)
               : exponent      ? ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)
                               : ldexp(mantissa, 1 - bias - mantissa_bits);
    return bits & 0x8000 ? -v : v;
}

static unsigned stored(dtype d, double v)
{
    uint16_t h = 0x5555;
    store_real(d, &h, 0, v);
    return h;
}

static void test_half(dtype d, int exponent_bits, int mantissa_bits)
{
    unsigned infinite = ((1U << exponent_bits) - 1) << mantissa_bits;
    bool loads = true, back = true, ties = true, sides = true;
    for (unsigned bits = 0; bits < 65536; bits++) {
        uint16_t h = (uint16_t)bits;
        double v = load_real(d, &h, 0), want = meaning(bits, exponent_bits, mantissa_bits);
        loads = loads && (isnan(want) ? isnan(v) : v == want && signbit(v) == signbit(want));
        back = back &&
               (isnan(want) ? isnan(meaning(stored(d, v), exponent_bits, mantissa_bits)) : stored(d, v) == bits);
    }
    /* Between a value and the next: the middle goes to the even one, the doubles beside it to the nearer one. Beyond
     * the largest value "the next" is where the exponent would go on. */
    for (unsigned bits = 0; bits < infinite; bits++) {
        double low = meaning(bits, exponent_bits, mantissa_bits);
        double high = bits + 1 == infinite ? 2 * low - meaning(bits - 1, exponent_bits, mantissa_bits)
                                           : meaning(bits + 1, exponent_bits, mantissa_bits);
        double middle = low + (high - low) / 2;
        ties = ties && stored(d, middle) == bits + (bits & 1) && stored(d, -middle) == ((bits + (bits & 1)) | 0x8000);
        sides = sides && stored(d, nextafter(middle, 0)) == bits && stored(d, nextafter(middle, INFINITY)) == bits + 1;
    }
    CHECK(loads);
    CHECK(back);
    CHECK(ties);
    CHECK(sides);
    CHECK(stored(d, 1e300) == infinite && stored(d, -INFINITY) == (infinite | 0x8000));
    CHECK(stored(d, 5e-324) == 0 && stored(d, -0.0) == 0x8000);
    CHECK((stored(d, NAN) & 0x7FFF) > infinite);
}

/* store, then load back as an integer */
static int64_t whole_of(dtype d, double v)
{
    uint64_t room = UINT64_MAX;
    store_real(d, &room, 0, v);
    return load_whole(d, &room, 0);
}

static int64_t wrapped(dtype d, int64_t v)
{
    uint64_t room = UINT64_MAX;
    store_whole(d, &room, 0, v);
    return load_whole(d, &room, 0);
}

static void test_whole(void)
{
    static const struct {
        dtype d;
        int64_t low, high;
    } range[] = {{TS_I32, INT32_MIN, INT32_MAX}, {TS_I16, INT16_MIN, INT16_MAX}, {TS_I8, INT8_MIN, INT8_MAX},
                 {TS_U32, 0, UINT32_MAX},        {TS_U16, 0, UINT16_MAX},        {TS_U8, 0, UINT8_MAX}};
    for (int i = 0; i < COUNT(range); i++) {
        dtype d = range[i].d;
        int64_t low = range[i].low, high = range[i].high;
        CHECK(whole_of(d, (double)high) == high && whole_of(d, (double)high + 0.9) == high);
        CHECK(whole_of(d, (double)high + 1) == high && whole_of(d, INFINITY) == high);
        CHECK(whole_of(d, (double)low) == low && whole_of(d, (double)low - 1) == low && whole_of(d, -1e30) == low);
        CHECK(whole_of(d, 2.9) == 2 && whole_of(d, -0.9) == 0 && whole_of(d, NAN) == 0);
        CHECK(wrapped(d, high) == high && wrapped(d, high + 1) == low && wrapped(d, low - 1) == high);
        CHECK(wrapped(d, high + (high - low + 1) * 5) == high);
    }
    CHECK(whole_of(TS_I64, 1e30) == INT64_MAX && whole_of(TS_I64, -1e30) == INT64_MIN && whole_of(TS_I64, -2.9) == -2);
    CHECK(whole_of(TS_I64, 0x1p63) == INT64_MAX && whole_of(TS_I64, -0x1p63) == INT64_MIN &&
          whole_of(TS_I64, NAN) == 0);
    CHECK((uint64_t)whole_of(TS_U64, 1e30) == UINT64_MAX && whole_of(TS_U64, -3) == 0 && whole_of(TS_U64, NAN) == 0);
    CHECK((uint64_t)whole_of(TS_U64, 0x1p63) == UINT64_C(1) << 63);
    CHECK(wrapped(TS_I64, INT64_MIN) == INT64_MIN && wrapped(TS_U64, -1) == -1);
    CHECK(whole_of(TS_BOOL, 0.5) == 1 && whole_of(TS_BOOL, -0.0) == 0 && whole_of(TS_BOOL, NAN) == 1);
    CHECK(wrapped(TS_BOOL, 256) == 1 && wrapped(TS_BOOL, 0) == 0);
    uint64_t top = UINT64_MAX;
    CHECK(load_real(TS_U64, &top, 0) == 0x1p64 && load_real(TS_I64, &top, 0) == -1);
    double far[] = {-1e300, 1e300, NAN, -7.9};
    CHECK(load_whole(TS_F64, far, 0) == INT64_MIN && load_whole(TS_F64, far, 1) == INT64_MAX);
    CHECK(load_whole(TS_F64, far, 2) == 0 && load_whole(TS_F64, far, 3) == -7);
}

/* An integer must reach a real type with one rounding. */
static void test_whole_to_real(void)
{
    float f;
    const int64_t just_over = (INT64_C(1) << 62) + (INT64_C(1) << 38) +
                              1; /* a double would lose the 1, and the tie goes down */
    store_whole(TS_F32, &f, 0, just_over);
    CHECK(f == 0x1p62f + 0x1p39f);
    uint16_t h;
    const int64_t tie = (INT64_C(1) << 62) + (INT64_C(1) << 54); /* bf16 keeps 8 bits: half a step over 2^62 */
    store_whole(TS_BF16, &h, 0, tie);
    CHECK(load_real(TS_BF16, &h, 0) == 0x1p62);
    store_whole(TS_BF16, &h, 0, tie + 1);
    CHECK(load_real(TS_BF16, &h, 0) == 0x1p62 + 0x1p55);
    store_whole(TS_BF16, &h, 0, -tie);
    CHECK(load_real(TS_BF16, &h, 0) == -0x1p62);
    store_whole(TS_BF16, &h, 0, -tie - 1);
    CHECK(load_real(TS_BF16, &h, 0) == -0x1p62 - 0x1p55);
    store_whole(TS_F16, &h, 0, -3);
    CHECK(load_real(TS_F16, &h, 0) == -3);
    store_whole(TS_F16, &h, 0, INT64_MIN);
    CHECK(load_real(TS_F16, &h, 0) == -INFINITY);
}

/* Indices count elements, and tensors in mapped files may start at any byte. */
static void test_places(void)
{
    for (int d = 0; d < TS_N_DTYPE; d++) {
        _Alignas(16) unsigned char room[64] = {0}, moved[65];
        for (int i = 0; i < 3; i++)
            store_whole((dtype)d, room, i, i == 1);
        memcpy(moved + 1, room, 64);
        const double zero = d == TS_F8E8M0 ? 0x1p-127 : 0; /* it has none */
        CHECK(load_whole((dtype)d, moved + 1, 0) == 0 && load_real((dtype)d, moved + 1, 1) == 1);
        CHECK(load_whole((dtype)d, moved + 1, 1) == 1 && load_real((dtype)d, moved + 1, 2) == zero);
    }
}

int main(void)
{
    test_half(TS_F16, 5, 10);
    test_half(TS_BF16, 8, 7);
    test_whole();
    test_whole_to_real();
    test_places();
    return check_done();
}
