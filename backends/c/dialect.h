/* dialect.h - C as the generator writes it. */
#ifndef TS_C_DIALECT_H
#define TS_C_DIALECT_H
#include "backends/codegen/dialect.h"

extern const dialect c_dialect;
#endif
