/* fuse.c - which nodes become kernels, and with which others: the fusion pass.
 *
 * Requires: a graph and its roots. Guarantees: every kernel's stages compute all that is read from memory; loads name
 * leaves, values of earlier kernels, or earlier stages of the same kernel; a stage has at most one fold.
 *
 * Two mechanisms, both derived from definitions alone:
 *  - inlining: a node's expression replaces its loads. Pure movement always; pointwise work where it is not repeated; a
 *    fold under the pointwise work that follows it (its epilogue).
 *  - sharing loops: what is left materialised joins the kernel of a value it reads when both walk the same leading axes
 *    element by element: softmax, layer norm and attention become one kernel each, their rows held in scratch.
 * A scatter, a routine and a scan are kernels of their own, but for scans and folds of several values in a stream
 * (stream.c). A scan takes in what it reads once, a scatter movement
 * only, a routine nothing. */
#include "schedule/fuse.h"
#include "schedule/checkpointing.h"
#include "schedule/scan_plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- expressions of nodes with what is inlined put in ---- */
typedef struct substitution {
    fuser *f;
    item *into;
    int n_axis; /* of the definition being extended: folded axes of what comes in are added after these */
    int64_t *extent;
    int fold_axis; /* the first of them; -1: none yet */
} substitution;

static const expr *literal_of(arena *m, const node *n) /* a constant of one element is a literal */
{
    if (!n->leaf || n->leaf->kind != LEAF_CONST || type_count(&n->type) != 1)
        return NULL;
    if (dtype_class(n->type.dtype) == D_REAL)
        return x_cast(m, n->type.dtype, x_real(m, load_real(n->type.dtype, n->leaf->data, 0)));
    return x_cast(m, n->type.dtype, x_whole(m, load_whole(n->type.dtype, n->leaf->data, 0)));
}

static const expr *put_in(void *user, const expr *x)
{
    substitution *s = user;
    if (x->kind != X_LOAD)
        return x;
    const expr *lit = literal_of(&s->f->p->mem, x->from);
    if (lit)
        return lit;
    const item *from = s->f->item[x->from->id];
    if (!from || !from->inlined)
        return x;
    if (from->fold)
        s->into->main = from->main;
    const expr *axis[MAX_AXIS] = {0};
    bool same = from->n_axis == x->n; /* read at the reader's own axes, in order */
    for (int i = 0; i < x->n; i++) {
        axis[i] = x->arg[i];
        same = same && x->arg[i]->kind == X_AXIS && x->arg[i]->axis == i;
    }
    if (same)
        return from->value;
    const bool first = from->n_axis > x->n && s->fold_axis < 0;
    if (first)
        s->fold_axis = s->n_axis; /* the one fold may come in along several paths: the same axes every time */
    for (int i = x->n; i < from->n_axis; i++) {
        const int a = s->fold_axis + i - x->n;
        MUST(a < MAX_AXIS);
        axis[i] = x_axis(&s->f->p->mem, a);
        if (first)
            s->extent[s->n_axis++] = from->extent[i];
    }
    return x_rename(&s->f->p->mem, from->value, from->n_axis, axis);
}

/* ---- padding around a product ---- */
typedef struct padding {
    arena *mem;
    const expr *around, *inside; /* the product with the condition around it; the same with it around one operand */
} padding;

static const expr *moved_inside(void *user, const expr *x)
{
    const padding *q = user;
    return x == q->around ? q->inside : x;
}

static bool units_take(const target *t, dtype d)
{
    bool any = false;
    for (int i = 0; i < t->n_unit; i++)
        any = any || (t->unit[i].sums && t->unit[i].operand == d);
    return any;
}

/* A sum of "inside ? a b : 0" as one of "(inside ? a : 0) b", where the condition is about places of a alone: what
 * units take comes from slices, which have zeros there. */
static const expr *pad_operand(const fuser *f, const item *it, const expr *value)
{
    const expr *fold = x_find_fold(value), *x = fold && fold->kind == X_FOLD ? fold->arg[0] : NULL,
               *product = x && x->kind == X_CALL && x->fn->result == R_SECOND && x->arg[2]->kind == X_LIT &&
                                  x->arg[2]->lit == 0 && x->arg[2]->whole == 0
                              ? x->arg[1]
                              : NULL;
    if (!product || product->kind != X_CALL || strcmp(product->fn->name, "mul"))
        return value;
    for (int i = 0; i < 2; i++) {
        const expr *a = product->arg[i];
        arena *m = &f->p->mem;
        if (a->kind != X_LOAD || x_axes(x->arg[0]) & ~x_axes_of(a) ||
            !units_take(plan_on(f->p, item_site(f, it)), a->from->type.dtype))
            continue;
        a = x3(m, "select", x->arg[0], a, x->arg[2]);
        padding q = {m, x, x2(m, "mul", i ? product->arg[0] : a, i ? a : product->arg[1])};
        return x_map(m, value, moved_inside, &q);
    }
    return value;
}

