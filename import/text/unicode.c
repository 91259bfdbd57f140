/* unicode.c - categories, case and normal forms through utf8proc, which is given well-formed characters only. */
#include "import/text/unicode.h"

#include <utf8proc.h>

/* code points: of what is no character; I with a dot, which becomes i and a dot */
enum { REPLACEMENT = 0xFFFD, DOTTED_I = 0x130, DOT_ABOVE = 0x307 };

/* base.h's utf8_next needs a terminated string; text here may hold NUL and end anywhere. */
size_t unicode_next(const char *s, size_t n, uint32_t *code)
{
    utf8proc_int32_t c;
    const utf8proc_ssize_t most = n < 4 ? (utf8proc_ssize_t)n : 4;
    const utf8proc_ssize_t step = utf8proc_iterate((const utf8proc_uint8_t *)s, most, &c);
    *code = step > 0 ? (uint32_t)c : REPLACEMENT;
    return step > 0 ? (size_t)step : 1;
}

size_t unicode_well(const char *s, size_t n)
{
    utf8proc_int32_t c;
    const utf8proc_ssize_t most = n < 4 ? (utf8proc_ssize_t)n : 4;
    const utf8proc_ssize_t step = utf8proc_iterate((const utf8proc_uint8_t *)s, most, &c);
    return step > 0 ? (size_t)step : 0;
}

size_t unicode_back(const char *s, size_t from, size_t i)
{
    size_t k = i - 1;
    while (k > from && i - k < 4 && ((unsigned char)s[k] & 0xC0) == 0x80)
        k--;
    return unicode_well(s + k, i - k) == i - k ? k : i - 1;
}

size_t unicode_grapheme(const char *s, size_t n)
{
    uint32_t before, c;
    utf8proc_int32_t state = 0;
    size_t i = unicode_next(s, n, &before);
    for (size_t step; i < n; i += step, before = c) {
        step = unicode_next(s + i, n - i, &c);
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)c, &state))
            break;
    }
    return i;
}

void unicode_put(text *t, uint32_t code)
{
    utf8proc_uint8_t bytes[4];
    text_bytes(t, (const char *)bytes, (size_t)utf8proc_encode_char((utf8proc_int32_t)code, bytes));
}

static utf8proc_category_t category(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c);
}

static bool within(utf8proc_category_t c, utf8proc_category_t first, utf8proc_category_t last)
{
    return c >= first && c <= last;
}

bool unicode_is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == 0x85 || within(category(c), UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZP);
}

bool unicode_is_letter(uint32_t c)
{
    return within(category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}

bool unicode_is_number(uint32_t c)
{
    return within(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool unicode_is_accent(uint32_t c)
{
    return category(c) == UTF8PROC_CATEGORY_MN;
}

bool unicode_is_mark(uint32_t c)
{
    return within(category(c), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

bool unicode_is_word(uint32_t c)
{
    static const uint32_t sign[][2] = {{0x200C, 0x200D},
                                       {0x24B6, 0x24E9},
                                       {0x1F130, 0x1F149},
                                       {0x1F150, 0x1F169},
                                       {0x1F170, 0x1F189}}; /* joiners, letters in circles */
    const utf8proc_category_t k = category(c);
    bool is = within(k, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_NL) || k == UTF8PROC_CATEGORY_PC;
    for (int i = 0; i < COUNT(sign); i++)
        is = is || (c >= sign[i][0] && c <= sign[i][1]);
    return is;
}

bool unicode_is_control(uint32_t c)
{
    return within(category(c), UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool unicode_is_punct(uint32_t c)
{
    const bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    return ascii || within(category(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

/* The blocks that BERT's tokenizer treats as words of one character; one begins late, as there. */
bool unicode_is_ideograph(uint32_t c)
{
    static const uint32_t block[][2] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                                        {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
    for (int i = 0; i < COUNT(block); i++)
        if (c >= block[i][0] && c <= block[i][1])
            return true;
    return false;
}

/* Decomposed as a whole, so that marks get their canonical order, then composed in place. */
void unicode_normal(text *out, const char *s, size_t n, unicode_form form)
{
    const bool compat = form == UNICODE_NFKD || form == UNICODE_NFKC,
               compose = form == UNICODE_NFC || form == UNICODE_NFKC;
    const utf8proc_option_t how = (utf8proc_option_t)((compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                                      (compat ? UTF8PROC_COMPAT : 0) | UTF8PROC_STABLE);
    ENDED_BY(text_free) text clean = {0};
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t c;
        step = unicode_next(s + i, n - i, &c);
        unicode_put(&clean, c);
    }
    ENDED_BY(heap_free) utf8proc_uint8_t *done = NULL;
    const utf8proc_ssize_t got = utf8proc_map((const utf8proc_uint8_t *)text_str(&clean),
                                              (utf8proc_ssize_t)clean.length, &done, how);
    MUST(got >= 0);
    text_bytes(out, (const char *)done, (size_t)got);
}

void unicode_lower(text *out, const char *s, size_t n)
{
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t c;
        step = unicode_next(s + i, n - i, &c);
        unicode_put(out, c == DOTTED_I ? 'i' : (uint32_t)utf8proc_tolower((utf8proc_int32_t)c));
        if (c == DOTTED_I)
            unicode_put(out, DOT_ABOVE);
    }
}
