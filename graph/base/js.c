/* js.c - cJSON with what it leaves open decided: numbers that are not finite, text that is not UTF-8, paths of
 * members. */
#include "graph/base/js.h"
#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *js_parse(const char *s, const char *what, ts_error *e)
{
    const char *end = NULL;
    cJSON *v = cJSON_ParseWithOpts(s, &end, true);
    if (v == NULL)
        err_set(e, TS_BAD_INPUT, "%s: not valid JSON at byte %td", what, end != NULL ? end - s : (ptrdiff_t)0);
    return v;
}

char *js_to_text(const cJSON *v, bool pretty)
{
    char *s = pretty ? cJSON_Print(v) : cJSON_PrintUnformatted(v);
    MUST(s || !v);
    return s;
}

void js_free(cJSON **tree)
{
    cJSON_Delete(*tree);
}

static cJSON *valid_text(const char *value)
{
    if (value == NULL)
        return cJSON_CreateNull();
    char *copy = strdup(value);
    if (copy == NULL)
        return cJSON_CreateNull();
    uint32_t code = 0;
    for (char *at = copy; *at != 0;) {
        size_t n = utf8_next(at, &code);
        if (n == 0)
            *at = '?';
        at += n == 0 ? 1 : n;
    }
    cJSON *v = cJSON_CreateString(copy);
    free(copy);
    return v;
}

void js_text(cJSON *object, const char *key, const char *value)
{
    cJSON_AddItemToObject(object, key, valid_text(value));
}

void js_number(cJSON *object, const char *key, double value)
{
    cJSON_AddItemToObject(object, key, isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

void js_flag(cJSON *object, const char *key, bool value)
{
    cJSON_AddBoolToObject(object, key, value);
}

cJSON *js_put(cJSON *o, const char *form, ...)
{
    char key[64];
    va_list args;
    va_start(args, form);
    while (*form) {
        const size_t n = strcspn(form, ":"), length = strcspn(form + n, ",");
        const char *kind = form + n + length - 1;
        snprintf(key, sizeof key, "%.*s", (int)n, form);
        if (*kind == 's')
            js_text(o, key, va_arg(args, const char *));
        else if (*kind == 'g')
            js_number(o, key, va_arg(args, double));
        else if (*kind == 'i')
            js_flag(o, key, va_arg(args, int));
        else if (length > 3)
            js_number(o, key, (double)va_arg(args, long long)); /* all of 64 bits */
        else
            js_number(o, key, va_arg(args, int));
        form += n + length + (form[n + length] == ',');
    }
    va_end(args);
    return o;
}

void js_absent(cJSON *object, const char *key, const char *why)
{
    cJSON_AddNullToObject(object, key);
    cJSON *reasons = cJSON_GetObjectItemCaseSensitive(object, "why");
    if (reasons == NULL)
        reasons = js_object(object, "why");
    js_text(reasons, key, why);
}

static cJSON *added(cJSON *parent, const char *key, cJSON *v)
{
    if (key != NULL)
        cJSON_AddItemToObject(parent, key, v);
    else
        cJSON_AddItemToArray(parent, v);
    return v;
}

cJSON *js_object(cJSON *parent, const char *key)
{
    return added(parent, key, cJSON_CreateObject());
}

cJSON *js_array(cJSON *parent, const char *key)
{
    return added(parent, key, cJSON_CreateArray());
}

void js_item(cJSON *array, const char *value)
{
    cJSON_AddItemToArray(array, valid_text(value));
}

const cJSON *js_get(const cJSON *object, const char *path)
{
    char key[64];
    while (object != NULL) {
        size_t n = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        object = cJSON_GetObjectItemCaseSensitive(object, key);
        if (path[n] == 0)
            return object;
        path += n + 1;
    }
    return NULL;
}

const cJSON *js_find(const cJSON *list, const char *key, const char *s)
{
    const cJSON *item = list ? list->child : NULL;
    for (const char *own; item; item = item->next)
        if ((own = key ? js_get_text(item, key) : cJSON_GetStringValue(item)) && strcmp(own, s) == 0)
            break;
    return item;
}

double js_get_number(const cJSON *object, const char *path, double fallback)
{
    const cJSON *v = js_get(object, path);
    return cJSON_IsNumber(v) ? v->valuedouble : fallback;
}

const char *js_get_text(const cJSON *object, const char *path)
{
    const cJSON *v = js_get(object, path);
    return cJSON_IsString(v) ? v->valuestring : "";
}

bool js_get_flag(const cJSON *object, const char *path)
{
    return cJSON_IsTrue(js_get(object, path));
}
