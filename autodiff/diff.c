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
    for (int i = 0; i < x->n; i++) {
        const expr *inner = d_expr(m, x->arg[i], by, e);
        if (!inner)
            continue;
        if (!x->fn->diff[i])
            return err_set(e, TS_UNSUPPORTED, "the function %s has no derivative", x->fn->name), NULL;
        names known = {.n = x->n + 1, .name = {"a", "b", "c"}, .value = {x->arg[0]}};
        for (int k = 1; k < x->n; k++)
            known.value[k] = x->arg[k];
        known.name[x->n] = "y", known.value[x->n] = x;
        const expr *outer = x_parse(m, x->fn->diff[i], &known, e);
        MUST(outer);
        total = d_add(m, total, d_mul(m, outer, inner));
    }
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
