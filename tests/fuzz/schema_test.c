/* tiling/1 files over a model with a product, a softmax and a convolution. */
#include "tests/fuzz/mutate.h"

static const char network[] =
    "{ \"format\": \"graph/1\", \"opset\": { \"\": 17 },"
    "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [32, 48] },"
    "    { \"name\": \"w\", \"dtype\": \"f32\", \"shape\": [48, 64] },"
    "    { \"name\": \"i\", \"dtype\": \"f32\", \"shape\": [1, 3, 8, 8] },"
    "    { \"name\": \"k\", \"dtype\": \"f32\", \"shape\": [4, 3, 3, 3] } ],"
    "  \"outputs\": [ { \"name\": \"y\" }, { \"name\": \"z\" } ],"
    "  \"nodes\": [ { \"name\": \"fc\", \"op\": \"MatMul\", \"in\": [\"x\", \"w\"], \"out\": [\"h\"] },"
    "    { \"op\": \"Softmax\", \"in\": [\"h\"], \"out\": [\"y\"] },"
    "    { \"op\": \"Conv\", \"in\": [\"i\", \"k\"], \"out\": [\"z\"], \"attr\": { \"pads\": [1, 1, 1, 1] } } ] }";
static ts_model *model; /* for all inputs: plans do not change it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    if (!model) {
        model = ts_model_open(fuzz_file((const uint8_t *)network, sizeof network - 1), &e);
        MUST(model && ts_model_bind(model, 0, NULL, NULL, &e));
    }
    const ts_options options = {
        .target = "null", .machine = FUZZ_MACHINE, .threads = 2, .isa = "avx512", .schema = fuzz_file(data, size)};
    ts_plan *p = ts_plan_make(model, &options, &e);
    if (!p)
        fuzz_refused(&e);
    ts_plan_free(p);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
    return mutate(mutate_json, data, n, most, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n, const uint8_t *b, size_t m, uint8_t *out, size_t most,
                                 unsigned seed)
{
    return mutate_cross(mutate_json, (const piece[]){{a, n}, {b, m}}, out, most, seed);
}
