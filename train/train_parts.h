/* train_parts.h - what the parts of training share. Private to train/train.c and train_begin.c.
 * A training owns all it has but the job and the options, which are the caller's; train.c frees it after a failure of
 * any part, so parts leave it as it is. */
#pragma once
#include "train/breakdown.h"
#include "train/metrics.h"
#include "train/order.h"
#include "train/pace.h"
#include "train/run_folder.h"
#include "train/step.h"
#include "train/train.h"

typedef struct training {
    train_job *job;
    train_options *asked;
    ts_options options; /* the job's, with what the run was made with where it says nothing */
    run_folder folder;
    run_facts facts;
    ts_tokenizer *tokenizer;
    data data, eval;
    bool has_eval, began; /* began: there is a run to go on with */
    order order;
    net net;
    ranks ranks;
    step step;
    int64_t done, saved;        /* updates; saved: of the last checkpoint, -1: none */
    int skipped;                /* in a row */
    bool stops;                 /* after this step: somebody was asked to */
    bool together;              /* what ended the run has ended it on all ranks */
    char device[80];            /* the first of several of this process */
    char machine[MACHINE_TEXT]; /* of rank 0 */
    double begun;               /* of this process's first step */
    int64_t begun_at;
    course course; /* of the evaluations */
    pace pace;
    breakdown breakdown;
    ts_array batch[MOST_FED];
    int64_t *which;
} training;

/* Reads, checks and plans all that a run is made of, and begins or goes on with its folder: the next step can run. A
 * run that is refused leaves no folder. */
bool train_begin(training *t, ts_error *e);
bool train_leads(const training *t); /* rank 0: who alone writes and says anything */
bool job_trains(const train_job *j); /* else it is asked what training would do */
void train_tell(const training *t, const train_news *n);
void train_say(const training *t, news_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
