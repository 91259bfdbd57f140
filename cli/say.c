/* say.c - what the values of a form look like in a terminal. */
#include "cli/say.h"

#include "bench/report/form.h"
#include "cli/outline.h"
#include "graph/base/base.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE = 4096 }; /* bytes */

typedef struct saying {
    form_out out;
    const paper *on;
} saying;

static void quote(const saying *w, const char *s)
{
    (w->on->quote ? w->on->quote : put_safe)(w->on->f, s);
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
        text safe = {0};
        text_safe(&safe, cJSON_IsString(v) ? v->valuestring : "");
        fprintf(w->on->f, spec, text_str(&safe));
        text_free(&safe);
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

static void put_value(const form_out *to, form_value *v)
{
    const saying *w = (const saying *)to;
    char value[VALUE];
    const char *name = strrchr(v->path, '/'), *item = v->at->o ? v->at->o->string : NULL;
    if (v->kind == '!' && *v->path)
        put_sheet(w, v->v, v->rest);
    else if (v->kind == '!')
        put_tone(w, v->rest);
    else if (v->kind == ':')
        put_as(w, v->v, v->rest);
    else if (v->kind == '#' || v->kind == '-')
        fprintf(w->on->f, "%.0f",
                v->kind == '#'         ? cJSON_GetArraySize(v->v)
                : cJSON_IsNumber(v->v) ? v->v->valuedouble - 1
                                       : -1);
    else if (v->kind == '~')
        put_word(w->on, cJSON_IsString(v->v) ? v->v->valuestring : "");
    else if (v->kind == ',' || v->kind == '=')
        put_parts(w, v->v, v->kind == '=');
    else if (strcmp(v->path, "@") == 0)
        quote(w, item ? item : "");
    else if (cJSON_IsString(v->v))
        quote(w, v->v->valuestring);
    else
        outline_value(value, sizeof value, name ? name + 1 : v->path, v->v), quote(w, value);
}

static void copy(const form_out *to, const char *s, size_t n)
{
    fwrite(s, 1, n, ((const saying *)to)->on->f);
}

void say_form(const paper *on, const cJSON *o, const char *form)
{
    const saying w = {{",=#-:!~", copy, put_value}, on};
    form_fill(&w.out, &(form_place){o, NULL}, form);
}

void reply_give(const args *a, cJSON *o, const char *form)
{
    if (a->console.json)
        reply_print(o);
    else
        say_form(&(paper){stdout, a->console.color_out, console_width(), NULL}, o, form);
    cJSON_Delete(o);
}
