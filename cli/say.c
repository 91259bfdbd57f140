/* say.c - forms filled in from JSON. */
#include "cli/say.h"

#include "cli/columns.h"
#include "cli/outline.h"
#include "graph/base/base.h"
#include "bench/report/form.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE = 4096, PATH = 64, HEADS = 256, WIDTH = 80 }; /* bytes; columns of wrapped text */

typedef struct saying {
    const paper *on;
    const cJSON *o;
    const struct saying *around; /* what this is an item of; NULL: it is the whole */
} saying;

static void quote(const saying *w, const char *s)
{
    (w->on->quote ? w->on->quote : put_safe)(w->on->f, s);
}

/* Reads a path up to one of the characters, which is left behind; NULL: there is no such member. */
static const cJSON *member(const saying *w, const char **at, const char *ends, char path[PATH])
{
    const size_t n = strcspn(*at, ends);
    snprintf(path, PATH, "%.*s", (int)n, *at);
    *at += n;
    const char *rest = path;
    for (; strncmp(rest, "../", 3) == 0 && w->around; rest += 3)
        w = w->around;
    if (rest > path)
        return js_get(w->o, rest);
    return *path && strcmp(path, ".") != 0 ? js_get(w->o, path) : w->o;
}

/* "a, b", "m=1 n=2" */
static void put_parts(const saying *w, const cJSON *v, bool named)
{
    char value[VALUE];
    const cJSON *one;
    cJSON_ArrayForEach(one, v)
    {
        outline_value(value, sizeof value, "", one);
        fputs(one == v->child ? "" : named ? " " : ", ", w->on->f);
        quote(w, named ? one->string : value);
        if (named)
            fprintf(w->on->f, "=%s", value);
    }
}

/* By "%.3g", "%.1f%", "%-9s", or by the name of another member, which says the unit. */
static void put_as(const saying *w, const cJSON *v, char *spec)
{
    char value[VALUE];
    const size_t n = strlen(spec);
    const bool hundredfold = n > 1 && spec[n - 1] == '%';
    const double x = cJSON_IsNumber(v) ? v->valuedouble : 0;
    spec[n - hundredfold] = 0;
    if (*spec != '%') {
        outline_value(value, sizeof value, spec, v);
        quote(w, value);
    } else if (n && spec[n - 1] == 's') {
        ENDED_BY(text_free) text safe = {0};
        text_safe(&safe, cJSON_IsString(v) ? v->valuestring : "");
        fprintf(w->on->f, spec, text_str(&safe));
    } else {
        fprintf(w->on->f, spec, hundredfold ? 100 * x : x);
    }
}

