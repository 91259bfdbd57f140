/* split.c - the steps that cut text into words: a table, each row one "pre_tokenizer" of tokenizer.json. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

/* ---- at characters ---- */
typedef bool predicate(uint32_t c);

/* Cuts a part of a text, each character that `is` holds of as a match. */
static void cut_part(const text *t, word part, predicate *is, behavior how, words *to)
{
    spans all = {0};
    for (size_t i = 0, step; i < part.n; i += step) {
        uint32_t c;
        step = unicode_next(t->s + part.at + i, part.n - i, &c);
        if (is(c))
            spans_match(&all, i, i + step);
    }
    spans_take(&all, how, to, part.at, part.n);
}

static word append(piece in, words *out)
{
    const word all = {out->text.length, in.n};
    text_bytes(&out->text, in.s, in.n);
    return all;
}

static void cut_at(piece in, predicate *is, behavior how, words *out)
{
    cut_part(&out->text, append(in, out), is, how, out);
}

/* At blanks, which go, and then again. */
static void cut_twice(piece in, predicate *is, behavior how, words *out)
{
    words parts = {0};
    cut_part(&out->text, append(in, out), unicode_is_space, REMOVED, &parts);
    for (int i = 0; i < parts.n; i++)
        cut_part(&out->text, parts.all[i], is, how, out);
    words_free(&parts);
}

static void cut_bert(const text_step *s, piece in, words *out)
{
    (void)s;
    cut_twice(in, unicode_is_punct, ISOLATED, out);
}

static void cut_blanks(const text_step *s, piece in, words *out)
{
    (void)s;
    cut_at(in, unicode_is_space, REMOVED, out);
}

static void cut_punct(const text_step *s, piece in, words *out)
{
    cut_at(in, unicode_is_punct, (behavior)s->options, out);
}

static void cut_digits(const text_step *s, piece in, words *out)
{
    cut_at(in, unicode_is_number, (behavior)s->options, out);
}

/* \w+|[^\w\s]+ */
static void cut_words(const text_step *s, piece in, words *out)
{
    (void)s;
    cut_twice(in, unicode_is_word, CONTIGUOUS, out);
}

/* ---- at others ---- */
static void cut_pattern(const text_step *s, piece in, words *out)
{
    const word part = append(in, out);
    spans all = {0};
    finder f = finder_make(s->pattern, in.s, in.n);
    while (finder_next(&f))
        spans_match(&all, f.begin, f.end);
    finder_free(&f);
    if (s->start) { /* inverted: what does not match is what matches */
        spans_match(&all, in.n, in.n);
        for (int i = 0; i < all.n; i++)
            all.at[i].match = !all.at[i].match;
    }
    spans_take(&all, (behavior)s->options, out, part.at, in.n);
}

static void cut_fixed(const text_step *s, piece in, words *out)
{
    const size_t at = append(in, out).at;
    size_t begin = 0;
    int64_t n = 0;
    for (size_t i = 0; i < in.n;) {
        uint32_t c;
        i += unicode_next(in.s + i, in.n - i, &c);
        if (++n % s->stop == 0)
            words_cut(out, at + begin, i - begin), begin = i;
    }
    words_cut(out, at + begin, in.n - begin);
}

/* ---- settings ---- */
static bool behavior_read(text_step *s, const json *v, behavior otherwise, err *e)
{
    static const char *const names[] = {"Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"};
    const char *name = names[otherwise];
    if (!json_text_of(v, "behavior", &name, e))
        return false;
    const int i = ROW_NAMED(names, name);
    if (i >= 0)
        return s->options = (uint32_t)i, true;
    return json_expect(json_get(v, "behavior"), "Isolated, Removed, Contiguous, MergedWithPrevious or MergedWithNext",
                       e);
}

static bool punct_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t;
    return behavior_read(s, v, ISOLATED, e);
}

static bool digits_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t, (void)e;
    s->options = json_truth(v, "individual_digits", false) ? ISOLATED : CONTIGUOUS;
    return true;
}

static bool split_pattern_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    s->start = json_truth(v, "invert", false);
    return behavior_read(s, v, ISOLATED, e) && step_pattern(t, s, v, e);
}

static bool delimiter_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t;
    s->options = REMOVED;
    if (!step_content(s, v, "delimiter", e) || !json_character_of(v, "delimiter", &s->mark, e))
        return false;
    s->pattern = pattern_literal(s->content);
    return true;
}

static bool fixed_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t;
    s->stop = 5;
    return json_count_of(v, "length", &s->stop, e) &&
           (s->stop > 0 || json_expect(json_get(v, "length"), "a whole number of at least 1", e));
}

static const text_step known[] = {
    {"BertPreTokenizer", .cut = cut_bert},
    {"Whitespace", .cut = cut_words},
    {"WhitespaceSplit", .cut = cut_blanks},
    {"Punctuation", punct_read, .cut = cut_punct},
    {"Digits", digits_read, .cut = cut_digits},
    {"ByteLevel", bytelevel_read, .cut = bytelevel_cut},
    {"Metaspace", metaspace_read, .cut = metaspace_cut},
    {"Split", split_pattern_read, .cut = cut_pattern},
    {"CharDelimiterSplit", delimiter_read, .cut = cut_pattern},
    {"UnicodeScripts", scripts_read, .cut = scripts_cut},
    {"FixedLength", fixed_read, .cut = cut_fixed},
    {0},
};
const steps_kind pre_tokenizers = {"pre_tokenizer", "pretokenizers", known};
const text_step split_bert = {"BertPreTokenizer", .cut = cut_bert};
