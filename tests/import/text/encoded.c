#include "tests/import/text/encoded.h"
#include "graph/base/base.h"

#include <stdlib.h>
#include <string.h>

bool encoded_well(const ts_tokenizer *t, const void *s, size_t n, bool whole)
{
    char *exact = malloc(n ? n : 1); /* so that reading past the end is seen */
    MUST(exact);
    memcpy(exact, s, n);
    int64_t count;
    int64_t *id = ts_tokenizer_encode(t, exact, n, whole, &count);
    free(exact);
    bool ok = true;
    for (int64_t i = 0; i < count; i++)
        ok = ok && id[i] >= 0 && id[i] < ts_tokenizer_size(t);
    size_t bytes;
    char *back = ts_tokenizer_decode(t, id, count, &bytes);
    ok = ok && back && back[bytes] == 0;
    ts_free(back), ts_free(id);
    return ok;
}
