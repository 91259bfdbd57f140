/* guess.c - where kernels go that nobody placed, in a plan over several devices: what none of them can hold is cut into
 * spans of the order, for batches that go through them as a pipeline; else by the time that the whole takes
 * if each kernel and each transfer takes what the targets' costs say. A device apart from others works while these do;
 * those that share the processor take turns. Searched from each device alone, by cuts of the order in two, then kernel
 * by kernel. */
#include "schedule/place/place.h"

#include <math.h>
#include <string.h>

typedef struct reading {
    int from; /* the kernel that makes it */
    double bytes;
} reading;

typedef struct guess {
    plan *p;
    int n;
    int *at; /* by kernel: its site */
    bool *fixed;
    double *seconds;  /* by kernel and site; infinite where it cannot be */
    double *weights;  /* by kernel: bytes that it reads of weights and constants */
    double *alive;    /* by kernel: bytes of values that are made by then and still read */
    reading *reading; /* of kernel k: first[k]..first[k + 1] */
    int *first;
    double *end; /* of the one that is tried */
    int *was;    /* before it */
} guess;

/* ---- costs ---- */
static double link_seconds(const costs *c, double bytes)
{
    return c->link_seconds + (c->link_bytes_per_second > 0 ? bytes / c->link_bytes_per_second : 0);
}

static double place_transfer_seconds(const plan *p, const transfer *t) /* by way of the host */
{
    const costs *from = &p->site[t->from].on->cost, *to = &p->site[t->to].on->cost;
    return link_seconds(from, (double)t->bytes) + link_seconds(to, (double)t->bytes);
}

double place_kernel_seconds(const plan *p, const kernel *k, int to)
{
    const target *t = p->site[to].on;
    if (k->moves)
        return place_transfer_seconds(p, k->moves);
    return t->cost.start_seconds + kernel_seconds(k, t);
}

static double crossing_seconds(const guess *g, int from, int to, double bytes)
{
    return from == to ? 0
                      : link_seconds(&g->p->site[from].on->cost, bytes) + link_seconds(&g->p->site[to].on->cost, bytes);
}

/* ---- the time of all ---- */
static double room_on(const site *s) /* bytes that it may take; of its memory, less what else needs some */
{
    const target *t = s->on;
    if (s->most)
        return (double)s->most;
    const double all = (double)t->level[t->n_level - 1].bytes;
    return all > 0 ? 0.9 * all : INFINITY;
}

static bool fits(const guess *g) /* weights, and values of a time, into the memories of the devices */
{
    double need[MAX_SITE] = {0}, values[MAX_SITE] = {0};
    bool all = true;
    for (int k = 0; k < g->n; k++)
        need[g->at[k]] += g->weights[k], values[g->at[k]] = fmax(values[g->at[k]], g->alive[k]);
    for (int i = 0; i < g->p->n_site && all; i++)
        all = need[i] + values[i] <= room_on(&g->p->site[i]);
    return all;
}

static double time_of(const guess *g) /* infinite where something cannot be */
{
    double clock[MAX_SITE + 1] = {0}, last = 0; /* those that are not apart share the last one */
    if (!fits(g))
        return INFINITY;
    for (int k = 0; k < g->n; k++) {
        const int to = g->at[k];
        double *own = &clock[g->p->site[to].apart ? to : MAX_SITE], start = *own;
        for (int r = g->first[k]; r < g->first[k + 1]; r++) {
            const int from = g->reading[r].from;
            start = fmax(start, g->end[from] + crossing_seconds(g, g->at[from], to, g->reading[r].bytes));
        }
        g->end[k] = *own = start + g->seconds[k * MAX_SITE + to];
        last = fmax(last, g->end[k]);
    }
    return last;
}

/* ---- the search ---- */
static double try_all(guess *g, int first, int end, int to, double best) /* kernels first..end-1 there, if it pays */
{
    memcpy(g->was, g->at + first, (size_t)(end - first) * sizeof *g->was);
    for (int k = first; k < end; k++)
        if (!g->fixed[k] && isfinite(g->seconds[k * MAX_SITE + to]))
            g->at[k] = to;
    const double t = time_of(g);
    if (t < best * (1 - 1e-6))
        return t;
    memcpy(g->at + first, g->was, (size_t)(end - first) * sizeof *g->was);
    return best;
}

