/* known.c - the pass that takes what depends on weights alone out of every run: it becomes a weight, which is
 * computed when a program is loaded.
 *
 * Requires: a graph. Nothing is done where weights are to stay as they are given. Guarantees: values of the roots are
 * the same; what needs no input is a leaf where it is read with inputs, except what layouts take over (movement of all
 * elements: packing does it at no cost; parts that are multiplied have layouts as leaves only), what would take more
 * memory than it is computed from (masks, weights stored in fewer bits; but not what a formula says and a product
 * reads, which is kept either way), what is computed from so little that it stays in a cache, what may fail (places
 * that data say), and, where its sources are read otherwise too, what there is no room for. */
#include "graph/ir/known.h"
#include "schedule/passes/passes.h"

enum { LEAST = 4096 };                /* elements */
static const int64_t ROOM = 64 << 20; /* bytes by which weights may grow */

typedef struct search {
    plan *p;
    const node **need;
    int n;
    bool *known, *read; /* by node id: it needs no input, and is no root; it is read by what needs one */
    bool *factor;       /* by node id: it is an operand of a sum of products, or of trips */
    const node **now;   /* by node id: the leaf in its place */
    int64_t room;
} search;

typedef struct sources { /* of one node */
    const node *leaf[MOST_SOURCES];
    int n, steps;
    bool out; /* too many, or it may fail */
} sources;

/* ---- what a node is computed from ---- */
static bool loads_by_data(const expr *x) /* a load in the subscripts of one */
{
    bool any = x->kind == X_LOAD && x_count(x, X_LOAD) > 1;
    for (int i = 0; i < x->n && !any; i++)
        any = loads_by_data(x->arg[i]);
    return any;
}

static bool may_fail(const expr *x)
{
    return x_checks(x) || loads_by_data(x);
}

static void add_leaf(sources *from, const node *n)
{
    int i = 0;
    while (i < from->n && from->leaf[i] != n)
        i++;
    if (i == MOST_SOURCES)
        from->out = true;
    else if (i == from->n)
        from->leaf[from->n++] = n;
}

static void add_sources(search *s, sources *from, const node *n)
{
    defn d;
    if (from->out)
        return;
    if (n->leaf) {
        add_leaf(from, n);
        return;
    }
    from->out = ++from->steps > MOST_KNOWN_STEPS || n->index || n->n_in > MOST_SOURCES ||
                !g_defn(n, &s->p->mem, &d, NULL) || (x_alone(d.value) && !x_folds(d.value)) || may_fail(d.value);
    for (int i = 0; i < n->n_in; i++)
        add_sources(s, from, n->in[i]);
}

/* ---- whether it is worth it ---- */
static bool moves(search *s, const node *n) /* whether it only moves elements of a leaf, which a layout can express */
{
    const int64_t count = type_count(&n->type);
    const bool factor = s->factor[n->id];
    bool all = true;
    while (all && !n->leaf) {
        defn d;
        all = n->n_in == 1 && g_defn(n, &s->p->mem, &d, NULL) && d.value->kind == X_LOAD;
        n = all ? n->in[0] : n;
    }
    return all && !(factor && count < type_count(&n->type));
}

static bool gains(search *s, const node *n)
{
    sources from = {0};
    int64_t bytes = 0, freed = 0, source = 0;
    add_sources(s, &from, n);
    for (int i = 0; i < from.n; i++) {
        const int64_t one = type_bytes(&from.leaf[i]->type);
        source = int_max(source, type_count(&from.leaf[i]->type)), bytes += one,
        freed += s->read[from.leaf[i]->id] ? 0 : one;
    }
    const int64_t own = type_bytes(&n->type), growth = own > freed ? own - freed : 0;
    const bool formula = s->factor[n->id] && source < LEAST; /* no product takes it in, so it is kept either way */
    if (int_max(source, type_count(&n->type)) < LEAST || moves(s, n) || from.out || (own > bytes && !formula) ||
        growth > s->room)
        return false;
    s->room -= growth;
    return true;
}

static bool multiplies(search *s, const node *n)
{
    defn d;
    if (n->leaf || n->trip)
        return n->trip != NULL;
    return g_defn(n, &s->p->mem, &d, NULL) && d.value->kind == X_FOLD && x_count(d.value, X_LOAD) > 1;
}

/* ---- the pass ---- */
static void find_known(search *s)
{
    for (int i = 0; i < s->n; i++) {
        const node *n = s->need[i];
        bool known = n->leaf ? n->leaf->kind != LEAF_INPUT : n->n_in > 0 || !s->p->n_variable;
        for (int k = 0; k < n->n_in; k++)
            known = known && s->known[n->in[k]->id];
        s->known[n->id] = known;
        const bool factors = !known && multiplies(s, n);
        for (int k = 0; !known && k < n->n_in; k++)
            s->read[n->in[k]->id] = true, s->factor[n->in[k]->id] = s->factor[n->in[k]->id] || factors;
    }
}

static const node *largest(const node *n) /* of the leaves: it gives the name; NULL: there is none */
{
    const node *best = n->leaf ? n : NULL;
    for (int i = 0; !n->leaf && i < n->n_in; i++) {
        const node *one = largest(n->in[i]);
        best = !best || (one && type_bytes(&one->type) > type_bytes(&best->type)) ? one : best;
    }
    return best;
}

static bool put(search *s, err *e) /* leaves into the graph */
{
    plan *p = s->p;
    graph *g = p->g;
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    if (!g_remake(g, p->n_root, p->root, s->now))
        return err_set(e, g->err.code, "%s", g->err.text);
    for (int i = 0; i < p->n_root; i++)
        root[i] = s->now[p->root[i]->id];
    p->root = root;
    return true;
}

bool pass_known(plan *p, err *e)
{
    const size_t most = (size_t)p->g->n + 1;
    search s = {.p = p, .room = ROOM};
    bool any = false;
    if (p->as_given)
        return true;
    s.need = arena_array(&p->mem, most, sizeof *s.need), s.now = arena_array(&p->mem, most, sizeof *s.now);
    s.known = arena_array(&p->mem, most, sizeof *s.known), s.read = arena_array(&p->mem, most, sizeof *s.read);
    s.n = g_reach(p->n_root, p->root, s.need);
    s.factor = arena_array(&p->mem, most, sizeof *s.factor);
    find_known(&s);
    for (int i = 0; i < p->n_root; i++)
        s.known[p->root[i]->id] = false;
    for (int i = 0; i < s.n; i++) {
        const node *n = s.need[i];
        if (n->leaf || !s.known[n->id] || !s.read[n->id] || !gains(&s, n))
            continue;
        const node *named = *n->label ? n : largest(n);
        s.now[n->id] = g_known(p->g, n, named ? named->label : "");
        any = true;
    }
    return !any || put(&s, e);
}
