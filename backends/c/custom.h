/* custom.h - kernels that are functions of this process (graph/ir/custom.h). The program's text calls them by the
 * kernel's number through its ts_run, so it has no name or address of any, and plans that call other functions under
 * one name may share it. */
#pragma once
#include "backends/codegen/levels.h"
#include "backends/c/runtime/run.h"
#include "backends/codegen/codegen.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct custom_calls {
    ts_custom base;     /* what the program has: first, so that one is the other */
    levels levels;      /* by whose numbers it calls them */
    atomic_bool failed; /* in this run: nothing more is called */
    pthread_mutex_t lock;
    err e; /* why; under the lock */
} custom_calls;

void custom_make(custom_calls *c, const plan *p);          /* p is borrowed until custom_free */
void custom_free(custom_calls *c);                         /* no run is under way */
bool custom_check(custom_calls *c, err *e);                /* after a run: false, and forgotten, when one failed */
const node *custom_kernel(const plan *p, const kernel *k); /* whose function it is; NULL: of text, or of a plan */
