/* A model that was read is written again: the same graph, names, symbols and bits, whatever the formats; additions and
 * new weights are written as well. */
#include "import/model.h"
#include "tests/check.h"
#include "tests/import/weights_file.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static scratch place;
static char source[160];
/* A NaN with a payload among the weights: text would lose it. */
static const uint32_t numbers[] = {0x3F800000, 0x40000000, 0x7FC01234, 0x40800000, 0x80000000, 0x00000001};

static const char network[] =
    "{ \"format\": \"graph/1\", \"name\": \"tiny\", \"opset\": { \"\": 17 },\n"
    "  \"dims\": { \"batch\": { \"min\": 1, \"max\": 64, \"default\": 4 } },\n"
    "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"batch\", 3] } ],\n"
    "  \"outputs\": [ { \"name\": \"y\", \"dtype\": \"f32\", \"shape\": [\"batch\", 2] } ],\n"
    "  \"weights\": { \"file\": \"w.safetensors\" },\n"
    "  \"constants\": { \"tenth\": { \"dtype\": \"f32\", \"shape\": [], \"data\": [0.1] },\n"
    "    \"to\": { \"dtype\": \"i64\", \"shape\": [2], \"data\": [0, -1] } },\n"
    "  \"nodes\": [ { \"name\": \"fc\", \"op\": \"MatMul\", \"in\": [\"x\", \"w\"], \"out\": [\"h\"] },\n"
    "    { \"op\": \"Mul\", \"in\": [\"h\", \"tenth\"], \"out\": [\"m\"] },\n"
    "    { \"op\": \"Reshape\", \"in\": [\"m\", \"to\"], \"out\": [\"r\"], \"attr\": { \"allowzero\": 0 } },\n"
    "    { \"name\": \"a \\\"b\\\"\", \"op\": \"LeakyRelu\", \"in\": [\"r\"], \"out\": [\"y\"], "
    "\"attr\": { \"alpha\": 0.25 } } ] }\n";

static void in_folder(const char *name, char out[160])
{
    snprintf(out, 160, "%s/%s", place.path, name);
}

static ts_model *open_bound(const char *path)
{
    err e = {0};
    ts_model *m = ts_model_open(path, &e);
    const char *four = "batch=4"; /* ONNX has no defaults */
    if (!CHECK(m && ts_model_bind(m, 1, &four, NULL, &e)))
        fprintf(stderr, "  said: %s\n", e.text);
    return m;
}

static void hash_of(const ts_model *m, char hex[65])
{
    ts_tensor y = ts_model_tensor(m, 0);
    ts_hash(1, &y, hex);
}

static const held *held_named(const ts_model *m, const char *name)
{
    for (int i = 0; i < m->file.main.n_held; i++)
        if (!strcmp(m->file.main.held[i].name, name))
            return &m->file.main.held[i];
    return NULL;
}

/* There and back through both formats. */
static void test_round_trip(void)
{
    char folder[160], onnx[160], again[160], want[65], got[65];
    const char *const way[][2] = {{source, folder}, {folder, onnx}, {onnx, again}};
    in_folder("made", folder), in_folder("made.onnx", onnx), in_folder("b", again);
    ts_model *first = open_bound(source);
    hash_of(first, want);
    for (int i = 0; i < COUNT(way); i++) {
        err e = {0};
        ts_model *m = open_bound(way[i][0]);
        if (!CHECK(ts_model_save(m, NULL, way[i][1], &e)))
            fprintf(stderr, "  said: %s\n", e.text);
        ts_model_free(m);
        m = open_bound(way[i][1]);
        hash_of(m, got);
        CHECK_TEXT(got, want);
        CHECK(!memcmp(held_named(m, "w")->value.data, numbers, sizeof numbers));
        CHECK_TEXT(m->file.main.input[0].symbol[0], "batch");
        CHECK_TEXT(m->file.main.step[3].name, "a \"b\"");
        ts_model_free(m);
    }
    ts_model_free(first);
}

