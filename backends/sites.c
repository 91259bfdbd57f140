/* sites.c - a plan over several devices as one program: the parts' programs, and the transfers between them. A value
 * goes straight where one of both memories is this process's, else by way of it.
 *
 * A run has a thread for each device, which goes through its kernels, and transfers to it, in the plan's order. Before
 * each it waits for what others have to do first: the hazards of the plan. All are of earlier kernels, so that the
 * first one of those that are left can always go on. */
#include "backends/sites.h"
#include "schedule/plan/hazard.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct hand { /* one device's */
    const backend *by;
    const plan *part;
    program *program;
    int *input_at; /* of the part's inputs: their numbers in the whole plan */
    void **input;
    void *staging;        /* for values that come here from another memory, neither being the host's */
    pthread_mutex_t lock; /* of a program that is not in the host's memory: others fetch from it */
} hand;

struct program {
    const plan *p;
    hand hand[MAX_SITE];
    hazards hazards;
    bool *begins, *ends; /* by kernel: it waits for another device's; another one waits for it */
};

const backend *sites_backend(const site *s)
{
    return s->own;
}

/* ---- making ---- */
static void drop(program *g)
{
    for (int i = 0; g && i < g->p->n_site; i++) {
        hand *h = &g->hand[i];
        if (h->program)
            h->by->drop(h->program);
        free(h->input_at), free(h->input), free(h->staging);
        pthread_mutex_destroy(&h->lock);
    }
    if (g)
        hazards_free(&g->hazards), free(g->begins), free(g->ends);
    free(g);
}

/* That it is here, and that it can do part of a plan, before anything is compiled for another one. */
static bool check_site(const site *s, err *e)
{
    const backend *by = sites_backend(s);
    text why = {0};
    if (!by->build || !by->spans)
        return err_set(e, TS_UNSUPPORTED, "target %s cannot be one of several in a plan", by->name);
    const bool ok = backend_usable(by, &why);
    if (!ok)
        err_set(e, TS_DEVICE, "device %s cannot be used here: %.*s", s->name, (int)strcspn(text_str(&why), "\n"),
                text_str(&why));
    text_free(&why);
    return ok && (backend_runs(by, s->on, e) || err_in(e, "device %s", s->name));
}

static bool usable(const site *s, err *e)
{
    if (check_site(s, e))
        return true;
    if (!s->asked_at || !e)
        return false;
    err_in(e, "%s", s->asked_at);
    return strstr(e->text, "\n  hint: ") ? false : err_hint(e, "name another place there, or leave it out");
}

/* A part's inputs are some of the whole plan's: input_at says which. */
static bool build_one(program *g, int which, const build_options *w, text *facts, err *e)
{
    const site *s = &g->p->site[which];
    hand *h = &g->hand[which];
    text own = {0};
    h->by = sites_backend(s), h->part = s->part;
    if (!usable(s, e))
        return false;
    h->input_at = heap_array((size_t)h->part->n_input + 1, sizeof *h->input_at);
    h->input = heap_array((size_t)h->part->n_input + 1, sizeof *h->input);
    for (int i = 0; i < h->part->n_input; i++)
        for (int k = 0; k < g->p->n_input; k++)
            if (h->part->input[i] == g->p->input[k])
                h->input_at[i] = k;
    h->program = h->by->build(h->part, w, &own, e);
    json_add(facts, "%s:{", s->name), text_add(facts, "%s}", text_str(&own));
    text_free(&own);
    return h->program || err_in(e, "device %s", s->name);
}

static void find_waits(program *g)
{
    const plan *p = g->p;
    const size_t n = (size_t)p->n_kernel + 1;
    g->begins = heap_array(n, sizeof *g->begins), g->ends = heap_array(n, sizeof *g->ends);
    for (int k = 0; k < p->n_kernel; k++) {
        hazards_add_kernel(&g->hazards, p, &p->kernel[k]);
        for (int i = g->hazards.first[k]; i < g->hazards.first[k + 1]; i++)
            if (p->kernel[g->hazards.wait[i]].site != p->kernel[k].site)
                g->begins[k] = g->ends[g->hazards.wait[i]] = true;
    }
}

static void find_staging(program *g)
{
    size_t most[MAX_SITE] = {0};
    for (int k = 0; k < g->p->n_kernel; k++) {
        const transfer *t = g->p->kernel[k].moves;
        if (t && !g->hand[t->from].by->in_host && !g->hand[t->to].by->in_host && (size_t)t->bytes > most[t->to])
            most[t->to] = (size_t)t->bytes;
    }
    for (int i = 0; i < g->p->n_site; i++)
        g->hand[i].staging = most[i] ? heap_array(most[i], 1) : NULL;
}

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = heap_array(1, sizeof *g);
    bool ok = true;
    g->p = p;
    for (int i = 0; i < p->n_site; i++)
        MUST(!pthread_mutex_init(&g->hand[i].lock, NULL));
    json_add(facts, "places:{");
    for (int i = 0; i < p->n_site && ok; i++)
        ok = !p->site[i].part || build_one(g, i, w, facts, e);
    text_add(facts, "}");
    if (ok)
        find_waits(g), find_staging(g);
    if (ok)
        return g;
    drop(g);
    return NULL;
}

