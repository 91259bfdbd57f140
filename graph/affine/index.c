/* index.c - arithmetic on affine indices. */
#include "graph/affine/index.h"
#include "graph/affine/range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int var_add(space *s, const char *name, int64_t low, int64_t high)
{
    MUST(s->n < MAX_VAR);
    snprintf(s->var[s->n].name, sizeof s->var[s->n].name, "%s", name);
    s->var[s->n].low = low, s->var[s->n].high = high;
    return s->n++;
}

/* c + sum of coef * atom over n terms; the terms are copied into the arena. */
static const affine *make(space *s, int64_t c, int n, const term *t)
{
    affine *a = arena_get(s->mem, sizeof *a);
    *a = (affine){c, n, arena_joined(s->mem, t, n, NULL, 0, sizeof *t)};
    return a;
}

const affine *affine_const(space *s, int64_t c)
{
    return make(s, c, 0, NULL);
}

static const affine *single(space *s, const atom *a)
{
    atom *own = arena_get(s->mem, sizeof *own);
    *own = *a;
    return make(s, 0, 1, &(term){1, own});
}

/* An axis of one trip is a number: c = low. */
const affine *affine_var(space *s, int v)
{
    const var *r = &s->var[v];
    if (r->low == r->high)
        return affine_const(s, r->low);
    return single(s, &(atom){.kind = A_VAR, .var = v});
}

static bool atom_same(const atom *a, const atom *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == A_VAR)
        return a->var == b->var;
    if (a->kind == A_DIV)
        return a->by == b->by && affine_same(a->of, b->of);
    return x_same(a->x, b->x);
}

/* Terms stand in no order, but no atom stands twice, so as many equal terms as there are make both the same. */
bool affine_same(const affine *a, const affine *b)
{
    if (a->c != b->c || a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++) {
        int j = 0;
        while (j < b->n && !(b->t[j].coef == a->t[i].coef && atom_same(a->t[i].a, b->t[j].a)))
            j++;
        if (j == b->n)
            return false;
    }
    return true;
}

/* a + times * b. Terms that cancel go: this is where (x / n) * n - ... of split and merged axes vanish. */
const affine *affine_add(space *s, const affine *a, const affine *b, int64_t times)
{
    if (!times || (!b->n && !b->c))
        return a;
    term *t = arena_joined(s->mem, a->t, a->n, NULL, b->n, sizeof *t);
    int n = a->n, k = 0;
    for (int i = 0; i < b->n; i++) {
        int j = 0;
        while (j < n && !atom_same(t[j].a, b->t[i].a))
            j++;
        if (j == n)
            t[n++] = (term){0, b->t[i].a};
        t[j].coef += times * b->t[i].coef;
    }
    for (int i = 0; i < n; i++)
        if (t[i].coef)
            t[k++] = t[i];
    return make(s, a->c + times * b->c, k, t);
}

const affine *affine_scale(space *s, const affine *a, int64_t times)
{
    return affine_add(s, affine_const(s, 0), a, times);
}

static range range_of_affine(const space *s, const affine *a);

/* Of an expression that is not affine nothing is known. */
static range range_of_atom(const space *s, const atom *a)
{
    if (a->kind == A_VAR)
        return range_of(s->var[a->var].low, s->var[a->var].high);
    return a->kind == A_DIV ? range_floor(range_of_affine(s, a->of), a->by) : (range){0};
}

static range range_of_affine(const space *s, const affine *a)
{
    range sum = range_of(a->c, a->c);
    for (int i = 0; i < a->n && sum.known; i++)
        sum = range_sum(sum, range_times(range_of_atom(s, a->t[i].a), a->t[i].coef));
    return sum;
}

/* Each term by itself, so x - x / 2 * 2 comes out wider than it is: affine_bounds is closer. */
void affine_range(const space *s, const affine *a, int64_t *low, int64_t *high)
{
    const range r = range_of_affine(s, a);
    *low = r.known ? r.low : INT64_MIN, *high = r.known ? r.high : INT64_MAX;
}

