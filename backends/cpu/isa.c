/* isa.c - the instruction sets, and which of them this host has. The compiler's probe looks at the processor and at
 * whether the system saves the wide registers. Levels as in the x86-64 ABI: avx512 is its v4, avx2 its v3, plain its
 * baseline; on other processors only plain is known. */
#include "backends/cpu/machine.h"

#include <string.h>

static const isa table[] = {{"plain", 16, 16}, {"avx2", 32, 16}, {"avx512", 64, 32}};

const isa *isa_at(int i)
{
    return i >= 0 && i < COUNT(table) ? &table[i] : NULL;
}

const isa *isa_find(const char *name)
{
    for (int i = 0; i < COUNT(table); i++)
        if (strcmp(name, table[i].name) == 0)
            return &table[i];
    return NULL;
}

const isa *isa_of_host(void)
{
    int best = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        best = 1;
    if (best == 1 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
        best = 2;
#endif
    return &table[best];
}
