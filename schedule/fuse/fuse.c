/* fuse.c - which nodes become kernels, and with which others: the fusion pass.
 *
 * Requires: a graph and its roots. Guarantees: every kernel's stages compute all that is read from memory; loads name
 * leaves, values of earlier kernels, or earlier stages of the same kernel; a stage has at most one fold.
 *
 * Two mechanisms, both derived from definitions alone:
 *  - inlining, here: a node's expression replaces its loads. Pure movement always; pointwise work where it is not
 *    repeated; a fold under the pointwise work that follows it (its epilogue).
 *  - sharing loops, share.c: what is left materialised joins the kernel of a value it reads.
 * A scatter, a routine and a scan are kernels of their own, but for scans and folds of several values in a stream
 * (stream.c). A scan takes in what it reads once, a scatter movement only, a routine nothing. */
#include "schedule/fuse/fuse.h"
#include "schedule/plan/checkpointing.h"
#include "schedule/plan/extents.h"
#include "schedule/plan/plan.h"

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

static const expr *literal_of(arena *mem, const node *n) /* a constant of one element is a literal */
{
    if (!n->leaf || n->leaf->kind != LEAF_CONST || type_count(&n->type) != 1)
        return NULL;
    if (dtype_class(n->type.dtype) == D_REAL)
        return x_cast(mem, n->type.dtype, x_real(mem, load_real(n->type.dtype, n->leaf->data, 0)));
    return x_cast(mem, n->type.dtype, x_whole(mem, load_whole(n->type.dtype, n->leaf->data, 0)));
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
            s->into->varies[s->n_axis] = from->varies[i], s->extent[s->n_axis++] = from->extent[i];
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
               *product = x && x_is_choice(x) && x->arg[2]->kind == X_LIT && x->arg[2]->lit == 0 &&
                                  x->arg[2]->whole == 0
                              ? x->arg[1]
                              : NULL;
    if (!product || !x_is_call(product, "mul"))
        return value;
    for (int i = 0; i < 2; i++) {
        const expr *a = product->arg[i];
        arena *mem = &f->p->mem;
        if (a->kind != X_LOAD || x_axes(x->arg[0]) & ~x_axes_of(a) ||
            !units_take(plan_on(f->p, item_site(f, it)), a->from->type.dtype))
            continue;
        a = x3(mem, "select", x->arg[0], a, x->arg[2]);
        padding q = {mem, x, x2(mem, "mul", i ? product->arg[0] : a, i ? a : product->arg[1])};
        return x_map(mem, value, moved_inside, &q);
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
        it->n_axis = it->node->type.rank; /* factors of 0 and modulo 1 cancelled all that was folded */
    if (!it->main)
        it->main = it->node;
}

/* ---- what may be inlined ---- */
static bool is_computed(const expr *load) /* at a place that data say */
{
    bool any = false;
    for (int i = 0; i < load->n && !any; i++)
        any = x_count(load->arg[i], X_LOAD) > 0;
    return any;
}

/* Whether it gathers from checked, data-dependent places for pointwise work that reads elements several times:
 * gathering once lets that read neighbours. */
static bool is_gathered(const fuser *f, const item *it)
{
    const item *from = it;
    bool any = false;
    if (!item_is_view(it) || it->n_reader < 2 || f->p->reference)
        return false;
    for (int i = 0; i < it->n_reader; i++) {
        const item *r = f->item[it->reader[i]];
        const expr *load = item_only_load(r, it->node);
        if (r->fold || r->alone || (r->owner && r->owner->takes_fold) || !load || !item_walks_along(load, r))
            return false;
    }
    for (; from && item_is_view(from) && !any; from = f->item[x_uncast(from->raw)->from->id])
        any = is_computed(x_uncast(from->raw));
    return any;
}

static bool all_at_home(const fuser *f, const item *it) /* all readers are on its device; movement may be anywhere */
{
    bool all = !item_crosses(f, it);
    for (int i = 0; f->p->placed && i < it->n_reader && all; i++)
        all = f->item[it->reader[i]]->owner != NULL;
    return all;
}

static bool may_join(const fuser *f, const item *it, const item *owner) /* as far as rules and sites go */
{
    return item_part(f, it) == item_part(f, owner) && all_at_home(f, it);
}

typedef struct readers { /* how the readers of a node read it, all taken together */
    item *owner;         /* the one they all end up in; NULL: several, or none */
    bool along;          /* each element by one step of the reader's loops */
    bool fits;           /* computed there, nothing would be computed more often */
    bool moved;          /* through movement */
    bool several;        /* owners */
    reason why;          /* it does not fit */
} readers;

/* Halves become f32 where they are: a view that moves nothing. */
static bool widens(const item *r, const expr *load)
{
    return r->raw->kind == X_CAST && load && item_walks_along(load, r);
}

/* Whether it is computed no more often in reader r, to which it goes through movement */
static bool fits_in(const item *r, const item *it, const expr *load, reason *why)
{
    if (!load)
        return reason_is(why, "it is read at several places");
    if (stream_takes(r, it, load))
        return true;
    if (item_volume(r) > type_count(&it->node->type))
        return reason_most(why, "elements computed where it is read", (double)item_volume(r),
                           (double)type_count(&it->node->type));
    return !item_is_view(r) || r->once || reason_is(why, "movement to its reader repeats elements");
}

static readers readers_of(const fuser *f, const item *it)
{
    readers q = {.along = true, .fits = true};
    for (int i = 0; i < it->n_reader; i++) {
        item *r = f->item[it->reader[i]];
        const expr *load = item_only_load(r, it->node);
        const bool taken = stream_takes(r, it, load);
        if (!r->owner || (q.owner && q.owner != r->owner))
            q.several = true, q.fits = reason_is(&q.why, "several kernels read it");
        q.owner = r->owner;
        q.along = q.along && load && (taken || item_walks_along(load, r));
        q.fits = q.fits && fits_in(r, it, load, &q.why);
        q.moved = q.moved || (item_is_view(r) && !taken && !widens(r, load)) || (r->inlined && r->strayed);
    }
    return q;
}

static bool keep(item *it, const char *why) /* true */
{
    reason_is(&it->kept, why);
    return true;
}

static bool stays(const fuser *f, item *it, const item *owner)
{
    for (int i = 0; i < it->n_reader; i++)
        if (f->item[it->reader[i]]->whole)
            return keep(it, "a routine takes it whole");
    it->gathered = is_gathered(f, it);
    if (it->root)
        return keep(it, "it is a result");
    if (it->alone)
        return keep(it, "it has loops of its own, as scans and scatters do");
    if (stream_stays(f, it) || it->gathered)
        return keep(it, "several read what is moved here, once");
    if (item_is_view(it))
        return false;
    if (!may_join(f, it, owner))
        return keep(it, "a rule, or devices, keep them apart");
    return owner && owner->takes_fold && checkpointing_solid(f->p, it->node) &&
           keep(it, "it is computed again for the backward pass, as a value of its own");
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
        it->kept = q->why;
        if (owner && q->fits)
            reason_is(&it->kept, "several read it, and not at their own axes");
        if (rematerialize_take(f, it))
            it->inlined = true, it->owner = NULL;
        return;
    }
    if (it->fold && (q->moved || !q->along)) {
        reason_is(&it->kept, "it is a sum that is not read at its reader's own axes");
        return;
    }
    if (it->fold && owner->takes_fold) {
        reason_most(&it->kept, "sums of one stage", 2, 1);
        return;
    }
    const int reads = owner->reads + it->reads - 1; /* instead of the load of this one, its own */
    const int most = (int)int_min(MAX_LOADS, (int64_t)item_operands(f, owner) - 1);
    if (reads > most) {
        reason_most(&it->kept, "values read", reads, most);
        return;
    }
    if (!inline_follows(f, it, owner) || !inline_take(f, it, owner))
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
    it->read_by = q.owner && !q.several ? q.owner->node : NULL;
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
    it->reader = arena_grown(&f->p->mem, it->reader, it->n_reader, &it->cap_reader, sizeof *it->reader);
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
        d.value = extents_element(p, n, d.value);
        it->raw = it->value = d.value, it->n_axis = d.n_axis;
        it->fold = x_find_fold(d.value) != NULL;
        it->whole = d.value->kind == X_ROUTINE;
        it->alone = x_alone(d.value) && !it->fold;
        it->takes_fold = it->fold || it->alone;
        it->reads = x_loads(d.value, load, MAX_LOADS);
        it->contracts = it->fold && it->reads > 1;
        memcpy(it->extent, d.extent, sizeof d.extent);
        for (int k = 0; k < d.n_axis; k++)
            it->varies[k] = extents_of(p, n, k);
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

static void say_kept(fuser *f)
{
    for (int i = 0; i < f->n; i++) {
        const item *it = f->item[f->need[i]->id];
        if (it && !it->inlined && it->n_reader)
            declined_add(
                &f->p->mem, &f->p->unfused,
                &(declined){it->node, it->read_by, it->read_by ? "inlining into" : "inlining", it->kept, NULL});
    }
}

/* ---- kernels in order ---- */
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
        item_volume(it) < 8 * item_results(it))
        return due;
    const item *of = f->item[load[0]->from->id];
    return of && all[of->kernel].due < due ? all[of->kernel].due : due;
}

bool pass_fuse(plan *p, err *e)
{
    fuser f = {.p = p};
    if (p->fused)
        return true;
    p->n_kernel = 0, p->unfused = (declined_list){0};
    if (!make_items(&f, e))
        return false;
    demand_items(&f);
    share_loops(&f), say_kept(&f);
    f.order = arena_array(&p->mem, (size_t)f.n_kernel + 1, sizeof *f.order);
    turn *all = arena_array(&p->mem, (size_t)f.n_kernel + 1, sizeof *all);
    for (int k = 0; k < f.n_kernel; k++)
        all[k] = (turn){due_of(&f, k, all), k};
    qsort(all, (size_t)f.n_kernel, sizeof *all, by_turn);
    for (int k = 0; k < f.n_kernel; k++)
        visit(&f, all[k].kernel);
    return p->fused = form_kernels(&f, e);
}

bool fuse_kernels(plan *p, err *e)
{
    return pass_fuse(p, e) && plan_check(p, e);
}
