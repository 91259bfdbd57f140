/* diff.c - derivatives of element expressions, from the table of scalar functions and those of the graph. */
#include "graph/ir/diff.h"
#include "graph/ir/scalar.h"

#include <stdlib.h>
#include <string.h>

static bool is_lit(const expr *x, double v)
{
    return x->kind == X_LIT && x->lit == v;
}

static bool is_call(const expr *x, const char *name)
{
    return x->kind == X_CALL && !strcmp(x->fn->name, name);
}

const expr *d_mul(arena *m, const expr *a, const expr *b)
{
    if (!a || !b || is_lit(a, 0) || is_lit(b, 0))
        return NULL;
    if (is_lit(a, 1))
        return b;
    if (is_lit(b, 1))
        return a;
    for (int i = 0; i < 2; i++) {
        const expr *x = i ? b : a, *y = i ? a : b;
        if (is_lit(x, -1))
            return is_call(y, "neg") ? y->arg[0] : x1(m, "neg", y);
        if (is_call(x, "neg"))
            return d_mul(m, x_real(m, -1), d_mul(m, x->arg[0], y));
        if (is_call(x, "select") && (is_lit(x->arg[1], 0) || is_lit(x->arg[2], 0))) {
            const expr *yes = d_mul(m, x->arg[1], y), *no = d_mul(m, x->arg[2], y);
            return x3(m, "select", x->arg[0], yes ? yes : x_whole(m, 0), no ? no : x_whole(m, 0));
        }
    }
    return x2(m, "mul", a, b);
}

const expr *d_add(arena *m, const expr *a, const expr *b)
{
    if (!a || !b)
        return a ? a : b;
    if (is_call(b, "neg"))
        return x2(m, "sub", a, b->arg[0]);
    if (is_call(a, "neg"))
        return x2(m, "sub", b, a->arg[0]);
    return x2(m, "add", a, b);
}

static const expr *exp_beside(const expr *x) /* exp(u), where x is c + exp(u) and c > 0; else NULL */
{
    for (int i = 0; i < 2 && is_call(x, "add"); i++)
        if (is_call(x->arg[i], "exp") && x->arg[!i]->kind == X_LIT && x->arg[!i]->lit > 0)
            return x->arg[i];
    return NULL;
}

/* ---- one derivative: parts that are shared are gone through once ---- */
typedef struct derived {
    const expr *of, *d;
} derived;
typedef struct differ {
    arena *m;
    motion *moved;
    void *user;
    err *e;
    derived *slot; /* open hash table */
    size_t n, cap;
} differ;

static const expr *of(differ *p, const expr *x);

static derived *slot_of(const differ *p, const expr *x)
{
    size_t i = (size_t)quick_hash(&x, sizeof x, 1) & (p->cap - 1);
    while (p->slot[i].of && p->slot[i].of != x)
        i = (i + 1) & (p->cap - 1);
    return &p->slot[i];
}

static void keep(differ *p, const expr *x, const expr *d)
{
    if (2 * ++p->n >= p->cap) {
        derived *was = p->slot;
        const size_t cap = p->cap;
        p->cap = cap ? 2 * cap : 64;
        MUST(p->slot = calloc(p->cap, sizeof *p->slot));
        for (size_t i = 0; i < cap; i++)
            if (was[i].of)
                *slot_of(p, was[i].of) = was[i];
        free(was);
    }
    *slot_of(p, x) = (derived){x, d};
}

/* The derivative of a function by its argument i, at x. */
static const expr *outer(differ *p, const expr *x, int i, const expr *grown)
{
    names known = {.n = x->n + 2, .name = {"a", "b", "c"}};
    if (fn_is_own(x->fn)) {
        const fn *d = scalar_derivative(x->fn, i);
        if (!d)
            return err_set(p->e, TS_UNSUPPORTED, "function %s: derivatives of an order above %d", x->fn->name,
                           SCALAR_ORDER),
                   NULL;
        return x_apply(p->m, d, x->n, x->arg);
    }
    if (!x->fn->diff[i])
        return err_set(p->e, TS_UNSUPPORTED, "the function %s has no derivative", x->fn->name), NULL;
    for (int k = 0; k < x->n; k++)
        known.value[k] = x->arg[k];
    known.name[x->n] = "y", known.value[x->n] = x;
    known.name[x->n + 1] = "e", known.value[x->n + 1] = grown;
    const expr *d = x_parse(p->m, grown ? "-(y * (e < b ? e / b : 1))" : x->fn->diff[i], &known, p->e);
    MUST(d);
    return d;
}

/* The part of x's derivative by way of argument i. In y = a / b with b = c + exp(u), -y/b exp(u) would be 0 * inf where
 * exp(u) overflows: its share of b is taken instead, which is 1 from where c is lost in b. */
static const expr *through(differ *p, const expr *x, int i)
{
    const expr *grown = i == 1 && is_call(x, "div") ? exp_beside(x->arg[1]) : NULL;
    const expr *inner = of(p, grown ? grown->arg[0] : x->arg[i]);
    const expr *d = inner ? outer(p, x, i, grown) : NULL;
    return d ? d_mul(p->m, d, inner) : NULL;
}

static const expr *of_call(differ *p, const expr *x)
{
    const expr *total = NULL;
    if (x->fn->result == R_BOOL)
        return NULL;
    if (x->fn->result == R_SECOND) {
        const expr *yes = of(p, x->arg[1]), *no = of(p, x->arg[2]);
        if (!yes && !no)
            return NULL;
        return x3(p->m, "select", x->arg[0], yes ? yes : x_whole(p->m, 0), no ? no : x_whole(p->m, 0));
    }
    for (int i = 0; i < x->n; i++)
        total = d_add(p->m, total, through(p, x, i));
    return total;
}

static const expr *of(differ *p, const expr *x)
{
    if (dtype_class(x->dtype == TS_N_DTYPE ? TS_F64 : x->dtype) != D_REAL)
        return NULL;
    if (x->kind == X_LOAD || x->kind == X_FOLD || x->kind == X_STATE)
        return p->moved(p->user, x);
    if (x->kind != X_CALL && x->kind != X_CAST)
        return NULL;
    const derived *known = p->cap ? slot_of(p, x) : NULL;
    if (known && known->of)
        return known->d;
    const expr *inner = x->kind == X_CAST ? of(p, x->arg[0]) : of_call(p, x);
    const expr *d = x->kind == X_CAST && inner ? x_cast(p->m, x->dtype, inner) : inner;
    keep(p, x, d);
    return d;
}

const expr *d_along(arena *m, const expr *x, motion *moved, void *user, err *e)
{
    differ p = {.m = m, .moved = moved, .user = user, .e = e};
    const expr *d = of(&p, x);
    free(p.slot);
    return d;
}

typedef struct alone {
    arena *m;
    const expr *by;
} alone;

static const expr *is_that(void *user, const expr *x)
{
    const alone *a = user;
    return x_same(x, a->by) ? x_real(a->m, 1) : NULL;
}

const expr *d_expr(arena *m, const expr *x, const expr *by, err *e)
{
    return d_along(m, x, is_that, &(alone){m, by}, e);
}

typedef struct replacing {
    const expr *from, *to;
} replacing;

static const expr *replace_one(void *user, const expr *x)
{
    const replacing *r = user;
    return x_same(x, r->from) ? r->to : x;
}

const expr *x_replace(arena *m, const expr *x, const expr *from, const expr *to)
{
    return x_map(m, x, replace_one, &(replacing){from, to});
}
