/* share.c - which of the values that are left materialised are computed in one kernel: what joins the kernel of a value
 * it reads when both walk the same leading axes element by element. Softmax, layer norm and attention become one kernel
 * each, their rows held in scratch for one trip of the shared loops.
 *
 * Refused is what would stream weights again for every row, read a matrix for one row at a time that many use, or make
 * kernels wait for each other in a circle: a kernel is reached from another through what it reads, so a search along
 * operands, back to the latest member of either, finds a circle before it is closed. */
#include "schedule/plan/extents.h"
#include "schedule/fuse/fuse.h"
#include "schedule/plan/checkpointing.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool chooses(const item *it, int axis) /* the value is chosen by it: it is unrolled, and trips share loads */
{
    stage s = {.value = it->value};
    memcpy(s.extent, it->extent, sizeof s.extent);
    return stage_choice(&s, axis, NULL);
}

/* How many leading axes reader b walks in step with producer a: a[i0, i1, ...] read at b's own leading axes. */
static int common_axes(const fuser *f, const item *a, const item *b)
{
    const expr *load[MAX_LOADS];
    int da[MAX_AXIS], db[MAX_AXIS], most = stream_axes(f, a, da), nb = stream_axes(f, b, db);
    const int n = x_loads(b->value, load, MAX_LOADS);
    if (n > MAX_LOADS || a->stream >= a->node->type.rank) /* there once its stream has passed by */
        return 0;
    if (most > nb)
        most = nb;
    for (int k = 0; k < most; k++)
        if (chooses(a, da[k]) || chooses(b, db[k]))
            most = k;
    for (int i = 0; i < n; i++) {
        int k = 0;
        if (load[i]->from != a->node)
            continue;
        while (k < most && load[i]->arg[da[k]]->kind == X_AXIS && load[i]->arg[da[k]]->axis == db[k])
            k++;
        most = k;
    }
    return most;
}

static int64_t low_of(const item *it, int axis)
{
    return axis < it->node->type.rank ? it->low[axis] : 0;
}

static bool same_rows(const fuser *f, const item *a, const item *b, int shared)
{
    int da[MAX_AXIS], db[MAX_AXIS];
    if (stream_axes(f, a, da) < shared || stream_axes(f, b, db) < shared)
        return false;
    for (int i = 0; i < shared; i++)
        if (a->extent[da[i]] != b->extent[db[i]] || low_of(a, da[i]) != low_of(b, db[i]) ||
            !extents_same(&a->varies[da[i]], &b->varies[db[i]]))
            return false;
    return true;
}

/* Of the shared loops only the last takes several trips at once. Where only trips of the others reuse a slice of the
 * matrix, no register tile covers its rows, and the slice is read once for each multiplication. */
static bool has_rows(const item *it, int last, uint32_t lacks, reason *why)
{
    enum { ROWS = 4 };
    int64_t again = 1;
    for (int a = 0; a < it->n_axis; a++)
        again *= lacks >> a & 1 ? it->extent[a] : 1;
    const int64_t near = lacks >> last & 1 ? it->extent[last] : 1;
    return near >= ROWS || again == near ||
           reason_least(why, "rows that use a matrix while it is near", (double)near, ROWS);
}

/* A contraction reads its operands many times. Walking only rows of it is free when each operand has the rows' axes, or
 * at least a batch axis and a slice that stays in the cache; weights have neither, and would be streamed again for
 * every row. Where none has all the rows' axes (images and channels), both would be. Channels that weights give before
 * pixels lie in blocks (order.c): one by one they leave vectors pixels alone, and what pads these is copied. */
