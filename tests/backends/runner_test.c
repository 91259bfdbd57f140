/* A model at many extents: a plan for each that is met, none for those met before; the largest of a range decides
 * whether there is room; what lies outside is refused; values that decide shapes are part of what a plan is for. */
/* ctest: fast */
#include "tests/check.h"
#include "tests/scratch.h"

#include "graph/base/base.h"
#include "graph/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char network[] =
    "{ \"format\": \"graph/1\", \"opset\": { \"\": 17 },\n"
    "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"batch\", \"seq\"] },\n"
    "    { \"name\": \"to\", \"dtype\": \"i64\", \"shape\": [2] } ],\n"
    "  \"outputs\": [ { \"name\": \"y\" } ],\n"
    "  \"nodes\": [ { \"op\": \"Softmax\", \"in\": [\"x\"], \"out\": [\"s\"] },\n"
    "    { \"op\": \"Reshape\", \"in\": [\"s\", \"to\"], \"out\": [\"y\"] } ] }\n";
static scratch folder;

static ts_model *open_network(const char *source)
{
    err e = {0};
    const char *path = scratch_in(&folder, "graph.json");
    CHECK(file_save(path, source, strlen(source), &e));
    ts_model *m = ts_model_open(path, &e);
    CHECK(m != NULL);
    return m;
}

/* One run at [batch, seq], reshaped to [-1, last]; whether its rows add up to 1. */
static bool run(ts_runner *r, int64_t batch, int64_t seq, int64_t last, err *e)
{
    ts_array in[2], y = {0};
    CHECK(ts_array_make(&in[0], TS_F32, 2, (int64_t[]){batch, seq}, e) &&
          ts_array_make(&in[1], TS_I64, 1, (int64_t[]){2}, e));
    ts_array_random(&in[0], 1, 0);
    ((int64_t *)in[1].data)[0] = -1, ((int64_t *)in[1].data)[1] = last;
    bool ok = ts_runner_run(r, in, 1, &y, e);
    if (ok) {
        double sum = 0;
        CHECK(y.rank == 2 && y.dim[1] == last && y.dim[0] * last == batch * seq);
        for (int64_t i = 0; i < ts_array_count(&y); i++)
            sum += ts_array_at(&y, i);
        CHECK(sum > (double)batch - 1e-4 && sum < (double)batch + 1e-4);
    }
    ts_array_free(&in[0]), ts_array_free(&in[1]), ts_array_free(&y);
    return ok;
}

static void test_extents(const ts_options *o)
{
    err e = {0};
    ts_model *m = open_network(network);
    const char *dim[] = {"seq=2..12", "batch=1..4"};
    ts_runner *r = ts_runner_make(m, 2, dim, o, &e);
    CHECK(r && ts_runner_made(r) == 0); /* the shape that y gets waits for the value of "to" */
    CHECK(run(r, 2, 6, 3, &e) && ts_runner_made(r) == 1);
    CHECK(run(r, 2, 6, 3, &e) && ts_runner_made(r) == 1);
    CHECK(run(r, 3, 4, 2, &e) && run(r, 2, 6, 4, &e) && ts_runner_made(r) == 3);
    CHECK(run(r, 2, 6, 3, &e) && run(r, 3, 4, 2, &e) && ts_runner_made(r) == 3);
    CHECK(!run(r, 2, 13, 13, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "dimension \"seq\" is 13 by the value of input \"x\", outside of --dim seq=2..12");
    e = (err){0};
    CHECK(!run(r, 2, 1, 1, &e) && e.code == TS_BAD_INPUT);
    for (int64_t s = 2; s <= 12; s++) /* more than are kept */
        for (int64_t b = 1; b <= 4; b++) {
            e = (err){0};
            CHECK(run(r, b, s, s, &e));
        }
    CHECK(run(r, 4, 12, 12, &e));
    ts_runner_free(r);
    ts_model_free(m);
}

static void test_largest(void)
{
    err e = {0};
    ts_model *m = ts_model_open("bert-tiny", &e);
    const char *many = "seq=1..64", *few = "seq=1..4";
    ts_options o = {.target = "null"};
    ts_runner *r = ts_runner_make(m, 1, &many, &o, &e);
    CHECK(r && ts_runner_made(r) == 1);
    ts_runner_free(r);
    CHECK(ts_model_bind(m, 1, &few, NULL, &e));
    ts_port p;
    CHECK(ts_model_input(m, 0, &p) && p.dim[1] == 4); /* where nothing decides, the largest */
    ts_plan *small = ts_plan_make(m, &o, &e);
    CHECK(small != NULL);
    ts_plan_free(small);
    o.mem_limit = "1000";
    CHECK(!ts_runner_make(m, 1, &many, &o, &e) && e.code == TS_MEMORY); /* before anything ran */
    ts_model_free(m);
}

/* One program for all extents; what is met often gets its own meanwhile, and the numbers stay. */
static bool run_varying(ts_runner *r, ts_model *m, int n, ts_array *out, err *e)
{
    ts_array in[3];
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        ts_port p;
        CHECK(ts_model_input(m, i, &p) && ts_array_make(&in[i], TS_I64, 2, (int64_t[]){1, n}, e));
        for (int k = 0; k < n; k++)
            ((int64_t *)in[i].data)[k] = strcmp(p.name, "input_ids") == 0 ? 100 + k : strstr(p.name, "mask") != NULL;
    }
    ok = ts_runner_run(r, in, 1, out, e);
    for (int i = 0; i < 3; i++)
        ts_array_free(&in[i]);
    return ok;
}

