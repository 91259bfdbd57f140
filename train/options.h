/* options.h - everything that a training run is told, as one row of a table each: options of the command, members of
 * run.json, and what a resumed run must repeat all come from it. */
#ifndef TRAIN_WISH_H
#define TRAIN_WISH_H
#include "bench/js.h"

#include <stddef.h>

/* What is not given is NULL, or the fallback of its row. Lists are one text, an entry a line. Owned. */
typedef struct train_wish {
    char *model, *data, *eval, *task, *pool, *order, *head, *loss, *output, *tokenizer, *optimizer, *schedule, *on_nan;
    char *freeze, *no_decay, *on, *dropout_on, *grad_norms, *dims, *precision;
    int64_t labels, batch, steps, epochs, total_steps, warmup, length, seed, keep, save_every, eval_every, accumulate;
    int64_t lora, growth_interval, nesterov;
    double lr, clip, ema, smoothing, loss_scale;
    double dropout;                                   /* below 0: as the model's own operations say */
    double weight_decay, beta1, beta2, eps, momentum; /* below 0: as the optimizer has it */
} train_wish;

typedef enum wish_kind { WISH_TEXT, WISH_LIST, WISH_WHOLE, WISH_REAL, WISH_FLAG } wish_kind; /* FLAG: 0 or 1 */
typedef struct wish_field {
    const char *name; /* of the option, without dashes */
    wish_kind kind;
    size_t at;        /* offset in train_wish */
    bool free;        /* may differ when a run is resumed: it does not change what is computed */
    double fallback;  /* of numbers */
    const char *word; /* of texts; NULL: none */
} wish_field;
extern const wish_field wish_fields[]; /* ends with name NULL */

void wish_init(train_wish *w); /* fallbacks */
void wish_free(train_wish *w);
char **wish_text(train_wish *w, const wish_field *f);
void wish_set_text(char **place, const char *value); /* replaces, copies */
void wish_add_line(char **list, const char *value);
cJSON *wish_json(const train_wish *w);
bool wish_read(train_wish *w, const cJSON *config, const char *path, ts_error *e);
/* The first field in which the run that goes on differs from how it began: an error that names it. */
bool wish_same(const train_wish *began, const train_wish *now, const char *run, ts_error *e);

/* Whether every option that was given means something; of a run that begins. */
bool wish_fits(const train_wish *w, ts_error *e);

/* for (const char *at = list; wish_line(&at, line);) */
enum { WISH_LINE = 4096 };
bool wish_line(const char **at, char line[WISH_LINE]);
bool wish_names(const char *line, const char *name); /* "NAME=..." */
bool wish_none(const char *list);                    /* the word "none" alone: an empty list, in place of a default */
#endif
