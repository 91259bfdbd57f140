/* bytelevel.c - bytes as characters that print, which is how byte-level vocabularies spell their tokens, and the cut of
 * GPT-2: as a normalizer, a pre_tokenizer, and back as a decoder. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <string.h>

/* ---- bytes and characters: those that do not print are U+0100, U+0101, ... in their order ---- */
enum { CONTROLS = 33, HIGH = 127, HIGH_CONTROLS = 34, SOFT_HYPHEN = 173, FROM = 256 };

static bool prints(int byte)
{
    return byte >= CONTROLS && (byte < HIGH || byte >= HIGH + HIGH_CONTROLS) && byte != SOFT_HYPHEN;
}

static uint32_t character_of(int byte)
{
    const int nth = byte < CONTROLS ? byte : byte == SOFT_HYPHEN ? CONTROLS + HIGH_CONTROLS : byte - HIGH + CONTROLS;
    return (uint32_t)(prints(byte) ? byte : FROM + nth);
}

static int byte_of(uint32_t c)
{
    if (c < FROM)
        return prints((int)c) ? (int)c : -1;
    const int nth = c < 2 * FROM ? (int)c - FROM : FROM;
    return nth < CONTROLS                    ? nth
           : nth < CONTROLS + HIGH_CONTROLS  ? nth - CONTROLS + HIGH
           : nth == CONTROLS + HIGH_CONTROLS ? SOFT_HYPHEN
                                             : -1;
}

static void put_bytes(const char *in, size_t n, text *out)
{
    for (size_t i = 0; i < n; i++)
        unicode_put(out, character_of((unsigned char)in[i]));
}

void bytelevel_rewrite(const text_step *s, const char *in, size_t n, text *out)
{
    (void)s;
    put_bytes(in, n, out);
}

/* A token with a character that stands for no byte is what it is: an added one. */
void bytelevel_join(const text_step *s, const words *in, words *out)
{
    (void)s;
    for (int k = 0; k < in->n; k++) {
        const piece p = words_at(in, k);
        const size_t at = out->text.length;
        bool ok = true;
        for (size_t i = 0, step; ok && i < p.n; i += step) {
            uint32_t c;
            step = unicode_next(p.s + i, p.n - i, &c);
            const int b = byte_of(c);
            ok = b >= 0;
            text_bytes(&out->text, &(char){(char)b}, ok ? 1 : 0);
        }
        if (!ok)
            out->text.length = at, text_bytes(&out->text, p.s, p.n);
    }
    words_end(out, 0);
}

/* ---- GPT-2's cut ---- */
enum { BLANK, LETTER, NUMBER, OTHER };
static int kind_of(uint32_t c)
{
    return unicode_is_space(c) ? BLANK : unicode_is_letter(c) ? LETTER : unicode_is_number(c) ? NUMBER : OTHER;
}

/* Where the run of characters of one kind that begins at i ends. */
static size_t run_end(const char *s, size_t i, size_t end, int kind)
{
    for (size_t step; i < end; i += step) {
        uint32_t c;
        step = unicode_next(s + i, end - i, &c);
        if (kind_of(c) != kind)
            break;
    }
    return i;
}

static size_t contraction(const char *s, size_t i, size_t end)
{
    static const char *const all[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (int k = 0; k < COUNT(all); k++)
        if (end - i >= strlen(all[k]) && !memcmp(s + i, all[k], strlen(all[k])))
            return i + strlen(all[k]);
    return i;
}

/* Blanks keep their last character for the word behind them: \s+(?!\S)|\s+ */
static size_t blanks_end(const char *s, size_t i, size_t end)
{
    const size_t stop = run_end(s, i, end, BLANK);
    const size_t last = stop < end ? unicode_back(s, i, stop) : i;
    return last > i ? last : stop;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t word_end(const char *s, size_t i, size_t end)
{
    const size_t stop = contraction(s, i, end);
    uint32_t c, next;
    if (stop > i)
        return stop;
    size_t from = i;
    unicode_next(s + i, end - i, &c);
    if (c == ' ' && i + 1 < end) {
        unicode_next(s + i + 1, end - i - 1, &next);
        if (kind_of(next) != BLANK)
            from++, c = next;
    }
    return kind_of(c) == BLANK ? blanks_end(s, i, end) : run_end(s, from, end, kind_of(c));
}

void bytelevel_cut(const text_step *s, piece in, words *out)
{
    ENDED_BY(text_free) text t = {0};
    if ((s->options & PREFIX_SPACE) && *in.s != ' ')
        text_bytes(&t, " ", 1);
    text_bytes(&t, in.s, in.n);
    for (size_t i = 0, stop; i < t.length; i = stop) {
        const size_t at = out->text.length;
        stop = s->options & WHOLE ? t.length : word_end(t.s, i, t.length);
        put_bytes(t.s + i, stop - i, &out->text);
        words_end(out, at);
    }
}

bool bytelevel_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    s->options = (json_truth(v, "add_prefix_space", true) ? PREFIX_SPACE : 0) |
                 (json_truth(v, "use_regex", true) ? 0 : WHOLE);
    return step_grows(t, v, 2, e);
}
