/* Integer forms: whatever was simplified must still be the same number. Random trees of sums, floors and remainders are
 * built twice, as forms and as plain arithmetic, and compared at points; what must cancel is compared as text. */
/* ctest: fast */
#include "graph/affine/index.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

enum { VARS = 4, POINTS = 40, TREES = 4000 };

/* ---- direct arithmetic ---- */
typedef struct tree {
    enum { NUMBER, VARIABLE, SUM, FLOOR, REST } kind;
    int64_t n; /* the number, the variable, the factor of b in a + n * b, or the divisor */
    const struct tree *a, *b;
} tree;

static int64_t tree_at(const tree *t, const int64_t *v)
{
    switch (t->kind) {
    case NUMBER: return t->n;
    case VARIABLE: return v[t->n];
    case SUM: return tree_at(t->a, v) + t->n * tree_at(t->b, v);
    case FLOOR: return int_floor_div(tree_at(t->a, v), t->n);
    default: return int_floor_mod(tree_at(t->a, v), t->n);
    }
}

static void tree_print(text *t, const tree *a)
{
    static const char *const sign[] = {"", "v", "", "/", "%"};
    if (a->kind == NUMBER || a->kind == VARIABLE) {
        text_add(t, "%s%lld", sign[a->kind], (long long)a->n);
        return;
    }
    text_add(t, "(");
    tree_print(t, a->a);
    if (a->kind == SUM)
        text_add(t, " + %lld*", (long long)a->n), tree_print(t, a->b);
    else
        text_add(t, " %s %lld", sign[a->kind], (long long)a->n);
    text_add(t, ")");
}

/* ---- both at once ---- */
typedef struct pair {
    const tree *t;
    const affine *f;
} pair;
typedef struct dice {
    arena *mem;
    space *s;
    uint64_t at;
} dice;

static int64_t roll(dice *d, int64_t low, int64_t high)
{
    return low + (int64_t)(random_bits(7, d->at++) % (uint64_t)(high - low + 1));
}

static const tree *keep(dice *d, tree t)
{
    tree *own = arena_get(d->mem, sizeof *own);
    *own = t;
    return own;
}

static pair grow(dice *d, int depth)
{
    const int64_t kind = depth ? roll(d, 0, 5) : roll(d, 0, 1);
    if (kind == 0) {
        const int64_t n = roll(d, -20, 20);
        return (pair){keep(d, (tree){.kind = NUMBER, .n = n}), affine_const(d->s, n)};
    }
    if (kind == 1) {
        const int64_t v = roll(d, 0, VARS - 1);
        return (pair){keep(d, (tree){.kind = VARIABLE, .n = v}), affine_var(d->s, (int)v)};
    }
    const pair a = grow(d, depth - 1);
    if (kind <= 3) {
        const pair b = grow(d, depth - 1);
        const int64_t times = roll(d, -9, 16);
        return (pair){keep(d, (tree){SUM, times, a.t, b.t}), affine_add(d->s, a.f, b.f, times)};
    }
    const int64_t by = roll(d, 1, 12);
    if (kind == 4)
        return (pair){keep(d, (tree){FLOOR, by, a.t, NULL}), affine_div(d->s, a.f, by)};
    return (pair){keep(d, (tree){REST, by, a.t, NULL}), affine_mod(d->s, a.f, by)};
}

static int64_t affine_at(const affine *a, const int64_t *v)
{
    int64_t sum = a->c;
    for (int i = 0; i < a->n; i++) {
        const atom *x = a->t[i].a;
        MUST(x->kind != A_EXPR);
        sum += a->t[i].coef * (x->kind == A_VAR ? v[x->var] : int_floor_div(affine_at(x->of, v), x->by));
    }
    return sum;
}

/* ---- as text ---- */
static void print_affine(const space *s, text *t, const affine *a)
{
    for (int i = 0; i < a->n; i++) {
        const atom *x = a->t[i].a;
        const int64_t c = a->t[i].coef, size = c < 0 ? -c : c;
        text_add(t, i ? c < 0 ? " - " : " + " : c < 0 ? "-" : "");
        if (size != 1)
            text_add(t, "%lld * ", (long long)size);
        if (x->kind == A_VAR)
            text_add(t, "%s", s->var[x->var].name);
        else if (x->kind == A_EXPR)
            text_add(t, "<%s>", x->x->kind == X_LOAD ? "load" : "?");
        else
            text_add(t, "floor("), print_affine(s, t, x->of), text_add(t, " / %lld)", (long long)x->by);
    }
    if (a->c || !a->n)
        text_add(t, !a->n ? "%lld" : a->c < 0 ? " - %lld" : " + %lld", (long long)(a->n && a->c < 0 ? -a->c : a->c));
}

static void report(const char *what, const pair *p, const space *s, const int64_t *v)
{
    text t = {0};
    tree_print(&t, p->t);
    text_add(&t, "  as  ");
    print_affine(s, &t, p->f);
    printf("  %s: %s at %lld %lld %lld %lld: %lld, form %lld\n", what, t.s, (long long)v[0], (long long)v[1],
           (long long)v[2], (long long)v[3], (long long)tree_at(p->t, v), (long long)affine_at(p->f, v));
    text_free(&t);
}

