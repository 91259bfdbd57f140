/* ask.h - a finished or running run, asked: how good on data, what it says of texts, its model as a file.
 * A run is only read. What `asked` holds is freed by run_ask_free, also after a failure. */
#ifndef TRAIN_ASK_H
#define TRAIN_ASK_H
#include "train/sample.h"
#include "train/train.h"

typedef struct asked { /* a run opened for questions; run_ask_free */
    run_weights weights;
    ts_tokenizer *tokenizer;
    data data;
    verdict verdict;
} asked;
bool run_eval(const char *run, const char *files, bool each, const ts_options *o, asked *out, ts_error *e);
/* What verdict.said, .sure (or .score for values) are of n texts. */
bool run_predict(const char *run, int64_t n, const char *const *texts, const ts_options *o, asked *out, ts_error *e);
void run_ask_free(asked *a);

typedef struct generating {
    const char *prompt;
    int64_t tokens; /* to append, at most */
    sampling sampling;
    uint64_t seed;  /* what is drawn is a function of it and of the token's number */
    bool recompute; /* every token runs the whole window, and nothing is kept */
    void (*tell)(void *user, const char *text, size_t n); /* the text as it grows, the prompt left out */
    void *user;
} generating;
typedef struct generated {
    int64_t tokens; /* appended */
    double seconds; /* of the tokens after the first one */
    bool ended;     /* by the token that ends texts */
    char note[600]; /* "", or why it was slow or stopped */
} generated;
/* Continues a text by a run of --task lm, whose model must be causal. The prompt must fit the run's window; where the
 * text has grown past it, its first tokens are left out. */
bool run_generate(const char *run, const generating *how, const ts_options *o, asked *out, generated *made,
                  ts_error *e);

/* The model with its trained weights and its head, as an ONNX file. */
bool run_export(const char *run, const char *path, ts_error *e);
#endif
