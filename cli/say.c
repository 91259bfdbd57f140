/* say.c - forms filled in from JSON. */
#include "cli/say.h"

#include "cli/columns.h"
#include "cli/outline.h"
#include "graph/base/base.h"
#include "bench/report/form.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE = 4096, WIDTH = 80 }; /* bytes; columns of wrapped text */

typedef struct saying {
    form_out out;
    const paper *on;
} saying;

static const paper *paper_of(const form_out *to)
{
    return ((const saying *)to)->on;
}

/* ---- values ---- */
static void quote(const paper *on, const char *s)
{
    (on->quote ? on->quote : put_safe)(on->f, s);
}

/* "a, b", "m=1 n=2" */
static void put_parts(const paper *on, const cJSON *v, bool named)
{
    char value[VALUE];
    const cJSON *one;
    cJSON_ArrayForEach(one, v)
    {
        outline_value(value, sizeof value, "", one);
        fputs(one == v->child ? "" : named ? " " : ", ", on->f);
        quote(on, named ? one->string : value);
        if (named)
            fprintf(on->f, "=%s", value);
    }
}

/* By "%.3g", "%.1f%", "%-9s", or by the name of another member, which says the unit. */
static void put_as(const paper *on, const cJSON *v, char *spec)
{
    char value[VALUE];
    const size_t n = strlen(spec);
    const bool hundredfold = n > 1 && spec[n - 1] == '%';
    const double x = cJSON_IsNumber(v) ? v->valuedouble : 0;
    spec[n - hundredfold] = 0;
    if (*spec != '%') {
        outline_value(value, sizeof value, spec, v);
        quote(on, value);
    } else if (n && spec[n - 1] == 's') {
        ENDED_BY(text_free) text safe = {0};
        text_safe(&safe, cJSON_IsString(v) ? v->valuestring : "");
        fprintf(on->f, spec, text_str(&safe));
    } else {
        fprintf(on->f, spec, hundredfold ? 100 * x : x);
    }
}

