/* field.c - small wrappers over cJSON. */
#include "cli/field.h"

#include "cli/fail.h"

#include <stdlib.h>

cJSON *field_parse(char *text, ts_error *e)
{
    if (!text)
        return NULL;
    cJSON *o = cJSON_Parse(text);
    ts_free(text);
    if (!o)
        fail(e, TS_BUG, "the library gave text that is no JSON");
    return o;
}

static const cJSON *get(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

const char *field_text(const cJSON *o, const char *name, const char *otherwise)
{
    const cJSON *v = get(o, name);
    return cJSON_IsString(v) ? v->valuestring : otherwise;
}

double field_number(const cJSON *o, const char *name, double otherwise)
{
    const cJSON *v = get(o, name);
    return cJSON_IsNumber(v) ? v->valuedouble : otherwise;
}

bool field_flag(const cJSON *o, const char *name)
{
    return cJSON_IsTrue(get(o, name));
}

const cJSON *field_list(const cJSON *o, const char *name)
{
    const cJSON *v = get(o, name);
    return v ? v->child : NULL;
}

int field_count(const cJSON *o, const char *name)
{
    return cJSON_GetArraySize(get(o, name));
}

void field_print(const cJSON *o, FILE *f)
{
    char *s = cJSON_Print(o);
    if (!s)
        return;
    fprintf(f, "%s\n", s);
    cJSON_free(s);
}
