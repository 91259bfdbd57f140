/* wishes.h - options that are named as the wishes of a training run are, for every verb that has some of them. */
#ifndef TS_WISHES_H
#define TS_WISHES_H
#include "train/options.h"
#include "cli/args.h"

bool wishes_said(const args *a, const wish_field *f); /* the verb has such an option, and it was given */
void wishes_take(train_wish *w, const args *a);       /* puts all that were given into w */
#endif
