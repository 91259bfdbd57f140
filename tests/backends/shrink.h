/* shrink.h - a graph and a schema that go wrong together, made smaller for as long as what is left still computes wrong
 * numbers, or is stopped by a compiler or a device: statements of the row go or become inputs; rules, stages' loops,
 * staging, roles and steps go. */
#ifndef TS_SHRINK_H
#define TS_SHRINK_H
#include "graph/base/base.h"
#include "tessera.h"

typedef struct fault {
    text row, schema;
    int number;   /* of the row: seeds its values */
    ts_options o; /* its schema is the path at which the text of the schema is saved */
} fault;

typedef enum computed { NOTHING, OTHERWISE, AS_WANTED } computed; /* held against the interpreter */
computed fault_compute(const fault *f, err *e);                   /* NOTHING: e says why */
bool fault_shows(const fault *f); /* it computes otherwise, or fails as no legal schema may */
void fault_shrink(fault *f);      /* one that shows */
#endif
