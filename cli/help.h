/* help.h - texts made from the tables of verbs and options.
 * What is said of an option stands in its row alone, so help, completion, manual and checks agree. Tables are constant
 * and only read; files are the caller's, and nothing is kept. */
#pragma once
#include "cli/console.h"
#include "graph/base/js.h"
#include "cli/verb.h"

/* The overview and every `tessera VERB -h` fit a terminal; the long page of a verb takes a second screen or a third. A
 * test holds every page. */
enum { HELP_WIDTH = 80, HELP_LINES = 40, HELP_SHORT = 30, HELP_PAGE = 110 }; /* columns, then lines */

void help_overview(FILE *f, bool color);            /* `tessera` alone */
void help_verb(FILE *f, const verb *v, bool color); /* everything: --help, and `tessera help VERB` */
/* -h: at most HELP_SHORT lines. As many options as fit are explained, in the order of their tables; all are named. */
void help_short(FILE *f, const verb *v, bool color);
const char *help_topic(int i); /* what `tessera help` explains besides verbs and codes; NULL past the end */
/* A verb as data: name, brief, usage, its lines, examples, groups of options (the shared one last), details. */
cJSON *help_json(const verb *v);
cJSON *help_options_take(cJSON *of); /* those of all groups, which lose them: a new member "options" of a verb */
