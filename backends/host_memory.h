/* host_memory.h - how much memory this process may still take: the least of what the system, its control group and
 * its own limit leave. Asked anew each time: plans ask before they take anything large. */
#pragma once
#include "graph/base/base.h"

int64_t host_memory_free(void);
/* Limit less use, in bytes; idle: file pages that nobody used lately, given back on demand. INT64_MAX: no limit. */
int64_t host_memory_left(int64_t limit, int64_t used, int64_t idle);
