/* flags.c - what the compiler is told: the same bits come out of the same text only under the same flags. */
#include "backends/c/program.h"

#include <string.h>

/* What is to be in vectors is written in vectors: no loop becomes them on its own. (What gcc 12.2 makes of nested short
 * loops with a conditional read loses the condition of some elements.) */
#define COMMON                                                                                                         \
    "-std=gnu11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-vectorize", "-fPIC", \
        "-Wno-psabi"
/* Below the stack's end gcc 12.2 puts arrays 8 bytes from where they must be, and crashes, in functions that call none
 * and whose vectors it has put there and taken away again: no array goes there. */
#define VECTORS COMMON, "-mno-red-zone"

const char *const *c_flags(const isa *i)
{
    static const char *const plain[] = {COMMON, NULL};
    static const char *const avx2[] = {VECTORS, "-mavx2", "-mfma", NULL};
    static const char *const avx512[] = {VECTORS,      "-mavx512f", "-mavx512vl", "-mavx512bw",
                                         "-mavx512dq", "-mavx2",    "-mfma",      "-mprefer-vector-width=512",
                                         NULL};
    return !strcmp(i->name, "avx512") ? avx512 : !strcmp(i->name, "avx2") ? avx2 : plain;
}