static bool rows_are_cheap(const fuser *f, const item *it, int shared, reason *why)
{
    enum { LEAST = 4, REUSED = 8, VECTOR = 4096 };
    const expr *load[MAX_LOADS];
    int dim[MAX_AXIS];
    const target *on = plan_on(f->p, item_site(f, it));
    uint32_t rows = 0;
    int folded = 0, whole = 0; /* operands under the fold, and those of them that have all the rows' axes */
    const int n = x_loads(it->value, load, MAX_LOADS);
    stream_axes(f, it, dim);
    int64_t own = item_results(it);
    if (own == 0)
        return true; /* nothing is computed */
    for (int i = 0; i < shared; i++)
        rows |= 1u << dim[i], own /= it->extent[dim[i]];
    const int given = it->contracts ? expr_given(it->value, ~0u << it->node->type.rank) : -1;
    if (given >= 0 && rows >> given & 1 && on->lanes[TS_F32] >= 4)
        return reason_is(why, "its channels lie in blocks, which loops over single ones would take apart");
    const bool streams = shared > 1 && dim[shared - 1] == it->stream;         /* the last loop is walked in order */
    const uint32_t kept = it->stream < 0 ? rows : rows & ~(1u << it->stream); /* along a stream everything passes by */
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        const uint32_t axes = x_axes_of(load[i]);
        int64_t slice = ts_dtype_bytes(load[i]->from->type.dtype);
        if (axes >> it->node->type.rank)
            folded++, whole += (axes & kept) == kept;
        if (!(axes & ~rows) || (axes & kept) == kept)
            continue;
        for (int a = 0; a < it->n_axis; a++)
            if ((axes & ~rows) >> a & 1)
                slice *= it->extent[a];
        if (item_volume(it) / item_results(it) < REUSED)
            continue; /* little reuse */
        if (own < LEAST)
            return reason_least(why, "results of a row, for a register tile", (double)own, LEAST);
        const uint32_t own_axes = axes & ~rows;
        const bool matrix = axes >> it->node->type.rank && own_axes & (own_axes - 1);
        if (matrix && axes & rows && !has_rows(it, dim[shared - 1 - streams], kept & ~axes, why))
            return false;
        if (slice <= VECTOR)
            continue;
        if (!(axes & rows) || slice > target_bytes(on, on->near) / 2)
            return reason_most(why, "bytes of an operand that each row reads again", (double)slice,
                               axes & rows ? (double)target_bytes(on, on->near) / 2 : VECTOR);
    }
    return folded < 2 || whole || item_volume(it) / item_results(it) < REUSED ||
           reason_least(why, "operands of its sum that have all axes of the rows", 0, 1);
}

/* Kernel k has a node more. latest[i] is the latest one in the i & -i kernels before kernel i (a Fenwick tree), so that
 * walking back over kernels ends where no earlier one matters. */
static void kernel_joined(fuser *f, int k, int id)
{
    for (int i = k + 1; i <= f->n; i += i & -i)
        f->latest[i] = f->latest[i] > id ? f->latest[i] : id;
}

static int latest_before(const fuser *f, int k)
{
    int id = 0;
    for (int i = k; i; i -= i & -i)
        id = f->latest[i] > id ? f->latest[i] : id;
    return id;
}

/* Nodes older than the result cannot depend on the kernel: none of their kernels has a member that could. */
static int oldest_way(const fuser *f, int to)
{
    int oldest = f->kernel[to].member[0]->node->id;
    for (int k = to; latest_before(f, k) >= oldest && k-- > 0;) /* kernels stand in the order of their first members */
        if (f->kernel[k].n && f->kernel[k].member[f->kernel[k].n - 1]->node->id >= oldest)
            oldest = f->kernel[k].member[0]->node->id;
    return oldest;
}

/* A search for ways from a value back to a kernel. It ends after so many nodes, with the answer that keeps kernels
 * apart: in a recurrence and its gradient, most ways go through all steps between. */
typedef struct search {
    int to, oldest, from, left;
} search;
enum { SEARCHED = 512 };

/* Whether n depends on the kernel through values outside of it, or a member of n's own kernel does */
static bool reaches(fuser *f, const node *n, search *s)
{
    item *it = f->item[n->id];
    if (!it || n->id < s->oldest || it->mark == s->from)
        return false;
    it->mark = s->from;
    if ((!it->inlined && it->kernel == s->to) || --s->left < 0)
        return true;
    for (int i = 0; i < n->n_in; i++)
        if (reaches(f, n->in[i], s))
            return true;
    for (int i = 0; !it->inlined && i < f->kernel[it->kernel].n; i++)
        if (reaches(f, f->kernel[it->kernel].member[i]->node, s))
            return true;
    return false;
}

/* Would joining close a cycle: some operand of b outside the kernel that needs the kernel? Inlined ones
 * are looked through. */
