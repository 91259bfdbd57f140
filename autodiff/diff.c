/* diff.c - derivatives of element expressions, from the table of scalar functions. */
#include "autodiff/autodiff.h"

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

static const expr *add(arena *m, const expr *a, const expr *b)
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

/* The part of x's derivative by way of argument i. In y = a / b with b = c + exp(u), -y/b exp(u) would be 0 * inf where
 * exp(u) overflows: its share of b is taken instead, which is 1 from where c is lost in b. */
static const expr *d_through(arena *m, const expr *x, int i, const expr *by, err *e)
{
    const expr *grown = i == 1 && is_call(x, "div") ? exp_beside(x->arg[1]) : NULL;
    const expr *inner = d_expr(m, grown ? grown->arg[0] : x->arg[i], by, e);
    if (!inner)
        return NULL;
    if (!x->fn->diff[i])
        return err_set(e, TS_UNSUPPORTED, "the function %s has no derivative", x->fn->name), NULL;
    names known = {.n = x->n + 2, .name = {"a", "b", "c"}};
    for (int k = 0; k < x->n; k++)
        known.value[k] = x->arg[k];
    known.name[x->n] = "y", known.value[x->n] = x;
    known.name[x->n + 1] = "e", known.value[x->n + 1] = grown;
    const expr *outer = x_parse(m, grown ? "-(y * (e < b ? e / b : 1))" : x->fn->diff[i], &known, e);
    MUST(outer);
    return d_mul(m, outer, inner);
}

static const expr *d_call(arena *m, const expr *x, const expr *by, err *e)
{
    const expr *total = NULL;
    if (x->fn->result == R_BOOL)
        return NULL;
    if (x->fn->result == R_SECOND) {
        const expr *yes = d_expr(m, x->arg[1], by, e), *no = d_expr(m, x->arg[2], by, e);
        if (!yes && !no)
            return NULL;
        return x3(m, "select", x->arg[0], yes ? yes : x_whole(m, 0), no ? no : x_whole(m, 0));
    }
    for (int i = 0; i < x->n; i++)
        total = add(m, total, d_through(m, x, i, by, e));
    return total;
}

const expr *d_expr(arena *m, const expr *x, const expr *by, err *e)
{
    if (dtype_class(x->dtype == TS_N_DTYPE ? TS_F64 : x->dtype) != D_REAL)
        return NULL;
    if (x_same(x, by))
        return x_real(m, 1);
    if (x->kind == X_CALL)
        return d_call(m, x, by, e);
    if (x->kind != X_CAST)
        return NULL;
    const expr *inner = d_expr(m, x->arg[0], by, e);
    return inner ? x_cast(m, x->dtype, inner) : NULL;
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
