/* decode.h - a language model as what follows tokens: the first ones all at once, then one at a time, with what earlier
 * places leave for later ones kept: in the past that the model itself takes (cached.h), else by ts_advance. Where a
 * model does not allow that, every token runs the whole window, which a note says. It owns its plans and what they
 * keep until decoder_free; ids are borrowed for the call. */
#pragma once
#include "train/cached.h"
#include "train/judge.h"
#include "train/train.h"

typedef struct decoder {
    judge judge; /* its plan runs the whole window */
    ts_steps steps;
    ts_plan *window, *step; /* the window with all that steps keep, and one place; NULL: there are none */
    ts_tensor ids;
    int64_t length, classes; /* of the window; of logits */
    int64_t known;           /* places that are kept */
    double *logit;           /* of the token to come */
    char note[600];          /* "", or why every token runs the whole window */
    cached cache;            /* of a model file that takes a past; next NULL: it is not used */
    train_options *own;      /* of a model file */
    int64_t vocabulary;      /* ids are below; 0: unknown */
} decoder;
typedef struct decoding {
    bool whole, file;              /* every token runs the whole window; the model is a file, not a run's */
    int64_t batch, prompt, tokens; /* texts at once; tokens of the prompt, and behind it */
} decoding;
/* A model file as a run that was not trained; tokenizer, dims: NULL, or as of --tokenizer and --dim, in lines. */
void decoder_file(const char *model, const char *tokenizer, const char *dims, run_weights *out);
bool decoder_make(decoder *d, const run_weights *from, const decoding *how, const ts_options *o, ts_error *e);
/* Sets d->logit to what follows n tokens of each row of id, which are `stride` apart. From more tokens than the window
 * has, the first ones are left out. */
bool decoder_next(decoder *d, const int64_t *id, int64_t stride, int64_t n, ts_error *e);
void decoder_again(decoder *d); /* forgets the tokens that are kept: a prompt comes next */
void decoder_free(decoder *d);
