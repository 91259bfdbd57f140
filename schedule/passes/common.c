/* common.c - the pass of common subexpressions: what the elements of several nodes have in common, where it takes a
 * processor long, becomes a node of its own, which all of them read.
 *
 * Requires: a graph. Guarantees: roots of the same values, to the bit; what was lifted is kept inside a kernel, or is
 * dearer than its way through memory. Nodes that are spelled out (formulas, elements) alone are made anew: what has a
 * name keeps it, and is read where it is such a part by itself. */
#include "graph/passes/spell.h"
#include "schedule/fuse/fuse.h"
#include "schedule/passes/passes.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 8,     /* steps (fn.steps) from which on a part is worth a place in a cache */
    PER_BYTE = 8,  /* steps in the time of a byte that goes to memory, or comes from there */
    BUCKETS = 256, /* of parts, by what they are */
    TRIES = 3
};

typedef struct part { /* a subexpression, wherever it occurs */
    const expr *x;    /* over axes 0, 1, ... in the order of those that it had */
    int n_axis;
    int64_t extent[MAX_AXIS];
    double steps; /* of one element */
    int users;    /* nodes that have it */
    int last;     /* the id of the latest of these */
    int within;   /* the part that contains every occurrence of it, or ALONE */
    bool lifted, refused;
    const node *made;
    int next; /* in its bucket; -1: it is the last */
} part;
enum { ALONE = -1, UNKNOWN = -2 };

typedef struct search {
    plan *p;
    arena mem; /* of what is searched */
    int n_need, n, cap, bucket[BUCKETS];
    const node **need;
    const node **now; /* by id of the n_old nodes that were there: what each is now */
    int n_old;
    part *part;
    double saved; /* steps, by what is lifted */
} search;

/* ---- what may be lifted ---- */
/* A load that is in bounds without the conditions around it */
static bool is_plain_load(const expr *x, const int64_t *extent)
{
    bool plain = true;
    for (int i = 0; i < x->n && plain; i++) {
        const expr *s = x->arg[i];
        const int64_t dim = x->from->type.dim[i];
        plain = s->kind == X_AXIS ? extent[s->axis] <= dim : s->kind == X_LIT && s->whole >= 0 && s->whole < dim;
    }
    return plain;
}

static bool is_plain(const expr *x, const int64_t *extent)
{
    if (x->kind == X_LOAD)
        return is_plain_load(x, extent);
    bool plain = x->kind == X_LIT || x->kind == X_AXIS || x->kind == X_CAST ||
                 (x->kind == X_CALL && !x_is_call(x, "at") && !x_is_call(x, "stop"));
    for (int i = 0; i < x->n && plain; i++)
        plain = is_plain(x->arg[i], extent);
    return plain;
}

static double steps_of(const expr *x)
{
    double n = x->kind == X_CALL && dtype_class(x->dtype) == D_REAL ? x->fn->steps : 0;
    for (int i = 0; x->kind != X_LOAD && i < x->n; i++)
        n += steps_of(x->arg[i]);
    return n;
}

/* Worth storing: long, and of a dtype that memory keeps exactly (halves would be rounded) */
static bool is_dear(const expr *x, const int64_t *extent)
{
    return x->kind == X_CALL && (x->dtype == TS_F32 || x->dtype == TS_F64) && steps_of(x) >= LEAST &&
           is_plain(x, extent) && x_count(x, X_LOAD) > 0;
}

/* ---- the table of parts ---- */
static unsigned hash_of(const expr *x)
{
    unsigned h = (unsigned)x->kind * 31u + (unsigned)x->dtype;
    h = h * 31u + (x->from ? (unsigned)x->from->id : 0) + (unsigned)x->axis;
    for (const char *s = x->fn ? x->fn->name : ""; *s; s++)
        h = h * 31u + (unsigned char)*s;
    for (int i = 0; i < x->n; i++)
        h = h * 37u + hash_of(x->arg[i]);
    return h;
}

