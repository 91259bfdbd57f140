/* counts.h - the numbers of a model. An emitted program has its own in place of this one, whose model is that of a test
 * and has the files beside it compiled here as the rest is. Constants alone: nothing to own. */
#ifndef COUNTS_H
#define COUNTS_H
enum { MODEL_INPUTS = 1, MODEL_OUTPUTS = 1, MODEL_STATES = 1, MODEL_SIZES = 1, MODEL_THREADS = 2 };
#endif
