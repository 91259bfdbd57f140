/* admin.h - the cache as the command shows it. */
#ifndef TS_STORE_ADMIN_H
#define TS_STORE_ADMIN_H
#include "backends/backend.h"

extern const keeper c_cache;
#endif
