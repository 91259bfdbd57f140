/* merged.h - values that go from plan to plan (ts_merge_link), between any two devices. */
#ifndef TS_TEST_MERGED_H
#define TS_TEST_MERGED_H

/* Replaced, added and compared, in n random steps of runs; what is refused. a makes values, b takes them. */
void merged_check(const char *a, const char *b, int n);
#endif
