/* clock.h - the time that passes, whatever somebody sets the date to. */
#ifndef TS_CLOCK_H
#define TS_CLOCK_H

double seconds_now(void); /* since a moment that stays the same while the machine is up */
#endif
