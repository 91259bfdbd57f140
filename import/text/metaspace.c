/* metaspace.c - blanks as a character of the words behind them, as SentencePiece has it, and back. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

enum { LOWER_BLOCK = 0x2581 }; /* the usual character */

/* Older files say add_prefix_space instead of prepend_scheme. */
bool metaspace_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    static const char *const schemes[] = {"never", "always", "first"};
    const char *scheme = json_truth(v, "add_prefix_space", true) ? "always" : "never";
    s->mark = LOWER_BLOCK;
    if (!json_text_of(v, "prepend_scheme", &scheme, e) || !json_character_of(v, "replacement", &s->mark, e))
        return false;
    const int i = ROW_NAMED(schemes, scheme);
    if (i < 0)
        return json_expect(json_get(v, "prepend_scheme"), "\"always\", \"first\" or \"never\"", e);
    s->options = (uint32_t)i | (json_truth(v, "split", true) ? SPLIT : 0); /* PREPEND_ALWAYS is 1, PREPEND_FIRST 2 */
    return step_grows(t, v, 4, e);
}

void metaspace_cut(const text_step *s, piece in, words *out)
{
    const size_t at = out->text.length;
    uint32_t c;
    unicode_next(in.s, in.n, &c);
    if (c != s->mark && c != ' ' && (s->options & PREPEND_ALWAYS || (s->options & PREPEND_FIRST && in.start)))
        unicode_put(&out->text, s->mark);
    for (size_t i = 0; i < in.n; i++) {
        if (in.s[i] == ' ')
            unicode_put(&out->text, s->mark);
        else
            text_bytes(&out->text, in.s + i, 1);
    }
    const size_t n = out->text.length - at;
    spans all = {0};
    for (size_t i = 0, step; s->options & SPLIT && i < n; i += step) {
        step = unicode_next(out->text.s + at + i, n - i, &c);
        if (c == s->mark)
            spans_match(&all, i, i + step);
    }
    spans_take(&all, MERGED_WITH_NEXT, out, at, n);
}

void metaspace_join(const text_step *s, const words *in, words *out)
{
    for (int k = 0; k < in->n; k++) {
        const piece p = words_at(in, k);
        const size_t at = out->text.length;
        for (size_t i = 0, step; i < p.n; i += step) {
            uint32_t c;
            step = unicode_next(p.s + i, p.n - i, &c);
            if (c != s->mark)
                text_bytes(&out->text, p.s + i, step);
            else if (k || !(s->options & (PREPEND_ALWAYS | PREPEND_FIRST)))
                text_bytes(&out->text, " ", 1);
        }
        words_end(out, at);
    }
}
