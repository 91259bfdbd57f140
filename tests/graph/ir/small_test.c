/* Reals of 8 bits and fewer: every pattern, every value between two of them, and what lies outside, against what the
 * formats' definitions say; integers that share bytes in files wrap. */
/* ctest: fast */
#include "graph/ir/small.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

static const struct {
    dtype dtype;
    int bits, n_nan; /* patterns; those that are NaN */
    double highest, least;
    uint8_t of_infinity, of_nan;
} formats[] = {
    {TS_F8E4M3FN, 8, 2, 448, 0x1p-9, 0x7F, 0x7F},
    {TS_F8E4M3FNUZ, 8, 1, 240, 0x1p-10, 0x80, 0x80},
    {TS_F8E5M2, 8, 6, 57344, 0x1p-16, 0x7C, 0x7F},
    {TS_F8E5M2FNUZ, 8, 1, 57344, 0x1p-17, 0x80, 0x80},
    {TS_F4E2M1, 4, 0, 6, 0.5, 7, 0},
};

static double value(dtype d, int bits)
{
    const uint8_t b = (uint8_t)bits;
    return load_real(d, &b, 0);
}

static uint8_t bits_of(dtype d, double v)
{
    uint8_t b = 0;
    store_real(d, &b, 0, v);
    return b;
}

/* Between neighbours: below the middle the lower one, above it the upper one, in the middle the even one. */
static void check_steps(dtype d, int n)
{
    for (int b = 0; b + 1 < n && isfinite(value(d, b + 1)); b++) {
        const double low = value(d, b), high = value(d, b + 1), middle = (low + high) / 2;
        CHECK(high > low);
        CHECK(bits_of(d, nextafter(middle, low)) == b && bits_of(d, nextafter(middle, high)) == b + 1);
        CHECK(bits_of(d, middle) == b + b % 2);
        if (!CHECK(value(d, bits_of(d, -middle)) == -value(d, b + b % 2)))
            fprintf(stderr, "  %s: -%g\n", ts_dtype_name(d), middle);
    }
}

static void test_formats(void)
{
    for (int i = 0; i < COUNT(formats); i++) {
        const dtype d = formats[i].dtype;
        const int n = 1 << formats[i].bits;
        int nan = 0;
        for (int b = 0; b < n; b++) {
            const double v = value(d, b);
            nan += isnan(v);
            CHECK(isnan(v) || bits_of(d, v) == b);
            CHECK(isnan(v) || value(d, b ^ n / 2) == -v || v == 0);
        }
        CHECK(nan == formats[i].n_nan);
        CHECK(small_highest(small_of(d)) == formats[i].highest && value(d, 1) == formats[i].least);
        CHECK(bits_of(d, INFINITY) == formats[i].of_infinity && bits_of(d, 1e30) == formats[i].of_infinity);
        CHECK(bits_of(d, NAN) == formats[i].of_nan);
        const double most = formats[i].highest, step = most - value(d, bits_of(d, most) - 1);
        CHECK(bits_of(d, nextafter(most + step / 2, 0)) == bits_of(d, most)); /* rounds down to it: not beyond it */
        CHECK(bits_of(d, formats[i].least / 2) == 0 && bits_of(d, 1e-300) == 0);
        check_steps(d, n / 2);
    }
}

static void test_power(void)
{
    for (int b = 0; b < 255; b++)
        CHECK(value(TS_F8E8M0, b) == ldexp(1, b - 127) && bits_of(TS_F8E8M0, ldexp(1, b - 127)) == b);
    CHECK(isnan(value(TS_F8E8M0, 255)) && bits_of(TS_F8E8M0, NAN) == 255);
    CHECK(bits_of(TS_F8E8M0, 1.1) == 128 && bits_of(TS_F8E8M0, 0.124) == 124 && bits_of(TS_F8E8M0, 0) == 0);
    CHECK(bits_of(TS_F8E8M0, INFINITY) == 254 && bits_of(TS_F8E8M0, 1e300) == 254 && bits_of(TS_F8E8M0, 1e-300) == 0);
}

static void test_integers(void)
{
    static const struct {
        dtype dtype;
        int64_t given, kept;
    } row[] = {{TS_I4, 7, 7}, {TS_I4, 8, -8}, {TS_I4, -9, 7}, {TS_U4, -1, 15}, {TS_U4, 16, 0},
               {TS_I2, 1, 1}, {TS_I2, 2, -2}, {TS_I2, -3, 1}, {TS_U2, 5, 1},   {TS_U2, -1, 3}};
    for (int i = 0; i < COUNT(row); i++) {
        uint8_t b = 0;
        store_whole(row[i].dtype, &b, 0, row[i].given);
        CHECK(load_whole(row[i].dtype, &b, 0) == row[i].kept);
        store_real(row[i].dtype, &b, 0, (double)row[i].given);
        CHECK(load_real(row[i].dtype, &b, 0) == (double)row[i].kept);
    }
}

static void test_promotion(void)
{
    CHECK(dtype_promote(TS_F8E4M3FN, TS_F8E5M2) == TS_F32 && dtype_promote(TS_F8E5M2, TS_F16) == TS_F16);
    CHECK(dtype_promote(TS_I4, TS_I8) == TS_I8 && dtype_promote(TS_U4, TS_I2) == TS_I8);
    CHECK(dtype_promote(TS_U4, TS_I8) == TS_I8 && dtype_promote(TS_F4E2M1, TS_I64) == TS_F4E2M1);
}

int main(void)
{
    test_formats();
    test_power();
    test_integers();
    test_promotion();
    return check_done();
}
