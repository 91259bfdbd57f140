/* fail.c - calls that fail because SIMCUDA_FAIL says so: a device out of memory, or lost, a launch refused. */
#include "tests/gpusim/driver.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RULES = 8, CORRUPTS = 700, REFUSES = 800 }; /* errors between these leave the context useless */

/* "cuMemAlloc" is cuMemAlloc_v2, "cuMemcpy" every copy */
static bool is_for(const char *rule, size_t n, const char *function)
{
    return strlen(function) >= n && !memcmp(rule, function, n) && (!function[n] || function[n] == '_');
}

static unsigned long calls_made;

/* Of the driver's interface, since the process began: tests hold them against what a run may cost. */
__attribute__((visibility("default"))) unsigned long simcuda_calls(void)
{
    return calls_made;
}

/* NAME=CODE: each call; NAME:N=CODE: the Nth one and all after it. Rules are separated by commas. */
CUresult fail_call(const char *function)
{
    static int calls[MOST_RULES];
    const char *s = getenv("SIMCUDA_FAIL");
    calls_made++; /* the caller holds the lock */
    for (int i = 0; s && *s && i < MOST_RULES; i++) {
        const size_t n = strcspn(s, ":=,"), all = strcspn(s, ",");
        const char *code = memchr(s, '=', all);
        const int from = s[n] == ':' ? sim_whole(s + n + 1) : 1;
        if (code && is_for(s, n, function) && ++calls[i] >= from) {
            const CUresult r = sim_whole(code + 1);
            if (r >= CORRUPTS && r < REFUSES && !sticky)
                sticky = r;
            return r;
        }
        s += all + (s[all] == ',');
    }
    return OK;
}
