/* lora.c - factors of low rank beside the weights that they change: x (w + a b) as x w + (x a) b, so that neither the
 * sum of w's size nor a gradient of it is formed. Where that can be done follows from definitions: a sum over one axis
 * of products of two loads, of which one is w, as it lies or transposed. A weight that is read otherwise gets the sum
 * in its place. */
#include "graph/ir/rule.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct view { /* of an old node: the weight whose elements it has, in its order or turned */
    int weight;       /* -1: none */
    bool turned;
} view;
typedef struct product { /* of an old node: operand `x` times a view of a weight */
    int x, weight;       /* weight -1: it is none */
    bool turned;
} product;
typedef struct beside {
    graph *g;
    int n_weight;
    const ts_factors *of;
    view *view;
    product *product;
    bool *summed; /* by weight: somebody reads it otherwise */
} beside;

/* ---- what nodes are ---- */
static bool at_axis(const expr *load, int i, int axis)
{
    const expr *s = load->arg[i];
    return s->kind == X_AXIS ? s->axis == axis : s->kind == X_LIT && load->from->type.dim[i] == 1;
}

static view view_of(const beside *b, const node *n, const expr *x)
{
    const view *from = x->kind == X_LOAD ? &b->view[x->from->id] : NULL;
    view v = {.weight = -1};
    if (!from || from->weight < 0 || n->type.rank != 2 || x->from->type.rank != 2)
        return v;
    const bool straight = at_axis(x, 0, 0) && at_axis(x, 1, 1), turned = at_axis(x, 0, 1) && at_axis(x, 1, 0);
    if (straight || turned)
        v = (view){from->weight, from->turned != !straight};
    return v;
}

static int operand_of(const node *n, const node *of)
{
    int i = 0;
    while (i < n->n_in && n->in[i] != of)
        i++;
    return i;
}

/* y[i..., n] = sum over k of x[i..., k] * v[k, n] or v[n, k] */
static product product_of(const beside *b, const node *n, const expr *x)
{
    const product none = {.weight = -1};
    const int last = n->type.rank - 1;
    if (last < 0 || !x_folds_by(x, "add") || x->folds & (x->folds - 1))
        return none;
    const expr *body = x->arg[0];
    const int k = __builtin_ctz(x->folds);
    if (!x_is_call(body, "mul") || body->arg[0]->kind != X_LOAD || body->arg[1]->kind != X_LOAD)
        return none;
    const int w = b->view[body->arg[1]->from->id].weight >= 0;
    const expr *v = body->arg[w], *other = body->arg[!w];
    const view *is = &b->view[v->from->id];
    if (is->weight < 0 || b->view[other->from->id].weight >= 0 || other->n != n->type.rank || v->n != 2)
        return none;
    for (int i = 0; i < last; i++)
        if (!at_axis(other, i, i))
            return none;
    const bool straight = at_axis(v, 0, k) && at_axis(v, 1, last), turned = at_axis(v, 0, last) && at_axis(v, 1, k);
    if (!at_axis(other, last, k) || (!straight && !turned))
        return none;
    return (product){operand_of(n, other->from), is->weight, is->turned != !straight};
}

static bool learn(beside *b, int count, const node *const *need)
{
    ENDED_BY(arena_free) arena mem = {0};
    for (int i = 0; i < count && !err_is(&b->g->err); i++) {
        const node *n = need[i];
        defn d;
        b->view[n->id].weight = b->product[n->id].weight = -1;
        for (int k = 0; k < b->n_weight; k++)
            if (b->of[k].w == n)
                b->view[n->id].weight = k;
        bool reads = false;
        for (int k = 0; k < n->n_in; k++)
            reads = reads || b->view[n->in[k]->id].weight >= 0;
        if (!reads || !g_defn(n, &mem, &d, &b->g->err))
            continue;
        b->view[n->id] = view_of(b, n, d.value);
        b->product[n->id] = product_of(b, n, d.value);
        for (int k = 0; k < n->n_in && b->view[n->id].weight < 0 && b->product[n->id].weight < 0; k++)
            if (b->view[n->in[k]->id].weight >= 0)
                b->summed[b->view[n->in[k]->id].weight] = true;
    }
    return !err_is(&b->g->err);
}

/* ---- the pass ---- */
static const node *add_beside(void *user, const node *old, const node *now) /* y = x w becomes y + scale * (x a) b */
{
    const beside *b = user;
    const product *is = &b->product[old->id];
    if (node_is_leaf(old)) {
        const int k = b->view[old->id].weight;
        return k >= 0 && b->summed[k] ? b->of[k].merged : now;
    }
    if (is->weight < 0 || b->summed[is->weight])
        return now;
    const ts_factors *f = &b->of[is->weight];
    const node *first = f->a, *second = f->b; /* a [k, rank], b [rank, n], where the weight is [k, n] */
    static const int64_t flip[] = {1, 0};
    char source[64];
    if (is->turned)
        /* b' [n, rank] and a' [rank, k], of the weight turned */
        first = g_transpose(b->g, f->b, 2, flip), second = g_transpose(b->g, f->a, 2, flip);
    /* [..., rank], then [..., n] */
    const node *low = g_product(b->g, now->in[is->x], first), *more = g_product(b->g, low, second);
    snprintf(source, sizeof source, "a+%.17g*b", f->scale);
    const node *y = f->scale == 1 ? g_call2(b->g, "add", now, more)
                                  : g_formula(b->g, 2, (const node *const[]){now, more}, source);
    if (y && *old->label) {
        g_label(b->g, low, arena_format(&b->g->mem, "%s.lora_%c", old->label, is->turned ? 'b' : 'a'));
        g_label(b->g, more, arena_format(&b->g->mem, "%s.lora_%c", old->label, is->turned ? 'a' : 'b'));
    }
    return y;
}

bool ts_lora_apply(ts_graph *g, int n, const ts_tensor *t, int n_weight, const ts_factors *of, ts_tensor *out)
{
    bool ok = g_all(g, "LoRA", n, t);
    for (int i = 0; ok && i < n_weight; i++)
        ok = g_all(g, "LoRA's factors", 4, (const node *const[]){of[i].w, of[i].a, of[i].b, of[i].merged});
    if (!ok)
        return false;
    const size_t count = (size_t)g->n + 1;
    beside b = {.g = g, .n_weight = n_weight, .of = of, .view = heap_array(count, sizeof *b.view)};
    b.product = heap_array(count, sizeof *b.product), b.summed = heap_array((size_t)n_weight + 1, sizeof *b.summed);
    ENDED_BY(heap_free) const node **need = heap_array(count, sizeof *need);
    ok = learn(&b, g_reach(n, t, need), need) && g_rewrite(g, n, t, add_beside, &b, out);
    free(b.view), free(b.product), free(b.summed);
    return ok;
}
