/* extents_pair.h - compares the graph of a plan with graphs of the same model at other extents, one after the other. It
 * holds which nodes correspond, and what has been learned of how each depends on variables. Lists by id are of the
 * plan's nodes. All lies in the pairing's arena, but extents and mates, which are the plan's. */
#pragma once
#include "graph/affine/index.h"
#include "schedule/passes/passes.h"
#include "schedule/passes/unflatten.h"
#include "schedule/plan/extents.h"

/* A constant that other graphs have a part of: the first elements along each dimension, or the last along those in
 * `ends`. The difference of an element is `shift`, or its own in `each`; both are 0 at the bounds. decided: dimensions
 * along which a part was seen */
typedef struct aligned {
    uint32_t ends, decided;
    varying shift, *each;   /* each: for few elements, as shapes have; or NULL */
    const varying *extents; /* as they were found, of one with `ends`, once the plan has all of it; or NULL */
} aligned;

typedef struct pairing {
    plan *p;
    const node *const *root;     /* of its graph, or after a rewriting */
    struct pairing *before;      /* for a rewritten graph: the pairing of the one before, with its plan; or NULL */
    extents_rewriting rewriting; /* how it was rewritten */
    bool *is;                    /* by id in the other graph: the node comes from the rewriting */
    const node **small;          /* by id: the corresponding node at the small extent, or NULL */
    const expr **form;           /* by id: the element's expression, its numbers replaced by extents */
    aligned *aligned;
    bool *seen, *within; /* visited; weights are computed from it, at the bounds in every run */
    const node **reader; /* the reader by which it was reached first; NULL: it is a result */
    const node **met;    /* the nodes visited, from the results down */
    int n_met;
    arena mem, scratch; /* for what is learned; for the graph at hand */
    err *e;
    /* the graph at hand */
    const other_extents *of;
    int learns; /* the variable of which this graph may teach something; -1: none, it has to match what was learned */
    /* What is learned of numbers: their slope up to the bound; the rounding of parts of the variable, if `parts`; a
     * limit from which on, or up to which, they rise */
    enum { RISES, ROUNDS, LIMITS } how;
    bool parts, limited; /* numbers may be quotients; or limited by a constant */
    int64_t period;      /* steps after which every quotient has risen by a whole number */
    kept_apart apart;    /* axes that a reshape merged, in all graphs */
    bool least;          /* at the least extents: axes of one element vanish, views are left out */
    const node **mate;   /* the node there; the plan's */
    const node **open;   /* nodes whose definitions are still to be compared */
    int n_open;
    bool inside; /* nodes visited now are `within` */
    const node *at;
    space space; /* of the axes of the node at hand, as they are there */
    const affine *axis[MAX_AXIS];
    int64_t extent[MAX_AXIS];
} pairing;

/* Notes that b of the other graph corresponds to a; their definitions are compared later. */
bool pairing_take(pairing *q, const node *a, const node *b);
int64_t aligned_more(const aligned *a, int64_t at, const int64_t *size); /* difference of element `at` there */
const node *pairing_source(const node *n);                               /* what computes n, a computed weight */
/* Whether a number that is `here` at the bounds is `there` by what v says, or can be learned to. */
bool pairing_number(const pairing *q, varying *v, int64_t here, int64_t there);

bool pairing_refuse(pairing *q, const node *n, const char *why); /* false */
/* Compares both graphs. The one at x is as it will be planned, or, if nothing is learned, as at the least extents. */
bool pairing_hold(pairing *q, const other_extents *x);

/* ---- parts of variables ---- */
bool pairing_guess(pairing *q);      /* what is learned has to hold at the least extents, too */
bool pairing_affordable(pairing *q); /* whether every extent can be tried, which is the proof */
bool pairing_everywhere(pairing *q);

/* ---- constants ---- */
/* The one difference between the elements of b and those of a: the first ones, or the last along dimensions in `ends`.
 * False: they differ by more than one number. */
bool pairing_apart(const node *a, const char *here, const node *b, const char *there, uint32_t ends, int64_t *by);
bool pairing_align(pairing *q, const node *a, const node *b);
/* Computes, in all graphs, constants that are read as they lie and of which other extents keep other elements. */
bool extents_constants(plan *p, err *e);
/* An expression over a part of a constant as one over the whole: places count from the end, differences are added. */
const expr *pairing_in_whole(void *user, const expr *x);

/* ---- elements ---- */
/* An element's expression for comparison; with `parts` all tests of places stay, as other extents may need them. */
const expr *pairing_form(const pairing *q, arena *mem, const defn *d);
void pairing_axes(pairing *q, const defn *d); /* sets the axes of the node at hand, d */
/* x, a form, with what y, the element there, teaches; NULL: they differ. Then whether both are the same. */
const expr *pairing_learned(pairing *q, const expr *x, const expr *y);
bool pairing_alike(pairing *q, const expr *x, const expr *y, int rank);