static void put_tone(const saying *w, const char *name)
{
    static const char *const names[] = {"bold", "faint", "good", "bad", "caution"};
    for (int i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            fputs(console_on(w->on->color, BOLD + i), w->on->f);
    if (!*name)
        fputs(console_off(w->on->color), w->on->f);
}

/* rest: the indentation and heads; "!" and an indentation alone where it is an outline */
static void put_sheet(const saying *w, const cJSON *v, const char *rest)
{
    char indent[32];
    const bool outline = *rest == '!';
    snprintf(indent, sizeof indent, "%.*s", (int)strspn(rest + outline, " "), rest + outline);
    if (outline)
        outline_print(v, w->on, indent);
    else
        outline_table(v, rest + strlen(indent), w->on, indent);
}

static const char *put_value(const saying *w, const char *s, bool shown)
{
    char path[PATH], value[VALUE], rest[HEADS] = "";
    const cJSON *v = member(w, &s, ",=#-:!~}", path);
    const char kind = *s++;
    const size_t n = kind == '}' ? 0 : strcspn(s, "}");
    const char *name = strrchr(path, '/');
    snprintf(rest, sizeof rest, "%.*s", (int)n, s);
    s += kind == '}' ? 0 : n + 1;
    if (!shown)
        return s;
    if (kind == '!' && *path)
        put_sheet(w, v, rest);
    else if (kind == '!')
        put_tone(w, rest);
    else if (kind == ':')
        put_as(w, v, rest);
    else if (kind == '#' || kind == '-')
        fprintf(w->on->f, "%.0f", kind == '#' ? cJSON_GetArraySize(v) : cJSON_IsNumber(v) ? v->valuedouble - 1 : -1);
    else if (kind == '~')
        put_word(w->on, cJSON_IsString(v) ? v->valuestring : "");
    else if (kind == ',' || kind == '=')
        put_parts(w, v, kind == '=');
    else if (*path && strchr("[]|", *path))
        fputs(path, w->on->f);
    else if (strcmp(path, ";") == 0)
        fputs(w->o->prev && w->o->prev->next ? ", " : "", w->on->f);
    else if (strcmp(path, "@") == 0)
        quote(w, w->o->string ? w->o->string : "");
    else if (cJSON_IsString(v))
        quote(w, v->valuestring);
    else
        outline_value(value, sizeof value, name ? name + 1 : path, v), quote(w, value);
    return s;
}

static const char *put(const saying *w, const char *s, bool shown, const char *ends);

/* What a form gives up to one of the characters, which is left behind; for free(). */
static char *filled(const saying *w, const char **form, const char *ends, bool shown)
{
    char *all = NULL;
    size_t size = 0;
    paper on = *w->on;
    if (!(on.f = open_memstream(&all, &size)))
        memory_failed(0, "what a form gives");
    *form = put(&(saying){&on, w->o, w->around}, *form, shown, ends);
    fclose(on.f);
    return all;
}

/* The blanks between words stay as they are but at the ends of lines. */
static const char *put_wrapped(const saying *w, const char *s, bool shown)
{
    char *bar;
    const int from = (int)strtol(s, &bar, 10);
    s = bar + 1;
    ENDED_BY(heap_free) char *all = filled(w, &s, "]", shown);
    int used = 0;
    for (const char *c = all; *c;) {
        const int blanks = (int)strspn(c, " \n"), length = (int)strcspn(c + blanks, " \n");
        const bool breaks = used > 0 && length && used + blanks + length > WIDTH;
        if (breaks)
            fputc('\n', w->on->f), used = 0;
        if (length)
            used += fprintf(w->on->f, "%*s%.*s", breaks ? from : c[0] == '\n' ? 1 : blanks, "", length, c + blanks);
        c += blanks + length;
    }
    return s + (*s != 0);
}

/* s: the indentation and heads up to a line break, then a form for each cell */
static const char *put_rows(const saying *w, const cJSON *list, const char *s, bool shown)
{
    const int blanks = (int)strspn(s, " "), length = (int)strcspn(s, "\n");
    const char *const each = s + length + 1;
    char heads[HEADS], indent[32];
    snprintf(indent, sizeof indent, "%.*s", blanks, s);
    snprintf(heads, sizeof heads, "%.*s", length - blanks, s + blanks);
    columns t = columns_make(heads);
    const cJSON *one;
    list = shown ? list : NULL;
    cJSON_ArrayForEach(one, list)
    {
        const char *cell = each - 1;
        do {
            cell++;
            ENDED_BY(heap_free)
            char *said = filled(&(saying){&(paper){.quote = put_plain}, one, w}, &cell, "\t]", true);
            columns_add(&t, "%s", said);
        } while (*cell == '\t');
    }
    if (shown)
        columns_print(&t, w->on, indent);
    columns_free(&t);
    for (s = each; *(s = put(w, s, false, "\t]")) == '\t';)
        s++;
    return s + (*s != 0);
}

static const char *put_choice(const saying *w, const char *s, bool shown)
{
    char path[PATH];
    bool holds;
    if (*s == '^')
        return put_wrapped(w, s + 1, shown);
    const cJSON *v = member(w, &s, "?=>*#!", path), *one;
    if (*s == '!')
        return put_rows(w, v, s + 1, shown);
    cJSON count = {.type = cJSON_Number, .valuedouble = cJSON_GetArraySize(v)};
    if (*s == '#')
        v = &count, s++;
    if (*s == '*') {
        const char *each = s + 1;
        if (shown)
            cJSON_ArrayForEach(one, v) put(&(saying){w->on, one, w}, each, true, "]");
        s = put(w, each, false, "]");
    } else {
        s = form_condition(v, s, &holds);
        s = put(w, s, shown && holds, "|]");
        if (*s == '|')
            s = put(w, s + 1, shown && !holds, "]");
    }
    return s + (*s != 0);
}

static const char *put(const saying *w, const char *s, bool shown, const char *ends)
{
    while (*s && !strchr(ends, *s)) {
        if (*s == '{') {
            s = put_value(w, s + 1, shown);
        } else if (*s == '[') {
            s = put_choice(w, s + 1, shown);
        } else {
            if (shown)
                fputc(*s, w->on->f);
            s++;
        }
    }
    return s;
}

void say_form(const paper *on, const cJSON *o, const char *form)
{
    put(&(saying){on, o, NULL}, form, true, "");
}

cJSON *reply_take(char *json, ts_error *e)
{
    if (!json)
        return NULL;
    cJSON *o = cJSON_Parse(json);
    ts_free(json);
    if (!o)
        err_set(e, TS_BUG, "the library gave text that is no JSON");
    return o;
}

cJSON *reply_make(const char *format)
{
    cJSON *o = cJSON_CreateObject();
    js_text(o, "format", format);
    return o;
}

void reply_print(const cJSON *o)
{
    char *s = js_to_text(o, true);
    if (!s)
        memory_failed(0, "the text of the reply");
    puts(s);
    cJSON_free(s);
}

void reply_end(cJSON *o)
{
    reply_print(o);
    cJSON_Delete(o);
}

void reply_give(const args *a, cJSON *o, const char *form)
{
    if (a->console.json)
        reply_print(o);
    else
        say_form(&(paper){stdout, a->console.color_out, console_width(), NULL}, o, form);
    cJSON_Delete(o);
}

bool reply_done(const args *a, bool good, cJSON *o, const char *form)
{
    if (good)
        reply_give(a, o, form);
    else
        cJSON_Delete(o);
    return good;
}

void say_text(text *t, const cJSON *o, const char *form)
{
    ENDED_BY(heap_free) char *all = filled(&(saying){&(paper){.quote = put_plain}, o, NULL}, &form, "", true);
    text_add(t, "%s", all);
}

void say_notes(const console *c, const cJSON *o, const char *form)
{
    char *all = filled(&(saying){&(paper){.f = NULL}, o, NULL}, &form, "", true), line[VALUE];
    for (const char *at = all; line_next(&at, line, sizeof line);)
        console_note(c, "%s", line);
    free(all);
}

void reply_note(const args *a, cJSON *o, const char *form)
{
    if (a->console.json)
        reply_print(o);
    else
        say_notes(&a->console, o, form);
    cJSON_Delete(o);
}
