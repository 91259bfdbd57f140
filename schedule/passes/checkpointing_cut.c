/* checkpointing_cut.c - what stays although a rule would give it up.
 *
 * Were a whole network computed again in one piece, all of it would be there at once after all. Copies are therefore
 * cut into stretches, each computed when the backward pass gets there from what the stretch before handed on, which is
 * kept. Where to cut: bytes kept at the cuts plus the bytes of the largest stretch are to be least. For every bound on
 * a stretch the cheapest cuts follow by going through the places once; bounds are tried in steps. */
#include "schedule/passes/checkpointing.h"

bool retake_forgoes(const retake *r, const node *n)
{
    return r->kept[n->id] && r->rule[n->id] >= 0 && !r->stays[n->id];
}

typedef struct line { /* copies in the order of the graph; a cut is behind one of them */
    int n;
    const node **node;
    int *end;      /* the last copy that reads it, or reads what is put into its readers of it */
    int64_t *sum;  /* bytes given up by the copies 0..i - 1 */
    int64_t *cost; /* of a cut before copy i: bytes that pass it, and would be kept */
    /* The cheapest way to a cut before copy i, by stretches within a bound, and the cut before */
    int64_t *best;
    int *before, *queue;
} line;

/* A value that is inlined is never stored: its operands live until its readers in its stead. */
static void find_ends(const retake *r, line *l, const int *place)
{
    for (int i = l->n; i-- > 0;) {
        const int until = !r->solid[l->node[i]->id] && l->end[i] > i ? l->end[i] : i;
        for (int k = 0; k < l->node[i]->n_in; k++) {
            const node *x = l->node[i]->in[k];
            if (r->copy[x->id] >= 0 && l->end[place[x->id]] < until)
                l->end[place[x->id]] = until;
        }
    }
}

static bool passes(const retake *r, const line *l, int i, int cut)
{
    return i < cut && l->end[i] >= cut && r->solid[l->node[i]->id];
}

static void measure(const retake *r, line *l)
{
    int64_t *change = arena_array(&r->p->mem, (size_t)l->n + 2, sizeof *change), all = 0;
    for (int i = 0; i < l->n; i++) {
        const node *n = l->node[i];
        const int64_t bytes = type_bytes(&n->type);
        l->sum[i + 1] = l->sum[i] + (retake_forgoes(r, n) ? bytes : 0);
        if (r->solid[n->id] && l->end[i] > i)
            change[i + 1] += bytes, change[l->end[i] + 1] -= bytes;
    }
    for (int i = 0; i <= l->n; i++)
        l->cost[i] = all += change[i];
}

/* Cuts that leave no stretch above the bound: bytes kept at least, plus the largest stretch; INT64_MAX: impossible. */
static int64_t cut_within(line *l, int64_t bound)
{
    int first = 0, last = 0;
    int64_t most = 0;
    l->best[0] = 0, l->queue[last++] = 0; /* the queue: cuts that may come before, the cheapest first */
    for (int i = 1; i <= l->n; i++) {
        while (first < last && l->sum[i] - l->sum[l->queue[first]] > bound)
            first++;
        l->best[i] = INT64_MAX;
        if (first == last)
            continue;
        l->before[i] = l->queue[first], l->best[i] = l->best[l->queue[first]] + l->cost[i];
        while (first < last && l->best[l->queue[last - 1]] >= l->best[i])
            last--;
        l->queue[last++] = i;
    }
    if (l->best[l->n] == INT64_MAX)
        return INT64_MAX;
    for (int i = l->n; i > 0; i = l->before[i]) {
        const int64_t stretch = l->sum[i] - l->sum[l->before[i]];
        most = stretch > most ? stretch : most;
    }
    return l->best[l->n] + most;
}

void retake_cut(retake *r)
{
    arena *mem = &r->p->mem;
    line l = {.node = arena_array(mem, (size_t)r->n_need + 1, sizeof *l.node)};
    int *place = arena_array(mem, (size_t)r->p->g->n + 1, sizeof *place);
    for (int k = 0; k < r->n_need; k++)
        if (r->copy[r->need[k]->id] >= 0)
            place[r->need[k]->id] = l.n, l.node[l.n++] = r->need[k];
    const size_t n = (size_t)l.n + 2;
    l.sum = arena_array(mem, n, sizeof *l.sum), l.cost = arena_array(mem, n, sizeof *l.cost);
    l.best = arena_array(mem, n, sizeof *l.best), l.before = arena_array(mem, n, sizeof *l.before);
    l.queue = arena_array(mem, n, sizeof *l.queue), l.end = arena_array(mem, n, sizeof *l.end);
    find_ends(r, &l, place);
    measure(r, &l);
    int64_t least = l.sum[l.n], bound = least;
    for (int64_t b = least; b > 0; b -= b / 8 + 1) {
        const int64_t took = cut_within(&l, b);
        if (took == INT64_MAX)
            break;
        if (took < least)
            least = took, bound = b;
    }
    if (l.n && least < l.sum[l.n] && cut_within(&l, bound) < INT64_MAX)
        for (int cut = l.before[l.n]; cut > 0; cut = l.before[cut])
            for (int i = 0; i < cut; i++)
                r->stays[l.node[i]->id] = r->stays[l.node[i]->id] || passes(r, &l, i, cut);
}
