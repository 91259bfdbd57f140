/* npy files: what numpy writes is read, what is written numpy reads (tests/graph/ir/npy_numpy_test.sh asks numpy
 * itself),
 * and malformed files are refused with their code. */
#include "graph/ir/type.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

static char path[256];

/* Writes a file of one version from a header and values; a header length of -1 means the true one. */
static void write_file(int major, const char *header, long length, const void *values, size_t n)
{
    text t = {0};
    unsigned long size = length >= 0 ? (unsigned long)length : strlen(header);
    const char start[] = {(char)major, 0, (char)size, (char)(size >> 8), (char)(size >> 16), (char)(size >> 24)};
    text_bytes(&t, "\x93NUMPY", 6);
    text_bytes(&t, start, major == 1 ? 4 : 6);
    text_bytes(&t, header, strlen(header));
    text_bytes(&t, values, n);
    CHECK(file_save(path, t.s, t.length, NULL));
    text_free(&t);
}

static void reads(int major, const char *header, const void *values, size_t n, const char *want)
{
    write_file(major, header, -1, values, n);
    ts_array a;
    err e = {0};
    text got = {0};
    if (ts_npy_read(path, &a, &e)) {
        type t = {.dtype = a.dtype, .rank = a.rank};
        memcpy(t.dim, a.dim, sizeof t.dim);
        type_print(&got, &t);
        for (int64_t i = 0; i < ts_array_count(&a); i++)
            text_add(&got, " %g", load_real(a.dtype, a.data, i));
    }
    CHECK_TEXT(text_str(&got), want);
    CHECK(!err_is(&e));
    text_free(&got);
    ts_array_free(&a);
}

#define HEADER(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }   \n"

static void test_reads(void)
{
    static const unsigned char six[] = {0, 1, 2, 3, 4, 5}, big[] = {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0},
                               two[] = {1, 0, 2, 0};
    reads(1, HEADER("'|u1'", "False", "(2, 3)"), six, 6, "u8[2,3] 0 1 2 3 4 5");
    reads(2, HEADER("'|i1'", "True", "(2, 3)"), six, 6, "i8[2,3] 0 2 4 1 3 5");
    reads(3, HEADER("'|u1'", "True", "(1, 3, 2)"), six, 6, "u8[1,3,2] 0 3 1 4 2 5");
    reads(1, HEADER("'|u1'", "True", "(6,)"), six, 6, "u8[6] 0 1 2 3 4 5");
    reads(1, HEADER("'>f4'", "False", "(2,)"), big, 8, "f32[2] 1 -2");
    reads(1, HEADER("'>f4'", "True", "(1, 2)"), big, 8, "f32[1,2] 1 -2");
    reads(1, HEADER("'<i2'", "False", "(2,)"), two, 4, "i16[2] 1 2");
    reads(1, HEADER("'>u2'", "False", "(2,)"), two, 4, "u16[2] 256 512");
    reads(1, HEADER("'|b1'", "False", "(4,)"), six, 4, "bool[4] 0 1 1 1"); /* 2 and 3 become plain true */
    reads(1, HEADER("'<f8'", "False", "()"), "\0\0\0\0\0\0\xF8\x3F", 8, "f64[] 1.5");
    reads(1, HEADER("'<f2'", "False", "(0, 3)"), "", 0, "f16[0,3]");
    reads(1, "{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<f2\"}", "\x00\x3C", 2, "f16[1] 1");
}

static void refused(const char *what, const char *want)
{
    ts_array a;
    err e = {0};
    bool done = ts_npy_read(path, &a, &e);
    if (!CHECK(!done && e.code == TS_BAD_INPUT && strstr(e.text, want) && strstr(e.text, path) && !a.data))
        fprintf(stderr, "  for: %s\n  got: %s\n", what, e.text);
    ts_array_free(&a);
}

static void refuses(const char *header, size_t values, const char *want)
{
    static const char some[256];
    write_file(1, header, -1, some, values);
    refused(header, want);
}

