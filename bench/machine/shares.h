/* shares.h - how near a kernel comes to what the machine can do: arithmetic on ceilings that somebody probed or a
 * device states; nothing is measured here. Documents stay the caller's, who owns what is made of them too. */
#pragma once
#include "graph/base/js.h"

/* Ceilings that a device states, from a plan/1 that has them ("peak"), in the form of probe_json; NULL: they are to be
 * measured. */
cJSON *ceilings_stated(const cJSON *plan); /* the caller's */
/* Adds "peak_share" and "bound" to a kernel of plan/1 that took ns, by the ceilings of probe_json; null where those are
 * not known. */
void kernel_share(cJSON *row, const cJSON *ceilings, int threads, const char *isa, double ns);
