/* field.h - reading and writing JSON objects without ceremony. Missing or mistyped members read as the value given. */
#ifndef TS_FIELD_H
#define TS_FIELD_H
#include "tessera.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* Takes ownership of text, which came from the library or bench; NULL stays NULL and leaves the error that is there. */
cJSON *field_parse(char *text, ts_error *e);
const char *field_text(const cJSON *o, const char *name, const char *otherwise);
double field_number(const cJSON *o, const char *name, double otherwise);
bool field_flag(const cJSON *o, const char *name);
const cJSON *field_list(const cJSON *o,
                        const char *name); /* its first element; walk by ->next; NULL if empty or absent */
int field_count(const cJSON *o, const char *name);
void field_print(const cJSON *o, FILE *f); /* indented, with a final line break */
#endif
