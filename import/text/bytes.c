/* bytes.c - the tokenizer without a vocabulary: byte b is token b. */
#include "import/text/tokenizer.h"

static void encode(const tokenizer *t, const char *s, size_t n, ids *out)
{
    (void)t;
    for (size_t i = 0; i < n; i++)
        ids_add(out, (unsigned char)s[i]);
}

static bool read(tokenizer *t, const json *model, err *e)
{
    (void)model, (void)e;
    for (int i = 0; i < 256; i++) {
        char *s = arena_get(&t->mem, 1);
        *s = (char)i;
        vocab_add(&t->vocab, s, 1, i);
    }
    return true;
}

const token_model token_model_bytes = {"bytes", read, encode};
