/* scratch.h - a folder of its own for a test that writes files; removed with everything in it. */
#ifndef TS_SCRATCH_H
#define TS_SCRATCH_H
#include <stdbool.h>

typedef struct scratch {
    char path[128];
} scratch;
scratch scratch_make(void); /* under TMPDIR or /tmp */
void scratch_free(scratch *s);
int scratch_count(const scratch *s); /* entries in the folder */
const char *scratch_in(const scratch *s,
                       const char *name); /* path of a file there, until three others were asked for */
#endif
