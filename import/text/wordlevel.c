/* wordlevel.c - a word is a token, or unknown. */
#include "import/text/tokenizer.h"

#include <string.h>

static void encode(const tokenizer *t, const char *s, size_t n, ids *out)
{
    const int64_t id = vocab_find(&t->vocab, s, n), *unknown = t->own;
    if (id >= 0 || *unknown >= 0)
        ids_add(out, id >= 0 ? id : *unknown);
}

static bool read(tokenizer *t, const json *model, err *e)
{
    int64_t *unknown = t->own = arena_get(&t->mem, sizeof *unknown);
    const char *name = "<unk>";
    if (!json_text_of(model, "unk_token", &name, e))
        return false;
    *unknown = vocab_find(&t->vocab, name, strlen(name)); /* -1: other words vanish */
    return true;
}

const token_model token_model_wordlevel = {"WordLevel", read, encode};
