/* forward.c - forward mode. From the inputs on, every node's tangent follows from those of its operands: where its
 * element is linear in them, it is the same operation over tangents; else the element's derivative times how what it
 * loads moves, over the axes of its definition. What has neither (orders of elements, states, kernels) is the transpose
 * of its gradient: v -> J' v is linear, so its own gradient with respect to v, seeded by the tangents, is J u. */
#include "autodiff/autodiff.h"
#include "graph/ir/custom.h"
#include "graph/ir/diff.h"
#include "graph/ir/rule.h"

#include <stdlib.h>
#include <string.h>

typedef struct forward {
    graph *g;
    int n;                /* nodes that were there before */
    const node **tangent; /* by id, each of its node's shape; NULL: nothing moves it */
} forward;

static const node *moved(const forward *f, const node *n)
{
    return n->id < f->n ? f->tangent[n->id] : NULL;
}

/* ---- linear in what is loaded ---- */
typedef enum degree { CONSTANT, LINEAR, OTHER } degree;
typedef struct asking { /* in which loads: those of `only`, or else of all reals, or of what moves */
    const forward *f;
    const node *only;
    bool all;
} asking;

static bool counts(const asking *a, const node *n)
{
    return a->only ? n == a->only : dtype_real(n->type.dtype) && (a->all || moved(a->f, n));
}

static bool is_zero(const expr *x)
{
    x = x_uncast(x);
    return x->kind == X_LIT && x->lit == 0;
}

/* Of parts that are added, or of which one is taken. */
static degree joined(int n, const expr *const *part, const degree *of)
{
    bool any[3] = {false};
    for (int i = 0; i < n; i++)
        any[is_zero(part[i]) ? LINEAR : of[i]] = true;
    return any[OTHER] || (any[CONSTANT] && any[LINEAR]) ? OTHER : any[LINEAR] ? LINEAR : CONSTANT;
}

static degree of_call(const expr *x, const degree *of)
{
    const char *name = x->fn->name;
    degree most = CONSTANT;
    for (int i = 0; i < x->n; i++)
        most = of[i] > most ? of[i] : most;
    if (most == CONSTANT || most == OTHER)
        return most;
    if (x->fn->result == R_SECOND)
        return of[0] ? OTHER : joined(2, x->arg + 1, of + 1);
    if (!strcmp(name, "add") || !strcmp(name, "sub"))
        return joined(2, x->arg, of);
    if (!strcmp(name, "mul"))
        return of[0] && of[1] ? OTHER : LINEAR;
    return !strcmp(name, "neg") || (!strcmp(name, "div") && !of[1]) ? LINEAR : OTHER;
}

static degree degree_of(const asking *a, const expr *x)
{
    degree of[MAX_PART + MAX_STATE] = {CONSTANT}, most = CONSTANT;
    for (int i = 0; i < x->n && most != OTHER; i++)
        of[i] = degree_of(a, x->arg[i]), most = of[i] > most ? of[i] : most;
    switch (x->kind) {
    case X_LIT:
    case X_AXIS:
    case X_SIZE: return CONSTANT;
    case X_STATE: return LINEAR;
    case X_LOAD: return most ? OTHER : counts(a, x->from) ? LINEAR : CONSTANT;
    case X_CALL: return most == OTHER ? OTHER : of_call(x, of);
    case X_CAST: return most && dtype_class(x->dtype) != D_REAL ? OTHER : most;
    case X_FOLD: return most && strcmp(x->fn->name, "add") ? OTHER : most;
    case X_SCATTER: return most == OTHER || (x->fn && strcmp(x->fn->name, "add")) ? OTHER : joined(2, x->arg, of);
    case X_SCAN: return most == OTHER ? OTHER : joined(x->n, x->arg, of);
    default: return OTHER;
    }
}

bool x_linear(const expr *x, const node *in)
{
    return degree_of(&(asking){.only = in}, x) == LINEAR;
}

/* The same operation over tangents: in place of `only`, or of all that move; where `all`, with zeros for the rest. */
static const node *over_tangents(const asking *a, const node *y)
{
    graph *g = a->f->g;
    const node **in = arena_array(&g->mem, (size_t)y->n_in + 1, sizeof *in);
    for (int i = 0; i < y->n_in; i++) {
        in[i] = y->in[i];
        if (counts(a, in[i]))
            in[i] = moved(a->f, in[i]) ? moved(a->f, in[i]) : g_filled(g, &in[i]->type, 0);
    }
    const node *made = g_again(g, y, y->n_in, in); /* as y, where it fits */
    return made && type_equal(&made->type, &y->type) ? made : NULL;
}

static bool is_before(const node *y, int k)
{
    for (int i = 0; i < k; i++)
        if (y->in[i] == y->in[k])
            return true;
    return false;
}

