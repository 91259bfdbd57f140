/* guard.c - what was not taken receives nothing. Behind y = c ? 0 : f(x), the gradient that reaches f is 0 where c
 * holds, and there the derivative of f may be anything: 0 * inf would be NaN. So the condition is carried along with
 * the gradient: read off the definition of its node, and put outside of what it is multiplied by. */
#include "autodiff/autodiff.h"
#include "graph/ir/scalar.h"

#include <string.h>

/* that are looked into; parts and loads of a condition that is written at every use */
enum { MOST_NODES = 32, MOST_PARTS = 40, MOST_LOADS = 4 };
typedef struct search {
    arena *mem;
    int first, left; /* nodes from id first on are of this pass; how many more may be looked into */
} search;

static bool is_truth(const expr *x, bool v)
{
    x = x_uncast(x);
    return x->kind == X_LIT && (x->is_whole ? x->whole != 0 : x->lit != 0) == v;
}

static bool is_zero(const expr *x)
{
    x = x_uncast(x);
    const node *n = x->kind == X_LOAD ? x->from : NULL;
    const bool number = n && n->leaf && n->leaf->kind == LEAF_CONST && n->leaf->data && type_count(&n->type) == 1;
    return number ? load_real(n->type.dtype, n->leaf->data, 0) == 0 : x->kind == X_LIT && x->lit == 0;
}

static const expr *untaken(search *s, const expr *x);

static const expr *both(arena *mem, const expr *a, const expr *b)
{
    return !a || !b ? NULL : x_same(a, b) ? a : x2(mem, "and", a, b);
}

static const expr *either(arena *mem, const expr *a, const expr *b)
{
    return !a || !b ? (a ? a : b) : x_same(a, b) ? a : x2(mem, "or", a, b);
}

/* c ? yes : no over conditions. What a place decides stays a choice: it says where the rest may be read. */
static const expr *choice(arena *mem, const expr *c, const expr *yes, const expr *no)
{
    if (is_truth(yes, true) && is_truth(no, false))
        return x_cast(mem, TS_BOOL, c);
    if (is_truth(yes, false) && is_truth(no, true))
        return x1(mem, "not", c);
    if (is_truth(yes, true) && x_count(c, X_LOAD))
        return either(mem, x_cast(mem, TS_BOOL, c), no);
    if (is_truth(no, true) && x_count(c, X_LOAD))
        return either(mem, x1(mem, "not", c), yes);
    return x_same(yes, no) ? yes : x3(mem, "select", c, yes, no);
}

/* A choice by the place alone (padding) is no guard: it is there for reading, and only carries those behind it. */
static const expr *of_select(search *s, const expr *x)
{
    const expr *part[2];
    bool found = false;
    for (int i = 0; i < 2; i++) {
        const bool zero = is_zero(x->arg[i + 1]);
        part[i] = zero ? x_truth(s->mem, true) : untaken(s, x->arg[i + 1]);
        found = found || (zero ? x_count(x->arg[0], X_LOAD) > 0 : part[i] != NULL);
        part[i] = part[i] ? part[i] : x_truth(s->mem, false);
    }
    return found ? choice(s->mem, x->arg[0], part[0], part[1]) : NULL;
}

/* Of a product only what this pass made is a gradient: a factor of the model's own that is 0 leaves 0 * inf. */
static const expr *of_product(search *s, const expr *x)
{
    const expr *found = NULL;
    for (int i = 0; i < 2 && !found; i++) {
        const expr *a = x->arg[i], *b = x->arg[!i];
        const bool own = a->kind != X_LOAD || a->from->back || a->from->id >= s->first;
        found = own || b->kind == X_LIT ? untaken(s, a) : NULL;
    }
    return found;
}

static const expr *of_load(search *s, const expr *x)
{
    defn d;
    if (node_is_leaf(x->from) || s->left-- <= 0 || !g_defn(x->from, s->mem, &d, NULL))
        return NULL;
    const expr *found = untaken(s, d.value);
    return found ? x_rename(s->mem, found, x->from->type.rank, x->arg) : NULL;
}

/* Where x, a gradient, is 0 because of a choice by values: a condition over x's axes, or NULL. */
static const expr *untaken(search *s, const expr *x)
{
    const expr *inner;
    switch (x->kind) {
    case X_LOAD: return of_load(s, x);
    case X_CAST: return untaken(s, x->arg[0]);
    case X_FOLD:
        inner = strcmp(x->fn->name, "add") ? NULL : untaken(s, x->arg[0]);
        return inner && !(x_axes(inner) & x->folds) ? inner : NULL;
    case X_CALL: break;
    default: return NULL;
    }
    if (x->fn->result == R_SECOND)
        return of_select(s, x);
    if (x_is_call(x, "neg") || x_is_call(x, "div"))
        return untaken(s, x->arg[0]);
    if (x_is_call(x, "add") || x_is_call(x, "sub"))
        return (inner = untaken(s, x->arg[0])) ? both(s->mem, inner, untaken(s, x->arg[1])) : NULL;
    return x_is_call(x, "mul") ? of_product(s, x) : NULL;
}

/* What is too long to be written at every use, or reads too much for that, as a node of its own. */
static const expr *shortened(graph *g, arena *mem, const type *t, const expr *x)
{
    const expr *arg[MAX_ARG], *load[MOST_LOADS + 1];
    if (x_parts(x) <= MOST_PARTS && x_loads(x, load, MOST_LOADS + 1) <= MOST_LOADS)
        return x;
    const bool joins = x_is_call(x, "and") || x_is_call(x, "or") || x_is_call(x, "not");
    for (int i = 0; i < x->n && joins; i++)
        if (!(arg[i] = shortened(g, mem, t, x->arg[i])))
            return NULL;
    const node *n = emit_over(g, t, joins ? x_apply(mem, x->fn, x->n, arg) : x);
    return n && type_count(&n->type) == type_count(t) ? x_element(mem, n) : NULL;
}

const expr *guard_of(graph *g, arena *mem, const arriving *at)
{
    search s = {.mem = mem, .first = at->first, .left = MOST_NODES};
    const expr *found = at->chosen ? untaken(&s, x_element(mem, at->dy)) : NULL;
    const err before = g->err;
    found = found ? shortened(g, mem, &at->dy->type, found) : NULL;
    g->err = before; /* what cannot be written as a node is left to the arithmetic */
    return found;
}

bool has_choice(const expr *x)
{
    if (x->kind == X_CALL && (fn_is_own(x->fn) || (x->fn->result == R_SECOND && x_count(x->arg[0], X_LOAD))))
        return true;
    for (int i = 0; i < x->n; i++)
        if (has_choice(x->arg[i]))
            return true;
    return false;
}

const node *guard_apply(graph *g, const arriving *at, const node *n)
{
    ENDED_BY(arena_free) arena mem = {0};
    const type *t = &at->dy->type;
    const expr *c = n && type_count(t) && n->type.rank == t->rank ? guard_of(g, &mem, at) : NULL;
    if (c) {
        const expr *sub[MAX_RANK];
        for (int i = 0; i < t->rank; i++)
            sub[i] = n->type.dim[i] == t->dim[i] ? x_axis(&mem, i) : x_whole(&mem, 0);
        n = emit_over(g, t, x3(&mem, "select", c, x_whole(&mem, 0), x_load(&mem, n, sub)));
    }
    return n;
}
