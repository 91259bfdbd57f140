/* place.c - the pass that gives kernels to devices: by rules, by what a device cannot take, and, over the devices of
 * the command, by the guess.
 *
 * Requires: kernels from the fusion pass. Guarantees: a plan whose kernels are all on one device is as it was; else
 * each kernel is on one device, which takes it, transfers stand between them, and each device has its part. What rules
 * say is kept by node: fusion runs again, and joins nodes of one device only. */
#include "graph/ir/group.h"
#include "schedule/fuse/fuse.h"
#include "schedule/place/place.h"
#include "schedule/passes/scans.h"
#include "schedule/schema/schema.h"

#include <limits.h>
#include <string.h>

typedef struct placing {
    plan *p;
    int *of_rule; /* by rule: one more than the site that it names; 0: none */
    int *by;      /* by node id: the first rule that is for it; INT_MAX: none */
    int *seen, visit;
    bool more; /* some node got a site */
} placing;

/* ---- sites ---- */
static int add_site(plan *p, const char *name, err *e) /* its number, or -1 */
{
    site s = {0};
    if (!p->finder->find(p->finder->user, name, &s, e))
        return -1;
    for (int i = 0; i < p->n_site; i++)
        if (!strcmp(p->site[i].name, s.name))
            return i;
    if (p->n_site == MAX_SITE)
        return err_set(e, TS_UNSUPPORTED, "device \"%.60s\" is number %d of one plan, at most %d expected", name,
                       p->n_site + 1, MAX_SITE),
               -1;
    p->site[p->n_site] = s;
    return p->n_site++;
}

static bool find_sites(placing *a, err *e) /* those that rules name */
{
    plan *p = a->p;
    for (int i = 0; p->schema && i < p->schema->n_rule; i++) {
        const rule *r = &p->schema->rule[i];
        if (!r->site || p->schema->aside[i])
            continue;
        if (!p->finder)
            return err_set(e, TS_UNSUPPORTED, "%s: place \"%s\": this plan is for one device", r->site_place, r->site);
        const int at = add_site(p, r->site, e);
        if (at < 0)
            return err_in(e, "%s", r->site_place);
        if (at >= p->n_given && !p->site[at].asked_at)
            p->site[at].asked_at = r->site_place;
        a->of_rule[i] = at + 1;
    }
    return true;
}

/* ---- what rules say ---- */
static void say(placing *a, const node *n, int which)
{
    if (which >= 0 && !node_is_leaf(n) && which < a->by[n->id])
        a->by[n->id] = which;
}

/* Of all that is computed for n within its kernel: what stages keep is said by itself. */
static void say_within(placing *a, const node *n, const bool *kept, int which)
{
    if (node_is_leaf(n) || a->seen[n->id] == a->visit)
        return;
    a->seen[n->id] = a->visit;
    say(a, n, which);
    for (int i = 0; i < n->n_in; i++)
        if (!kept[n->in[i]->id])
            say_within(a, n->in[i], kept, which);
}

static void say_kernels(placing *a, const bool *kept)
{
    const plan *p = a->p;
    for (int i = 0; i < p->n_kernel; i++) {
        const kernel *k = &p->kernel[i];
        const int whole = schema_place(p->schema, k);
        for (int s = 0; s < k->n_stage; s++) {
            const int own = schema_place_stage(p->schema, k, s);
            a->visit++;
            say_within(a, k->stage[s].node, kept, whole);
            a->visit++;
            say_within(a, k->stage[s].node, kept, own);
        }
    }
}

static void say_operations(placing *a, arena *mem)
{
    const plan *p = a->p;
    const int count = g_reach(p->n_root, p->root, NULL);
    const node **need = arena_array(mem, (size_t)count + 1, sizeof *need), **inside;
    bool *needed = arena_array(mem, (size_t)p->g->n + 1, sizeof *needed);
    g_reach(p->n_root, p->root, need);
    for (int i = 0; i < count; i++) {
        needed[need[i]->id] = true;
        if (!node_is_leaf(need[i]))
            say(a, need[i], schema_place_part(p->schema, need[i]->op->name, need[i]));
    }
    for (int i = 0; i < p->g->n_group; i++) {
        const group *q = &p->g->group[i];
        const int which = needed[q->result->id] ? schema_place_part(p->schema, q->op->name, q->result) : -1;
        const int n = which < 0 ? 0 : group_nodes(p->g, q, mem, &inside);
        for (int k = 0; k < n; k++)
            say(a, inside[k], which);
    }
}

static void place_node(placing *a, const node *n, int to)
{
    if (node_is_leaf(n) || a->p->placed[n->id])
        return;
    a->p->placed[n->id] = to + 1, a->more = a->more || to; /* on the first one it is anyway */
}

static bool *kept_nodes(const plan *p, arena *mem) /* by node id: a stage has it as its value */
{
    bool *kept = arena_array(mem, (size_t)p->g->n + 1, sizeof *kept);
    for (int i = 0; i < p->n_kernel; i++)
        for (int s = 0; s < p->kernel[i].n_stage; s++)
            kept[p->kernel[i].stage[s].node->id] = true;
    return kept;
}

static void follow_rules(placing *a)
{
    plan *p = a->p;
    ENDED_BY(arena_free) arena mem = {0};
    if (!p->schema)
        return;
    for (int i = 0; i < p->g->n; i++)
        a->by[i] = INT_MAX;
    say_kernels(a, kept_nodes(p, &mem));
    say_operations(a, &mem);
    for (int i = 0; i < p->g->n; i++) {
        const rule *r = a->by[i] == INT_MAX ? NULL : &p->schema->rule[a->by[i]];
        if (!r)
            continue;
        place_node(a, p->g->node[i], a->of_rule[a->by[i]] - 1);
        if (!schema_about_kernels(r))
            p->rule_used[a->by[i]] = true;
    }
}

