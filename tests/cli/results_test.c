/* What people see: exact text of a small result, hostile names, widths; quantities in three digits. */
/* ctest: fast */
#include "cli/outline.h"
#include "cli/results.h"
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
    "509607936},\"numerics\":{\"max_rel\":3.1e-7},"
    "\"kernels\":[{\"op\":\"product\",\"median_ns\":6e7},{\"op\":\"other\",\"median_ns\":1e7}]},"
    "{\"name\":\"naive\",\"status\":\"VALID\",\"reason\":null,\"flops\":2.23e10,"
    "\"stats\":{\"median_ns\":4.03e8,\"low_ns\":4.01e8,\"high_ns\":4.06e8,\"p90_ns\":4.09e8},\"memory\":{\"peak_"
    "bytes\":509607936},\"numerics\":{\"max_rel\":0.0042},"
    "\"kernels\":[{\"op\":\"product\",\"median_ns\":3.8e8},{\"op\":\"other\",\"median_ns\":1e7}]},"
    "{\"name\":\"\\u65e5\\u672c\\u001b[31m\",\"status\":\"INVALID\",\"reason\":\"wrong: output 0\",\"stats\":null}],"
    "\"peers\":[{\"name\":\"onnxruntime\",\"status\":\"ABSENT\",\"reason\":\"not installed\",\"stats\":null}],"
    "\"comparisons\":[{\"a\":\"blocked.json\",\"b\":\"naive\",\"verdict\":\"FASTER\",\"ratio\":5.652,\"low\":5.58,"
    "\"high\":5.72,"
    "\"a_error\":3.1e-7,\"b_error\":0.0042,"
    "\"detectable\":0.009,\"launches\":5,\"pairs\":150}],\"notes\":[\"2 of 300 "
    "samples flagged\"]}";

static const char expected[] =
    "bert  seq=128   2 threads (AMD EPYC, avx512)   peak 350 GFLOP/s f32, 30.2 GB/s (probed)\n"
    "contestant     median             95% CI     p90  GFLOP/s  peak   memory    error  status\n"
    "blocked.json  71.3 ms  70.9 ms … 71.8 ms   73 ms      313  89 %  486 MiB  3.1e-07  VALID\n"
    "naive          403 ms    401 ms … 406 ms  409 ms     55.3  16 %  486 MiB  4.2e-03  VALID\n"
    "日本\\x1b[31m        -                  -       -        -     -        -        -  INVALID\n"
    "  wrong: output 0\n"
    "onnxruntime         -                  -       -        -     -        -        -  ABSENT\n"
    "  not installed\n"
    "blocked.json vs naive: FASTER 5.652x (99% CI 5.580 … 5.720), 5 launches, 150 pairs, detectable >= 0.9%\n"
    "  not equally accurate: blocked.json is off by 3.1e-07 of the largest value, naive by 4.2e-03\n"
    "  96 % of the difference is in \"product\": 60 ms against 380 ms\n"
    "note: 2 of 300 samples flagged\n";

static char *shown(const char *json, int width, bool quiet, ts_error *e)
{
    char *got = NULL;
    size_t size = 0;
    const paper on = {.f = open_memstream(&got, &size), .color = width > 0, .width = width};
    const bool ok = results_show(&on, json, quiet, e);
    fclose(on.f);
    return ok ? got : (free(got), NULL);
}

static void test_table(void)
{
    ts_error e = {0};
    char *plain = shown(results, 0, false, &e);
    CHECK_TEXT(plain, expected);
    free(plain);
    char *quiet = shown(results, 0, true, &e);
    CHECK(quiet != NULL && strncmp(quiet, expected, strlen(quiet)) == 0);
    CHECK(quiet != NULL && strcmp(expected + strlen(quiet), "note: 2 of 300 samples flagged\n") == 0);
    free(quiet);
    char *coloured = shown(results, 77, false, &e);
    CHECK(coloured != NULL && strstr(coloured, "\033[32mFASTER\033[0m") != NULL);
    CHECK(coloured != NULL && strstr(coloured, "blocked\xE2\x80\xA6  71.3 ms") != NULL); /* cut to the width */
    free(coloured);
}

