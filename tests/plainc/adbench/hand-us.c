/* hand-us.c - the same with points within triangles. */
#define US 1
#include "tests/plainc/adbench/hand.c"
