/* notes.h - what a person should know before the verdict, as lines of results: from what plans say, from the state of
 * the machine and from what was compared, which is only read. Each note once; results own what is added. */
#pragma once
#include "bench/state.h"

void notes_add(cJSON *out, const measured *m); /* out/notes */
