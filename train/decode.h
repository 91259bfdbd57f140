/* decode.h - a trained language model as what follows tokens: the first ones all at once, then one at a time, with what
 * earlier places leave for later ones kept (ts_advance). Where a model does not allow that, every token runs the whole
 * window, which a note says. It owns its plans and what they keep until decoder_free; ids are borrowed for the call. */
#ifndef TRAIN_DECODE_H
#define TRAIN_DECODE_H
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
} decoder;
bool decoder_make(decoder *d, const run_weights *from, bool whole, const ts_options *o, ts_error *e);
/* Sets d->logit to what follows n tokens. From more tokens than the window has, the first ones are left out. */
bool decoder_next(decoder *d, const int64_t *id, int64_t n, ts_error *e);
void decoder_free(decoder *d);
#endif
