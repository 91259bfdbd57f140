/* products.c - products that are summed up are added as they are formed, where a stage adds. */
#include "backends/codegen/emit.h"

/* a b + c, rounded once, as folds add what they multiply */
static const fn fused = {.name = "fma", .arity = 3, .result = R_SAME, .c_real = "FMA($0, $1, $2)"};

/* Sums of products that are written out where a fold adds up more of them, not those by which a place is found */
static const expr *fused_of(arena *mem, const expr *x)
{
    const bool sum = x_is_call(x, "add");
    for (int i = 1; i >= 0 && x->dtype == TS_F32 && sum; i--)
        if (x_is_call(x->arg[i], "mul"))
            return x_apply(mem, &fused, 3,
                           (const expr *[]){x->arg[i]->arg[0], x->arg[i]->arg[1], fused_of(mem, x->arg[1 - i])});
    return x_is_call(x, "mul") && x->dtype == TS_F32
               ? x2(mem, "mul", fused_of(mem, x->arg[0]), fused_of(mem, x->arg[1]))
               : x;
}

const expr *products_value(emitter *m, writer *w, const expr *x)
{
    return w->sums && x_folds_by(m->stage.fold, "add") && !m->p->reference ? fused_of(m->mem, x) : x;
}
