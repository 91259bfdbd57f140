/* columns.c - collecting cells, then printing them aligned. */
#include "cli/columns.h"

#include "cli/bug.h"
#include "graph/base/base.h"

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

column columns_kind(const char **head)
{
    static const char signs[] = ">"
                                "<"
                                "~"
                                "^";
    const char *sign = **head ? strchr(signs, **head) : NULL;
    *head += sign != NULL;
    return sign ? (column)(RIGHT + (sign - signs)) : LEFT;
}

void columns_head(columns *t, column kind, const char *head)
{
    if (t->n == COLUMNS_MAX)
        fail_bug("a table has too many columns", head);
    t->kind[t->n++] = kind;
    add(t, strdup(head));
}

columns columns_make(const char *heads)
{
    columns t = {0};
    for (;; heads++) {
        const column kind = columns_kind(&heads);
        const size_t length = strcspn(heads, "|");
        ENDED_BY(heap_free) char *head = strndup(heads, length);
        columns_head(&t, kind, head ? head : "");
        if (!*(heads += length))
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
static void put_cell(const paper *on, const char *s, int width, column kind, int *owed)
{
    const int pad = width - safe_width(s);
    *owed += kind == RIGHT ? pad : 0;
    if (*s) {
        fprintf(on->f, "%*s", *owed, "");
        *owed = 0;
        if (kind == WORDS)
            put_word(on, s);
        else
            put_safe(on->f, s);
    }
    *owed += kind == RIGHT ? 0 : pad;
}

static bool has_heading(const columns *t)
{
    for (int i = 0; i < t->n; i++) {
        if (t->cell[i][0])
            return true;
    }
    return false;
}

/* A cell that is too wide ends in an ellipsis. */
static void cut(char **cell, int width)
{
    ENDED_BY(text_free) text t = {0};
    text_safe(&t, *cell);
    if (safe_width(text_str(&t)) > width) {
        t.length = safe_fitting(text_str(&t), width - 1);
        text_add(&t, "…");
        free(*cell);
        *cell = text_take(&t);
    }
}

/* Columns that are cut share what the others leave; 8 of each are left. */
static void fit(columns *t, const paper *on, int *width)
{
    enum { LEAST = 8 };
    int all = -2;
    for (int c = 0; c < t->n; c++)
        all += t->kind[c] == BELOW ? 0 : width[c] + 2;
    for (int c = 0; c < t->n && on->width && all > on->width; c++) {
        if (t->kind[c] != CUT)
            continue;
        const int left = width[c] - (all - on->width) > LEAST ? width[c] - (all - on->width) : LEAST;
        all -= width[c] - left, width[c] = left;
        for (int i = c; i < t->count; i += t->n)
            cut(&t->cell[i], left);
    }
}

void columns_free(columns *t)
{
    for (int i = 0; i < t->count; i++)
        free(t->cell[i]);
    free(t->cell);
    *t = (columns){0};
}

void columns_print(columns *t, const paper *on, const char *indent)
{
    int width[COLUMNS_MAX] = {0};
    for (int i = 0; i < t->count; i++) {
        int w = safe_width(t->cell[i]);
        if (w > width[i % t->n])
            width[i % t->n] = w;
    }
    fit(t, on, width);
    for (int i = has_heading(t) ? 0 : t->n; i < t->count; i += t->n) {
        int owed = 0;
        fprintf(on->f, "%s%s", indent, console_on(on->color && i == 0, BOLD));
        for (int c = 0; c < t->n && i + c < t->count; c++) {
            if (t->kind[c] != BELOW)
                put_cell(on, t->cell[i + c], width[c], i ? t->kind[c] : t->kind[c] == RIGHT, &owed), owed += 2;
            else if (i && *t->cell[i + c])
                fprintf(on->f, "\n%s  ", indent), put_safe(on->f, t->cell[i + c]);
        }
        fprintf(on->f, "%s\n", console_off(on->color && i == 0));
    }
    columns_free(t);
}
