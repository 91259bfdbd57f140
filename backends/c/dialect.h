/* dialect.h - C as the generator writes it. */
#ifndef TS_C_DIALECT_H
#define TS_C_DIALECT_H
#include "backends/codegen/dialect.h"

extern const dialect c_dialect;
extern const char c_share_type[]; /* the declaration of how a kernel is told its part */
#endif