static bool cycle(fuser *f, const item *b, int to, int from)
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(b->value, load, MAX_LOADS);
    search s = {.to = to, .oldest = oldest_way(f, to), .from = from, .left = SEARCHED};
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        item *o = f->item[load[i]->from->id];
        if (!o || o->kernel == to)
            continue;
        if (reaches(f, load[i]->from, &s))
            return true;
    }
    return n > MAX_LOADS;
}

static bool is_work(const item *it) /* pointwise, with each element from one place */
{
    return !it->fold && (!item_is_view(it) || it->gathered);
}

/* All members are pointwise over the same elements: walked in blocks, what one stage hands to the next stays in a
 * cache. */
static bool all_pointwise(const fuser *f, const cluster *c, const item *b, int shared)
{
    int dim[MAX_AXIS];
    bool all = is_work(b) && stream_axes(f, b, dim) == shared;
    for (int i = 0; all && i < c->n; i++)
        all = is_work(c->member[i]) && stream_axes(f, c->member[i], dim) == shared;
    return all;
}

/* Whether b stacks a few of the kernel's values side by side: computed there, none of them goes through memory. */
static bool is_stack(const fuser *f, const cluster *c, const item *b, int shared)
{
    enum { FEW = 64 };
    int dim[MAX_AXIS];
    int64_t all = 1, rows = 1;
    const int n = stream_axes(f, b, dim);
    for (int i = 0; i < n; i++)
        all *= b->extent[dim[i]], rows *= i < shared ? b->extent[dim[i]] : 1;
    bool stack = is_work(b) && all / (rows ? rows : 1) <= FEW;
    for (int i = 0; stack && i < c->n; i++)
        stack = !c->member[i]->fold && stream_axes(f, c->member[i], dim) >= shared;
    return stack;
}

static const item *reader_at(const fuser *f, const item *from, int i) /* in whose kernel the reader is, or NULL */
{
    const item *r = f->item[from->reader[i]];
    return r->inlined ? r->owner : r;
}

static bool sums_up(const item *r, const node *n)
{
    const expr *load[MAX_LOADS];
    const int total = x_loads(r->value, load, MAX_LOADS);
    uint32_t axes = 0;
    for (int i = 0; i < total && i < MAX_LOADS; i++)
        axes |= load[i]->from == n ? x_axes_of(load[i]) : 0;
    return axes >> r->node->type.rank;
}

/* How many leading axes all that read b walk in step with it, where one sums up rows of it; 0: none does, or one could
 * not be in b's kernel. */
static int axes_after(const fuser *f, const item *b)
{
    int least = MAX_RANK;
    bool rows = false;
    for (int i = 0; i < b->n_reader && least; i++) {
        const item *r = reader_at(f, b, i);
        const int n = !r || r->alone ? 0 : common_axes(f, b, r);
        least = n < least ? n : least;
        rows = rows || (r && sums_up(r, b->node));
    }
    return rows && !b->root ? least : 0;
}

static int add_value(const node **seen, int n, const node *v)
{
    for (int i = 0; i < n; i++)
        if (seen[i] == v)
            return n;
    seen[n] = v;
    return n + 1;
}

/* Whether the kernel would read and write no more values with b in it than the target takes. */
static bool operands_fit(const fuser *f, const cluster *c, const item *b, reason *why)
{
    const int most = item_operands(f, b);
    ENDED_BY(heap_free) const node **seen = calloc((size_t)(c->n + 1) * (MAX_LOADS + 1), sizeof *seen);
    int n = 0;
    MUST(seen);
    for (int i = 0; i <= c->n && n <= most && most < INT_MAX; i++) {
        const item *it = i < c->n ? c->member[i] : b;
        const expr *load[MAX_LOADS];
        const int loads = x_loads(it->value, load, MAX_LOADS);
        n = add_value(seen, n, it->node);
        for (int k = 0; k < loads && k < MAX_LOADS; k++)
            n = add_value(seen, n, load[k]->from);
    }
    return n <= most || reason_most(why, "values that it reads and writes", n, most);
}

/* Whether rules, devices and what walks its own loops let b be in the kernel at all */
static bool may_join(const fuser *f, const cluster *c, const item *b, reason *why)
{
    const item *first = c->member[0];
    const int depth = stream_depth(f, b);
    if (c->n == MAX_STAGES)
        return reason_most(why, "stages", c->n + 1, MAX_STAGES);
    if (!depth != !stream_depth(f, first))
        return reason_is(why, "one of them walks an axis in order and the other does not");
    if (!depth && (b->alone || first->alone))
        return reason_is(why, "one of them has loops of its own, as scans and scatters do");
    if (!item_together(f, b, first))
        return reason_is(why, "a rule, or devices, keep them apart");
    return checkpointing_joins(f->p, b->node, first->node) ||
           reason_is(why, "one of them is computed again for the backward pass, later");
}