/* x with its axes renumbered 0, 1, ...; own[i] is what axis i was */
static const expr *numbered(arena *mem, const expr *x, int *n_axis, int *own)
{
    const expr *axis[MAX_AXIS] = {0};
    const uint32_t all = x_axes(x);
    *n_axis = 0;
    for (int a = 0; a < MAX_AXIS; a++)
        if (all >> a & 1)
            own[*n_axis] = a, axis[a] = x_axis(mem, (*n_axis)++);
    return x_rename(mem, x, MAX_AXIS, axis);
}

/* The number of the part that x is; -1: there is none, unless `add` makes one. */
static int part_of(search *s, const expr *x, const int64_t *extent, bool add, int *own)
{
    int n_axis;
    const expr *same = numbered(&s->mem, x, &n_axis, own);
    int *first = &s->bucket[hash_of(same) % BUCKETS], i;
    for (i = *first; i >= 0; i = s->part[i].next) {
        bool alike = s->part[i].n_axis == n_axis && x_same(s->part[i].x, same);
        for (int a = 0; alike && a < n_axis; a++)
            alike = s->part[i].extent[a] == extent[own[a]];
        if (alike)
            return i;
    }
    if (!add || n_axis > MAX_RANK)
        return -1;
    s->part = heap_grown(s->part, s->n, &s->cap, sizeof *s->part);
    part *q = &s->part[s->n];
    *q = (part){.x = same, .n_axis = n_axis, .steps = steps_of(same), .last = -1, .within = UNKNOWN, .next = *first};
    for (int a = 0; a < n_axis; a++)
        q->extent[a] = extent[own[a]];
    return *first = s->n++;
}

/* ---- who has what ---- */
static bool spelled_out(const node *n)
{
    bool any = false;
    for (const attr_spec *s = n->op->attr; s && s->name && !any; s++)
        any = !strcmp(s->name, "text");
    return any && !n->n_output && !n->trip;
}

/* The expression under the fold, or the whole value; NULL: the node cannot be rebuilt from it. */
static const expr *body_of(const defn *d)
{
    const expr *x = d->value;
    const uint32_t folded = ((1u << d->n_axis) - 1) & ~((1u << d->node->type.rank) - 1);
    if (x->kind == X_FOLD && x->folds == folded)
        x = x->arg[0];
    return x_count(x, X_FOLD) || x_alone(x) || x_folds(x) || x_find(x, X_STATE) ? NULL : x;
}

static void note(search *s, const node *n, const defn *d, const expr *x, int within)
{
    int own[MAX_AXIS];
    if (x->kind == X_LOAD)
        return;
    if (is_dear(x, d->extent)) {
        const int i = part_of(s, x, d->extent, true, own);
        part *q = i < 0 ? NULL : &s->part[i];
        if (q) {
            q->users += q->last != n->id, q->last = n->id;
            q->within = q->within == UNKNOWN || q->within == within ? within : ALONE;
            within = i;
        }
    }
    for (int i = 0; i < x->n; i++)
        note(s, n, d, x->arg[i], within);
}

static bool find_parts(search *s, err *e)
{
    const plan *p = s->p;
    for (int i = 0; i < BUCKETS; i++)
        s->bucket[i] = -1;
    for (int i = 0; i < s->n_need; i++) {
        const node *n = s->need[i];
        defn d;
        if (node_is_leaf(n) || n->trip || n->n_output)
            continue;
        if (!g_defn(n, &s->mem, &d, e))
            return false;
        const expr *x = body_of(&d);
        if (x && spelled_out(n))
            note(s, n, &d, x, ALONE);
        else if (x && x == d.value && is_dear(x, d.extent)) { /* one that has a name: as a whole */
            int own[MAX_AXIS];
            const int k = part_of(s, x, d.extent, true, own);
            if (k >= 0 && s->part[k].n_axis == n->type.rank)
                s->part[k].users++, s->part[k].last = n->id, s->part[k].within = ALONE;
        }
    }
    return !err_is(&p->g->err);
}

static double elements_of(const part *q)
{
    double n = 1;
    for (int a = 0; a < q->n_axis; a++)
        n *= (double)q->extent[a];
    return n;
}

