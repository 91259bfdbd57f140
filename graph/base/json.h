/* json.h - strict JSON for the files that people write: what cJSON reads, with the place of every value beside it. The
 * text must be UTF-8, of bounded depth, without control characters in strings and without duplicate keys. Values live
 * in the arena given, cJSON's own are gone on return. Everything read is untrusted. */
#pragma once
#include "graph/base/base.h"

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

/* NULL with e set; depth: of lists and objects within each other, at most so many. */
json *json_read(arena *mem, const char *name, const char *source, size_t n, int depth, err *e);
json *json_get(const json *object, const char *key);   /* NULL when absent */
size_t json_count(const json *list);                   /* values in it; of an object members; of NULL 0 */
const char *json_kind_name(json_kind k);               /* "a list" */
bool json_want(const json *v, json_kind kind, err *e); /* refuses another kind by name */
/* Refuses a value by how it is written: "WANT expected, not 2.5". False. */
bool json_expect(const json *v, const char *want, err *e);
/* Whether v is a number written as an integer that fits; exact where `number` is not. */
bool json_whole(const json *v, int64_t *out);
/* Puts value where pointer (RFC 6901) leads, under root; the last member of the path may be new. */
bool json_put(arena *mem, json *root, const char *pointer, const json *value, err *e);
/* "FILE:LINE:COLUMN (POINTER)" */
const char *json_where(arena *mem, const json *v);
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
