/* linear.c - integer expressions as sums of atoms. */
#include "graph/affine/linear.h"

static bool whole(const expr *x)
{
    return x->dtype == TS_I64 || (x->dtype == TS_N_DTYPE && x->is_whole);
}

bool linear_add(const linear *a, int64_t by, const linear *b, linear *out)
{
    linear sum = *a;
    int64_t more;
    if (!int_mul(b->plus, by, &more) || !int_add(sum.plus, more, &sum.plus))
        return false;
    for (int i = 0; i < b->n; i++) {
        int k = 0;
        while (k < sum.n && !x_same(sum.atom[k], b->atom[i]))
            k++;
        if (k == MAX_TERM || !int_mul(b->by[i], by, &more))
            return false;
        if (k == sum.n)
            sum.atom[k] = b->atom[i], sum.by[k] = 0, sum.n++;
        if (!int_add(sum.by[k], more, &sum.by[k]))
            return false;
        if (sum.by[k])
            continue;
        sum.n--;
        for (int j = k; j < sum.n; j++)
            sum.by[j] = sum.by[j + 1], sum.atom[j] = sum.atom[j + 1];
    }
    return *out = sum, true;
}

bool linear_of(const expr *x, linear *out)
{
    linear a, b;
    const linear none = {0};
    *out = none;
    if (!whole(x))
        return false;
    if (x->kind == X_LIT)
        return out->plus = x->whole, true;
    if (x_is_call(x, "neg"))
        return linear_of(x->arg[0], &a) && linear_add(&none, -1, &a, out);
    if (x_is_call(x, "add") || x_is_call(x, "sub"))
        return linear_of(x->arg[0], &a) && linear_of(x->arg[1], &b) &&
               linear_add(&a, x_is_call(x, "add") ? 1 : -1, &b, out);
    for (int i = 0; i < 2 && x_is_call(x, "mul"); i++)
        if (x->arg[i]->kind == X_LIT)
            return linear_of(x->arg[1 - i], &a) && linear_add(&none, x->arg[i]->whole, &a, out);
    out->n = 1, out->by[0] = 1, out->atom[0] = x;
    return true;
}

/* Axes by number come first, then the rest as met. */
static int rank_of(const expr *atom)
{
    return atom->kind == X_AXIS ? atom->axis : MAX_AXIS;
}

const expr *linear_expr(arena *mem, const linear *l)
{
    const expr *sum = NULL;
    bool done[MAX_TERM] = {0};
    for (int i = 0; i < l->n; i++) {
        int best = -1;
        for (int k = 0; k < l->n; k++)
            if (!done[k] && (best < 0 || rank_of(l->atom[k]) < rank_of(l->atom[best])))
                best = k;
        done[best] = true;
        const expr *term = x2(mem, "mul", l->atom[best], x_whole(mem, l->by[best]));
        sum = sum ? x2(mem, "add", sum, term) : term;
    }
    const expr *plus = x_cast(mem, TS_I64, x_whole(mem, l->plus));
    return sum ? x2(mem, "add", sum, plus) : plus;
}

/* ---- ranges ---- */
static range range_of_linear(const linear *l, const int64_t *extent)
{
    range sum = range_of(l->plus, l->plus);
    for (int i = 0; i < l->n; i++)
        sum = range_sum(sum, range_times(x_range(l->atom[i], extent), l->by[i]));
    return sum;
}

static range range_of_call(const expr *x, const int64_t *extent)
{
    const range none = {0};
    const bool positive = x->n > 1 && x->arg[1]->kind == X_LIT && x->arg[1]->whole > 0;
    const int first = x_is_call(x, "select");
    const range a = x_range(x->arg[first], extent), b = x->n > first + 1 ? x_range(x->arg[first + 1], extent) : none;
    if (x_is_call(x, "mod"))
        return positive ? range_rest(a, x->arg[1]->whole) : none;
    if (x_is_call(x, "floordiv"))
        return positive ? range_floor(a, x->arg[1]->whole) : none;
    if (x_is_call(x, "abs"))
        return range_size(a);
    return first                 ? range_either(a, b)
           : x_is_call(x, "mul") ? range_product(a, b)
           : x_is_call(x, "min") ? range_least(a, b)
           : x_is_call(x, "max") ? range_most(a, b)
                                 : none;
}

