/* Types: numpy's promotion table, classes, sizes, extents, broadcasting, axes. */
/* ctest: fast */
#include "graph/ir/type.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

/* numpy.result_type of arrays, rows and columns in the order of ts_dtype; bf16 as in ml_dtypes. */
static const char *const promoted[] = {
    "f32 f64 f32 f32 f64 f64 f32 f32 f64 f64 f32 f32 f32",
    "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64",
    "f32 f64 f16 f32 f64 f64 f32 f16 f64 f64 f32 f16 f16",
    "f32 f64 f32 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16",
    "f64 f64 f64 bf16 i64 i64 i64 i64 f64 i64 i64 i64 i64",
    "f64 f64 f64 bf16 i64 i32 i32 i32 f64 i64 i32 i32 i32",
    "f32 f64 f32 bf16 i64 i32 i16 i16 f64 i64 i32 i16 i16",
    "f32 f64 f16 bf16 i64 i32 i16 i8 f64 i64 i32 i16 i8",
    "f64 f64 f64 bf16 f64 f64 f64 f64 u64 u64 u64 u64 u64",
    "f64 f64 f64 bf16 i64 i64 i64 i64 u64 u32 u32 u32 u32",
    "f32 f64 f32 bf16 i64 i32 i32 i32 u64 u32 u16 u16 u16",
    "f32 f64 f16 bf16 i64 i32 i16 i16 u64 u32 u16 u8 u8",
    "f32 f64 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool",
};

static void test_dtypes(void) /* those of small_test.c apart */
{
    for (int a = 0; a <= TS_BOOL; a++) {
        text row = {0};
        for (int b = 0; b <= TS_BOOL; b++)
            text_add(&row, "%s%s", b ? " " : "", ts_dtype_name(dtype_promote((dtype)a, (dtype)b)));
        CHECK_TEXT(row.s, promoted[a]);
        text_free(&row);
        dtype back = TS_N_DTYPE;
        CHECK(dtype_parse(ts_dtype_name((dtype)a), &back) && (int)back == a);
    }
    dtype none = TS_F32;
    CHECK(!dtype_parse("f31", &none) && !dtype_parse("", &none) && none == TS_F32);

    static const int bytes[] = {4, 8, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1};
    static const char *const of_sqrt[] = {"f32", "f64", "f16", "bf16", "f64", "f64", "f32",
                                          "f16", "f64", "f64", "f32",  "f16", "f16"};
    for (int d = 0; d <= TS_BOOL; d++) {
        CHECK(ts_dtype_bytes((dtype)d) == bytes[d]);
        CHECK_TEXT(ts_dtype_name(dtype_float((dtype)d)), of_sqrt[d]);
        CHECK(dtype_class((dtype)d) == (d <= TS_BF16 ? D_REAL : d == TS_BOOL ? D_TRUTH : D_WHOLE));
        CHECK(dtype_signed((dtype)d) == (d <= TS_I8));
    }
}

/* "2,3" as a type; "" has rank 0. */
static type shape(const char *s)
{
    type t = {.dtype = TS_F32};
    int used;
    long long v;
    for (; sscanf(s, "%lld%n", &v, &used) == 1; s += used + (s[used] == ','))
        t.dim[t.rank++] = v;
    return t;
}

static void broadcast(const char *a, const char *b, const char *want)
{
    type x = shape(a), y = shape(b), out = {.dtype = TS_I8};
    const type *in[] = {&x, &y};
    err e = {0};
    text got = {0};
    if (type_broadcast(2, in, &out, &e))
        type_print(&got, &out);
    else
        text_add(&got, "%s", e.text);
    if (want)
        CHECK_TEXT(text_str(&got), want);
    else
        CHECK(e.code == (strlen(a) > 9 ? TS_MEMORY : TS_BAD_INPUT));
    text_free(&got);
}

static void test_broadcast(void)
{
    broadcast("2,3", "3", "i8[2,3]");
    broadcast("2,1,4", "3,1", "i8[2,3,4]");
    broadcast("", "5", "i8[5]");
    broadcast("", "", "i8[]");
    broadcast("0", "1", "i8[0]"); /* an empty extent meets 1 */
    broadcast("1,0", "4,1", "i8[4,0]");
    broadcast("2", "3",
              "shapes do not broadcast: f32[2] and f32[3] differ in axis -1\n"
              "  hint: extents must be equal, or one of them 1, counted from the last axis");
    broadcast("0", "2", NULL);
    broadcast("4294967296,1", "1,4294967296", NULL); /* legal extents whose product is not */
    type out = {.dtype = TS_F64, .rank = 3};
    err e = {0};
    CHECK(type_broadcast(0, NULL, &out, &e) && out.rank == 0 && out.dtype == TS_F64);
}

static void test_extents(void)
{
    type t = shape("2,3,4"), u = t;
    CHECK(type_count(&t) == 24 && type_bytes(&t) == 96 && type_equal(&t, &u));
    u.dim[2] = 5;
    CHECK(!type_equal(&t, &u));
    u = t;
    u.dtype = TS_I32;
    CHECK(!type_equal(&t, &u));
    u = shape("2,3");
    CHECK(!type_equal(&t, &u));
    u = shape("");
    CHECK(type_count(&u) == 1);
    u = shape("2,0,3");
    CHECK(type_count(&u) == 0);

    err e = {0};
    static const char *const wrong[] = {"-1", "2,-3", "4294967296,2147483648", "9223372036854775807",
                                        "0,4294967296,4294967296"};
    for (int i = 0; i < COUNT(wrong); i++, e = (err){0}) {
        t = shape(wrong[i]);
        CHECK(!type_valid(&t, &e) && e.code == (strchr(wrong[i], '-') ? TS_BAD_INPUT : TS_MEMORY));
    }
    static const char *const right[] = {"", "0", "2305843009213693951", "1,1,1,1,1,1,1,1"};
    for (int i = 0; i < COUNT(right); i++) {
        t = shape(right[i]);
        CHECK(type_valid(&t, &e));
    }
    t.rank = 9;
    CHECK(!type_valid(&t, &e));
    t = shape("1");
    t.dtype = TS_N_DTYPE;
    CHECK(!type_valid(&t, NULL));
}

static void test_axes(void)
{
    int a = 7;
    err e = {0};
    CHECK(axis_norm(-1, 3, &a, &e) && a == 2);
    CHECK(axis_norm(-3, 3, &a, &e) && a == 0);
    CHECK(axis_norm(2, 3, &a, &e) && a == 2);
    CHECK(!axis_norm(3, 3, &a, &e));
    CHECK_TEXT(e.text, "axis 3 is out of range for rank 3\n  hint: axes go from -3 to 2");
    CHECK(!axis_norm(-4, 3, &a, NULL) && !axis_norm(0, 0, &a, NULL) && !axis_norm(INT64_MIN, 3, &a, NULL) && a == 2);
}

int main(void)
{
    test_dtypes();
    test_broadcast();
    test_extents();
    test_axes();
    return check_done();
}
