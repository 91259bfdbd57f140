/* interrupt.h - building, which a signal handler may end. One flag for the process, the only state that the library
 * keeps beyond its objects: asked for once, it holds until all who build have heard of it. */
#pragma once
#include <stdbool.h>

void interrupt_open(void);  /* from here to the end ts_interrupt has something to end; for each thread that builds */
bool interrupt_close(void); /* was it asked for? */
bool interrupt_asked(void); /* asked for while something is built; who waits looks every INTERRUPT_SEEN seconds */

static const double INTERRUPT_SEEN = 0.1; /* seconds */
