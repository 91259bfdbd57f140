/* base.h - what every folder may use: memory, errors, text, checked arithmetic, hashes, files. It needs libc, cJSON and
 * a hash of OpenSSL. Nothing here knows of graphs. Functions that can fail because of a user return false and set an
 * err; a mistake of ours aborts through MUST. Memory for descriptions comes from arenas and dies with them, at once.
 * The room:  err, dtype | ended, arena, pages | text, json_add, json (strict), js (cJSON) | check, stats | hash, random
 *            file, save | settings, clock */
#pragma once
#include "graph/base/ended.h"
#include "graph/base/err.h"
#include "graph/base/random.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* ---- arena: zeroed, 16-byte aligned, never NULL; everything from it is freed together ---- */
typedef struct arena {
    struct chunk *head;
} arena;
void *arena_get(arena *mem, size_t size);
void *arena_array(arena *mem, size_t count, size_t size); /* checked product */
char *arena_string(arena *mem, const char *s);            /* a copy */
char *arena_format(arena *mem, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Room for element n of a list that grows by appending: the list, or twice as long elsewhere. New ones are zero. */
void *arena_grown(arena *mem, const void *list, int n, int *cap, size_t size);
/* a[0..n) and b[0..more) as one; b NULL: a copy with room for so many more, which are zero */
void *arena_joined(arena *mem, const void *a, int n, const void *b, int more, size_t size);
void *heap_array(size_t count, size_t size);                /* zeroed, for free(); never NULL */
void *heap_grown(void *list, int n, int *cap, size_t size); /* the same with realloc */
void arena_free(arena *mem);
void arena_take(arena *mem, arena *from); /* what came from the other, which is then empty, dies with this one */
size_t arena_bytes(const arena *mem);     /* handed out so far */

/* ---- pages: for much data ---- */
/* Zeroed memory, on huge pages where the system gives them, first touched by who uses it. NULL with e set. */
char *pages_map(size_t bytes, err *e);
void pages_unmap(char *at, size_t bytes);
void pages_trim(void); /* the system gets back what was freed of the heap */

/* ---- tables ---- */
/* Of n rows of that size, each with a name as its first field, the first one called so; -1: none is. */
int row_named(const void *rows, int n, size_t size, const char *name);
#define ROW_NAMED(rows, name) row_named(rows, COUNT(rows), sizeof *(rows), name)

/* ---- text: every printer and every emitter writes to one of these ---- */
typedef struct text {
    char *s; /* always terminated once anything was added */
    size_t length, cap;
    int depth; /* indentation of text_line, in steps of four */
    bool wide; /* JSON: blanks behind commas and colons, for files that people read */
} text;
void text_add(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_line(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* indented, ends the line */
void text_bytes(text *t, const char *s, size_t n);
void text_json(text *t, const char *s); /* a JSON string with its quotes; bad UTF-8 becomes U+FFFD */
/* JSON by a form that reads as what it prints: json_add(t, "{name:%s,bytes:%lld,usable:%i,by:'hand',list:["). A
 * word before ':' is a name and gets quotes, as what stands between '' does, numbers in it too. %s is a text (NULL:
 * null), %c one of a character, %i a truth value, a number that is not finite null. A comma goes before the form where
 * t ends in a value; all else is copied. */
void json_add(text *t, const char *form, ...) __attribute__((format(printf, 2, 3)));
void json_add_wholes(text *t, const char *key, int n, const int64_t *v); /* a member: key:[1,2] */
void json_add_texts(text *t, const char *key, int n, const char *const *s);
void json_add_raw(text *t, const char *json);                     /* what is JSON already */
void json_add_lines(text *t, const char *key, const char *lines); /* a text for each line that is not empty */
void text_safe(text *t, const char *s); /* for terminals: control, bidi and invalid bytes as \xNN */
/* Line after line of *at, which may be NULL: for (const char *at = s; line_next(&at, line, sizeof line);) ... Each is
 * cut to what fits. */
bool line_next(const char **at, char *line, size_t size);
/* Bytes of the well-formed UTF-8 character at s (shortest form, no surrogate, at most U+10FFFF), its code in *code; 0
 * when there is none. The terminating NUL ends every sequence, so nothing past it is read. */
size_t utf8_next(const char *s, uint32_t *code);
bool word_is(const char *name, const char *s, size_t n); /* s[0..n) is that name */
bool in_word(char c);            /* an ASCII letter, a digit or _, of which names are made in C and in formulas */
bool utf8_hidden(uint32_t code); /* control characters, and marks that turn, hide or break what stands around them */
void text_free(text *t);
char *text_take(text *t);              /* the malloc'ed string, never NULL; t is empty afterwards */
void text_size(text *t, double bytes); /* as people read it: "2.1 MiB" */
/* "1.5G" in s[0..n), with or without "iB" or "B" behind: a whole number from 1 on */
bool size_read(const char *s, size_t n, int64_t *out);
typedef struct named_size { /* of "4G,c:numa0=2G": one of all, or of one name */
    const char *s;
    size_t length, name; /* of s, and of the name in front; 0: of all */
    int64_t bytes;       /* 0: it is no size */
} named_size;
bool size_next(const char **at, named_size *x);          /* as line_next; at[0] may be NULL */
int64_t size_named(const char *sizes, const char *name); /* the last one of that name; "": of all; 0: none */
/* All but what is of others of the names "A,B" than own, which is one of them or some; to be freed. */
char *sizes_make(const char *sizes, const char *names, const char *own);
const char *text_str(const text *t); /* "" when empty */

/* ---- checked arithmetic: true when the result fits. The only place where sizes are multiplied. ---- */
bool size_add(size_t a, size_t b, size_t *out);
bool size_mul(size_t a, size_t b, size_t *out);
bool int_add(int64_t a, int64_t b, int64_t *out);
bool int_mul(int64_t a, int64_t b, int64_t *out);
int64_t int_floor_div(int64_t a, int64_t b); /* b > 0; rounds down, as numpy */
int64_t int_ceil_div(int64_t a, int64_t b);  /* both positive; rounds up */
int64_t int_floor_mod(int64_t a, int64_t b);
int64_t int_min(int64_t a, int64_t b);
int64_t int_max(int64_t a, int64_t b);
int64_t int_power(int64_t n);          /* the least power of two that is no less */
int64_t int_gcd(int64_t a, int64_t b); /* greatest common divisor; of 0 and b it is b */

/* "f32[2,3]", for messages: array_type(&a).s */
typedef struct array_words {
    char s[192];
} array_words;
array_words array_type(const ts_array *a);

/* ---- hashes: SHA-256 for content keys, a fast one for tables ---- */
typedef struct digest {
    unsigned char b[32];
} digest;
typedef struct hasher hasher; /* opaque, heap */
hasher *hash_open(void);
void hash_bytes(hasher *h, const void *p, size_t n);
void hash_text(hasher *h, const char *s); /* with its length, so that fields cannot run together */
digest hash_close(hasher *h);             /* frees h */
void digest_hex(const digest *d, char out[65]);
uint64_t quick_hash(const void *p, size_t n, uint64_t seed);

/* ---- files: opened and mapped in file.c, replaced in save.c, nowhere else ---- */
typedef struct mapping {
    const unsigned char *at;
    size_t size;
    void *base; /* the same, for who unmaps it */
} mapping;
bool file_map(const char *path, mapping *out, err *e); /* read-only; size 0 gives at == NULL */
/* The same of an open file, named for messages; fd stays */
bool file_map_fd(int fd, const char *path, mapping *out, err *e);
void file_unmap(mapping *m);
void file_let_go(const mapping *m); /* its pages need not stay in memory; they come back when they are read */
bool file_read(const char *path, size_t limit, text *out, err *e); /* limit in bytes; over it is an error naming both */
bool file_save(const char *path, const void *p, size_t n, err *e); /* atomic: temporary, fsync, rename */
/* The same in pieces; failures are kept until the end. `expected` bytes are reserved first; 0: unknown. */
typedef struct saver saver;
saver *saver_open(const char *path, size_t expected);
void saver_add(saver *s, const void *p, size_t n);
bool saver_close(saver *s, err *e); /* frees s; on failure the old file stays */
void saver_drop(saver *s);          /* frees s; the old file stays */
/* All n bytes to an open file, with short writes and interruptions taken care of; errno says why not */
bool file_write(int fd, const void *p, size_t n);
/* "cannot DOING 'PATH': WHY", with what can be done about it; false. */
bool file_failed(err *e, const char *doing, const char *path, int why);
bool file_exists(const char *path); /* links are followed */
bool file_is_folder(const char *path);
void file_remove_tree(const char *path); /* a folder with all that is in it; links go, not what they lead to */
int file_open(const char *path, int flags, mode_t mode); /* as open, close-on-exec, again where a signal came */
/* With parents; an existing folder is fine. One that is made is on disk. */
bool file_make_folder(const char *path, err *e);
/* The folder that holds path, and with it that it holds path, is on disk; errno says why not. */
bool file_sync_holder(const char *path);
const char *env_text(const char *name);          /* an environment variable; NULL when unset or empty */
const char *env_next(const char *prefix, int i); /* "NAME=VALUE", the i-th whose name begins so; NULL: no more */
const char *env_setting(const char *word, const char *name); /* VALUE of "name=VALUE"; NULL: the word says another */
const char *env_folder(const char *name);                    /* the same; NULL, too, when it is not absolute */
const char *file_temporary(void); /* the folder for temporary files: TMPDIR if absolute, else "/tmp" */
