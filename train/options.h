/* options.h - everything that a training run is told, as one row of a table each: options of the command, members of
 * run.json, and what a resumed run must repeat all come from it. Texts in it are its own, until option_free. */
#pragma once
#include "graph/base/js.h"

#include <stddef.h>

/* What is not given is NULL, or the fallback of its row. Lists are one text, an entry a line. Owned. */
typedef struct train_options {
    char *model, *data, *eval, *task, *pool, *order, *head, *loss, *output, *tokenizer, *optimizer, *schedule, *on_nan;
    char *freeze, *no_decay, *on, *dropout_on, *grad_norms, *dims, *precision, *columns,
        *names; /* names: of classes, as the data had them */
    int64_t labels, batch, steps, epochs, total_steps, warmup, length, seed, keep, save_every, eval_every, patience,
        accumulate, shards;
    int64_t lora, growth_interval, nesterov;
    double lr, clip, ema, smoothing, loss_scale;
    double dropout;                                   /* below 0: as the model's own operations say */
    double weight_decay, beta1, beta2, eps, momentum; /* below 0: as the optimizer has it */
} train_options;

typedef enum option_kind {
    OPTION_TEXT,
    OPTION_LIST,
    OPTION_WHOLE,
    OPTION_REAL,
    OPTION_FLAG
} option_kind; /* FLAG: 0 or 1 */
typedef struct option_field {
    const char *name; /* of the option, without dashes */
    option_kind kind;
    size_t at;        /* offset in train_options */
    bool free;        /* may differ when a run is resumed: it does not change what is computed */
    double fallback;  /* of numbers */
    const char *word; /* of texts; NULL: none */
} option_field;
extern const option_field option_fields[]; /* ends with name NULL */

void option_make(train_options *w); /* fallbacks */
void option_free(train_options *w);
char **option_place(train_options *w, const option_field *f);
void option_set_text(char **place, const char *value); /* replaces, copies */
void option_add_line(char **list, const char *value);
cJSON *option_json(const train_options *w);
bool option_read(train_options *w, const cJSON *config, const char *path, ts_error *e);
/* The first field in which the run that goes on differs from how it began: an error that names it. */
bool option_same(const train_options *began, const train_options *now, const char *run, ts_error *e);

/* Whether every option that was given means something; of a run that begins. */
bool option_fits(const train_options *w, ts_error *e);

/* for (const char *at = list; option_line(&at, line);) */
enum { OPTION_LINE = 4096 }; /* bytes of one value, as globs and paths are */
bool option_line(const char **at, char line[OPTION_LINE]);
/* The same as at most `most` pointers into `own`, a copy for free(), NULL where nothing is; how many they are. */
int option_lines_make(const char *list, int most, const char **out, char **own);
bool option_names(const char *line, const char *name); /* "NAME=..." */
bool option_none(const char *list);                    /* the word "none" alone: an empty list, in place of a default */
