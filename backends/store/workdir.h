/* workdir.h - a private folder for the files of one build, gone afterwards.
 * Its name cannot be guessed and nobody else may enter it. It holds plain files only, no folders. Folders that a killed
 * process left behind are swept away when they are a day old. */
#ifndef TS_WORKDIR_H
#define TS_WORKDIR_H
#include "graph/base/base.h"

typedef struct workdir {
    char *path; /* absolute; NULL: none */
} workdir;

bool workdir_make(workdir *s, const char *temp, err *e);
/* Writes one file into it; 0600. */
bool workdir_write(const workdir *s, const char *name, const void *p, size_t n, err *e);
char *workdir_name(const workdir *s, arena *mem, const char *name); /* path of a file in it */
void workdir_remove(workdir *s);
void workdir_sweep(const char *temp, double seconds); /* removes ours that are older */
#endif
