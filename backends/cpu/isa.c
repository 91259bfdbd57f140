/* isa.c - the instruction sets, and which of them this host has. Levels as in the x86-64 ABI: avx512 is its v4, avx2
 * its v3; neon is what every AArch64 has. A row is all that is known of a set but for instructions, a table of C
 * (backends/c/vectors.c), and for whether it is here (backends/probe/units.c). */
#include "backends/cpu/machine.h"
#include "backends/probe/units.h"

#include <string.h>

/* No red zone: below the stack's end gcc 12.2 puts arrays 8 bytes from where they must be, and crashes, in functions
 * that call none and whose vectors it has put there and taken away again. */
#define AVX2 "-mavx2", "-mfma", "-mno-red-zone"
#define AVX512 AVX2, "-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mprefer-vector-width=512"
const isa isa_table[] = {{"plain", NULL, 16, 16, 0, {NULL}},
                         {"avx2", &isa_table[0], 32, 16, 2, {AVX2}},
                         {"avx512", &isa_table[1], 64, 32, 2, {AVX512}},
                         {"avx512vnni", &isa_table[2], 64, 32, 4, {AVX512, "-mavx512vnni"}},
                         {"neon", &isa_table[0], 16, 32, 0, {NULL}},
                         {0}};

const isa *isa_find(const char *name)
{
    const isa *i = isa_table;
    while (i->name && strcmp(name, i->name) != 0)
        i++;
    return i->name ? i : NULL;
}

bool isa_includes(const isa *i, const isa *other)
{
    return i == other || (i->under && isa_includes(i->under, other));
}

void isa_list(text *t, const isa *best)
{
    for (const isa *i = isa_table; i->name; i++)
        if (!best || isa_includes(best, i))
            text_add(t, "%s%s", i > isa_table ? ", " : "", i->name);
}

const isa *isa_of_host(void)
{
    return isa_find(unit_find(NULL)->isa); /* what is measured there is what is compiled for */
}
