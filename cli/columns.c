/* columns.c - collecting cells, then printing them aligned. */
#include "cli/columns.h"

#include "cli/bug.h"
#include "graph/base/err.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void add(columns *t, char *cell)
{
    if (t->count == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->cell = reallocarray(t->cell, (size_t)t->cap, sizeof *t->cell);
    }
    if (!cell || !t->cell)
        memory_failed((size_t)t->cap * sizeof *t->cell, "the cells of a table");
    t->cell[t->count++] = cell;
}

void columns_head(columns *t, bool right, const char *head)
{
    if (t->n == COLUMNS_MAX)
        fail_bug("a table has too many columns", head);
    t->right[t->n++] = right;
    add(t, strdup(head));
}

columns columns_make(const char *heads)
{
    columns t = {0};
    for (;; heads++) {
        bool right = *heads == '>';
        heads += right;
        size_t length = strcspn(heads, "|");
        char *head = strndup(heads, length);
        columns_head(&t, right, head ? head : "");
        free(head);
        heads += length;
        if (!*heads)
            return t;
    }
}

void columns_add(columns *t, const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        s = NULL;
    va_end(ap);
    add(t, s);
}

/* Spaces are owed until something follows, so that no line ends in them. */
static void put_cell(FILE *f, const char *s, int width, bool right, int *owed)
{
    int pad = width - safe_width(s);
    if (right)
        *owed += pad;
    if (*s) {
        fprintf(f, "%*s", *owed, "");
        *owed = 0;
        put_safe(f, s);
    }
    if (!right)
        *owed += pad;
}

static bool has_heading(const columns *t)
{
    for (int i = 0; i < t->n; i++) {
        if (t->cell[i][0])
            return true;
    }
    return false;
}

void columns_print(columns *t, FILE *f, const char *indent, bool color)
{
    int width[COLUMNS_MAX] = {0};
    for (int i = 0; i < t->count; i++) {
        int w = safe_width(t->cell[i]);
        if (w > width[i % t->n])
            width[i % t->n] = w;
    }
    for (int i = has_heading(t) ? 0 : t->n; i < t->count; i += t->n) {
        int owed = 0;
        fprintf(f, "%s%s", indent, console_on(color && i == 0, BOLD));
        for (int c = 0; c < t->n && i + c < t->count; c++, owed += 2)
            put_cell(f, t->cell[i + c], width[c], t->right[c], &owed);
        fprintf(f, "%s\n", console_off(color && i == 0));
    }
    columns_free(t);
}

void columns_free(columns *t)
{
    for (int i = 0; i < t->count; i++)
        free(t->cell[i]);
    free(t->cell);
    *t = (columns){0};
}
