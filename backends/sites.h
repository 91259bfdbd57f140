/* sites.h - plans over several devices: finding these by their names, and running the parts of a plan, each by its own
 * back end, with the transfers between them. Targets are of the search's arena; programs borrow their plan and are
 * freed by their back ends. */
#pragma once
#include "backends/backend.h"

typedef struct site_search { /* how devices are found: what the command asks of the machine */
    arena *mem;              /* of targets */
    machine_options asked;
    const char *limits; /* ts_options.mem_limit */
    site_finder finder; /* user: this */
} site_search;
void sites_search(site_search *s, arena *mem, const machine_options *asked, const char *limits);
/* "one" or "one,other:1": targets, with the numbers of their devices; the first one is what the command asks the
 * machine of. How many, into out[0..MAX_SITE); 0 with e set. */
int sites_read(site_search *s, const char *targets, site *out, err *e);
const backend *sites_backend(const site *s);
/* Runs a plan that has sites. Its programs borrow the plan. */
extern const backend several;
