/* graph/1 files: the same graph as from ONNX, and for each mistake its place and remedy. */
/* ctest: fast */
#include "import/model.h"
#include "tests/check.h"
#include "tests/import/weights_file.h"
#include "tests/import/wire.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

static scratch folder;
static char path[160];
static const float numbers[] = {1, 2, 3, 4, 5, 6, 0.5F, 0.25F};

static const char ok[] = "{ \"format\": \"graph/1\", \"name\": \"tiny\", \"opset\": { \"\": 17 },\n"
                         "  \"dims\": { \"batch\": { \"min\": 1, \"max\": 64, \"default\": 4 } },\n"
                         "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"batch\", 3] } ],\n"
                         "  \"outputs\": [ { \"name\": \"y\", \"dtype\": \"f32\", \"shape\": [\"batch\", 2] } ],\n"
                         "  \"weights\": { \"file\": \"w.safetensors\" },\n"
                         "  \"constants\": { \"half\": { \"dtype\": \"f32\", \"shape\": [], \"data\": [0.5] } },\n"
                         "  \"nodes\": [\n"
                         "    { \"name\": \"fc\", \"op\": \"Gemm\", \"in\": [\"x\", \"w\", \"b\"], \"out\": [\"h\"], "
                         "\"attr\": { \"transB\": 1 } },\n"
                         "    { \"name\": \"up\", \"op\": \"Mul\", \"in\": [\"h\", \"half\"], \"out\": [\"m\"] },\n"
                         "    { \"name\": \"act\", \"op\": \"LeakyRelu\", \"in\": [\"m\"], \"out\": [\"y\"], "
                         "\"attr\": { \"alpha\": 0.25 } } ],\n"
                         "  \"meta\": { \"producer\": \"hand\" } }\n";

static void write_graph(const char *s)
{
    CHECK(file_save(path, s, strlen(s), NULL));
}

static char *print_bound(const char *file, const char *dim)
{
    err e = {0};
    char *s = NULL;
    ts_model *m = ts_model_open(file, &e);
    if (CHECK(m && ts_model_bind(m, dim ? 1 : 0, &dim, NULL, &e))) {
        ts_tensor y = ts_model_tensor(m, 0);
        s = ts_print(1, &y);
    } else
        fprintf(stderr, "  said: %s\n", e.text);
    ts_model_free(m);
    return s;
}

static void test_twin(void)
{
    char onnx[160];
    wire_model m;
    text file = {0};
    wire_begin(&m);
    wire_input(&m, "x f32 batch,3");
    wire_output(&m, "y f32 batch,2");
    wire_tensor(&m, "w", 1, 2, (int64_t[]){2, 3}, numbers, 24);
    wire_tensor(&m, "b", 1, 1, (int64_t[]){2}, numbers + 6, 8);
    wire_tensor(&m, "half", 1, 0, NULL, &numbers[6], 4);
    wire_node(&m, "fc", "Gemm x,w,b h transB=1");
    wire_node(&m, "up", "Mul h,half m");
    wire_node(&m, "act", "LeakyRelu m y alpha=0.25");
    wire_end(&m, &file);
    snprintf(onnx, sizeof onnx, "%s/twin.onnx", folder.path);
    CHECK(file_save(onnx, file.s, file.length, NULL));
    text_free(&file);
    write_graph(ok);
    char *a = print_bound(path, NULL), *b = print_bound(onnx, "batch=4"), *c = print_bound(folder.path, "batch=4");
    CHECK_TEXT(a, b);
    CHECK_TEXT(a, c);
    ts_free(a);
    ts_free(b);
    ts_free(c);
}

static void test_bounds(void)
{
    static const char *const over[] = {"batch=65"}, *const under[] = {"batch=0"};
    err e = {0};
    write_graph(ok);
    ts_model *m = ts_model_open(path, &e);
    CHECK(m && !ts_model_bind(m, 1, over, NULL, &e));
    CHECK_TEXT(e.text, "dimension \"batch\" is 65 by --dim batch=65, the model allows 1 to 64");
    CHECK(!ts_model_bind(m, 1, under, NULL, NULL) && ts_model_bind(m, 0, NULL, NULL, NULL));
    ts_model_free(m);
}