/* Kernels that take longer one by one than the pass: what is said of a part is less than the whole. */
static void test_proportion(void)
{
    static const char slow[] =
        "{\"format\":\"results/1\",\"candidates\":[{\"name\":\"a\",\"status\":\"VALID\",\"stats\":{\"median_ns\":2e8},"
        "\"kernels\":[{\"op\":\"product\",\"median_ns\":3e8},{\"op\":\"other\",\"median_ns\":1e8}]},"
        "{\"name\":\"b\",\"status\":\"VALID\",\"stats\":{\"median_ns\":4e8},"
        "\"kernels\":[{\"op\":\"product\",\"median_ns\":7e8},{\"op\":\"other\",\"median_ns\":1e8}]}],"
        "\"comparisons\":[{\"a\":\"a\",\"b\":\"b\",\"verdict\":\"FASTER\",\"ratio\":2,\"low\":1.9,\"high\":2.1}]}";
    ts_error e = {0};
    char *got = shown(slow, 0, false, &e);
    CHECK(got != NULL && strstr(got, "100 % of the difference is in \"product\": 150 ms against 350 ms") != NULL);
    free(got);
}

/* What a busy machine does to times stands at each of them by a mark, and once in words. */
static void test_busy(void)
{
    static const char busy[] =
        "{\"format\":\"results/1\",\"machine_state\":{\"state\":\"overloaded\",\"why\":\"others ran\",\"rounds\":9,"
        "\"counted_rounds\":9},\"candidates\":[{\"name\":\"a\",\"status\":\"VALID\",\"stats\":{\"median_ns\":7e6}},"
        "{\"name\":\"b\",\"status\":\"INVALID\",\"stats\":null}]}";
    ts_error e = {0};
    char *got = shown(busy, 0, false, &e);
    CHECK(got != NULL && strstr(got, "7 ms†") != NULL && strstr(got, "-†") == NULL);
    CHECK(got != NULL &&
          strstr(got, "machine: overloaded (†): others ran; 9 of 9 rounds count, less what threads waited "
                      "for a processor. The times may be too high\n") != NULL);
    if (got != NULL && strstr(got, "others ran") != NULL)
        CHECK(strstr(strstr(got, "others ran") + 1, "others ran") == NULL);
    free(got);
}

static void test_not_results(void)
{
    ts_error e = {0}, f = {0}, g = {0};
    CHECK(shown("{\"format\":\"tiling/1\"}", 0, false, &e) == NULL && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "results: \"format\" is \"tiling/1\", results/1 or comparison/1 expected\n"
                       "  hint: give a file that tessera bench wrote with -o, or what compare --json printed");
    CHECK(shown("{\"format\":", 0, false, &f) == NULL && f.code == TS_BAD_INPUT);
    /* nothing in it is not a reason to fail */
    char *empty = shown("{\"format\":\"results/1\"}", 0, false, &g);
    CHECK(empty != NULL && g.code == TS_OK);
    free(empty);
}

static void check_number(const char *name, double v, const char *want)
{
    char got[64];
    outline_value(got, sizeof got, name, &(cJSON){.type = isfinite(v) ? cJSON_Number : cJSON_NULL, .valuedouble = v});
    CHECK_TEXT(got, want);
}

static void test_quantities(void)
{
    check_number("ns", 71.34e6, "71.3 ms"), check_number("ns", 999.6e6, "1.00 s"), check_number("ns", 12, "12 ns");
    check_number("ns", 1234, "1.23 µs"), check_number("ns", NAN, "-"), check_number("bytes", 1024, "1 KiB");
    check_number("bytes", 0, "0 B"), check_number("rate", 123456, "123456"), check_number("rate", 0.05, "0.05");
    check_number("rate", 1e-9, "1e-09"), check_number("share", 0.8949, "89.5 %"),
        check_number("mhz", 2600.4, "2600 MHz");
}

int main(void)
{
    test_table();
    test_busy();
    test_proportion();
    test_not_results();
    test_quantities();
    return check_done();
}
