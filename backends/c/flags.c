/* flags.c - what the compiler is told: the same bits come out of the same text only under the same flags. */
#include "backends/c/program.h"

#include <string.h>

/* Loops become vectors where the text says SIMD and nowhere else: what gcc 12.2 makes of its own accord of nested short
 * loops with a conditional read loses the condition of some elements. */
#define COMMON                                                                                                \
    "-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-vectorize", \
        "-fopenmp-simd", "-fPIC"

const char *const *c_flags(const isa *i)
{
    static const char *const plain[] = {COMMON, NULL};
    static const char *const avx2[] = {COMMON, "-mavx2", "-mfma", NULL};
    static const char *const avx512[] = {COMMON,       "-mavx512f", "-mavx512vl", "-mavx512bw",
                                         "-mavx512dq", "-mavx2",    "-mfma",      "-mprefer-vector-width=512",
                                         NULL};
    return !strcmp(i->name, "avx512") ? avx512 : !strcmp(i->name, "avx2") ? avx2 : plain;
}