static double search(guess *g)
{
    enum { CUTS = 64 };
    double best = time_of(g);
    for (int s = 0; s < g->p->n_site; s++)
        best = try_all(g, 0, g->n, s, best);
    for (int i = 1; i < CUTS; i++)
        for (int s = 0; s < g->p->n_site; s++) {
            const int cut = (int)((int64_t)g->n * i / CUTS);
            best = try_all(g, 0, cut, s, best);
            best = try_all(g, cut, g->n, s, best);
        }
    for (double before = INFINITY; best < before * 0.999;) {
        before = best;
        for (int k = 0; k < g->n; k++)
            for (int s = 0; s < g->p->n_site; s++)
                if (!g->fixed[k] && g->at[k] != s)
                    best = try_all(g, k, k + 1, s, best);
    }
    return best;
}

/* ---- what no device can hold alone ---- */
static void find_alive(guess *g)
{
    for (int k = 0; k < g->n; k++) {
        for (int i = 0; i < g->p->kernel[k].n_stage; i++)
            g->alive[k] += g->p->kernel[k].stage[i].scratch ? 0
                                                            : (double)type_bytes(&g->p->kernel[k].stage[i].node->type);
        for (int r = g->first[k]; r < g->first[k + 1]; r++)
            for (int i = g->reading[r].from + 1; i <= k; i++)
                g->alive[i] += g->reading[r].bytes; /* of several readers several times: no less than there is */
    }
}

typedef struct ladder { /* by how many devices and kernels: the slowest device's time; where its last span begins */
    double *slowest;
    int *begin;
} ladder;

/* Spans of the s-th device that end before kernel `end`, from the shortest on, as long as it holds them. */
static void put_last(const guess *g, const ladder *l, int s, int end)
{
    const double room = room_on(&g->p->site[s]);
    double seconds = 0, weights = 0, values = 0;
    const int row = (s + 1) * (g->n + 1), before = s * (g->n + 1);
    for (int k = end; k >= 0; k--) {
        const double all = fmax(l->slowest[before + k], seconds);
        if (all < l->slowest[row + end])
            l->slowest[row + end] = all, l->begin[row + end] = k;
        if (!k || (g->fixed[k - 1] && g->at[k - 1] != s))
            return;
        seconds += g->seconds[(k - 1) * MAX_SITE + s], weights += g->weights[k - 1];
        values = fmax(values, g->alive[k - 1]);
        if (isinf(seconds) || weights + values > room)
            return;
    }
}

/* The slowest device's time: who goes through them as a pipeline waits for that one. Infinite where it cannot be. */
static double cut_spans(guess *g)
{
    const int n_site = g->p->n_site, wide = g->n + 1;
    const size_t cells = (size_t)(n_site + 1) * (size_t)wide;
    ladder l = {arena_array(&g->p->mem, cells, sizeof *l.slowest), arena_array(&g->p->mem, cells, sizeof *l.begin)};
    for (size_t i = 1; i < cells; i++)
        l.slowest[i] = INFINITY;
    for (int s = 0; s < n_site; s++)
        for (int end = 0; end <= g->n; end++)
            put_last(g, &l, s, end);
    const double slowest = l.slowest[n_site * wide + g->n];
    for (int s = n_site, end = g->n; s-- > 0 && isfinite(slowest);)
        for (const int begin = l.begin[(s + 1) * wide + end]; end > begin;)
            g->at[--end] = s;
    return slowest;
}

static bool one_holds_all(guess *g)
{
    bool one = false;
    memcpy(g->was, g->at, (size_t)g->n * sizeof *g->was);
    for (int s = 0; s < g->p->n_site && !one; s++) {
        for (int k = 0; k < g->n; k++)
            g->at[k] = s;
        one = fits(g);
    }
    memcpy(g->at, g->was, (size_t)g->n * sizeof *g->was);
    return one;
}

static void tell_spans(const guess *g, double slowest)
{
    plan *p = g->p;
    ENDED_BY(text_free) text t = {0};
    text_add(&t,
             "no device holds it all: the guess cuts it into spans by time, the slowest of %.3g ms:", 1e3 * slowest);
    for (int s = 0, k = 0; s < p->n_site; s++) {
        double weights = 0;
        const int begin = k;
        for (; k < g->n && g->at[k] == s; k++)
            weights += g->weights[k];
        text_add(&t, "%s %s %d of %d kernels, weights ", s ? "," : "", p->site[s].name, k - begin, g->n);
        text_size(&t, weights);
    }
    p->spread = arena_string(&p->mem, text_str(&t));
}

