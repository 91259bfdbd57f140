/* sites.c - a plan over several devices as one program: the parts' programs, told in order what to do, and the
 * transfers between them. A value goes straight where one of both memories is this process's, else by way of it. */
#include "backends/sites.h"

#include <stdlib.h>
#include <string.h>

typedef struct hand { /* one device's */
    const backend *by;
    const plan *part;
    program *program;
    int *input_at; /* of the part's inputs: their numbers in the whole plan */
    void **input;
} hand;

struct program {
    const plan *p;
    hand hand[MAX_SITE];
    void *staging; /* for values between two memories that are not the host's */
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
        free(h->input_at), free(h->input);
    }
    if (g)
        free(g->staging);
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

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = heap_array(1, sizeof *g);
    size_t most = 1;
    bool ok = true;
    g->p = p;
    json_add(facts, "places:{");
    for (int i = 0; i < p->n_site && ok; i++)
        ok = !p->site[i].part || build_one(g, i, w, facts, e);
    text_add(facts, "}");
    for (int k = 0; k < p->n_kernel; k++)
        if (p->kernel[k].moves && (size_t)p->kernel[k].moves->bytes > most)
            most = (size_t)p->kernel[k].moves->bytes;
    g->staging = heap_array(most, 1);
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

/* From the host and to it nothing lies in between; two devices go by way of staging. */
static bool move(program *g, const transfer *t, err *e)
{
    hand *from = &g->hand[t->from], *to = &g->hand[t->to];
    void *there = to->by->in_host ? address_of(to, t->node) : g->staging,
         *here = from->by->in_host ? address_of(from, t->node) : there;
    if (!there || !here)
        return err_set(e, TS_MEMORY, "out of memory for a value of %lld bytes", (long long)t->bytes);
    if (!from->by->in_host && !from->by->spans->fetch(from->program, t->node, here, e))
        return false;
    if (!to->by->in_host)
        return to->by->spans->put(to->program, t->node, here, e);
    if (here != there)
        memcpy(there, here, (size_t)t->bytes);
    return true;
}

static bool wait_for(hand *h, err *e)
{
    return !h->program || !h->by->spans->wait || h->by->spans->wait(h->program, e);
}

static bool span_of(program *g, int first, int end, err *e) /* kernels of the whole plan, of one site, no transfers */
{
    const kernel *k = &g->p->kernel[first];
    hand *h = &g->hand[k->site];
    return h->by->spans->span(h->program, h->input, k->within, k->within + end - first, e);
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

/* As many kernels at a time as one device has in a row. */
static bool run(program *g, void *const *input, err *e)
{
    const plan *p = g->p;
    bool ok = true;
    give_inputs(g, input);
    for (int k = 0, end; k < p->n_kernel && ok; k = end) {
        const kernel *own = &p->kernel[k];
        end = k + 1;
        while (!own->moves && end < p->n_kernel && !p->kernel[end].moves && p->kernel[end].site == own->site)
            end++;
        ok = own->moves ? move(g, own->moves, e) : span_of(g, k, end, e);
    }
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
        ok = (own->moves ? move(g, own->moves, e) : span_of(g, k, k + 1, e)) && wait_for(&g->hand[own->site], e);
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
