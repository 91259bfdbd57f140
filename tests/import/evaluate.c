#include "tests/import/evaluate.h"
#include "graph/eval/eval.h"

#include "graph/ir/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ts_array leaf_value(const ts_model *m, const node *n, const ts_array *in)
{
    ts_array a = {.dtype = n->type.dtype, .rank = n->type.rank, .data = (void *)(uintptr_t)n->leaf->data};
    ts_port p;
    memcpy(a.dim, n->type.dim, sizeof a.dim);
    for (int i = 0; n->leaf->kind == LEAF_INPUT && ts_model_input(m, i, &p); i++)
        if (!strcmp(p.name, n->label))
            a = in[i];
    return a;
}

static bool copy(const ts_array *from, ts_array *to, ts_error *e)
{
    if (!ts_array_make(to, from->dtype, from->rank, from->dim, e))
        return false;
    memcpy(to->data, from->data, (size_t)ts_array_count(from) * (size_t)ts_dtype_bytes(from->dtype));
    return true;
}

/* value is by id; what is not a leaf is made here. */
static bool evaluate_all(const ts_model *m, const node *const *all, int n, const ts_array *in, ts_array *value,
                         ts_error *e)
{
    for (int i = 0; i < n; i++) {
        const ts_array *operand[64];
        if (node_is_leaf(all[i])) {
            value[all[i]->id] = leaf_value(m, all[i], in);
            continue;
        }
        for (int k = 0; k < all[i]->n_in; k++)
            operand[k] = &value[all[i]->in[k]->id];
        if (!node_eval(all[i], operand, &value[all[i]->id], e))
            return false;
    }
    return true;
}

bool evaluate(ts_model *m, const ts_array *in, ts_array *out, ts_error *e)
{
    const graph *g = ts_model_graph(m);
    const node *result[64], **all = calloc((size_t)g->n + 1, sizeof *all);
    ts_array *value = calloc((size_t)g->n + 1, sizeof *value);
    const int n_out = ts_model_outputs(m);
    MUST(n_out <= COUNT(result) && all && value);
    for (int i = 0; i < n_out; i++)
        result[i] = ts_model_tensor(m, i);
    const int n = g_reach(n_out, result, all);
    bool ok = evaluate_all(m, all, n, in, value, e);
    for (int i = 0; ok && i < n_out; i++)
        ok = copy(&value[result[i]->id], &out[i], e);
    for (int i = 0; i < n; i++)
        if (!node_is_leaf(all[i]))
            ts_array_free(&value[all[i]->id]);
    free(all);
    free(value);
    return ok;
}

bool close_to(const char *what, const ts_array *got, const ts_array *want, double relative)
{
    double worst = 0, scale = 0;
    if (got->dtype != want->dtype || got->rank != want->rank ||
        memcmp(got->dim, want->dim, (size_t)want->rank * sizeof *want->dim) != 0) {
        fprintf(stderr, "  %s: another dtype or shape\n", what);
        return false;
    }
    for (int64_t i = 0, n = ts_array_count(want); i < n; i++) {
        const double a = ts_array_at(got, i), b = ts_array_at(want, i);
        if (a == b || (isnan(a) && isnan(b))) /* infinities are equal or far apart */
            continue;
        if (!(fabs(a - b) <= worst))
            worst = fabs(a - b);
    }
    for (int64_t i = 0, n = ts_array_count(want); i < n; i++)
        if (isfinite(ts_array_at(want, i)) && fabs(ts_array_at(want, i)) > scale)
            scale = fabs(ts_array_at(want, i));
    if (worst <= relative * scale)
        return true;
    fprintf(stderr, "  %s: off by %g, the largest is %g\n", what, worst, scale);
    return false;
}
