/* Damaged ONNX, graph/1 and safetensors files: whatever was flipped, cut, doubled or inserted, opening and binding ends
 * in a model or in one message. With arguments, a file to start from, a number of rounds and dimensions:
 * import-fuzz-test model.onnx 100000 batch=2 seq=3. */
#include "import/model.h"
#include "tests/check.h"
#include "tests/import/wire.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4000, MOST_DAMAGE = 4 };

/* A model with a bit of everything: shapes computed, weights, attributes of each kind. */
static void whole_model(text *out)
{
    static const float w[12] = {1, 2, 3};
    wire_model m;
    wire_begin(&m);
    wire_input(&m, "x f32 batch,3,8,8");
    wire_input(&m, "ids i64 batch,seq");
    wire_output(&m, "y f32 *");
    wire_output(&m, "z f32 *");
    wire_tensor(&m, "w", 1, 4, (int64_t[]){1, 3, 2, 2}, w, sizeof w);
    wire_tensor(&m, "table", 1, 2, (int64_t[]){4, 3}, w, sizeof w);
    wire_tensor(&m, "minus", 7, 1, (int64_t[]){1}, (int64_t[]){-1}, 8);
    wire_tensor(&m, "zero", 7, 1, (int64_t[]){1}, (int64_t[]){0}, 8);
    wire_node(&m, "conv", "Conv x,w c strides=[2,2] pads=[1,1,0,0] group=1");
    wire_node(&m, "pool", "MaxPool c p kernel_shape=[2,2] ceil_mode=1");
    wire_node(&m, "shape", "Shape p s");
    wire_node(&m, "first", "Gather s,zero b axis=0");
    wire_node(&m, "to", "Concat b,minus t axis=0");
    wire_node(&m, "flat", "Reshape p,t f");
    wire_node(&m, "soft", "Softmax f y axis=-1");
    wire_node(&m, "rows", "Gather table,ids g axis=0");
    wire_node(&m, "turn", "Transpose g h perm=[0,2,1]");
    wire_node(&m, "both", "MatMul h,g i");
    wire_node(&m, "leak", "LeakyRelu i j alpha=0.25");
    wire_node(&m, "cast", "Cast ids k to=1");
    wire_node(&m, "mean", "ReduceMean j l axes=[1] keepdims=0");
    wire_node(&m, "pow", "Pow l,l z");
    wire_end(&m, out);
}

static const char json_model[] =
    "{\"format\":\"graph/"
    "1\",\"name\":\"tiny\",\"opset\":{\"\":17},\"dims\":{\"batch\":{\"min\":1,\"max\":64,\"default\":4}},"
    "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[\"batch\",3]}],\"outputs\":[{\"name\":\"y\"}],"
    "\"weights\":{\"file\":\"w.safetensors\"},\"constants\":{\"half\":{\"dtype\":\"f32\",\"shape\":[],\"data\":[0.5]}},"
    "\"nodes\":[{\"name\":\"fc\",\"op\":\"Gemm\",\"in\":[\"x\",\"w\",\"b\"],\"out\":[\"h\"],\"attr\":{\"transB\":1}},"
    "{\"op\":\"Mul\",\"in\":[\"h\",\"half\"],\"out\":[\"m\"]},"
    "{\"op\":\"LeakyRelu\",\"in\":[\"m\"],\"out\":[\"y\"],\"attr\":{\"alpha\":0.25}}]}";