/* Lifts parts with several readers, unless every occurrence is inside another part that is lifted. */
static bool choose(search *s)
{
    bool any = false;
    s->saved = 0;
    for (int i = 0; i < s->n; i++) {
        part *q = &s->part[i];
        bool inside = false;
        for (int k = q->within; k >= 0 && !inside; k = s->part[k].within)
            inside = s->part[k].users > 1 && !s->part[k].refused;
        q->made = NULL;
        q->lifted = q->users > 1 && !q->refused && !inside;
        if (q->lifted)
            any = true, s->saved += (q->users - 1) * q->steps * elements_of(q);
    }
    return any;
}

/* ---- nodes anew ---- */
static const expr *over_now(void *user, const expr *x)
{
    search *s = user;
    const bool old = x->kind == X_LOAD && x->from->id < s->n_old && s->now[x->from->id];
    return old ? x_load(&s->mem, s->now[x->from->id], x->arg) : x;
}

static const expr *with_parts(search *s, const expr *x, const int64_t *extent, const expr *whole);

static const node *lifted(search *s, part *q)
{
    if (!q->made) {
        type shape = {.dtype = q->x->dtype, .rank = q->n_axis};
        memcpy(shape.dim, q->extent, (size_t)q->n_axis * sizeof *q->extent);
        const expr *x = q->x;
        for (int i = 0; i < q->x->n; i++)
            x = with_parts(s, q->x->arg[i], q->extent, x);
        q->made = emit_over(s->p->g, &shape, x_map(&s->mem, x, over_now, s));
    }
    return q->made;
}

/* whole with each lifted part of x replaced by a load; larger parts are replaced before those inside them. */
static const expr *with_parts(search *s, const expr *x, const int64_t *extent, const expr *whole)
{
    int own[MAX_AXIS];
    const int i = x->kind != X_LOAD && is_dear(x, extent) ? part_of(s, x, extent, false, own) : -1;
    if (i >= 0 && s->part[i].lifted) {
        const node *n = lifted(s, &s->part[i]);
        const expr *at[MAX_RANK];
        for (int a = 0; a < s->part[i].n_axis; a++)
            at[a] = x_axis(&s->mem, own[a]);
        return n ? x_replace(&s->mem, whole, x, x_load(&s->mem, n, at)) : whole;
    }
    for (int k = 0; x->kind != X_LOAD && k < x->n; k++)
        whole = with_parts(s, x->arg[k], extent, whole);
    return whole;
}

static int operands_of(const expr *x)
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(x, load, MAX_LOADS);
    int found = 0;
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        bool again = false;
        for (int k = 0; k < i; k++)
            again = again || load[k]->from == load[i]->from;
        found += !again;
    }
    return n > MAX_LOADS ? n : found;
}

static const node *again(search *s, const defn *d, const expr *x)
{
    graph *g = s->p->g;
    const node *n = d->node;
    const int before = g->n;
    const node *made = d->value->kind == X_FOLD ? emit_spelled(g,
                                                               &(spelling){n->type.rank, d->n_axis - n->type.rank,
                                                                           d->extent, d->value->fn->name, NULL},
                                                               x)
                                                : emit_over(g, &n->type, x);
    if (!made || !type_equal(&made->type, &n->type))
        return NULL;
    g_label(g, made, n->label);
    if (n->back)
        g_back(g, before);
    return made;
}

static const node *rewritten(void *user, const node *old, const node *now)
{
    search *s = user;
    defn d;
    s->now[old->id] = now;
    if (node_is_leaf(old) || !spelled_out(old) || !g_defn(old, &s->mem, &d, NULL))
        return now;
    const expr *x = body_of(&d), *with = x ? with_parts(s, x, d.extent, x) : NULL;
    if (err_is(&s->p->g->err))
        return NULL;
    if (with == x)
        return now;
    with = x_map(&s->mem, with, over_now, s);
    const node *made = operands_of(with) <= MOST_SPELLED ? again(s, &d, with) : NULL;
    if (made)
        s->now[old->id] = made;
    return err_is(&s->p->g->err) ? NULL : s->now[old->id];
}

