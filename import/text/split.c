/* split.c - the steps that cut text into words: a table, each row one "pre_tokenizer" of tokenizer.json. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <string.h>

/* ---- at blanks and around signs ---- */
typedef bool predicate(uint32_t c);

/* Words end where `gone` holds, which vanishes, and around each character where `alone` holds. */
static void cut_at(words *w, size_t at, size_t n, predicate *gone, predicate *alone)
{
    size_t begin = at;
    for (size_t i = at, step; i < at + n; i += step) {
        uint32_t c;
        step = unicode_next(w->text.s + i, at + n - i, &c);
        const bool one = alone(c);
        if (!one && !gone(c))
            continue;
        words_cut(w, begin, i - begin);
        if (one)
            words_cut(w, i, step);
        begin = i + step;
    }
    words_cut(w, begin, at + n - begin);
}

static bool never(uint32_t c)
{
    (void)c;
    return false;
}

static void cut_bert(uint32_t options, words *w, size_t at, size_t n)
{
    (void)options;
    cut_at(w, at, n, unicode_is_space, unicode_is_punct);
}

static void cut_blanks(uint32_t options, words *w, size_t at, size_t n)
{
    (void)options;
    cut_at(w, at, n, unicode_is_space, never);
}

static void cut_punct(uint32_t options, words *w, size_t at, size_t n)
{
    (void)options;
    cut_at(w, at, n, never, unicode_is_punct);
}

/* ---- by kind of character ---- */
enum { BLANK, LETTER, NUMBER, OTHER };
static int kind_of(uint32_t c)
{
    return unicode_is_space(c) ? BLANK : unicode_is_letter(c) ? LETTER : unicode_is_number(c) ? NUMBER : OTHER;
}

static void cut_digits(uint32_t options, words *w, size_t at, size_t n)
{
    size_t begin = at;
    bool was = false;
    for (size_t i = at, step; i < at + n; i += step) {
        uint32_t c;
        step = unicode_next(w->text.s + i, at + n - i, &c);
        const bool is = unicode_is_number(c);
        if (is != was || (is && (options & ONE_DIGIT)))
            words_cut(w, begin, i - begin), begin = i;
        was = is;
    }
    words_cut(w, begin, at + n - begin);
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
    size_t last = i;
    if (stop == end)
        return stop;
    for (size_t k = i, step; k < stop; k += step) {
        uint32_t c;
        last = k;
        step = unicode_next(s + k, stop - k, &c);
    }
    return last > i ? last : stop;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ of GPT-2 */
static void cut_bytes(uint32_t options, words *w, size_t at, size_t n)
{
    const size_t end = at + n;
    if (options & WHOLE) {
        words_cut(w, at, n);
        return;
    }
    for (size_t i = at, stop; i < end; i = stop) {
        const char *s = w->text.s;
        uint32_t c;
        stop = contraction(s, i, end);
        if (stop == i) {
            size_t from = i;
            unicode_next(s + i, end - i, &c);
            if (c == ' ' && i + 1 < end) {
                uint32_t next;
                unicode_next(s + i + 1, end - i - 1, &next);
                from += kind_of(next) != BLANK;
                c = from > i ? next : c;
            }
            stop = kind_of(c) == BLANK ? blanks_end(s, i, end) : run_end(s, from, end, kind_of(c));
        }
        words_cut(w, i, stop - i);
    }
}

static const split_step known[] = {
    {"BertPreTokenizer", cut_bert, 0}, {"WhitespaceSplit", cut_blanks, 0}, {"Punctuation", cut_punct, 0},
    {"Digits", cut_digits, 0},         {"ByteLevel", cut_bytes, 0},
};
const split_step split_bert = {"BertPreTokenizer", cut_bert, 0};

bool split_read(tokenizer *t, const json *v, err *e)
{
    if (v->kind == JSON_NULL)
        return true;
    const json *kind = json_want(v, JSON_OBJECT, e) ? json_get(v, "type") : NULL;
    if (!kind || kind->kind != JSON_TEXT)
        return json_refuse(e, v, TS_BAD_INPUT, "a pre_tokenizer without a \"type\"");
    if (!strcmp(kind->text, "Sequence")) {
        const json *all = json_get(v, "pretokenizers");
        for (const json *i = all && all->kind == JSON_LIST ? all->first : NULL; i; i = i->next)
            if (!split_read(t, i, e))
                return false;
        return true;
    }
    for (int i = 0; i < COUNT(known); i++) {
        if (strcmp(known[i].name, kind->text))
            continue;
        if (t->n_split == MOST_STEPS)
            return json_refuse(e, v, TS_BAD_INPUT, "pre_tokenizer %d, at most %d expected", MOST_STEPS + 1, MOST_STEPS);
        split_step *s = &t->split[t->n_split++];
        *s = known[i];
        if (s->cut == cut_digits && json_truth(v, "individual_digits", false))
            s->options = ONE_DIGIT;
        if (s->cut == cut_bytes) {
            t->bytes = true;
            s->options = (json_truth(v, "add_prefix_space", true) ? PREFIX_SPACE : 0) |
                         (json_truth(v, "use_regex", true) ? 0 : WHOLE);
        }
        return true;
    }
    text names = {0};
    for (int i = 0; i < COUNT(known); i++)
        text_add(&names, "%s%s", i ? ", " : "", known[i].name);
    json_refuse(e, kind, TS_UNSUPPORTED, "pre_tokenizer \"%s\" is not supported", kind->text);
    err_hint(e, "supported are %s and Sequence", text_str(&names));
    return text_free(&names), false;
}
