/* Dimensions that are tied to others: by a sum that is asked for, or by a name that is one; ranges in steps. */
#include "tests/check.h"
#include "tests/scratch.h"

#include "graph/base/base.h"

#include <stdio.h>
#include <string.h>

static scratch folder;

static ts_model *open_cache(const char *total)
{
    char path[160], source[512];
    err e = {0};
    snprintf(path, sizeof path, "%s/graph.json", folder.path);
    snprintf(source, sizeof source,
             "{\"format\":\"graph/1\",\"opset\":{\"\":17},\"inputs\":["
             "{\"name\":\"kept\",\"dtype\":\"f32\",\"shape\":[\"past\"]},"
             "{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[\"seq\"]},"
             "{\"name\":\"mask\",\"dtype\":\"f32\",\"shape\":[\"%s\"]}],\"outputs\":[{\"name\":\"y\"}],"
             "\"nodes\":[{\"op\":\"Concat\",\"in\":[\"kept\",\"x\"],\"out\":[\"all\"],\"attr\":{\"axis\":0}},"
             "{\"op\":\"Mul\",\"in\":[\"all\",\"mask\"],\"out\":[\"y\"]}]}",
             total);
    CHECK(file_save(path, source, strlen(source), &e));
    ts_model *m = ts_model_open(path, &e);
    CHECK(m != NULL);
    return m;
}

static int64_t bound(const char *name, int n, const char *const *dim, const ts_array *shapes, err *e)
{
    ts_model *m = open_cache(name);
    ts_port p = {0};
    *e = (err){0};
    const bool ok = ts_model_bind(m, n, dim, shapes, e) && ts_model_input(m, 2, &p);
    ts_model_free(m);
    return ok ? p.dim[0] : -1;
}
#define BOUND(name, shapes, ...) \
    bound(name, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *const[]){__VA_ARGS__}, shapes, &e)

static void test_sums(void)
{
    err e;
    const ts_array given[] = {{.dtype = TS_N_DTYPE}, {.dtype = TS_N_DTYPE}, {.dtype = TS_F32, .rank = 1, .dim = {6}}};
    CHECK(BOUND("total", NULL, "total=past+seq", "past=3", "seq=2") == 5);
    CHECK(BOUND("total", NULL, "past=3", "seq=1", "total=past + 1") == 4);
    CHECK(BOUND("total", NULL, "past=..8", "seq=1..4", "total=past+seq") == 12); /* where ranges are largest */
    CHECK(BOUND("total", NULL, "past=3", "seq=total", "total=3+past") == -1);    /* 6 are not 3 + 6 */
    CHECK(BOUND("past + seq", NULL, "past=3", "seq=2") == 5);
    CHECK(BOUND("past + seq", NULL, "past=3", "seq=2", "past + seq=5") == 5);
    CHECK(BOUND("total", given, "past=3", "seq=2", "total=past+seq") == -1 && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "dimension \"total\" is 6 by the value of input \"mask\" and 5 by --dim total=past+seq");
    CHECK(BOUND("total", NULL, "past=3", "seq=2", "total=past+sq") == -1 && e.code == TS_USAGE);
    CHECK_TEXT(e.text, "--dim \"total=past+sq\": an extent is a whole number from 0 to 2^40, a range two of them: "
                       "total=1..128, a sum of dimensions and numbers: total=past+1");
    CHECK(BOUND("total", NULL, "past=3", "seq=2", "total=total+1") == -1 && e.code == TS_USAGE);
    CHECK_TEXT(e.text, "dimension \"total\" of input \"mask\" has no extent\n  hint: give it one: --dim total=N");
    CHECK(BOUND("total", NULL, "total=past+1", "total=past+2", "past=3", "seq=1") == -1);
    CHECK_TEXT(e.text, "dimension \"total\" has two sums: --dim total=past+1 and --dim total=past+2");
}

static void test_steps(void)
{
    err e;
    const ts_array given[] = {{.dtype = TS_F32, .rank = 1, .dim = {6}}, {.dtype = TS_N_DTYPE}, {.dtype = TS_N_DTYPE}};
    CHECK(BOUND("total", NULL, "past=4..16/4", "seq=2", "total=past+seq") == 18);
    CHECK(BOUND("total", given, "past=4..16/4", "seq=2", "total=past+seq") == -1);
    CHECK_TEXT(e.text, "dimension \"past\" is 6 by the value of input \"kept\", outside of --dim past=4..16/4");
    CHECK(BOUND("total", NULL, "past=2..16/4", "seq=2", "total=past+seq") == -1 && e.code == TS_USAGE);
    CHECK_TEXT(e.text, "--dim \"past=2..16/4\": a range in steps of 4 begins and ends at multiples of it");
    CHECK(BOUND("total", NULL, "past=..18/4", "seq=2", "total=past+seq") == -1 && e.code == TS_USAGE);
    CHECK_TEXT(e.text, "--dim \"past=..18/4\": a range in steps of 4 begins and ends at multiples of it");
}

int main(void)
{
    folder = scratch_make();
    test_sums();
    test_steps();
    scratch_free(&folder);
    return check_done();
}
