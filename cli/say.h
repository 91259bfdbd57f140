/* say.h - lines for people from the same JSON as --json prints, by forms:
 *   {path}        the member, as outline_value shows it: its name says the unit
 *   {path:%.3g}   a number as printf shows it; {path:%.1f%} a hundred times as much
 *   {path,} {path=} {path#} {path-}   a list's items by commas; an object's members as name=value; how many there are;
 *                 one less
 *   [path?then|else]   where the member is there and neither null, false nor an empty; [path=1?...] where it
 *                 is that number, [path>0?...] where it is more. "else" may be left out; either may hold more of these.
 * All else is copied. Values are escaped. */
#ifndef TS_SAY_H
#define TS_SAY_H
#include "cli/args.h"
#include "cli/reply.h"

void say_record(FILE *f, const cJSON *o, const char *form);
void say_each(FILE *f, const cJSON *list, const char *form); /* for each of its objects */
/* The reply of a verb: as JSON where that is asked for, else by the form, and by the other one for each of a list. The
 * object is deleted. */
typedef struct reply_form {
    const char *head, *list, *each; /* list: the member; both may be NULL */
} reply_form;
void reply_give(const args *a, cJSON *o, const reply_form *form);
#endif
