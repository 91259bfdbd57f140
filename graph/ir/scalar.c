/* scalar.c - functions of a graph: found by name, expanded, differentiated. */
#include "graph/ir/scalar.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool fn_is_own(const fn *f)
{
    return !f->c_real && !f->c_whole;
}

/* ---- names ---- */
const scalar *scalar_find(const scalars *s, const char *name, size_t n)
{
    for (int i = 0; s && i < s->n; i++)
        if (strlen(s->all[i]->name) == n && !memcmp(s->all[i]->name, name, n))
            return s->all[i];
    return NULL;
}

static const fn *fn_of(const scalar *of, int result, int order, const int *by)
{
    scalars *s = of->in;
    for (int i = 0; i < s->n_fn; i++)
        if (s->fn[i]->of == of && s->fn[i]->result == result && s->fn[i]->order == order &&
            (!order || !memcmp(s->fn[i]->by, by, (size_t)order * sizeof *by)))
            return &s->fn[i]->base;
    s->fn = arena_grown(s->mem, s->fn, s->n_fn, &s->cap_fn, sizeof *s->fn);
    own_fn *f = arena_get(s->mem, sizeof *f);
    const char *name = result ? arena_format(s->mem, "%s.%d", of->name, result) : of->name;
    *f = (own_fn){.of = of, .result = result, .order = order};
    for (int i = 0; i < order; i++)
        f->by[i] = by[i], name = arena_format(s->mem, "%s.d%d", name, by[i]);
    f->base = (fn){
        .name = name, .arity = of->n_parameter, .result = R_SAME, .unit = __builtin_nan(""), .cost = 10, .steps = 10};
    s->fn[s->n_fn++] = f;
    return &f->base;
}

const fn *scalar_fn(const scalars *s, const char *name)
{
    const size_t n = strcspn(name, ".");
    const scalar *of = scalar_find(s, name, n);
    int result = 0, order = 0, by[SCALAR_ORDER];
    char *end = (char *)(uintptr_t)name + n;
    if (!of)
        return NULL;
    if (*end == '.' && isdigit((unsigned char)end[1]))
        result = (int)strtol(end + 1, &end, 10);
    while (end[0] == '.' && end[1] == 'd' && isdigit((unsigned char)end[2]) && order < SCALAR_ORDER) {
        by[order] = (int)strtol(end + 2, &end, 10);
        if (by[order++] >= of->n_parameter)
            return NULL;
    }
    return *end || result >= of->n_result ? NULL : fn_of(of, result, order, by);
}

const fn *scalar_derivative(const fn *f, int by)
{
    const own_fn *own = (const own_fn *)f;
    int all[SCALAR_ORDER];
    if (own->order == SCALAR_ORDER)
        return NULL;
    memcpy(all, own->by, sizeof all);
    all[own->order] = by;
    return fn_of(own->of, own->result, own->order + 1, all);
}

/* ---- values ---- */
static const expr *parsed(arena *mem, const own_fn *f, const expr *const *arg, bool expand, int depth, err *e)
{
    const scalar *of = f->of;
    names known = {.n = of->n_parameter, .own = of->in};
    for (int i = 0; i < of->n_parameter; i++)
        known.name[i] = of->parameter[i], known.value[i] = arg[i];
    reading r = {&known, expand, depth, f->result, of->n_result};
    if (!f->order)
        return x_read(mem, of->text, &r, e);
    const expr *y = x_apply(mem, fn_of(of, f->result, 0, NULL), of->n_parameter, arg);
    if (expand && !(y = scalar_value(mem, (const own_fn *)y->fn, y->arg, true, depth + 1, e)))
        return NULL;
    known.name[known.n] = "y", known.value[known.n++] = y; /* behind the parameters, of which one may be y */
    r.result = f->result * of->n_parameter + f->by[0], r.n_result = of->n_result * of->n_parameter;
    return x_read(mem, of->derivative, &r, e);
}

