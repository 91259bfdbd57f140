/* admin.h - the cache as the command shows it: listed, checked, pruned, as backend.h says of a keeper. Entries are the
 * folder's; other processes may use them meanwhile, and see each of them whole or not at all. */
#pragma once
#include "backends/backend.h"

extern const keeper c_cache;
