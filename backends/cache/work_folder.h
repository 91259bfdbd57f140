/* work_folder.h - a private folder for the files of one build, gone afterwards.
 * Its name cannot be guessed and nobody else may enter it. It holds plain files only, no folders. Folders that a killed
 * process left behind are swept away when they are a day old. It is its maker's until work_folder_remove. */
#pragma once
#include "graph/base/base.h"

typedef struct work_folder {
    char *path; /* absolute; NULL: none */
} work_folder;

bool work_folder_make(work_folder *s, const char *temporary, err *e);
/* Writes one file into it; 0600. */
bool work_folder_write(const work_folder *s, const char *name, const void *p, size_t n, err *e);
char *work_folder_name(const work_folder *s, arena *mem, const char *name); /* path of a file in it */
void work_folder_free(work_folder *s);
void work_folder_sweep(const char *temporary, double seconds); /* removes ours that are older */
