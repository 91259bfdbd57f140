/* suggest.h - what is said where a word is none of those known: the nearest ones first, then all of them.
 *
 *     ENDED_BY(suggest_free) suggestion s = {.word = "thraeds"};
 *     for (int i = 0; row[i].name; i++)
 *         suggest_offer(&s, row[i].name);
 *     return suggest_hint(&s, "the settings are", e);
 *
 * The word and the names are kept by pointer. */
#pragma once
#include "graph/base/base.h"

enum { SUGGEST_MAX = 3, EDIT = 2 }; /* names that are offered at most, equally near; the distance of one edit */

typedef struct suggestion {
    const char *word; /* not an empty one: nothing is near to that */
    int distance, n;  /* of the nearest names; how many are kept */
    const char *nearest[SUGGEST_MAX];
    text all; /* "a, b, c" */
} suggestion;
/* The least edits that turn a into b, EDIT for each: insert, delete, replace, or swap two neighbours; half of it for a
 * letter in the other case. Words of more than 63 bytes are far from all. */
int suggest_distance(const char *a, const char *b);
void suggest_offer(suggestion *k, const char *name);
/* Adds "did you mean PREFIXa or PREFIXb?" to e where some are near enough, and says whether they are. */
bool suggest_near(const suggestion *k, const char *prefix, err *e);
/* Adds that, and "LEAD a, b, c", where there are names. False. */
bool suggest_hint(const suggestion *k, const char *lead, err *e);
void suggest_free(suggestion *k);
