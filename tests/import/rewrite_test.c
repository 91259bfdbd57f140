/* All that graph/1 can say goes through ONNX and comes back the same, byte by byte: functions with defaults and
 * references, graphs in nodes that see values around them and hold numbers of their own, every kind of attribute,
 * sequences and optionals, operators and names with points in them. */
/* ctest: fast */
#include "import/model.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static scratch folder;

static const char network[] =
    "{ \"format\": \"graph/1\", \"name\": \"all\", \"opset\": { \"\": 17, \"own\": 1, \"a.b\": 2 },\n"
    "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"n\", 70] },\n"
    "    { \"name\": \"go\", \"dtype\": \"bool\", \"shape\": [] },\n"
    "    { \"name\": \"s\", \"dtype\": \"f32\", \"form\": [\"optional\", \"sequence\"], \"shape\": [\"n\"] } ],\n"
    "  \"outputs\": [ { \"name\": \"y\", \"dtype\": \"f32\", \"shape\": [\"n\", 70] } ],\n"
    "  \"constants\": { \"one\": { \"dtype\": \"f32\", \"shape\": [], \"data\": [1.0] } },\n"
    "  \"nodes\": [\n"
    "    { \"op\": \"own.scale\", \"in\": [\"x\"], \"out\": [\"t\"], \"attr\": { \"by\": 3.0 } },\n"
    "    { \"op\": \"own.scale\", \"in\": [\"t\"], \"out\": [\"u\"], \"attr\": { \"by\": 0.5, \"alpha\": 0.25 } },\n"
    "    { \"name\": \"if\", \"op\": \"If\", \"in\": [\"go\"], \"out\": [\"y\"], \"attr\": {\n"
    "      \"then_branch\": { \"inputs\": [], \"outputs\": [ { \"name\": \"a\" } ],\n"
    "        \"constants\": { \"w\": { \"dtype\": \"f32\", \"shape\": [2], \"data\": [1.5, -2.0] },\n"
    "          \"k\": { \"dtype\": \"i64\", \"shape\": [1], \"data\": [70] } },\n"
    "        \"nodes\": [ { \"op\": \"ReduceSum\", \"in\": [\"w\"], \"out\": [\"v\"] },\n"
    "          { \"op\": \"Add\", \"in\": [\"u\", \"v\"], \"out\": [\"a\"] } ] },\n"
    "      \"else_branch\": { \"inputs\": [], \"outputs\": [ { \"name\": \"b\", \"dtype\": \"f32\", \"shape\": [\"n\", "
    "70] } ],\n"
    "        \"nodes\": [ { \"op\": \"Identity\", \"in\": [\"u\"], \"out\": [\"b\"] } ] } } },\n"
    "    { \"op\": \"Every.kind\", \"domain\": \"a.b\", \"in\": [\"x\", \"\", \"one\"], \"out\": [\"z\", \"\"], "
    "\"attr\": {\n"
    "      \"int\": -9007199254740993, \"float\": 0.1, \"nan\": { \"float\": \"NaN\" }, \"text\": \"NaN\", \"none\": "
    "\"\",\n"
    "      \"ints\": [1, 2], \"no_ints\": [], \"floats\": [1.0, \"-Infinity\"], \"no_floats\": { \"floats\": [] },\n"
    "      \"texts\": [\"a\", \"\", \"\\\"\"], \"words\": { \"strings\": [\"NaN\"] }, \"no_texts\": { \"strings\": [] "
    "},\n"
    "      \"tensor\": { \"dtype\": \"i8\", \"shape\": [2, 2], \"data\": [1, -2, 3, -128] },\n"
    "      \"lost\": { \"dtype\": \"f64\", \"shape\": [2], \"data\": [\"NaN\", \"Infinity\"] },\n"
    "      \"type\": { \"type\": { \"dtype\": \"f16\", \"form\": [\"sequence\"], \"shape\": [3, \"m\"] } },\n"
    "      \"loose\": { \"type\": { \"dtype\": \"u8\" } } } } ],\n"
    "  \"functions\": [ { \"name\": \"scale\", \"domain\": \"own\", \"opset\": { \"\": 17 }, \"inputs\": [\"in\"],\n"
    "    \"outputs\": [\"out\"], \"attr\": { \"alpha\": 0.125 },\n"
    "    \"constants\": { \"c\": { \"dtype\": \"f32\", \"shape\": [1], \"data\": [2.0] } },\n"
    "    \"nodes\": [ { \"op\": \"LeakyRelu\", \"in\": [\"in\"], \"out\": [\"h\"],\n"
    "        \"attr\": { \"alpha\": { \"ref\": \"alpha\", \"kind\": \"float\" } } },\n"
    "      { \"op\": \"Constant\", \"in\": [], \"out\": [\"f\"],\n"
    "        \"attr\": { \"value_float\": { \"ref\": \"by\", \"kind\": \"float\" } } },\n"
    "      { \"op\": \"Mul\", \"in\": [\"h\", \"f\"], \"out\": [\"g\"] },\n"
    "      { \"op\": \"Mul\", \"in\": [\"g\", \"c\"], \"out\": [\"out\"] } ] } ] }\n";

static const char *in_folder(const char *name)
{
    static char path[4][160];
    static int k;
    char *to = path[k++ % 4];
    snprintf(to, 160, "%s/%s", folder.path, name);
    return to;
}

static ts_model *open_model(const char *path)
{
    err e = {0};
    ts_model *m = ts_model_open(path, &e);
    if (!CHECK(m != NULL))
        fprintf(stderr, "  said: %s\n", e.text);
    return m;
}

