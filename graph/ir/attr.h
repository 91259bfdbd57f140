/* attr.h - attributes of calls: read, completed from the specification, printed, compared. They live in
 * the arena given. */
#pragma once
#include "graph/ir/op.h"

enum { MAX_ATTR = 32 };
/* "axis=-1 keepdims=1" against o's specification; out holds MAX_ATTR. */
bool attr_parse(arena *mem, const op *o, const char *source, attr *out, int *n, err *e);
/* One attr per entry of o's specification, in its order, from those given by name and the defaults; NULL on
 * a mistake. */
attr *attr_fill(arena *mem, const op *o, int n, const attr *given, err *e);
void attr_print(text *t, const attr *a); /* " axis=-1", or nothing when absent */
bool attr_is_axes(const attr *a);        /* numbers of dimensions, as attr_spec says */
bool attr_same(const attr *a, const attr *b);
uint64_t attr_hash(const attr *a, uint64_t seed); /* of two that are the same it is the same */
