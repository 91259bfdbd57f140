/* shared.c - memory of a device that plans share, and what its devices send to each other: what is asked is checked
 * here, and done by the back end. */
#include "backends/driver.h"

#include <stdlib.h>

enum { ALIGN = 16 }; /* elements: what kernels take of an operand at once begins at 16 bytes, lines at 64 */

bool ts_plan_shares(const ts_plan *p, int devices, ts_error *e)
{
    if (!driver_stands(p, e))
        return false;
    if (!p->by->shared)
        return err_set(e, TS_UNSUPPORTED, "plans for target %s share no memory", p->target->name);
    return devices < 2 || p->by->shared->sends(e);
}

ts_shared *ts_shared_make(ts_plan *p, int64_t n, ts_error *e)
{
    if (!driver_stands(p, e) || !ts_plan_build(p, e))
        return NULL;
    if (n < 1 || n > INT64_MAX / (int64_t)sizeof(float))
        return err_set(e, TS_USAGE, "memory of %lld elements to be shared, at least 1 expected", (long long)n), NULL;
    return !ts_plan_shares(p, 1, e) ? NULL : p->by->shared->make(p->program, n, e);
}

void ts_shared_free(ts_shared *s)
{
    if (s)
        s->by->close(s);
    free(s);
}

static bool within(const ts_shared *s, int64_t at, int64_t n, err *e)
{
    return err_given(s, "the shared memory", e) &&
           ((at >= 0 && n >= 0 && at <= s->n - n) ||
            err_set(e, TS_USAGE, "elements %lld to %lld of shared memory that has %lld", (long long)at,
                    (long long)(at + n - 1), (long long)s->n));
}

bool ts_plan_share(ts_plan *p, int input, ts_shared *s, int64_t at, ts_error *e)
{
    const int k = driver_stands(p, e) && input >= 0 && input < p->n_port ? p->input_of[input] : -1;
    if (!driver_stands(p, e) || !err_given(s, "the shared memory", e) || !ts_plan_build(p, e))
        return false;
    if (k < 0 || p->preset[input] || !p->given[k].data)
        return err_set(e, TS_USAGE, "input %d has no value, or decides shapes, and cannot be shared", input);
    const node *n = p->plan->input[k];
    if (p->by->shared != s->by || n->type.dtype != TS_F32 || at % ALIGN != 0)
        return err_set(e, TS_USAGE,
                       "input \"%s\" cannot lie at element %lld of shared memory: f32 of one device at a "
                       "multiple of %d expected",
                       n->label, (long long)at, ALIGN);
    return merges_leave(p, k, e) && within(s, at, type_count(&n->type), e) && s->by->place(p->program, k, s, at, e);
}

bool ts_shared_write(ts_shared *s, int64_t at, const float *from, int64_t n, ts_error *e)
{
    return within(s, at, n, e) && err_given(from, "the values", e) && s->by->write(s, at, from, n, e);
}

bool ts_shared_read(const ts_shared *s, int64_t at, float *to, int64_t n, ts_error *e)
{
    return within(s, at, n, e) && err_given(to, "the place for values", e) && s->by->read(s, at, to, n, e);
}

/* ---- several ---- */
bool ts_shared_meeting(const ts_shared *s, ts_shared_id *id, ts_error *e)
{
    return err_given(s, "the shared memory", e) && err_given(id, "the place for an id", e) && s->by->meeting(id, e);
}

bool ts_shared_join(int n, ts_shared *const *s, int first, int count, const ts_shared_id *id, ts_error *e)
{
    if (!err_given(s, "the list of shared memories", e) || !err_given(id, "the id", e))
        return false;
    if (n < 1 || first < 0 || count < n || first > count - n)
        return err_set(e, TS_USAGE, "%d members from %d of %d: they are not among them", n, first, count);
    for (int i = 0; i < n; i++)
        if (!err_given(s[i], "a shared memory", e))
            return false;
    return s[0]->by->join(n, s, first, count, id, e);
}

bool ts_shared_exchange(int n, const ts_transfer *t, ts_error *e)
{
    if (n < 0 || (n && !err_given(t, "the list of transfers", e)))
        return false;
    for (int i = 0; i < n; i++)
        if (!within(t[i].of, t[i].at, t[i].n, e))
            return false;
    return !n || t[0].of->by->exchange(n, t, e);
}
