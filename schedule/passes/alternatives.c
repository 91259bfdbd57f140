/* alternatives.c - the pass that takes an algebraic alternative where an operation offers one: convolutions of 3 x 3
 * by Winograd, products with weights by Strassen; before them, long sums in blocks (blocks.c). What those add to the
 * weights is bounded.
 *
 * Requires: a graph. Guarantees: kernels from the fusion pass, of a graph in which what an operation offers stands in
 * its place; all else is as it was. A kernel is left alone where its first fitting rule has options, which are meant
 * for what the model says; and where the plan is to run the graph as written. */
#include "schedule/fuse/fuse.h"
#include "schedule/passes/passes.h"
#include "schedule/plan/resident.h"
#include "schedule/schema/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a rule matches the kernel: with `taking` one that asks for the alternative, else one with options for the
 * operation as the model has it */
static bool ruled(const plan *p, const kernel *k, bool taking)
{
    const int of_kernel = p->schema ? schema_match(p->schema, k, 0) : -1,
              of_stage = p->schema ? schema_match_stage(p->schema, k, k->main, 0) : -1,
              of_part = p->schema ? schema_match_part(p->schema, k->whole->op->name, k->whole) : -1;
    const int all[] = {of_kernel, of_stage, of_part};
    for (int i = 0; i < COUNT(all); i++) {
        const rule *r = all[i] < 0 ? NULL : &p->schema->rule[all[i]];
        const bool plain = r && (r->tells_way || !r->fuse || (i < 2 && (r->n_loops || r->n_layout || r->compute)));
        if (plain && taking == (r->tells_way && r->takes_way))
            return p->rule_used[all[i]] = true;
    }
    return false;
}

/* Memory for speed, but not much of it: weights in memory take at most so many times the bytes of all that the model
 * has, be they in memory or not; what hardly matters is free. With values, libraries and the process itself that stays
 * under 1.4 for a model of 400 MB. */
static const double MOST_RESIDENT = 1.305;
static const int64_t FREE_GROWTH = 64 << 20;

/* Kernels alike: of one operation and types, with as many readers of the first operand, which share what is made of it.
 * They take the alternative together as far as memory allows. */
typedef struct kind {
    const kernel *like;
    const char *way; /* its name */
    int readers;     /* kernels that read the first operand and have an alternative */
    double work;     /* operations of each, as the model says it */
    int64_t growth;  /* bytes of weights, for each */
    int n, taken;    /* taken: the first ones */
    int64_t spare;   /* bytes by which weights could still grow when it was its turn; below 0: it had none */
} kind;

typedef struct search {
    plan *p;
    kind *kind;
    int n, n_has, *kind_of; /* by node id, that of the whole of a kernel: the number of its kind + 1, or 0 */
    int *rank;              /* by the same: which of its kind it is */
    int *readers;           /* by node id: see kind */
    bool *asked;            /* by node id: a rule takes another way, whatever it costs */
    bool *done;             /* by node id: another way was taken */
    bool *has;     /* by node id, below n_has: the plan has it; others were made by earlier plans of the graph */
    plan *into;    /* that the search is for: keeps what is declined, */
    declined *why; /* by node id: before there are kinds, of nodes that offer another way */
} search;

/* Bytes by which weights grow: those computed for nodes that are new to the plan, less those that they replace. */
static int64_t growth(const search *s, const node *n)
{
    int64_t bytes = 0;
    if (n->id < s->n_has && s->has[n->id])
        return 0;
    if (n->leaf && n->leaf->of) {
        bytes = type_bytes(&n->type);
        for (n = n->leaf->of; n->n_in; n = n->in[0])
            ;
        return bytes > type_bytes(&n->type) ? bytes - type_bytes(&n->type) : bytes;
    }
    for (int i = 0; i < n->n_in; i++)
        bytes += growth(s, n->in[i]);
    return bytes;
}

