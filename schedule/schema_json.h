/* schema_json.h - strict JSON for schema files: what cJSON reads, with the place of every value beside it. The text must be
 * UTF-8, at most 32 levels deep, without control characters in strings and without duplicate keys. Values live in the arena
 * given, cJSON's own are gone on return. Everything read is untrusted. */
#ifndef TS_SCHEMA_JSON_H
#define TS_SCHEMA_JSON_H
#include "graph/base/base.h"

enum { JSON_DEPTH = 32, JSON_BYTES = 1 << 20 };
typedef enum json_kind { JSON_NULL, JSON_TRUTH, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } json_kind;
typedef struct json_file {
    const char *name, *text; /* name: for messages */
} json_file;
typedef struct json json;
struct json {
    json_kind kind;
    bool truth;
    double number;
    const char *key, *text; /* key: of a member; text: of JSON_TEXT */
    json *first, *next;
    const json_file *file;
    size_t at;          /* byte in the file's text */
    const json *parent; /* in the file */
    const json *origin; /* a value put in another's place: where it came from, else NULL */
};

json *json_read(arena *m, const char *name, const char *source, size_t n, err *e); /* NULL with e set */
json *json_get(const json *object, const char *key);                               /* NULL when absent */
const char *json_kind_name(json_kind k);                                           /* "a list" */
/* Puts value where pointer (RFC 6901) leads, under root; the last member of the path may be new. */
bool json_put(arena *m, json *root, const char *pointer, const json *value, err *e);
/* "FILE:LINE:COLUMN (POINTER)" */
const char *json_where(arena *m, const json *v);
/* Sets e to "FILE:LINE:COLUMN (POINTER): ...". Returns false. */
bool json_refuse(err *e, const json *v, ts_code code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Refuses keys that are not among the words of `keys`, "name rules"; "//" is a comment anywhere. */
bool json_known(const json *object, const char *keys, err *e);
void json_print(text *t, const json *v); /* canonical, without comments: what is hashed */
enum { MAX_WORDS = 16 };
typedef struct word_list {
    char room[256];
    const char *word[MAX_WORDS + 1]; /* ends with NULL */
} word_list;
void words_split(const char *s, word_list *out); /* of a constant: what does not fit is a bug */
/* The word of the list (ended by NULL) that is nearest, or NULL when none is near. */
const char *word_nearest(const char *word, const char *const *list);
#endif
