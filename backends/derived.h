/* derived.h - weights that are computed from others, by programs of a back end: one for all that are computed alike.
 * A kind's program, and the memory that it takes, live from the first value asked for until deriver_forget or
 * deriver_free. */
#pragma once
#include "backends/backend.h"

/* All are borrowed for the deriver's life. */
typedef struct deriver deriver;
deriver *deriver_make(const plan *p, const backend *by, const build_options *w);
/* Weights that are computed alike are of one kind: 0, 1, ... in the order of asking; -1 with e set. */
int deriver_kind(deriver *d, const node *weight, err *e);
/* Plans for all kinds that there are, before any value is asked for: for a back end that builds them at once. */
bool deriver_plan_all(deriver *d, err *e);
const plan *deriver_plan(const deriver *d, int kind); /* NULL: past the last one */
/* The value of a leaf that has `of`, row-major, until the next call; NULL with e set. */
const void *deriver_value(deriver *d, const node *weight, err *e);
void deriver_forget(deriver *d, int kind); /* its program and the memory that it holds */
void deriver_rest(deriver *d);             /* nothing is asked for any more: what operands were read to is freed */
void deriver_free(deriver *d);
