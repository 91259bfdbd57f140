/* shapes.c - how each part of a value is computed where loops stand: of one element, or of a vector of neighbours. In a
 * loop over vectors a part is the same for all of them, or a vector: neighbours in memory, an operation of the vectors
 * of its arguments, a function that the library has for vectors. What is none of these is computed for one element
 * after another. What is used more than once, in each case, gets a name. */
#include "backends/codegen/vectors.h"

#include <string.h>

/* ---- what differs from element to element ---- */
static bool varies(const emitter *m, const expr *x)
{
    const int axis = m->tile.vectors.axis;
    bool any = false;
    switch (x->kind) {
    case X_LIT:
    case X_SIZE: return false;
    case X_AXIS: return x->axis == axis;
    case X_STATE: return true;
    case X_FOLD:
    case X_SCAN: return !(m->s->folds >> axis & 1);
    default: break;
    }
    for (int i = 0; i < x->n && !any; i++)
        any = varies(m, x->arg[i]);
    return any;
}

static bool by_data(const expr *x) /* some load is from where data say, which is tested */
{
    bool any = x_checks(x);
    for (int i = 0; i < x->n && !any; i++)
        any = (x->kind == X_LOAD && x_count(x->arg[i], X_LOAD) > 0) || by_data(x->arg[i]);
    return any;
}

static bool on_place(const expr *x) /* it mentions an axis, not only elements, or what was summed up */
{
    bool any = x->kind == X_AXIS;
    for (int i = 0; i < x->n && x->kind != X_LOAD && !x_folds(x) && !any; i++)
        any = on_place(x->arg[i]);
    return any;
}

/* What a condition guards may be computed where it does not hold. Within the bound of an extent all lies in memory. */
static bool harmless(const emitter *m, const expr *condition, const expr *x)
{
    const bool bound = m->tile.there && x_same(condition, m->tile.there);
    return !by_data(x) && (bound || !on_place(condition) || x_count(x, X_LOAD) == 0);
}

static bool moves_evenly(emitter *m, const expr *place) /* by the same number from element to element */
{
    const int axis = m->tile.vectors.axis, own[] = {var_add(&m->sp, "", 0, m->tile.vectors.n - 1), axis};
    const affine *along = affine_var(&m->sp, own[0]);
    const position was = vector_go(m, axis, along, 1);
    const affine *at = vector_place(m, place);
    vector_back(m, axis, was);
    const bool even = !affine_uses(affine_add(&m->sp, at, along, -affine_coef(at, own[0])), vector_moves, (void *)own);
    m->sp.n--;
    return even;
}

/* Comparisons of places, all of which are to hold: where one does not at either end of a vector, it does nowhere; where
 * all do at both ends, they do everywhere. */
static bool by_ends(emitter *m, const expr *c)
{
    if (x_is_call(c, "and"))
        return by_ends(m, c->arg[0]) && by_ends(m, c->arg[1]);
    return (x_is_call(c, "lt") || x_is_call(c, "le")) && dtype_class(c->arg[0]->dtype) != D_REAL &&
           !x_count(c, X_LOAD) && moves_evenly(m, c->arg[0]) && moves_evenly(m, c->arg[1]);
}

/* ---- shapes ---- */
static bool loads(emitter *m, const expr *x)
{
    const int load = emit_number(m, x);
    const dtype d = source_dtype(m, load);
    const char *wrap = cstyle_load(m->mem, m->d, NULL, d);
    element e;
    return vector_kind(m, d, &e) &&
           (*wrap == '$' || callees_have(m->d, wrap, strcspn(wrap, "("), (instance){E_F32, m->tile.vectors.n})) &&
           (m->tile.turned.of[load] || vector_runs(m, load, m->tile.vectors.axis, m->tile.vectors.count));
}

static shape of_choice(emitter *m, const expr *x)
{
    const expr *c = x->arg[0];
    element e;
    if (!vector_kind(m, x->dtype, &e))
        return APART;
    if (!varies(m, c))
        return BRANCH;
    return harmless(m, c, x->arg[1]) && harmless(m, c, x->arg[2]) ? BLEND : by_ends(m, c) ? BRANCH_BY_ENDS : APART;
}

static shape of_call(emitter *m, const expr *x)
{
    if (x_is_choice(x))
        return of_choice(m, x);
    if (x->fn->result == R_BOOL && x->fn->real == NULL && x->n > 1 && !harmless(m, x->arg[0], x->arg[1]))
        return APART;
    return vector_form(m, x) ? OPERATION : vector_library(m, x) ? FUNCTION : APART;
}

shape shape_of(emitter *m, const expr *x)
{
    if (!vectors_here(m))
        return x->kind == X_STATE || x_folds(x) ? HELD : ONE;
    if (!varies(m, x))
        return SPREAD;
    switch (x->kind) {
    case X_LOAD: return loads(m, x) ? NEIGHBOURS : APART;
    case X_AXIS: return PLACES;
    case X_STATE:
    case X_FOLD:
    case X_SCAN: return HELD;
    case X_CAST: return vector_casts(m, x->dtype, x->arg[0]->dtype) ? CONVERTED : APART;
    case X_CALL: return of_call(m, x);
    default: return APART;
    }
}

static bool only_moves(const expr *x) /* elements, whichever */
{
    x = x_uncast(x);
    return x->kind == X_LOAD || x->kind == X_LIT || (x_is_choice(x) && only_moves(x->arg[1]) && only_moves(x->arg[2]));
}

bool vector_gains(emitter *m, const expr *x, bool runs)
{
    const expr *bare = x_uncast(x);
    if (shape_of(m, x) == SPREAD)
        return runs;
    return shape_of(m, x) != APART &&
           (!only_moves(x) || shape_of(m, bare) == SPREAD || (shape_of(m, bare) != APART && runs));
}

/* ---- the pass ---- */
static int times_in(const char *form, int arg) /* how often a text says an argument */
{
    int n = 0;
    for (; *form; form++)
        n += *form == '$' && form[1] == '0' + arg;
    return n;
}

static int times_said(emitter *m, const writer *w, const expr *x, shape how, int arg)
{
    return how == OPERATION                  ? times_in(vector_form(m, x), arg)
           : how == ONE && x->kind == X_CALL ? times_in(cstyle_spelled(w, x), arg)
                                             : 1;
}

/* maybe: where a condition says so alone */
static void count(emitter *m, writer *w, const expr *x, int times, bool maybe)
{
    const bool own = vectors_here(m);
    value_part *q = cstyle_part(w, x);
    const shape how = q ? (shape)q->how : shape_of(m, x);
    const bool again = q;
    if (how == SPREAD || (!own && (x->kind == X_LIT || x->kind == X_AXIS || x->kind == X_SIZE || x->kind == X_STATE)))
        return;
    if (!again) {
        w->part = arena_grown(w->mem, w->part, w->n_part, &w->cap_part, sizeof *w->part);
        q = &w->part[w->n_part++];
        *q = (value_part){.x = x, .how = how, .held = how == HELD};
    }
    q->uses += maybe ? 0 : times;
    if (again || x->kind == X_LOAD || how == HELD || how == APART || how == BRANCH || how == BRANCH_BY_ENDS)
        return;
    for (int k = 0; k < x->n; k++)
        count(m, w, x->arg[k], times_said(m, w, x, how, k), maybe || (how == ONE && x_is_choice(x) && k > 0));
}

const expr *shapes_value(emitter *m, writer *w, const expr *x)
{
    w->part = NULL, w->n_part = w->cap_part = 0;
    count(m, w, x, 1, false);
    return x;
}
