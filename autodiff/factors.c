/* factors.c - what stands between a gradient and an optimizer: factors of low rank in place of whole weights, and sums
 * of gradients over several batches. */
#include "graph/ir/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(const node *n)
{
    return *n->label ? n->label : "parameter";
}

/* Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, 2021: w + alpha / rank * a b; b starts as zeros, a as
 * small numbers of variance 1 / (3 rows). */
ts_tensor ts_lora(ts_graph *g, ts_tensor w, int rank, double alpha, ts_update factor[2])
{
    char source[64];
    if (!g_all(g, "LoRA", 1, &w))
        return NULL;
    const type *t = &w->type;
    if (t->rank != 2 || dtype_class(t->dtype) != D_REAL || rank < 1 || rank > t->dim[0] || rank > t->dim[1])
        return g_fail(g, TS_BAD_INPUT, "%s: factors of rank %d need a real matrix that is at least as large",
                      name_of(w), rank);
    /* a [rows, rank], b [rank, columns] */
    const type side[2] = {{t->dtype, 2, {t->dim[0], rank}}, {t->dtype, 2, {rank, t->dim[1]}}};
    for (int i = 0; i < 2; i++) {
        const char *label = arena_format(&g->mem, "%s.lora_%c", name_of(w), "ab"[i]);
        const node *n = g_input(g, label, &side[i], NULL);
        const leaf start = {
            .kind = LEAF_WEIGHT, .scale = 1 / sqrt((double)t->dim[0]), .seed = quick_hash(label, strlen(label), 1)};
        factor[i] = (ts_update){n, n,
                                i ? g_filled(g, &side[i], 0) : g_leaf(g, op_find("weight"), label, &side[i], &start)};
    }
    const int64_t extent[] = {t->dim[0], t->dim[1], rank}; /* rows, columns, and the rank that is summed over */
    const node *in[] = {factor[0].from, factor[1].from};
    /* [rows, columns] */
    const node *more = g_element(g, 2, in, &(spelling){2, 1, extent, "add", "a[i0,i2]*b[i2,i1]"});
    snprintf(source, sizeof source, "a+%.17g*b", alpha / rank);
    return g_formula(g, 2, (const node *const[]){w, more}, source);
}

bool ts_accumulate(ts_graph *g, int n, const ts_tensor *grad, double steps, ts_update *sums, ts_tensor *mean)
{
    char source[64];
    if (!g_all(g, "gradients of several batches", n, grad))
        return false;
    if (!(steps >= 1))
        return g_fail(g, TS_BAD_INPUT, "gradients of %g batches, expected 1 or more", steps), false;
    snprintf(source, sizeof source, "(a+b)/%.17g", steps);
    for (int i = 0; i < n; i++) {
        /* of the batches so far */
        const node *sum = g_input(g, arena_format(&g->mem, "gradient%d.sum", i), &grad[i]->type, NULL);
        const node *in[] = {sum, grad[i]};
        sums[i] = (ts_update){sum, g_formula(g, 2, in, "a+b"), g_filled(g, &grad[i]->type, 0)};
        mean[i] = g_formula(g, 2, in, source);
    }
    return !err_is(&g->err);
}