void affine_bounds(space *s, const affine *a, int64_t *low, int64_t *high)
{
    affine_range(s, a, low, high);
    for (int i = 0; i < a->n; i++) { /* c (x - n floor(x / n)) + rest, of which the first part is in c [0, n) */
        const atom *q = a->t[i].a;
        if (q->kind != A_DIV || a->t[i].coef % q->by)
            continue;
        const int64_t c = -a->t[i].coef / q->by;
        const affine *rest = affine_add(s, affine_add(s, a, make(s, 0, 1, &a->t[i]), -1), q->of, -c);
        int64_t l, h;
        affine_range(s, rest, &l, &h);
        if (rest->n >= a->n || l == INT64_MIN)
            continue;
        l += c < 0 ? c * (q->by - 1) : 0, h += c > 0 ? c * (q->by - 1) : 0;
        *low = l > *low ? l : *low, *high = h < *high ? h : *high;
    }
}

/* Of g and all coefficients, by Euclid. */
static int64_t common_factor(const affine *a, int64_t g)
{
    for (int i = 0; i < a->n; i++)
        for (int64_t b = a->t[i].coef < 0 ? -a->t[i].coef : a->t[i].coef, r; b; r = g % b, g = b, b = r)
            continue;
    return g;
}

/* floor((h a + b) / by) is floor(a / (by / h)) where 0 <= b < h divides by; NULL where no terms are such a b. */
static const affine *floor_of_large(space *s, const affine *rest, int64_t by)
{
    for (int i = 0; i < rest->n; i++) {
        const int64_t h = int_gcd(by, llabs(rest->t[i].coef));
        const affine *large = affine_const(s, int_floor_div(rest->c, h)),
                     *small = affine_const(s, int_floor_mod(rest->c, h));
        int64_t low, high;
        for (int k = 0; k < rest->n; k++) {
            const bool is_large = rest->t[k].coef % h == 0;
            const affine *one = make(s, 0, 1, &(term){1, rest->t[k].a}), **to = is_large ? &large : &small;
            *to = affine_add(s, *to, one, is_large ? rest->t[k].coef / h : rest->t[k].coef);
        }
        affine_range(s, small, &low, &high);
        if (h > 1 && small->n && low >= 0 && high < h)
            return affine_div(s, large, by / h);
    }
    return NULL;
}

/* floor(rest / by) where nothing of rest is a multiple of by: gone when its range stays within one step; inner floors
 * merge, floor(floor(x / p) / q) = floor(x / (p q)); a common factor g goes, floor(g x / (g n)) = floor(x / n). */
static const affine *floor_of(space *s, const affine *rest, int64_t by)
{
    int64_t low, high;
    affine_range(s, rest, &low, &high);
    if (low != INT64_MIN && int_floor_div(low, by) == int_floor_div(high, by))
        return affine_const(s, int_floor_div(low, by));
    if (!rest->c && rest->n == 1 && rest->t->coef == 1 && rest->t->a->kind == A_DIV)
        return affine_div(s, rest->t->a->of, rest->t->a->by * by);
    const int64_t g = common_factor(rest, by);
    const affine *large = g == 1 ? floor_of_large(s, rest, by) : NULL;
    if (g == 1)
        return large ? large : single(s, &(atom){.kind = A_DIV, .of = rest, .by = by});
    term *t = arena_array(s->mem, (size_t)rest->n + 1, sizeof *t);
    for (int i = 0; i < rest->n; i++)
        t[i] = (term){rest->t[i].coef / g, rest->t[i].a};
    return affine_div(s, make(s, int_floor_div(rest->c, g), rest->n, t), by / g);
}

const affine *affine_div(space *s, const affine *a, int64_t by)
{
    MUST(by > 0);
    if (by == 1)
        return a;
    const affine *out = affine_const(s, int_floor_div(a->c, by)), *rest = affine_const(s, int_floor_mod(a->c, by));
    for (int i = 0; i < a->n; i++) { /* terms that by divides leave the floor */
        const affine *one = make(s, 0, 1, &(term){1, a->t[i].a});
        if (a->t[i].coef % by == 0)
            out = affine_add(s, out, one, a->t[i].coef / by);
        else
            rest = affine_add(s, rest, one, a->t[i].coef);
    }
    return affine_add(s, out, floor_of(s, rest, by), 1);
}