static void add_variables(space *s)
{
    static const int64_t low[VARS] = {0, 0, -5, 3}, high[VARS] = {7, 127, 11, 3};
    static const char *const name[VARS] = {"i", "j", "k", "one"};
    for (int v = 0; v < VARS; v++)
        CHECK(var_add(s, name[v], low[v], high[v]) == v);
}

static void test_values(void)
{
    int wrong = 0;
    for (int n = 0; n < TREES && wrong < 5; n++) {
        arena mem = {0};
        space s = {.mem = &mem};
        dice d = {&mem, &s, (uint64_t)n << 20};
        int64_t low, high, least, most, v[VARS];
        add_variables(&s);
        const pair p = grow(&d, 5);
        affine_range(&s, p.f, &low, &high);
        affine_bounds(&s, p.f, &least, &most);
        wrong += least < low || most > high;
        for (int k = 0; k < POINTS; k++) {
            for (int i = 0; i < VARS; i++)
                v[i] = roll(&d, s.var[i].low, s.var[i].high);
            const int64_t want = tree_at(p.t, v);
            if (affine_at(p.f, v) != want)
                report("another number", &p, &s, v), wrong++;
            else if (want < least || want > most)
                report("out of its range", &p, &s, v), wrong++;
        }
        const pair again = p;
        if (!affine_same(p.f, again.f) || (affine_same(p.f, affine_add(&s, p.f, affine_const(&s, 1), 1))))
            report("not the same as itself", &p, &s, v), wrong++;
        arena_free(&mem);
    }
    CHECK(wrong == 0);
}

static bool is_variable(void *user, const atom *a)
{
    return a->kind == A_VAR && a->var == *(const int *)user;
}

/* Neighbours along a variable are apart by its coefficient, within a run. */
static void test_runs(void)
{
    int wrong = 0, tried = 0;
    for (int n = 0; n < TREES && wrong < 5; n++) {
        arena mem = {0};
        space s = {.mem = &mem};
        dice d = {&mem, &s, (uint64_t)(n + 2 * TREES) << 20};
        int64_t v[VARS];
        add_variables(&s);
        const pair p = grow(&d, 4);
        for (int k = 0; k < POINTS; k++) {
            int a = (int)roll(&d, 0, 2);
            const int64_t run = affine_run(p.f, is_variable, &a);
            for (int i = 0; i < VARS; i++)
                v[i] = roll(&d, s.var[i].low, s.var[i].high);
            const int64_t here = affine_at(p.f, v);
            if (v[a] == s.var[a].high || (run && int_floor_mod(v[a] + 1, run) == 0))
                continue;
            v[a]++, tried += run > 1;
            if (affine_at(p.f, v) - here != affine_coef(p.f, a))
                report("no run", &p, &s, v), wrong++;
        }
        arena_free(&mem);
    }
    CHECK(wrong == 0 && tried > 100);
}

/* ---- expressions become forms ---- */
static const expr *to_expr(arena *mem, const tree *t)
{
    const expr *a = t->a ? to_expr(mem, t->a) : NULL, *n = x_whole(mem, t->n);
    switch (t->kind) {
    case NUMBER: return n;
    case VARIABLE: return x_axis(mem, (int)t->n);
    case SUM: return x2(mem, "add", a, x2(mem, "mul", n, to_expr(mem, t->b)));
    case FLOOR: return x2(mem, "floordiv", a, n);
    default: return x2(mem, "mod", a, n);
    }
}

static void test_expressions(void)
{
    int wrong = 0;
    for (int n = 0; n < TREES / 4 && wrong < 5; n++) {
        arena mem = {0};
        space s = {.mem = &mem};
        dice d = {&mem, &s, (uint64_t)(n + TREES) << 20};
        const affine *axis[VARS];
        int64_t v[VARS];
        add_variables(&s);
        for (int i = 0; i < VARS; i++)
            axis[i] = affine_var(&s, i);
        pair p = grow(&d, 4);
        p.f = affine_of(&s, to_expr(&mem, p.t), axis);
        for (int k = 0; k < POINTS; k++) {
            for (int i = 0; i < VARS; i++)
                v[i] = roll(&d, s.var[i].low, s.var[i].high);
            if (tree_at(p.t, v) != affine_at(p.f, v))
                report("expression", &p, &s, v), wrong++;
        }
        arena_free(&mem);
    }
    CHECK(wrong == 0);
}

/* ---- what must cancel ---- */
static void prints(const space *s, const affine *a, const char *want)
{
    text t = {0};
    print_affine(s, &t, a);
    CHECK_TEXT(t.s, want);
    text_free(&t);
}

static const affine *sum(space *s, const affine *a, int64_t times, const affine *b)
{
    return affine_add(s, b, a, times);
}