static void test_addition(void)
{
    static const char more[] = "{ \"nodes\": [ { \"op\": \"Gemm\", \"in\": [\"y\", \"head.w\"], \"out\": [\"z\"] } ],"
                               "  \"outputs\": [ { \"name\": \"z\", \"dtype\": \"f32\" } ] }";
    static const float head[] = {1, 2, 3, 4}, other[] = {5, 6, 7, 8, 9, 10};
    char onnx[160], want[65], got[65];
    err e = {0};
    ts_model *m = ts_model_open(source, &e);
    ts_array value = {.dtype = TS_F32, .rank = 2, .dim = {2, 2}, .data = (void *)(uintptr_t)head};
    CHECK(ts_model_put(m, "head.w", &value, &e) && ts_model_extend(m, more, &e));
    value = (ts_array){.dtype = TS_F32, .rank = 2, .dim = {3, 2}, .data = (void *)(uintptr_t)other};
    CHECK(ts_model_put(m, "w", &value, &e) && ts_model_bind(m, 0, NULL, NULL, &e));
    CHECK_TEXT(e.text, "");
    hash_of(m, want);
    in_folder("more.onnx", onnx);
    CHECK(ts_model_save(m, NULL, onnx, &e));
    ts_model_free(m);
    m = open_bound(onnx);
    hash_of(m, got);
    CHECK_TEXT(got, want);
    CHECK(!memcmp(held_named(m, "w")->value.data, other, sizeof other));
    ts_model_free(m);
}

static const char *symbol_of(const ts_port *p, int i)
{
    return p->dim[i] >= 0 ? "" : p->symbol[i];
}

/* A built-in model that is changed has steps: a dimension bound by name stays bound, others are free where the steps
 * follow them, and inputs without elements go. */
static void test_built_in(void)
{
    static const char more[] = "{ \"nodes\": [ { \"op\": \"Relu\", \"in\": [\"logits\"], \"out\": [\"z\"] } ],"
                               "  \"outputs\": [ { \"name\": \"z\", \"dtype\": \"f32\" } ] }";
    static const struct {
        const char *dim, *batch, *length;
        int n_rest, rows;
        const char *rest[2];
    } all[] = {{"batch=2", "", "seq", 1, 8, {"seq=8"}},
               {"seq=1..128", "batch", "seq", 2, 8, {"batch=2", "seq=8"}}, /* a range is no name; 129 is not possible */
               {"seq=8", "batch", "", 1, 8, {"batch=2"}},
               {"last=1", "batch", "", 1, 1, {"batch=2"}}}; /* a row at seq - 1 follows nothing */
    static float wpe[128 * 128];
    const ts_array value = {.dtype = TS_F32, .rank = 2, .dim = {128, 128}, .data = wpe};
    char onnx[160], want[65], got[65];
    in_folder("built.onnx", onnx);
    for (int i = 0; i < COUNT(all); i++) {
        err e = {0};
        ts_model *m = ts_model_open("gpt2-tiny", &e);
        CHECK(ts_model_bind(m, 1, &all[i].dim, NULL, &e));
        CHECK(ts_model_put(m, "wpe.weight", &value, &e) && ts_model_extend(m, more, &e));
        CHECK(ts_model_inputs(m) == 2);
        CHECK_TEXT(symbol_of(&m->file.main.input[0], 0), all[i].batch);
        CHECK_TEXT(symbol_of(&m->file.main.input[0], 1), all[i].length);
        CHECK(ts_model_bind(m, all[i].n_rest, all[i].rest, NULL, &e));
        CHECK(ts_model_tensor(m, 0)->type.dim[1] == all[i].rows);
        hash_of(m, want);
        CHECK(ts_model_save(m, NULL, onnx, &e));
        ts_model_free(m);
        m = ts_model_open(onnx, &e);
        CHECK(ts_model_bind(m, all[i].n_rest, all[i].rest, NULL, &e));
        hash_of(m, got);
        CHECK_TEXT(got, want);
        CHECK_TEXT(e.text, "");
        CHECK(!memcmp(held_named(m, "wpe.weight")->value.data, wpe, sizeof wpe));
        ts_model_free(m);
    }
}

