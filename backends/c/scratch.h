/* scratch.h - a private folder for the files of one build, gone afterwards.
 * Its name cannot be guessed and nobody else may enter it. It holds plain files only, no folders. Folders that a killed
 * process left behind are swept away when they are a day old. */
#ifndef TS_C_SCRATCH_H
#define TS_C_SCRATCH_H
#include "graph/base/base.h"

typedef struct scratch {
    char *path; /* absolute; NULL: none */
} scratch;

bool scratch_make(scratch *s, const char *temp, err *e);
/* Writes one file into it; 0600. */
bool scratch_write(const scratch *s, const char *name, const void *p, size_t n, err *e);
char *scratch_name(const scratch *s, arena *a, const char *name); /* path of a file in it */
void scratch_remove(scratch *s);
void scratch_sweep(const char *temp, double seconds); /* removes ours that are older */
#endif
