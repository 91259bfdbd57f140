/* nontemporal.c - where what is fetched as non-temporal waits. The instruction only says that the data will be read
 * soon and then no more; where they are put is each processor's own affair. AMD's from family 1Ah on put them into the
 * second cache and drop them behind it, instead of passing them on to the third: weights that come from memory once a
 * run then leave the third to the values. Measured on that family: 128 KiB fetched so, one line in 150 ns, are found
 * at 4 ns a line, those of nobody at 80. Others are said to keep them in the first cache alone, too small for a panel.
 * It is read from the processor's number, not measured at each start: fetches are dropped while too many are under
 * way, so a busy machine shows now this, now that, and a plan has to be the same every time. */
#include "backends/cpu/machine.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool nontemporal_of_host(void)
{
    unsigned family = 0;
#if defined(__x86_64__)
    unsigned a = 0, b, c, d;
    __builtin_cpu_init();
    if (__builtin_cpu_is("amd") && __get_cpuid(1, &a, &b, &c, &d))
        family = (a >> 8 & 15) == 15 ? 15 + (a >> 20 & 255) : a >> 8 & 15;
#endif
    return family >= 0x1a;
}