static const node *linear(forward *f, const node *y, const expr *value)
{
    const node *total = NULL; /* as y */
    asking ask = {.f = f};
    for (int all = 0; all < 2; all++) {
        ask.all = all;
        if (degree_of(&ask, value) == LINEAR)
            return all && is_pointwise(&y->type, value) ? NULL : over_tangents(&ask, y); /* no zeros to be added */
    }
    for (int i = 0; i < y->n_in; i++) {
        ask.only = y->in[i];
        if (moved(f, y->in[i]) && !is_before(y, i) && degree_of(&ask, value) == OTHER)
            return NULL;
    }
    for (int i = 0; i < y->n_in; i++) {
        ask.only = y->in[i];
        if (!moved(f, y->in[i]) || is_before(y, i) || degree_of(&ask, value) != LINEAR)
            continue;
        const node *part = over_tangents(&ask, y); /* as y */
        if (!part)
            return NULL;
        total = total ? g_added(f->g, total, part) : part;
    }
    return total;
}

/* ---- by the element's derivative ---- */
typedef struct moving {
    const forward *f;
    arena *mem;
    const expr *fold, *to; /* how the fold moves */
} moving;

static const expr *motion_of(void *user, const expr *x)
{
    const moving *v = user;
    if (x->kind == X_FOLD)
        return v->fold && x_same(x, v->fold) ? v->to : NULL;
    const node *t = x->kind == X_LOAD ? moved(v->f, x->from) : NULL; /* as what x loads */
    return t ? x_load(v->mem, t, x->arg) : NULL;
}

static const node *folded(forward *f, const defn *d, const expr *fold, const expr *body)
{
    return emit_fold(f->g, d, d->node->type.rank, fold->fn->name, body);
}

/* y = h(fold of b, loads): the fold moves as the fold of what b does. */
static const expr *through_fold(forward *f, const defn *d, const expr *fold, err *e)
{
    arena *mem = d->mem;
    moving v = {.f = f, .mem = mem};
    const expr *inner = d_along(mem, fold->arg[0], motion_of, &v, e);
    if (inner && !x_folds_by(fold, "add"))
        return err_set(e, TS_UNSUPPORTED, "folds by %s, of which only those by add have a tangent", fold->fn->name),
               NULL;
    const node *part = inner && !err_is(e) ? folded(f, d, fold, inner) : NULL; /* as y */
    if (inner && !part)
        return err_set(e, TS_UNSUPPORTED,
                       "how what it adds up moves takes more operands than the %d of one operation, or more axes",
                       MOST_SPELLED),
               NULL;
    v.fold = part ? fold : NULL, v.to = part ? x_element(mem, part) : NULL;
    const expr *total = d_along(mem, d->value, motion_of, &v, e);
    if (!total || !x_count(total, X_FOLD))
        return total;
    const node *whole = x_same(d->value, fold) ? d->node : folded(f, d, fold, fold->arg[0]); /* as y */
    return whole ? x_replace(mem, total, fold, x_element(mem, whole)) : NULL;
}

static const node *by_element(forward *f, const node *y, const defn *d, bool *none)
{
    err e = {0};
    const expr *fold = x_find(d->value, X_FOLD), *x = d->value;
    moving v = {.f = f, .mem = d->mem};
    const expr *t = fold ? through_fold(f, d, fold, &e) : d_along(d->mem, x, motion_of, &v, &e);
    *none = !t && !err_is(&e) && !err_is(&f->g->err);
    if (!t || err_is(&e))
        return NULL;
    if (!fold && x->kind == X_CALL && x->fn->cost >= 10) /* read instead of computed again */
        t = x_replace(d->mem, t, x, x_element(d->mem, y));
    const node *made = emit_over(f->g, &y->type, t);
    return made ? g_fitted(f->g, made, &y->type) : NULL;
}

/* ---- the transpose of the gradient ---- */
/* One call over operands that stand for y's, each of its shape, so that no way leads from one to another. */
static const node *apart(forward *f, const node *y, const node **in)
{
    graph *g = f->g;
    int index;
    const node *call = custom_call(y, &index), *of = call ? call : y;
    for (int i = 0; i < of->n_in; i++) {
        in[i] = of->in[i];
        for (int k = 0; k < i && in[i] == of->in[i]; k++)
            in[i] = of->in[k] == of->in[i] ? in[k] : in[i];
        if (in[i] == of->in[i] && dtype_real(in[i]->type.dtype))
            in[i] = stand_in(g, &in[i]->type, "x");
    }
    const node *made = g_again(g, of, of->n_in, in);
    return call ? custom_output(g, made, index) : made;
}

/* The tangent of y by its written gradient: v of y's shape stands for what arrives, dx[i] is linear in it; the gradient
 * of dx[i] times the tangents u[i], each of x[i]'s shape, is that of v: y's tangent. */
