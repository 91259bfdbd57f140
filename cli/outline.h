/* outline.h - any JSON for people: members as aligned lines, lists of objects as tables. The names of numbers say their
 * units, as in read_gbs or l2_bytes, and are shown with them. What the library adds later appears without a change
 * here. JSON is only read. */
#pragma once
#include "cli/console.h"
#include "graph/base/js.h"

/* The members of an object, one a line; nested ones indented below their name. */
void outline_print(const cJSON *o, const paper *on, const char *indent);
/* A list of objects. heads: members that become columns, as in columns_make, with another title behind = where that is
 * wanted ("name|>bytes|>median_ns=median"); @ is the name that each has, nothing the value itself. NULL: what the
 * first one has. */
void outline_table(const cJSON *list, const char *heads, const paper *on, const char *indent);
void outline_markdown(const cJSON *list, const char *heads, FILE *f); /* the same as a table of Markdown */
/* A number or text as people read it: "2.0 MiB", "17.3 ms", "[1, 128]", "-" for what is missing. name says the unit. */
void outline_value(char *out, size_t size, const char *name, const cJSON *v);
