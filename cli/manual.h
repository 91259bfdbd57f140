/* manual.h - the tables of verbs and codes as documents: docs/commands.md and the manual page tessera(1). The same
 * tables give the same bytes, so that a test can hold the page against them. The file is the caller's. */
#ifndef TS_MANUAL_H
#define TS_MANUAL_H
#include <stdio.h>

void manual_markdown(FILE *f);
void manual_man(FILE *f);
#endif