/* The good file with `from` replaced by `to`, once. */
static void change(const char *from, const char *to)
{
    text t = {0};
    const char *at = strstr(ok, from);
    if (!CHECK(at != NULL))
        return;
    text_bytes(&t, ok, (size_t)(at - ok));
    text_add(&t, "%s%s", to, at + strlen(from));
    write_graph(t.s);
    text_free(&t);
}

/* Operations by Tessera's own names, which ONNX may have no operator for. */
static void test_own(void)
{
    write_graph(ok);
    char *a = print_bound(path, NULL);
    change("\"op\": \"Mul\"", "\"op\": \"tessera.multiply\"");
    char *b = print_bound(path, NULL);
    change("\"op\": \"LeakyRelu\"", "\"op\": \"leaky_relu\", \"domain\": \"tessera\"");
    char *c = print_bound(path, NULL);
    CHECK_TEXT(b, a);
    CHECK_TEXT(c, a);
    ts_free(a), ts_free(b), ts_free(c);
    change("\"op\": \"Mul\", \"in\": [\"h\", \"half\"]", "\"op\": \"tessera.quick_gelu\", \"in\": [\"h\"]");
    a = print_bound(path, NULL);
    CHECK(a && strstr(a, "quick_gelu"));
    ts_free(a);
}

