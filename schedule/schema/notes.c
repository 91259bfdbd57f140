/* notes.c - what a person is told of a schema and a plan: rules that decide no kernel, with what comes nearest,
 * and loops that kernels were refused, with what these follow instead. */
#include "schedule/schema/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- loops that were refused ---- */
void schema_refuse(plan *p, int at, const kernel *k, int which, const char *why)
{
    denial *r = arena_get(&p->mem, sizeof *r);
    *r = (denial){at, (int)(k - p->kernel), which, arena_string(&p->mem, why), NULL};
    if (p->last_refusal)
        p->last_refusal->next = r;
    else
        p->refusal = r;
    p->last_refusal = r;
}

typedef struct choice { /* what a kernel, or a stage of it, follows */
    const char *by, *asked;
    bool guessed;
} choice;

static choice choice_of(const plan *p, const denial *r)
{
    const kernel *k = &p->kernel[r->kernel];
    const stage *s = r->stage < 0 ? NULL : &k->stage[r->stage];
    if (s)
        return (choice){s->rule ? s->rule : "guess", s->asked, s->guessed};
    return (choice){k->rule, k->asked, k->guessed};
}

static void add_outcome(text *t, const plan *p, const denial *r)
{
    const choice c = choice_of(p, r);
    if (c.guessed || !strcmp(c.by, "guess"))
        text_add(t, "the guess is taken");
    else if (c.asked && !strcmp(c.by, p->schema->rule[r->rule].name))
        text_add(t, "\"%s\" is taken", c.asked);
    else
        text_add(t, "rule \"%s\" is followed", c.by);
}

static bool same_refusal(const plan *p, const denial *a, const denial *b)
{
    const choice x = choice_of(p, a), y = choice_of(p, b);
    return a->rule == b->rule && a->stage == b->stage && x.guessed == y.guessed && !strcmp(x.by, y.by) &&
           (!x.asked) == (!y.asked) && (!x.asked || !strcmp(x.asked, y.asked)) && !strcmp(a->why, b->why);
}

typedef struct tally { /* kernels that were refused the same for the same reason, and follow the same instead */
    const denial *first;
    int n;
    struct tally *next;
} tally;

static tally *tallied(arena *mem, const plan *p)
{
    tally *first = NULL;
    for (const denial *r = p->refusal; r; r = r->next) {
        tally **at = &first;
        while (*at && !same_refusal(p, (*at)->first, r))
            at = &(*at)->next;
        if (!*at)
            *at = arena_get(mem, sizeof **at), (*at)->first = r;
        (*at)->n++;
    }
    return first;
}

void schema_refused(const plan *p, text *out)
{
    ENDED_BY(arena_free) arena mem = {0};
    for (const tally *y = tallied(&mem, p); y; y = y->next) {
        const denial *r = y->first;
        const rule *u = &p->schema->rule[r->rule];
        const kernel *k = &p->kernel[r->kernel];
        text_add(out, "%s: rule \"%s\" is refused for %d kernel%s (k%d %s%s%s%s), and ", u->loops_place, u->name, y->n,
                 y->n > 1 ? "s" : "", r->kernel, k->op, *k->label ? " " : "", k->label, y->n > 1 ? ", ..." : "");
        add_outcome(out, p, r);
        text_add(out, ": %s\n", r->why);
    }
}

/* ---- rules without a kernel: what comes nearest ---- */
enum { MAX_NEAR = 3 };
typedef struct nearest { /* a kernel, and the name of it that is most like the rule's; "" where names do not matter */
    const kernel *k;
    const char *name;
    int misses, alike;
} nearest;

/* How many letters in a row a name has in common with a pattern */
static int alike(const char *glob, const char *name)
{
    int most = 0;
    for (const char *g = glob; *g; g++)
        for (const char *n = name; *n; n++) {
            int i = 0;
            while (g[i] && g[i] == n[i] && !strchr("*?[]", g[i]))
                i++;
            most = i > most ? i : most;
        }
    return most;
}

static void offer(nearest *best, const rule *r, const char *name)
{
    const int n = name && *name ? alike(r->glob, name) : -1;
    if (n > best->alike)
        best->alike = n, best->name = name;
}

static nearest nearest_of(const rule *r, const kernel *k, int misses)
{
    nearest n = {k, "", misses, -1};
    if (!r->glob)
        return n;
    offer(&n, r, k->label), offer(&n, r, k->was), offer(&n, r, k->whole ? k->whole->label : NULL);
    for (int i = 0; i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_load; j++)
            if (k->stage[i].load[j]->from->leaf)
                offer(&n, r, k->stage[i].load[j]->from->label);
    return n;
}

static bool same_family(const nearest *x, const nearest *y)
{
    const kernel *a = x->k, *b = y->k;
    const stage *s = &a->stage[a->main], *t = &b->stage[b->main];
    return !strcmp(a->op, b->op) && !strcmp(x->name, y->name) && s->n_axis == t->n_axis &&
           !memcmp(s->extent, t->extent, (size_t)s->n_axis * sizeof *s->extent);
}

static void add_kernel(text *t, const nearest *n) /* "matmul query.weight m=128 n=768 k=768" */
{
    const stage *s = &n->k->stage[n->k->main];
    const char *name = *n->name ? n->name : n->k->label;
    text_add(t, "%s%s%s", n->k->op, *name ? " " : "", name);
    for (int a = 0; a < s->n_axis; a++)
        text_add(t, " %s=%lld", s->letter[a], (long long)s->extent[a]);
}

