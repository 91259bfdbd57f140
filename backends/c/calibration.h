/* calibration.h - the rates of this machine, kept in the cache beside what was compiled: measured when a plan needs
 * them first, and only where they can be kept, so that no process measures what the next one would have to again. What
 * is kept is not trusted: a record that is no record is made again. Borrows what it is given for the call. */
#pragma once
#include "backends/backend.h"
#include "backends/cpu/machine.h"

/* Puts the rates of this machine, m, into it; where there are none it stays as it is. */
bool calibration_find(machine *m, const machine_options *asked, rates_wanted how, err *e);
bool calibration_print(const machine_options *asked, rates_wanted how, text *word, err *e); /* presence.rates */
