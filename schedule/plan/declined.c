/* declined.c - keeps what was declined, and says it in lines. */
#include "schedule/plan/declined.h"
#include "schedule/plan/plan.h"

#include <math.h>
#include <string.h>

static bool set(reason *r, const reason *to)
{
    if (r)
        *r = *to;
    return false;
}

bool reason_is(reason *r, const char *what)
{
    return set(r, &(reason){.what = what});
}

bool reason_least(reason *r, const char *what, double here, double limit)
{
    return set(r, &(reason){what, here, limit, "at least"});
}

bool reason_most(reason *r, const char *what, double here, double limit)
{
    return set(r, &(reason){what, here, limit, "at most"});
}

void declined_add(arena *mem, declined_list *to, const declined *one)
{
    if (!one->why.what)
        return;
    declined *d = arena_get(mem, sizeof *d);
    *d = *one, d->next = NULL;
    if (to->last)
        to->last->next = d;
    else
        to->first = d;
    to->last = d;
}

/* By node id: one more than the kernel that computes it, or whose work it is */
static int *kernels_of(const plan *p, arena *mem)
{
    int *of = arena_array(mem, (size_t)p->g->n + 1, sizeof *of);
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage && !p->kernel[k].moves; i++) {
            const stage *s = &p->kernel[k].stage[i];
            of[s->node->id] = k + 1;
            if (s->whole && !of[s->whole->id])
                of[s->whole->id] = k + 1;
        }
    return of;
}

/* Counts in full, and so what a share makes of them */
static void add_number(text *t, double v)
{
    const bool count = v == floor(v) || fabs(v) >= 1e4;
    text_add(t, count && fabs(v) < 1e15 ? "%.0f" : "%.4g", v);
}

/* A line, unless it is there: what is read twice is asked about twice. */
static void print(const declined *d, int with, text *lines)
{
    ENDED_BY(text_free) text t = {0};
    text_add(&t, "%s", d->way);
    if (with)
        text_add(&t, " k%d", with - 1);
    text_add(&t, ": %s", d->why.what);
    if (d->why.bound) {
        text_add(&t, ": "), add_number(&t, d->why.here);
        text_add(&t, ", %s ", d->why.bound), add_number(&t, d->why.limit);
        text_add(&t, " expected");
    }
    text_add(&t, "\n");
    if (!strstr(text_str(lines), text_str(&t)))
        text_add(lines, "%s", text_str(&t));
}

void declined_print(const plan *p, text *lines)
{
    ENDED_BY(arena_free) arena mem = {0};
    const int *of = kernels_of(p, &mem);
    const declined_list *const all[] = {&p->ways, &p->unfused};
    for (int l = 0; l < COUNT(all); l++)
        for (const declined *d = all[l]->first; d; d = d->next) {
            const int k = of[d->node->id], with = d->with ? of[d->with->id] : 0;
            if (k && k != with && !d->with == !with) /* it may have come about in another way */
                print(d, with, &lines[k - 1]);
        }
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++) {
            const stage *s = &p->kernel[k].stage[i];
            if (s->second)
                text_add(&lines[k], "loops of %s: %s\n", s->name, s->second);
        }
}
