/* guard.h - memory between pages that fault: what reads or writes outside it ends the process. The guard owns its pages
 * and outlives the program that they are lent to. */
#ifndef TS_TESTS_GUARD_H
#define TS_TESTS_GUARD_H
#include "backends/backend.h"

typedef enum edge { AT_START, AT_END } edge; /* of its pages, right behind or right before one that faults */
enum { MOST_GUARDED = 4096 };
typedef struct guard {
    edge edge;
    int n;
    struct {
        char *at;
        size_t bytes;
    } map[MOST_GUARDED];
    memory memory; /* to be handed to a back end */
} guard;
void guard_make(guard *g, edge at);
void *guard_take(void *guard, size_t bytes, err *e); /* zeroed */
void guard_free(guard *g);
/* Gives each value of the plan, which has its own place, pages of its own; once the program is built, closes those
 * between them. */
void guard_spread(const guard *g, plan *p);
void guard_close(const plan *p, const backend *b, const program *made);
#endif
