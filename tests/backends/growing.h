/* growing.h - a row while random operations are added to it, and the kinds of operations there are. Values are few,
 * small and bounded, so that sums stay exact; the row's text and the dice are the caller's. */
#ifndef TS_GROWING_H
#define TS_GROWING_H
#include "tests/backends/random_row.h"

#include "tessera.h"

enum { MAX_VALUES = 32, MOST_ELEMENTS = 6000, LEAF_BOUND = 2 };
typedef struct value {
    ts_dtype dtype;
    int rank;
    int64_t dim[TS_MAX_RANK];
    double bound; /* no element is larger */
} value;
typedef struct growing { /* value i is called vi in the text */
    dice *d;
    text *row, call; /* call: of the statement that is being made */
    int n;
    value v[MAX_VALUES];
} growing;

/* Adds statements that make something of value a, the last of them the new value; or nothing, false. */
typedef struct growth {
    bool (*grow)(growing *w, int a);
    bool numbers, truths; /* what it takes, */
    int rank;             /* of this rank at least */
} growth;
extern const growth arithmetic_growths[], sum_growths[], move_growths[], mask_growths[]; /* end with NULL */

int64_t value_count(const value *v);
bool same_shape(const value *a, const value *b);
/* Is it small, and are its elements, with those on their way to it, exact in its dtype? */
bool fits(const value *v, int64_t folded);
int64_t some_extent(dice *d);
bool has_room(const growing *w); /* for three more values */

/* Each adds a statement and gives its number. */
int add_leaf(growing *w, ts_dtype t, int rank, const int64_t *dim); /* an input or a constant */
int add_beside(growing *w, ts_dtype t, const value *v);             /* the same, which broadcasts to v */
int add_places(growing *w, int rank, const int64_t *dim, int64_t below);
int add_result(growing *w, const value *v);                           /* w->call, which is empty then */
void put_ints(growing *w, const char *name, int n, const int64_t *v); /* behind w->call */
/* A value that was there before, of a's shape and dtype t; -1: none. */
int known_like(growing *w, int a, ts_dtype t);
#endif
