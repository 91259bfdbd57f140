/* tokenizer.h - from text to the numbers that a model was trained on. A tokenizer cuts added tokens out of the text,
 * normalises what is between them, splits it into words, lets its token model number each word, and puts the tokens of
 * its template around the result; its decoder makes text of tokens again. All of it is data, read from vocab.txt or
 * tokenizer.json; read-only once made. Text is any bytes. A tokenizer owns its tables, lists are of whoever has them
 * filled.
 * The room:  read -> tokenizer: added -> normal, charsmap -> split, metaspace, bytelevel, scripts -> token models
 *            (bpe, wordpiece, wordlevel, unigram, bytes) over vocab, lexicon -> decode     steps  pattern  unicode */
#pragma once
#include "graph/base/json.h"
#include "import/text/pattern.h"
#include "import/text/vocab.h"

typedef struct tokenizer tokenizer;

/* A step rewrites a text (a normalizer), cuts one into words (a pre_tokenizer), or rewrites a list of tokens (a
 * decoder). What cuts may rewrite too: it appends to the words' text. */
typedef struct text_step text_step;
struct text_step {
    const char *name;                                                /* "type" in tokenizer.json */
    bool (*read)(tokenizer *t, text_step *s, const json *v, err *e); /* its settings; NULL: it has none */
    void (*rewrite)(const text_step *s, const char *in, size_t n, text *out);
    void (*cut)(const text_step *s, piece in, words *out);
    void (*join)(const text_step *s, const words *in, words *out);
    uint32_t options;
    uint32_t mark;       /* a character of the settings */
    int64_t start, stop; /* numbers */
    const char *content; /* a text */
    size_t n_content;
    pattern *pattern;
    const void *own; /* in the tokenizer's arena */
};
enum { MOST_STEPS = 16 };
typedef struct steps_kind {  /* of which there are three */
    const char *what, *list; /* as in tokenizer.json: "normalizer", the key of a Sequence's list "normalizers" */
    const text_step *known;  /* ends with {0} */
} steps_kind;
typedef struct steps {
    int n;
    text_step at[MOST_STEPS];
} steps;
extern const steps_kind normalizers, pre_tokenizers, decoders;
bool steps_read(tokenizer *t, steps *to, const steps_kind *kind, const json *v, err *e); /* appends what v says */
const text_step *steps_find(const steps *all, const char *name);                         /* NULL */
void steps_free(steps *all);

/* Members of settings; absent ones leave *out. */
bool json_truth(const json *object, const char *key, bool otherwise);
bool json_text_of(const json *object, const char *key, const char **out, err *e);
bool json_character_of(const json *object, const char *key, uint32_t *out, err *e);
bool json_count_of(const json *object, const char *key, int64_t *out, err *e); /* whole, at least 0 */
bool step_pattern(tokenizer *t, text_step *s, const json *v, err *e); /* "pattern": {"String" or "Regex": ...} */
bool step_content(text_step *s, const json *v, const char *key, err *e);
/* Texts grow by a bounded factor in all steps together: a file that is made to fill memory is refused. */
bool step_grows(tokenizer *t, const json *v, size_t factor, err *e);
void text_replace(text *out, piece in, const char *from, const char *to);  /* appends; from "": nothing is replaced */
bool step_replace_read(tokenizer *t, text_step *s, const json *v, err *e); /* both */
void step_replace(const text_step *s, piece in, text *out);                /* its pattern by its content */

/* Steps that have files of their own. */
enum { PREFIX_SPACE = 1, WHOLE = 2 };                       /* of ByteLevel */
enum { CLEAN = 1, IDEOGRAPHS = 2, ACCENTS = 4, LOWER = 8 }; /* of BertNormalizer */
enum { PREPEND_ALWAYS = 1, PREPEND_FIRST = 2, SPLIT = 4 };  /* of Metaspace */
void bytelevel_rewrite(const text_step *s, const char *in, size_t n, text *out);
bool bytelevel_read(tokenizer *t, text_step *s, const json *v, err *e);
void bytelevel_cut(const text_step *s, piece in, words *out);
void bytelevel_join(const text_step *s, const words *in, words *out);
bool metaspace_read(tokenizer *t, text_step *s, const json *v, err *e);
void metaspace_cut(const text_step *s, piece in, words *out);
void metaspace_join(const text_step *s, const words *in, words *out);
bool charsmap_read(tokenizer *t, text_step *s, const json *v, err *e);
void charsmap_rewrite(const text_step *s, const char *in, size_t n, text *out);
bool scripts_read(tokenizer *t, text_step *s, const json *v, err *e);
void scripts_cut(const text_step *s, piece in, words *out);
extern const text_step normal_bert, split_bert;
void decode_guess(tokenizer *t); /* the decoder of a file that names none */

typedef struct token_model {
    const char *name;                                                      /* "type" in tokenizer.json */
    bool (*read)(tokenizer *t, const json *model, err *e);                 /* over t->vocab, fills t->own */
    void (*encode)(const tokenizer *t, const char *s, size_t n, ids *out); /* one word */
} token_model;
extern const token_model *const token_models[]; /* const token_model token_model_NAME in import/text, gathered by the
                                                   build; ends with NULL */
const token_model *token_model_find(const char *name); /* NULL when there is none */

typedef struct added { /* a token that is found in the text as it is */
    const char *s;
    size_t n;
    int64_t id;
    bool left, right, alone, hidden; /* takes the blanks before, behind it; whole words only; not printed */
    bool normalized;                 /* found behind the normalizer, as that makes it */
} added;

struct tokenizer {
    arena mem;
    const char *path;
    vocab vocab;
    const token_model *model;
    void *own; /* the model's */
    steps normal, split, decode;
    size_t growth; /* of step_grows; 0 is 1 */
    int n_added, cap_added;
    added *added;
    lexicon raw, normalized; /* the added tokens that are found before and behind the normalizer, by their place */
    ids before, after;       /* of the template */
};
void tokenizer_add(tokenizer *t, added s);                  /* s.s borrowed */
int64_t tokenizer_id(const tokenizer *t, const char *name); /* -1: there is none */
void tokenizer_ready(tokenizer *t);                         /* what is made once all is read */
void tokenizer_normal(const tokenizer *t, const char *s, size_t n, text *out);
bool tokenizer_json(tokenizer *t, const char *source, size_t n, err *e);
bool tokenizer_lines(tokenizer *t, const char *source, size_t n, err *e); /* vocab.txt */
bool wordpiece_setup(tokenizer *t, err *e);                               /* over t->vocab, BERT's settings */
const char *wordpiece_prefix(const tokenizer *t);                         /* of continuations: "##" */

/* Added tokens of a text, from left to right: sets the bytes [*begin, *end) that each takes; NULL: no more. */
typedef struct added_scan {
    const lexicon *set;
    piece in;
    size_t at, from;
} added_scan;
const added *added_next(const tokenizer *t, added_scan *scan, size_t *begin, size_t *end);
