/* Numbers at the ends of their dtypes, between two of them, and zeros of either sign: what numpy says, interpreted and
 * compiled. */
#include "tests/backends/called.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

static const called rows[] = {
    /* quotients of integers are f64, however few bits the integers have */
    {"divide", TS_I8, {1, 2, -3, 100}, {7, 7, 7, 3}, {1 / 7.0, 2 / 7.0, -3 / 7.0, 100 / 3.0}},
    {"divide", TS_U8, {1, 2, 255, 100}, {7, 7, 7, 3}, {1 / 7.0, 2 / 7.0, 255 / 7.0, 100 / 3.0}},
    {"divide", TS_I16, {1, 2, -3, 100}, {7, 7, 7, 3}, {1 / 7.0, 2 / 7.0, -3 / 7.0, 100 / 3.0}},
    {"divide", TS_U16, {1, 2, 65535, 100}, {7, 7, 7, 3}, {1 / 7.0, 2 / 7.0, 65535 / 7.0, 100 / 3.0}},
    /* literals wrap and saturate as what is cast; in comparisons they are the numbers that they are */
    {"formula text=max(a,i32(3000000000))", TS_I32, {0, -1, 5, -0x1p31}, {0}, {0, -1, 5, -1294967296}},
    {"formula text=a<i32(2147483647)+i32(1)", TS_I32, {0, -1, 5, -0x1p31}, {0}, {0, 0, 0, 0}},
    {"formula text=a<3000000000", TS_I32, {0, -1, 5, -0x1p31}, {0}, {1, 1, 1, 1}},
    {"formula text=u32(a)<=u32(-1)", TS_I32, {0, -1, 5, -0x1p31}, {0}, {1, 1, 1, 1}},
    {"formula text=f64(i32(2147483647)+i32(1))+f64(a)",
     TS_I32,
     {0, -1, 5, 7},
     {0}, //
     {-0x1p31, -0x1p31 - 1, -0x1p31 + 5, -0x1p31 + 7}},
    {"formula text=f64(i64(1e300))+f64(a)",
     TS_F64,
     {0, -0x1p62, 0x1p62, -0x1p63},
     {0}, //
     {0x1p63, 0x1p62, 0x1.8p63, 0}},
    {"formula text=i64(nan)+a", TS_I64, {0, -1, 5, 7}, {0}, {0, -1, 5, 7}},
    {"formula text=f64(a<0?u64(1e19):u64(5))", TS_I32, {0, -1, 5, -7}, {0}, {5, 1e19, 5, 1e19}},
    /* beyond what a signed integer holds */
    {"cummin axis=0", TS_U64, {0x1p64, 0x1.8p63, 0x1p63, 5}, {0}, {0x1p64, 0x1.8p63, 0x1p63, 5}},
    {"pad pads=[-1,1] value=1.5e19", TS_U64, {1, 2, 3, 4}, {0}, {2, 3, 4, 1.5e19}},
    /* above the largest number, and rounded down to it */
    {"cast to=f8e4m3fnuz", TS_F32, {240.125, 247.9, -244, 248}, {0}, {240, 240, -240, NAN}},
    {"cast to=f8e5m2fnuz", TS_F32, {58880, 61439, -58880, 61440}, {0}, {57344, 57344, -57344, NAN}},
    /* beside the middle between two numbers, by less than f32 shows */
    {"cast to=f16",
     TS_F64,
     {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 65519.9999999999, 65520},
     {0}, //
     {1 + 0x1p-10, 1, 65504, INFINITY}},
    {"cast to=f16", TS_F64, {0x1p-25 + 0x1p-60, -0x1p-25, 1e300, -1e-300}, {0}, {0x1p-24, -0.0, INFINITY, -0.0}},
    {"cast to=bf16",
     TS_F64,
     {1 + 0x1p-8 + 0x1p-40, 1 + 0x3p-8 - 0x1p-40, NAN, -1e300},
     {0}, //
     {1 + 0x1p-7, 1 + 0x1p-7, NAN, -INFINITY}},
    {"cast to=bf16",
     TS_I32,
     {0x1010001, 0x1010000, -0x1010001, 0x1030000},
     {0}, //
     {0x1020000, 0x1000000, -0x1020000, 0x1040000}},
    {"cast to=bf16", TS_I64, {0x40400001, 0x40400000, -0x40400001, 3}, {0}, {0x40800000, 0x40000000, -0x40800000, 3}},
    {"cast to=f8e4m3fn", TS_F64, {1.0625 + 0x1p-40, 1.0625, 464 + 0x1p-40, 464}, {0}, {1.125, 1, NAN, 448}},
    {"cast to=f8e8m0", TS_F64, {1 + 0x1p-40, 1, 2 - 0x1p-40, 1e300}, {0}, {2, 1, 2, 0x1p127}},
    /* division with a remainder: the remainder is exact, the quotient belongs to it */
    {"floor_divide", TS_F64, {1, 6, -1, 0.3}, {0.1, 0.1, INFINITY, 0.1}, {9, 59, -1, 2}},
    {"floor_divide", TS_F32, {1, 6, -1, 0.3}, {0.1, 0.1, INFINITY, 0.1}, {9, 59, -1, 3}},
    {"floor_divide", TS_F64, {1, -1, 0, INFINITY}, {0, 0, 0, 1}, {INFINITY, -INFINITY, NAN, NAN}},
    {"floor_divide", TS_F32, {-0.0, 0.5, 7, -7}, {3, -INFINITY, -2, -2}, {-0.0, -1, -4, 3}},
    {"mod", TS_F64, {-1, 1, 7, -7}, {1, -1, -2, 2}, {0, -0.0, -1, 1}},
    {"mod", TS_F32, {-1, 1, -0.0, -7}, {1, -1, 3, INFINITY}, {0, -0.0, 0, INFINITY}},
    /* odd functions */
    {"tanh", TS_F32, {-0.0, 0, -100, 100}, {0}, {-0.0, 0, -1, 1}},
    {"erf", TS_F32, {-0.0, 0, -100, 100}, {0}, {-0.0, 0, -1, 1}},
};

static void check(const called *r)
{
    bool two = false;
    for (int i = 0; i < CALLED; i++)
        two = two || r->b[i] != 0;
    for (int known = 0; known < 2; known++)
        called_check(r, 1 + two, "interp", known), called_check(r, 1 + two, "c", known);
}

static void check_scalar(ts_dtype d, double given, double want)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_array y = {0};
    ts_tensor t = ts_scalar(g, d, given);
    if (CHECK(ts_eval(1, &t, 0, NULL, &(ts_options){.target = "interp"}, &y, &e)) && !CHECK(ts_array_at(&y, 0) == want))
        printf("  scalar %s of %g is %.17g, not %.17g\n", ts_dtype_name(d), given, ts_array_at(&y, 0), want);
    ts_array_free(&y);
    ts_graph_free(g);
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
    check_scalar(TS_U64, 1e19, 1e19), check_scalar(TS_U64, -1, 0), check_scalar(TS_I64, 1e300, 0x1p63);
    check_scalar(TS_I64, NAN, 0), check_scalar(TS_I32, -3e9, -0x1p31), check_scalar(TS_BOOL, 0.5, 1);
    return check_done();
}