static bool alike(const node *a, const node *b)
{
    bool same = a->op == b->op && a->n_in == b->n_in && type_equal(&a->type, &b->type);
    for (int i = 0; same && i < a->n_in; i++)
        same = type_equal(&a->in[i]->type, &b->in[i]->type);
    return same;
}

/* An alternative computes its whole value; it cannot pay where little of that is read (of a last layer, one row). */
static bool mostly_read(const kernel *k, reason *why)
{
    static const double LEAST = 0.5;
    const stage *s = &k->stage[k->main];
    double read = 1;
    for (int d = 0; d < s->node->type.rank; d++)
        read *= (double)s->count[d] / (double)s->node->type.dim[d];
    return read > LEAST || reason_least(why, "share of its value that is read", read, LEAST);
}

/* Time in operations: products and the loading of weights overlap, the longer one hides the shorter but for a part. */
static double with_weights(const target *on, double products, double bytes)
{
    const double wait = target_flops_per_byte(on, on->n_level - 1) * bytes;
    return fmax(products, wait) + on->cost.exposed * fmin(products, wait);
}

/* Whether the alternative takes less time, its weights and passes over memory counted */
static bool is_less(const target *on, const way_cost *c, reason *why)
{
    const double most = (1 - c->least) * with_weights(on, c->plain, c->weights);
    double all = with_weights(on, c->other, c->weights + c->more_weights);
    for (int i = 0; i < COUNT(c->passed); i++)
        all += target_flops_per_passed(on, c->passed[i].size) * c->passed[i].bytes;
    return all < most ||
           reason_most(why, "operations, what weights and values gone through take among them", all, most);
}

bool alternative_pays(const target *on, const node *n, declined *no)
{
    way_cost c;
    if (!n->op->way || !n->op->way(n, &c))
        return false;
    no->way = c.name;
    return is_less(on, &c, &no->why);
}

/* Where extents vary, an alternative has to pay at a small extent too, where half of a pair may be padding. `old` is
 * the node before its operands were replaced. */
static bool pays(const plan *p, const node *old, const node *n, declined *no)
{
    if (!p->n_variable)
        return alternative_pays(p->on, n, no);
    const node *asked = extents_small_node(p, old);
    way_cost c;
    if (!asked || asked->op != n->op || !asked->op->way || !asked->op->way(asked, &c))
        return false;
    no->way = c.name;
    c.other *= 1 + 1 / ((double)p->variables->small->size[0] + 1);
    return is_less(p->on, &c, &no->why);
}

/* Rules are asked last, so that one counts as used only where nothing else stands against the alternative. */
static bool open_for(const search *s, const kernel *k)
{
    declined *no = &s->why[k->whole->id];
    const bool pay = pays(s->p, k->whole, k->whole, no), asked = no->way && ruled(s->p, k, true);
    s->asked[k->whole->id] = asked;
    return (pay || asked) && mostly_read(k, &no->why) &&
           (!ruled(s->p, k, false) || reason_is(&no->why, "a rule has options for it as the model says it"));
}

static bool find_others(search *s, const node **other, err *e) /* by kernel: what it offers, or NULL */
{
    graph *g = s->p->g;
    for (int i = 0; i < s->p->n_kernel; i++) {
        const node *whole = s->p->kernel[i].whole;
        other[i] = open_for(s, &s->p->kernel[i]) ? whole->op->alternative(g, whole) : NULL;
        if (!other[i] && err_is(&g->err))
            return err_set(e, g->err.code, "%s", g->err.text);
        if (other[i])
            s->readers[whole->in[0]->id]++;
    }
    return true;
}

