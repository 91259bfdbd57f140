/* safetensors files: header and every byte that it points at. */
/* ctest: fast */
#include "import/safetensors.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    arena mem = {0};
    int n = 0;
    const mapping map = {.at = data, .size = size};
    const held *all = safetensors_read(&mem, "fuzz", &map, &n, &e);
    if (!all)
        fuzz_refused(&e);
    uint64_t sum = 0;
    for (int i = 0; all && i < n; i++)
        if (!all[i].refused)
            sum += quick_hash(all[i].value.data,
                              (size_t)(ts_array_count(&all[i].value) * ts_dtype_bytes(all[i].value.dtype)), sum);
    arena_free(&mem);
    return sum == 1; /* used, so that nothing is left out */
}
