/* random_chain.h - the loops of one axis, drawn: what random nests are made of. A function of the dice, which is the
 * caller's; steps of a chain fall from outside in. */
#ifndef TS_RANDOM_CHAIN_H
#define TS_RANDOM_CHAIN_H
#include "schedule/plan/plan.h"
#include "tests/backends/random_row.h"

enum { MAX_CHAIN = 4 };
typedef struct chain { /* from outside in: steps fall to 1 */
    int n, used;
    int64_t step[MAX_CHAIN], left;
    bool tile; /* the last one belongs to the register tile */
} chain;
void chain_split(dice *d, chain *c, int64_t left);
int64_t chain_trips(const chain *c); /* of the last one */
void chain_put(const stage *s, int axis, int64_t step, const char *how, text *t);
void chain_spoil(dice *d, text *t); /* now and then one character of it */
#endif
