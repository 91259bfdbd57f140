/* normal.c - the steps that rewrite text before it is split: a table, each row one "normalizer" of tokenizer.json. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <string.h>

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

static void strip_accents(uint32_t options, const char *s, size_t n, text *out)
{
    (void)options;
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t c;
        step = unicode_next(s + i, n - i, &c);
        if (!unicode_is_mark(c))
            unicode_put(out, c);
    }
}

static void lower(uint32_t options, const char *s, size_t n, text *out)
{
    (void)options;
    unicode_lower(out, s, n);
}

static void form(uint32_t options, const char *s, size_t n, text *out)
{
    unicode_normal(out, s, n, (unicode_form)options);
}

static void bert(uint32_t options, const char *s, size_t n, text *out)
{
    text a = {0}, b = {0};
    clean(options, s, n, &a);
    if (options & ACCENTS) {
        unicode_normal(&b, text_str(&a), a.length, UNICODE_NFD);
        a.length = 0;
        strip_accents(0, text_str(&b), b.length, &a);
    }
    if (options & LOWER)
        unicode_lower(out, text_str(&a), a.length);
    else
        text_bytes(out, text_str(&a), a.length);
    text_free(&a), text_free(&b);
}

static const normal_step known[] = {
    {"NFD", form, UNICODE_NFD},   {"NFC", form, UNICODE_NFC}, {"NFKD", form, UNICODE_NFKD},
    {"NFKC", form, UNICODE_NFKC}, {"Lowercase", lower, 0},    {"StripAccents", strip_accents, 0},
    {"BertNormalizer", bert, 0},
};
const normal_step normal_bert = {"BertNormalizer", bert, CLEAN | IDEOGRAPHS | ACCENTS | LOWER};

/* strip_accents null means: as lowercase. */
static uint32_t bert_options(const json *v)
{
    const bool low = json_truth(v, "lowercase", true);
    return (json_truth(v, "clean_text", true) ? CLEAN : 0) |
           (json_truth(v, "handle_chinese_chars", true) ? IDEOGRAPHS : 0) |
           (json_truth(v, "strip_accents", low) ? ACCENTS : 0) | (low ? LOWER : 0);
}

bool normal_read(tokenizer *t, const json *v, err *e)
{
    if (v->kind == JSON_NULL)
        return true;
    const json *kind = json_want(v, JSON_OBJECT, e) ? json_get(v, "type") : NULL;
    if (!kind || kind->kind != JSON_TEXT)
        return json_refuse(e, v, TS_BAD_INPUT, "a normalizer without a \"type\"");
    if (!strcmp(kind->text, "Sequence")) {
        const json *all = json_get(v, "normalizers");
        for (const json *i = all && all->kind == JSON_LIST ? all->first : NULL; i; i = i->next)
            if (!normal_read(t, i, e))
                return false;
        return true;
    }
    for (int i = 0; i < COUNT(known); i++) {
        if (strcmp(known[i].name, kind->text))
            continue;
        if (t->n_normal == MOST_STEPS)
            return json_refuse(e, v, TS_BAD_INPUT, "normalizer %d, at most %d expected", MOST_STEPS + 1, MOST_STEPS);
        normal_step *s = &t->normal[t->n_normal++];
        *s = known[i];
        if (s->run == bert)
            s->options = bert_options(v);
        return true;
    }
    text names = {0};
    for (int i = 0; i < COUNT(known); i++)
        text_add(&names, "%s%s", i ? ", " : "", known[i].name);
    json_refuse(e, kind, TS_UNSUPPORTED, "normalizer \"%s\" is not supported", kind->text);
    err_hint(e, "supported are %s and Sequence", text_str(&names));
    return text_free(&names), false;
}