static bool find_kinds(search *s, err *e)
{
    const node **other = arena_array(&s->p->mem, (size_t)s->p->n_kernel + 1, sizeof *other);
    if (!find_others(s, other, e))
        return false;
    for (int i = 0; i < s->p->n_kernel; i++) {
        const node *whole = s->p->kernel[i].whole;
        const int readers = other[i] ? s->readers[whole->in[0]->id] : 0;
        int k = 0;
        if (!other[i])
            continue;
        while (k < s->n && !(alike(s->kind[k].like->whole, whole) && s->kind[k].readers == readers))
            k++;
        if (k == s->n)
            s->kind[s->n++] = (kind){.like = &s->p->kernel[i],
                                     .way = s->why[whole->id].way,
                                     .spare = -1,
                                     .readers = readers,
                                     .work = node_flops(whole),
                                     .growth = growth(s, other[i])};
        s->kind_of[whole->id] = k + 1, s->rank[whole->id] = s->kind[k].n++;
    }
    return true;
}

static void take_some(kind *k, int64_t *spare)
{
    k->spare = *spare;
    const int fit = k->growth > *spare / k->n ? (int)(*spare / k->growth) : k->n;
    k->taken = fit / k->readers * k->readers;
    *spare -= k->taken * k->growth;
}

/* The largest products first, beside which other passes cost least; then the least growth; then the most shared. */
static int by_gain(const void *a, const void *b)
{
    const kind *x = *(kind *const *)a, *y = *(kind *const *)b;
    if (x->work != y->work)
        return x->work < y->work ? 1 : -1;
    if (x->growth != y->growth)
        return x->growth < y->growth ? -1 : 1;
    return x->readers != y->readers ? y->readers - x->readers : x->like < y->like ? -1 : 1;
}

static void take(search *s, int64_t spare)
{
    kind **order = arena_array(&s->p->mem, (size_t)s->n + 1, sizeof *order);
    for (int k = 0; k < s->n; k++)
        order[k] = &s->kind[k];
    qsort(order, (size_t)s->n, sizeof *order, by_gain);
    bool whole = true; /* a kind taken in part leaves too little memory for another */
    for (int k = 0; whole && k < s->n; k++) {
        take_some(order[k], &spare);
        whole = !order[k]->taken || order[k]->taken == order[k]->n;
    }
}

static bool is_taken(const search *s, const node *old)
{
    const kind *k = s->kind_of[old->id] ? &s->kind[s->kind_of[old->id] - 1] : NULL;
    return k && s->rank[old->id] < k->taken;
}

static const node *alternative_of(const plan *p, graph *g, const node *n)
{
    (void)p;
    return n->op->alternative(g, n);
}

/* The reason for those that would pay but for the memory of their weights */
static void say_room(const kind *k, declined *one)
{
    one->way = k->way;
    if (k->spare < 0)
        reason_is(&one->why, "larger ones took the room for weights");
    else
        reason_most(&one->why, "bytes by which weights grow", (double)k->growth,
                    (double)(k->spare - k->taken * k->growth));
}

/* now: the node that stays, its operands perhaps replaced */
static void decline_way(const search *s, const node *old, const node *now)
{
    declined one = s->why[old->id];
    if (s->kind_of[old->id] && !is_taken(s, old))
        say_room(&s->kind[s->kind_of[old->id] - 1], &one);
    one.node = now;
    if (one.way)
        declined_add(&s->into->mem, &s->into->ways, &one);
}

/* Notes n and its operands, down to those of `now`, as what replaces `now`. A shared node belongs to the first. */
static void stands_for(plan *into, const node *n, const node *now, const char *way)
{
    bool known = n->leaf != NULL;
    const bool last = !into->detours || into->detours->stands_for != now;
    for (int i = 0; i < now->n_in; i++)
        known |= n == now->in[i];
    for (const detour *s = into->detours; s && !known; s = s->next)
        known = s->node == n;
    if (known)
        return;
    detour *one = arena_get(&into->mem, sizeof *one);
    *one = (detour){n, now, way, last, into->detours};
    into->detours = one;
    for (int i = 0; i < n->n_in; i++)
        stands_for(into, n->in[i], now, way);
}

