/* join.c - the pass that makes one scan of two: where one makes all that another does, over the same operands, as
 * the trips that a gradient keeps states of make all that the scan itself does, both are computed by it.
 *
 * Requires: a graph. Guarantees: roots of the same values; trips that are the same are made once. */
#include "graph/ir/custom.h"
#include "graph/ir/trip.h"
#include "schedule/passes/passes.h"
#include "schedule/plan/plan.h"

#include <string.h>

typedef struct joining {
    plan *p;
    int n;
    const node **need;
    const node **whole; /* by node id, of a scan: the one that makes all of it and more; or NULL */
} joining;

static bool same_operands(const node *a, const node *b)
{
    bool same = a->n_in == b->n_in;
    for (int i = 0; same && i < a->n_in; i++)
        same = a->in[i] == b->in[i];
    return same;
}

static bool same_loop(const scan_form *a, const scan_form *b)
{
    return a->trips == b->trips && a->n_state == b->n_state && a->n_slice == b->n_slice && a->until == b->until &&
           !memcmp(a->slice, b->slice, (size_t)a->n_slice * sizeof *a->slice);
}

/* Output k of scan n as one of scan by; -1: it makes no such thing. */
static int output_of(const node *by, const node *n, int k)
{
    const scan_form f = scan_form_of(by), own = scan_form_of(n);
    const node *root = n->trip->root[k];
    if (k < own.n_state)
        return by->trip->root[k] == root ? k : -1;
    for (int i = 0; i < f.n_row; i++)
        if (by->trip->root[f.n_state + i] == root && f.row[i] == own.row[k - own.n_state] &&
            scan_rows(&f, i) == scan_rows(&own, k - own.n_state))
            return f.n_state + i;
    return -1;
}

static bool makes_all(const node *by, const node *n)
{
    const scan_form f = scan_form_of(by), own = scan_form_of(n);
    bool all = by != n && same_operands(by, n) && same_loop(&f, &own) && f.n_row > own.n_row;
    for (int k = 0; all && k < own.n_state + own.n_row; k++)
        all = output_of(by, n, k) >= 0;
    return all && (!f.until || by->trip->root[by->trip->n_root - 1] == n->trip->root[n->trip->n_root - 1]);
}

/* The one with most rows, so that chains of them end up in one. */
static bool find_pairs(joining *j)
{
    bool any = false;
    for (int i = 0; i < j->n; i++)
        for (int k = 0; j->need[i]->trip && k < j->n; k++) {
            const node *n = j->need[i], *by = j->need[k], **best = &j->whole[n->id];
            if (by->trip && makes_all(by, n) && (!*best || makes_all(by, *best)))
                *best = by, any = true;
        }
    return any;
}

static const node *joined(void *user, const node *old, const node *now)
{
    const joining *j = user;
    int k = 0;
    const node *call = old->trip && !old->output ? old : custom_call(old, &k);
    const node *by = call && call->trip ? j->whole[call->id] : NULL;
    if (!by)
        return now;
    const node *own = call == old ? now : now->in[0];
    return custom_output(j->p->g, g_again(j->p->g, by, own->n_in, own->in), output_of(by, call, k));
}

bool pass_join(plan *p, err *e)
{
    graph *g = p->g;
    joining j = {.p = p, .n = g_reach(p->n_root, p->root, NULL)};
    bool any = false;
    j.need = arena_array(&p->mem, (size_t)j.n + 1, sizeof *j.need);
    j.whole = arena_array(&p->mem, (size_t)g->n + 1, sizeof *j.whole);
    g_reach(p->n_root, p->root, j.need);
    for (int i = 0; i < j.n; i++)
        any = any || j.need[i]->trip;
    if (!any || !find_pairs(&j))
        return true;
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    if (!g_rewrite(g, p->n_root, p->root, joined, &j, root))
        return err_set(e, g->err.code, "%s", g->err.text);
    p->root = root;
    return true;
}