/* How many leading loops all of them walk in step, b too; 0, with a reason: none, or not as many as serve b */
static int loops_in_step(const fuser *f, const cluster *c, const item *b, reason *why)
{
    static const char what[] = "leading loops that both walk in step";
    int shared = c->n == 1 ? MAX_RANK : c->shared;
    const int depth = stream_depth(f, b), least = depth ? depth : 1;
    for (int i = 0; i < c->n; i++) {
        const int n = common_axes(f, c->member[i], b);
        shared = n < shared ? n : shared;
    }
    if (shared < least)
        return reason_least(why, what, shared, least);
    shared = depth ? depth : shared;
    /* A mere copy is stored anyway, and its reader shares more loops with the readers of its own. */
    if (c->n == 1 && item_is_view(c->member[0]) && !c->member[0]->fold && b->fold)
        return reason_is(why, "a copy is stored anyway, and its reader shares more loops with those that read that");
    /* Attention that shared only the batch with its mask would keep the scores of all heads and rows. */
    const int after = b->contracts ? axes_after(f, b) : 0;
    return shared >= after ? shared
                           : reason_least(why, "leading loops in step, as with its own readers", shared, after);
}

static bool join(fuser *f, item *b, int to, reason *why)
{
    cluster *c = &f->kernel[to];
    const int shared = may_join(f, c, b, why) ? loops_in_step(f, c, b, why) : 0;
    bool ok = shared > 0, folds = b->fold;
    for (int i = 0; ok && i < c->n; i++)
        ok = (same_rows(f, c->member[i], b, shared) || reason_is(why, "other extents of the loops in step")) &&
             rows_are_cheap(f, c->member[i], shared, why);
    if (!ok || !rows_are_cheap(f, b, shared, why))
        return false;
    for (int i = 0; i < c->n; i++)
        folds = folds || c->member[i]->fold;
    if (!folds && !all_pointwise(f, c, b, shared) && !is_stack(f, c, b, shared))
        return reason_is(why, "no sum is among them, and they are not work on the same elements");
    if (!operands_fit(f, c, b, why))
        return false;
    if (cycle(f, b, to, ++f->visit))
        return reason_is(why, "each would wait for the other");
    c->member[c->n++] = b, c->shared = shared, b->kernel = to;
    kernel_joined(f, to, b->node->id);
    return true;
}

/* ---- two kernels as one ---- */
static int by_node(const void *a, const void *b)
{
    const item *x = *(item *const *)a, *y = *(item *const *)b;
    return (x->node->id > y->node->id) - (x->node->id < y->node->id);
}

/* Whether no operand that kernel k reads from outside depends on kernel k. */
static bool stands_alone(fuser *f, int k)
{
    const cluster *c = &f->kernel[k];
    bool alone = true;
    for (int i = 0; i < c->n && alone; i++)
        alone = !cycle(f, c->member[i], k, ++f->visit);
    return alone;
}

/* Each trip of a stage is a call, so the last shared loop must have enough elements to be worth calls. */
static bool long_rows(const fuser *f, const cluster *c, int shared)
{
    enum { LEAST = 16 };
    int dim[MAX_AXIS];
    return stream_axes(f, c->member[0], dim) >= shared && shared && c->member[0]->extent[dim[shared - 1]] >= LEAST;
}

/* Kernels of pointwise work over the same elements, which one value reads, become one: what they hand to that stays in
 * a cache. Both stand as they were where they would wait for each other. */