/* ---- what devices take ---- */
static void place_within(placing *a, const node *n, const bool *kept, int to)
{
    if (node_is_leaf(n) || a->seen[n->id] == a->visit)
        return;
    a->seen[n->id] = a->visit;
    a->p->placed[n->id] = to + 1, a->more = true;
    for (int i = 0; i < n->n_in; i++)
        if (!kept[n->in[i]->id])
            place_within(a, n->in[i], kept, to);
}

/* A rule for it put it where it is; one for everything says no more than the command does. */
static bool is_asked(const placing *a, const kernel *k)
{
    const int at = a->p->schema ? a->by[k->whole->id] : INT_MAX;
    const rule *r = at == INT_MAX ? NULL : &a->p->schema->rule[at];
    return r && (r->n_op || r->glob || r->stage || r->n_dim || r->dtype);
}

static bool refuse(const placing *a, int which, const char *why, err *e)
{
    const plan *p = a->p;
    const kernel *k = &p->kernel[which];
    if (!is_asked(a, k))
        return err_set(e, TS_UNSUPPORTED, "k%d %s%s%s: %s", which, k->op, *k->label ? " " : "", k->label, why);
    const rule *r = &p->schema->rule[a->by[k->whole->id]];
    err_set(e, TS_UNSUPPORTED, "%s: rule \"%s\" puts k%d %s%s%s on %s, which cannot take it: %s", r->site_place,
            r->name, which, k->op, *k->label ? " " : "", k->label, p->site[k->site].name, why);
    return err_hint(e, "leave it out of the rule's match, or put a rule for it with \"place\": \"%s\" before",
                    p->finder->otherwise);
}

typedef struct asking {
    const site_finder *finder;
    const site *s;
} asking;

static bool takes(void *user, const kernel *k, err *e)
{
    const asking *a = user;
    return a->finder->takes(a->finder->user, a->s, k, e);
}

/* Of a loop all that a trip computes, too */
static bool is_taken(plan *p, const kernel *k, err *e)
{
    asking a = {p->finder, &p->site[k->site]};
    return takes(&a, k, e) &&
           (a.s->takes_all || !k->stage->node->trip || scan_taken(p, k, a.s->on, &(scan_asker){takes, &a}, e));
}

/* What its device cannot take goes to another by itself, if nobody asked for that one. */
static bool check_taken(placing *a, err *e)
{
    plan *p = a->p;
    ENDED_BY(arena_free) arena mem = {0};
    const bool *kept = kept_nodes(p, &mem);
    bool ok = true;
    for (int i = 0; ok && i < p->n_kernel; i++) {
        kernel *k = &p->kernel[i];
        err why = {0};
        if (is_taken(p, k, &why))
            continue;
        const int to = is_asked(a, k) ? -1 : add_site(p, p->finder->otherwise, e);
        if (to < 0 || to == k->site) {
            ok = err_is(e) ? false : refuse(a, i, why.text, e);
            break;
        }
        site *s = &p->site[k->site];
        if (!s->unfit++)
            s->unfit_note = arena_format(&p->mem, "k%d %s%s%s: %s", i, k->op, *k->label ? " " : "", k->label, why.text);
        for (int j = 0; j < k->n_stage; j++)
            a->visit++, place_within(a, k->stage[j].node, kept, to);
        k->site = to;
    }
    return ok;
}

/* ---- the pass ---- */
static bool again(placing *a, err *e)
{
    a->more = a->p->fused = false;
    return fuse_kernels(a->p, e);
}

static bool settle(placing *a, err *e)
{
    for (follow_rules(a); a->more; follow_rules(a))
        if (!again(a, e))
            return false;
    if (a->p->n_given > 1 && place_guess(a->p) && !again(a, e))
        return false;
    for (bool ok = check_taken(a, e); a->more || !ok; ok = check_taken(a, e))
        if (!ok || !again(a, e))
            return false;
    return true;
}

static bool on_first(const plan *p)
{
    bool all = true;
    for (int k = 0; k < p->n_kernel && all; k++)
        all = p->kernel[k].site == 0;
    return all;
}

/* What crosses is whole, and parts are planned for constant extents, whoever asked for several devices. */
static bool constant(const plan *p, err *e)
{
    ENDED_BY(text_free) text all = {0};
    if (!p->variables)
        return true;
    for (int i = 0; i < p->n_site; i++)
        text_add(&all, "%s%s", i ? ", " : "", p->site[i].name);
    err_set(e, TS_UNSUPPORTED,
            "a plan over several devices (%s) makes no programs of which runs say the extent of \"%s\"", text_str(&all),
            p->variables->of->name);
    return err_hint(e, "give it one extent, --dim %s=N, or plan for one device", p->variables->of->name);
}

bool pass_place(plan *p, err *e)
{
    placing a = {.p = p, .of_rule = arena_array(&p->mem, (size_t)(p->schema ? p->schema->n_rule : 0) + 1, sizeof(int))};
    site *given = p->site;
    p->site = arena_array(&p->mem, MAX_SITE, sizeof *p->site);
    for (int i = 0; i < p->n_given; i++) { /* a plan may be made again, to be compared */
        p->site[i] = given[i];
        p->site[i].part = NULL, p->site[i].unfit = 0;
    }
    p->n_site = p->n_given;
    if (p->reference || !find_sites(&a, e) || !p->n_given)
        return p->n_site = 0, !err_is(e);
    a.by = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *a.by);
    a.seen = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *a.seen);
    p->placed = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *p->placed);
    if (!settle(&a, e))
        return false;
    if (!on_first(p))
        return constant(p, e) && place_split(p, e);
    p->n_site = 0, p->placed = NULL;
    return true;
}
