/* replace.c - the same computation over other operands: what depends on a replaced node is made again, everything else
 * is shared. Recipes stay visible: their groups are carried over. */
#include "graph/ir/graph.h"

#include <stdlib.h>

typedef struct replacing {
    graph *g;
    int n;
    const node **now; /* by old id: what stands for it */
    rewriting *f;     /* NULL: nothing more */
    void *user;
} replacing;

static const node *remake(replacing *r, const node *old)
{
    const node *in[MAX_ARG], **operand = old->n_in > MAX_ARG ? heap_array((size_t)old->n_in, sizeof *operand) : in;
    MUST(operand);
    bool same = true;
    for (int i = 0; i < old->n_in; i++) {
        operand[i] = r->now[old->in[i]->id];
        same = same && operand[i] == old->in[i];
    }
    const int before = r->g->n;
    const node *made = same ? old : g_again(r->g, old, old->n_in, operand);
    if (operand != in)
        free(operand);
    if (!same && made && old->origin)
        made = g_output(r->g, made, r->now[old->origin->id], old->index);
    if (made && made != old && !node_is_leaf(made))
        g_label(r->g, made, old->label);
    if (old->back)
        g_back(r->g, before);
    return made;
}

/* Makes again what the roots need, oldest first; what is in r->now already stands for itself. */
static bool remake_all(replacing *r, int n, const node *const *root, const node **out)
{
    graph *g = r->g;
    const int n_group = g->n_group;
    ENDED_BY(heap_free) const node **need = heap_array((size_t)r->n + 1, sizeof *need);
    const int count = g_reach(n, root, need);
    bool ok = !err_is(&g->err);
    for (int i = 0; ok && i < count; i++) {
        const node *old = need[i], **now = &r->now[old->id];
        if (!*now)
            *now = old->leaf ? old : remake(r, old);
        if (*now && r->f)
            *now = r->f(r->user, old, *now);
        ok = *now != NULL;
    }
    for (int i = 0; ok && i < n_group; i++)
        g_group_again(g, g, &g->group[i], r->n, r->now);
    for (int i = 0; ok && i < n; i++)
        out[i] = r->now[root[i]->id];
    return ok;
}

bool g_replace(graph *g, int n, const node *const *root, int n_pair, const node *const *from, const node *const *to,
               const node **out)
{
    if (!g_all(g, "replacing in", n, root) || !g_all(g, "replacing", n_pair, from) ||
        !g_all(g, "replacing by", n_pair, to))
        return false;
    replacing r = {.g = g, .n = g->n, .now = heap_array((size_t)g->n + 1, sizeof *r.now)};
    for (int i = n_pair; i-- > 0;) {
        if (!type_equal(&from[i]->type, &to[i]->type))
            g_fail(g, TS_BAD_INPUT, "replacing \"%s\" by \"%s\", which has another shape or dtype", from[i]->label,
                   to[i]->label);
        r.now[from[i]->id] = to[i];
    }
    const bool ok = remake_all(&r, n, root, out);
    free(r.now);
    return ok;
}

bool g_remake(graph *g, int n, const node *const *root, const node **now)
{
    replacing r = {.g = g, .n = g->n, .now = now};
    ENDED_BY(heap_free) const node **out = heap_array((size_t)n + 1, sizeof *out);
    return g_all(g, "replacing in", n, root) && remake_all(&r, n, root, out);
}

bool g_rewrite(graph *g, int n, const node *const *root, rewriting *f, void *user, const node **out)
{
    if (!g_all(g, "replacing in", n, root))
        return false;
    replacing r = {.g = g, .n = g->n, .f = f, .user = user, .now = heap_array((size_t)g->n + 1, sizeof *r.now)};
    const bool ok = remake_all(&r, n, root, out);
    free(r.now);
    return ok;
}

bool ts_replace(ts_graph *g, int n, const ts_tensor *t, int n_pair, const ts_tensor *from, const ts_tensor *to,
                ts_tensor *out)
{
    return g_replace(g, n, t, n_pair, from, to, out);
}
