/* unsupported.c - what cannot be imported is gathered, equal reasons once with a count, and told all at once: who
 * converts a model wants the list. */
#include "import/model.h"

#include <string.h>

enum { MAX_UNSUPPORTED = 256 }; /* told apart; more than an error can hold */

void unsupported_add(unsupported *l, const char *what, const char *reason, const char *place)
{
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->all[i].what, what) && !strcmp(l->all[i].reason, reason)) {
            l->all[i].count++;
            return;
        }
    if (l->n == MAX_UNSUPPORTED) {
        l->more++;
        return;
    }
    l->all = arena_grown(&l->mem, l->all, l->n, &l->cap, sizeof *l->all);
    l->all[l->n++] = (unsupported_one){arena_string(&l->mem, what), arena_string(&l->mem, reason),
                                       arena_string(&l->mem, place), 1};
}

/* One line for each, until the error is full; the number of those left out ends it. */
bool unsupported_tell(const unsupported *l, err *e)
{
    enum { ROOM = 1200 }; /* bytes of the message: two screens */
    ENDED_BY(text_free) text t = {0};
    if (l->n == 0)
        return true;
    int shown = 0;
    for (; shown < l->n && t.length < ROOM; shown++) {
        const unsupported_one *x = &l->all[shown];
        text_add(&t, "\n  %s", x->what);
        if (*x->reason)
            text_add(&t, ": %s", x->reason);
        if (*x->first && x->count > 1)
            text_add(&t, "; %d times, first in %s", x->count, x->first);
        else if (*x->first)
            text_add(&t, "; in %s", x->first);
    }
    if (shown < l->n)
        text_add(&t, "\n  and %d more", l->n - shown + l->more);
    return err_set(e, TS_UNSUPPORTED, "M016 not supported:%s", text_str(&t));
}

void unsupported_free(unsupported *l)
{
    arena_free(&l->mem);
    *l = (unsupported){0};
}