static void define(fuser *f, item *it)
{
    substitution s = {f, it, it->n_axis, it->extent, -1};
    it->value = it->whole ? it->raw : pad_operand(f, it, x_map(&f->p->mem, it->raw, put_in, &s));
    it->n_axis = s.n_axis;
    it->fold = x_find_fold(it->value) != NULL;
    if (!it->fold && !x_alone(it->value))
        it->n_axis = it->node->type.rank; /* times 0, or modulo 1, nothing is left of what was folded */
    if (!it->main)
        it->main = it->node;
}

/* ---- what may be inlined ---- */
int64_t item_volume(const item *it)
{
    int64_t n = 1;
    for (int i = 0; i < it->n_axis; i++)
        n *= it->extent[i];
    return n;
}

/* Halves are widened when they are loaded, whatever they become. */
bool item_is_view(const item *it)
{
    const expr *x = it->raw;
    if (x->kind == X_CAST && x->dtype == TS_F32 && dtype_class(x->arg[0]->dtype) == D_REAL &&
        ts_dtype_bytes(x->arg[0]->dtype) == 2)
        x = x->arg[0];
    return x->kind == X_LOAD;
}

bool item_walks_along(const expr *load, const item *reader)
{
    uint32_t seen = 0;
    for (int i = 0; i < load->n; i++) {
        if (load->arg[i]->kind == X_LIT && load->from->type.dim[i] == 1)
            continue;
        if (load->arg[i]->kind != X_AXIS || seen >> load->arg[i]->axis & 1)
            return false;
        seen |= 1u << load->arg[i]->axis;
    }
    for (int i = 0; i < reader->n_axis; i++)
        if (reader->extent[i] != 1 && !(seen >> i & 1))
            return false;
    return true;
}

const expr *item_only_load(const item *reader, const node *n)
{
    const expr *load[MAX_LOADS], *found = NULL;
    const int total = x_loads(reader->raw, load, MAX_LOADS);
    for (int i = 0; i < total && i < MAX_LOADS; i++) {
        if (load[i]->from != n)
            continue;
        if (found)
            return NULL;
        found = load[i];
    }
    return found;
}

static int part_of(const fuser *f, const item *it) /* that rules make kernels of; views are no work of their own */
{
    return f->p->apart && it && !item_is_view(it) ? f->p->apart[it->node->id] : 0;
}

int item_site(const fuser *f, const item *it)
{
    while (f->p->placed && it && item_is_view(it)) {
        const expr *x = it->raw->kind == X_CAST ? it->raw->arg[0] : it->raw;
        const item *from = f->item[x->from->id];
        if (!from)
            break;
        it = from;
    }
    const int placed = f->p->placed && it ? f->p->placed[it->node->id] : 0;
    return placed ? placed - 1 : 0;
}

bool item_crosses(const fuser *f, const item *it)
{
    bool any = false;
    for (int i = 0; f->p->placed && i < it->n_reader && !any; i++) {
        const item *r = f->item[it->reader[i]];
        any = item_is_view(r) ? item_crosses(f, r) : item_site(f, r) != item_site(f, it);
    }
    return any;
}

static bool together(const fuser *f, const item *a, const item *b) /* as far as rules and sites go */
{
    return part_of(f, a) == part_of(f, b) && item_site(f, a) == item_site(f, b);
}

static int most_operands(const fuser *f, const item *it) /* of a kernel where it is computed */
{
    const int most = plan_on(f->p, item_site(f, it))->operands;
    return most ? most : INT_MAX;
}

static bool all_at_home(const fuser *f, const item *it) /* who reads it; movement may end up anywhere */
{
    bool all = !item_crosses(f, it);
    for (int i = 0; f->p->placed && i < it->n_reader && all; i++)
        all = f->item[it->reader[i]]->owner != NULL;
    return all;
}

static bool may_join(const fuser *f, const item *it, const item *owner) /* as far as rules and sites go */
{
    return part_of(f, it) == part_of(f, owner) && all_at_home(f, it);
}

