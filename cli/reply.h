/* reply.h - JSON between the library and standard output; building and reading it is graph/base/js.h.
 * Objects are the caller's (cJSON_Delete). */
#ifndef TS_REPLY_H
#define TS_REPLY_H
#include "graph/base/js.h"

/* Parses what the library gave and frees it; NULL stays NULL and leaves the error that is there. */
cJSON *reply_take(char *text, ts_error *e);
cJSON *reply_make(const char *format); /* an object that starts with "format" */
void reply_print(const cJSON *o);      /* on standard output */
void reply_end(cJSON *o);              /* the same, and deletes it */
#endif
