/* flags.c - what the compiler is told: the same bits come out of the same text only under the same flags. */
#include "backends/c/program.h"

#include <string.h>

const char *const *c_flags(const isa *i)
{
    static const char *const plain[] = {
        "-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd",
        "-fPIC",      NULL};
    static const char *const avx2[] = {"-std=gnu11",
                                       "-O3",
                                       "-ffp-contract=off",
                                       "-fno-math-errno",
                                       "-fno-trapping-math",
                                       "-fopenmp-simd",
                                       "-fPIC",
                                       "-mavx2",
                                       "-mfma",
                                       NULL};
    static const char *const avx512[] = {"-std=gnu11",
                                         "-O3",
                                         "-ffp-contract=off",
                                         "-fno-math-errno",
                                         "-fno-trapping-math",
                                         "-fopenmp-simd",
                                         "-fPIC",
                                         "-mavx512f",
                                         "-mavx512vl",
                                         "-mavx512bw",
                                         "-mavx512dq",
                                         "-mavx2",
                                         "-mfma",
                                         "-mprefer-vector-width=512",
                                         NULL};
    return !strcmp(i->name, "avx512") ? avx512 : !strcmp(i->name, "avx2") ? avx2 : plain;
}
