/* phrase.c - compositions that have a function of their own, in place of the functions they are written in. */
#include "backends/c/emit.h"

#include <math.h>
#include <string.h>

/* 1 + erf(x), the normal distribution inside GELU: near 0 it needs none of erf's relative precision. */
static const fn one_and_erf = {.name = "one_and_erf", .arity = 1, .result = R_SAME, .c_real = "one_and_erf($0)"};

static bool is_call(const expr *x, const char *name)
{
    return x->kind == X_CALL && !strcmp(x->fn->name, name);
}

/* The rounding of an argument is within the function's error: its division by a number becomes a product. */
static const expr *multiplied(arena *m, const expr *x)
{
    const expr *by = is_call(x, "div") && x->arg[1]->kind == X_LIT ? x->arg[1] : NULL;
    const double r = by ? 1 / by->lit : 0;
    return fabs(r) > 1e-30 && fabs(r) < 1e30 ? x2(m, "mul", x->arg[0], x_cast(m, TS_F32, x_real(m, r))) : x;
}

static const expr *phrase(void *user, const expr *x)
{
    arena *m = user;
    for (int i = 0; i < 2 && is_call(x, "add") && x->dtype == TS_F32; i++) {
        const expr *of = x->arg[i], *one = x->arg[1 - i];
        if (!is_call(of, "erf") || one->kind != X_LIT || one->lit != 1)
            continue;
        expr *y = arena_get(m, sizeof *y);
        const expr **arg = arena_array(m, 1, sizeof *arg);
        *y = *of, *arg = multiplied(m, of->arg[0]);
        y->fn = &one_and_erf, y->arg = arg;
        return y;
    }
    return x;
}

const expr *phrased(emitter *m, const expr *x)
{
    return m->p->reference ? x : x_map(m->mem, x, phrase, m->mem);
}
