/* ask.h - a finished or running run, asked: how good on data, what it says of texts, its model as a file.
 * A run is only read. What `asked` holds is freed by run_ask_free, also after a failure. */
#pragma once
#include "train/sample.h"
#include "train/train.h"

typedef struct asked { /* a run opened for questions; run_ask_free */
    run_weights weights;
    ts_tokenizer *tokenizer;
    data data;
    verdict verdict;
} asked;
bool run_eval(const char *run, const char *files, const ts_options *o, asked *out, ts_error *e);
/* What verdict.said, .sure (or .score for values) are of n texts, and with JUDGE_CLASSES .share. */
bool run_predict(const char *run, int64_t n, const char *const *texts, judge_depth depth, const ts_options *o,
                 asked *out, ts_error *e);
void run_ask_free(asked *a);

typedef struct generating {
    const char *prompt, *tokenizer,
        *dims;             /* of a model file: NULL is beside the model, or nothing; as --dim, in lines */
    int64_t tokens, batch; /* to append, at most; texts that begin with the prompt */
    sampling sampling;
    uint64_t seed;  /* what is drawn is a function of it, of the token's number and of the text's */
    bool recompute; /* every token runs the whole window, and nothing is kept */
    /* A text as it grows, the prompt left out; of several, one after another when all are done. */
    void (*tell)(void *user, int64_t row, const char *text, size_t n);
    void *user;
} generating;
typedef struct generated {
    int64_t tokens, later, prompt; /* appended, in all texts; of them, without the first of each; of the prompt, each */
    double seconds, prefill;       /* of the tokens after the first ones; of the prompt */
    bool ended;                    /* all, by the token that ends texts */
    char note[600];                /* "", or why it was slow or stopped */
    char said[400];                /* of a model file: what its inputs and outputs are */
} generated;
/* Continues a text by a causal model: a run's of --task lm, or a model file. The prompt must fit the window; where the
 * text has grown past a run's, its first tokens are left out. */
bool run_generate(const char *what, const generating *how, const ts_options *o, asked *out, generated *made,
                  ts_error *e);

/* The model with its trained weights, run_weights_read's or run_weights_best's, and its head, as an ONNX file. */
typedef bool weights_reader(const char *run, run_weights *out, ts_error *e);
bool run_export(const char *run, weights_reader *read_weights, const char *path, ts_error *e);
