/* Inputs that go on from run to run: what a plan keeps is what another one is given whole, wherever it is read; where
 * nobody reads it afterwards nothing is copied; what cannot go on is refused. */
#include "tests/check.h"
#include "tests/scratch.h"

#include "graph/base/base.h"

#include <stdio.h>
#include <string.h>

static scratch folder;

/* y joins a past and a token, whose product with it is s; z is the largest of one of them; w is no past and more. */
static const char source[] =
    "{ \"format\": \"graph/1\", \"opset\": { \"\": 17 },\n"
    "  \"inputs\": [ { \"name\": \"past\", \"dtype\": \"f32\", \"shape\": [2, \"n\", 3] },\n"
    "    { \"name\": \"token\", \"dtype\": \"f32\", \"shape\": [2, 1, 3] } ],\n"
    "  \"outputs\": [ { \"name\": \"z\" }, { \"name\": \"y\" }, { \"name\": \"s\" }, { \"name\": \"w\" } ],\n"
    "  \"nodes\": [ { \"op\": \"Concat\", \"in\": [\"past\", \"token\"], \"out\": [\"y\"], \"attr\": { \"axis\": 1 } "
    "},\n"
    "    { \"op\": \"MatMul\", \"in\": [\"token\", \"t\"], \"out\": [\"s\"] },\n"
    "    { \"op\": \"Transpose\", \"in\": [\"y\"], \"out\": [\"t\"], \"attr\": { \"perm\": [0, 2, 1] } },\n"
    "    { \"op\": \"ReduceMax\", \"in\": [\"%s\"], \"out\": [\"z\"], \"attr\": { \"axes\": [1], \"keepdims\": 0 } },\n"
    "    { \"op\": \"Concat\", \"in\": [\"token\", \"token\"], \"out\": [\"w\"], \"attr\": { \"axis\": 1 } } ] }\n";

static ts_model *open_network(const char *of)
{
    err e = {0};
    text t = {0};
    text_add(&t, source, of);
    const char *path = scratch_in(&folder, "graph.json");
    CHECK(file_save(path, text_str(&t), t.length, &e));
    text_free(&t);
    ts_model *m = ts_model_open(path, &e);
    if (!CHECK(m != NULL))
        fprintf(stderr, "%s\n", e.text);
    return m;
}

static ts_plan *make(ts_model *m, const ts_append *a, int n, err *e)
{
    const char *range = "n=1..8";
    const ts_options o = {.n_append = n, .append = a, .as_written = true};
    return ts_plan_make_varying(m, 1, &range, &o, e);
}

static bool step(ts_plan *p, int n_set, const ts_array *in, ts_array *out, err *e)
{
    bool ok = ts_plan_set(p, 1, &in[1], e) && (n_set < 2 || ts_plan_set(p, 0, &in[0], e)) && ts_plan_run(p, e);
    for (int i = 0; ok && i < 3; i++)
        ok = ts_plan_get(p, i, &out[i], e);
    return ok;
}

static bool same(const ts_array *a, const ts_array *b)
{
    bool ok = a->rank == b->rank && ts_array_count(a) == ts_array_count(b);
    for (int64_t i = 0; ok && i < ts_array_count(a); i++)
        ok = ts_array_at(a, i) == ts_array_at(b, i);
    return ok;
}

static void test_steps(const char *of, bool in_place)
{
    err e = {0};
    ts_model *m = open_network(of), *again = open_network(of);
    ts_plan *kept = make(m, &(ts_append){0, 1, 9}, 1, &e), *given = make(again, NULL, 0, &e);
    ts_array in[2], now = {0};
    if (!CHECK(kept && given)) {
        fprintf(stderr, "%s\n", e.text);
        return;
    }
    CHECK(ts_array_make(&in[0], TS_F32, 3, (int64_t[]){2, 3, 3}, &e) &&
          ts_array_make(&in[1], TS_F32, 3, (int64_t[]){2, 1, 3}, &e));
    ts_array_random(&in[0], 7, 0);
    for (int i = 0; i < 6; i++) { /* pasts of 3 to 8 */
        ts_array a[3] = {{0}}, b[3] = {{0}};
        ts_array_random(&in[1], (uint64_t)i + 20, 0);
        CHECK(step(kept, i ? 1 : 2, in, a, &e) && step(given, 2, in, b, &e));
        CHECK(same(&a[0], &b[0]) && same(&a[2], &b[2]));
        CHECK(a[1].dim[1] == 9 && b[1].dim[1] == 4 + i); /* all of the room; as long as it is */
        ts_array_free(&in[0]), in[0] = b[1];
        CHECK(i == 5 || (ts_plan_value(kept, 0, &now, &e) && same(&now, &in[0])));
        ts_array_free(&now);
        for (int k = 0; k < 3; k++)
            ts_array_free(&a[k]), k == 1 ? (void)0 : ts_array_free(&b[k]);
    }
    char *json = ts_plan_json(kept, &e);
    CHECK(json && strstr(json, in_place ? "\"in_place\":true" : "\"in_place\":false"));
    ts_free(json);
    CHECK(!ts_plan_run(kept, &e) && e.code == TS_BAD_INPUT);
    e.text[strcspn(e.text, "\n")] = 0;
    CHECK_TEXT(e.text, "input \"past\": dimension 1 is 9, more than its ranges allow");
    ts_array_free(&in[0]), ts_array_free(&in[1]);
    ts_plan_free(kept), ts_plan_free(given), ts_model_free(m), ts_model_free(again);
}

static void test_refused(void)
{
    static const struct {
        int n;
        ts_append of[2];
        ts_code code;
        const char *text;
    } wrong[] = {
        {1, {{0, 3, 9}}, TS_UNSUPPORTED, "output \"w\" is not \"past\" with more behind it"},
        {1, {{0, 4, 9}}, TS_USAGE, "no input 0 or output 4 to go on with"},
        {1, {{2, 1, 9}}, TS_USAGE, "no input 2 or output 1 to go on with"},
        {2, {{0, 1, 9}, {0, 1, 9}}, TS_USAGE, "\"past\" goes on twice, or in an output that another input goes on in"},
        {1, {{0, 1, 8}}, TS_BAD_INPUT, NULL}, /* less than the range has */
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        err e = {0};
        ts_model *m = open_network("past");
        CHECK(!make(m, wrong[i].of, wrong[i].n, &e) && e.code == wrong[i].code);
        e.text[strcspn(e.text, "\n")] = 0;
        if (wrong[i].text)
            CHECK_TEXT(e.text, wrong[i].text);
        ts_model_free(m);
    }
    err e = {0};
    ts_model *m = open_network("past");
    const char *dim = "n=4";
    CHECK(ts_model_bind(m, 1, &dim, NULL, &e));
    CHECK(!ts_plan_make(m, &(ts_options){.n_append = 1, .append = &(ts_append){0, 1, 9}}, &e) && e.code == TS_USAGE);
    ts_model_free(m);
}

int main(void)
{
    folder = scratch_make();
    test_steps("token", true);
    test_steps("past", false); /* which is read when what is new is there */
    test_refused();
    scratch_free(&folder);
    return check_done();
}