static void test_varying(void)
{
    err e = {0};
    ts_model *m = ts_model_open("bert-tiny", &e), *names = ts_model_open("bert-tiny", &e);
    const char *dim = "seq=1..32";
    ts_array first = {0}, y = {0};
    ts_runner *r = ts_runner_make(m, 1, &dim, &(ts_options){.threads = 2}, &e);
    CHECK(r && ts_runner_made(r) == 1);
    for (int n = 1; n <= 32; n += 5)
        CHECK(run_varying(r, names, n, &y, &e) && y.dim[1] == n && (ts_array_free(&y), true));
    CHECK(ts_runner_made(r) == 1); /* nothing was waited for */
    CHECK(!run_varying(r, names, 33, &y, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "input \"input_ids\": dimension 1 is 33, outside of seq=1..32");
    e = (err){0};
    CHECK(run_varying(r, names, 12, &first, &e));
    const double end = seconds_now() + 120;
    while (ts_runner_made(r) < 2 && seconds_now() < end && CHECK(run_varying(r, names, 12, &y, &e)))
        ts_array_free(&y);
    CHECK(ts_runner_made(r) == 2 && run_varying(r, names, 12, &y, &e));
    for (int64_t i = 0; i < ts_array_count(&y); i++)
        if (fabs(ts_array_at(&y, i) - ts_array_at(&first, i)) > 2e-5) {
            CHECK(false);
            break;
        }
    ts_array_free(&y), ts_array_free(&first);
    for (int i = 0; i < 20; i++) /* freed while a plan is being made */
        CHECK(run_varying(r, names, 19, &y, &e) && (ts_array_free(&y), true));
    ts_runner_free(r);
    ts_model_free(m), ts_model_free(names);
}

static void test_ranges(void)
{
    static const struct {
        const char *dim[2];
        ts_code code;
        const char *text;
    } wrong[] = {
        {{"seq=4..2", NULL}, TS_USAGE, "--dim \"seq=4..2\": the range is empty"},
        {{"seq=4..", NULL},
         TS_USAGE,
         "--dim \"seq=4..\": an extent is a whole number from 0 to 2^40, a range two of them: "
         "seq=1..128, a sum of dimensions and numbers: seq=past+1"},
        {{"seq=1..2", "seq=1..3"}, TS_BAD_INPUT, "dimension \"seq\" has two ranges: --dim seq=1..2 and --dim seq=1..3"},
        {{"seq=1..2", "seq=3"}, TS_BAD_INPUT, "dimension \"seq\" is 3 by --dim seq=3, outside of --dim seq=1..2"},
        {{"seq=3", "seq=1..2"}, TS_BAD_INPUT, "dimension \"seq\" is 3 by --dim seq=3, outside of --dim seq=1..2"},
        {{"batch=1..9", NULL},
         TS_BAD_INPUT,
         "dimension \"batch\" is 1 to 9 by --dim batch=1..9, the model allows 1 to 8"},
    };
    const char *stated = "{ \"format\": \"graph/1\", \"opset\": { \"\": 17 },\n"
                         "  \"dims\": { \"batch\": { \"min\": 1, \"max\": 8, \"default\": 2 } },\n"
                         "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"batch\", \"seq\"] } ],\n"
                         "  \"outputs\": [ { \"name\": \"y\" } ],\n"
                         "  \"nodes\": [ { \"op\": \"Softmax\", \"in\": [\"x\"], \"out\": [\"y\"] } ] }\n";
    ts_model *m = open_network(stated);
    for (int i = 0; i < COUNT(wrong); i++) {
        err e = {0};
        CHECK(!ts_model_bind(m, wrong[i].dim[1] ? 2 : 1, wrong[i].dim, NULL, &e) && e.code == wrong[i].code);
        CHECK_TEXT(e.text, wrong[i].text);
    }
    ts_model_free(m);
}

int main(void)
{
    folder = scratch_make();
    test_extents(&(ts_options){.target = "interp"});
    test_largest();
    test_varying();
    test_ranges();
    scratch_free(&folder);
    return check_done();
}
