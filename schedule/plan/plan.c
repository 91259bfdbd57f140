/* plan.c - what is done to plans as such: passes are run, parts brought together, what must hold is checked. */
#include "schedule/plan/plan.h"

#include <limits.h>
#include <stdlib.h>

const target *plan_on(const plan *p, int which)
{
    return p->n_site ? p->site[which].on : p->on;
}

int plan_leaf(plan *p, const node *n, const layout *y)
{
    for (int i = 0; i < p->n_leaf; i++)
        if (p->leaf[i].node == n && layout_same(&p->leaf[i].layout, y))
            return i;
    p->leaf = arena_grown(&p->mem, p->leaf, p->n_leaf, &p->cap_leaf, sizeof *p->leaf);
    p->leaf[p->n_leaf] = (packed){n, *y};
    return p->n_leaf++;
}

void plan_free(plan *p)
{
    if (!p)
        return;
    for (int k = 0; k < p->n_kernel; k++)
        if (p->kernel[k].scan)
            plan_free(p->kernel[k].scan->plan), ts_graph_free(p->kernel[k].scan->g);
    arena own = p->mem;
    arena_free(&own);
    free(p);
}

/* ---- invariants ---- */
enum { UNMADE = -1, IN_MEMORY = INT_MAX };

/* made: by node id, the kernel in whose scratch it is, or IN_MEMORY */
static bool check_stage(const plan *p, int k, const stage *st, const int *made, err *e)
{
    if (x_count(st->value, X_FOLD) > 1 && stage_fold(st) && st->n_load == 0)
        return true;
    for (int i = 0; i < st->n_load; i++) {
        const node *n = st->load[i]->from;
        if (!node_is_leaf(n) && made[n->id] != k && made[n->id] != IN_MEMORY)
            return err_set(e, TS_BUG, "kernel %d, stage %s reads node %d before it is computed", k, st->name, n->id);
    }
    for (int a = 0; st->nest.n && a < st->n_axis; a++)
        if (nest_left(&p->kernel[k], st, a, st->nest.n - 1) > 1)
            return err_set(e, TS_BUG, "kernel %d, stage %s does not walk all of %s", k, st->name, st->letter[a]);
    return true;
}

bool plan_check(const plan *p, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    int *made = arena_array(&mem, (size_t)p->g->n + 1, sizeof *made);
    bool ok = true;
    for (int i = 0; i < p->g->n; i++)
        made[i] = UNMADE;
    for (int i = 0; i < p->n_crossing; i++)
        if (p->crossing[i].received)
            made[p->crossing[i].node->id] = IN_MEMORY;
    for (int k = 0; ok && k < p->n_kernel; k++)
        for (int s = 0; ok && s < p->kernel[k].n_stage; s++) {
            const stage *st = &p->kernel[k].stage[s];
            ok = check_stage(p, k, st, made, e);
            made[st->node->id] = st->scratch ? k : IN_MEMORY;
        }
    return ok;
}

/* ---- passes ---- */
bool plan_run(plan *p, int from, int to, err *e)
{
    bool ok = true;
    for (int i = from; i < to && ok; i++) {
        ok = p->passes[i].run(p, e) && plan_check(p, e);
        if (ok && p->passed && !p->trial)
            p->passed(p->passed_user, p, i);
    }
    return ok;
}

static void take_refusals(plan *p, const site *s)
{
    for (const denial *r = s->part->refusal; r; r = r->next) {
        denial *own = arena_get(&p->mem, sizeof *own);
        *own = *r, own->kernel = s->number[r->kernel], own->next = NULL;
        if (p->last_refusal)
            p->last_refusal->next = own;
        else
            p->refusal = own;
        p->last_refusal = own;
    }
    s->part->refusal = s->part->last_refusal = NULL;
}

static void take_kernels(plan *p, const site *s)
{
    for (int i = 0; i < s->part->n_kernel; i++) {
        kernel *k = &p->kernel[s->number[i]];
        const kernel was = *k;
        *k = s->part->kernel[i];
        k->site = was.site, k->within = was.within;
    }
}

static void take_values(plan *p, const site *s)
{
    const plan *q = s->part;
    for (int k = 0; k < q->n_kernel; k++)
        for (int i = 0; i < q->kernel[k].n_stage; i++) {
            const node *n = q->kernel[k].stage[i].node;
            buffer *h = &p->buffer[n->id];
            *h = q->buffer[n->id];
            if (h->where == IN_INPUT)
                h->index = input_of(p, q->input[h->index]);
            h->first = h->first < q->n_kernel ? s->number[h->first] : p->n_kernel;
            h->last = h->last < q->n_kernel ? s->number[h->last] : p->n_kernel;
        }
}

bool plan_each_part(plan *p, bool (*pass)(plan *part, err *e), err *e)
{
    bool ok = true;
    p->arena_bytes = p->lower_bound = 0;
    for (int i = 0; i < p->n_site && ok; i++) {
        site *s = &p->site[i];
        if (!s->part)
            continue;
        ok = pass(s->part, e) && plan_check(s->part, e);
        arena_take(&p->mem, &s->part->mem);
        take_refusals(p, s);
        if (ok)
            take_kernels(p, s), take_values(p, s);
        p->arena_bytes += s->part->arena_bytes, p->lower_bound += s->part->lower_bound;
    }
    return ok;
}

int kernel_stream(const plan *p, const kernel *k)
{
    return p->on->team || p->on->streams < 2 ? 0 : k->beside % p->on->streams;
}

int plan_streams(const plan *p)
{
    int most = 0;
    for (int k = 0; k < p->n_kernel; k++)
        most = (int)int_max(most, kernel_stream(p, &p->kernel[k]));
    return most + 1;
}
