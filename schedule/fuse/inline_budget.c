/* inline_budget.c - how long expressions become when definitions are put into their readers, known before it is done.
 *
 * Lengths are those of trees, as passes walk them: what is used twice counts twice, so that n steps of x + x count 2^n.
 * What would be too long stays a value of its own. */
#include "schedule/fuse/fuse.h"

enum { MAX_PARTS = 1 << 11 }; /* of a kernel; real models stay below 200 */

static int64_t capped(int64_t n)
{
    return n > MAX_PARTS ? MAX_PARTS + 1 : n;
}

/* axis: the length of what stands for one. */
static int64_t length(const expr *x, int64_t axis)
{
    int64_t n = x->kind == X_AXIS ? axis : 1;
    for (int i = 0; i < x->n && n <= MAX_PARTS; i++)
        n = capped(n + length(x->arg[i], axis));
    return n;
}

/* How often x loads n; *subscript becomes at least the longest subscript at which it does. */
static int64_t uses(const expr *x, const node *n, int64_t axis, int64_t *subscript)
{
    const bool here = x->kind == X_LOAD && x->from == n;
    int64_t times = here;
    for (int i = 0; i < x->n; i++) {
        const int64_t more = here ? length(x->arg[i], axis) : 0;
        *subscript = more > *subscript ? more : *subscript;
        times = capped(times + uses(x->arg[i], n, axis, subscript));
    }
    return times;
}

static inlining measured(fuser *f, const item *it)
{
    inlining b = {.subscript = 1};
    int64_t anywhere = 0; /* uses by what several kernels take in: counted for each of them */
    for (int i = 0; i < it->n_reader; i++)
        if (f->item[it->reader[i]]->owner)
            f->item[it->reader[i]]->owner->inlining.tally = 0;
    for (int i = 0; i < it->n_reader; i++) {
        const item *r = f->item[it->reader[i]];
        const inlining in = r->inlined ? r->inlining : (inlining){.copies = 1, .subscript = 1};
        const int64_t times = capped(in.copies * uses(r->raw, it->node, in.subscript, &b.subscript));
        int64_t *tally = r->owner ? &r->owner->inlining.tally : &anywhere;
        *tally = capped(*tally + times);
        if (r->owner && *tally > b.copies)
            b.copies = *tally;
        if (in.deep > b.deep)
            b.deep = in.deep;
    }
    b.copies = capped(b.copies + anywhere);
    const int64_t own = length(it->raw, b.subscript);
    b.deep = capped(b.deep + own);
    b.parts = capped(b.copies * own);
    return b;
}

bool inline_take(fuser *f, item *it, item *owner)
{
    const inlining b = measured(f, it);
    const int64_t sum = capped(b.parts + (owner ? owner->inlining.parts : 0));
    if (b.deep > MAX_PARTS || sum > MAX_PARTS)
        return reason_most(&it->kept, "parts of the expression", (double)(sum > MAX_PARTS ? sum : b.deep), MAX_PARTS);
    it->inlining = b;
    if (owner)
        owner->inlining.parts = sum;
    return true;
}
