/* recognise.c - asks every recogniser about every node, and what they share. */
#include "graph/ir/recognise.h"

#include <stdlib.h>
#include <string.h>

/* ---- groups by result ---- */
typedef struct groups { /* lists: head by node, next by group, numbers + 1 */
    int *head, *next;
    int cap;
} groups;

static void list(seeker *s, int i)
{
    groups *all = s->groups;
    all->next = heap_grown(all->next, i, &all->cap, sizeof *all->next);
    int *head = &all->head[s->g->group[i].result->id];
    all->next[i] = *head, *head = i + 1;
}

const group *group_at(const seeker *s, const node *result, const char *name)
{
    for (int i = s->groups->head[result->id]; i; i = s->groups->next[i - 1])
        if (!strcmp(s->g->group[i - 1].op->name, name))
            return &s->g->group[i - 1];
    return NULL;
}

/* ---- looking up ---- */
static bool is_thin(const node *n) /* no fold, nothing that walks or stores by itself */
{
    if (n->leaf || (!n->op->text && !n->op->body))
        return false;
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    return g_defn(n, &mem, &d, NULL) && !x_alone(d.value) && !x_count(d.value, X_FOLD);
}

enum { MAX_LOOK = 24 };
typedef struct look {
    const seeker *s;
    bool (*is)(const seeker *s, const node *n);
    int64_t count;
    int n;
    const node *seen[MAX_LOOK];
} look;

static const node *look_up(look *l, const node *n)
{
    const node *found = NULL;
    for (int i = 0; i < l->n; i++)
        if (l->seen[i] == n)
            return NULL;
    if (type_count(&n->type) != l->count || l->n == MAX_LOOK)
        return NULL;
    l->seen[l->n++] = n;
    if (l->is(l->s, n))
        return n;
    for (int i = 0; !found && i < n->n_in && (i || is_thin(n)); i++)
        found = look_up(l, n->in[i]);
    return found;
}

const node *seen_through(const seeker *s, const node *n, bool (*is)(const seeker *s, const node *n))
{
    look l = {.s = s, .is = is, .count = type_count(&n->type)};
    return look_up(&l, n);
}

bool node_is_known(const node *n)
{
    while (n->n_in == 1)
        n = n->in[0];
    return n->leaf && n->leaf->kind != LEAF_INPUT;
}

/* ---- all of them ---- */
void g_recognise(graph *g)
{
    groups all = {.head = heap_array((size_t)g->n + 1, sizeof *all.head)};
    seeker s = {g, &all};
    for (int i = 0; i < g->n_group; i++)
        list(&s, i);
    for (int i = 0; i < g->n; i++) /* operands first: one group may be part of another */
        for (const recogniser *const *r = recognisers; *r; r++) {
            const int n = g->n_group;
            group q = {.op = op_find((*r)->op), .result = g->node[i], .first = i, .last = i};
            if (!q.op || g->node[i]->leaf || group_at(&s, q.result, (*r)->op) || !(*r)->find(&s, q.result, &q))
                continue;
            g_group(g, &q);
            if (g->n_group > n)
                list(&s, n);
        }
    free(all.head), free(all.next);
}