/* ---- whether it pays ---- */
static const node **without(search *s, err *e) /* the roots, with what is lifted read where it was computed */
{
    plan *p = s->p;
    graph *g = p->g;
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    s->n_old = g->n;
    s->now = arena_array(&s->mem, (size_t)g->n + 1, sizeof *s->now);
    if (g_rewrite(g, p->n_root, p->root, rewritten, s, root))
        return root;
    return err_set(e, g->err.code, "%s", g->err.text), NULL;
}

static bool is_root(const plan *p, const node *n) /* in memory anyway */
{
    bool any = false;
    for (int i = 0; i < p->n_root && !any; i++)
        any = p->root[i] == n;
    return any;
}

/* Bytes of values that a kernel reads and writes, each once */
static double moved_by(const kernel *k, bool *seen)
{
    double bytes = 0;
    for (int pass = 0; pass < 2; pass++) /* again to forget what was seen */
        for (int i = 0; i < k->n_stage; i++) {
            const stage *st = &k->stage[i];
            const expr *load[MAX_LOADS];
            const int n = x_loads(st->value, load, MAX_LOADS);
            for (int j = 0; j < n && j < MAX_LOADS; j++)
                if (seen[load[j]->from->id] == (pass == 1))
                    bytes += pass ? 0 : (double)type_bytes(&load[j]->from->type), seen[load[j]->from->id] = !pass;
            if (seen[st->node->id] == (pass == 1))
                bytes += pass || st->scratch ? 0 : (double)type_bytes(&st->node->type), seen[st->node->id] = !pass;
        }
    return bytes;
}

/* Bytes that kernels read and write with these roots, -1 for an error. What is lifted into memory is refused where it
 * is cheaper than its way there; *refused is set then. */
static double traffic(search *s, const node *const *root, bool *refused, err *e)
{
    plan trial = *s->p;
    double bytes = 0;
    trial.mem = (arena){0}, trial.root = root;
    const bool ok = fuse_kernels(&trial, e);
    bool *seen = arena_array(&trial.mem, (size_t)trial.g->n + 1, sizeof *seen);
    for (int k = 0; ok && k < trial.n_kernel; k++) {
        bytes += moved_by(&trial.kernel[k], seen);
        for (int i = 0; i < trial.kernel[k].n_stage; i++) {
            const stage *st = &trial.kernel[k].stage[i];
            for (int q = 0; q < s->n && !st->scratch; q++) {
                part *one = &s->part[q];
                if (!one->lifted || one->made != st->node || is_root(&trial, st->node) ||
                    (one->users - 1) * one->steps > (double)PER_BYTE * ts_dtype_bytes(one->x->dtype))
                    continue;
                one->refused = *refused = true;
            }
        }
    }
    arena_free(&trial.mem);
    return ok ? bytes : -1;
}

static bool take(search *s, err *e)
{
    bool none = false, refused = true;
    const double before = traffic(s, s->p->root, &none, e);
    const node **root = NULL;
    double after = before;
    for (int i = 0; before >= 0 && i < TRIES && refused && choose(s); i++) {
        if (!(root = without(s, e)))
            return false;
        refused = false, after = traffic(s, root, &refused, e);
    }
    if (before < 0 || after < 0)
        return false;
    if (root && !refused && (after - before) * PER_BYTE < s->saved)
        s->p->root = root;
    return true;
}

bool pass_common(plan *p, err *e)
{
    search s = {.p = p};
    if (p->reference || p->n_variable) /* what varies is known of the nodes that there are */
        return true;
    s.need = arena_array(&s.mem, (size_t)p->g->n + 1, sizeof *s.need);
    s.n_need = g_reach(p->n_root, p->root, s.need);
    const bool ok = find_parts(&s, e) && (!choose(&s) || take(&s, e));
    arena_free(&s.mem), free(s.part);
    return ok;
}
