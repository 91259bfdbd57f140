/* name.h - what a name from a file may be: well-formed UTF-8 without control bytes, at most so many bytes. Names are
 * labels for messages and lookup only; nothing is generated from them. Names are only read, and nothing is kept. */
#pragma once
#include "graph/base/base.h"

enum { NAME_MOST = 512, LOCATION_MOST = 4096 }; /* bytes: of a name, of a path */

/* s[0..n) need not be terminated. Sets "M014 <what>: ..." and returns false when it may not be a name. */
bool name_check(const char *s, size_t n, size_t most, const char *what, err *e);
