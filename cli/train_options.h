/* train_options.h - options that are named as those of a training run are, for every verb that has some of them.
 * What they are where they are not given stands in the table of train/options.h alone; texts and ranges are here. Rows
 * are constant. */
#pragma once
#include "train/options.h"
#include "cli/args.h"

enum { MOST_STEPS = 1 << 30 };                /* and of other counts of a run */
extern const option_group train_step_options; /* what a step is, of train and of bench --train */
void train_options_usual(const option *o, char out[OPTION_TEXT_MOST]); /* as option_group.usual */

bool train_options_said(const args *a, const option_field *f); /* the verb has such an option, and it was given */
char *train_options_text(const args *a, const char *name);     /* of a repeated one, as option_add_line; for free() */
void train_options_take(train_options *w, const args *a);      /* puts all that were given into w */
