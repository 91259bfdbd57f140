/* many.h - one sum of so many values that no device takes them all in one kernel. A failed check says so; nothing is
 * left. */
#ifndef TS_TEST_MANY_H
#define TS_TEST_MANY_H

void many_check(const char *target, int n); /* against the interpreter, to the bit */
#endif
