/* sites.c - a plan over several devices as one program: the parts' programs, and the transfers between them. A value
 * goes straight where one of both memories is this process's, or their driver copies between both, else by way of it.
 *
 * A run has a thread for each device, which goes through its kernels, and transfers to it, in the plan's order. Before
 * each it waits for what others have to do first: the hazards of the plan. All are of earlier kernels, so that the
 * first one of those that are left can always go on. Several runs are a pipeline: a device that is done with one goes
 * on with the next, and what waits for what is the same of two runs in order. Each device has the values of one. */
#include "backends/sites.h"
#include "graph/eval/eval.h"
#include "graph/base/clock.h"
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
    ts_array *own; /* values of inputs that lie where kernels cannot read them */
    void *staging; /* of the largest value that came here from another memory, neither being the host's */
    size_t staged;
    pthread_mutex_t lock; /* of a program that is not in the host's memory: others fetch from it */
} hand;

struct program {
    const plan *p;
    hand hand[MAX_SITE];
    hazards hazards;     /* of two runs in order: any run waits for the one before it as the second does */
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
        for (int k = 0; h->own && k < h->part->n_input; k++)
            ts_array_free(&h->own[k]);
        free(h->input_at), free(h->input), free(h->own), free(h->staging);
        pthread_mutex_destroy(&h->lock);
    }
    if (g)
        hazards_free(&g->hazards), free(g->begins), free(g->ends);
    free(g);
}

/* That it is here, and can be part of a plan, before anything is compiled for another one. */
static bool check_site(const site *s, err *e)
{
    const backend *by = sites_backend(s);
    ENDED_BY(text_free) text why = {0};
    if (!by->build || !by->spans)
        return err_set(e, TS_UNSUPPORTED, "target %s cannot be one of several in a plan", by->name);
    const bool ok = backend_usable(by, &why);
    if (!ok)
        err_set(e, TS_DEVICE, "device %s cannot be used here: %.*s", s->name, (int)strcspn(text_str(&why), "\n"),
                text_str(&why));
    return ok;
}

static bool usable(const site *s, err *e)
{
    if (check_site(s, e))
        return true;
    if (!s->asked_at || !e)
        return false;
    err_in(e, "%s", s->asked_at);
    return err_hinted(e) ? false : err_hint(e, "name another place there, or leave it out");
}

/* A part's inputs are some of the whole plan's: input_at says which. */
static bool build_one(program *g, int which, const build_options *w, text *facts, err *e)
{
    const site *s = &g->p->site[which];
    hand *h = &g->hand[which];
    ENDED_BY(text_free) text own = {0};
    h->by = sites_backend(s), h->part = s->part;
    if (!usable(s, e))
        return false;
    h->input_at = heap_array((size_t)h->part->n_input + 1, sizeof *h->input_at);
    h->input = heap_array((size_t)h->part->n_input + 1, sizeof *h->input);
    h->own = heap_array((size_t)h->part->n_input + 1, sizeof *h->own);
    for (int i = 0; i < h->part->n_input; i++)
        for (int k = 0; k < g->p->n_input; k++)
            if (h->part->input[i] == g->p->input[k])
                h->input_at[i] = k;
    h->program = h->by->build(h->part, w, &own, e);
    json_add(facts, "%s:{", s->name), text_add(facts, "%s}", text_str(&own));
    return h->program || err_in(e, "device %s", s->name);
}

static void find_waits(program *g)
{
    const plan *p = g->p;
    const size_t n = (size_t)p->n_kernel + 1;
    g->begins = heap_array(n, sizeof *g->begins), g->ends = heap_array(n, sizeof *g->ends);
    for (int row = 0; row < 2 * p->n_kernel; row++) {
        const int k = row % p->n_kernel;
        hazards_add_kernel(&g->hazards, p, &p->kernel[k]);
        for (int i = g->hazards.first[row]; i < g->hazards.first[row + 1]; i++) {
            const int before = g->hazards.wait[i] % p->n_kernel;
            if (p->kernel[before].site != p->kernel[k].site)
                g->begins[k] = g->ends[before] = true;
        }
    }
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
        find_waits(g);
    if (ok)
        return g;
    drop(g);
    return NULL;
}

