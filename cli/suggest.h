/* suggest.h - the nearest known words to a mistyped one. Offer every candidate, then ask for a hint. Candidates are
 * kept by pointer and must outlive the suggestion. */
#pragma once
#include "tessera.h"

enum { SUGGEST_MAX = 3 }; /* equally near words that are offered */

typedef struct suggestion {
    const char *word;
    int distance; /* of those kept */
    int n;        /* how many are kept: the nearest ones, all at the same distance */
    const char *nearest[SUGGEST_MAX];
} suggestion;

/* Edits that turn a into b: insert, delete, replace, or swap two neighbours. Words of more than 63 bytes are far from
 * all. */
int suggest_distance(const char *a, const char *b);
suggestion suggest_begin(const char *word);
void suggest_offer(suggestion *s, const char *candidate);
/* Adds "did you mean PREFIXa or PREFIXb?" to e if something is near enough, and says whether it did. */
bool suggest_hint(const suggestion *s, const char *prefix, ts_error *e);
