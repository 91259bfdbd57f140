/* cheaper.c - the pass that takes the cheaper way where an operation knows one: convolutions of 3 x 3 by Winograd,
 * products with weights by Strassen. What those add to the weights is bounded.
 *
 * Requires: kernels from the fusion pass. Guarantees: kernels again, of a graph in which what an operation offers
 * stands in its place; all else is as it was. A kernel is left alone where its first fitting rule has wishes, which are
 * meant for what the model says; and where the plan is to run the graph as written. */
#include "schedule/schema.h"

#include <string.h>

static bool ruled(const plan *p, const kernel *k)
{
    const int at = p->schema ? schema_match(p->schema, k, 0) : -1;
    const rule *r = at < 0 ? NULL : &p->schema->rule[at];
    if (!r || !(r->n_loops || r->n_layout || !r->fuse || r->compute))
        return false;
    return p->rule_used[at] = true;
}

/* Memory for speed, but not much of it: 45 % of the weights, and what hardly matters in any case. Kernels alike go the
 * same way, so that what a schema says of their dimensions holds for all of them. */
static const double MOST_GROWTH = 0.45;
static const int64_t FREE_GROWTH = 64 << 20;

typedef struct kind { /* of kernels alike, which have the same way */
    const node *like;
    int n;
    int64_t growth; /* bytes of weights, for each */
    bool taken;
} kind;

typedef struct search {
    plan *p;
    kind *kind;
    int n, *kind_of; /* by node id, that of the whole of a kernel: the number of its kind + 1, or 0 */
} search;

/* By how many bytes weights grow with the nodes from the first on: what is computed, less what that is for. */
static int64_t growth(const node *n, int first)
{
    int64_t bytes = 0;
    if (n->id < first)
        return 0;
    if (n->leaf && n->leaf->of) {
        bytes = type_bytes(&n->type);
        for (n = n->leaf->of; n->n_in; n = n->in[0])
            ;
        return bytes > type_bytes(&n->type) ? bytes - type_bytes(&n->type) : bytes;
    }
    for (int i = 0; i < n->n_in; i++)
        bytes += growth(n->in[i], first);
    return bytes;
}

static bool alike(const node *a, const node *b)
{
    bool same = a->op == b->op && a->n_in == b->n_in && type_equal(&a->type, &b->type);
    for (int i = 0; same && i < a->n_in; i++)
        same = type_equal(&a->in[i]->type, &b->in[i]->type);
    return same;
}

static bool find_kinds(search *s, err *e)
{
    graph *g = s->p->g;
    const int first = g->n;
    for (int i = 0; i < s->p->n_kernel; i++) {
        const node *whole = s->p->kernel[i].whole;
        const bool open = whole->op->cheaper && !ruled(s->p, &s->p->kernel[i]);
        const node *other = open ? whole->op->cheaper(g, whole) : NULL;
        int k = 0;
        if (!other && err_is(&g->err))
            return err_set(e, g->err.code, "%s", g->err.text);
        if (!other)
            continue;
        while (k < s->n && !alike(s->kind[k].like, whole))
            k++;
        if (k == s->n)
            s->kind[s->n++] = (kind){.like = whole, .growth = growth(other, first)};
        s->kind[k].n++, s->kind_of[whole->id] = k + 1;
    }
    return true;
}

/* The largest first: they gain most for each byte. */
static void take(search *s, int64_t spare)
{
    for (int left = s->n; left > 0; left--) {
        int best = -1;
        for (int k = 0; k < s->n; k++)
            if (s->kind[k].n && (best < 0 || s->kind[k].growth > s->kind[best].growth))
                best = k;
        const int64_t more = s->kind[best].n * s->kind[best].growth;
        s->kind[best].n = 0;
        if (more <= spare)
            s->kind[best].taken = true, spare -= more;
    }
}

static const node *cheaper(void *user, const node *old, const node *now)
{
    const search *s = user;
    graph *g = s->p->g;
    const int k = now->op->cheaper ? s->kind_of[old->id] : 0;
    const node *other = k && s->kind[k - 1].taken ? now->op->cheaper(g, now) : NULL;
    if (!other)
        return err_is(&g->err) ? NULL : now;
    MUST(type_equal(&other->type, &now->type));
    g_label(g, other, old->label);
    return other;
}

static int64_t weight_bytes(plan *p)
{
    const int count = g_reach(p->n_root, p->root, NULL);
    const node **need = arena_array(&p->mem, (size_t)count + 1, sizeof *need);
    int64_t bytes = 0;
    g_reach(p->n_root, p->root, need);
    for (int i = 0; i < count; i++)
        if (need[i]->leaf && need[i]->leaf->kind == LEAF_WEIGHT)
            bytes += type_bytes(&need[i]->type);
    return bytes;
}

bool pass_cheaper(plan *p, err *e)
{
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    if (p->as_written)
        return true;
    const int64_t part = (int64_t)((double)weight_bytes(p) * MOST_GROWTH);
    search s = {.p = p,
                .kind = arena_array(&p->mem, (size_t)p->n_kernel + 1, sizeof *s.kind),
                .kind_of = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.kind_of)};
    if (!find_kinds(&s, e))
        return false;
    take(&s, part < FREE_GROWTH ? FREE_GROWTH : part);
    if (!g_rewrite(p->g, p->n_root, p->root, cheaper, &s, root))
        return err_set(e, p->g->err.code, "%s", p->g->err.text);
    /* What was tried, taken or not, made nodes, and fusion counts them: places of values are by node. */
    if (!s.n && !memcmp(root, p->root, (size_t)p->n_root * sizeof *root))
        return true;
    p->root = root, p->n_kernel = 0;
    return pass_fuse(p, e);
}
