/* columns.c - collecting cells, then printing them aligned. */
#include "cli/columns.h"

#include "cli/fail.h"

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
        fail_bug("out of memory", "columns");
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

static void put_cell(FILE *f, const char *s, int width, bool right, bool last)
{
    int pad = width - safe_width(s);
    if (right)
        fprintf(f, "%*s", pad, "");
    put_safe(f, s);
    if (!right && !last)
        fprintf(f, "%*s", pad, "");
}

void columns_print(columns *t, FILE *f, const char *indent, bool color)
{
    int width[COLUMNS_MAX] = {0};
    for (int i = 0; i < t->count; i++) {
        int w = safe_width(t->cell[i]);
        if (w > width[i % t->n])
            width[i % t->n] = w;
    }
    int first = t->n;
    for (int i = 0; i < t->n; i++)
        first = t->cell[i][0] ? 0 : first;
    for (int i = first; i < t->count; i++) {
        int c = i % t->n;
        bool last = c == t->n - 1 || i == t->count - 1;
        if (c == 0)
            fprintf(f, "%s%s", indent, i == 0 ? console_on(color, BOLD) : "");
        else
            fputs("  ", f);
        put_cell(f, t->cell[i], width[c], t->right[c], last);
        if (last)
            fprintf(f, "%s\n", i < t->n ? console_off(color) : "");
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