/* What a file leaves to its nodes is known once it is bound; that its extents are free stays. */
static void test_open_ended(void)
{
    static const char open_ended[] =
        "{ \"format\": \"graph/1\", \"opset\": { \"\": 17 }, \"outputs\": [ { \"name\": \"y\" } ],"
        "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"n\", 3] } ],"
        "  \"nodes\": [ { \"op\": \"Relu\", \"in\": [\"x\"], \"out\": [\"y\"] } ] }";
    const char *two = "n=2";
    char path[160], onnx[160];
    err e = {0};
    in_folder("open.json", path), in_folder("open.onnx", onnx);
    CHECK(file_save(path, open_ended, strlen(open_ended), NULL));
    ts_model *m = ts_model_open(path, &e);
    CHECK(m && !ts_model_save(m, NULL, onnx, &e));
    CHECK_TEXT(e.text, "output \"y\": its dtype is known only when all dimensions are bound\n"
                       "  hint: bind them, as with --dim NAME=N; in the file they stay free");
    e = (err){0};
    CHECK(ts_model_bind(m, 1, &two, NULL, &e) && ts_model_save(m, NULL, onnx, &e));
    ts_model_free(m);
    CHECK((m = ts_model_open(onnx, &e)));
    const ts_port *y = m->declared->output;
    CHECK(y->dtype == TS_F32 && y->rank == 2 && y->dim[0] == -1 && y->dim[1] == -1);
    CHECK(m->declared->input->dim[0] == -1);
    ts_model_free(m);
}

static void test_refusals(void)
{
    char path[160];
    struct stat st;
    err e = {0};
    ts_model *m = ts_model_open("bert-tiny", &e);
    in_folder("never.onnx", path);
    CHECK(!ts_model_save(m, NULL, path, &e) && stat(path, &st) != 0);
    CHECK_TEXT(e.text, "\"bert-tiny\" is built in: it is written at the extents that are bound");
    e = (err){0};
    CHECK(!ts_model_extend(m, "{}", &e));
    CHECK_TEXT(e.text, "cannot extend \"bert-tiny\": it is built in, and has steps only once it is bound\n"
                       "  hint: bind its dimensions first; those that are not named stay free");
    ts_model_free(m);
    e = (err){0};
    m = ts_model_open(source, &e);
    const ts_array value = {.dtype = TS_F32, .rank = 1, .dim = {6}, .data = (void *)(uintptr_t)numbers};
    CHECK(!ts_model_put(m, "w", &value, &e));
    CHECK_TEXT(e.text, "weight \"w\": the new value is f32[6], f32[3,2] expected");
    e = (err){0};
    CHECK(!ts_model_extend(m, "{ \"nodes\": [ { \"op\": \"Relu\", \"in\": [\"y\"], \"out\": [\"h\"] } ] }", &e));
    CHECK_TEXT(e.text, "M013 value \"h\" is produced by node[0] \"fc\" and by node[4] \"\"");
    e = (err){0};
    CHECK(!ts_model_save(m, "gif", path, &e));
    CHECK_TEXT(e.text, "there is no format \"gif\" to write\n  hint: formats are json, onnx");
    e = (err){0};
    CHECK(!ts_model_save(m, NULL, "/proc/none.onnx", &e) && e.code == TS_FILES);
    ts_model_free(m);
}

int main(void)
{
    char weights[160];
    place = scratch_make();
    in_folder("tiny.json", source);
    in_folder("w.safetensors", weights);
    weights_file(weights, "{\"w\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]}}", numbers,
                 sizeof numbers);
    CHECK(file_save(source, network, strlen(network), NULL));
    test_round_trip();
    test_addition();
    test_built_in();
    test_open_ended();
    test_refusals();
    scratch_free(&place);
    return check_done();
}
