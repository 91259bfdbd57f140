/* normal.c - the steps that rewrite text before it is split: a table, each row one "normalizer" of tokenizer.json. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

/* ---- character by character ---- */
/* Drops what is no text, makes every blank a space, and stands ideographs apart. */
static void clean(uint32_t options, const char *s, size_t n, text *out)
{
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t c;
        step = unicode_next(s + i, n - i, &c);
        const bool blank = c == '\t' || c == '\n' || c == '\r' || unicode_is_space(c);
        const bool gone = !c || c == 0xFFFD || (unicode_is_control(c) && c != '\t' && c != '\n' && c != '\r');
        const bool apart = (options & IDEOGRAPHS) && unicode_is_ideograph(c);
        if ((options & CLEAN) && gone)
            continue;
        if (apart)
            text_bytes(out, " ", 1);
        unicode_put(out, (options & CLEAN) && blank ? ' ' : c);
        if (apart)
            text_bytes(out, " ", 1);
    }
}

static void drop(bool (*gone)(uint32_t c), const char *s, size_t n, text *out)
{
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t c;
        step = unicode_next(s + i, n - i, &c);
        if (!gone(c))
            unicode_put(out, c);
    }
}

static void strip_accents(const text_step *s, const char *in, size_t n, text *out)
{
    (void)s;
    drop(unicode_is_mark, in, n, out);
}

static void lower(const text_step *s, const char *in, size_t n, text *out)
{
    (void)s;
    unicode_lower(out, in, n);
}

static bool is_nmt_blank(uint32_t c)
{
    return c == 9 || c == 10 || c == 12 || c == 13 || c == 0x1680 || (c >= 0x200B && c <= 0x200F) || c == 0x2028 ||
           c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
}

static bool is_nmt_control(uint32_t c)
{
    return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
}

/* As translation models of Marian's kind clean their text. */
static void nmt(const text_step *s, const char *in, size_t n, text *out)
{
    (void)s;
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t c;
        step = unicode_next(in + i, n - i, &c);
        if (!is_nmt_control(c))
            unicode_put(out, is_nmt_blank(c) ? ' ' : c);
    }
}

/* ---- whole texts ---- */
static void form(const text_step *s, const char *in, size_t n, text *out)
{
    unicode_normal(out, in, n, (unicode_form)s->options);
}

static void bert(const text_step *s, const char *in, size_t n, text *out)
{
    ENDED_BY(text_free) text a = {0}, b = {0};
    clean(s->options, in, n, &a);
    if (s->options & ACCENTS) {
        unicode_normal(&b, text_str(&a), a.length, UNICODE_NFD);
        a.length = 0;
        drop(unicode_is_accent, text_str(&b), b.length, &a);
    }
    if (s->options & LOWER)
        unicode_lower(out, text_str(&a), a.length);
    else
        text_bytes(out, text_str(&a), a.length);
}

/* strip_accents null means: as lowercase. */
static bool bert_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t, (void)e;
    const bool low = json_truth(v, "lowercase", true);
    s->options = (json_truth(v, "clean_text", true) ? CLEAN : 0) |
                 (json_truth(v, "handle_chinese_chars", true) ? IDEOGRAPHS : 0) |
                 (json_truth(v, "strip_accents", low) ? ACCENTS : 0) | (low ? LOWER : 0);
    return true;
}

static bool strip_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t, (void)e;
    s->start = json_truth(v, "strip_left", true), s->stop = json_truth(v, "strip_right", true);
    return true;
}

static void strip(const text_step *s, const char *in, size_t n, text *out)
{
    uint32_t c;
    for (size_t step; s->start && n && (step = unicode_next(in, n, &c), unicode_is_space(c)); n -= step)
        in += step;
    for (size_t k; s->stop && n; n = k) {
        k = unicode_back(in, 0, n);
        unicode_next(in + k, n - k, &c);
        if (!unicode_is_space(c))
            break;
    }
    text_bytes(out, in, n);
}

static bool prepend_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    return step_content(s, v, "prepend", e) && step_grows(t, v, 1 + s->n_content, e);
}

static void prepend(const text_step *s, const char *in, size_t n, text *out)
{
    text_bytes(out, s->content, n ? s->n_content : 0);
    text_bytes(out, in, n);
}

static void replace(const text_step *s, const char *in, size_t n, text *out)
{
    step_replace(s, (piece){.s = in, .n = n}, out);
}

static const text_step known[] = {
    {"NFD", .rewrite = form, .options = UNICODE_NFD},
    {"NFC", .rewrite = form, .options = UNICODE_NFC},
    {"NFKD", .rewrite = form, .options = UNICODE_NFKD},
    {"NFKC", .rewrite = form, .options = UNICODE_NFKC},
    {"Lowercase", .rewrite = lower},
    {"StripAccents", .rewrite = strip_accents},
    {"BertNormalizer", bert_read, .rewrite = bert},
    {"Strip", strip_read, .rewrite = strip},
    {"Prepend", prepend_read, .rewrite = prepend},
    {"Replace", step_replace_read, .rewrite = replace},
    {"Nmt", .rewrite = nmt},
    {"Precompiled", charsmap_read, .rewrite = charsmap_rewrite},
    {"ByteLevel", bytelevel_read, .rewrite = bytelevel_rewrite},
    {0},
};
const steps_kind normalizers = {"normalizer", "normalizers", known};
const text_step normal_bert = {"BertNormalizer", .rewrite = bert, .options = CLEAN | IDEOGRAPHS | ACCENTS | LOWER};
