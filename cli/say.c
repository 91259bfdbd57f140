/* say.c - forms filled in from JSON. */
#include "cli/say.h"

#include "cli/outline.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE = 4096, PATH = 64 }; /* bytes */

typedef struct saying {
    FILE *f;
    const cJSON *o;
} saying;

/* Reads a path up to one of the characters, which is left behind; NULL: there is no such member. */
static const cJSON *member(const saying *w, const char **at, const char *ends, char path[PATH])
{
    const size_t n = strcspn(*at, ends);
    snprintf(path, PATH, "%.*s", (int)n, *at);
    *at += n;
    return js_get(w->o, path);
}

static const char *condition(const saying *w, const char *s, bool *holds)
{
    char path[PATH];
    const cJSON *v = member(w, &s, "?=>", path);
    const char kind = *s++;
    if (kind == '?') {
        *holds = v && !cJSON_IsNull(v) && !cJSON_IsFalse(v) && !(cJSON_IsString(v) && !*v->valuestring) &&
                 !((cJSON_IsArray(v) || cJSON_IsObject(v)) && !v->child);
        return s;
    }
    char *end;
    const double than = strtod(s, &end), is = cJSON_IsNumber(v) ? v->valuedouble : 0;
    *holds = v && (kind == '=' ? is == than : is > than);
    return end + 1;
}

/* "a, b", "m=1 n=2" */
static void put_parts(const saying *w, const cJSON *v, bool named)
{
    char value[VALUE];
    const cJSON *one;
    cJSON_ArrayForEach(one, v)
    {
        outline_value(value, sizeof value, "", one);
        fputs(one == v->child ? "" : named ? " " : ", ", w->f);
        put_safe(w->f, named ? one->string : value);
        if (named)
            fprintf(w->f, "=%s", value);
    }
}

static const char *put_value(const saying *w, const char *s, bool shown)
{
    char path[PATH], value[VALUE], spec[16];
    const cJSON *v = member(w, &s, ",=#-:}", path);
    const char kind = *s++;
    const size_t n = kind == '}' ? 0 : strcspn(s, "}");
    const bool hundredfold = n > 1 && s[n - 1] == '%';
    const double x = cJSON_IsNumber(v) ? v->valuedouble : 0;
    snprintf(spec, sizeof spec, "%.*s", (int)(n - hundredfold), s);
    const char *name = strrchr(path, '/');
    if (!shown)
        ;
    else if (kind == ':')
        fprintf(w->f, spec, hundredfold ? 100 * x : x);
    else if (kind == '#' || kind == '-')
        fprintf(w->f, "%.0f", kind == '#' ? cJSON_GetArraySize(v) : x - 1);
    else if (kind == ',' || kind == '=')
        put_parts(w, v, kind == '=');
    else if (cJSON_IsString(v))
        put_safe(w->f, v->valuestring);
    else
        outline_value(value, sizeof value, name ? name + 1 : path, v), put_safe(w->f, value);
    return kind == '}' ? s : s + n + 1;
}

static const char *put(const saying *w, const char *s, bool shown, const char *ends)
{
    while (*s && !strchr(ends, *s)) {
        bool holds;
        if (*s == '{') {
            s = put_value(w, s + 1, shown);
        } else if (*s == '[') {
            s = condition(w, s + 1, &holds);
            s = put(w, s, shown && holds, "|]");
            if (*s == '|')
                s = put(w, s + 1, shown && !holds, "]");
            s += *s != 0;
        } else {
            if (shown)
                fputc(*s, w->f);
            s++;
        }
    }
    return s;
}

void say_record(FILE *f, const cJSON *o, const char *form)
{
    put(&(saying){f, o}, form, true, "");
}

void say_each(FILE *f, const cJSON *list, const char *form)
{
    const cJSON *o;
    cJSON_ArrayForEach(o, list) say_record(f, o, form);
}

void reply_give(const args *a, cJSON *o, const reply_form *form)
{
    if (a->console.json)
        reply_print(o);
    else {
        say_record(stdout, o, form->head ? form->head : "");
        say_each(stdout, form->list ? js_get(o, form->list) : NULL, form->each);
    }
    cJSON_Delete(o);
}
