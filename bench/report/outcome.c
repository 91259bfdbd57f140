/* outcome.c - verdicts and their words, which are a part of results/1 and comparison/1. */
#include "bench/report/outcome.h"

#include <string.h>

static const char *const name[] = {
    [FASTER] = "FASTER", [SLOWER] = "SLOWER", [SAME] = "SAME", [UNDECIDED] = "UNDECIDED", [NO_VERDICT] = "NO VERDICT"};

const char *outcome_name(outcome o)
{
    return name[o];
}

outcome outcome_read(const char *word)
{
    int o = FASTER;
    while (o < NO_VERDICT && strcmp(word, name[o]))
        o++;
    return (outcome)o;
}
