/* reply.c - taking and printing JSON. */
#include "cli/reply.h"

#include "graph/base/err.h"

#include <stdio.h>

cJSON *reply_take(char *text, ts_error *e)
{
    if (!text)
        return NULL;
    cJSON *o = cJSON_Parse(text);
    ts_free(text);
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
    printf("%s\n", s);
    cJSON_free(s);
}

void reply_end(cJSON *o)
{
    reply_print(o);
    cJSON_Delete(o);
}
