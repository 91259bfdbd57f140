/* manual.h - the tables of verbs and codes as documents: docs/commands.md and the manual page tessera(1). The same
 * tables give the same bytes, so that a test can hold the page against them. The file is the caller's. */
#pragma once
#include <stdio.h>

void manual_markdown(FILE *f); /* a section for each verb, a table of its options */
void manual_man(FILE *f);      /* for man -l */
