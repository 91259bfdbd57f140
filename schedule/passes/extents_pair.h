/* extents_pair.h - the graph of a plan beside the same model's at other extents, one after the other: which nodes stand
 * for one another, and what of each follows variables, as far as it has been found. Lists by id are of the plan's
 * nodes; all is of the pairing's arena, but extents and mates, which are the plan's. */
#pragma once
#include "graph/affine/index.h"
#include "schedule/passes/passes.h"
#include "schedule/plan/extents.h"

/* A constant of which other graphs have a part: the first elements along each dimension, but the last along those in
 * `ends`; all of them more by `shift`, or each by its own, which are 0 at the bounds. decided: dimensions of which
 * parts were seen */
typedef struct aligned {
    uint32_t ends, decided;
    varying shift, *each;   /* each: of few elements, as shapes are; or NULL */
    const varying *extents; /* as they were found, of one with `ends`, once the plan has all of it; or NULL */
} aligned;

typedef struct pairing {
    plan *p;
    const node *const *root; /* of its graph, or what these become */
    struct pairing *before; /* of the graph that is rewritten, with a plan as it was then; NULL: it is as it was said */
    extents_rewriting rewriting; /* how it is; */
    bool *is;                    /* by id of the nodes there: what stands for one of which that was done */
    const node **small; /* by id of the plan's nodes: what stands for it at the small extent; NULL: there is none */
    const expr **form;  /* the element, with extents where numbers follow them; of constants as they lie there */
    aligned *aligned;
    bool *seen, *within; /* met; of what weights are computed from: at the bounds, whatever a run says */
    const node **reader; /* who read it when it was met first; NULL: it is a result */
    const node **met;    /* all of them, from the results down */
    int n_met;
    arena mem, scratch; /* of what is found; of the graph at hand */
    err *e;
    /* the graph at hand */
    const other_extents *of;
    int learns; /* the variable that numbers may be found to follow; -1: none, all has to be as found */
    /* What of them: by how much they rise from there to the bound; how what is a part of the variable is rounded, which
     * `parts` allows; a limit from which on they rise, or to which they do */
    enum { RISES, ROUNDS, LIMITS } how;
    bool parts, limited; /* limited: or sums up to a number */
    int64_t period;      /* of parts: the steps after which all of them have risen by whole numbers */
    bool apart;          /* axes that were made one are kept apart in all graphs */
    bool least;          /* at the least extents, where axes of one element are none, and views are left out */
    const node **mate;   /* the node there; the plan's */
    const node **open;   /* nodes whose definitions are still to be compared */
    int n_open;
    bool inside; /* what is met now is within */
    const node *at;
    space space; /* of the axes of the node at hand, as they are there */
    const affine *axis[MAX_AXIS];
    int64_t extent[MAX_AXIS];
} pairing;

bool pairing_take(pairing *q, const node *a,
                  const node *b); /* b stands for a there; what makes them is compared later */
int64_t aligned_more(const aligned *a, int64_t at, const int64_t *size); /* what element `at` is more there */
const node *pairing_source(const node *n); /* of a weight that is computed: what computes it */
/* Whether what is `here` at the bounds is `there`, by what v has been found to follow, or is found to follow now. */
bool pairing_number(const pairing *q, varying *v, int64_t here, int64_t there);

bool pairing_refuse(pairing *q, const node *n, const char *why); /* false */
/* Both graphs, that at x as it is to be planned, or, where nothing is learned, as at the least extents */
bool pairing_hold(pairing *q, const other_extents *x);

/* ---- parts of variables ---- */
bool pairing_guess(pairing *q);      /* which holds at the least extents, too */
bool pairing_affordable(pairing *q); /* to hold what was guessed at every extent, which is the proof */
bool pairing_everywhere(pairing *q);

/* ---- constants ---- */
/* By how much all elements of b are more than those of a that they stand for: the first ones, but the last along
 * dimensions in `ends`. False: not by one number. */
bool pairing_apart(const node *a, const char *here, const node *b, const char *there, uint32_t ends, int64_t *by);
bool pairing_align(pairing *q, const node *a, const node *b);
/* Computes, in all graphs, constants that are read as they lie and of which other extents keep other elements. */
bool extents_constants(plan *p, err *e);
/* A part of a constant, as it lies in the whole: places counted from the end, and what elements are more */
const expr *pairing_in_whole(void *user, const expr *x);

/* ---- elements ---- */
/* An element as it is compared: where parts are looked for with all tests of places, which other extents may need */
const expr *pairing_form(const pairing *q, arena *mem, const defn *d);
void pairing_axes(pairing *q, const defn *d); /* the node at hand is d there */
/* x, a form, over what it is there, where y is the element; NULL: it is another one. Whether it is the same by now */
const expr *pairing_learned(pairing *q, const expr *x, const expr *y);
bool pairing_alike(pairing *q, const expr *x, const expr *y, int rank);
