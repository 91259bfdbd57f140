/* train.h - training a model from any source on the user's data, so that nothing is lost: kill it at any moment, and a
 * resumed run ends with the same bits as one that was left alone.
 *
 * A run is a folder (run_folder.h). What a step computes is a pure function of the options, the data and its number:
 * the order of examples and all random numbers follow from the seed. Nothing here prints: news go to a function. A job
 * is the caller's and borrowed for the call; what is made says on its line who frees it.
 *
 * The room:  options -> train_begin -> train (the loop) -> trained, export, generate, decode, sample
 *            data*, order, nearest     examples, in which order   net*, parameters, dropout, scale  the graph of a step
 *            shards*, devices, ranks   a step in parts            collective    what carries bytes between processes
 *            step*, timed, breakdown   the step as a plan         judge, metrics, misjudged        how good it is
 *            checkpoint, run_folder, files   what is on disk      program*                         emitted training
 *            report*                   the page of a run      pace, forecast  how long it takes, and with more ranks */
#pragma once
#include "graph/base/js.h"
#include "train/judge.h"
#include "train/metrics.h"
#include "train/options.h"

#include <signal.h>

typedef enum news_kind { NEWS_NOTE, NEWS_WARNING, NEWS_START, NEWS_STEP, NEWS_EVAL, NEWS_SAVED, NEWS_FACTS } news_kind;
typedef struct train_news {
    news_kind kind;
    const char *text;       /* NOTE, WARNING, START */
    int64_t step, steps;    /* updates done, and wanted */
    metric metric;          /* STEP */
    double left_s;          /* STEP; NAN: no telling yet */
    bool examples;          /* STEP: its rate counts examples, there are no tokens */
    const verdict *verdict; /* EVAL; borrowed for the call */
    const cJSON *facts;     /* FACTS: as step_facts gives them; borrowed for the call */
} train_news;

typedef struct train_job {
    train_options *asked; /* what the user said; what was left out is filled in */
    const char *run;      /* the folder */
    bool resume;          /* goes on with the run there, if there is one; asked->model NULL: just as it began */
    bool joins;           /* one of several processes, if it was started so */
    bool dry;             /* checks everything, trains nothing */
    bool (*planned)(void *user, ts_plan *step,
                    ts_error *e); /* with resume: is given the plan; trains nothing. Or NULL */
    struct forecast *forecast;    /* with resume: its reply is made (forecast.h); trains nothing. Or NULL */
    const char *emit; /* with resume: a new folder for the run as a program of its own; trains nothing. Or NULL */
    ts_options options;
    const volatile sig_atomic_t *stop; /* becomes non-zero: finish the step, save, return TS_INTERRUPTED */
    void (*change)(void *user,
                   train_options *w); /* what is new in a run that goes on just as it began; NULL: nothing */
    void (*tell)(void *user, const train_news *n);
    void *user;
} train_job;
enum { TRAIN_STOPPED = -1 };
/* TS_OK, TRAIN_STOPPED after a clean save, or the code of *e. */
int train_run(train_job *j, ts_error *e);

/* The trained weights of a run, the newest whole checkpoint; for train_weights_free. */
typedef struct run_weights {
    train_options asked;
    int64_t classes, step;
    int n;
    ts_given *all;
    char note[1024];
} run_weights;
bool run_weights_read(const char *run, run_weights *out, ts_error *e);
/* Those of the best evaluation instead. */
bool run_weights_best(const char *run, run_weights *out, ts_error *e);
void run_weights_free(run_weights *w);
/* The tokenizer of a run: as its options say, or beside the model; NULL and no error where data is no text. */
ts_tokenizer *train_tokenizer_make(const train_options *w, ts_error *e);
bool train_check_tokens(const train_options *w, const data *d, const char *files, int64_t vocabulary, ts_error *e);
/* Reads data of a run as its training data was read: want's files, classes, vocabulary and tokenizer, the rest as w
 * says. */
bool train_read_data(const train_options *w, const data_want *want, data *out, ts_error *e);
