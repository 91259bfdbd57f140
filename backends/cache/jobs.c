/* jobs.c - slots, each with the job that runs there. */
#include "backends/cache/jobs.h"
#include "backends/interrupt.h"

typedef struct running {
    const job_list *l;
    child slot[CHILD_MOST];
    int job[CHILD_MOST], tried[CHILD_MOST]; /* of each slot */
    int slots, next, done;
} running;

static bool start(running *r, int s, err *e)
{
    const job *j = &r->l->job[r->job[s]];
    return child_start(&r->slot[s], &(child_job){j->argv[r->tried[s]++], r->l->env, j->input, &j->limits}, e);
}

static bool start_next(running *r, int s, err *e)
{
    r->job[s] = r->next++, r->tried[s] = 0;
    return start(r, s, e);
}

/* Of a slot whose child has ended: what comes of it, and what runs there next. */
static bool end(running *r, int s, err *e)
{
    child c = r->slot[s];
    const job *j = &r->l->job[r->job[s]];
    r->slot[s] = (child){0};
    bool ok;
    if (r->tried[s] == 1 && j->argv[1] && child_overran(&c, &j->limits) && !interrupt_asked()) {
        ok = start(r, s, e);
    } else {
        ok = r->l->ended(r->l->user, r->job[s], r->tried[s], &c, e);
        r->done++;
        if (ok && r->next < r->l->n)
            ok = start_next(r, s, e);
    }
    child_free(&c, 1);
    return ok;
}

static void tell(const running *r)
{
    int first = -1; /* of those that run the one that began first */
    for (int s = 0; s < r->slots; s++)
        if (r->slot[s].pid && (first < 0 || r->job[s] < r->job[first]))
            first = s;
    if (first >= 0)
        r->l->step(r->l->user, r->l->job[r->job[first]].label, r->done);
}

bool jobs_run(const job_list *l, err *e)
{
    running r = {.l = l, .slots = l->at_once < l->n ? l->at_once : l->n};
    bool ok = true;
    MUST(l->at_once <= CHILD_MOST);
    for (int s = 0; s < r.slots && ok; s++)
        ok = start_next(&r, s, e);
    for (int s; ok;) {
        tell(&r);
        if ((s = child_wait_within(r.slot, r.slots, INTERRUPT_SEEN)) == -1)
            break;
        if (s >= 0)
            ok = end(&r, s, e);
    }
    child_free(r.slot, r.slots);
    return ok;
}
