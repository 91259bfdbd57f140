/* steps.c - lists of steps, their settings as tokenizer.json has them, and what several kinds of steps do. */
#include "import/text/tokenizer.h"
#include "import/text/unicode.h"

#include <string.h>

enum { MOST_GROWTH = 1 << 12 };

/* ---- settings ---- */
bool json_truth(const json *object, const char *key, bool otherwise)
{
    const json *m = json_get(object, key);
    return m && m->kind == JSON_TRUTH ? m->truth : otherwise;
}

bool json_text_of(const json *object, const char *key, const char **out, err *e)
{
    const json *v = json_get(object, key);
    if (!v || v->kind == JSON_NULL)
        return true;
    *out = v->text;
    return json_want(v, JSON_TEXT, e);
}

bool json_character_of(const json *object, const char *key, uint32_t *out, err *e)
{
    const json *v = json_get(object, key);
    if (!v)
        return true;
    if (v->kind != JSON_TEXT || !*v->text || unicode_next(v->text, strlen(v->text), out) != strlen(v->text))
        return json_expect(v, "a text of one character", e);
    return true;
}

bool json_count_of(const json *object, const char *key, int64_t *out, err *e)
{
    const json *v = json_get(object, key);
    return !v || (json_whole(v, out) && *out >= 0) || json_expect(v, "a whole number of at least 0", e);
}

bool step_grows(tokenizer *t, const json *v, size_t factor, err *e)
{
    const size_t so_far = t->growth ? t->growth : 1;
    if (factor > MOST_GROWTH / so_far) {
        json_refuse(e, v, TS_BAD_INPUT, "with this step a text may grow to %zu times its size or more, at most %d",
                    factor, MOST_GROWTH);
        return err_hint(e, "a shorter text to put in, or fewer such steps");
    }
    t->growth = so_far * factor;
    return true;
}

bool step_content(text_step *s, const json *v, const char *key, err *e)
{
    s->content = NULL;
    if (!json_text_of(v, key, &s->content, e))
        return false;
    s->n_content = s->content ? strlen(s->content) : 0;
    return s->content || json_refuse(e, v, TS_BAD_INPUT, "%s without the text \"%s\"", s->name, key);
}

bool step_pattern(tokenizer *t, text_step *s, const json *v, err *e)
{
    const json *all = json_get(v, "pattern"), *one = all && all->kind == JSON_OBJECT ? all->first : NULL;
    const bool literal = one && !strcmp(one->key, "String");
    if (!one || one->next || one->kind != JSON_TEXT || (!literal && strcmp(one->key, "Regex") != 0))
        return json_refuse(e, all ? all : v, TS_BAD_INPUT,
                           "%s needs a \"pattern\": {\"String\": TEXT} or {\"Regex\": EXPRESSION}", s->name);
    err why = {0};
    s->pattern = literal && *one->text ? pattern_literal(one->text) : pattern_regex(one->text, &why);
    if (!s->pattern) {
        json_refuse(e, one, why.code, "the regular expression \"%.200s\": %s", one->text, why.text);
        return err_hint(e,
                        "Oniguruma's syntax for Ruby is read, but for negated and intersected classes inside a class");
    }
    /* a match may be empty between any two bytes, or as long as the literal */
    return !s->content ||
           step_grows(t, one, literal && *one->text ? 1 + s->n_content / strlen(one->text) : 1 + s->n_content, e);
}

bool step_replace_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    return step_content(s, v, "content", e) && step_pattern(t, s, v, e);
}

void step_replace(const text_step *s, piece in, text *out)
{
    size_t from = 0;
    finder f = finder_make(s->pattern, in.s, in.n);
    for (; finder_next(&f); from = f.end) {
        text_bytes(out, in.s + from, f.begin - from);
        text_bytes(out, s->content, s->n_content);
    }
    finder_free(&f);
    text_bytes(out, in.s + from, in.n - from);
}

void text_replace(text *out, piece in, const char *from, const char *to)
{
    const size_t n = strlen(from);
    for (const char *at; n && (at = memmem(in.s, in.n, from, n)); in.n -= (size_t)(at - in.s) + n, in.s = at + n) {
        text_bytes(out, in.s, (size_t)(at - in.s));
        text_bytes(out, to, strlen(to));
    }
    text_bytes(out, in.s, in.n);
}

/* ---- lists ---- */
static bool refuse_name(const steps_kind *kind, const json *name, err *e)
{
    ENDED_BY(text_free) text all = {0};
    for (const text_step *k = kind->known; k->name; k++)
        text_add(&all, "%s%s", k == kind->known ? "" : ", ", k->name);
    json_refuse(e, name, TS_UNSUPPORTED, "%s \"%s\" is not supported", kind->what, name->text);
    return err_hint(e, "supported are %s and Sequence", text_str(&all));
}

bool steps_read(tokenizer *t, steps *to, const steps_kind *kind, const json *v, err *e)
{
    if (!v || v->kind == JSON_NULL)
        return true;
    const json *name = json_want(v, JSON_OBJECT, e) ? json_get(v, "type") : NULL;
    if (!name || name->kind != JSON_TEXT)
        return json_refuse(e, v, TS_BAD_INPUT, "a %s without a \"type\"", kind->what);
    if (!strcmp(name->text, "Sequence")) {
        const json *all = json_get(v, kind->list);
        if (!all || all->kind != JSON_LIST)
            return json_refuse(e, v, TS_BAD_INPUT, "a Sequence without the list \"%s\"", kind->list);
        for (const json *i = all->first; i; i = i->next)
            if (!steps_read(t, to, kind, i, e))
                return false;
        return true;
    }
    const text_step *known = kind->known;
    while (known->name && strcmp(known->name, name->text) != 0)
        known++;
    if (!known->name)
        return refuse_name(kind, name, e);
    if (to->n == MOST_STEPS)
        return json_refuse(e, v, TS_BAD_INPUT, "%s %d, at most %d expected", kind->what, MOST_STEPS + 1, MOST_STEPS);
    text_step *s = &to->at[to->n++];
    *s = *known;
    return !s->read || s->read(t, s, v, e);
}

const text_step *steps_find(const steps *all, const char *name)
{
    const int i = row_named(all->at, all->n, sizeof *all->at, name);
    return i < 0 ? NULL : &all->at[i];
}

void steps_free(steps *all)
{
    for (int i = 0; i < all->n; i++)
        pattern_free(all->at[i].pattern);
    all->n = 0;
}
