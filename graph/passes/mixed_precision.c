/* mixed_precision.c - mixed precision: the same computation with its products formed from halves.
 *
 * What a node computes says what becomes of it, not its name. A product (a sum of products of two loads) takes halves
 * and gives halves. What only moves elements moves halves. Everything else takes and gives f32 as before, but its value
 * is rounded to halves on its way where another product will need it. So sums stay in f32, statistics of a row do, and
 * what a recipe does inside; behind the last product all is f32. */
#include "graph/ir/graph.h"
#include "graph/ir/rule.h"

#include <stdlib.h>
#include <string.h>

typedef enum fact_kind { OTHER, SUM, MOVES, PRODUCT } fact_kind;
typedef struct fact { /* of an old node */
    fact_kind kind;
    const node *from;        /* MOVES: the operand whose elements these are */
    bool feeds;              /* a product needs it */
    bool inside;             /* a recipe, as one of its parts */
    bool halves;             /* has the precision of halves: a product's value, or made from one element by element */
    const node *wide, *half; /* what stands for it: either may be made from the other when it is asked for */
    const node *raw;         /* as made, before any cast */
} fact;
typedef struct mixing {
    graph *g;
    dtype to;
    fact *fact; /* by old id */
    int n;      /* nodes that were there before */
} mixing;

/* ---- what nodes are ---- */
static const expr *bare(const expr *x) /* without casts, and without the condition of padding */
{
    while (x->kind == X_CAST)
        x = x->arg[0];
    return x_is_choice(x) && x->arg[2]->kind == X_LIT ? bare(x->arg[1]) : x;
}

static bool is_f32_load(const expr *x)
{
    x = bare(x);
    return x->kind == X_LOAD && x->dtype == TS_F32;
}

/* What is summed up, where a condition leaves the rest out: padding that an adjoint turned around */
static const expr *summed(const expr *fold)
{
    const expr *x = fold->arg[0];
    const bool padded = x_is_choice(x) && x->arg[2]->kind == X_LIT && x->arg[2]->lit == 0 && x->arg[2]->whole == 0;
    return padded ? x->arg[1] : x;
}

static fact_kind kind_of(const node *n, const expr *x, const node **from)
{
    const expr *fold = x_alone(x) ? NULL : x_find(x, X_FOLD), *body = fold ? summed(fold) : NULL;
    *from = x->kind == X_LOAD ? x->from : NULL;
    if (n->type.dtype != TS_F32 || x_alone(x))
        return OTHER;
    if (*from)
        return MOVES;
    if (!fold)
        return OTHER;
    return x_folds_by(fold, "add") && x_is_call(body, "mul") && is_f32_load(body->arg[0]) && is_f32_load(body->arg[1])
               ? PRODUCT
               : SUM;
}

static bool learn(mixing *w, int count, const node *const *need)
{
    ENDED_BY(arena_free) arena aside = {0};
    for (int i = 0; i < count; i++) {
        const node *n = need[i];
        defn d;
        if (node_is_leaf(n))
            continue;
        if (!g_defn(n, &aside, &d, &w->g->err))
            break;
        w->fact[n->id].kind = kind_of(n, d.value, &w->fact[n->id].from);
    }
    for (int i = count; i-- > 0;) {
        const fact *f = &w->fact[need[i]->id];
        for (int k = 0; k < need[i]->n_in; k++)
            w->fact[need[i]->in[k]->id].feeds |= f->feeds || f->kind == PRODUCT;
    }
    return !err_is(&w->g->err);
}

/* The parts of recipes: what their results need, up to the operands. */
static void find_parts(mixing *w)
{
    ENDED_BY(heap_free) char *seen = heap_array((size_t)w->n + 1, 1);
    for (int q = 0; q < w->g->n_group; q++) {
        const group *r = &w->g->group[q];
        if (r->result->id >= w->n)
            continue;
        int low = r->result->id;
        memset(seen, 0, (size_t)w->n);
        for (int i = 0; i < r->n_in; i++)
            seen[r->in[i]->id] = 2;
        seen[r->result->id] = 1;
        for (int id = r->result->id; id >= low; id--) {
            const node *n = w->g->node[id];
            if (seen[id] != 1)
                continue;
            w->fact[id].inside |= n != r->result;
            for (int i = 0; i < n->n_in; i++) {
                const int k = n->in[i]->id;
                seen[k] = seen[k] ? seen[k] : 1;
                low = k < low ? k : low;
            }
        }
    }
}

