/* form.h - texts that are filled in from JSON. A form is copied but for:
 *   {path}        a value; what may stand behind the path, and what comes of it, is said by who writes values
 *   [path?then|else]   where the member is there and neither null, false nor an empty; [path=1?...] and [path=word?...]
 *                 where it is that number or text, [path>0?...] where it is more, [path#=1?...] where there are so
 *                 many. "else" may be left out
 *   [path*each]   for each item of a list or member of an object, which is what paths begin at then
 *   [path@each]   once, where it is there: paths begin at it
 *   {../path}     within these: a member of what is around
 *   {[} {]} {|}   these themselves
 * then, else and each may hold more of these. Objects, forms and places are only read. */
#pragma once
#include "graph/base/js.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct form_place { /* what paths begin at, and what that is within; NULL: it is the whole */
    const cJSON *o;
    const struct form_place *around;
} form_place;

enum { FORM_PATH = 64, FORM_REST = 256 }; /* bytes */
typedef struct form_value {
    const cJSON *v; /* NULL: there is no such member */
    char path[FORM_PATH];
    char kind, rest[FORM_REST]; /* kind: one of form_out.kinds, 0 for the path alone; rest: what stands behind it */
    const form_place *at;
} form_value;

typedef struct form_block { /* [path!...], of a kind that who writes knows */
    const cJSON *v;
    const form_place *at;
    const char *s; /* begins with the kind */
    bool shown;    /* else it is only read */
} form_block;

typedef struct form_out {
    const char *kinds, *blocks; /* that may stand behind a path, in braces and in brackets */
    void (*copy)(const struct form_out *to, const char *s, size_t n);
    void (*value)(const struct form_out *to, form_value *v);
    const char *(*block)(const struct form_out *to, const form_block *b); /* gives the bracket that ends it */
} form_out;

void form_fill(const form_out *to, const form_place *at, const char *form);
/* A part of a form, up to one of the characters, which is left behind. */
const char *form_part(const form_out *to, const form_place *at, const char *s, bool shown, const char *ends);

typedef struct page_text { /* a file of bench/report/page or cli/pages, written by the build; {0} ends the table */
    const char *name, *text;
} page_text;
extern const page_text page_texts[];
const char *page_file(const char *name); /* as it is, but for its last line end */
