/* extents.c - what extents that vary are at some extent of their variables. */
#include "schedule/plan/extents.h"

typedef long long ll;

varying extents_of(const plan *p, const node *n, int axis)
{
    const bool known = n->id < p->n_varies && p->varies[n->id];
    return known ? p->varies[n->id][axis] : (varying){.per = 1};
}

const expr *extents_element(const plan *p, const node *n, const expr *x)
{
    return n->id < p->n_varies && p->sized[n->id] ? p->sized[n->id] : x;
}

bool extents_any(const plan *p, const node *n)
{
    bool any = false;
    for (int a = 0; a < MAX_AXIS && !any; a++)
        any = extents_of(p, n, a).by;
    return any;
}

uint32_t stage_varying(const stage *s)
{
    uint32_t axes = 0;
    for (int a = 0; a < s->n_axis; a++)
        if (s->varies[a].by)
            axes |= 1u << a;
    return axes;
}

uint32_t stage_exact(const stage *s)
{
    return stage_varying(s) & s->folds;
}

int64_t extents_at(const varying *v, const int64_t *size)
{
    int64_t sum = v->plus;
    for (int i = 0; i < MOST_VARIABLES; i++)
        if (v->by >> i & 1)
            sum += v->times[i] * size[i];
    sum = int_floor_div(sum, v->per);
    return v->ends == AT_MOST ? int_min(sum, v->limit) : v->ends == AT_LEAST ? int_max(sum, v->limit) : sum;
}

bool extents_same(const varying *a, const varying *b)
{
    bool same = a->by == b->by &&
                (!a->by || (a->plus == b->plus && a->per == b->per && a->ends == b->ends && a->limit == b->limit));
    for (int i = 0; i < MOST_VARIABLES && same; i++)
        same = !(a->by >> i & 1) || a->times[i] == b->times[i];
    return same;
}

varying extents_scaled(const varying *v, int64_t by)
{
    varying all = *v;
    all.plus *= by, all.limit *= by;
    for (int i = 0; i < MOST_VARIABLES; i++)
        all.times[i] *= by;
    return all;
}

varying extents_steps(const varying *v, int64_t step)
{
    varying all = *v;
    if (v->by)
        all.plus += v->per * (step - 1), all.per *= step, all.limit = int_ceil_div(v->limit, step);
    return all;
}

const expr *extents_expr(arena *mem, const varying *v)
{
    const expr *sum = NULL;
    for (int i = 0; i < MOST_VARIABLES; i++) {
        if (!(v->by >> i & 1))
            continue;
        const expr *one = x_size(mem, i);
        one = v->times[i] == 1 ? one : x2(mem, "mul", one, x_whole(mem, v->times[i]));
        sum = sum ? x2(mem, "add", sum, one) : one;
    }
    sum = v->plus ? x2(mem, "add", sum, x_whole(mem, v->plus)) : sum;
    sum = v->per == 1 ? sum : x2(mem, "floordiv", sum, x_whole(mem, v->per));
    return v->ends ? x2(mem, v->ends == AT_MOST ? "min" : "max", sum, x_whole(mem, v->limit)) : sum;
}

void extents_print(text *t, const plan *p, const varying *v)
{
    int n = 0;
    text_add(t, "%s%s", !v->ends ? "" : v->ends == AT_MOST ? "min(" : "max(", v->per == 1 ? "" : "(");
    for (int i = 0; i < p->n_variable; i++) {
        if (!(v->by >> i & 1))
            continue;
        const int64_t times = v->times[i] < 0 ? -v->times[i] : v->times[i], gcd = int_gcd(times, p->variable[i].step);
        text_add(t, "%s", n++ ? v->times[i] < 0 ? " - " : " + " : v->times[i] < 0 ? "-" : "");
        if (times != gcd)
            text_add(t, "%lld ", (ll)(times / gcd));
        text_add(t, "%s", p->variable[i].name);
        if (p->variable[i].step != gcd)
            text_add(t, " / %lld", (ll)(p->variable[i].step / gcd));
    }
    if (v->plus)
        text_add(t, " %c %lld", v->plus < 0 ? '-' : '+', (ll)(v->plus < 0 ? -v->plus : v->plus));
    if (v->per != 1)
        text_add(t, ") / %lld", (ll)v->per);
    if (v->ends)
        text_add(t, ", %lld)", (ll)v->limit);
}

/* Where all variables are `part` of `parts` of the way from the least to the largest extent */
static int64_t along(const plan *p, const varying *v, int64_t part, int64_t parts)
{
    int64_t size[MOST_VARIABLES] = {0};
    for (int i = 0; i < p->n_variable; i++)
        size[i] = p->variable[i].low + (p->variable[i].high - p->variable[i].low) * part / parts;
    return int_max(extents_at(v, size), 0);
}

extents extents_sampled(const plan *p, const stage *s, int axis)
{
    const varying *v = &s->varies[axis];
    if (!v->by)
        return (extents){.n = 1, .of = {s->extent[axis]}};
    extents x = {0};
    const int64_t least = int_max(along(p, v, 0, 1), 1), most = int_max(along(p, v, 1, 1), 1);
    int64_t round = 1;
    while (round <= most / 2)
        round *= 2;
    for (; round >= least && x.n < COUNT(x.of) / 2; round /= 2)
        x.of[x.n++] = round;
    for (int i = 0, n = COUNT(x.of) / 2; i < n; i++)
        x.of[x.n++] = int_max(along(p, v, i, n - 1), 1);
    return x;
}

int64_t extents_small(const plan *p, const stage *s, int axis)
{
    return s->varies[axis].by ? int_max(along(p, &s->varies[axis], 1, 8), 1) : s->extent[axis];
}

double extents_share(const plan *p, const node *n)
{
    double share = 1;
    for (int d = 0; d < n->type.rank && extents_any(p, n); d++) {
        const varying v = extents_of(p, n, d);
        if (v.by)
            share *= (double)along(p, &v, 1, 2) / (double)n->type.dim[d];
    }
    return share;
}
