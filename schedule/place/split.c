/* split.c - kernels that have devices become an order with few changes of device, transfers in between, and a
 * part of the plan for each device. */
#include "schedule/place/place.h"
#include "schedule/passes/passes.h"
#include "schedule/schema/schema.h"

#include <string.h>

typedef struct splitting {
    plan *p;
    int *made;   /* by node id: the kernel that keeps it in memory; -1: none */
    kernel *out; /* the new order */
    int n, cap;
    bool *done; /* by kernel */
    bool *sent; /* by node id and site: a transfer brings it there */
} splitting;

/* ---- order ---- */
static bool ready(const splitting *s, const kernel *k)
{
    bool all = true;
    for (int i = 0; i < k->n_stage && all; i++)
        for (int j = 0; j < k->stage[i].n_load && all; j++) {
            const int from = s->made[k->stage[i].load[j]->from->id];
            all = from < 0 || from == (int)(k - s->p->kernel) || s->done[from];
        }
    return all;
}

static int next_site(const splitting *s) /* of what comes next in fusion's order; -1: all is done */
{
    int k = 0;
    while (k < s->p->n_kernel && s->done[k])
        k++;
    return k < s->p->n_kernel ? s->p->kernel[k].site : -1;
}

static void find_makers(splitting *s)
{
    const plan *p = s->p;
    for (int i = 0; i < p->g->n; i++)
        s->made[i] = -1;
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            if (!p->kernel[k].stage[i].scratch)
                s->made[p->kernel[k].stage[i].node->id] = k;
}

/* ---- transfers ---- */
static void put_kernel(splitting *s, const kernel *k)
{
    if (s->n == s->cap) {
        const int cap = 2 * s->cap + 16;
        kernel *more = arena_array(&s->p->mem, (size_t)cap, sizeof *more);
        if (s->n)
            memcpy(more, s->out, (size_t)s->n * sizeof *more);
        s->out = more, s->cap = cap;
    }
    s->out[s->n++] = *k;
}

static void put_transfer(splitting *s, const kernel *by, const node *n, int to)
{
    arena *mem = &s->p->mem;
    transfer *t = arena_get(mem, sizeof *t);
    stage *only = arena_get(mem, sizeof *only);
    *t = (transfer){n, by->site, to, type_bytes(&n->type)};
    *only = (stage){.node = n, .name = "transfer", .value = x_whole(mem, 0)};
    put_kernel(s, &(kernel){.op = "transfer",
                            .label = *n->label ? n->label : by->label,
                            .whole = n,
                            .n_stage = 1,
                            .stage = only,
                            .rule = "",
                            .notes = "",
                            .bytes = 2 * (double)t->bytes,
                            .site = to,
                            .moves = t});
}

static void send(splitting *s, const node *n, int to)
{
    const int from = s->made[n->id];
    bool *had = &s->sent[n->id * MAX_SITE + to];
    if (from < 0 || !s->done[from] || s->p->kernel[from].site == to || *had)
        return;
    *had = true;
    put_transfer(s, &s->p->kernel[from], n, to);
}

/* A turn of a site: all that is ready there. What comes from others is fetched right before it is read, so that what
 * does not need it is done meanwhile. What is computed again is due late, and its order is kept. */
static void take_turn(splitting *s, int to)
{
    const plan *p = s->p;
    for (int k = 0; k < p->n_kernel; k++) {
        if (!s->done[k] && p->kernel[k].site == to && ready(s, &p->kernel[k])) {
            for (int i = 0; i < p->kernel[k].n_stage; i++)
                for (int j = 0; j < p->kernel[k].stage[i].n_load; j++)
                    send(s, p->kernel[k].stage[i].load[j]->from, to);
            put_kernel(s, &p->kernel[k]);
            s->done[k] = true;
        }
        if (!s->done[k] && p->checkpointing)
            break;
    }
}

