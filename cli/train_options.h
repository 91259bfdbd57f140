/* train_options.h - options that are named as those of a training run are, for every verb that has some of them.
 * Names and ranges stand in the table of train/options.h alone; texts are the command line's. */
#ifndef TS_TRAIN_OPTIONS_H
#define TS_TRAIN_OPTIONS_H
#include "train/options.h"
#include "cli/args.h"

bool train_options_said(const args *a, const option_field *f); /* the verb has such an option, and it was given */
void train_options_take(train_options *w, const args *a);      /* puts all that were given into w */
#endif
