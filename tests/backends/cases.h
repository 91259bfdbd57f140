/* cases.h - the problems that operations state, on a target against the interpreter: with random inputs, several
 * problems to a plan. A problem that the target does not take is left out. */
#ifndef TS_TESTS_CASES_H
#define TS_TESTS_CASES_H
#include <stdbool.h>

enum { MOST_SCHEMAS = 16 };
/* What the target of that name may be asked to plan by: NULL, the guess, then the built-in schemas; how many. */
int cases_schemas(const char *name, const char *schema[MOST_SCHEMAS]);
/* One in `share` of them, from number `first` on, under the guess and every built-in schema of that target.
 * kept: programs come from the cache of compiled ones and go there, so that what schemas have in common is compiled
 * once. */
void cases_check(const char *name, bool kept, int share, int first);
#endif