static bool merge(fuser *f, int a, int b)
{
    const int into = a < b ? a : b, from = a < b ? b : a;
    cluster *c = &f->kernel[into], *d = &f->kernel[from];
    const cluster was = *c;
    int dim[MAX_AXIS];
    const int shared = c->n > 1 ? c->shared : stream_axes(f, c->member[0], dim);
    if (c->n + d->n > MAX_STAGES || !item_together(f, c->member[0], d->member[0]) || !long_rows(f, c, shared))
        return false;
    for (int i = 0; i < c->n + d->n; i++) {
        const item *it = i < c->n ? c->member[i] : d->member[i - c->n];
        if (!is_work(it) || it->alone || stream_depth(f, it) || stream_axes(f, it, dim) != shared ||
            !same_rows(f, c->member[0], it, shared) || !checkpointing_joins(f->p, it->node, c->member[0]->node))
            return false;
    }
    for (int i = 0; i < d->n; i++)
        c->member[c->n++] = d->member[i], d->member[i]->kernel = into;
    qsort(c->member, (size_t)c->n, sizeof *c->member, by_node);
    c->shared = shared;
    const bool ok = operands_fit(f, c, c->member[0], NULL) && stands_alone(f, into);
    if (ok)
        d->n = 0, kernel_joined(f, into, c->member[c->n - 1]->node->id);
    else {
        *c = was;
        for (int i = 0; i < d->n; i++)
            d->member[i]->kernel = from;
    }
    return ok;
}

static void merge_operands(fuser *f, const item *b)
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(b->value, load, MAX_LOADS);
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        const item *from = f->item[load[i]->from->id];
        if (from && from->kernel >= 0 && from->kernel != b->kernel)
            merge(f, from->kernel, b->kernel);
    }
}

/* Pointwise work that reads, element by element, what pointwise work in another kernel reads: a kernel to join. */
static bool join_beside(fuser *f, item *b, item *from)
{
    enum { TRIES = 64 };
    int dim[MAX_AXIS];
    const int all = stream_axes(f, b, dim);
    if (b->fold || common_axes(f, from, b) < all)
        return false;
    for (; from->beside < from->n_reader; from->beside++) {
        const item *r = reader_at(f, from, from->beside);
        if (r && !r->fold && (r->node->id >= b->node->id || f->kernel[r->kernel].n < MAX_STAGES))
            break;
    }
    for (int i = from->beside; i < from->n_reader && i < from->beside + TRIES; i++) {
        const item *r = reader_at(f, from, i);
        if (r && r->node->id < b->node->id && !r->fold && r->kernel >= 0 && !f->kernel[r->kernel].member[0]->fold &&
            common_axes(f, from, r) == all && join(f, b, r->kernel, NULL))
            return true;
    }
    return false;
}

static void leave_out(fuser *f) /* kernels of which nothing is left */
{
    int n = 0;
    for (int k = 0; k < f->n_kernel; k++) {
        if (!f->kernel[k].n)
            continue;
        f->kernel[n] = f->kernel[k];
        for (int i = 0; i < f->kernel[n].n; i++)
            f->kernel[n].member[i]->kernel = n;
        n++;
    }
    f->n_kernel = n;
}

/* Kernels of values that it reads, or of what reads those, too */
static bool find_kernel(fuser *f, item *it)
{
    const expr *load[MAX_LOADS];
    const int n = f->p->reference ? 0 : x_loads(it->value, load, MAX_LOADS);
    for (int k = 0; k < n && k < MAX_LOADS && it->kernel < 0; k++) {
        const item *from = f->item[load[k]->from->id];
        reason why = {0};
        if (from && from->kernel >= 0 && !join(f, it, from->kernel, &why))
            declined_add(&f->p->mem, &f->p->unfused, &(declined){it->node, from->node, "loops shared with", why, NULL});
    }
    for (int k = 0; k < n && k < MAX_LOADS && it->kernel < 0; k++)
        if (f->item[load[k]->from->id])
            join_beside(f, it, f->item[load[k]->from->id]);
    return it->kernel >= 0;
}

void share_loops(fuser *f)
{
    f->kernel = arena_array(&f->p->mem, (size_t)f->n + 1, sizeof *f->kernel);
    f->latest = arena_array(&f->p->mem, (size_t)f->n + 1, sizeof *f->latest);
    for (int i = 0; i < f->n; i++) {
        item *it = f->item[f->need[i]->id];
        if (!it || it->inlined)
            continue;
        it->kernel = -1;
        if (find_kernel(f, it)) {
            merge_operands(f, it);
            continue;
        }
        f->kernel[f->n_kernel] = (cluster){.n = 1, .member = {it}};
        kernel_joined(f, it->kernel = f->n_kernel++, it->node->id);
    }
    leave_out(f);
}