/* Each part by its own back end's assembler; the facts are of the first one. */
static bool assemble(plan *p, const build_options *w, text *facts, err *e)
{
    text others = {0};
    bool ok = true;
    for (int i = 0; i < p->n_site && ok; i++) {
        const backend *by = sites_backend(&p->site[i]);
        ok = !p->site[i].part || !by->assemble || by->assemble(p->site[i].part, w, facts->length ? &others : facts, e);
    }
    for (int k = 0; k < p->n_kernel && ok; k++)
        if (!p->kernel[k].moves)
            p->kernel[k].made = p->site[p->kernel[k].site].part->kernel[p->kernel[k].within].made;
    text_free(&others);
    return ok;
}

/* ---- running ---- */
static void *address_of(const hand *h, const node *n)
{
    dtype stored;
    return (void *)(uintptr_t)h->by->at(h->program, n, &stored);
}

static bool fetch(hand *h, const node *n, void *to, err *e)
{
    pthread_mutex_lock(&h->lock);
    const bool ok = h->by->spans->fetch(h->program, n, to, e);
    pthread_mutex_unlock(&h->lock);
    return ok;
}

static bool put(hand *h, const node *n, const void *from, err *e)
{
    pthread_mutex_lock(&h->lock);
    const bool ok = h->by->spans->put(h->program, n, from, e);
    pthread_mutex_unlock(&h->lock);
    return ok;
}

/* From the host and to it nothing lies in between; two devices go by way of staging. */
static bool move(program *g, const transfer *t, err *e)
{
    hand *from = &g->hand[t->from], *to = &g->hand[t->to];
    void *here = from->by->in_host ? address_of(from, t->node) : NULL, *there = to->by->in_host
                                                                                    ? address_of(to, t->node)
                                                                                : here ? here
                                                                                       : to->staging;
    if (!there || (from->by->in_host && !here))
        return err_set(e, TS_MEMORY, "out of memory for a value of %lld bytes", (long long)t->bytes);
    if (!here && !fetch(from, t->node, there, e))
        return false;
    if (!to->by->in_host)
        return put(to, t->node, there, e);
    if (here)
        memcpy(there, here, (size_t)t->bytes);
    return true;
}

static bool wait_for(hand *h, err *e)
{
    return !h->program || !h->by->spans->wait || h->by->spans->wait(h->program, e);
}

static bool span_of(program *g, int first, int n, err *e) /* n kernels of the site of the first one, no transfers */
{
    const kernel *k = &g->p->kernel[first];
    hand *h = &g->hand[k->site];
    pthread_mutex_lock(&h->lock);
    const bool ok = h->by->spans->span(h->program, h->input, k->within, k->within + n, e);
    pthread_mutex_unlock(&h->lock);
    return ok;
}

static void give_inputs(program *g, void *const *input)
{
    for (int s = 0; s < g->p->n_site; s++)
        for (int i = 0; g->hand[s].program && i < g->hand[s].part->n_input; i++)
            g->hand[s].input[i] = input[g->hand[s].input_at[i]];
}

/* The first failure is told; later ones follow from it. */
static bool wait_all(program *g, err *e)
{
    bool ok = true;
    for (int i = 0; i < g->p->n_site; i++) /* all of them, whatever went wrong */
        ok = wait_for(&g->hand[i], ok ? e : NULL) && ok;
    return ok;
}

typedef struct meeting { /* of a run's threads */
    program *g;
    pthread_mutex_t lock;
    pthread_cond_t more;
    int at[MAX_SITE]; /* by device: all of its kernels before this one are done */
    int until;        /* kernels from here on are begun no more */
    err e;            /* of that one, the first in order that failed, as if all took turns */
} meeting;
typedef struct worker {
    meeting *run;
    int site;
} worker;

static int next_of(const plan *p, int of, int k) /* kernels of device `of` from k on: the first */
{
    while (k < p->n_kernel && p->kernel[k].site != of)
        k++;
    return k;
}

static bool may_begin(const meeting *m, int k, bool *waits)
{
    const hazards *h = &m->g->hazards;
    *waits = false;
    for (int i = h->first[k]; i < h->first[k + 1]; i++)
        *waits = *waits || m->at[m->g->p->kernel[h->wait[i]].site] <= h->wait[i];
    return k < m->until;
}

static bool begin(meeting *m, int k)
{
    bool waits;
    pthread_mutex_lock(&m->lock);
    while (may_begin(m, k, &waits) && waits)
        pthread_cond_wait(&m->more, &m->lock);
    const bool may = k < m->until;
    pthread_mutex_unlock(&m->lock);
    return may;
}

