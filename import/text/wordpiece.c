/* wordpiece.c - the longest token that a word begins with, then the longest continuation ("##ing") of what is left. A
 * word that cannot be covered, or is too long, is unknown as a whole. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <string.h>

typedef struct wordpiece {
    const char *prefix;       /* of continuations */
    size_t n_prefix, longest; /* bytes of the longest token, its prefix included */
    int64_t most, unknown;    /* characters of a word; id */
} wordpiece;

static size_t characters(const char *s, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; k++) {
        uint32_t c;
        i += unicode_next(s + i, n - i, &c);
    }
    return k;
}

/* The longest token at s behind `before` bytes of prefix; *n becomes its bytes there. */
static int64_t longest(const tokenizer *t, const char *prefix, size_t before, const char *s, size_t *n)
{
    const wordpiece *p = t->own;
    char room[MOST_TOKEN_BYTES];
    memcpy(room, prefix, before);
    size_t k = *n < p->longest - before ? *n : p->longest - before;
    memcpy(room + before, s, k);
    for (; k > 0; k--) {
        const int64_t id = k < *n && ((unsigned char)s[k] & 0xC0) == 0x80 ? -1
                                                                          : vocab_find(&t->vocab, room, before + k);
        if (id >= 0) {
            *n = k;
            return id;
        }
    }
    return -1;
}

static void encode(const tokenizer *t, const char *s, size_t n, ids *out)
{
    const wordpiece *p = t->own;
    const int64_t before = out->n;
    bool covered = characters(s, n) <= (size_t)p->most;
    for (size_t i = 0, step; covered && i < n; i += step) {
        step = n - i;
        const int64_t id = longest(t, p->prefix, i ? p->n_prefix : 0, s + i, &step);
        covered = id >= 0;
        if (covered)
            ids_add(out, id);
    }
    if (covered)
        return;
    out->n = before;
    ids_add(out, p->unknown);
}

static bool setup(tokenizer *t, const char *prefix, const char *unknown, int64_t most, err *e)
{
    wordpiece *p = t->own = arena_get(&t->mem, sizeof *p);
    *p = (wordpiece){.prefix = arena_string(&t->mem, prefix), .n_prefix = strlen(prefix), .most = most};
    if (p->n_prefix > 64)
        return err_set(e, TS_BAD_INPUT, "%s: a prefix of %zu bytes, at most 64", t->path, p->n_prefix);
    for (int64_t i = 0; i < t->vocab.n; i++)
        p->longest = t->vocab.by_id[i].s && (size_t)t->vocab.by_id[i].n > p->longest ? (size_t)t->vocab.by_id[i].n
                                                                                     : p->longest;
    p->longest = p->longest > p->n_prefix ? p->longest : p->n_prefix;
    p->unknown = vocab_find(&t->vocab, unknown, strlen(unknown));
    if (p->unknown < 0)
        return err_set(e, TS_BAD_INPUT, "%s: the vocabulary lacks the token for unknown words, \"%.80s\"", t->path,
                       unknown);
    return true;
}

static bool read(tokenizer *t, const json *model, err *e)
{
    const char *prefix = "##", *unknown = "[UNK]";
    int64_t most = 100;
    const json *v = json_get(model, "max_input_chars_per_word");
    if (v && (!json_whole(v, &most) || most < 1))
        return json_expect(v, "a whole number of at least 1", e);
    return json_text_of(model, "continuing_subword_prefix", &prefix, e) &&
           json_text_of(model, "unk_token", &unknown, e) && setup(t, prefix, unknown, most, e);
}

const char *wordpiece_prefix(const tokenizer *t)
{
    return ((const wordpiece *)t->own)->prefix;
}

bool wordpiece_setup(tokenizer *t, err *e)
{
    t->model = token_model_find("WordPiece");
    return setup(t, "##", "[UNK]", 100, e);
}

const token_model token_model_wordpiece = {"WordPiece", read, encode};
