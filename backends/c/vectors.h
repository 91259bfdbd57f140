/* vectors.h - vectors in C: types of GCC's extension, which clang has too, and what they can do. The table is
 * constant; nothing is kept. */
#pragma once
#include "backends/codegen/library.h"

extern const function c_vectors[]; /* ends with {0} */
void c_vector_write(text *t, const function *f, instance l);
