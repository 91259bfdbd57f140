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
    const expr **all;
    size_t n, cap;
    arena *m;
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

static const expr *share_one(void *user, const expr *x)
{
    pool *p = user;
    for (size_t i = 0; i < p->n; i++)
        if (alike(p->all[i], x))
            return p->all[i];
    if (p->n == p->cap) {
        const size_t cap = p->cap ? 2 * p->cap : 64;
        const expr **more = arena_array(p->m, cap, sizeof *more);
        if (p->n)
            memcpy(more, p->all, p->n * sizeof *more);
        p->all = more, p->cap = cap;
    }
    return p->all[p->n++] = x;
}

const expr *x_share(arena *m, const expr *x)
{
    return x_map(m, x, share_one, &(pool){.m = m});
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

int x_count(const expr *x, xkind kind)
{
    int n = x->kind == kind;
    for (int i = 0; i < x->n; i++)
        n += x_count(x->arg[i], kind);
    return n;
}
