/* notes.h - what a person should know before the verdict, as lines of results. */
#ifndef BENCH_NOTES_H
#define BENCH_NOTES_H
#include "bench/state.h"

void notes_add(cJSON *out, const measured *m); /* out/notes */
#endif