static void put_tone(const paper *on, const char *name)
{
    static const char *const names[] = {"bold", "faint", "good", "bad", "caution"};
    for (int i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            fputs(console_on(on->color, BOLD + i), on->f);
    if (!*name)
        fputs(console_off(on->color), on->f);
}

/* rest: the indentation and heads; "!" and an indentation alone where it is an outline */
static void put_sheet(const paper *on, const cJSON *v, const char *rest)
{
    char indent[32];
    const bool outline = *rest == '!';
    snprintf(indent, sizeof indent, "%.*s", (int)strspn(rest + outline, " "), rest + outline);
    if (outline)
        outline_print(v, on, indent);
    else
        outline_table(v, rest + strlen(indent), on, indent);
}

/* A path alone */
static void put_plainly(const paper *on, const form_value *v)
{
    char value[VALUE];
    const cJSON *o = v->at->o;
    const char *name = strrchr(v->path, '/');
    if (strcmp(v->path, ";") == 0)
        fputs(o->prev && o->prev->next ? ", " : "", on->f);
    else if (strcmp(v->path, "@") == 0)
        quote(on, o->string ? o->string : "");
    else if (cJSON_IsString(v->v))
        quote(on, v->v->valuestring);
    else
        outline_value(value, sizeof value, name ? name + 1 : v->path, v->v), quote(on, value);
}

static void put_value(const form_out *to, form_value *v)
{
    const paper *on = paper_of(to);
    switch (v->kind) {
    case '!':
        if (*v->path)
            put_sheet(on, v->v, v->rest);
        else
            put_tone(on, v->rest);
        break;
    case ':': put_as(on, v->v, v->rest); break;
    case '#': fprintf(on->f, "%d", cJSON_GetArraySize(v->v)); break;
    case '-': fprintf(on->f, "%.0f", cJSON_IsNumber(v->v) ? v->v->valuedouble - 1 : -1); break;
    case '~': put_word(on, cJSON_IsString(v->v) ? v->v->valuestring : ""); break;
    case ',': put_parts(on, v->v, false); break;
    case '=': put_parts(on, v->v, true); break;
    default: put_plainly(on, v);
    }
}

static void copy(const form_out *to, const char *s, size_t n)
{
    fwrite(s, 1, n, paper_of(to)->f);
}

/* ---- blocks ---- */
static saying saying_on(const paper *on);

/* What a form gives up to one of the characters, which is left behind; for free(). */
static char *filled(const paper *like, const form_place *at, const char **form, const char *ends)
{
    char *all = NULL;
    size_t size = 0;
    paper on = *like;
    if (!(on.f = open_memstream(&all, &size)))
        memory_failed(0, "what a form gives");
    const saying w = saying_on(&on);
    *form = form_part(&w.out, at, *form, true, ends);
    fclose(on.f);
    return all;
}

/* The blanks between words stay as they are but at the ends of lines. */
static const char *put_wrapped(const paper *on, const form_place *at, const char *s)
{
    char *bar;
    const int from = (int)strtol(s, &bar, 10);
    s = bar + 1;
    ENDED_BY(heap_free) char *all = filled(on, at, &s, "]");
    int used = 0;
    for (const char *c = all; *c;) {
        const int blanks = (int)strspn(c, " \n"), length = (int)strcspn(c + blanks, " \n");
        const bool breaks = used > 0 && length && used + blanks + length > WIDTH;
        if (breaks)
            fputc('\n', on->f), used = 0;
        if (length)
            used += fprintf(on->f, "%*s%.*s", breaks ? from : c[0] == '\n' ? 1 : blanks, "", length, c + blanks);
        c += blanks + length;
    }
    return s;
}

/* s: the indentation and heads up to a line break, then a form for each cell */
static void put_rows(const paper *on, const form_block *b, const char *s)
{
    const int blanks = (int)strspn(s, " "), length = (int)strcspn(s, "\n");
    ENDED_BY(heap_free)
    char *indent = strndup(s, (size_t)blanks), *heads = strndup(s + blanks, (size_t)(length - blanks));
    MUST(indent && heads);
    columns t = columns_make(heads);
    const cJSON *one;
    cJSON_ArrayForEach(one, b->v)
    {
        const char *cell = s + length;
        do {
            cell++;
            ENDED_BY(heap_free)
            char *said = filled(&(paper){.quote = put_plain}, &(form_place){one, b->at}, &cell, "\t]");
            columns_add(&t, "%s", said);
        } while (*cell == '\t');
    }
    columns_print(&t, on, indent);
}

static const char *put_block(const form_out *to, const form_block *b)
{
    const char *s = b->s + 1;
    if (b->shown && *b->s == '^')
        return put_wrapped(paper_of(to), b->at, s);
    if (b->shown)
        put_rows(paper_of(to), b, s);
    return form_part(to, b->at, s, false, "]");
}

static saying saying_on(const paper *on)
{
    return (saying){{",=#-:!~", "!^", copy, put_value, put_block}, on};
}

void say_form(const paper *on, const cJSON *o, const char *form)
{
    const saying w = saying_on(on);
    form_fill(&w.out, &(form_place){o, NULL}, form);
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

bool reply_done(const args *a, bool ok, cJSON *o, const char *form)
{
    if (ok)
        reply_give(a, o, form);
    else
        cJSON_Delete(o);
    return ok;
}

void say_text(text *t, const cJSON *o, const char *form)
{
    ENDED_BY(heap_free) char *all = filled(&(paper){.quote = put_plain}, &(form_place){o, NULL}, &form, "");
    text_add(t, "%s", all);
}

void say_notes(const console *c, const cJSON *o, const char *form)
{
    char *all = filled(&(paper){.f = NULL}, &(form_place){o, NULL}, &form, ""), line[VALUE];
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
