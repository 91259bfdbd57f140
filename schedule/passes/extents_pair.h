/* extents_pair.h - the graph of a plan beside the same model's at other extents: which nodes stand for one another, and
 * what of each follows variables. Lists by id are the plan's; all else is of the pairing's own arena. */
#ifndef TS_EXTENTS_PAIR_H
#define TS_EXTENTS_PAIR_H
#include "graph/affine/index.h"
#include "schedule/plan/extents.h"

enum { MOST_COMPARED = 1 << 24 /* elements of a constant */, MOST_OTHER = MOST_VARIABLES };

typedef struct axes { /* of one node, as indices */
    space space;
    const affine *at[MAX_AXIS];
} axes;

/* A constant of which other graphs have a part: which one. The first elements along each dimension, but the last along
 * those in `ends`; all of them more by `shift`, which is 0 at the bounds. */
typedef struct aligned {
    uint32_t ends;
    varying *extent; /* of the part, by dimension; of the constant itself they are what they are */
    varying shift;
} aligned;

typedef struct pairing {
    plan *p;
    int n;
    const other_extents *of[MOST_OTHER];
    bool parts;                    /* extents may be parts of the variable, too: it is even wherever it is looked at */
    const node **mate[MOST_OTHER]; /* by id: the node of each other graph */
    const node **open;             /* nodes whose definitions are still to be compared */
    int n_open;
    bool *within, inside; /* by id: part of what is computed at the bounds, whatever a run says; what is met now is */
    const node **reader;  /* by id: who read it when it was met; NULL: it is a result */
    const node *at;       /* the node at hand */
    axes *axes;           /* of the node at hand, and of those that stand for it */
    aligned *aligned;     /* by id: of constants */
    const expr **form; /* by id: the element, with extents where numbers follow them; of constants as they lie there */
    int n_sized;       /* numbers that follow variables, so far */
    int other;         /* the graph that has another expression, when one has been found */
    arena mem;
    err *e;
} pairing;

bool pairing_refuse(pairing *q, int k, const node *n, const char *why);
bool pairing_refuse_extent(pairing *q, int k, const node *n, int64_t here, int64_t there);
/* Whether the elements of b are those of a: the first ones, but the last along dimensions in `ends`, each so much more */
bool pairing_part(const node *a, const void *here, const node *b, const void *there, uint32_t ends);
bool pairing_more(const node *a, const void *here, const node *b, const void *there, int64_t *by);
const node *pairing_input(const graph *g, const node *n); /* of the same name */
bool pairing_leaves(pairing *q, int k, const node *a, const node *b);
bool pairing_values(pairing *q, int k, const node *a, const node *b); /* that their elements are the same numbers */
bool pairing_numbers(const pairing *q, int k, const node *a, const node *b);
bool pairing_trips(pairing *q, const node *a, const node *const *b);
bool pairing_routine(const expr *x, const expr *y);
bool pairing_head(const expr *x, const expr *y);
const expr *pairing_settled(const expr *x); /* without the count from the end, where a place is never below 0 */
const node *pairing_source(const node *n);  /* of a weight that is computed: what computes it */

/* Whether the graph x, at the least extents, is what the forms found by q say of these. */
bool extents_hold(const pairing *q, const other_extents *x, const node *const *root);
#endif