static void test_refusals(void)
{
    static const char ok[] = HEADER("'<f4'", "False", "(2,)");
    CHECK(file_save(path, "", 0, NULL));
    refused("empty", "N001 not an npy file: it has 0 bytes");
    CHECK(file_save(path, "PK\3\4 this is a zip", 19, NULL));
    refused("zip", "N001 not an npy file: it begins with");
    write_file(4, ok, -1, "12345678", 8);
    refused("version 4", "N001 npy version 4.0");
    write_file(1, ok, 60000, "12345678", 8);
    refused("long header", "N002 bad header: 60000 bytes");
    write_file(2, ok, 0x7FFFFFFF, "12345678", 8);
    refused("huge header", "N002 bad header: 2147483647 bytes");
    refuses("__import__('os')", 8, "N002");
    refuses("{'descr': '<f4', 'fortran_order': False}", 8, "N002");
    refuses("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8, "N002");
    refuses("{'descr': '<f4', 'fortran_order': Falsey, 'shape': (2,)}", 8, "N002");
    refuses("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", 8, "N002");
    refuses("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} or 1", 8, "N002");
    refuses("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, "twice");
    refuses("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", 8, "N002");
    refuses("{'descr' '<f4'}", 8, "colon");
    refuses("{'descr': '<f4' 'shape': (2,)}", 8, "comma");
    refuses("{'descr': '<f\\x34'}", 8, "escape");
    refuses("{'descr': '<f4", 8, "does not end");
    refuses("{'descr': <f4}", 8, "N002");
    refuses(HEADER("'|O'", "False", "(1,)"), 8, "N003 object arrays are not accepted");
    refuses(HEADER("'|O8'", "False", "(1,)"), 8, "N003");
    refuses(HEADER("'<c8'", "False", "(1,)"), 8, "N004 data type '<c8'");
    refuses(HEADER("'<U1'", "False", "(1,)"), 4, "N004");
    refuses(HEADER("'f4'", "False", "(1,)"), 4, "N004");
    refuses(HEADER("'|f4'", "False", "(1,)"), 4, "N004");
    refuses(HEADER("'\x7f'", "False", "(1,)"), 4, "N004 data type '\\x7f'");
    refuses(HEADER("[('a', '<f4')]", "False", "(1,)"), 4, "N004 descr is a list of fields, one element type expected");
    refuses(HEADER("'<f4'", "False", "(2)"), 8, "N002");
    refuses(HEADER("'<f4'", "False", "(-2,)"), 8, "N002");
    refuses(HEADER("'<f4'", "False", "(2 1)"), 8, "N002");
    refuses(HEADER("'<f4'", "False", "2"), 8, "N002");
    refuses(HEADER("'<f4'", "False", "(1,1,1,1,1,1,1,1,2)"), 8, "N005 shape: 9 extents or more, at most 8 expected");
    refuses(HEADER("'<f4'", "False", "(99999999999999999999,)"), 8, "N005");
    refuses(HEADER("'<f4'", "False", "(4294967296, 4294967296)"), 8, "N005");
    refuses(ok, 7, "N006 7 bytes of values, but f32[2] needs 8\n  hint: the file is truncated");
    refuses(ok, 9, "N006 9 bytes of values");
    refuses(HEADER("'<f4'", "False", "(1000000000000,)"), 8, "N006"); /* found before memory is asked for */
    ts_array a;
    err e = {0};
    CHECK(!ts_npy_read("/nonexistent/x.npy", &a, &e) && e.code == TS_FILES);
    CHECK(!ts_npy_read(path, &a, NULL));
}

/* Every prefix of a good file is refused, never read past. */
static void test_truncated(void)
{
    write_file(1, HEADER("'<f4'", "False", "(2,)"), -1, "12345678", 8);
    text all = {0};
    CHECK(file_read(path, 1000, &all, NULL));
    for (size_t n = 0; n < all.length; n++) {
        ts_array a;
        CHECK(file_save(path, all.s, n, NULL));
        CHECK(!ts_npy_read(path, &a, NULL) && !a.data);
    }
    text_free(&all);
}

/* The dtype that numpy knows for the bits of d. */
static dtype in_files(dtype d)
{
    if (dtype_small(d))
        return dtype_class(d) == D_WHOLE && dtype_signed(d) ? TS_I8 : TS_U8;
    return d == TS_BF16 ? TS_U16 : d;
}

static void test_writes(void)
{
    for (int d = 0; d < TS_N_DTYPE; d++)
        for (int rank = 0; rank <= MAX_RANK; rank += rank < 3 ? 1 : 5) {
            ts_array a, b;
            err e = {0};
            CHECK(ts_array_make(&a, (dtype)d, rank, (int64_t[]){2, 3, 4, 1, 2, 1, 3, 1}, &e));
            ts_array_random(&a, 3, 100);
            CHECK(ts_npy_write(path, &a, &e) && ts_npy_read(path, &b, &e));
            size_t bytes = (size_t)ts_array_count(&a) * (size_t)ts_dtype_bytes(a.dtype);
            CHECK(b.dtype == in_files(a.dtype) && b.rank == rank);
            CHECK(memcmp(a.dim, b.dim, sizeof a.dim) == 0 && memcmp(a.data, b.data, bytes) == 0);
            text t = {0};
            CHECK(file_read(path, 1 << 20, &t, &e) && (t.length - bytes) % 64 == 0 &&
                  t.s[t.length - bytes - 1] == '\n');
            text_free(&t);
            ts_array_free(&a);
            ts_array_free(&b);
        }
    ts_array a;
    err e = {0};
    CHECK(ts_array_make(&a, TS_F32, 0, NULL, &e));
    CHECK(!ts_npy_write("/nonexistent/x.npy", &a, &e) && e.code == TS_FILES);
    ts_array_free(&a);
}

int main(int argc, char **argv)
{
    if (argc == 3) { /* IN OUT: for numpy to look at */
        ts_array a;
        err e = {0};
        bool done = ts_npy_read(argv[1], &a, &e) && ts_npy_write(argv[2], &a, &e);
        if (!done)
            fprintf(stderr, "%s\n", e.text);
        ts_array_free(&a);
        return !done;
    }
    scratch s = scratch_make();
    snprintf(path, sizeof path, "%s/a.npy", s.path);
    test_reads();
    test_refusals();
    test_truncated();
    test_writes();
    scratch_free(&s);
    return check_done();
}
