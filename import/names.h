/* names.h - numbers by name: the table behind every "which value is called that".
 * Names are borrowed and have to outlive the table, whose slots are of its arena. */
#pragma once
#include "graph/base/base.h"

typedef struct name_table {
    arena *mem;
    struct name_slot *slot;
    size_t n, cap; /* a power of two; at most half full */
} name_table;

/* The number kept for name: `number` itself if the name is new, else the one that it got first. */
int name_add(name_table *t, const char *name, int number);
int name_find(const name_table *t, const char *name); /* -1: not there */