/* ---- making them again ---- */
static const node *wide_of(mixing *w, const node *old)
{
    fact *f = &w->fact[old->id];
    if (!f->wide)
        f->wide = g_cast(w->g, f->half, old->type.dtype);
    return f->wide;
}

static const node *half_of(mixing *w, const node *old);

static const node *remade(mixing *w, const node *old, bool halves)
{
    const fact *f = &w->fact[old->id];
    const node *in[MAX_ARG], **operand = old->n_in > MAX_ARG ? heap_array((size_t)old->n_in, sizeof *operand) : in;
    MUST(operand);
    bool same = true;
    for (int i = 0; i < old->n_in; i++) {
        const bool asked = halves && old->in[i]->type.dtype == TS_F32 && (!f->from || f->from == old->in[i]);
        operand[i] = asked ? half_of(w, old->in[i]) : wide_of(w, old->in[i]);
        same = same && operand[i] == old->in[i];
    }
    const node *made = same ? old : g_again(w->g, old, old->n_in, operand);
    if (operand != in)
        free(operand);
    if (!same && made && old->origin && w->fact[old->origin->id].raw)
        made = g_output(w->g, made, w->fact[old->origin->id].raw, old->index);
    if (made && made != old)
        g_label(w->g, made, old->label);
    return made;
}

/* A value that is only moved is rounded where it comes from: all who move it share that. */
static const node *half_of(mixing *w, const node *old)
{
    fact *f = &w->fact[old->id];
    if (!f->half && f->kind == MOVES && !f->halves)
        f->half = remade(w, old, true);
    if (!f->half)
        f->half = g_cast(w->g, f->wide, w->to);
    return f->half;
}

static bool from_halves(const mixing *w, const node *old)
{
    const fact *f = &w->fact[old->id];
    bool any = f->kind == PRODUCT;
    for (int i = 0; i < old->n_in && f->kind != SUM && old->type.dtype == TS_F32; i++)
        any = any || (w->fact[old->in[i]->id].halves && (!f->from || f->from == old->in[i]));
    return any;
}

static bool remake(mixing *w, const node *old)
{
    fact *f = &w->fact[old->id];
    if (node_is_leaf(old))
        return (f->raw = f->wide = old) != NULL;
    f->halves = from_halves(w, old);
    if (f->kind == PRODUCT || (f->kind == MOVES && f->halves && w->fact[f->from->id].half)) {
        f->raw = remade(w, old, true);
        if (f->raw && f->raw->type.dtype == w->to)
            f->half = f->raw;
        else
            f->wide = f->raw;
    } else {
        f->raw = f->wide = remade(w, old, false);
        if (f->halves && f->feeds && !f->inside && f->raw && f->raw->type.dtype == TS_F32)
            f->half = g_cast(w->g, f->raw, w->to), f->wide = NULL;
    }
    return f->raw && !err_is(&w->g->err);
}

bool ts_mixed_precision(ts_graph *g, int n, const ts_tensor *t, ts_dtype to, ts_tensor *out)
{
    if (!g)
        return false;
    const int n_group = g->n_group;
    mixing w = {.g = g, .to = to, .n = g->n, .fact = heap_array((size_t)g->n + 1, sizeof *w.fact)};
    ENDED_BY(heap_free) const node **need = heap_array((size_t)g->n + 1, sizeof *need);
    ENDED_BY(heap_free) const node **raw = heap_array((size_t)g->n + 1, sizeof *raw);
    if (to != TS_F16 && to != TS_BF16)
        g_fail(g, TS_BAD_INPUT, "products are narrowed to f16 or bf16, not %s", ts_dtype_name(to));
    const bool own = g_all(g, "mixed precision", n, t);
    const int count = own ? g_reach(n, t, need) : 0;
    bool ok = own && learn(&w, count, need);
    if (ok)
        find_parts(&w);
    for (int i = 0; ok && i < count; i++)
        ok = remake(&w, need[i]);
    for (int i = 0; i < w.n; i++)
        raw[i] = w.fact[i].raw;
    for (int i = 0; ok && i < n_group; i++)
        g_group_again(g, g, &g->group[i], w.n, raw);
    for (int i = 0; ok && i < n; i++)
        ok = (out[i] = wide_of(&w, t[i])) != NULL;
    free(w.fact);
    return ok;
}
