/* merge.c - merges that follow from the steps of a fold of several values. Each form is one whose parts may be taken in
 * any order; what is like none of them has to say its merge itself. */
#include "graph/ir/merge.h"

typedef struct deriving {
    arena *mem;
    const expr *x; /* the fold */
    int n;
} deriving;

static const expr *start_of(const deriving *d, int k)
{
    return d->x->arg[k];
}

static const expr *step_of(const deriving *d, int k)
{
    return d->x->arg[d->n + k];
}

static const expr *left(const deriving *d, int k)
{
    return x_state(d->mem, start_of(d, k)->dtype, k);
}

static const expr *right(const deriving *d, int k)
{
    return x_state(d->mem, start_of(d, k)->dtype, d->n + k);
}

/* ---- forms of expressions ---- */
static bool is_state(const expr *x, int k)
{
    return x->kind == X_STATE && x->axis == k;
}

static bool is_free(const expr *x) /* of states */
{
    return !x_count(x, X_STATE);
}

/* The other argument of a call of two, of which one is x; NULL: neither is. */
static const expr *beside(const expr *call, const char *name, const expr *x)
{
    for (int i = 0; i < 2 && x_is_call(call, name); i++)
        if (x_same(call->arg[i], x))
            return call->arg[1 - i];
    return NULL;
}

/* ---- one state by itself ---- */
/* s (+) e from a start for which start (+) start is start: parts that begin there count it once. */
static const expr *of_function(const deriving *d, int k)
{
    const expr *x = step_of(d, k), *start = start_of(d, k);
    if (x->kind != X_CALL || x->n != 2 || x->fn->unit != x->fn->unit || start->kind != X_LIT)
        return NULL;
    const bool first = is_state(x->arg[0], k) && is_free(x->arg[1]),
               second = is_state(x->arg[1], k) && is_free(x->arg[0]);
    if (!(first || second) || !x_same(x2(d->mem, x->fn->name, start, start), start))
        return NULL;
    return x2(d->mem, x->fn->name, left(d, k), right(d, k));
}

/* ---- a key, and what is carried along with it ---- */
typedef struct choosing {
    const expr *test; /* of the key against e: e is taken */
    const expr *e;    /* the key's */
    int key, place;
    bool swapped, later; /* e stands first; e is taken where both are equal */
} choosing;

static bool read_test(const deriving *d, const expr *test, choosing *c)
{
    *c = (choosing){.test = test, .key = -1, .place = -1};
    if (!x_is_call(test, "lt") && !x_is_call(test, "le"))
        return false;
    c->later = x_is_call(test, "le");
    for (int i = 0; i < 2 && c->key < 0; i++)
        if (test->arg[i]->kind == X_STATE && is_free(test->arg[1 - i]))
            c->key = test->arg[i]->axis, c->e = test->arg[1 - i], c->swapped = i == 1;
    return c->key >= 0 && x_same(step_of(d, c->key), x3(d->mem, "select", test, c->e, left(d, c->key)));
}

/* e is taken where the test says so, and it is the number of the one axis that is folded: of two parts, which of their
 * places comes first. Where equal ones replace each other, the place of none is before all. */
static bool is_place(const deriving *d, const choosing *c, int k)
{
    const expr *x = step_of(d, k), *start = start_of(d, k);
    if (!x_is_call(x, "select") || !x_same(x->arg[0], c->test) || !is_state(x->arg[2], k))
        return false;
    const expr *e = x->arg[1]->kind == X_CAST ? x->arg[1]->arg[0] : x->arg[1];
    return e->kind == X_AXIS && d->x->folds == 1u << e->axis && dtype_class(x->dtype) == D_WHOLE &&
           start->kind == X_LIT && (!c->later || start->whole < 0);
}

static const expr *test_of(const deriving *d, const choosing *c, const expr *key, const expr *e)
{
    return x2(d->mem, c->test->fn->name, c->swapped ? e : key, c->swapped ? key : e);
}

static const expr *of_choice(const deriving *d, int k)
{
    const expr *x = step_of(d, k);
    choosing c;
    if (!x_is_call(x, "select") || !is_free(x->arg[1]) || !is_state(x->arg[2], k) || !read_test(d, x->arg[0], &c))
        return NULL;
    for (int i = 0; i < d->n && c.place < 0; i++)
        c.place = is_place(d, &c, i) ? i : -1;
    if (c.place < 0)
        return NULL;
    const expr *l = left(d, c.key), *r = right(d, c.key), *p = left(d, c.place), *q = right(d, c.place),
               *better = test_of(d, &c, l, r), *worse = x1(d->mem, "not", test_of(d, &c, r, l));
    const expr *pick = c.later ? x2(d->mem, "and", better, x2(d->mem, "or", worse, x2(d->mem, "lt", p, q)))
                               : x2(d->mem, "or", better, x2(d->mem, "and", worse, x2(d->mem, "lt", q, p)));
    return x3(d->mem, "select", pick, right(d, k), left(d, k));
}

