/* join.c - kernels as one unit: what a compiler does once for each unit, it does once for all of them. */
#include "backends/codegen/emit.h"

typedef struct owning {
    text *t;
    const kernel_text *of;
} owning;

static void own(void *user, const char *name)
{
    const owning *w = user;
    text_add(w->t, "#define %s %s_%s\n", name, w->of->name, name);
}

static void disown(void *user, const char *name)
{
    const owning *w = user;
    text_add(w->t, "#undef %s\n", name);
}

/* Its own functions too: one that two call is built into neither where it would be built into a single caller. */
static void add(text *t, const dialect *d, const kernel_text *k)
{
    owning w = {t, k};
    library_names(d, &k->uses, own, &w);
    unit_own_tiles(t, k, k->text + k->prelude);
    library_names(d, &k->uses, disown, &w);
}

void unit_join(const dialect *d, const kernel_text *const *k, int n, text *t)
{
    ENDED_BY(text_free) text body = {0};
    callees uses = {0};
    unit_facts facts = {0};
    for (int i = 0; i < n; i++)
        callees_add(&uses, &k[i]->uses);
    library_vectors(&body, d, &uses);
    for (int i = 0; i < n; i++) {
        MUST(!k[i]->alone);
        facts.far |= k[i]->far;
        text_add(&body, "\n"), add(&body, d, k[i]);
    }
    facts.body = text_str(&body);
    d->prelude(t, &facts);
    text_add(t, "%s", facts.body);
}
