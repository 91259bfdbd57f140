/* schema_notes.c - what a person is told of a schema and a plan: rules that decide no kernel, with what comes nearest,
 * and loops that kernels were refused, with what these follow instead. */
#include "schedule/schema.h"

#include <string.h>

/* ---- loops that were refused ---- */
void schema_refuse(plan *p, int at, const kernel *k, const char *why)
{
    denial *r = arena_get(&p->mem, sizeof *r);
    *r = (denial){at, (int)(k - p->kernel), arena_string(&p->mem, why), NULL};
    if (p->last_refusal)
        p->last_refusal->next = r;
    else
        p->refusal = r;
    p->last_refusal = r;
}

static void add_outcome(text *t, const plan *p, const denial *r)
{
    const kernel *k = &p->kernel[r->kernel];
    const bool own = k->asked && !strcmp(k->rule, p->schema->rule[r->rule].name);
    if (k->guessed || !strcmp(k->rule, "guess"))
        text_add(t, "the guess is taken");
    else if (own)
        text_add(t, "\"%s\" is taken", k->asked);
    else
        text_add(t, "rule \"%s\" is followed", k->rule);
}

static bool follow_alike(const kernel *a, const kernel *b)
{
    return a->guessed == b->guessed && !strcmp(a->rule, b->rule) && (!a->asked) == (!b->asked) &&
           (!a->asked || !strcmp(a->asked, b->asked));
}

static bool same_refusal(const plan *p, const denial *a, const denial *b)
{
    return a->rule == b->rule && follow_alike(&p->kernel[a->kernel], &p->kernel[b->kernel]) && !strcmp(a->why, b->why);
}

typedef struct tally { /* kernels that were refused the same for the same reason, and follow the same instead */
    const denial *first;
    int n;
    struct tally *next;
} tally;

static tally *tallied(arena *m, const plan *p)
{
    tally *first = NULL;
    for (const denial *r = p->refusal; r; r = r->next) {
        tally **at = &first;
        while (*at && !same_refusal(p, (*at)->first, r))
            at = &(*at)->next;
        if (!*at)
            *at = arena_get(m, sizeof **at), (*at)->first = r;
        (*at)->n++;
    }
    return first;
}

void schema_refused(const plan *p, text *out)
{
    arena m = {0};
    for (const tally *y = tallied(&m, p); y; y = y->next) {
        const denial *r = y->first;
        const rule *u = &p->schema->rule[r->rule];
        const kernel *k = &p->kernel[r->kernel];
        text_add(out, "%s: rule \"%s\" is refused for %d kernel%s (k%d %s%s%s%s), and ", u->loops_place, u->name, y->n,
                 y->n > 1 ? "s" : "", r->kernel, k->op, *k->label ? " " : "", k->label, y->n > 1 ? ", ..." : "");
        add_outcome(out, p, r);
        text_add(out, ": %s\n", r->why);
    }
    arena_free(&m);
}
