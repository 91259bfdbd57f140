/* library.h - functions that generated programs carry where they use them: what C-like languages do not have, or have
 * slower. Their text is in terms of a dialect's prelude, which defines FUNCTION (in front of each), FMA, FMA64, MIN and
 * MAX. Callees say which of them a piece of text calls: they are noted when the call is written. Tables are constant; a
 * list of callees is a plain value. */
#ifndef TS_LIBRARY_H
#define TS_LIBRARY_H
#include "graph/base/base.h"

/* CHAIN: a polynomial: instructions that wait for one another. FAULTS: takes the fault flag, in its text $0. PATTERN +
 * i: the dialect's writer number i makes it from the row, whose text is whatever that writer asks for. */
enum { PLAIN, CHAIN, FAULTS, PATTERN };
typedef struct function {
    const char *name;
    const char *uses; /* names of those that it calls, with blanks between them: all above it in its table */
    int kind;
    const char *text;
} function;
typedef void (*function_writer)(text *t, const function *f);
extern const function library[], library_real[]; /* each ends with {0} */

typedef struct dialect dialect;
enum { MAX_FUNCTION = 128 };
typedef struct callees { /* by number: rows of the library, then those of the dialect */
    bool used[MAX_FUNCTION];
} callees;

/* A call of `name`, of n bytes; one that is in no table is the language's own. */
void callees_call(callees *f, const dialect *d, const char *name, size_t n);
void callees_form(callees *f, const dialect *d, const char *form, const char *suffix); /* all that a form calls */
void callees_add(callees *f, const callees *more);
bool callees_chain(const callees *f, const dialect *d);          /* some function is a chain, or uses one */
bool callees_fault(const callees *f, const dialect *d);          /* some function takes the fault flag */
void library_write(text *t, const dialect *d, const callees *f); /* what is used, with what that uses in turn */
/* Calls `each` with the name of every function that library_write writes. */
void library_names(const dialect *d, const callees *f, void (*each)(void *user, const char *name), void *user);
#endif
