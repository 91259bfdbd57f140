/* outcome.h - what a comparison of two contestants comes to, and the word that results, tables and pages have for it.
 * A constant table: nothing to own. */
#pragma once

typedef enum outcome { FASTER, SLOWER, SAME, UNDECIDED, NO_VERDICT } outcome; /* of the first against the second */
const char *outcome_name(outcome o);
outcome outcome_read(const char *word); /* NO_VERDICT where the word is none of them */
