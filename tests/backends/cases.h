/* cases.h - the problems that operations state, on a target against the interpreter: with random inputs, several
 * problems to a plan. A problem that the target does not take is left out. */
#ifndef TS_TESTS_CASES_H
#define TS_TESTS_CASES_H

/* One problem in `share` of them, from number `first` on. */
void cases_check(const char *target, int share, int first);
#endif