static const node *transposed(forward *f, const node *y)
{
    graph *g = f->g;
    int index, n = 0, n_from = 0;
    const node *call = custom_call(y, &index), *of = call ? call : y, *result = NULL, *v = NULL;
    const size_t size = 2 * (size_t)of->n_in + 2;
    const node **in = arena_array(&g->mem, size, sizeof *in), **x = arena_array(&g->mem, size, sizeof *x);
    const node **u = arena_array(&g->mem, size, sizeof *u), **dx = arena_array(&g->mem, size, sizeof *dx);
    const node **from = arena_array(&g->mem, size, sizeof *from), **to = arena_array(&g->mem, size, sizeof *to);
    const node *own = apart(f, y, in); /* as y */
    if (own)
        v = stand_in(g, &y->type, "v");
    for (int i = 0; v && i < of->n_in; i++) {
        if (in[i] == of->in[i] || is_before(of, i))
            continue;
        from[n_from] = in[i], to[n_from++] = of->in[i];
        if (moved(f, of->in[i]))
            x[n] = in[i], u[n++] = moved(f, of->in[i]);
    }
    if (!v || !ts_chain_rule(g, 1, &own, &v, n, x, dx) || !ts_chain_rule(g, n, dx, u, 1, &v, &result))
        return NULL;
    from[n_from] = v, to[n_from++] = g_filled(g, &v->type, 0); /* it does not depend on v */
    return to[n_from - 1] && g_replace(g, 1, &result, n_from, from, to, &result) ? result : NULL;
}

/* ---- the pass ---- */
static bool is_moved(const forward *f, const node *y)
{
    int index;
    const node *call = custom_call(y, &index), *of = call ? call : y;
    for (int i = 0; i < of->n_in; i++)
        if (moved(f, of->in[i]))
            return true;
    return false;
}

static const node *tangent_of(forward *f, const node *y)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    int index;
    bool none = false;
    const bool custom = y->trip || custom_call(y, &index) ||
                        (y->op->custom && (y->op->custom->kernel || y->op->custom->gradient));
    const node *t = NULL; /* as y */
    if (!custom && g_defn_calls(y, &mem, &d, NULL)) {
        t = linear(f, y, d.value);
        if (!t && !x_alone(d.value))
            t = by_element(f, y, &d, &none);
    }
    if (t || none)
        return t;
    f->g->err = (err){0}; /* of what was tried */
    t = transposed(f, y);
    if (!t)
        err_in(&f->g->err, "tangent of %s", y->op->name);
    return t;
}

static void move(forward *f, const node *y)
{
    if (!dtype_real(y->type.dtype) || y->leaf || y->output || !type_count(&y->type) || !is_moved(f, y))
        return;
    const node *t = tangent_of(f, y), **to = &f->tangent[y->id]; /* as y */
    if (t)
        *to = *to ? g_added(f->g, *to, t) : t;
}

static bool begin(forward *f, int n_in, const node *const *in, const node *const *direction)
{
    graph *g = f->g;
    if (!g_all(g, "tangent by", n_in, in) || !g_all(g, "tangent along", n_in, direction))
        return false;
    for (int j = 0; j < n_in; j++) {
        if (!dtype_real(in[j]->type.dtype))
            return g_fail(g, TS_BAD_INPUT, "tangent along \"%s\": values of dtype %s have none, expected reals",
                          in[j]->label, ts_dtype_name(in[j]->type.dtype)),
                   false;
        if (!type_equal(&in[j]->type, &direction[j]->type))
            return g_differs(g, arena_format(&g->mem, "tangent along \"%s\": the direction", in[j]->label),
                             &direction[j]->type, &in[j]->type);
        const node **to = &f->tangent[in[j]->id]; /* as in[j] */
        *to = *to ? g_added(g, *to, direction[j]) : direction[j];
    }
    return true;
}

bool ts_pushforward(ts_graph *g, int n_in, const ts_tensor *in, const ts_tensor *direction, int n_out,
                    const ts_tensor *out, ts_tensor *tangent)
{
    if (!g)
        return false;
    forward f = {.g = g, .n = g->n, .tangent = heap_array((size_t)g->n + 1, sizeof *f.tangent)};
    ENDED_BY(heap_free) const node **need = heap_array((size_t)g->n + 1, sizeof *need);
    const bool ok = g_all(g, "tangent", n_out, out);
    if (ok && begin(&f, n_in, in, direction)) {
        const int count = g_reach(n_out, out, need);
        for (int i = 0; i < count && !err_is(&g->err); i++)
            move(&f, need[i]);
    }
    for (int i = 0; i < n_out; i++) {
        const node *t = ok && !err_is(&g->err) ? f.tangent[out[i]->id] : NULL; /* as out[i] */
        tangent[i] = t || !ok || err_is(&g->err) ? t : g_filled(g, &out[i]->type, 0);
    }
    free(f.tangent);
    return ok && !err_is(&g->err);
}
