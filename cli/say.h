/* say.h - what people read of the JSON that a verb makes, by a form that is declared beside it. Its values:
 *   {path}        the member, as outline_value shows it: its name says the unit; {path:ns}: as a member of that name
 *   {path:%.3g}   a number as printf shows it, {path:%.1f%} a hundred times as much; {path:%-9s} a text
 *   {path,} {path=} {path#} {path-}   a list's items by commas; an object's members as name=value; how many there are;
 *                 one less
 *   {path~}       a word in its tone, as VALID
 *   {path!  name|>bytes}   a list of objects as a table: its indentation, and heads as of outline_table; {path!!  }: an
 *                 object as outline_print has it
 *   [path!  heads newline each]   a list as a table whose cells are forms, split at tabs, of each item
 *   {;}           ", ", but not in the first item
 *   {}  {@}       what paths begin at, also as {.!...}, and the name that it has
 *   [^28|text]    wrapped at 80 columns, the lines after the first one from column 28 on
 *   {!bold} {!}   a tone of the terminal, and its end: bold, faint, good, bad, caution
 * Conditions, items and all else are as bench/report/form.h has them. Values are escaped. */
#pragma once
#include "cli/args.h"
#include "graph/base/js.h"

void say_form(const paper *on, const cJSON *o, const char *form);
/* Parses what the library gave and frees it; NULL stays NULL and leaves the error that is there. */
cJSON *reply_take(char *text, ts_error *e);
cJSON *reply_make(const char *format); /* an object that starts with "format" */
void reply_print(const cJSON *o);      /* on standard output */
void reply_end(cJSON *o);              /* the same, and deletes it */
/* The reply of a verb on standard output: as JSON where that is asked for, else by the form. The object is deleted. */
void reply_give(const args *a, cJSON *o, const char *form);
bool reply_done(const args *a, bool ok, cJSON *o, const char *form); /* the same where all went well: gives ok */
/* The same, but that people read it as notes, one a line of what the form gives. */
void reply_note(const args *a, cJSON *o, const char *form);
struct text;
void say_text(struct text *t, const cJSON *o, const char *form); /* adds it, values as they are */
void say_notes(const console *c, const cJSON *o, const char *form);