static void save(ts_model *m, const char *format, const char *path)
{
    err e = {0};
    if (!CHECK(m && ts_model_save(m, format, path, &e)))
        fprintf(stderr, "  said: %s\n", e.text);
}

static void check_same_file(const char *a, const char *b)
{
    text x = {0}, y = {0};
    err e = {0};
    CHECK(file_read(a, 1 << 20, &x, &e) && file_read(b, 1 << 20, &y, &e));
    CHECK(x.length == y.length && !memcmp(x.s, y.s, x.length));
    if (x.length < 100000 && y.length < 100000 && strstr(a, ".json"))
        CHECK_TEXT(text_str(&x), text_str(&y));
    text_free(&x), text_free(&y);
}

static void hash_of(ts_model *m, int go, char hex[65])
{
    err e = {0};
    ts_array x, truth;
    ts_value in[3] = {{.kind = TS_TENSOR}, {.kind = TS_TENSOR}, {.kind = TS_OPTIONAL}};
    CHECK(ts_array_make(&x, TS_F32, 2, (int64_t[]){2, 70}, &e) && ts_array_make(&truth, TS_BOOL, 0, NULL, &e));
    *(uint8_t *)truth.data = (uint8_t)go;
    in[0].array = x, in[1].array = truth;
    const bool hold[3] = {false, true, false};
    if (CHECK(ts_model_bind_values(m, &(ts_binding){.value = in, .hold = hold}, &e))) {
        ts_tensor y = ts_model_tensor(m, 0);
        ts_hash(1, &y, hex);
    } else
        fprintf(stderr, "  said: %s\n", e.text);
    ts_array_free(&x), ts_array_free(&truth);
}

static void check_hashes(ts_model *a, ts_model *b)
{
    for (int go = 0; go < 2; go++) {
        char x[65] = "a", y[65] = "b";
        hash_of(a, go, x), hash_of(b, go, y);
        CHECK_TEXT(x, y);
    }
}

static void test_round(void)
{
    err e = {0};
    CHECK(file_save(in_folder("all.json"), network, strlen(network), &e));
    ts_model *first = open_model(in_folder("all.json"));
    save(first, "json", in_folder("one"));
    ts_model *one = open_model(in_folder("one"));
    save(one, "onnx", in_folder("two.onnx"));
    ts_model *two = open_model(in_folder("two.onnx"));
    save(two, "json", in_folder("three"));
    check_same_file(in_folder("one/graph.json"), in_folder("three/graph.json"));
    check_same_file(in_folder("one/weights.safetensors"), in_folder("three/weights.safetensors"));
    check_hashes(first, one);
    check_hashes(first, two);
    ts_model_free(first), ts_model_free(one), ts_model_free(two);
}

static void refuse(const char *nodes, const char *more, ts_code code, const char *part)
{
    err e = {0};
    text t = {0};
    text_add(
        &t,
        "{ \"format\": \"graph/1\", \"opset\": { \"\": 17 }, \"inputs\": [], \"outputs\": [ { \"name\": \"y\" } ], "
        "\"nodes\": [ { \"op\": \"A\", \"in\": [], \"out\": [\"y\"], \"attr\": { \"a\": %s } } ]%s }",
        nodes, more);
    CHECK(file_save(in_folder("wrong.json"), t.s, t.length, &e));
    text_free(&t);
    ts_model *m = ts_model_open(in_folder("wrong.json"), &e);
    CHECK(!m && e.code == code);
    if (!CHECK(strstr(e.text, part)))
        fprintf(stderr, "  said: %s\n  want: %s\n", e.text, part);
    ts_model_free(m);
}

static void test_refusals(void)
{
    refuse("{ \"ref\": \"b\" }", "", TS_BAD_INPUT, "refers to a function's attribute outside of functions");
    refuse("{ \"weight\": \"w\" }", "", TS_BAD_INPUT, "the weights hold no tensor \"w\"");
    refuse("[\"a\", 1]", "", TS_BAD_INPUT, "a text of one line expected, not 1");
    refuse("[\"a\\nb\"]", "", TS_BAD_INPUT, "a text of one line expected, not \"a\\nb\"");
    refuse("{ \"float\": 1.0, \"floats\": [] }", "", TS_BAD_INPUT, "one of \"float\", \"floats\" and \"strings\"");
    refuse("{ \"type\": { \"shape\": [1] } }", "", TS_BAD_INPUT, "the key \"dtype\" is missing");
    refuse("{ \"type\": { \"dtype\": \"f32\", \"form\": [\"map\"] } }", "", TS_BAD_INPUT, "a form is a list of");
    refuse("1",
           ", \"functions\": [ { \"name\": \"f\", \"opset\": {}, \"inputs\": [], \"outputs\": [], \"nodes\": [ { "
           "\"op\": \"B\", \"in\": [], \"out\": [], \"attr\": { \"b\": { \"ref\": \"c\", \"kind\": \"map\" } } } ] } ]",
           TS_BAD_INPUT, "\"map\" is no kind of attribute");
    refuse("1",
           ", \"functions\": [ { \"name\": \"f\", \"opset\": {}, \"inputs\": [], \"outputs\": [], \"nodes\": [] }, "
           "{ \"name\": \"f\", \"opset\": {}, \"inputs\": [], \"outputs\": [], \"nodes\": [] } ]",
           TS_BAD_INPUT, "the function .f is defined more than once");
}

int main(void)
{
    folder = scratch_make();
    test_round();
    test_refusals();
    scratch_free(&folder);
    return check_done();
}
