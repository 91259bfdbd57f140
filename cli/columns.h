/* columns.h - a table in a terminal: cells are text, columns as wide as their widest cell, names escaped.
 * Cells are copied as they are added; columns_print releases them. */
#pragma once
#include "cli/console.h"

enum { COLUMNS_MAX = 16 }; /* of one table */

typedef enum column { LEFT, RIGHT, CUT, WORDS, BELOW } column;

typedef struct columns {
    int n; /* columns */
    column kind[COLUMNS_MAX];
    char **cell; /* row by row, the heading first; owned */
    int count, cap;
} columns;

/* heads: "name|shape|>min|>max". In front of a name: > aligns to the right, < is cut where the terminal is too narrow,
 * ~ has words in their tones, ^ follows on a line of its own where there is something. Without any word no heading is
 * printed. */
columns columns_make(const char *heads);
column columns_kind(const char **head);                       /* what stands in front, and moves on */
void columns_head(columns *t, column kind, const char *head); /* one more column, before the first cell */
void columns_add(columns *t, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* the next cell */
void columns_print(columns *t, const paper *on, const char *indent);                      /* and releases everything */
void columns_free(columns *t);
