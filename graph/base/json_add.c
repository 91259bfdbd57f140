/* json_add.c - writing JSON by forms that read as what they print: the quotes of names, the escapes of texts and the
 * commas between values are put here and nowhere else. */
#include "graph/base/base.h"

#include <math.h>
#include <string.h>

static void add_text(text *t, const char *s, int most) /* most < 0: all of it */
{
    ENDED_BY(text_free) text part = {0};
    if (!s) {
        text_add(t, "null");
        return;
    }
    text_add(&part, "%.*s", most < 0 ? (int)strlen(s) : most, s);
    text_json(t, text_str(&part));
}

/* The conversion at *at, which is left behind it */
static void add_value(text *t, const char **at, va_list *args)
{
    char spec[16] = "";
    const size_t n = strcspn(*at, "sdiucgf") + 1;
    const char kind = (*at)[n - 1];
    MUST(n < sizeof spec && kind);
    memcpy(spec, *at, n);
    *at += n;
    if (kind == 's') {
        const int most = strchr(spec, '*') ? va_arg(*args, int) : -1;
        add_text(t, va_arg(*args, const char *), most);
    } else if (kind == 'c') {
        add_text(t, (char[]){(char)va_arg(*args, int), 0}, -1);
    } else if (kind == 'g' || kind == 'f') {
        const double v = va_arg(*args, double);
        text_add(t, isfinite(v) ? spec : "null", v);
    } else if (kind == 'i') {
        text_add(t, va_arg(*args, int) ? "true" : "false");
    } else if (strstr(spec, "ll") || strchr(spec, 'z') || strchr(spec, 'l')) {
        text_add(t, spec, va_arg(*args, long long)); /* all of 64 bits */
    } else {
        text_add(t, spec, va_arg(*args, int));
    }
}

/* What ends in a value is followed by a comma where another one begins. */
static bool needs_comma(const text *t, const char *form)
{
    size_t n = t->length;
    form += strspn(form, " \n");
    while (n && strchr(" \n", t->s[n - 1]))
        n--;
    return n && !strchr("{[:,", t->s[n - 1]) && *form && !strchr("]},:", *form);
}

static void add_mark(text *t, const char *mark, char next) /* a comma or a colon */
{
    text_add(t, "%s%s", mark, t->wide && !strchr(" \n", next) ? " " : "");
}

void json_add(text *t, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    if (needs_comma(t, form))
        add_mark(t, ",", *form);
    for (bool quoted = false; *form;) {
        size_t n = 0;
        while (in_word(form[n]))
            n++;
        if (*form == '%') {
            add_value(t, &form, &args);
        } else if (*form == '\'') {
            text_bytes(t, "\"", 1), quoted = !quoted, form++;
        } else if (!quoted && strchr(",:", *form)) {
            add_mark(t, *form == ',' ? "," : ":", form[1] ? form[1] : 'x'), form++;
        } else {
            text_add(t, n && form[n] == ':' && !quoted ? "\"%.*s\"" : "%.*s", (int)(n ? n : 1), form);
            form += n ? n : 1;
        }
    }
    va_end(args);
}

void json_add_raw(text *t, const char *json)
{
    if (needs_comma(t, "x"))
        add_mark(t, ",", 'x');
    text_add(t, "%s", json);
}

void json_add_wholes(text *t, const char *key, int n, const int64_t *v)
{
    json_add(t, "%s:[", key);
    for (int i = 0; i < n; i++)
        json_add(t, "%lld", (long long)v[i]);
    text_add(t, "]");
}

void json_add_texts(text *t, const char *key, int n, const char *const *s)
{
    json_add(t, "%s:[", key);
    for (int i = 0; i < n; i++)
        json_add(t, "%s", s[i]);
    text_add(t, "]");
}

void json_add_lines(text *t, const char *key, const char *lines)
{
    json_add(t, "%s:[", key);
    for (; *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n')
        if (*lines != '\n')
            json_add(t, "%.*s", (int)strcspn(lines, "\n"), lines);
    text_add(t, "]");
}
