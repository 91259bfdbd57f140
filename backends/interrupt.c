/* interrupt.c - a count and a flag, which a signal handler may touch. */
#include "backends/interrupt.h"
#include "tessera.h"

#include <stdatomic.h>

static atomic_int building;
static atomic_bool asked;

bool ts_interrupt(void)
{
    if (atomic_load(&building) == 0)
        return false;
    atomic_store(&asked, true);
    return true;
}

void interrupt_open(void)
{
    atomic_fetch_add(&building, 1);
}

/* Asked for once, it holds for all that are building: the last one takes it back. */
bool interrupt_close(void)
{
    const bool was = atomic_load(&asked);
    if (atomic_fetch_sub(&building, 1) == 1)
        atomic_store(&asked, false);
    return was;
}

bool interrupt_asked(void)
{
    return atomic_load(&asked);
}
