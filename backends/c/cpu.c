/* cpu.c - the processor's own feature words, unread: two processors with equal words run the same programs. */
#include "backends/c/cpu.h"

#include <sys/auxv.h>

#if defined(__x86_64__)
#include <cpuid.h>

static void leaf(text *out, unsigned number, unsigned sub)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(number, sub, &a, &b, &c, &d);
    if (number == 1 || number == 0x80000001U)
        a = b = 0; /* stepping, and the number of the core that was asked */
    text_add(out, " %x", a);
    text_add(out, ".%x.%x.%x", b, c, d);
}

void cpu_features(text *out)
{
    text_add(out, "x86_64");
    leaf(out, 1, 0);
    leaf(out, 7, 0);
    leaf(out, 7, 1);
    leaf(out, 0x80000001U, 0);
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE)) {
        __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0)); /* the registers that the system saves */
        text_add(out, " %x.%x", a, d);
    }
}
#else
void cpu_features(text *out)
{
    text_add(out, "hwcap %lx %lx", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}
#endif