/* Each part by its own back end's assembler; the facts are of the first one. */
static bool assemble(plan *p, const build_options *w, text *facts, err *e)
{
    ENDED_BY(text_free) text others = {0};
    bool ok = true;
    for (int i = 0; i < p->n_site && ok; i++) {
        const backend *by = sites_backend(&p->site[i]);
        ok = !p->site[i].part || !by->texts || !by->texts->assemble ||
             by->texts->assemble(p->site[i].part, w, facts->length ? &others : facts, e);
    }
    for (int k = 0; k < p->n_kernel && ok; k++)
        if (!p->kernel[k].moves)
            p->kernel[k].made = p->site[p->kernel[k].site].part->kernel[p->kernel[k].within].made;
    return ok;
}

/* ---- values ---- */
static int root_of(const plan *part, const node *n) /* -1: it is none */
{
    int i = part ? part->n_root - 1 : -1;
    while (i >= 0 && part->root[i] != n)
        i--;
    return i;
}

static hand *maker(const program *g, const node *n)
{
    for (int i = 0; i < g->p->n_site; i++)
        if (root_of(g->hand[i].part, n) >= 0)
            return (hand *)(uintptr_t)&g->hand[i];
    for (int k = 0; k < g->p->n_kernel; k++)
        for (int s = 0; s < g->p->kernel[k].n_stage; s++)
            if (!g->p->kernel[k].moves && g->p->kernel[k].stage[s].node == n)
                return (hand *)(uintptr_t)&g->hand[g->p->kernel[k].site];
    return NULL;
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

static bool carry(hand *to, hand *from, const node *n, bool *direct, err *e)
{
    hand *first = from < to ? from : to, *second = from < to ? to : from; /* everybody takes two in this order */
    pthread_mutex_lock(&first->lock), pthread_mutex_lock(&second->lock);
    const bool ok = to->by->spans->carry(to->program, n, from->program, direct, e);
    pthread_mutex_unlock(&second->lock), pthread_mutex_unlock(&first->lock);
    return ok;
}

static void *staging_for(hand *h, size_t bytes)
{
    if (bytes > h->staged)
        free(h->staging), h->staging = heap_array(bytes, 1), h->staged = bytes;
    return h->staging;
}

/* From the host and to it nothing lies in between; two devices whose driver has no way go by way of staging. */
static bool move(program *g, const transfer *t, err *e)
{
    hand *from = &g->hand[t->from], *to = &g->hand[t->to];
    bool direct = false;
    const bool ok = from->by != to->by || !to->by->spans->carry || carry(to, from, t->node, &direct, e);
    if (!ok || direct)
        return ok;
    void *here = from->by->in_host ? address_of(from, t->node) : NULL;
    void *there = to->by->in_host ? address_of(to, t->node) : here ? here : staging_for(to, (size_t)t->bytes);
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

/* Of kernels that read as much as they can at once: values lie as those of ts_array_make. */
static bool give_input(hand *h, int i, const void *value, err *e)
{
    enum { ALIGNED = 64 };
    const node *n = h->part->input[i];
    ts_array *own = &h->own[i];
    h->input[i] = (void *)(uintptr_t)value;
    if ((uintptr_t)value % ALIGNED == 0)
        return true;
    if (!own->data && !ts_array_make(own, n->type.dtype, n->type.rank, n->type.dim, e))
        return false;
    memcpy(own->data, value, (size_t)type_bytes(&n->type));
    return h->input[i] = own->data, true;
}

static bool give_inputs(hand *h, void *const *input, err *e)
{
    bool ok = true;
    for (int i = 0; h->program && ok && i < h->part->n_input; i++)
        ok = give_input(h, i, input[h->input_at[i]], e);
    return ok;
}

/* The first failure is told; later ones follow from it. */
static bool wait_all(program *g, err *e)
{
    bool ok = true;
    for (int i = 0; i < g->p->n_site; i++) /* all of them, whatever went wrong */
        ok = wait_for(&g->hand[i], ok ? e : NULL) && ok;
    return ok;
}

/* Kernel k of run r is step r * n + k, n of the kernels of the plan. */
typedef struct meeting { /* of the threads of a pipeline */
    program *g;
    const pipeline *of;
    int end; /* steps */
    pthread_mutex_t lock;
    pthread_cond_t more;
    int at[MAX_SITE]; /* by device: all of its steps before this one are done */
    int until;        /* steps from here on are begun no more */
    err e;            /* of that one, the first in order that failed, as if all took turns */
    double *seconds;  /* when each step began and ended; NULL: nobody asks */
} meeting;
typedef struct worker {
    meeting *run;
    int site;
} worker;

static const kernel *kernel_at(const meeting *m, int step)
{
    return &m->g->p->kernel[step % m->g->p->n_kernel];
}

static int next_of(const meeting *m, int of, int step) /* steps of device `of` from there on: the first */
{
    while (step < m->end && kernel_at(m, step)->site != of)
        step++;
    return step;
}

static bool may_begin(const meeting *m, int step, bool *waits)
{
    const hazards *h = &m->g->hazards;
    const int n = m->g->p->n_kernel, row = step < n ? step : n + step % n;
    *waits = false;
    for (int i = h->first[row]; i < h->first[row + 1]; i++) {
        const int before = step - row + h->wait[i];
        *waits = *waits || m->at[kernel_at(m, before)->site] <= before;
    }
    return step < m->until;
}

static bool begin(meeting *m, int step)
{
    bool waits;
    pthread_mutex_lock(&m->lock);
    while (may_begin(m, step, &waits) && waits)
        pthread_cond_wait(&m->more, &m->lock);
    const bool may = step < m->until;
    pthread_mutex_unlock(&m->lock);
    return may;
}

static void tell(meeting *m, int of, int at, bool ok, const err *e) /* not ok: step `at` failed */
{
    pthread_mutex_lock(&m->lock);
    m->at[of] = at;
    if (!ok && at < m->until)
        m->until = at, m->e = *e;
    pthread_cond_broadcast(&m->more);
    pthread_mutex_unlock(&m->lock);
}

/* How many kernels of the step's device, from there on, are told it at once; next: the one behind these */
static int row_from(const meeting *m, int step, int *next)
{
    const plan *p = m->g->p;
    const int of = kernel_at(m, step)->site, end = (step / p->n_kernel + 1) * p->n_kernel; /* of the run */
    int n = 1, last = step;
    *next = next_of(m, of, step + 1);
    while (!m->seconds && !kernel_at(m, step)->moves && *next < end && !kernel_at(m, *next)->moves &&
           !m->g->ends[last % p->n_kernel] && !m->g->begins[*next % p->n_kernel])
        n++, last = *next, *next = next_of(m, of, last + 1);
    return n;
}

static bool do_steps(meeting *m, int step, int n, err *e)
{
    program *g = m->g;
    const kernel *k = kernel_at(m, step);
    const double start = m->seconds ? seconds_now() : 0;
    const bool ok = (k->moves ? move(g, k->moves, e) : span_of(g, step % g->p->n_kernel, n, e)) &&
                    (!m->seconds || wait_for(&g->hand[k->site], e));
    if (m->seconds)
        m->seconds[2 * step] = start, m->seconds[2 * step + 1] = seconds_now();
    return ok;
}

/* Its results of run r, before the next one takes their place */
static bool end_run(const meeting *m, int of, int r, err *e)
{
    const plan *p = m->g->p;
    hand *h = &m->g->hand[of];
    bool ok = wait_for(h, e);
    for (int i = 0, own; i < p->n_root && ok && m->of->out; i++)
        if ((own = root_of(h->part, p->root[i])) >= 0 && maker(m->g, p->root[i]) == h)
            ok = h->by->get(h->program, own, &m->of->out[(int64_t)r * p->n_root + i], e);
    return ok;
}

static void *go(void *of)
{
    const worker *w = of;
    meeting *m = w->run;
    const plan *p = m->g->p;
    hand *h = &m->g->hand[w->site];
    bool ok = true;
    for (int step = next_of(m, w->site, 0), next, run = -1; ok && step < m->end && begin(m, step); step = next) {
        const int n = row_from(m, step, &next), r = step / p->n_kernel;
        err e = {0};
        ok = (r == run || give_inputs(h, m->of->input + (size_t)r * (size_t)p->n_input, &e)) &&
             do_steps(m, step, n, &e);
        tell(m, w->site, ok ? next : step, ok, &e);
        run = r;
        if (ok && next / p->n_kernel > r && !(ok = end_run(m, w->site, r, &e)))
            tell(m, w->site, step, false, &e);
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
    return m->until == m->end;
}

static void tell_times(const meeting *m)
{
    for (int step = 0; step < m->end; step++)
        m->of->seen(m->of->user, -1, step % m->g->p->n_kernel, m->seconds[2 * step], m->seconds[2 * step + 1]);
}

static bool run_all(program *g, const pipeline *of, err *e)
{
    const int end = of->n * g->p->n_kernel;
    meeting m = {.g = g, .of = of, .end = end, .until = end};
    if (of->seen)
        m.seconds = heap_array(2 * (size_t)end + 1, sizeof *m.seconds);
    MUST(!pthread_mutex_init(&m.lock, NULL) && !pthread_cond_init(&m.more, NULL));
    bool ok = run_threads(&m);
    pthread_mutex_destroy(&m.lock), pthread_cond_destroy(&m.more);
    if (!ok)
        err_set(e, m.e.code, "%s", m.e.text), of->n > 1 && err_in(e, "run %d", m.until / g->p->n_kernel);
    ok = wait_all(g, ok ? e : NULL) && ok;
    if (ok && of->seen)
        tell_times(&m);
    free(m.seconds);
    return ok;
}

static bool run(program *g, void *const *input, err *e)
{
    return run_all(g, &(pipeline){.n = 1, .input = input}, e);
}

static bool trace(program *g, void *const *input, span_seen *seen, void *user, err *e)
{
    return run_all(g, &(pipeline){.n = 1, .input = input, .seen = seen, .user = user}, e);
}

/* Waits after every kernel: nothing overlaps, so that times are of one thing each. */
static bool each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e)
{
    const plan *p = g->p;
    bool ok = true;
    for (int i = 0; i < p->n_site && ok; i++)
        ok = give_inputs(&g->hand[i], input, e);
    for (int k = 0; k < p->n_kernel && ok; k++) {
        const kernel *own = &p->kernel[k];
        ok = (own->moves ? move(g, own->moves, e) : span_of(g, k, 1, e)) && wait_for(&g->hand[own->site], e);
        if (ok)
            after(user, k);
    }
    return wait_all(g, ok ? e : NULL) && ok;
}

/* ---- results ---- */
static const void *at(const program *g, const node *n, dtype *stored)
{
    const hand *h = maker(g, n);
    return h && h->by->at ? h->by->at(h->program, n, stored) : NULL;
}

static bool get(program *g, int root, ts_array *out, err *e)
{
    const node *n = g->p->root[root];
    if (n->leaf)
        return leaf_read(n, out->data, 0, type_count(&n->type)), true;
    const hand *h = maker(g, n);
    const int own = h ? root_of(h->part, n) : -1;
    MUST(own >= 0);
    return h->by->get(h->program, own, out, e);
}

static const by_kernel kernels = {.each = each, .trace = trace};
static const by_text texts = {.assemble = assemble};

const backend several = {.name = "several",
                         .build = build,
                         .texts = &texts,
                         .run = run,
                         .pipeline = run_all,
                         .kernels = &kernels,
                         .at = at,
                         .get = get,
                         .drop = drop};
