/* vectors.h - a tile's loop over lanes in vectors: for the files that write tiles.
 *
 *   vectors.c  whether a tile has them, its loops over vectors, and what is done in each
 *   shapes.c   how each part of a value is computed
 *   vexpr.c    values of vectors, as that says
 *   vcast.c    elements of another kind, and as memory has them
 *
 * A vector holds n neighbours along one axis; the last one may have fewer, `count`. Elements beyond these are never
 * read from memory nor written to it, whatever they are. */
#pragma once
#include "backends/codegen/emit.h"

int vector_count(const emitter *m, int bytes);           /* elements of so many bytes that one has */
bool vector_kind(const emitter *m, dtype d, element *e); /* what vectors of such values hold; false: there are none */
element vector_kind_of(const emitter *m, dtype d);       /* the same where there are some */
/* For as long as statements live, and noted to be used: "f32x8", "f32x8_fma" */
int64_t vector_bytes(const emitter *m, element e);
const char *vector_type(emitter *m, element e);
/* An operation on vectors; args: how it is called, "($0, $1)" */
const cexpr *vector_call(emitter *m, element e, const char *does, const char *args, const cexpr *const *arg);
const cexpr *vector_one(emitter *m, element e, const char *does, const cexpr *a);
const cexpr *vector_splat(emitter *m, element e, const cexpr *a);
const cexpr *vector_of(emitter *m, element to, element from, const cexpr *x); /* each element converted, if need be */
const cexpr *vector_name(emitter *m, element e, const cexpr *value); /* a name that stands for it from here on */
/* A function of the library as it is for vectors: exp_x8 for "exp($0)" */
const cexpr *vector_function(emitter *m, const char *spelled, int n, const cexpr *const *arg);
bool vector_casts(const emitter *m, dtype to, dtype from); /* whether vectors can be converted so */
const cexpr *vector_cast(emitter *m, dtype to, const expr *what, const cexpr *x); /* x: what is turned into it */
const cexpr *vector_load(emitter *m, element e, const cexpr *place);
void vector_store(emitter *m, element e, const cexpr *place, const cexpr *value); /* a statement */
/* shapes.c: how a part of a value is computed where loops stand. */
typedef enum shape {
    ONE,            /* a number: loops go over elements one by one */
    SPREAD,         /* a number, which all elements of a vector have in common, in each of them */
    HELD,           /* in registers: what was summed up, or is carried */
    NEIGHBOURS,     /* of memory, or of registers where these were turned */
    PLACES,         /* numbers that the loop itself has */
    CONVERTED,      /* a vector of another kind */
    OPERATION,      /* of vectors, as the language or the instruction set has it */
    FUNCTION,       /* of the library */
    BLEND,          /* both sides of a choice, of which each element takes one */
    BRANCH,         /* one side, by a condition that all elements have in common */
    BRANCH_BY_ENDS, /* one side, by what holds at both ends of the vector; each element by itself where ends differ */
    APART           /* one element after another */
} shape;
shape shape_of(emitter *m, const expr *x);
/* It is more than moving elements that are no neighbours, which goes one by one in any case. runs: those of the result
 * are. */
bool vector_gains(emitter *m, const expr *x, bool runs);
bool vectors_here(const emitter *m);                   /* loops stand at a vector, not at one of its elements */
const char *vector_form(emitter *m, const expr *x);    /* the text of call x, an OPERATION; NULL: it is none */
const char *vector_library(emitter *m, const expr *x); /* what the library calls it, a FUNCTION; NULL: it is none */
const affine *vector_place(emitter *m, const expr *x); /* a whole number, of where loops stand */
const cexpr *vector_expr(writer *w, const expr *x);    /* x, of which the shapes are known */
/* How many neighbours a vector has of a row outside of tiles, for which these are computed; 0: there are none. */
int vector_beside(emitter *m, const row_loop *r, int n_x, const expr *const *x);
const cexpr *vector_read(emitter *m, dtype d,
                         const cexpr *place); /* the values at that element of memory, and behind */
void vector_write(emitter *m, dtype d, const cexpr *place, const cexpr *value); /* a statement */
/* A loop over its elements one by one; the variable that says which. None is within another. */
const char *vector_each_open(emitter *m);
void vector_each_close(emitter *m);
/* Opens a loop over whole vectors of n elements, outside of tiles; where what is left begins, as text. vectors_leave:
 * behind it. */
const cexpr *vectors_enter(emitter *m, int n, const char *name, const cexpr *from, const cexpr *to);
void vectors_leave(emitter *m);
/* The axis goes on by so many steps of `at`; where it was, for vector_back. */
position vector_go(emitter *m, int axis, const affine *at, int64_t by);
void vector_back(emitter *m, int axis, position was);
/* Where the loops stand, n elements of it by so many each, or neighbours */
bool vector_lies(emitter *m, int load, int axis, int n, int64_t apart);
bool vector_runs(emitter *m, int load, int axis, int n);
const cexpr *vector_down(emitter *m, dtype d, const cexpr *value, const cexpr *by); /* element `by` becomes the first */
const cexpr *vector_dot(emitter *m, const cexpr *acc); /* what comes to the sums of the stage by one instruction */
bool vector_combines(emitter *m, const fn *f, dtype d);
const cexpr *vector_combine(emitter *m, const cexpr *a, const cexpr *b); /* by the stage's fold */