static const node *cheaper(void *user, const node *old, const node *now)
{
    const search *s = user;
    graph *g = s->p->g;
    declined *no = &s->why[old->id];
    const bool taken = is_taken(s, old) && (pays(s->p, old, now, no) || s->asked[old->id]);
    const node *other = taken ? now->op->alternative(g, now) : NULL;
    if (!other) {
        decline_way(s, old, now);
        return err_is(&g->err) ? NULL : now;
    }
    MUST(type_equal(&other->type, &now->type));
    g_label(g, other, old->label);
    s->done[old->id] = true;
    stands_for(s->into, other, now, s->kind[s->kind_of[old->id] - 1].way);
    return other;
}

static void note_taken(const search *s, plan *into)
{
    into->replaced = arena_array(&into->mem, (size_t)s->n + 1, sizeof *into->replaced);
    for (int i = 0; i < s->n; i++) {
        const kernel *k = s->kind[i].like;
        const stage *st = &k->stage[k->main];
        if (!s->kind[i].taken)
            continue;
        replaced *r = &into->replaced[into->n_replaced++];
        *r = (replaced){.op = k->op, .dtype = st->node->type.dtype, .n_axis = st->n_axis};
        memcpy(r->extent, st->extent, sizeof r->extent);
        memcpy(r->letter, st->letter, sizeof r->letter);
    }
}

/* By how many bytes weights may grow; what the plan has is known to the search from here on. */
static int64_t allowed(search *s)
{
    int count;
    ENDED_BY(heap_free) const node **need = g_reached_make(s->p->n_root, s->p->root, &count);
    const int *times = resident_times(s->p, &s->p->mem);
    int64_t all = 0, resident = 0;
    for (int i = 0; i < count; s->has[need[i++]->id] = true) {
        const bool is = need[i]->leaf && need[i]->leaf->kind == LEAF_WEIGHT;
        const int64_t bytes = is ? type_bytes(&need[i]->type) : 0;
        all += bytes, resident += times[need[i]->id] * bytes;
    }
    const int64_t room = (int64_t)((double)all * MOST_RESIDENT) - resident;
    return room < FREE_GROWTH ? FREE_GROWTH : room;
}

/* p: with kernels, which is for this alone. into: has what its roots become. */
static bool find_alternatives(plan *p, plan *into, bool *found, err *e)
{
    const node **root = arena_array(&into->mem, (size_t)p->n_root + 1, sizeof *root);
    search s = {.p = p,
                .into = into,
                .why = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.why),
                .kind = arena_array(&p->mem, (size_t)p->n_kernel + 1, sizeof *s.kind),
                .kind_of = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.kind_of),
                .rank = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.rank),
                .asked = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.asked),
                .done = arena_array(&into->mem, (size_t)p->g->n + 1, sizeof *s.done),
                .n_has = p->g->n,
                .has = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.has),
                .readers = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.readers)};
    if (p->as_written)
        return true;
    const int64_t room = allowed(&s);
    if (!find_kinds(&s, e))
        return false;
    take(&s, room);
    if (!g_rewrite(p->g, p->n_root, p->root, cheaper, &s, root))
        return err_set(e, p->g->err.code, "%s", p->g->err.text);
    /* Even alternatives that were dropped left nodes in the graph, and plans index buffers by node: fuse anew. */
    *found = s.n || memcmp(root, p->root, (size_t)p->n_root * sizeof *root);
    if (p->n_variable && !extents_rewrite(into, &(extents_rewriting){root, s.done, alternative_of}))
        return true;
    into->root = root, note_taken(&s, into);
    return true;
}

bool pass_alternatives(plan *p, err *e)
{
    bool found = false;
    if (p->n_variable ? !p->variables->small : !blocks_take(p, e)) /* long ones end at other blocks at other extents */
        return !err_is(e);
    plan trial = *p;
    trial.mem = (arena){0};
    const bool ok = fuse_kernels(&trial, e) && find_alternatives(&trial, p, &found, e);
    if (ok && found)
        return arena_free(&trial.mem), true;
    arena_take(&p->mem, &trial.mem);
    trial.mem = p->mem, trial.ways = p->ways, *p = trial;
    return ok;
}
