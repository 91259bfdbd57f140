/* names.c - open addressing, at most half full. */
#include "import/names.h"

#include <string.h>

struct name_slot {
    const char *name; /* NULL: free */
    int number;
};

static struct name_slot *place(const name_table *t, const char *name)
{
    size_t i = (size_t)quick_hash(name, strlen(name), 0) & (t->cap - 1);
    while (t->slot[i].name && strcmp(t->slot[i].name, name))
        i = (i + 1) & (t->cap - 1);
    return &t->slot[i];
}

static void grow(name_table *t)
{
    const name_table old = *t;
    t->cap = old.cap ? 2 * old.cap : 32;
    t->slot = arena_array(t->mem, t->cap, sizeof *t->slot);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slot[i].name)
            *place(t, old.slot[i].name) = old.slot[i];
}

int name_add(name_table *t, const char *name, int number)
{
    if (2 * t->n >= t->cap)
        grow(t);
    struct name_slot *s = place(t, name);
    if (!s->name) {
        *s = (struct name_slot){name, number};
        t->n++;
    }
    return s->number;
}

int name_find(const name_table *t, const char *name)
{
    const struct name_slot *s = t->cap ? place(t, name) : NULL;
    return s && s->name ? s->number : -1;
}
