/* admin.h - the cache as the command shows it. */
#ifndef TS_C_KEPT_H
#define TS_C_KEPT_H
#include "backends/backend.h"

extern const keeper c_kept;
#endif
