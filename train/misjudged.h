/* misjudged.h - what a trained model got wrong, and how surely: RUN/misjudged.json of the last evaluation.
 * The file is there whole or as it was; verdict and data are only read. */
#pragma once
#include "train/judge.h"

/* v has each example's own. Nothing is written for tasks without labels of examples. */
bool misjudged_write(const char *run, int64_t step, const train_options *w, const data *d, const verdict *v,
                     ts_error *e);