/* ---- parts ---- */
static bool reads(const plan *p, const node *n)
{
    bool any = false;
    for (int k = 0; k < p->n_kernel && !any; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            for (int j = 0; j < p->kernel[k].stage[i].n_load; j++)
                any = any || p->kernel[k].stage[i].load[j]->from == n;
    return any;
}

static bool makes(const plan *p, const node *n)
{
    bool any = false;
    for (int k = 0; k < p->n_kernel && !any; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            any = any || (p->kernel[k].stage[i].node == n && !p->kernel[k].stage[i].scratch);
    return any;
}

/* The same rules; some are for one target, others for another. */
static const schema *rules_of(plan *p, int to)
{
    schema *s = p->schema ? arena_get(&p->mem, sizeof *s) : NULL;
    if (s) {
        *s = *p->schema;
        schema_set_aside(&p->mem, s, &(schema_use){.by = p->site[to].by, .kind = p->site[to].on->kind});
    }
    return s;
}

static plan *new_part(plan *p, int to)
{
    plan *q = arena_get(&p->mem, sizeof *q);
    const size_t most = (size_t)p->n_kernel + 1;
    *q = (plan){.on = p->site[to].on,
                .threads = p->site[to].on->workers,
                .own_places = p->own_places,
                .passes = p->passes,
                .as_written = p->as_written,
                .as_given = p->as_given,
                .whole_sums = p->whole_sums,
                .reproducible = p->reproducible,
                .trial = p->trial,
                .fused = true,
                .part = true,
                .g = p->g,
                .schema = rules_of(p, to),
                .rule_used = p->rule_used,
                .checkpointing = p->checkpointing};
    q->kernel = arena_array(&p->mem, most, sizeof *q->kernel);
    q->buffer = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *q->buffer);
    q->crossing = arena_array(&p->mem, 2 * most, sizeof *q->crossing);
    memcpy(q->buffer, p->buffer, (size_t)p->g->n * sizeof *q->buffer), q->n_buffer = p->n_buffer;
    p->site[to].number = arena_array(&p->mem, most, sizeof(int));
    return q;
}

static void deal_kernels(plan *p)
{
    for (int i = 0; i < p->n_kernel; i++) {
        kernel *k = &p->kernel[i];
        if (k->moves) {
            plan *from = p->site[k->moves->from].part, *to = p->site[k->moves->to].part;
            from->crossing[from->n_crossing++] = (crossing){k->moves->node, false, from->n_kernel};
            to->crossing[to->n_crossing++] = (crossing){k->moves->node, true, to->n_kernel};
            continue;
        }
        plan *q = p->site[k->site].part;
        p->site[k->site].number[q->n_kernel] = i;
        k->within = q->n_kernel;
        q->kernel[q->n_kernel++] = *k;
    }
}

/* The inputs that it reads, the roots that it makes. */
static void find_ends(const plan *p, plan *q)
{
    q->input = arena_array(&q->mem, (size_t)p->n_input + 1, sizeof *q->input);
    for (int i = 0; i < p->n_input; i++)
        if (reads(q, p->input[i]))
            q->input[q->n_input++] = p->input[i];
    const node **root = arena_array(&q->mem, (size_t)p->n_root + 1, sizeof *root);
    for (int i = 0; i < p->n_root; i++)
        if (makes(q, p->root[i]))
            root[q->n_root++] = p->root[i];
    q->root = root;
}

static int number_of(int n, const node *const *all, const node *x)
{
    int i = n - 1;
    while (i >= 0 && all[i] != x)
        i--;
    return i;
}

static bool is_sent(const plan *q, const node *n)
{
    int i = 0;
    while (i < q->n_crossing && q->crossing[i].node != n)
        i++;
    return i < q->n_crossing;
}

/* State that only this part reads, and that it makes: it may be written in place. What is sent is in the arena. */
static void find_state(const plan *p, plan *q)
{
    q->carried = arena_array(&q->mem, (size_t)p->n_carried + 1, sizeof *q->carried);
    for (int i = 0; i < p->n_carried; i++) {
        const node *in = p->input[p->carried[i].input];
        const carried c = {number_of(q->n_root, q->root, p->root[p->carried[i].root]),
                           number_of(q->n_input, q->input, in)};
        bool own = c.root >= 0 && c.input >= 0 && number_of(p->n_root, p->root, in) < 0 &&
                   !is_sent(q, p->root[p->carried[i].root]);
        for (int s = 0; s < p->n_site && own; s++)
            own = p->site[s].part == q || !p->site[s].part || !reads(p->site[s].part, in);
        if (own)
            q->carried[q->n_carried++] = c;
    }
}

static void make_parts(plan *p)
{
    for (int i = 0; i < p->n_site; i++)
        p->site[i].part = new_part(p, i);
    deal_kernels(p);
    for (int i = 0; i < p->n_site; i++)
        if (!p->site[i].part->n_kernel)
            p->site[i].part = NULL;
    for (int i = 0; i < p->n_site; i++) {
        plan *q = p->site[i].part;
        if (!q)
            continue;
        find_ends(p, q), find_state(p, q);
        arena_take(&p->mem, &q->mem);
    }
}

bool place_split(plan *p, err *e)
{
    (void)e;
    splitting s = {.p = p};
    const size_t n = (size_t)p->g->n + 1;
    carry_order(p);
    s.made = arena_array(&p->mem, n, sizeof *s.made), s.sent = arena_array(&p->mem, n * MAX_SITE, sizeof *s.sent);
    s.done = arena_array(&p->mem, (size_t)p->n_kernel + 1, sizeof *s.done);
    find_makers(&s);
    for (int at = next_site(&s); at >= 0; at = next_site(&s))
        take_turn(&s, at);
    p->kernel = s.out, p->n_kernel = s.n;
    make_parts(p);
    return true;
}