range x_range(const expr *x, const int64_t *extent)
{
    linear l;
    if (x->kind == X_AXIS)
        return range_of(0, extent[x->axis] - 1);
    if (!linear_of(x, &l))
        return (range){0};
    if (l.n == 1 && l.by[0] == 1 && !l.plus && l.atom[0] == x)
        return x->kind == X_CALL ? range_of_call(x, extent) : (range){0};
    return range_of_linear(&l, extent);
}

/* ---- tidying ---- */
typedef struct tidying {
    arena *mem;
    const int64_t *extent;
    bool open; /* comparisons of axes stay */
} tidying;

/* l = n * q + r with 0 <= r < n everywhere: then the quotient is q and the remainder r. */
static bool divided(const tidying *t, const linear *l, int64_t n, linear *q, linear *r)
{
    *q = (linear){.plus = int_floor_div(l->plus, n)}, *r = (linear){.plus = int_floor_mod(l->plus, n)};
    for (int i = 0; i < l->n; i++) {
        linear *to = l->by[i] % n ? r : q;
        to->atom[to->n] = l->atom[i], to->by[to->n++] = l->by[i] % n ? l->by[i] : l->by[i] / n;
    }
    const range rest = range_of_linear(r, t->extent);
    return rest.known && rest.low >= 0 && rest.high < n;
}

/* A comparison is about the difference of its sides: settled by its range, else written with sums in order. */
static const expr *compared(const tidying *t, const expr *x)
{
    linear a, b, diff;
    if (!linear_of(x->arg[0], &a) || !linear_of(x->arg[1], &b))
        return x;
    const range apart = linear_add(&b, -1, &a, &diff) ? range_of_linear(&diff, t->extent) : (range){0};
    if (apart.known && !(t->open && diff.n)) {
        const int64_t low = apart.low, high = apart.high;
        if (x_is_call(x, "lt") && (low > 0 || high <= 0))
            return x_truth(t->mem, low > 0);
        if (x_is_call(x, "le") && (low >= 0 || high < 0))
            return x_truth(t->mem, low >= 0);
        if (x_is_call(x, "eq") && (low > 0 || high < 0 || (low == 0 && high == 0)))
            return x_truth(t->mem, low == 0 && high == 0);
        if (x_is_call(x, "ne") && (low > 0 || high < 0 || (low == 0 && high == 0)))
            return x_truth(t->mem, !(low == 0 && high == 0));
    }
    return x2(t->mem, x->fn->name, linear_expr(t->mem, &a), linear_expr(t->mem, &b));
}

bool x_settled(const expr *x, bool *holds)
{
    const expr *v = x->kind == X_CAST && x->dtype == TS_BOOL ? x->arg[0] : x;
    return *holds = v->whole, v->kind == X_LIT && v->is_whole;
}

static const expr *tidy_one(void *user, const expr *x)
{
    const tidying *t = user;
    linear l, q, r;
    bool holds;
    if (x->kind != X_CALL)
        return x;
    for (int i = 0; i < 2 && x_is_call(x, "and"); i++)
        if (x_settled(x->arg[i], &holds))
            return holds ? x->arg[1 - i] : x->arg[i];
    if (x_is_call(x, "select") && x_settled(x->arg[0], &holds))
        return x->arg[holds ? 1 : 2];
    if (x_is_call(x, "lt") || x_is_call(x, "le") || x_is_call(x, "eq") || x_is_call(x, "ne"))
        return compared(t, x);
    const bool rest = x_is_call(x, "mod");
    if ((rest || x_is_call(x, "floordiv")) && x->arg[1]->kind == X_LIT && x->arg[1]->whole > 0 &&
        linear_of(x->arg[0], &l) && divided(t, &l, x->arg[1]->whole, &q, &r))
        return linear_expr(t->mem, rest ? &r : &q);
    return linear_of(x, &l) ? linear_expr(t->mem, &l) : x;
}

const expr *x_tidy(arena *mem, const expr *x, const int64_t *extent)
{
    return x_map(mem, x, tidy_one, &(tidying){.mem = mem, .extent = extent});
}

const expr *x_tidy_open(arena *mem, const expr *x, const int64_t *extent)
{
    return x_map(mem, x, tidy_one, &(tidying){.mem = mem, .extent = extent, .open = true});
}