typedef struct readers { /* how the readers of a node read it, all taken together */
    item *owner;         /* the one they all end up in; NULL: several, or none */
    bool along;          /* each element by one step of the reader's loops */
    bool fits;           /* computed there, nothing would be computed more often */
    bool moved;          /* through movement */
} readers;

/* Halves become f32 where they are: a view that moves nothing. */
static bool widens(const item *r, const expr *load)
{
    return r->raw->kind == X_CAST && load && item_walks_along(load, r);
}

static readers readers_of(const fuser *f, const item *it)
{
    readers q = {.along = true, .fits = true};
    for (int i = 0; i < it->n_reader; i++) {
        item *r = f->item[it->reader[i]];
        const expr *load = item_only_load(r, it->node);
        const bool taken = stream_takes(r, it, load);
        if (!r->owner || (q.owner && q.owner != r->owner))
            q.fits = false;
        q.owner = r->owner;
        q.along = q.along && load && (taken || item_walks_along(load, r));
        q.fits = q.fits && load &&
                 (taken || (item_volume(r) <= type_count(&it->node->type) && (!item_is_view(r) || r->once)));
        q.moved = q.moved || (item_is_view(r) && !taken && !widens(r, load)) || (r->inlined && r->strayed);
    }
    return q;
}

static bool stays(const fuser *f, const item *it, const item *owner)
{
    for (int i = 0; i < it->n_reader; i++)
        if (f->item[it->reader[i]]->whole)
            return true;
    if (it->root || it->alone || stream_stays(f, it) || (!item_is_view(it) && !may_join(f, it, owner)))
        return true;
    return !item_is_view(it) && owner && owner->takes_fold && checkpointing_solid(f->p, it->node);
}

static void inline_view(fuser *f, item *it, const readers *q)
{
    if (!inline_take(f, it, q->owner))
        return;
    it->inlined = true, it->owner = q->fits || it->n_reader == 1 || q->owner ? q->owner : NULL;
    for (int i = 0; i < it->n_reader; i++) /* movement that several kernels read belongs to none of them */
        if (f->item[it->reader[i]]->owner != it->owner)
            it->owner = NULL;
}

static void inline_work(fuser *f, item *it, const readers *q)
{
    item *owner = q->owner;
    if (!owner || !q->fits || (it->n_reader != 1 && !q->along)) {
        if (rematerialize_take(f, it))
            it->inlined = true, it->owner = NULL;
        return;
    }
    if (it->fold && (q->moved || !q->along || owner->takes_fold))
        return;
    const int reads = owner->reads + it->reads - 1; /* instead of the load of this one, its own */
    if (reads > MAX_LOADS || reads >= most_operands(f, owner) || !inline_take(f, it, owner))
        return;
    it->inlined = true, it->owner = owner, owner->reads = reads;
    owner->takes_fold = owner->takes_fold || it->fold, owner->contracts = owner->contracts || it->contracts;
}

/* Decided from the results backwards: a node goes into the kernel of the one materialised node that all its readers end
 * up in (its owner), if nothing is computed more often for it. Pure movement always goes. */
static void decide_inline(fuser *f, item *it)
{
    stream_find(f, it);
    const readers q = readers_of(f, it);
    it->owner = it, it->once = q.fits, it->strayed = q.moved || !q.along;
    if (stays(f, it, q.owner))
        return;
    if (item_is_view(it))
        inline_view(f, it, &q);
    else if (!f->p->reference)
        inline_work(f, it, &q);
}

/* ---- building the items ---- */
static void add_reader(fuser *f, item *it, int reader)
{
    if (!it || (it->n_reader && it->reader[it->n_reader - 1] == reader))
        return;
    if (it->n_reader == it->cap_reader) {
        const int cap = it->cap_reader ? 2 * it->cap_reader : 4;
        int *more = arena_array(&f->p->mem, (size_t)cap, sizeof *more);
        if (it->n_reader)
            memcpy(more, it->reader, (size_t)it->n_reader * sizeof *more);
        it->reader = more, it->cap_reader = cap;
    }
    it->reader[it->n_reader++] = reader;
}

