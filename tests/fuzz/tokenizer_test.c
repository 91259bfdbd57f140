/* A tokenizer and a text for it: the file ends at the first byte 0xFF, which no text in UTF-8 has. Ids stay in range,
 * and the text of any ids can be had. */
#include "tests/fuzz/mutate.h"

#include <stdlib.h>
#include <string.h>

static piece file_of(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, 0xFF, size);
    return (piece){data, end ? (size_t)(end - data) : size};
}

static void use(const ts_tokenizer *t, const uint8_t *s, size_t n)
{
    char *exact = malloc(n ? n : 1); /* so that reading past the end is seen */
    MUST(exact);
    memcpy(exact, s, n);
    int64_t count;
    int64_t *id = ts_tokenizer_encode(t, exact, n, n % 2, &count);
    free(exact);
    for (int64_t i = 0; i < count; i++)
        MUST(id[i] >= 0 && id[i] < ts_tokenizer_size(t));
    size_t bytes;
    char *back = ts_tokenizer_decode(t, id, count, &bytes);
    MUST(back && back[bytes] == 0);
    ts_free(back), ts_free(id);
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
    use(t, data + skip, size - skip);
    use(t, data, file.n); /* a text that has many of its tokens */
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
