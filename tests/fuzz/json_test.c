/* graph/1 files: read, linked, bound. */
#include "tests/fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    ts_model *m = size > 0 && data[0] == '{' ? ts_model_open_within(fuzz_file(data, size), FUZZ_LIMITS, &e) : NULL;
    if (!m || !ts_model_bind(m, 0, NULL, NULL, &e))
        MUST(size == 0 || e.code != TS_BUG);
    ts_model_free(m);
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
