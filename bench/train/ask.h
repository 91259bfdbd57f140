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

/* The model with its trained weights and its head, as an ONNX file. */
bool run_export(const char *run, const char *path, ts_error *e);
#endif
