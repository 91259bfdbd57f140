/* charsmap.c - Precompiled: SentencePiece's normal form as a table, in base64: the bytes of a trie (4, little
 * endian), the trie as a double array, texts that end with NUL. A unit of the trie has the byte that leads to it, a bit
 * for "a key ends here", and the offset of its children; a leaf has the place of the key's text. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <string.h>

typedef struct charsmap {
    uint32_t *unit;
    size_t n_unit, n_text;
    const char *text; /* ends with NUL */
} charsmap;

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Bytes of the base64 text s, at most 3 for 4 characters of it; SIZE_MAX: it is none. */
static size_t from_base64(const char *s, unsigned char *out)
{
    size_t n = 0, given = 0;
    uint32_t bits = 0;
    for (; *s && *s != '='; s++, given++) {
        const int d = digit_of(*s);
        if (d < 0)
            return SIZE_MAX;
        bits = bits << 6 | (uint32_t)d;
        if (given % 4)
            out[n++] = (unsigned char)(bits >> (6 - 2 * (given % 4)));
    }
    return s[strspn(s, "=")] || given % 4 == 1 ? SIZE_MAX : n;
}

bool charsmap_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    if (!step_content(s, v, "precompiled_charsmap", e))
        return false;
    unsigned char *raw = arena_get(&t->mem, s->n_content + 8);
    const size_t n = from_base64(s->content, raw);
    uint32_t bytes = 0;
    for (int i = 3; i >= 0 && n != SIZE_MAX && n >= 4; i--)
        bytes = bytes << 8 | raw[i];
    if (n == SIZE_MAX || n < 8 || bytes > n - 4 || bytes < 4 || bytes % 4)
        return json_refuse(e, json_get(v, "precompiled_charsmap"), TS_BAD_INPUT,
                           "no table of characters in base64: the bytes of a trie, the trie, texts");
    charsmap *m = arena_get(&t->mem, sizeof *m);
    m->n_unit = bytes / 4, m->n_text = n - 4 - bytes, m->text = (const char *)raw + 4 + bytes;
    m->unit = arena_array(&t->mem, m->n_unit, sizeof *m->unit);
    for (size_t i = 0; i < m->n_unit; i++)
        for (int k = 3; k >= 0; k--)
            m->unit[i] = m->unit[i] << 8 | raw[4 + 4 * i + (size_t)k];
    size_t longest = 1;
    for (size_t i = 0; i < m->n_text; i += strlen(m->text + i) + 1)
        longest = strlen(m->text + i) > longest ? strlen(m->text + i) : longest;
    s->own = m;
    return step_grows(t, v, longest, e);
}

/* The text for the shortest key that s begins with, as the reference takes it; NULL: there is none. */
static const char *find(const charsmap *m, const char *s, size_t n)
{
    const uint32_t root = m->unit[0];
    size_t at = root >> 10 << ((root & 512) >> 6);
    for (size_t i = 0; i < n && s[i]; i++) {
        const size_t c = (unsigned char)s[i];
        at ^= c;
        if (at >= m->n_unit || (m->unit[at] & 0x800000FFu) != c)
            return NULL;
        const uint32_t unit = m->unit[at];
        at ^= (size_t)(unit >> 10) << ((unit & 512) >> 6);
        if (unit & 256) {
            const size_t place = at < m->n_unit ? m->unit[at] & 0x7FFFFFFFu : SIZE_MAX;
            return place < m->n_text ? m->text + place : NULL;
        }
    }
    return NULL;
}

void charsmap_rewrite(const text_step *s, const char *in, size_t n, text *out)
{
    const charsmap *m = s->own;
    for (size_t i = 0, all; i < n; i += all) {
        all = unicode_grapheme(in + i, n - i);
        const char *to = all < 6 ? find(m, in + i, all) : NULL;
        if (to) {
            text_add(out, "%s", to);
            continue;
        }
        for (size_t k = 0, one; k < all; k += one) {
            uint32_t c;
            one = unicode_next(in + i + k, n - i - k, &c);
            if ((to = find(m, in + i + k, one)))
                text_add(out, "%s", to);
            else
                text_bytes(out, in + i + k, one);
        }
    }
}
