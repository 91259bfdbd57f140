/* clock.h - the time that passes, whatever somebody sets the date to. Never goes back; only differences mean something,
 * and no result depends on them. */
#pragma once

double seconds_now(void); /* since a moment that stays the same while the machine is up */
