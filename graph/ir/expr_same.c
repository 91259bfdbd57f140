/* expr_same.c - which expressions are the same, and what is in them. */
#include "graph/ir/expr.h"

#include <string.h>

static bool same_but_parts(const expr *a, const expr *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->n == b->n && a->from == b->from && a->fn == b->fn &&
           a->axis == b->axis && a->n_state == b->n_state && a->folds == b->folds && a->is_whole == b->is_whole &&
           a->whole == b->whole && a->run == b->run && !memcmp(&a->lit, &b->lit, sizeof a->lit);
}

/* ---- sharing ---- */
typedef struct pool {
    const expr **slot; /* a power of two of them, at most half of them taken */
    size_t n, cap;
    arena *mem;
} pool;

static bool alike(const expr *a, const expr *b) /* the same when their arguments are shared already */
{
    if (!same_but_parts(a, b))
        return false;
    for (int i = 0; i < a->n; i++)
        if (a->arg[i] != b->arg[i])
            return false;
    return true;
}

static uint64_t hash_of(const expr *x) /* of some of what alike compares */
{
    const struct {
        const void *from, *fn, *run;
        int64_t kind, whole, axis;
        double lit;
    } key = {x->from, x->fn, x->run, x->kind, x->whole, x->axis, x->lit};
    const uint64_t h = quick_hash(&key, sizeof key, 0);
    return x->n ? quick_hash(x->arg, (size_t)x->n * sizeof *x->arg, h) : h;
}

static const expr **slot_of(const pool *p, const expr *x)
{
    size_t i = hash_of(x) & (p->cap - 1);
    while (p->slot[i] && !alike(p->slot[i], x))
        i = (i + 1) & (p->cap - 1);
    return &p->slot[i];
}

static void grow(pool *p)
{
    const pool was = *p;
    p->cap = was.cap ? 2 * was.cap : 64;
    p->slot = arena_array(p->mem, p->cap, sizeof *p->slot);
    memset(p->slot, 0, p->cap * sizeof *p->slot);
    for (size_t i = 0; i < was.cap; i++)
        if (was.slot[i])
            *slot_of(p, was.slot[i]) = was.slot[i];
}

static const expr *share_one(void *user, const expr *x)
{
    pool *p = user;
    if (2 * p->n >= p->cap)
        grow(p);
    const expr **slot = slot_of(p, x);
    if (!*slot)
        *slot = x, p->n++;
    return *slot;
}

const expr *x_share(arena *mem, const expr *x)
{
    return x_map(mem, x, share_one, &(pool){.mem = mem});
}

/* ---- asking ---- */
uint32_t x_axes(const expr *x)
{
    uint32_t axes = x->kind == X_AXIS ? 1u << x->axis : 0;
    for (int i = 0; i < x->n; i++)
        axes |= x_axes(x->arg[i]);
    return axes & ~x->folds;
}

bool x_same(const expr *a, const expr *b)
{
    if (a == b)
        return true;
    if (!same_but_parts(a, b))
        return false;
    for (int i = 0; i < a->n; i++)
        if (!x_same(a->arg[i], b->arg[i]))
            return false;
    return true;
}

static void collect(const expr *x, const expr **out, int max, int *n)
{
    for (int i = 0; i < x->n; i++)
        collect(x->arg[i], out, max, n);
    if (x->kind != X_LOAD)
        return;
    for (int i = 0; i < *n && i < max; i++)
        if (x_same(out[i], x))
            return;
    if (*n < max)
        out[*n] = x;
    ++*n;
}

int x_loads(const expr *x, const expr **out, int max)
{
    int n = 0;
    collect(x, out, max, &n);
    return n;
}

const expr *x_find_fold(const expr *x)
{
    const expr *found = x_folds(x) ? x : NULL;
    for (int i = x->kind == X_LOAD ? 0 : x->n; !found && i-- > 0;)
        found = x_find_fold(x->arg[i]);
    return found;
}

const expr *x_find(const expr *x, xkind kind)
{
    const expr *found = x->kind == kind ? x : NULL;
    for (int i = 0; i < x->n && !found; i++)
        found = x_find(x->arg[i], kind);
    return found;
}

const expr *x_uncast(const expr *x)
{
    while (x->kind == X_CAST)
        x = x->arg[0];
    return x;
}

bool x_is_call(const expr *x, const char *name)
{
    return x->kind == X_CALL && !strcmp(x->fn->name, name);
}

bool x_is_choice(const expr *x)
{
    return x->kind == X_CALL && x->fn->result == R_SECOND;
}

bool x_folds_by(const expr *x, const char *name)
{
    return x->kind == X_FOLD && !strcmp(x->fn->name, name);
}

bool x_is_lit(const expr *x, double v)
{
    return x->kind == X_LIT && x->lit == v;
}

/* As long as its text would be. */
int x_parts(const expr *x)
{
    int n = 1;
    for (int i = 0; i < x->n; i++)
        n += x_parts(x->arg[i]);
    return n;
}

bool x_checks(const expr *x)
{
    bool any = x_is_call(x, "at");
    for (int i = 0; i < x->n && !any; i++)
        any = x_checks(x->arg[i]);
    return any;
}

int x_count(const expr *x, xkind kind)
{
    int n = x->kind == kind;
    for (int i = 0; i < x->n; i++)
        n += x_count(x->arg[i], kind);
    return n;
}