/* Of its operations those that miss least, then with names most alike; each shape and name once */
static void add_nearest(text *t, const rule *r, const plan *p)
{
    nearest best[MAX_NEAR];
    int n = 0;
    for (int i = 0; i < p->n_kernel; i++) {
        const int misses = schema_misses(r, &p->kernel[i]);
        const nearest one = nearest_of(r, &p->kernel[i], misses);
        bool had = misses < 0;
        for (int j = 0; j < n; j++)
            had = had || same_family(&best[j], &one);
        if (had)
            continue;
        int at = n < MAX_NEAR ? n++ : MAX_NEAR;
        for (; at > 0 && (best[at - 1].misses > one.misses ||
                          (best[at - 1].misses == one.misses && best[at - 1].alike < one.alike));
             at--)
            if (at < MAX_NEAR)
                best[at] = best[at - 1];
        if (at < MAX_NEAR)
            best[at] = one;
    }
    for (int i = 0; i < n; i++) {
        text_add(t, i ? "; " : "");
        add_kernel(t, &best[i]);
    }
}

static void add_ops(text *t, const plan *p)
{
    for (int i = 0; i < p->n_kernel; i++) {
        bool had = false;
        for (int j = 0; j < i; j++)
            had = had || !strcmp(p->kernel[j].op, p->kernel[i].op);
        if (!had)
            text_add(t, "%s%s", i ? ", " : "", p->kernel[i].op);
    }
}

/* A part of kernels that the rule fits, though the rule cannot say anything of parts but "fuse"; of: its value */
static const char *part_of(const rule *r, const plan *p, const node **of)
{
    int count;
    ENDED_BY(heap_free) const node **need = g_reached_make(p->n_root, p->root, &count);
    for (int i = 0; i < count; i++)
        if (!node_is_leaf(need[i]) && schema_fits_part(r, need[i]->op->name, need[i]))
            return *of = need[i], need[i]->op->name;
    for (int i = 0; p->g && i < p->g->n_group; i++)
        if (schema_fits_part(r, p->g->group[i].op->name, p->g->group[i].result))
            return *of = p->g->group[i].result, p->g->group[i].op->name;
    return NULL;
}

static bool any_stage(const plan *p, int at, text *out)
{
    for (int i = 0; i < p->n_kernel; i++)
        for (int s = 0; s < p->kernel[i].n_stage; s++)
            if (schema_match_stage(p->schema, &p->kernel[i], s, at) == at) {
                text_add(out, "stage %s of k%d %s %s is decided by a rule before it", p->kernel[i].stage[s].name, i,
                         p->kernel[i].op, p->kernel[i].label);
                return true;
            }
    return false;
}

static void add_stages(text *t, const plan *p)
{
    const kernel *k = p->kernel, *end = k + p->n_kernel;
    while (k < end && k->n_stage < 2)
        k++;
    for (int s = 0; k < end && s < k->n_stage; s++)
        text_add(t, "%s%s", s ? ", " : "", k->stage[s].name);
    if (k < end)
        text_add(t, " in k%d %s %s", (int)(k - p->kernel), k->op, k->label);
    else
        text_add(t, "none: each kernel is one");
}

/* One of the rule's operations that is computed another way, as by Strassen */
static const detour *way_of(const rule *r, const plan *p)
{
    const detour *d = p->detours;
    while (d && !schema_has_op(r, d->stands_for->op->name))
        d = d->next;
    return d;
}

static void say_unused(const schema *s, const plan *p, int at, text *out)
{
    const rule *r = &s->rule[at];
    const node *value = NULL;
    const char *part = part_of(r, p, &value);
    const kernel *taken = NULL, *has = NULL; /* has: its work is the part, or it ends in it */
    bool near = false;
    for (int i = 0; i < p->n_kernel && !taken; i++) {
        const kernel *k = &p->kernel[i];
        taken = schema_fits(r, k) ? k : NULL, near = near || schema_misses(r, k) >= 0;
        has = !has && value && (k->whole == value || k->stage[k->main].node == value) ? k : has;
    }
    if (taken)
        text_add(out, "%s %s is decided by \"%s\"", taken->op, taken->label, taken->rule);
    else if (p->schema && any_stage(p, at, out))
        ;
    else if (r->stage)
        text_add(out, "no stage fits; there are "), add_stages(out, p);
    else if (part && r->fuse && r->n_op)
        text_add(out, "%s is computed within other kernels%s%s%s%s; \"fuse\": \"none\" makes it one", part,
                 has ? ", as in " : "", has ? has->op : "", has ? " " : "", has ? has->label : "");
    else if (near)
        text_add(out, "none fits; nearest are "), add_nearest(out, r, p);
    else {
        const detour *d = way_of(r, p);
        text_add(out, "the plan has none of its operations%s%s%s%s; it has ", d ? ": " : "",
                 d ? d->stands_for->op->name : "", d ? " goes by " : "", d ? d->way : "");
        add_ops(out, p);
    }
}

void schema_unused(const schema *s, const plan *p, const bool *used, text *out)
{
    for (int i = 0; i < s->n_rule; i++) {
        if (used[i] || s->aside[i] || !(schema_about_kernels(&s->rule[i]) || s->rule[i].site || s->rule[i].reuse))
            continue;
        text_add(out, "%s: rule \"%s\" decides no kernel: ", s->rule[i].place, s->rule[i].name);
        say_unused(s, p, i, out);
        text_add(out, "\n");
    }
}