/* ---- the problem ---- */
static void read_kernel(guess *g, int k, const int *made)
{
    const kernel *own = &g->p->kernel[k];
    int n = g->first[k];
    for (int i = 0; i < own->n_stage; i++)
        for (int j = 0; j < own->stage[i].n_load; j++) {
            const node *x = own->stage[i].load[j]->from;
            if (x->leaf && x->leaf->kind != LEAF_INPUT)
                g->weights[k] += (double)type_bytes(&x->type);
            if (made[x->id] >= 0 && made[x->id] != k)
                g->reading[n++] = (reading){made[x->id], (double)type_bytes(&x->type)};
        }
    g->first[k + 1] = n;
}

static void describe(guess *g)
{
    plan *p = g->p;
    int loads = 0;
    int *made = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *made);
    for (int i = 0; i < p->g->n; i++)
        made[i] = -1;
    for (int k = 0; k < g->n; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            made[p->kernel[k].stage[i].node->id] = k, loads += p->kernel[k].stage[i].n_load;
    g->reading = arena_array(&p->mem, (size_t)loads + 1, sizeof *g->reading);
    for (int k = 0; k < g->n; k++) {
        const kernel *own = &p->kernel[k];
        g->at[k] = own->site, g->fixed[k] = own->whole && p->placed[own->whole->id];
        for (int s = 0; s < p->n_site; s++) {
            err why = {0};
            const bool can = p->finder->takes(p->finder->user, &p->site[s], own, &why);
            g->seconds[k * MAX_SITE + s] = can ? place_kernel_seconds(p, own, s) : INFINITY;
        }
        read_kernel(g, k, made);
    }
    find_alive(g);
}

static void tell(guess *g, double best)
{
    plan *p = g->p;
    ENDED_BY(text_free) text t = {0};
    text_add(&t, "the guess spreads kernels over devices by their costs: %.3g ms; on one alone:", 1e3 * best);
    for (int s = 0; s < p->n_site; s++) {
        for (int k = 0; k < g->n; k++)
            g->at[k] = s;
        const double alone = time_of(g);
        text_add(&t, "%s %s ", s ? "," : "", p->site[s].name);
        if (isfinite(alone))
            text_add(&t, "%.3g ms", 1e3 * alone);
        else
            text_add(&t, "cannot hold it all");
    }
    p->spread = arena_string(&p->mem, text_str(&t));
}

static void mark(plan *p, const node *n, const bool *kept, int to)
{
    if (node_is_leaf(n) || p->placed[n->id])
        return;
    p->placed[n->id] = to + 1;
    for (int i = 0; i < n->n_in; i++)
        if (!kept[n->in[i]->id])
            mark(p, n->in[i], kept, to);
}

bool place_guess(plan *p)
{
    const size_t n = (size_t)p->n_kernel + 1;
    guess g = {.p = p, .n = p->n_kernel};
    bool *kept = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *kept);
    g.at = arena_array(&p->mem, n, sizeof *g.at), g.was = arena_array(&p->mem, n, sizeof *g.was),
    g.fixed = arena_array(&p->mem, n, sizeof *g.fixed);
    g.seconds = arena_array(&p->mem, n * MAX_SITE, sizeof *g.seconds);
    g.weights = arena_array(&p->mem, n, sizeof *g.weights), g.alive = arena_array(&p->mem, n, sizeof *g.alive);
    g.end = arena_array(&p->mem, n, sizeof *g.end);
    g.first = arena_array(&p->mem, n + 1, sizeof *g.first);
    describe(&g);
    const double slowest = one_holds_all(&g) ? INFINITY : cut_spans(&g), best = isfinite(slowest) ? 0 : search(&g);
    for (int k = 0; k < g.n; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            kept[p->kernel[k].stage[i].node->id] = true;
    for (int k = 0; k < g.n; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            mark(p, p->kernel[k].stage[i].node, kept, g.at[k]);
    if (isfinite(slowest))
        tell_spans(&g, slowest);
    else
        tell(&g, best);
    return true;
}
