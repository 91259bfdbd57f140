/* folder.h - work on files relative to an open folder, so that no path is looked up twice. errno says why on failure.
 * Folders stay open and are the caller's, what is read is added to the caller's text, and nothing is kept. */
#pragma once
#include "graph/base/base.h"

/* Makes a new file, 0600, never following or replacing anything; sync: on the disk before this returns. */
bool folder_write(int at, const char *name, const void *p, size_t n, bool sync);
/* Appends a plain file of at most that many bytes. */
bool folder_read(int at, const char *name, size_t most, text *out);
/* Removes the folder `name` in `at` with the files in it; folders inside stay, and then it stays too. */
void folder_remove(int at, const char *name);