/* ---- sums under a running maximum ---- */
/* exp(from - most), as a factor of x or x itself; in the rest there is no state but in such factors. */
static bool is_lowered(const expr *x, const expr *from, const expr *most)
{
    const bool whole = x_is_call(x, "exp") && x_is_call(x->arg[0], "sub") && x_same(x->arg[0]->arg[0], from) &&
                       x_same(x->arg[0]->arg[1], most);
    for (int i = 0; i < 2 && !whole && x_is_call(x, "mul"); i++)
        if (is_lowered(x->arg[i], from, most) && is_free(x->arg[1 - i]))
            return true;
    return whole;
}

/* exp(s - most); 1 where they are equal, infinite as they may be */
static const expr *weight(const deriving *d, const expr *s, const expr *most)
{
    const expr *one = x_cast(d->mem, s->dtype, x_real(d->mem, 1));
    return x3(d->mem, "select", x2(d->mem, "eq", s, most), one, x1(d->mem, "exp", x2(d->mem, "sub", s, most)));
}

static const expr *of_lowered(const deriving *d, int k)
{
    const expr *x = step_of(d, k), *s = left(d, k);
    for (int j = 0; j < d->n && x_is_call(x, "add") && x_is_lit(start_of(d, k), 0); j++) {
        const expr *most = step_of(d, j), *e = j == k ? NULL : beside(most, "max", left(d, j));
        if (!e || !is_free(e) || !of_function(d, j))
            continue;
        for (int i = 0; i < 2; i++) {
            const expr *factor = beside(x->arg[i], "mul", s);
            if (!factor || !x_is_call(factor, "exp") || !is_lowered(factor, left(d, j), most) ||
                !is_lowered(x->arg[1 - i], e, most))
                continue;
            const expr *l = left(d, j), *r = right(d, j), *all = x2(d->mem, "max", l, r);
            return x2(d->mem, "add", x2(d->mem, "mul", s, weight(d, l, all)),
                      x2(d->mem, "mul", right(d, k), weight(d, r, all)));
        }
    }
    return NULL;
}

/* ---- count, mean and sum of squares ---- */
typedef struct moments {
    int count, mean, squares;
} moments;

static bool counts(const deriving *d, int k)
{
    const expr *one = beside(step_of(d, k), "add", left(d, k));
    return one && x_is_lit(one, 1) && x_is_lit(start_of(d, k), 0);
}

/* a + (e - a) / n', by which e is told; or NULL */
static const expr *averaged(const deriving *d, int k, int *count)
{
    const expr *s = left(d, k), *by = beside(step_of(d, k), "add", s);
    if (!by || !x_is_call(by, "div") || !x_is_call(by->arg[0], "sub") || !x_same(by->arg[0]->arg[1], s) ||
        !is_free(by->arg[0]->arg[0]) || !x_is_lit(start_of(d, k), 0))
        return NULL;
    for (*count = 0; *count < d->n; ++*count)
        if (*count != k && counts(d, *count) && x_same(x_uncast(by->arg[1]), step_of(d, *count)))
            return by->arg[0]->arg[0];
    return NULL;
}

/* q + (e - a) (e - a') */
static bool squares(const deriving *d, int k, int mean, const expr *e)
{
    const expr *by = beside(step_of(d, k), "add", left(d, k));
    const expr *rest = by ? beside(by, "mul", x2(d->mem, "sub", e, left(d, mean))) : NULL;
    return rest && x_is_lit(start_of(d, k), 0) && x_same(rest, x2(d->mem, "sub", e, step_of(d, mean)));
}

static bool find_moments(const deriving *d, int k, moments *f) /* of which k is the mean, or the sum of squares */
{
    for (f->mean = 0; f->mean < d->n; f->mean++) {
        const expr *e = averaged(d, f->mean, &f->count);
        if (e && (k == f->mean || squares(d, k, f->mean, e)))
            return f->squares = k, true;
    }
    return false;
}

/* With d = b - a: a + d n_b / n, and q_a + q_b + d^2 n_a n_b / n (Chan, Golub and LeVeque, 1979) */
static const expr *of_moments(const deriving *d, int k)
{
    arena *mem = d->mem;
    moments f;
    if (!find_moments(d, k, &f))
        return NULL;
    const dtype of = start_of(d, k)->dtype;
    const expr *na = x_cast(mem, of, left(d, f.count)), *nb = x_cast(mem, of, right(d, f.count)), *a = left(d, f.mean),
               *apart = x2(mem, "sub", right(d, f.mean), a), *none = x_cast(mem, of, x_real(mem, 0)),
               *share = x3(mem, "select", x2(mem, "eq", nb, none), none, x2(mem, "div", nb, x2(mem, "add", na, nb))),
               *moved = x2(mem, "mul", apart, share);
    if (k == f.mean)
        return x2(mem, "add", a, moved);
    return x2(mem, "add", x2(mem, "add", left(d, k), right(d, k)), x2(mem, "mul", x2(mem, "mul", apart, moved), na));
}

bool merge_derive(arena *mem, const expr *x, const expr *merge[MAX_STATE])
{
    static const expr *(*const forms[])(const deriving *, int) = {of_function, of_choice, of_lowered, of_moments};
    const deriving d = {mem, x, x->n_state};
    bool all = true;
    for (int k = 0; k < d.n && all; k++) {
        merge[k] = NULL;
        for (int i = 0; i < COUNT(forms) && !merge[k]; i++)
            merge[k] = forms[i](&d, k);
        all = merge[k] != NULL;
    }
    return all;
}
