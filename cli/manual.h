/* manual.h - the same tables as documents: docs/commands.md and the manual page tessera(1). */
#ifndef TS_MANUAL_H
#define TS_MANUAL_H
#include <stdio.h>

void manual_markdown(FILE *f);
void manual_man(FILE *f);
#endif
