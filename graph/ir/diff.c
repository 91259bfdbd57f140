/* diff.c - derivatives of element expressions, from the table of scalar functions and those of the graph. */
#include "graph/ir/diff.h"
#include "graph/ir/scalar.h"

#include <stdlib.h>

const expr *d_mul(arena *mem, const expr *a, const expr *b)
{
    if (!a || !b || x_is_lit(a, 0) || x_is_lit(b, 0))
        return NULL;
    if (x_is_lit(a, 1))
        return b;
    if (x_is_lit(b, 1))
        return a;
    for (int i = 0; i < 2; i++) {
        const expr *x = i ? b : a, *y = i ? a : b;
        if (x_is_lit(x, -1))
            return x_is_call(y, "neg") ? y->arg[0] : x1(mem, "neg", y);
        if (x_is_call(x, "neg"))
            return d_mul(mem, x_real(mem, -1), d_mul(mem, x->arg[0], y));
        if (x_is_call(x, "select") && (x_is_lit(x->arg[1], 0) || x_is_lit(x->arg[2], 0))) {
            const expr *yes = d_mul(mem, x->arg[1], y), *no = d_mul(mem, x->arg[2], y);
            return x3(mem, "select", x->arg[0], yes ? yes : x_whole(mem, 0), no ? no : x_whole(mem, 0));
        }
    }
    return x2(mem, "mul", a, b);
}

const expr *d_add(arena *mem, const expr *a, const expr *b)
{
    if (!a || !b)
        return a ? a : b;
    if (x_is_call(b, "neg"))
        return x2(mem, "sub", a, b->arg[0]);
    if (x_is_call(a, "neg"))
        return x2(mem, "sub", b, a->arg[0]);
    return x2(mem, "add", a, b);
}

static const expr *exp_beside(const expr *x) /* exp(u), where x is c + exp(u) and c > 0; else NULL */
{
    for (int i = 0; i < 2 && x_is_call(x, "add"); i++)
        if (x_is_call(x->arg[i], "exp") && x->arg[!i]->kind == X_LIT && x->arg[!i]->lit > 0)
            return x->arg[i];
    return NULL;
}

/* ---- one derivative: parts that are shared are gone through once ---- */
typedef struct differ {
    arena *mem;
    motion *moved;
    void *user;
    err *e;
    x_memos done;
} differ;

static const expr *of(differ *p, const expr *x);

/* The derivative of a function by its argument i, at x. */
static const expr *outer(differ *p, const expr *x, int i, const expr *grown)
{
    names known = {.n = x->n + 2, .name = {"a", "b", "c"}};
    if (fn_is_own(x->fn)) {
        const fn *d = scalar_derivative(x->fn, i);
        if (!d)
            return err_set(p->e, TS_UNSUPPORTED, "function %s: a derivative of order %d, at most %d expected",
                           x->fn->name, SCALAR_ORDER + 1, SCALAR_ORDER),
                   NULL;
        return x_apply(p->mem, d, x->n, x->arg);
    }
    if (!x->fn->diff[i])
        return err_set(p->e, TS_UNSUPPORTED, "the function %s has no derivative", x->fn->name), NULL;
    for (int k = 0; k < x->n; k++)
        known.value[k] = x->arg[k];
    known.name[x->n] = "y", known.value[x->n] = x;
    known.name[x->n + 1] = "e", known.value[x->n + 1] = grown;
    const expr *d = x_parse(p->mem, grown ? "-(y * (e < b ? e / b : 1))" : x->fn->diff[i], &known, p->e);
    MUST(d);
    return d;
}

/* The part of x's derivative by way of argument i. In y = a / b with b = c + exp(u), -y/b exp(u) would be 0 * inf where
 * exp(u) overflows: its share of b is taken instead, which is 1 from where c is lost in b. */
static const expr *through(differ *p, const expr *x, int i)
{
    const expr *grown = i == 1 && x_is_call(x, "div") ? exp_beside(x->arg[1]) : NULL;
    const expr *inner = of(p, grown ? grown->arg[0] : x->arg[i]);
    const expr *d = inner ? outer(p, x, i, grown) : NULL;
    return d ? d_mul(p->mem, d, inner) : NULL;
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
        return x3(p->mem, "select", x->arg[0], yes ? yes : x_whole(p->mem, 0), no ? no : x_whole(p->mem, 0));
    }
    for (int i = 0; i < x->n; i++)
        total = d_add(p->mem, total, through(p, x, i));
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
    const x_memo *known = x_memo_of(&p->done, x);
    if (known->key)
        return known->value;
    const expr *inner = x->kind == X_CAST ? of(p, x->arg[0]) : of_call(p, x);
    const expr *d = x->kind == X_CAST && inner ? x_cast(p->mem, x->dtype, inner) : inner;
    x_memo_keep(&p->done, x, d);
    return d;
}

const expr *d_along(arena *mem, const expr *x, motion *moved, void *user, err *e)
{
    differ p = {.mem = mem, .moved = moved, .user = user, .e = e};
    const expr *d = of(&p, x);
    free(p.done.owned);
    return d;
}

typedef struct alone {
    arena *mem;
    const expr *by;
} alone;

static const expr *is_that(void *user, const expr *x)
{
    const alone *a = user;
    return x_same(x, a->by) ? x_real(a->mem, 1) : NULL;
}

const expr *d_expr(arena *mem, const expr *x, const expr *by, err *e)
{
    return d_along(mem, x, is_that, &(alone){mem, by}, e);
}

typedef struct replacing {
    const expr *from, *to;
} replacing;

static const expr *replace_one(void *user, const expr *x)
{
    const replacing *r = user;
    return x_same(x, r->from) ? r->to : x;
}

const expr *x_replace(arena *mem, const expr *x, const expr *from, const expr *to)
{
    return x_map(mem, x, replace_one, &(replacing){from, to});
}