static bool make_items(fuser *f, err *e)
{
    plan *p = f->p;
    const int count = g_reach(p->n_root, p->root, NULL);
    f->need = arena_array(&p->mem, (size_t)count + 1, sizeof *f->need);
    f->n = g_reach(p->n_root, p->root, f->need);
    f->item = arena_array(&p->mem, (size_t)p->g->n, sizeof *f->item);
    for (int i = 0; i < f->n; i++) {
        const node *n = f->need[i];
        if (node_is_leaf(n))
            continue;
        item *it = f->item[n->id] = arena_get(&p->mem, sizeof *it);
        const expr *load[MAX_LOADS];
        defn d;
        it->node = n;
        if (!g_defn(n, &p->mem, &d, e))
            return false;
        if (scan_planned(p, n))
            d.value = scan_reads(p, n, d.value);
        it->raw = it->value = d.value, it->n_axis = d.n_axis;
        it->fold = x_find_fold(d.value) != NULL;
        it->whole = d.value->kind == X_ROUTINE;
        it->alone = x_alone(d.value) && !it->fold;
        it->takes_fold = it->fold || it->alone;
        it->reads = x_loads(d.value, load, MAX_LOADS);
        it->contracts = it->fold && it->reads > 1;
        memcpy(it->extent, d.extent, sizeof d.extent);
        for (int k = 0; k < n->n_in; k++)
            add_reader(f, f->item[n->in[k]->id], n->id);
    }
    for (int i = 0; i < p->n_root; i++)
        if (f->item[p->root[i]->id])
            f->item[p->root[i]->id]->root = true;
    for (int i = f->n; i-- > 0;)
        if (f->item[f->need[i]->id])
            decide_inline(f, f->item[f->need[i]->id]);
    for (int i = 0; i < f->n; i++)
        if (f->item[f->need[i]->id])
            define(f, f->item[f->need[i]->id]);
    return true;
}

/* ---- sharing loops ---- */
static bool chooses(const item *it, int axis) /* to be unrolled: its trips share what they load */
{
    stage s = {.value = it->value};
    memcpy(s.extent, it->extent, sizeof s.extent);
    return stage_choice(&s, axis, NULL);
}

static int64_t results(const item *it)
{
    int64_t n = 1;
    for (int i = 0; i < it->node->type.rank; i++)
        n *= it->extent[i];
    return n;
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
        if (a->extent[da[i]] != b->extent[db[i]] || low_of(a, da[i]) != low_of(b, db[i]))
            return false;
    return true;
}

/* Of the shared loops the last one is taken several trips at a time. Where a slice is used again by trips of others
 * alone, no register tile has its rows: it would be read once for each multiplication. */
static bool has_rows(const item *it, int last, uint32_t lacks)
{
    enum { ROWS = 4 };
    int64_t again = 1;
    for (int a = 0; a < it->n_axis; a++)
        again *= lacks >> a & 1 ? it->extent[a] : 1;
    const int64_t near = lacks >> last & 1 ? it->extent[last] : 1;
    return near >= ROWS || again == near;
}

/* A contraction reads its operands many times. Walking only rows of it is free when each operand has the rows' axes, or
 * at least a batch axis and a slice that stays in the cache; weights have neither, and would be streamed again for
 * every row. Where none has all the rows' axes (images and channels), both would be. */
static bool rows_are_cheap(const fuser *f, const item *it, int shared)
{
    const expr *load[MAX_LOADS];
    int dim[MAX_AXIS];
    const target *on = plan_on(f->p, item_site(f, it));
    uint32_t rows = 0;
    int folded = 0, whole = 0; /* operands under the fold, and those of them that have all the rows' axes */
    const int n = x_loads(it->value, load, MAX_LOADS);
    stream_axes(f, it, dim);
    int64_t own = results(it);
    if (own == 0)
        return true; /* nothing is computed */
    for (int i = 0; i < shared; i++)
        rows |= 1u << dim[i], own /= it->extent[dim[i]];
    const bool streams = shared > 1 && dim[shared - 1] == it->stream;         /* the last loop is walked in order */
    const uint32_t kept = it->stream < 0 ? rows : rows & ~(1u << it->stream); /* along a stream everything passes by */
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        uint32_t axes = 0;
        int64_t slice = ts_dtype_bytes(load[i]->from->type.dtype);
        for (int k = 0; k < load[i]->n; k++)
            axes |= x_axes(load[i]->arg[k]);
        if (axes >> it->node->type.rank)
            folded++, whole += (axes & kept) == kept;
        if (!(axes & ~rows) || (axes & kept) == kept)
            continue;
        for (int a = 0; a < it->n_axis; a++)
            if ((axes & ~rows) >> a & 1)
                slice *= it->extent[a];
        if (item_volume(it) / results(it) < 8)
            continue; /* little reuse */
        if (own < 4)
            return false; /* nothing would be left for a register tile */
        const uint32_t own_axes = axes & ~rows;
        const bool matrix = axes >> it->node->type.rank && own_axes & (own_axes - 1);
        if (matrix && axes & rows && !has_rows(it, dim[shared - 1 - streams], kept & ~axes))
            return false;
        if (slice <= 4096)
            continue; /* a vector */
        if (!(axes & rows) || slice > target_bytes(on, on->near) / 2)
            return false;
    }
    return folded < 2 || whole || item_volume(it) / results(it) < 8;
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

