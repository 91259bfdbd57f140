/* join.c - kernels as one unit: what a compiler does once for each unit, it does once for all of them. */
#include "backends/codegen/emit.h"

#include <string.h>

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

static bool has_member(const kernel_text *const *k, int n, const char *name)
{
    bool any = false;
    for (int i = 0; i < n && !any; i++)
        for (int j = 0; j < k[i]->n_member; j++)
            any = any || !strcmp(k[i]->member[j].name, name);
    return any;
}

/* Kernel i. Its own functions too: one that two call is built into neither where it would be built into a single
 * caller. */
static void add(text *t, const dialect *d, const kernel_text *const *k, int i, const char *header)
{
    owning w = {t, k[i]};
    ENDED_BY(text_free) text all = {0};
    text_bytes(&all, k[i]->text + k[i]->prelude, k[i]->begins - k[i]->prelude);
    text_add(&all, "%s", header);
    for (int j = 0; j < k[i]->n_member; j++) {
        const member_text *m = &k[i]->member[j];
        if (!has_member(k, i, m->name))
            text_add(&all, "%s%s\n", m->header ? m->header : "", m->text);
    }
    text_add(&all, "%s", k[i]->text + k[i]->behind);
    library_names(d, &k[i]->uses, own, &w);
    unit_own_tiles(t, k[i], text_str(&all));
    library_names(d, &k[i]->uses, disown, &w);
}

void unit_join(const dialect *d, const kernel_text *const *k, const char *const *header, int n, text *t)
{
    ENDED_BY(text_free) text body = {0};
    callees uses = {0};
    unit_facts facts = {0};
    for (int i = 0; i < n; i++)
        callees_add(&uses, &k[i]->uses);
    library_vectors(&body, d, &uses);
    for (int i = 0; i < n; i++) {
        facts.far |= k[i]->far;
        text_add(&body, "\n"), add(&body, d, k, i, header ? header[i] : "");
    }
    facts.body = text_str(&body);
    d->prelude(t, &facts);
    text_add(t, "%s", facts.body);
}
