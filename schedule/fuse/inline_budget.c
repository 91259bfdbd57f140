/* inline_budget.c - how long expressions become when definitions are put into their readers, known before it is done.
 *
 * Lengths are those of trees, as passes walk them: what is used twice counts twice, so that n steps of x + x count 2^n.
 * What would be too long stays a value of its own. So does movement from places that are no affine index, as pads by
 * reflection are, where a fold would find an element's place again so often that moving it once takes less. */
#include "schedule/fuse/fuse.h"

#include <math.h>

enum {
    MAX_PARTS = 1 << 11, /* of a kernel; real models stay below 200 */
    MOVED = 32           /* steps in the time in which an element is written and read again */
};

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
    int64_t anywhere = 0; /* uses inside values that several kernels compute: counted once for each */
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

/* ---- places found again and again ---- */
static void find_site(fuser *f, item *it) /* where its elements are computed: by the reader that is evaluated most */
{
    double most = -1;
    for (int i = 0; i < it->n_reader; i++) {
        const item *r = f->item[it->reader[i]];
        const expr *load = item_only_load(r, it->node);
        const bool through = r->inlined && !r->fold && r->inlining.site;
        const item *by = through ? r->inlining.site : r;
        if (!load || (double)item_volume(by) <= most)
            continue;
        const expr **at = arena_array(&f->p->mem, (size_t)load->n + 1, sizeof *at);
        for (int k = 0; k < load->n; k++)
            at[k] = through ? x_rename(&f->p->mem, load->arg[k], r->n_axis, r->inlining.at) : load->arg[k];
        it->inlining.site = by, it->inlining.at = at, most = (double)item_volume(by);
    }
}

static double steps_of(const expr *x)
{
    double n = x->kind == X_CALL ? fmax(1, x->fn->steps) : 0;
    for (int i = 0; i < x->n; i++)
        n += steps_of(x->arg[i]);
    return n;
}

static bool is_folded(void *user, const atom *a) /* it walks axes that the site folds away */
{
    const item *by = user;
    const uint32_t kept = (1u << by->node->type.rank) - 1;
    return a->kind == A_VAR ? !(kept >> a->var & 1) : (x_axes(a->x) & ~kept) != 0;
}

/* A subscript that is no affine index of the axes and changes along folded ones. The quotient of one axis is a loop's
 * number and costs nothing; that of several axes is computed at each step. */
static bool found_again(const affine *a, const item *by)
{
    bool any = false;
    for (int i = 0; i < a->n; i++) {
        const atom *q = a->t[i].a;
        if (q->kind == A_EXPR || (q->kind == A_DIV && q->of->n > 1))
            any = any || affine_uses(&(affine){.n = 1, .t = &a->t[i]}, is_folded, (void *)by);
    }
    return any;
}

/* Whether computing the subscripts again costs less than storing the moved value once. Lanes of a vector share a
 * subscript that is the same for all. */
static bool may_repeat(fuser *f, item *it)
{
    const item *by = it->inlining.site;
    ENDED_BY(arena_free) arena mem = {0};
    space sp = {.mem = &mem};
    const affine *axis[MAX_AXIS];
    double found = 1, lanes = plan_on(f->p, item_site(f, it))->lanes[it->node->type.dtype], shared = 1, steps = 0;
    uint32_t axes = 0;
    for (int a = 0; a < by->n_axis; a++)
        axis[a] = affine_var(&sp, var_add(&sp, "", 0, int_max(by->extent[a], 2) - 1));
    for (int i = 0; i < it->raw->n; i++) {
        const expr *x = x_rename(&mem, it->raw->arg[i], it->node->type.rank, it->inlining.at);
        steps += found_again(affine_of(&sp, x, axis), by) ? steps_of(x) : 0;
        axes |= x_axes(x);
    }
    for (int a = 0; a < by->n_axis; a++)
        *(axes >> a & 1 ? &found : &shared) *= (double)by->extent[a];
    const double here = steps * found * fmax(1, shared / lanes), moved = (steps + MOVED) * (double)item_results(it);
    return here <= moved || reason_most(&it->kept, "steps to find its elements' places", here, moved);
}

/* What follows a product is written out for each vector of its register tile. Where that is more code than a first
 * cache holds beside the rest (32 KiB, on all processors of today), a loop of its own is faster. Of integers, which
 * are the same bits when they have waited in memory: halves are not. */
bool inline_follows(fuser *f, item *it, const item *owner)
{
    enum { CODE = 24 << 10, PART = 9 }; /* bytes; of each part (54 KB were 301 parts of 20 vectors) */
    const target *on = plan_on(f->p, item_site(f, it));
    const double bytes = (double)owner->inlining.parts * PART * on->n_register * 3 / 4;
    return !it->contracts || dtype_class(it->node->type.dtype) != D_WHOLE || on->group || bytes <= CODE ||
           reason_most(&it->kept, "bytes of code of what follows it", bytes, CODE);
}

bool inline_take(fuser *f, item *it, item *owner)
{
    const inlining b = measured(f, it);
    const int64_t sum = capped(b.parts + (owner ? owner->inlining.parts : 0));
    if (b.deep > MAX_PARTS || sum > MAX_PARTS)
        return reason_most(&it->kept, "parts of the expression", (double)(sum > MAX_PARTS ? sum : b.deep), MAX_PARTS);
    it->inlining = b;
    find_site(f, it);
    if (it->inlining.site && it->raw->kind == X_LOAD && !f->p->reference && !may_repeat(f, it))
        return false;
    if (owner)
        owner->inlining.parts = sum;
    return true;
}
