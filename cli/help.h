/* help.h - texts made from the tables of verbs and options. */
#ifndef TS_HELP_H
#define TS_HELP_H
#include "cli/console.h"
#include "cli/verb.h"

/* The overview fits a terminal; a verb with many options takes a second screen or a third. A test holds every page. */
enum { HELP_WIDTH = 80, HELP_LINES = 40, HELP_PAGE = 110 };

void help_overview(FILE *f, bool color); /* `tessera` alone */
void help_text(FILE *f, const char *s);  /* a paragraph, wrapped */
void help_verb(FILE *f, const verb *v, bool color);
/* "-s, --schema FILE" into out: how help spells an option. */
void help_spell(char *out, size_t size, const option *o);
#endif
