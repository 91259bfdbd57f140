/* isa.c - the instruction sets, and which of them this host has. The compiler's probe looks at the processor and at
 * whether the system saves the wide registers. Levels as in the x86-64 ABI: avx512 is its v4, avx2 its v3; neon is the
 * baseline of AArch64, plain that of every processor. A row is all that is known of a set but for single instructions,
 * of which a language has a table (backends/c/vectors.c). */
#include "backends/cpu/machine.h"

#include <string.h>

/* Below the stack's end gcc 12.2 puts arrays 8 bytes from where they must be, and crashes, in functions that call none
 * and whose vectors it has put there and taken away again: no array goes there. */
#define NO_RED_ZONE "-mno-red-zone"

static const isa table[] = {
    {"plain", NULL, 16, 16, {NULL}},
    {"avx2", &table[0], 32, 16, {NO_RED_ZONE, "-mavx2", "-mfma"}},
    {"avx512",
     &table[1],
     64,
     32,
     {NO_RED_ZONE, "-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mavx2", "-mfma",
      "-mprefer-vector-width=512"}},
    {"neon", &table[0], 16, 32, {NULL}},
};

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

bool isa_includes(const isa *i, const isa *other)
{
    while (i && i != other)
        i = i->under;
    return i;
}

const isa *isa_of_host(void)
{
    const char *best = "plain";
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        best = "avx2";
    if (*best == 'a' && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
        best = "avx512";
#elif defined(__aarch64__)
    best = "neon";
#endif
    return isa_find(best);
}
