/* npy files. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    ts_array a = {0};
    if (ts_npy_read(fuzz_file(data, size), &a, &e)) {
        const int64_t n = ts_array_count(&a);
        for (int64_t i = 0; i < n && i < 16; i++)
            (void)ts_array_at(&a, i);
        ts_array_free(&a);
    } else {
        fuzz_refused(&e);
    }
    return 0;
}