/* Nodes older than this do not depend on the kernel: they are in no kernel with one that could. */
static int oldest_way(const fuser *f, int to)
{
    int oldest = f->kernel[to].member[0]->node->id;
    for (int k = to; latest_before(f, k) >= oldest && k-- > 0;) /* kernels stand in the order of their first members */
        if (f->kernel[k].member[f->kernel[k].n - 1]->node->id >= oldest)
            oldest = f->kernel[k].member[0]->node->id;
    return oldest;
}

/* A search for ways from a value back to a kernel. It ends after so many nodes, with the answer that keeps kernels
 * apart: in a recurrence and its gradient, most ways go through all steps between. */
typedef struct search {
    int to, oldest, from, left;
} search;
enum { SEARCHED = 512 };

/* Does n depend on the kernel, from outside? What shares a kernel with n must be there too. */
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

/* Pointwise work over the same elements: walked in blocks together, what one stage gives the next is still near. */
static bool all_pointwise(const fuser *f, const cluster *c, const item *b, int shared)
{
    int dim[MAX_AXIS];
    bool all = !b->fold && !item_is_view(b) && stream_axes(f, b, dim) == shared;
    for (int i = 0; all && i < c->n; i++)
        all = !c->member[i]->fold && !item_is_view(c->member[i]) && stream_axes(f, c->member[i], dim) == shared;
    return all;
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
        for (int k = 0; load[i]->from == n && k < load[i]->n; k++)
            axes |= x_axes(load[i]->arg[k]);
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
static bool operands_fit(const fuser *f, const cluster *c, const item *b)
{
    const int most = most_operands(f, b);
    const node *seen[(MAX_STAGES + 1) * (MAX_LOADS + 1)];
    int n = 0;
    for (int i = 0; i <= c->n && n <= most && most < INT_MAX; i++) {
        const item *it = i < c->n ? c->member[i] : b;
        const expr *load[MAX_LOADS];
        const int loads = x_loads(it->value, load, MAX_LOADS);
        n = add_value(seen, n, it->node);
        for (int k = 0; k < loads && k < MAX_LOADS; k++)
            n = add_value(seen, n, load[k]->from);
    }
    return n <= most;
}

static bool join(fuser *f, item *b, int to)
{
    cluster *c = &f->kernel[to];
    int shared = c->n == 1 ? MAX_RANK : c->shared;
    const int depth = stream_depth(f, b);
    if (c->n == MAX_STAGES || !depth != !stream_depth(f, c->member[0]) ||
        (!depth && (b->alone || c->member[0]->alone)) || !together(f, b, c->member[0]) ||
        !checkpointing_joins(f->p, b->node, c->member[0]->node))
        return false;
    for (int i = 0; i < c->n; i++) {
        const int n = common_axes(f, c->member[i], b);
        shared = n < shared ? n : shared;
    }
    if (depth && shared < depth)
        return false;
    shared = depth ? depth : shared;
    /* A mere copy is stored anyway; its reader shares more loops with those that read the reader. */
    if (shared < 1 || (c->n == 1 && item_is_view(c->member[0]) && !c->member[0]->fold && b->fold))
        return false;
    /* Attention that shares the batch alone with the mask it reads would keep the scores of all heads and rows. */
    if (b->contracts && shared < axes_after(f, b))
        return false;
    for (int i = 0; i < c->n; i++)
        if (!same_rows(f, c->member[i], b, shared) || !rows_are_cheap(f, c->member[i], shared))
            return false;
    if (!rows_are_cheap(f, b, shared))
        return false;
    bool folds = b->fold;
    for (int i = 0; i < c->n; i++)
        folds = folds || c->member[i]->fold;
    if ((!folds && !all_pointwise(f, c, b, shared)) || !operands_fit(f, c, b) || cycle(f, b, to, ++f->visit))
        return false;
    c->member[c->n++] = b, c->shared = shared, b->kernel = to;
    kernel_joined(f, to, b->node->id);
    return true;
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
            common_axes(f, from, r) == all && join(f, b, r->kernel))
            return true;
    }
    return false;
}

