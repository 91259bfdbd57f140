/* ask.h - a finished or running run, asked: how good on data, what it says of texts, its model as a file. */
#ifndef TRAIN_ASK_H
#define TRAIN_ASK_H
#include "bench/train/train.h"

bool run_is(const char *path); /* a folder with run.json */

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
    int64_t tokens;     /* to append */
    double temperature; /* logits are divided by it; 0: always the likeliest token */
    uint64_t seed;      /* what is drawn is a function of it and of the token's number */
    void (*tell)(void *user, const char *text, size_t n); /* the text as it grows, the prompt left out */
    void *user;
} generating;
/* Continues a text by a run of --task lm, whose model must be causal: every token runs the whole window again. */
bool run_generate(const char *run, const generating *how, const ts_options *o, asked *out, ts_error *e);

/* The model with its trained weights and its head, as an ONNX file. */
bool run_export(const char *run, const char *path, ts_error *e);
#endif
