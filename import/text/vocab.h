/* vocab.h - tokens by their bytes and by their number; lists of numbers; texts cut into words; tokens by what a text
 * begins with. Strings are borrowed, tables owned until x_free. */
#pragma once
#include "graph/base/base.h"

typedef struct ids { /* at[0..n), its own; {0} is empty */
    int64_t *at, n, cap;
} ids;
void ids_add(ids *l, int64_t id); /* at the end */
void ids_free(ids *l);

/* Token bytes <-> id. Ids are dense enough: below MOST_TOKENS. */
enum { MOST_TOKENS = 1 << 24, MOST_TOKEN_BYTES = 4096 }; /* of a vocabulary; bytes of one */
typedef struct token {
    const char *s; /* NULL: an id that nothing has */
    int n;
    bool hidden; /* not printed */
} token;
typedef struct vocab {
    token *by_id;
    int64_t n, cap; /* ids are in [0, n) */
    int64_t *slot;  /* open hash table of ids + 1 */
    size_t n_slot, used;
} vocab;
bool vocab_add(vocab *v, const char *s, size_t n, int64_t id); /* borrows s; false: either is taken */
/* A number that has a text and is not found by it: an added token. False: it has another. */
bool vocab_name(vocab *v, const char *s, size_t n, int64_t id);
int64_t vocab_find(const vocab *v, const char *s, size_t n); /* -1 */
/* The tokens "<0x00>" to "<0xFF>", -1 where there is none. */
void vocab_byte_tokens(const vocab *v, int64_t id[256]);
void vocab_free(vocab *v);

/* Strings in the order of their bytes, so that all that a text begins with are found in one walk along it. */
typedef struct lexicon_entry {
    const char *s;
    size_t n;
    int64_t id;
} lexicon_entry;
typedef struct lexicon {
    lexicon_entry *at;
    int64_t n;
    bool first[256]; /* the bytes that some begin with */
} lexicon;
typedef struct lexicon_walk {
    int64_t low, high; /* the entries that begin with the bytes so far */
    size_t depth;
} lexicon_walk;
void lexicon_sort(lexicon *l); /* once all entries are there */
lexicon_walk lexicon_begin(const lexicon *l);
/* Goes on by one byte; *id: of the entry that ends there, or -1. False: none begins so. */
bool lexicon_next(const lexicon *l, lexicon_walk *w, unsigned char c, int64_t *id);

/* words: one text, cut. */
typedef struct piece {
    const char *s;
    size_t n;
    bool start; /* of the whole text that is encoded */
} piece;
typedef struct word {
    size_t at, n;
} word;
typedef struct words {
    text text;
    word *all;
    int n, cap;
} words;
void words_cut(words *w, size_t at, size_t n);     /* adds a word, unless n is 0 */
void words_put(words *w, const char *s, size_t n); /* appends to the text a word, which may be empty */
void words_end(words *w, size_t at);               /* a word, which may be empty: all of the text from there */
piece words_at(const words *w, int i);
void words_free(words *w);

/* What matches and what does not, in turns, and which of it become words, as tokenizer.json calls that. */
typedef enum behavior { ISOLATED, REMOVED, CONTIGUOUS, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT } behavior;
typedef struct span {
    size_t begin, end;
    bool match;
} span;
typedef struct spans {
    span *at;
    int n, cap;
    size_t told; /* bytes in them */
} spans;
void spans_match(spans *s, size_t begin, size_t end); /* and what lies before it */
/* Cuts the text of n bytes at w->text.s + at; frees s. */
void spans_take(spans *s, behavior how, words *w, size_t at, size_t n);
