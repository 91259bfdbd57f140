/* inside.c - where an axis has parts of an extent, rounded up, a value may ask for elements behind that, as it may
 * where it counts from the end on: these are zeros. */
#include "backends/codegen/emit.h"
#include "schedule/plan/extents.h"

static bool rounded(const stage *s)
{
    bool any = false;
    for (int a = 0; a < s->n_axis; a++)
        any = any || (s->varies[a].by && (s->varies[a].per > 1 || s->varies[a].ends));
    return any;
}

/* The condition that the element exists: beyond the run's extent a place counted from an end may lie outside. For
 * places that data say, varying_place asks, together with all that is read for them. */
static const expr *inside_of(emitter *m, const node *from, int d, const expr *at)
{
    const varying v = extents_of(m->p, from, d);
    if (x_find(at, X_LOAD))
        return NULL;
    if (x_find(at, X_SIZE) && x_axes(at) & stage_varying(m->s) & ~stage_exact(m->s))
        return x2(m->mem, "and", x2(m->mem, "le", x_whole(m->mem, 0), at),
                  x2(m->mem, "lt", at, x_whole(m->mem, from->type.dim[d])));
    const bool along = at->kind == X_AXIS && extents_same(&v, &m->s->varies[at->axis]);
    return v.by && !along && rounded(m->s) ? x2(m->mem, "lt", at, extents_expr(m->mem, &v)) : NULL;
}

static const expr *guarded(void *user, const expr *x)
{
    emitter *m = user;
    const expr *all = NULL;
    for (int i = 0; x->kind == X_LOAD && i < x->n; i++) {
        const expr *one = inside_of(m, x->from, i, x->arg[i]);
        all = !one ? all : all ? x2(m->mem, "and", all, one) : one;
    }
    return all ? x3(m->mem, "select", all, x, x_whole(m->mem, 0)) : x;
}

const expr *inside_value(emitter *m, writer *w, const expr *x)
{
    (void)w;
    return rounded(m->s) || x_find(x, X_SIZE) ? x_map_values(m->mem, x, guarded, m) : x;
}