static void test_refuses(void)
{
    static const struct {
        const char *from, *to;
        ts_code code;
        const char *said; /* behind the file's name */
    } row[] = {
        {"\"graph/1\"", "\"graph/2\"", TS_UNSUPPORTED, ":1:13 (/format): format \"graph/2\" is not \"graph/1\""},
        {"\"format\": \"graph/1\",", "", TS_BAD_INPUT, ":1:1: the key \"format\" is missing"},
        {"\"nodes\": [", "\"nodez\": [", TS_BAD_INPUT, "unknown key \"nodez\"\n  hint: did you mean nodes?"},
        {"\"opset\": { \"\": 17 }", "\"opset\": { \"\": 17.5 }", TS_BAD_INPUT,
         "(/opset/): an operator set's version from 1 on expected, not 17.5"},
        {"\"op\": \"Mul\"", "\"op\": \"Mull\"", TS_UNSUPPORTED, "Mull (opset 17, f32); in node[1] \"up\""},
        {"\"op\": \"Mul\"", "\"op\": \"tessera.mul\"", TS_UNSUPPORTED, "tessera.mul (opset 1, f32); in node[1] \"up\""},
        {"\"op\": \"Mul\"", "\"op\": \"tessera.weight\"", TS_UNSUPPORTED, "tessera.weight (opset 1, f32); in node[1]"},
        {"\"op\": \"LeakyRelu\", \"in\": [\"m\"], \"out\": [\"y\"], \"attr\": { \"alpha\"",
         "\"op\": \"tessera.leaky_relu\", \"in\": [\"m\"], \"out\": [\"y\"], \"attr\": { \"alfa\"", TS_BAD_INPUT,
         "M024 node[2] \"act\" leaky_relu: no attribute alfa"},
        {"\"op\": \"Mul\"", "\"op\": 5", TS_BAD_INPUT, ":9:27 (/nodes/1/op): text expected, not a number"},
        {"\"f32\", \"shape\": [\"batch\", 3]", "\"f99\", \"shape\": [\"batch\", 3]", TS_BAD_INPUT,
         "\"f99\" is not a dtype"},
        {"[\"batch\", 3]", "[\"batch\", -3]", TS_BAD_INPUT,
         "(/inputs/0/shape/1): an extent from 0 to 2^40 expected, not -3"},
        {"[\"batch\", 3]", "[1,1,1,1,1,1,1,1,1]", TS_BAD_INPUT, "9 dimensions, at most 8 expected"},
        {"\"data\": [0.5]", "\"data\": [0.5, 1]", TS_BAD_INPUT, "(/constants/half/data): 2 numbers, the shape needs 1"},
        {"\"shape\": [], \"data\"", "\"shape\": [65], \"data\"", TS_BAD_INPUT, "numbers within the file: at most 64"},
        {"\"data\": [0.5]", "\"data\": [\"half\"]", TS_BAD_INPUT,
         "a number, \"NaN\", \"Infinity\" or \"-Infinity\" expected, not \"half\""},
        {"\"data\": [0.5]", "\"data\": [NaN]", TS_BAD_INPUT, "not JSON from here on"},
        {"\"w.safetensors\"", "\"../w.safetensors\"", TS_BAD_INPUT,
         "X001 weights: external file \"../w.safetensors\" leaves"},
        {"\"w.safetensors\"", "\"gone\"", TS_BAD_INPUT, "X002 weights: external file \"gone\""},
        {"\"w.safetensors\"", "\"w.safetensors\", \"sha256\": \"00\"", TS_BAD_INPUT, "the weights' SHA-256 is "},
        {"\"x\", \"w\", \"b\"", "\"x\", \"v\", \"b\"", TS_BAD_INPUT, "M012 node[0] \"fc\": input \"v\" is not defined"},
        {"\"transB\": 1", "\"transB\": 1, \"transB\": 0", TS_BAD_INPUT,
         "(/nodes/0/attr/transB): the key \"transB\" twice"},
        {"\"transB\": 1", "\"transB\": null", TS_BAD_INPUT,
         "a number, a text, a list of either, a tensor or a graph expected, not null"},
        {"\"transB\": 1", "\"transB\": 0", TS_BAD_INPUT, "M024 node[0] \"fc\" Gemm: "},
        {"\"name\": \"fc\"", "\"name\": \"f\\nc\"", TS_BAD_INPUT, "control character U+000A"},
        {"\"name\": \"fc\", ", "\"name\": \"fc\" ", TS_BAD_INPUT, "not JSON from here on"},
        {"\"out\": [\"y\"]", "\"out\": [\"h\"]", TS_BAD_INPUT,
         "M013 value \"h\" is produced by node[0] \"fc\" and by node[2] \"act\""},
        {"\"outputs\": [ {", "\"outputs\": [ ], \"//\": [ {", TS_BAD_INPUT, "a graph has at least one output"},
        {"\"max\": 64", "\"most\": 64", TS_BAD_INPUT, "unknown key \"most\""},
        {"} }\n", "", TS_BAD_INPUT, "the JSON text ends too early"},
        {"\"transB\": 1", "\"transb\": 1", TS_BAD_INPUT,
         "M024 node[0] \"fc\" Gemm: no attribute transb\n  hint: did you mean transB?"},
        {"\"x\", \"w\", \"b\"", "\"x\", \"w\", \"b\", \"x\"", TS_BAD_INPUT,
         "M024 node[0] \"fc\" Gemm: 4 inputs, takes 3"},
        {"\"out\": [\"h\"]", "\"out\": [\"h\", \"i\"]", TS_BAD_INPUT, "M024 node[0] \"fc\" Gemm: 2 outputs, gives 1"},
        {"\"y\", \"dtype\": \"f32\"", "\"y\", \"dtype\": \"f64\"", TS_BAD_INPUT,
         "M019 output \"y\" is declared as f64, its node gives f32"},
        {"\"opset\": { \"\": 17 }", "\"opset\": { \"\": 99 }", TS_UNSUPPORTED,
         ":1:55 (/opset/): M010 opset 99 of domain \"\" is newer than 28\n  hint: export the model for an older opset"},
        {"\"opset\": { \"\": 17 }", "\"opset\": { \"\": 17, \"ai.onnx\": 18 }", TS_BAD_INPUT,
         "(/opset/ai.onnx): M010 domain \"\" has two opsets, 17 and 18"},
        {"\"data\": [0.5]", "\"data\": [1e39]", TS_BAD_INPUT,
         "(/constants/half/data/0): beyond the numbers of f32; infinity is \"Infinity\" or \"-Infinity\""},
        {"\"f32\", \"shape\": [], \"data\": [0.5]", "\"f16\", \"shape\": [], \"data\": [-65520]", TS_BAD_INPUT,
         "(/constants/half/data/0): beyond the numbers of f16;"},
        {"\"alpha\": 0.25", "\"alpha\": 1e400", TS_BAD_INPUT, "(/nodes/2/attr/alpha): beyond the numbers of f32;"},
        {"\"alpha\": 0.25", "\"alpha\": [1, 1e39]", TS_BAD_INPUT,
         "(/nodes/2/attr/alpha/1): beyond the numbers of f32;"},
        {"[\"batch\", 3]", "[\"\", 3]", TS_BAD_INPUT, "(/inputs/0/shape/0): an empty name"},
    };
    for (int i = 0; i < COUNT(row); i++) {
        err e = {0};
        change(row[i].from, row[i].to);
        ts_model *m = ts_model_open(path, &e);
        CHECK(!m || !ts_model_bind(m, 0, NULL, NULL, &e));
        CHECK(e.code == row[i].code);
        if (!CHECK(strstr(e.text, row[i].said) && !strncmp(e.text, path, strlen(path))))
            fprintf(stderr, "  said: %s\n  want: %s\n", e.text, row[i].said);
        ts_model_free(m);
    }
}

