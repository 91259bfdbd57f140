/* resume.h - going on with a race that a signal cut short, from the results that it left. Samples are taken over as
 * they were written; a race under other conditions is refused, never mixed. The race owns what it takes; the results
 * that it comes from are its options' text, which stays as it is. */
#pragma once
#include "bench/race.h"

/* Takes over the whole launches of partial results; `asked` is the config of this race, as results have it. The race is
 * set up and nothing measured yet. Refuses results of another race. */
bool resume_race(race *r, const cJSON *asked, ts_error *e);