static void tell(meeting *m, int of, int at, bool ok, const err *e) /* not ok: kernel `at` failed */
{
    pthread_mutex_lock(&m->lock);
    m->at[of] = at;
    if (!ok && at < m->until)
        m->until = at, m->e = *e;
    pthread_cond_broadcast(&m->more);
    pthread_mutex_unlock(&m->lock);
}

/* How many kernels of k's device, from k on, are told it at once; next: the one behind these */
static int row_from(const program *g, int k, int *next)
{
    const plan *p = g->p;
    int n = 1, last = k;
    *next = next_of(p, p->kernel[k].site, k + 1);
    while (!p->kernel[k].moves && *next < p->n_kernel && !p->kernel[*next].moves && !g->ends[last] && !g->begins[*next])
        n++, last = *next, *next = next_of(p, p->kernel[k].site, last + 1);
    return n;
}

static void *go(void *of)
{
    const worker *w = of;
    program *g = w->run->g;
    bool ok = true;
    for (int k = next_of(g->p, w->site, 0), next; ok && k < g->p->n_kernel && begin(w->run, k); k = next) {
        const transfer *t = g->p->kernel[k].moves;
        const int n = row_from(g, k, &next);
        err e = {0};
        ok = t ? move(g, t, &e) : span_of(g, k, n, &e);
        tell(w->run, w->site, ok ? next : k, ok, &e);
    }
    return NULL;
}

/* The first device's is the caller's thread. */
static bool run_threads(meeting *m)
{
    const plan *p = m->g->p;
    worker w[MAX_SITE];
    pthread_t thread[MAX_SITE];
    int n = 0;
    for (int i = 0; i < p->n_site; i++)
        if (p->site[i].part)
            w[n++] = (worker){m, i};
    int made = 1;
    while (made < n && !pthread_create(&thread[made], NULL, go, &w[made]))
        made++;
    if (made < n) {
        err e = {0};
        err_set(&e, TS_MEMORY, "no thread more for device %s of the plan", p->site[w[made].site].name);
        tell(m, w[made].site, 0, false, &e);
    }
    go(&w[0]);
    for (int i = 1; i < made; i++)
        pthread_join(thread[i], NULL);
    return m->until == p->n_kernel;
}

static bool run(program *g, void *const *input, err *e)
{
    meeting m = {.g = g, .until = g->p->n_kernel};
    give_inputs(g, input);
    MUST(!pthread_mutex_init(&m.lock, NULL) && !pthread_cond_init(&m.more, NULL));
    const bool ok = run_threads(&m);
    pthread_mutex_destroy(&m.lock), pthread_cond_destroy(&m.more);
    if (!ok)
        err_set(e, m.e.code, "%s", m.e.text);
    return wait_all(g, ok ? e : NULL) && ok;
}

/* Waits after every kernel: nothing overlaps, so that times are of one thing each. */
static bool each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    const plan *p = g->p;
    bool ok = true;
    give_inputs(g, input);
    for (int k = 0; k < p->n_kernel && ok; k++) {
        const kernel *own = &p->kernel[k];
        ok = (own->moves ? move(g, own->moves, e) : span_of(g, k, 1, e)) && wait_for(&g->hand[own->site], e);
        if (ok)
            after(user, k);
    }
    return wait_all(g, ok ? e : NULL) && ok;
}

/* ---- values ---- */
static hand *maker(const program *g, const node *n, int *root) /* root: which of its part's it is; or -1 */
{
    for (int i = 0; i < g->p->n_site; i++) {
        const plan *q = g->hand[i].part;
        for (*root = q ? q->n_root - 1 : -1; *root >= 0; --*root)
            if (q->root[*root] == n)
                return (hand *)(uintptr_t)&g->hand[i];
    }
    for (int k = 0; k < g->p->n_kernel; k++)
        for (int s = 0; s < g->p->kernel[k].n_stage; s++)
            if (!g->p->kernel[k].moves && g->p->kernel[k].stage[s].node == n)
                return (hand *)(uintptr_t)&g->hand[g->p->kernel[k].site];
    return NULL;
}

static const void *at(const program *g, const node *n, dtype *stored)
{
    int root;
    const hand *h = maker(g, n, &root);
    return h && h->by->at ? h->by->at(h->program, n, stored) : NULL;
}

static bool get(program *g, int root, ts_array *out, err *e)
{
    const node *n = g->p->root[root];
    int own;
    if (n->leaf)
        return leaf_read(n, out->data, 0, type_count(&n->type)), true;
    const hand *h = maker(g, n, &own);
    MUST(h && own >= 0);
    return h->by->get(h->program, own, out, e);
}

static const by_kernel kernels = {.each = each};

const backend several = {.name = "several",
                         .build = build,
                         .assemble = assemble,
                         .run = run,
                         .kernels = &kernels,
                         .at = at,
                         .get = get,
                         .drop = drop};
