/* walk.h - a program as tables: kernels called in order, with a barrier only where one part may need, or overwrite,
 * what another part works on, and at the start, when all have begun their counts of chunks anew. Tessera runs plans by
 * it, and programs that it writes carry it as it is. Tables are constant and borrowed, memory is the caller's, and
 * nothing is kept from call to call. */
#ifndef WALK_H
#define WALK_H
#include "backends/c/runtime/loops.h"
#include "backends/c/runtime/run.h"
#include "backends/c/runtime/share.h"

typedef void walk_kernel(void *const *at, char *scratch, int *fault, const ts_share *share);
typedef struct walk_place { /* of an operand: number of a leaf or an input, bytes from where the arena begins */
    enum { LEAF, INPUT, ARENA } in;
    long at;
} walk_place;
typedef struct walk_call {
    walk_kernel *kernel; /* NULL: a function of the process, or trips */
    int first, n, meets; /* its operands' places; whether all parts wait for one another before it */
    int loop;            /* it is trips of other kernels: a row of loop; 0: it is not */
    int alone;           /* 1 + which part does all of it; 0: all parts do */
} walk_call;
enum { CLAIM = 8 }; /* bytes: how much of a part's share of a kernel is claimed, in front of the part's scratch */
typedef struct walk_program {
    int calls, all;       /* of the program itself, which come first; with those of trips */
    int operands, inputs; /* the most that a kernel has, and a trip; not 0 */
    long claims;          /* bytes in front of each part's scratch */
    const walk_call *call;
    const walk_place *place;
    const loop_row *loop; /* row 0 is none; with it, what trips read */
    const loop_address *address;
    const loop_copy *copy;
} walk_program;

/* Calls `first` to before `end`, by every part of `parts`. */
void walk_calls(const walk_program *g, const ts_run *r, long first, long end, long part, long parts);
#endif