/* Calls stay; arguments that are no numbers are states, so that derivatives by them can be taken. */
static const expr *raw(arena *mem, const own_fn *f, const expr *const *arg, int depth, err *e)
{
    if (!f->order || (f->order == 1 && f->of->derivative))
        return parsed(mem, f, arg, false, depth, e);
    const own_fn *inner = (const own_fn *)fn_of(f->of, f->result, f->order - 1, f->by);
    const expr *x = raw(mem, inner, arg, depth, e), *by = arg[f->by[f->order - 1]];
    err own = {0};
    const expr *d = x ? d_expr(mem, x_cast(mem, by->dtype, x), by, &own) : NULL;
    if (err_is(&own))
        return err_set(e, own.code, "%s", own.text), NULL;
    return d || !x ? d : x_cast(mem, by->dtype, x_whole(mem, 0));
}

typedef struct putting {
    int n;
    const expr *const *state, *const *arg;
} putting;

static const expr *put_one(void *user, const expr *x)
{
    const putting *p = user;
    for (int i = 0; i < p->n && x->kind == X_STATE; i++)
        if (p->state[i] == x)
            return p->arg[i];
    return x;
}

typedef struct expanding {
    arena *mem;
    int depth;
    bool failed;
    err *e;
} expanding;

static const expr *expand_one(void *user, const expr *x)
{
    expanding *p = user;
    if (x->kind != X_CALL || !fn_is_own(x->fn) || p->failed)
        return x;
    const expr *y = scalar_value(p->mem, (const own_fn *)x->fn, x->arg, true, p->depth, p->e);
    p->failed = !y;
    return y ? x_cast(p->mem, x->dtype, y) : x;
}

static const expr *expand(arena *mem, const expr *x, int depth, err *e)
{
    expanding p = {mem, depth, false, e};
    const expr *y = x_map(mem, x, expand_one, &p);
    return p.failed ? NULL : y;
}

const expr *scalar_value(arena *mem, const own_fn *f, const expr *const *arg, bool all, int depth, err *e)
{
    const expr *state[MAX_ARG];
    if (depth >= SCALAR_DEPTH || f->of->in->calls++ >= SCALAR_CALLS) {
        const bool deep = depth >= SCALAR_DEPTH;
        err_set(e, TS_BAD_INPUT,
                deep ? "%sfunction %s: its calls are %d deep and do not end"
                     : "%sfunction %s: its calls make more than %d others",
                f->order ? "the derivative of " : "", f->of->name, deep ? depth : SCALAR_CALLS);
        return err_hint(e, "a recursion ends by a choice that numbers in the call decide: n == 0 ? ... : ..."), NULL;
    }
    if (!f->order || (f->order == 1 && f->of->derivative))
        return parsed(mem, f, arg, all, depth, e);
    for (int i = 0; i < f->base.arity; i++) {
        bool number = arg[i]->kind == X_LIT;
        for (int k = 0; k < f->order; k++)
            number = number && f->by[k] != i;
        state[i] = number ? arg[i] : x_state(mem, arg[i]->dtype, i);
    }
    const expr *x = raw(mem, f, state, depth, e);
    x = x && all ? expand(mem, x, depth + 1, e) : x;
    return x ? x_map(mem, x, put_one, &(putting){f->base.arity, state, arg}) : NULL;
}

static int parts(const expr *x, int left)
{
    left--;
    for (int i = 0; i < x->n && left > 0; i++)
        left = parts(x->arg[i], left);
    return left;
}

bool scalar_is_long(arena *mem, scalars *s, const expr *x, int most)
{
    err e = {0}; /* told by who expands it for use */
    s->calls = 0;
    const expr *y = expand(mem, x, 0, &e);
    return y && parts(y, most) <= 0;
}

const expr *x_expand(arena *mem, scalars *s, const expr *x, err *e)
{
    if (s)
        s->calls = 0;
    const expr *y = s ? expand(mem, x, 0, e) : x;
    if (!y || y == x || parts(y, SCALAR_PARTS) > 0)
        return y;
    err_set(e, TS_UNSUPPORTED, "its functions, written out, have %d parts or more, at most %d expected",
            SCALAR_PARTS + 1, SCALAR_PARTS);
    return err_hint(e, "take fewer steps, or call the function as an operation of tensors, which becomes several"),
           NULL;
}
