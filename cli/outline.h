/* outline.h - any JSON for people: members as aligned lines, lists of objects as tables. Names say their units, as in
 * read_gbs or l2_bytes, and are shown with them. What the library adds later appears without a change here. */
#ifndef TS_OUTLINE_H
#define TS_OUTLINE_H
#include "cli/field.h"

/* The members of an object, one a line; nested ones indented below their name. */
void outline_print(const cJSON *o, FILE *f, const char *indent, bool color);
/* "2.0 MiB", "17.3 ms", "1.2 G": three digits and the largest unit that keeps them before the point. */
void outline_bytes(char *out, size_t size, double bytes);
void outline_seconds(char *out, size_t size, double seconds);
void outline_count(char *out, size_t size, double n);
#endif