static void test_cancelling(void)
{
    arena mem = {0};
    space s = {.mem = &mem};
    const affine *i = affine_var(&s, var_add(&s, "i", 0, 7)), *j = affine_var(&s, var_add(&s, "j", 0, 15));
    const affine *x = affine_var(&s, var_add(&s, "x", 0, 1000)), *z = affine_var(&s, var_add(&s, "z", -9, 9));
    prints(&s, affine_const(&s, -3), "-3");
    prints(&s, affine_add(&s, affine_scale(&s, i, -2), affine_const(&s, 5), 1), "-2 * i + 5");
    prints(&s, affine_add(&s, i, j, -1), "i - j");
    prints(&s, affine_add(&s, i, i, -1), "0");
    /* a split axis: digits come out again */
    const affine *split = sum(&s, i, 16, j);
    prints(&s, affine_div(&s, split, 16), "i");
    prints(&s, affine_mod(&s, split, 16), "j");
    prints(&s, affine_div(&s, sum(&s, split, 4, affine_const(&s, 3)), 64), "i");
    prints(&s, affine_mod(&s, split, 128), "j + 16 * i");
    /* a row-major blocked subscript is the subscript */
    prints(&s, sum(&s, affine_div(&s, x, 64), 64, affine_mod(&s, x, 64)), "x");
    prints(&s, affine_div(&s, affine_div(&s, x, 8), 4), "floor(x / 32)");
    prints(&s, affine_div(&s, affine_scale(&s, x, 6), 4), "floor(3 * x / 2)");
    /* a tile of 16 columns in panels of 64: which panel depends on where the tile begins alone */
    prints(&s, affine_div(&s, sum(&s, x, 16, j), 64), "floor(x / 4)");
    prints(&s, affine_div(&s, sum(&s, x, -16, j), 64), "floor(-x / 4)");
    prints(&s, affine_div(&s, sum(&s, x, 8, j), 64), "floor(j + 8 * x / 64)");
    prints(&s, affine_div(&s, sum(&s, x, 12, affine_const(&s, 7)), 6), "2 * x + 1");
    prints(&s, affine_mod(&s, x, 64), "x - 64 * floor(x / 64)");
    prints(&s, affine_div(&s, x, 1001), "0");
    prints(&s, affine_div(&s, z, 4), "floor(z / 4)");
    prints(&s, affine_div(&s, affine_add(&s, z, affine_const(&s, 9), 1), 4), "floor(z + 1 / 4) + 2");
    int64_t low, high;
    affine_bounds(&s, affine_add(&s, affine_const(&s, 5), affine_mod(&s, affine_add(&s, x, z, 1), 64), -2), &low,
                  &high);
    CHECK(low == 5 - 2 * 63 && high == 5);
    CHECK(affine_pure(split) && !affine_pure(affine_mod(&s, x, 64)));
    const affine *blocked = sum(&s, affine_div(&s, x, 16), 1008, x),
                 *apart = affine_add(&s, blocked, affine_scale(&s, i, 64), 1);
    int v = 2; /* x */
    CHECK(affine_run(blocked, is_variable, &v) == 16 && affine_run(apart, is_variable, &v) == 16);
    CHECK(affine_run(affine_div(&s, sum(&s, i, 8, x), 32), is_variable, &v) == 8);
    CHECK(affine_run(affine_div(&s, affine_scale(&s, x, 3), 32), is_variable, &v) == 1);
    CHECK(affine_run(split, is_variable, &v) == 0 && affine_run(x, is_variable, &v) == 0);
    CHECK(affine_coef(split, 0) == 16 && affine_coef(split, 1) == 1 && affine_coef(split, 2) == 0);
    CHECK(affine_same(sum(&s, i, 2, j), affine_add(&s, affine_add(&s, j, i, 1), i, 1)) && !affine_same(i, j));
    arena_free(&mem);
}

static bool is_expr(void *user, const atom *a)
{
    ++*(int *)user;
    return a->kind == A_EXPR;
}

/* A gathered index is an atom of its own: it may be scaled and split, its range is not known. */
static void test_gathered(void)
{
    arena mem = {0};
    space s = {.mem = &mem};
    const node n = {.type = {.dtype = TS_I64, .rank = 1, .dim = {10}}};
    const expr *at = x_axis(&mem, 0), *load = x_load(&mem, &n, &at);
    const affine *axis[] = {affine_var(&s, var_add(&s, "i", 0, 9))};
    const affine *f = affine_of(&s, x2(&mem, "add", x2(&mem, "mul", load, x_whole(&mem, 768)), at), axis);
    int64_t low, high;
    int leaves = 0;
    prints(&s, f, "768 * <load> + i");
    prints(&s, affine_div(&s, f, 768), "<load>");
    prints(&s, affine_div(&s, f, 2), "384 * <load> + floor(i / 2)");
    affine_range(&s, f, &low, &high);
    CHECK(low == INT64_MIN && high == INT64_MAX);
    CHECK(affine_uses(f, is_expr, &leaves) && !affine_uses(axis[0], is_expr, &leaves) && !affine_pure(f));
    const affine *twice = affine_of(&s, x2(&mem, "sub", load, load), axis);
    prints(&s, twice, "0");
    arena_free(&mem);
}

int main(void)
{
    test_values();
    test_runs();
    test_expressions();
    test_cancelling();
    test_gathered();
    return check_done();
}