/* x mod n = x - n floor(x / n): no atom of its own, so that it cancels against floors. */
const affine *affine_mod(space *s, const affine *a, int64_t by)
{
    return affine_add(s, a, affine_div(s, a, by), -by);
}

/* NULL where the call is not affine: a product of two variables, a divisor that is not a positive number. */
static const affine *of_call(space *s, const expr *x, const affine *const *axis)
{
    const affine *a = affine_of(s, x->arg[0], axis), *b = x->n == 2 ? affine_of(s, x->arg[1], axis) : NULL;
    const char *f = x->fn->name;
    if (!strcmp(f, "neg"))
        return affine_scale(s, a, -1);
    if (!b)
        return NULL;
    if (!strcmp(f, "add"))
        return affine_add(s, a, b, 1);
    if (!strcmp(f, "sub"))
        return affine_add(s, a, b, -1);
    if (!strcmp(f, "mul") && !b->n)
        return affine_scale(s, a, b->c);
    if (!strcmp(f, "mul") && !a->n)
        return affine_scale(s, b, a->c);
    if (!strcmp(f, "floordiv") && !b->n && b->c > 0)
        return affine_div(s, a, b->c);
    if (!strcmp(f, "mod") && !b->n && b->c > 0)
        return affine_mod(s, a, b->c);
    return NULL;
}

/* axis[k]: what stands for axis k of the expression. What is not affine becomes an atom, computed where it is read. */
const affine *affine_of(space *s, const expr *x, const affine *const *axis)
{
    const affine *a = NULL;
    if (x->kind == X_LIT)
        return affine_const(s, x->is_whole ? x->whole : (int64_t)x->lit);
    if (x->kind == X_AXIS)
        return axis[x->axis];
    if (x->kind == X_SIZE && s->size[x->axis])
        return s->size[x->axis];
    if (x->kind == X_CALL && x->dtype == TS_I64)
        a = of_call(s, x, axis);
    return a ? a : single(s, &(atom){.kind = A_EXPR, .x = x});
}

/* Leaves are variables and expressions, floors being looked through. */
bool affine_uses(const affine *a, bool (*test)(void *user, const atom *leaf), void *user)
{
    for (int i = 0; i < a->n; i++)
        if (a->t[i].a->kind == A_DIV ? affine_uses(a->t[i].a->of, test, user) : test(user, a->t[i].a))
            return true;
    return false;
}

/* floor((v + g x) / (g n)) is the same for all v from a multiple of g to the next. */
static int64_t run_of_floor(const atom *q, bool (*test)(void *user, const atom *leaf), void *user)
{
    int64_t run = int_gcd(q->by, q->of->c);
    for (int i = 0; i < q->of->n; i++) {
        const term *t = &q->of->t[i];
        const bool own = affine_uses(&(affine){.n = 1, .t = t}, test, user);
        if (own && (t->a->kind != A_VAR || t->coef != 1))
            return 1;
        run = own ? run : int_gcd(run, t->coef);
    }
    return run;
}

int64_t affine_run(const affine *a, bool (*test)(void *user, const atom *leaf), void *user)
{
    int64_t run = 0;
    for (int i = 0; i < a->n; i++) {
        const atom *q = a->t[i].a;
        if (q->kind != A_VAR && affine_uses(&(affine){.n = 1, .t = &a->t[i]}, test, user))
            run = int_gcd(run, q->kind == A_DIV ? run_of_floor(q, test, user) : 1);
    }
    return run < 0 ? -run : run;
}

static bool is_variable(void *user, const atom *a)
{
    (void)user;
    return a->kind == A_VAR;
}

bool affine_has_axis(const affine *a)
{
    return affine_uses(a, is_variable, NULL);
}

static bool is_expression(void *user, const atom *a)
{
    (void)user;
    return a->kind == A_EXPR;
}

bool affine_has_expr(const affine *a)
{
    return affine_uses(a, is_expression, NULL);
}

int64_t affine_coef(const affine *a, int v)
{
    for (int i = 0; i < a->n; i++)
        if (a->t[i].a->kind == A_VAR && a->t[i].a->var == v)
            return a->t[i].coef;
    return 0;
}

bool affine_pure(const affine *a)
{
    for (int i = 0; i < a->n; i++)
        if (a->t[i].a->kind != A_VAR)
            return false;
    return true;
}
