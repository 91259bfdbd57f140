/* columns.h - a table in a terminal: cells are text, columns as wide as their widest cell, names escaped.
 * Cells are copied as they are added; columns_print releases them. */
#ifndef TS_COLUMNS_H
#define TS_COLUMNS_H
#include "cli/console.h"

enum { COLUMNS_MAX = 16 }; /* of one table */

typedef struct columns {
    int n;                   /* columns */
    bool right[COLUMNS_MAX]; /* aligned to the right */
    char **cell;             /* row by row, the heading first; owned */
    int count, cap;
} columns;

/* heads: "name|shape|>min|>max"; > aligns a column to the right. Without any word in it no heading is printed. */
columns columns_make(const char *heads);
void columns_head(columns *t, bool right, const char *head); /* one more column, before the first cell */
void columns_add(columns *t, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* the next cell */
void columns_print(columns *t, FILE *f, const char *indent, bool color);                  /* and releases everything */
void columns_free(columns *t);
#endif