static void test_constants(void)
{
    write_graph(
        "{ \"format\": \"graph/1\", \"opset\": { \"ai.onnx\": 17 }, \"inputs\": [],\n"
        "  \"outputs\": [ { \"name\": \"a\" }, { \"name\": \"b\" }, { \"name\": \"c\" } ], \"//\": \"a comment\",\n"
        "  \"constants\": { \"//\": \"one more\",\n"
        "    \"a\": { \"dtype\": \"f64\", \"shape\": [2, 2], \"data\": [1, \"NaN\", \"-Infinity\", 1e-3] },\n"
        "    \"b\": { \"dtype\": \"bool\", \"shape\": [3], \"data\": [true, 0, 1] },\n"
        "    \"c\": { \"dtype\": \"i64\", \"shape\": [1], \"data\": [-9223372036854775808] } }, \"nodes\": [] }");
    err e = {0};
    ts_model *m = ts_model_open(path, &e);
    if (!CHECK(m && ts_model_bind(m, 0, NULL, NULL, &e)))
        fprintf(stderr, "  said: %s\n", e.text);
    else {
        const void *a = ts_model_tensor(m, 0)->leaf->data, *b = ts_model_tensor(m, 1)->leaf->data,
                   *c = ts_model_tensor(m, 2)->leaf->data;
        const double nan = load_real(TS_F64, a, 1);
        CHECK(load_real(TS_F64, a, 0) == 1 && nan != nan && load_real(TS_F64, a, 3) == 1e-3);
        CHECK(load_whole(TS_BOOL, b, 0) == 1 && load_whole(TS_BOOL, b, 1) == 0);
        CHECK(load_whole(TS_I64, c, 0) == INT64_MIN); /* not by way of a double */
    }
    ts_model_free(m);
}

int main(void)
{
    char weights[160];
    folder = scratch_make();
    snprintf(path, sizeof path, "%s/graph.json", folder.path);
    snprintf(weights, sizeof weights, "%s/w.safetensors", folder.path);
    weights_file(weights,
                 "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                 "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[24,32]}}",
                 numbers, sizeof numbers);
    test_twin();
    test_bounds();
    test_own();
    test_refuses();
    test_constants();
    scratch_free(&folder);
    return check_done();
}