static void cluster_items(fuser *f)
{
    f->kernel = arena_array(&f->p->mem, (size_t)f->n + 1, sizeof *f->kernel);
    f->latest = arena_array(&f->p->mem, (size_t)f->n + 1, sizeof *f->latest);
    for (int i = 0; i < f->n; i++) {
        item *it = f->item[f->need[i]->id];
        const expr *load[MAX_LOADS];
        if (!it || it->inlined)
            continue;
        it->kernel = -1;
        const int n = x_loads(it->value, load, MAX_LOADS);
        for (int k = 0; !f->p->reference && k < n && k < MAX_LOADS && it->kernel < 0; k++) {
            const item *from = f->item[load[k]->from->id];
            if (from && from->kernel >= 0)
                join(f, it, from->kernel);
        }
        for (int k = 0; !f->p->reference && k < n && k < MAX_LOADS && it->kernel < 0; k++)
            if (f->item[load[k]->from->id])
                join_beside(f, it, f->item[load[k]->from->id]);
        if (it->kernel >= 0)
            continue;
        f->kernel[f->n_kernel] = (cluster){.n = 1, .member = {it}};
        kernel_joined(f, it->kernel = f->n_kernel++, it->node->id);
    }
}

/* Kernels in an order in which each one's operands are there: by the last of its members, moved behind what
 * it needs. */
static void visit(fuser *f, int k)
{
    cluster *c = &f->kernel[k];
    if (c->done)
        return;
    c->done = true;
    for (int i = 0; i < c->n; i++) {
        const expr *load[MAX_LOADS];
        const int n = x_loads(c->member[i]->value, load, MAX_LOADS);
        for (int j = 0; j < n && j < MAX_LOADS; j++) {
            const item *from = f->item[load[j]->from->id];
            if (from && from->kernel != k)
                visit(f, from->kernel);
        }
    }
    f->order[f->n_order++] = k;
}

/* Whether another kernel is to be computed first */
static bool waits(const fuser *f, const cluster *c)
{
    bool any = false;
    for (int i = 0; i < c->n; i++) {
        const expr *load[MAX_LOADS];
        const int n = x_loads(c->member[i]->value, load, MAX_LOADS);
        for (int j = 0; j < n && j < MAX_LOADS; j++)
            any = any || (f->item[load[j]->from->id] && f->item[load[j]->from->id]->kernel != c->member[0]->kernel);
    }
    return any;
}

typedef struct turn {
    int due, kernel;
} turn;

static int by_turn(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    return x->due != y->due ? (x->due < y->due ? -1 : 1) : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

/* When it is due. What only sums up a value comes right behind it, while the value is in a cache; what needs inputs and
 * weights only is not, and is computed where it is first read. */
static int due_of(const fuser *f, int k, const turn *all)
{
    const item *it = f->kernel[k].member[0];
    const expr *load[MAX_LOADS];
    const int due = waits(f, &f->kernel[k]) ? checkpointing_due(f->p, it->node) : INT_MAX;
    if (f->kernel[k].n > 1 || !it->fold || it->alone || x_loads(it->value, load, MAX_LOADS) != 1 ||
        item_volume(it) < 8 * results(it))
        return due;
    const item *of = f->item[load[0]->from->id];
    return of && all[of->kernel].due < due ? all[of->kernel].due : due;
}

bool pass_fuse(plan *p, err *e)
{
    fuser f = {.p = p};
    if (p->fused)
        return true;
    p->n_kernel = 0;
    if (!make_items(&f, e))
        return false;
    demand_items(&f);
    cluster_items(&f);
    f.order = arena_array(&p->mem, (size_t)f.n_kernel + 1, sizeof *f.order);
    turn *all = arena_array(&p->mem, (size_t)f.n_kernel + 1, sizeof *all);
    for (int k = 0; k < f.n_kernel; k++)
        all[k] = (turn){due_of(&f, k, all), k};
    qsort(all, (size_t)f.n_kernel, sizeof *all, by_turn);
    for (int k = 0; k < f.n_kernel; k++)
        visit(&f, all[k].kernel);
    return p->fused = form_kernels(&f, e);
}
