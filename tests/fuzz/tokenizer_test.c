/* A tokenizer and a text for it: the file ends at the first byte 0xFF, which no text in UTF-8 has. Ids stay in range,
 * and the text of any ids can be had. */
#include "tests/fuzz/mutate.h"
#include "tests/import/text/encoded.h"

#include <stdlib.h>
#include <string.h>

static piece file_of(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, 0xFF, size);
    return (piece){data, end ? (size_t)(end - data) : size};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err e = {0};
    const piece file = file_of(data, size);
    ts_tokenizer *t = ts_tokenizer_open(fuzz_file(data, file.n), &e);
    if (!t) {
        fuzz_refused(&e);
        return 0;
    }
    const size_t skip = file.n < size ? file.n + 1 : file.n;
    MUST(encoded_well(t, data + skip, size - skip, (size - skip) % 2));
    MUST(encoded_well(t, data, file.n, file.n % 2)); /* a text that has many of its tokens */
    ts_tokenizer_free(t);
    return 0;
}

/* A value of the file, where it is JSON; the text stays. */
static bool change(dice *d, piece in, piece other, text *out)
{
    const piece file = file_of(in.at, in.n);
    if (!file.n || *file.at != '{' || !mutate_json(d, file, other.n ? file_of(other.at, other.n) : other, out))
        return false;
    text_bytes(out, (const char *)in.at + file.n, in.n - file.n);
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
    return mutate(change, data, n, most, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n, const uint8_t *b, size_t m, uint8_t *out, size_t most,
                                 unsigned seed)
{
    return mutate_cross(change, (const piece[]){{a, n}, {b, m}}, out, most, seed);
}
