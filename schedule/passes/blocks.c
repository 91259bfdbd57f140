/* blocks.c - the part of the alternatives pass that walks long sums in blocks: where a group's operation offers it
 * (softmax and the products around it), and the target says how long blocks are to be. What it leaves is a fold of
 * several values over the blocks, whose loop the stages of one kernel share (stream.c). */
#include "graph/ir/group.h"
#include "schedule/passes/passes.h"
#include "schedule/schema/schema.h"

typedef struct asking {
    plan *p;
    const group *q;
    int n, n_need;
    const node **inside, **need; /* nodes of the group; all that the roots need */
} asking;

static bool holds(const asking *a, const node *n)
{
    for (int i = 0; i < a->n; i++)
        if (a->inside[i] == n)
            return true;
    return false;
}

/* Whether a node outside the group reads a value with as many elements as all scores: blocks never hold it whole. */
static bool read_outside(const asking *a, double most)
{
    for (int i = 0; i < a->n_need; i++) {
        const node *r = a->need[i];
        bool reads = false;
        for (int k = 0; k < r->n_in && !reads; k++)
            reads = r->in[k] != a->q->result && (double)type_count(&r->in[k]->type) >= most && holds(a, r->in[k]);
        if (reads && !holds(a, r))
            return true;
    }
    for (int i = 0; i < a->p->n_root; i++)
        if (a->p->root[i] != a->q->result && holds(a, a->p->root[i]))
            return true;
    return false;
}

/* Whether a rule takes the group apart or places a part of it on another device. */
static bool has_parts(const asking *a)
{
    const graph *g = a->p->g;
    bool any = false;
    for (int i = 0; i < a->n && !any; i++)
        any = schema_parts(a->p->schema, a->inside[i]->op->name, a->inside[i]);
    for (int i = 0; i < g->n_group && !any; i++)
        any = holds(a, g->group[i].result) && schema_parts(a->p->schema, g->group[i].op->name, g->group[i].result);
    return any;
}

static int64_t size_of(void *user, const streaming *s)
{
    const asking *a = user;
    const schema *rules = a->p->schema;
    const int at = rules ? schema_blocks(rules, a->q->op->name, a->q->result) : -1;
    int64_t size = a->p->on->guess->block ? a->p->on->guess->block(a->p, s) : 0;
    if (at >= 0 && rules->rule[at].tells_blocks)
        size = rules->rule[at].blocks, a->p->rule_used[at] = true;
    else if (at >= 0 || (size && rules && has_parts(a)))
        size = 0;
    size = size && !read_outside(a, (double)s->rows * (double)s->length) ? size : 0;
    a->p->blocked[a->p->n_blocked - 1].size = size;
    return size;
}

/* What stands for the group's result, or NULL. */
static const node *in_blocks(plan *p, asking *a, const group *q)
{
    graph *g = p->g;
    const int first = g->n;
    a->q = q, a->n = group_nodes(g, q, &p->mem, &a->inside);
    p->blocked[p->n_blocked++] = (block_choice){.op = q->op->name, .label = q->result->label};
    const node *y = q->op->in_blocks(g, q, size_of, a);
    if (!y)
        return NULL;
    g_label(g, y, q->result->label);
    g_group(g, &(group){q->op, y, q->n_in, q->in, q->attr, first < y->id ? first : y->id, y->id});
    return y;
}

/* Keeps the pairs in the order of the old nodes: a replacement may be an operand of another one. */
static void add_pair(const node **from, const node **to, int n, const node *old, const node *now)
{
    while (n > 0 && from[n - 1]->id > old->id)
        from[n] = from[n - 1], to[n] = to[n - 1], n--;
    from[n] = old, to[n] = now;
}

bool blocks_take(plan *p, err *e)
{
    graph *g = p->g;
    const int n_group = g->n_group;
    asking a = {.p = p, .n_need = g_reach(p->n_root, p->root, NULL)};
    const node **from = arena_array(&p->mem, (size_t)n_group + 1, sizeof *from),
               **to = arena_array(&p->mem, (size_t)n_group + 1, sizeof *to),
               **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    p->blocked = arena_array(&p->mem, (size_t)n_group + 1, sizeof *p->blocked);
    bool *needed = arena_array(&p->mem, (size_t)g->n + 1, sizeof *needed);
    int n = 0;
    a.need = arena_array(&p->mem, (size_t)a.n_need + 1, sizeof *a.need);
    g_reach(p->n_root, p->root, a.need);
    for (int i = 0; i < a.n_need; i++)
        needed[a.need[i]->id] = true;
    for (int i = 0; i < n_group && !p->whole_sums; i++) {
        const group q = g->group[i]; /* the list may move */
        if (!q.op->in_blocks || !needed[q.result->id])
            continue;
        needed[q.result->id] = false; /* once */
        const node *y = in_blocks(p, &a, &q);
        if (y)
            add_pair(from, to, n++, q.result, y);
    }
    for (int i = 1; i < n && !err_is(&g->err); i++)
        g_replace(g, 1, &to[i], i, from, to, &to[i]);
    if (n && !err_is(&g->err) && g_replace(g, p->n_root, p->root, n, from, to, root))
        p->root = root;
    return !err_is(&g->err) || err_set(e, g->err.code, "%s", g->err.text);
}
