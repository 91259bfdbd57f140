/* library.h - functions that generated programs carry where they use them: what C-like languages do not have, or have
 * slower. Their text is in terms of a dialect's prelude, which defines FUNCTION (in front of each), FMA, FMA64, BLEND,
 * MIN and MAX. Callees say which of them a piece of text calls: they are noted when the call is written. Tables are
 * constant; a list of callees is a plain value.
 *
 * Some functions stand there for one value and for vectors, from one text. In it
 *     $f $d $i $u $I $U $h   are types: reals of 4 and 8 bytes, whole and natural numbers of 4 and 8, natural ones of 2
 *     $fma(a, b, c) ...      are operations (library.c has the table): FMA of one value, f32x8_fma of 8
 *     $k(1.5f)               is a literal among arguments, of which a vector has one in each element
 *     name@(a)               calls another such function: name(a), or name_x8(a)
 * Of vectors it begins with LANES: these are built into their callers. What has none of these is of one value only.
 * What vectors are and can do, a dialect says in rows of its own. */
#pragma once
#include "graph/base/base.h"

/* FAULTS: takes the fault flag, in its text $0. VECTOR:
 * the dialect's writer of vectors makes it. PATTERN + i: the dialect's writer number i makes it from the row, whose
 * text is whatever that writer asks for. */
enum { PLAIN, FAULTS, VECTOR, PATTERN };

/* What a vector has: 2, 4, ... 64 of one kind. */
typedef enum element { E_F32, E_F64, E_I8, E_I16, E_I32, E_I64, E_U8, E_U16, E_U32, E_U64, N_ELEMENT } element;
typedef struct instance { /* n 1: one value, of whatever kind */
    element of;
    int n;
} instance;
const char *element_name(element e); /* "f32" */
int element_bytes(element e);
element element_mask(element e); /* whole numbers of its size: truth is -1, or 0 */
typedef struct function {
    const char *name;
    const char *uses; /* names of those that it calls, with blanks between them: all above it in its table */
    int kind;
    const char *text;
} function;
typedef void (*function_writer)(text *t, const function *f);
typedef void (*vector_writer)(text *t, const function *f, instance of); /* f: or the library's, as it is for them */
extern const function library[], library_real[];                        /* each ends with {0} */

typedef struct dialect dialect;
enum { MAX_FUNCTION = 160 };
typedef struct callees { /* by number: rows of the dialect's vectors, of the library, then those of the dialect */
    uint64_t used[MAX_FUNCTION]; /* bit 0: of one value; one for each kind and number of elements */
    const char *own; /* a function of the language whose rounding is its own, where that is asked for; or NULL */
} callees;

/* A call of `name`, of n bytes; one that is in no table is the language's own. */
void callees_call(callees *f, const dialect *d, const char *name, size_t n);
void callees_lanes(callees *f, const dialect *d, const char *name, instance of); /* of many values at once */
bool callees_have(const dialect *d, const char *name, size_t n, instance of);    /* whether that can be called */
bool callees_wide(const callees *f, const dialect *d); /* some vector has elements of 8 bytes */
void callees_form(callees *f, const dialect *d, const char *form, const char *suffix); /* all that a form calls */
void callees_add(callees *f, const callees *more);
bool callees_fault(const callees *f, const dialect *d); /* some function takes the fault flag */
/* What is used, with what that uses in turn: what vectors are and can do, which is the same for all; functions */
void library_vectors(text *t, const dialect *d, const callees *f);
void library_write(text *t, const dialect *d, const callees *f);
/* Calls `each` with the name of every function that library_write writes. */
void library_names(const dialect *d, const callees *f, void (*each)(void *user, const char *name), void *user);
