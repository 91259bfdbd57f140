/* js.h - JSON that the program itself writes and reads back, on top of cJSON: text that is always valid, numbers that
 * may be missing. What people write is read by json.h, which is strict and knows places. Who parses owns the tree and
 * ends it by cJSON_Delete, or holds it by ENDED_BY(js_free), and frees what js_to_text gives; a new member belongs to
 * its parent, texts are copied, and what js_get and js_find give is borrowed from the tree. */
#pragma once
#include "graph/base/ended.h"
#include "tessera.h"

#include <cjson/cJSON.h>

/* Depth and syntax are checked; what names s in an error. */
cJSON *js_parse(const char *s, const char *what, ts_error *e);
char *js_to_text(const cJSON *v, bool pretty); /* NULL of NULL alone */
void js_free(cJSON **tree); /* the end of one: of the tree that the pointer at this address points to, or of none */

void js_text(cJSON *object, const char *key, const char *value); /* NULL gives null; bad UTF-8 becomes '?' */
void js_number(cJSON *object, const char *key, double value);    /* not finite gives null */
void js_flag(cJSON *object, const char *key, bool value);
/* Members by a form, as js_put(o, "name:%s,bytes:%lld,share:%g,usable:%i", ...): a text, whole numbers, a number, a
 * truth value, each as by the functions above. Gives o; js_row puts them into a new object of the list. */
cJSON *js_put(cJSON *o, const char *form, ...) __attribute__((format(printf, 2, 3)));
#define js_row(list, ...) js_put(js_object(list, NULL), __VA_ARGS__)
/* A value that could not be read: null, and why not under "why". */
void js_absent(cJSON *object, const char *key, const char *why);
cJSON *js_object(cJSON *parent, const char *key); /* a new member; key NULL: parent is an array */
cJSON *js_array(cJSON *parent, const char *key);
void js_item(cJSON *array, const char *value);

const cJSON *js_get(const cJSON *object, const char *path); /* "memory/peak_bytes"; NULL where missing */
const cJSON *js_find(const cJSON *list, const char *key,
                     const char *s); /* the first with that text; key NULL: a text */
double js_get_number(const cJSON *object, const char *path, double fallback);
const char *js_get_text(const cJSON *object, const char *path); /* "" where missing or not text */
bool js_get_flag(const cJSON *object, const char *path);