static const char header[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                             "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[24,32]}}";

static size_t pick(uint64_t seed, uint64_t *turn, size_t below)
{
    return below ? (size_t)(random_bits(seed, (*turn)++) % below) : 0;
}

static void cut_and_join(text *t, size_t at, size_t gone, const char *in, size_t n)
{
    text out = {0};
    text_bytes(&out, text_str(t), at);
    text_bytes(&out, in, n);
    text_bytes(&out, text_str(t) + at + gone, t->length - at - gone);
    text_free(t);
    *t = out;
}

static void damage(text *t, uint64_t seed, uint64_t *turn)
{
    static const char *const odd[] = {"\x00",
                                      "\xFF",
                                      "\x7F",
                                      "\x80",
                                      "\xFF\xFF\xFF\xFF\x0F",
                                      "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F",
                                      "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"};
    const size_t at = pick(seed, turn, t->length), rest = t->length - at,
                 some = pick(seed, turn, rest < 40 ? rest : 40);
    char copy[40];
    switch (pick(seed, turn, 6)) {
    case 0: t->s[at] = (char)(t->s[at] ^ (1 << pick(seed, turn, 8))); break;
    case 1: t->s[at] = (char)pick(seed, turn, 256); break;
    case 2: cut_and_join(t, at, some, "", 0); break;
    case 3:
        memcpy(copy, t->s + at, some);
        cut_and_join(t, pick(seed, turn, t->length), 0, copy, some);
        break;
    case 4: {
        const char *in = odd[pick(seed, turn, COUNT(odd))];
        cut_and_join(t, at, rest ? 1 : 0, in, *in ? strlen(in) : 1);
        break;
    }
    default: t->length = at; break;
    }
}

static int ok, bad;
static int n_given = 2;
static const char *const *given = (const char *const[]){"batch=2", "seq=3"};

/* Opens and binds the model at path, of which some file was damaged. */
static void try_model(const char *path)
{
    err e = {0};
    ts_model *m = ts_model_open(path, &e);
    if (m && ts_model_bind(m, n_given, given, NULL, &e)) {
        CHECK(g_check(m->graph, &e) && !err_is(&e));
        ok++;
    } else {
        bad++;
        CHECK(e.code != TS_OK && e.code != TS_BUG && *e.text);
    }
    ts_model_free(m);
}

static void save(const char *path, const text *t)
{
    FILE *f = fopen(path, "wb");
    if (CHECK(f && fwrite(text_str(t), 1, t->length, f) == t->length))
        fclose(f);
}

/* Writes damaged copies of whole to path and tries the model; ends with the file undamaged. */
static void fuzz(const text *whole, const char *path, const char *model, int rounds)
{
    save(path, whole);
    const int before = ok;
    try_model(model);
    CHECK(ok == before + 1);
    for (int i = 0; i < rounds; i++) {
        text t = {0};
        uint64_t turn = 0;
        text_bytes(&t, whole->s, whole->length);
        for (size_t k = 1 + pick((uint64_t)i, &turn, MOST_DAMAGE); k > 0 && t.length > 0; k--)
            damage(&t, (uint64_t)i, &turn);
        save(path, &t);
        try_model(model);
        text_free(&t);
    }
    save(path, whole);
    printf("%s: %d files read, %d refused\n", path, ok, bad);
}

static void fuzz_all(const char *folder)
{
    static const float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    char onnx[160], json[160], weights[160];
    text whole = {0}, graph_text = {0}, tensors = {0};
    const uint64_t length = sizeof header - 1;
    snprintf(onnx, sizeof onnx, "%s/model.onnx", folder);
    snprintf(json, sizeof json, "%s/graph.json", folder);
    snprintf(weights, sizeof weights, "%s/w.safetensors", folder);
    whole_model(&whole);
    fuzz(&whole, onnx, onnx, ROUNDS);
    text_bytes(&tensors, (const char *)&length, sizeof length);
    text_bytes(&tensors, header, length);
    text_bytes(&tensors, (const char *)numbers, sizeof numbers);
    text_add(&graph_text, "%s", json_model);
    save(weights, &tensors);
    n_given = 0;
    fuzz(&graph_text, json, json, ROUNDS);
    fuzz(&tensors, weights, json, ROUNDS);
    text_free(&whole);
    text_free(&graph_text);
    text_free(&tensors);
}

int main(int argc, char **argv)
{
    scratch folder = scratch_make();
    if (argc > 2) {
        char path[160];
        text whole = {0};
        snprintf(path, sizeof path, "%s/model.onnx", folder.path);
        n_given = argc - 3;
        given = (const char *const *)argv + 3;
        if (CHECK(file_read(argv[1], 1 << 30, &whole, NULL)))
            fuzz(&whole, path, path, (int)strtol(argv[2], NULL, 10));
        text_free(&whole);
    } else
        fuzz_all(folder.path);
    CHECK(bad > 0);
    scratch_free(&folder);
    return check_done();
}
