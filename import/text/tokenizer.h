/* tokenizer.h - from text to the numbers that a model was trained on. A tokenizer cuts special tokens out of the text,
 * normalises what is between them, splits it into words, lets its token model number each word, and puts the tokens of
 * its template around the result. All of it is data, read from vocab.txt or tokenizer.json; read-only once made. Text
 * is any bytes. A tokenizer owns its tables, lists are of whoever has them filled.
 * The room:  read -> tokenizer: normal -> split -> token models (wordpiece, bpe, bytes) over vocab     unicode */
#ifndef TS_TOKENIZER_H
#define TS_TOKENIZER_H
#include "graph/base/json.h"

typedef struct ids { /* at[0..n), its own; {0} is empty */
    int64_t *at, n, cap;
} ids;
void ids_add(ids *l, int64_t id); /* at the end */
void ids_free(ids *l);

/* vocab: token bytes <-> id. Ids are dense enough: below MOST_TOKENS. */
enum { MOST_TOKENS = 1 << 24, MOST_TOKEN_BYTES = 4096 }; /* of a vocabulary; bytes of one */
typedef struct token {
    const char *s; /* NULL: an id that nothing has */
    int n;
} token;
typedef struct vocab {
    token *by_id;
    int64_t n, cap; /* ids are in [0, n) */
    int64_t *slot;  /* open hash table of ids + 1 */
    size_t n_slot, used;
} vocab;
bool vocab_add(vocab *v, const char *s, size_t n, int64_t id); /* borrows s; false: either is taken */
int64_t vocab_find(const vocab *v, const char *s, size_t n);   /* -1 */
void vocab_free(vocab *v);

/* words: one text, cut. */
typedef struct word {
    size_t at, n;
} word;
typedef struct words {
    text text;
    word *all;
    int n, cap;
} words;
void words_cut(words *w, size_t at, size_t n); /* adds a word, unless n is 0 */
void words_free(words *w);

typedef struct tokenizer tokenizer;

/* A step of normalising rewrites a text; a step of splitting rewrites a list of words over its text. */
typedef struct normal_step {
    const char *name; /* "type" in tokenizer.json */
    void (*run)(uint32_t options, const char *s, size_t n, text *out);
    uint32_t options;
} normal_step;
typedef struct split_step {
    const char *name;
    void (*cut)(uint32_t options, words *w, size_t at, size_t n); /* adds the words in that part of w->text */
    uint32_t options;
} split_step;
enum { MOST_STEPS = 16, PREFIX_SPACE = 1, WHOLE = 2, ONE_DIGIT = 4 };
enum { CLEAN = 1, IDEOGRAPHS = 2, ACCENTS = 4, LOWER = 8 }; /* of BertNormalizer */
bool normal_read(tokenizer *t, const json *v, err *e);      /* appends the step or sequence v says */
bool split_read(tokenizer *t, const json *v, err *e);
bool json_truth(const json *object, const char *key, bool otherwise);
extern const normal_step normal_bert;
extern const split_step split_bert;

typedef struct token_model {
    const char *name;                                                      /* "type" in tokenizer.json */
    bool (*read)(tokenizer *t, const json *model, err *e);                 /* fills t->vocab and t->own */
    void (*encode)(const tokenizer *t, const char *s, size_t n, ids *out); /* one word */
    void (*decode)(const tokenizer *t, int64_t id, bool first, text *out);
    void (*drop)(tokenizer *t); /* what own holds outside the arena; may be NULL */
} token_model;
extern const token_model *const token_models[]; /* const token_model token_model_NAME in import/text, gathered by the
                                                   build; ends with NULL */
const token_model *token_model_find(const char *name); /* NULL when there is none */

typedef struct special { /* a token that is found in the text as it is */
    const char *s;
    size_t n;
    int64_t id;
    bool left, right, alone, hidden; /* takes the blanks before, behind it; whole words only; not printed */
} special;

struct tokenizer {
    arena mem;
    const char *path;
    vocab vocab;
    const token_model *model;
    void *own; /* the model's */
    int n_normal, n_split;
    normal_step normal[MOST_STEPS];
    split_step split[MOST_STEPS];
    bool bytes; /* tokens are bytes, not characters: set by the splitting that makes them so */
    int n_special;
    special *special;
    ids before, after; /* of the template */
};
void tokenizer_special(tokenizer *t, special s); /* adds; s.s borrowed */
bool tokenizer_json(tokenizer *t, const char *source, size_t n, err *e);
bool tokenizer_lines(tokenizer *t, const char *source, size_t n, err *e); /* vocab.txt */
bool wordpiece_setup(tokenizer *t, err *e);                               /* over t->vocab, BERT's settings */
/* The bytes that a key of a byte-level vocabulary stands for; false when it has other characters. */
bool byte_level(const char *key, text *out);
#endif
