/* What people see: exact text of a small result, hostile names, widths; quantities in three digits. */
/* ctest: fast */
#include "bench/bench.h"
#include "bench/cell.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char results[] =
    "{\"format\":\"results/1\",\"model\":{\"name\":\"bert\",\"dims\":[\"seq=128\"]},"
    "\"environment\":{\"cpu\":\"AMD EPYC\",\"threads\":2,\"isa\":\"avx512\"},"
    "\"ceilings\":{\"fma_f32_gflops\":350,\"read_gbs\":30.2},"
    "\"candidates\":[{\"name\":\"blocked.json\",\"status\":\"VALID\",\"reason\":null,\"flops\":2.23e10,"
    "\"stats\":{\"median_ns\":7.13e7,\"low_ns\":7.09e7,\"high_ns\":7.18e7,\"p90_ns\":7.3e7},\"memory\":{\"peak_bytes\":"
    "509607936},"
    "\"kernels\":[{\"op\":\"product\",\"median_ns\":6e7},{\"op\":\"other\",\"median_ns\":1e7}]},"
    "{\"name\":\"naive\",\"status\":\"VALID\",\"reason\":null,\"flops\":2.23e10,"
    "\"stats\":{\"median_ns\":4.03e8,\"low_ns\":4.01e8,\"high_ns\":4.06e8,\"p90_ns\":4.09e8},\"memory\":{\"peak_"
    "bytes\":509607936},"
    "\"kernels\":[{\"op\":\"product\",\"median_ns\":3.8e8},{\"op\":\"other\",\"median_ns\":1e7}]},"
    "{\"name\":\"\\u65e5\\u672c\\u001b[31m\",\"status\":\"INVALID\",\"reason\":\"wrong: output 0\",\"stats\":null}],"
    "\"peers\":[{\"name\":\"onnxruntime\",\"status\":\"ABSENT\",\"reason\":\"not installed\",\"stats\":null}],"
    "\"comparisons\":[{\"a\":\"blocked.json\",\"b\":\"naive\",\"verdict\":\"FASTER\",\"ratio\":5.652,\"low\":5.58,"
    "\"high\":5.72,"
    "\"detectable\":0.009,\"launches\":5,\"pairs\":150}],\"notes\":[\"2 of 300 samples flagged\"]}";

static const char expected[] =
    "bert  seq=128   2 threads (AMD EPYC, avx512)   peak 350 GFLOP/s f32, 30.2 GB/s (probed)\n"
    "contestant     median             95% CI      p90  GFLOP/s  peak   memory  status\n"
    "blocked.json  71.3 ms  70.9 ms … 71.8 ms  73.0 ms      313  89 %  486 MiB  VALID\n"
    "naive          403 ms    401 ms … 406 ms   409 ms     55.3  16 %  486 MiB  VALID\n"
    "日本\\x1B[31m        -                  -        -        -     -        -  INVALID\n"
    "  wrong: output 0\n"
    "onnxruntime         -                  -        -        -     -        -  ABSENT\n"
    "  not installed\n"
    "blocked.json vs naive: FASTER 5.652x (99% CI 5.580 … 5.720), 5 launches, 150 pairs, detectable >= 0.9%\n"
    "  96 % of the difference is in \"product\": 60.0 ms against 380 ms\n"
    "note: 2 of 300 samples flagged\n";

static void test_table(void)
{
    ts_error e = {0};
    char *plain = bench_table_text(results, NULL, &e);
    CHECK_TEXT(plain, expected);
    free(plain);
    char *quiet = bench_table_text(results, &(bench_view){.quiet = true}, &e);
    CHECK(quiet != NULL && strncmp(quiet, expected, strlen(quiet)) == 0 && strstr(quiet, "note: ") == NULL);
    CHECK(quiet != NULL && strcmp(expected + strlen(quiet), "note: 2 of 300 samples flagged\n") == 0);
    free(quiet);
    bench_view view = {.colour = true, .width = 78};
    char *coloured = bench_table_text(results, &view, &e);
    CHECK(coloured != NULL && strstr(coloured, "\033[32mFASTER\033[0m") != NULL);
    CHECK(coloured != NULL && strstr(coloured, "blocked\xE2\x80\xA6  71.3 ms") != NULL); /* cut to the width */
    free(coloured);
}

static void test_not_results(void)
{
    ts_error e = {0}, f = {0};
    CHECK(bench_table_text("{\"format\":\"tiling/1\"}", NULL, &e) == NULL && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "results: \"format\" is \"tiling/1\", results/1 or comparison/1 expected\n"
                       "  hint: give a file that tessera bench wrote with -o, or what compare --json printed");
    CHECK(bench_table_text("{\"format\":", NULL, &f) == NULL && f.code == TS_BAD_INPUT);
    ts_error g = {0};
    char *empty = bench_table_text("{\"format\":\"results/1\"}", NULL, &g); /* nothing in it is not a reason to fail */
    CHECK(empty != NULL && g.code == TS_OK);
    free(empty);
}

static void check_cell(const char *s, int width, const char *want)
{
    char *got = cell_text(s, width);
    CHECK_TEXT(got, want);
    free(got);
}

static void test_cells(void)
{
    check_cell("plain", 0, "plain");
    check_cell("a\nb\x1b[2J\x7f", 0, "a\\x0Ab\\x1B[2J\\x7F");
    check_cell("\xff\xc0\xaf", 0, "\\xFF\\xC0\\xAF");
    check_cell("x\xE2\x80\xAEy", 0, "x\\xE2\\x80\\xAEy"); /* turns the direction of text */
    check_cell("abcdef", 4, "abc\xE2\x80\xA6");
    check_cell("日本語", 5, "日本\xE2\x80\xA6");
    check_cell("日本語", 4, "日\xE2\x80\xA6");
    CHECK(cell_width("日本") == 4 && cell_width("é") == 1 && cell_width("e\xCC\x81") == 1 && cell_width("") == 0);
}

static void test_quantities(void)
{
    CHECK_TEXT(cell_time(71.34e6).s, "71.3 ms");
    CHECK_TEXT(cell_time(999.6e6).s, "1.00 s");
    CHECK_TEXT(cell_time(12).s, "12.0 ns");
    CHECK_TEXT(cell_time(1234).s, "1.23 \xC2\xB5s");
    CHECK_TEXT(cell_time(NAN).s, "-");
    CHECK_TEXT(cell_bytes(1024).s, "1.00 KiB");
    CHECK_TEXT(cell_bytes(0).s, "0 B");
    CHECK_TEXT(cell_number(123456).s, "123456");
    CHECK_TEXT(cell_number(0.05).s, "0.050");
    CHECK_TEXT(cell_number(1e-9).s, "1.00e-09");
    CHECK_TEXT(cell_share(0.8949).s, "89 %");
}

int main(void)
{
    test_table();
    test_not_results();
    test_cells();
    test_quantities();
    return check_done();
}
