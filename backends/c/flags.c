/* flags.c - what the compiler is told: the same bits come out of the same text only under the same flags. */
#include "backends/c/program.h"

#include <string.h>

/* What is to be in vectors is written in vectors: no loop becomes them on its own. (What gcc 12.2 makes of nested short
 * loops with a conditional read loses the condition of some elements.) */
static const char *const common[] = {
    "-std=gnu11",          "-O2",   "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-fno-tree-vectorize", "-fPIC", "-Wno-psabi"};

const char *const *c_flags(arena *mem, const isa *i, bool fused)
{
    const char **all = arena_array(mem, COUNT(common) + COUNT(i->flag) + 2, sizeof *all);
    int n = COUNT(common);
    memcpy(all, common, sizeof common);
    memcpy(all + n, i->flag, sizeof i->flag);
    while (all[n])
        n++;
    all[n] = fused ? "-DFUSED" : NULL;
    return all;
}
