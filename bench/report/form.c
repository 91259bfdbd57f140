/* form.c - a form is read once from left to right; what a condition leaves out is read all the same, and not copied. */
#include "bench/report/form.h"
#include "graph/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A member by its path, from the place on or, by "../", from around it */
static const cJSON *member(const form_place *at, const char *path)
{
    for (; strncmp(path, "../", 3) == 0 && at->around; path += 3)
        at = at->around;
    return *path && strcmp(path, ".") != 0 ? js_get(at->o, path) : at->o;
}

static bool is_there(const cJSON *v)
{
    return v && !cJSON_IsNull(v) && !cJSON_IsFalse(v) && !(cJSON_IsString(v) && !*v->valuestring) &&
           !((cJSON_IsArray(v) || cJSON_IsObject(v)) && !v->child);
}

/* Reads a path up to one of the characters, which is left behind. */
static const char *read_path(const char *s, const char *ends, char path[FORM_PATH])
{
    const size_t n = strcspn(s, ends);
    snprintf(path, FORM_PATH, "%.*s", (int)n, s);
    return s + n;
}

/* What stands behind a path, "?", "=1?", "=word?" or ">0?"; gives what is behind that. */
static const char *condition(const cJSON *v, const char *s, bool *holds)
{
    const char kind = *s++;
    if (kind == '?')
        return *holds = is_there(v), s;
    const size_t n = strcspn(s, "?");
    const double than = strtod(s, NULL), is = cJSON_IsNumber(v) ? v->valuedouble : 0;
    if (cJSON_IsString(v))
        *holds = strlen(v->valuestring) == n && strncmp(v->valuestring, s, n) == 0;
    else
        *holds = v && (kind == '=' ? is == than : is > than);
    return s + n + 1;
}

static const char *put_value(const form_out *to, const form_place *at, const char *s, bool shown)
{
    char ends[16];
    form_value v = {.at = at};
    snprintf(ends, sizeof ends, "%s}", to->kinds);
    s = read_path(s, ends, v.path);
    if (*s && *s != '}') {
        v.kind = *s++;
        const size_t n = strcspn(s, "}");
        snprintf(v.rest, sizeof v.rest, "%.*s", (int)n, s);
        s += n;
    }
    v.v = member(at, v.path);
    if (shown && *v.path && strchr("[]|", *v.path))
        to->copy(to, v.path, 1);
    else if (shown)
        to->value(to, &v);
    return s + (*s != 0);
}

static const char *put_choice(const form_out *to, const form_place *at, const char *s, bool shown)
{
    char path[FORM_PATH], ends[16];
    bool holds;
    snprintf(ends, sizeof ends, "?=>*#@%s", to->blocks);
    s = read_path(s, ends, path);
    const cJSON *v = member(at, path), *one;
    if (*s && strchr(to->blocks, *s)) {
        s = to->block(to, &(form_block){v, at, s, shown});
        return s + (*s != 0);
    }
    cJSON count = {.type = cJSON_Number, .valuedouble = cJSON_GetArraySize(v)};
    if (*s == '#')
        v = &count, s++;
    if (*s == '*' || *s == '@') {
        const char *each = s + 1;
        if (shown && *s == '@' && is_there(v))
            form_part(to, &(form_place){v, at}, each, true, "]");
        else if (shown && *s == '*')
            cJSON_ArrayForEach(one, v) form_part(to, &(form_place){one, at}, each, true, "]");
        s = form_part(to, at, each, false, "]");
    } else {
        s = condition(v, s, &holds);
        s = form_part(to, at, s, shown && holds, "|]");
        if (*s == '|')
            s = form_part(to, at, s + 1, shown && !holds, "]");
    }
    return s + (*s != 0);
}

const char *form_part(const form_out *to, const form_place *at, const char *s, bool shown, const char *ends)
{
    while (*s && !strchr(ends, *s)) {
        const size_t n = 1 + strcspn(s + 1, "{[|]\t");
        if (*s == '{') {
            s = put_value(to, at, s + 1, shown);
        } else if (*s == '[') {
            s = put_choice(to, at, s + 1, shown);
        } else {
            if (shown)
                to->copy(to, s, n);
            s += n;
        }
    }
    return s;
}

void form_fill(const form_out *to, const form_place *at, const char *form)
{
    form_part(to, at, form, true, "");
}

const char *page_file(const char *name)
{
    const page_text *of = page_texts;
    while (of->name && strcmp(of->name, name) != 0)
        of++;
    MUST(of->name);
    return of->text;
}
