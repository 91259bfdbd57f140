/* spot.c - where elements lie and under which conditions they are read: subscripts and selections evaluated for numbers
 * of the axes. What data decide counts as read, and lies where it would with indices of 0. */
#include "backends/gpu/walk.h"
#include "schedule/nest/fit.h"

#include <string.h>

/* ---- whole numbers ---- */
static bool whole_of(const expr *x, const int64_t *axis,
                     int64_t *out) /* false: data decide, or it is no whole number */
{
    int64_t v[MAX_ARG];
    if (x->kind == X_AXIS)
        return *out = axis[x->axis], true;
    if (x->kind == X_LIT)
        return *out = x->whole, x->is_whole;
    if (x->kind == X_CAST)
        return dtype_class(x->dtype) != D_REAL && whole_of(x->arg[0], axis, out);
    if (x->kind != X_CALL || !x->fn->whole)
        return false;
    for (int i = 0; i < x->n; i++)
        if (!whole_of(x->arg[i], axis, &v[i]))
            return false;
    return *out = fn_whole(x->fn, TS_I64, v), true;
}

static int64_t sum_of(const affine *l, const int64_t *axis)
{
    int64_t sum = l->c;
    for (int i = 0; i < l->n; i++) {
        const atom *a = l->t[i].a;
        int64_t v = 0;
        if (a->kind == A_VAR)
            v = axis[a->var];
        else if (a->kind == A_DIV)
            v = int_floor_div(sum_of(a->of, axis), a->by);
        else if (!whole_of(a->x, axis, &v))
            v = 0;
        sum += l->t[i].coef * v;
    }
    return sum;
}

/* ---- conditions ---- */
static void find_ways(const expr *x, const expr *load, way *now, spot *o, bool *always)
{
    if (x_same(x, load)) {
        *always = *always || !now->n || o->n_way == MAX_WAYS;
        if (!*always)
            o->way[o->n_way++] = *now;
        return;
    }
    const bool choice = x_is_call(x, "select"),
               known = choice && now->n < MAX_WHEN && !x_find(x->arg[0], X_LOAD) && !x_find(x->arg[0], X_STATE);
    for (int i = 0; i < x->n && !*always; i++) {
        const bool under = known && i;
        if (under)
            now->when[now->n] = x->arg[0], now->holds[now->n++] = i == 1;
        find_ways(x->arg[i], load, now, o, always);
        now->n -= under;
    }
}

bool spot_reads(const spot *o, const standing *t)
{
    bool any = !o->n_way;
    for (int i = 0; i < o->n_way && !any; i++) {
        const way *w = &o->way[i];
        any = true;
        for (int j = 0; j < w->n && any; j++) {
            int64_t v;
            any = !whole_of(w->when[j], t->at, &v) || !v == !w->holds[j];
        }
    }
    return any;
}

/* ---- places ---- */
void spot_make(spot *o, const plan *p, const stage *s, int load)
{
    *o = (spot){.size = ts_dtype_bytes(stage_value(s, load)->type.dtype)};
    o->at = fit_place(&(space){.mem = &o->mem}, p, s, load);
    for (int a = 0; a < s->n_axis; a++)
        o->stride[a] = affine_coef(o->at, a) * o->size;
    o->even = affine_pure(o->at);
}

void spot_conditions(spot *o, const expr *in, const expr *load)
{
    bool always = false;
    find_ways(in, load, &(way){0}, o, &always);
    o->n_way = always ? 0 : o->n_way;
    o->even = o->even && !o->n_way;
}

uint32_t spot_axes(const spot *o)
{
    uint32_t axes = 0;
    for (int i = 0; i < o->n_way; i++)
        for (int j = 0; j < o->way[i].n; j++)
            axes |= x_axes(o->way[i].when[j]);
    return axes;
}

void spot_under(spot *o, const expr *when)
{
    o->n_way += !o->n_way, o->even = false;
    for (int i = 0; i < o->n_way; i++)
        if (o->way[i].n < MAX_WHEN)
            o->way[i].when[o->way[i].n] = when, o->way[i].holds[o->way[i].n++] = true;
}

void spot_free(spot *o)
{
    arena_free(&o->mem);
}

int64_t spot_at(const spot *o, const standing *t)
{
    int64_t at = 0;
    if (o->at)
        return sum_of(o->at, t->at) * o->size;
    for (int a = 0; a < MAX_AXIS; a++)
        at += o->stride[a] ? o->stride[a] * t->own[a] : 0;
    return at;
}

static bool is_among(void *user, const atom *a)
{
    const uint32_t axes = *(const uint32_t *)user;
    return a->kind == A_VAR ? axes >> a->var & 1 : a->kind == A_EXPR && x_axes(a->x) & axes;
}

int64_t spot_grain(const spot *o, uint32_t axes, const int64_t *step)
{
    int64_t grain = o->at ? o->at->c : 0;
    for (int i = 0; o->at && i < o->at->n; i++) {
        const atom *a = o->at->t[i].a;
        const affine one = {.n = 1, .t = &o->at->t[i]};
        if (a->kind != A_VAR && affine_uses(&one, is_among, &axes))
            return o->size;
        grain = int_gcd(grain, o->at->t[i].coef * (a->kind == A_VAR ? step[a->var] : 1));
    }
    for (int a = 0; !o->at && a < MAX_AXIS; a++)
        grain = int_gcd(grain, o->stride[a] / o->size * step[a]);
    return grain * o->size;
}
