/* parameters.c - what a step trains: weights that the loss depends on, or factors beside some of them, and the head. */
#include "train/step.h"
#include "graph/base/base.h"
#include "graph/base/dtype.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */
static bool listed(const char *globs, const char *name)
{
    char line[OPTION_LINE];
    for (const char *at = globs; option_line(&at, line);)
        if (fnmatch(line, name, 0) == 0)
            return true;
    return false;
}

static bool is_parameter(const net *n, ts_tensor t)
{
    return t == n->head_weight || t == n->head_bias ||
           (strcmp(ts_op_name(t), "weight") == 0 && dtype_has_gradient(ts_type(t)) && *ts_name(t));
}

int64_t parameter_count(ts_tensor t)
{
    int64_t n = 1;
    for (int i = 0; i < ts_rank(t); i++)
        n *= ts_shape(t)[i];
    return n;
}

/* A glob that matches no parameter is a mistake of typing. */
static bool check_globs(const char *option, const char *globs, int n, const ts_tensor *all, ts_error *e)
{
    char line[OPTION_LINE];
    for (const char *at = globs; option_line(&at, line);) {
        bool found = false;
        for (int i = 0; i < n && !found; i++)
            found = fnmatch(line, ts_name(all[i]), 0) == 0;
        if (found)
            continue;
        char near[NEAREST_TEXT];
        names_nearest(line, n, all, near);
        err_set(e, TS_USAGE, "--%s '%s' matches none of the %d parameters", option, line, n);
        return err_hint(e, "%s", near);
    }
    return true;
}

/* All that could be trained, the head last; the caller's. */
static ts_tensor *candidates_make(const net *n, int *found)
{
    int count, k = 0;
    ts_tensor *all = leaves_make(1, &n->loss, &count);
    for (int i = 0; i < count; i++)
        if (is_parameter(n, all[i]) && all[i] != n->head_weight && all[i] != n->head_bias)
            all[k++] = all[i];
    if (n->head_weight)
        all[k++] = n->head_weight, all[k++] = n->head_bias;
    return *found = k, all;
}

/* ---- what becomes of each ---- */
typedef struct swaps { /* in the loss: from[i] becomes to[i], and weights get factors beside them */
    int n, n_factor;
    ts_tensor *from, *to; /* both as the weight */
    ts_factors *factor;
} swaps;

static void train_whole(step *s, const net *n, ts_tensor t, swaps *w)
{
    const ts_tensor input = ts_input(n->g, ts_name(t), ts_type(t), ts_rank(t), ts_shape(t)); /* as t */
    s->parameter[s->n_parameter++] = (parameter){ts_name(t), t, input, NULL};
    s->trained += parameter_count(t);
    w->from[w->n] = t, w->to[w->n++] = input;
}

static bool takes_factors(const train_options *w, ts_tensor t)
{
    return ts_rank(t) == 2 && ts_shape(t)[0] >= w->lora && ts_shape(t)[1] >= w->lora && listed(w->on, ts_name(t));
}

static void train_factors(step *s, const net *n, ts_tensor t, swaps *w)
{
    ts_update factor[2] = {{NULL, NULL, NULL}};
    const ts_tensor merged = ts_lora(n->g, t, (int)s->asked->lora, (double)s->asked->lora,
                                     factor); /* as t, [in, out] */
    w->factor[w->n_factor++] = (ts_factors){t, factor[0].from, factor[1].from, merged, 1};
    for (int i = 0; i < 2 && factor[i].from; i++) {
        const ts_tensor f = factor[i].from; /* [in, rank], then [rank, out] */
        s->parameter[s->n_parameter++] = (parameter){ts_name(f), i ? NULL : factor[i].start, f,
                                                     NULL}; /* the second one: zeros */
        s->trained += parameter_count(f);
    }
    s->frozen += parameter_count(t), s->n_frozen++;
}

static bool choose(step *s, net *n, int k, const ts_tensor *all, swaps *swap, ts_error *e)
{
    const train_options *w = s->asked;
    bool factors = false;
    for (int i = 0; i < k; i++) {
        const bool head = all[i] == n->head_weight || all[i] == n->head_bias;
        if (listed(w->freeze, ts_name(all[i])) || (w->lora && !head && !takes_factors(w, all[i])))
            s->frozen += parameter_count(all[i]), s->n_frozen++;
        else if (w->lora && !head)
            train_factors(s, n, all[i], swap), factors = true;
        else
            train_whole(s, n, all[i], swap);
    }
    if (w->lora && !factors) {
        err_set(e, TS_USAGE,
                "--lora %lld: none of the weights of --on is a matrix of at least %lld by %lld that is "
                "not frozen",
                (long long)w->lora, (long long)w->lora, (long long)w->lora);
        return err_hint(e, "tessera show MODEL lists the weights");
    }
    if (s->n_parameter)
        return ts_graph_ok(n->g, e);
    err_set(e, TS_USAGE, "there is nothing to train: the loss depends on no weight that is not frozen");
    return err_hint(e, "--freeze leaves out what it names");
}

static bool swapped(ts_graph *g, int n, const ts_tensor *t, const void *user, ts_tensor *out)
{
    const swaps *w = user;
    return ts_replace(g, n, t, w->n, w->from, w->to, out) &&
           (!w->n_factor || ts_lora_apply(g, n, out, w->n_factor, w->factor, out));
}

bool step_remake(step *s, net *n, remaking *f, const void *user, ts_error *e)
{
    ENDED_BY(heap_free) ts_tensor *root = heap_array((size_t)n->n_stat + 1, sizeof *root);
    const size_t size = (size_t)n->n_stat * sizeof *root;
    root[0] = s->loss;
    memcpy(root + 1, s->follow, size);
    const bool ok = f(n->g, 1 + n->n_stat, root, user, root) || ts_graph_ok(n->g, e);
    s->loss = root[0];
    memcpy(s->follow, root + 1, size);
    return ok;
}

/* Statistics stand behind the parameters. */
static void keep_statistics(step *s, const net *n)
{
    s->n_weight = s->n_parameter;
    for (int i = 0; i < n->n_stat; i++)
        s->parameter[s->n_weight++] = (parameter){ts_name(n->stat[i].from), n->stat[i].start, n->stat[i].from, NULL};
}

bool parameters_make(step *s, net *n, ts_error *e)
{
    const train_options *w = s->asked;
    int k;
    ENDED_BY(heap_free) ts_tensor *all = candidates_make(n, &k);
    const size_t most = 2 * (size_t)k + 1;
    swaps swap = {.from = heap_array(most, sizeof *swap.from),
                  .to = heap_array(most, sizeof *swap.to),
                  .factor = heap_array(most, sizeof *swap.factor)};
    s->parameter = heap_array(most + (size_t)n->n_stat, sizeof *s->parameter);
    s->follow = heap_array((size_t)n->n_stat + 1, sizeof *s->follow), s->loss = n->loss;
    for (int i = 0; i < n->n_stat; i++)
        s->follow[i] = n->stat[i].to;
    const bool ok = check_globs("freeze", w->freeze, k, all, e) &&
                    (option_none(w->no_decay) || check_globs("no-decay", w->no_decay, k, all, e)) &&
                    check_globs("on", w->on, k, all, e) && choose(s, n, k, all, &swap, e) &&
                    step_remake(s, n, swapped, &swap, e);
    if (ok)
        keep_statistics(s, n);
    free(swap.from), free(swap.to), free(swap.factor);
    return ok;
}

/* ---- factors put together ---- */
static ts_tensor constant_of(ts_graph *g, ts_tensor leaf, const char *which, int n, const ts_given *weights)
{
    const size_t length = strlen(ts_name(leaf));
    for (int i = 0; i < n; i++)
        if (strncmp(weights[i].name, ts_name(leaf), length) == 0 && strcmp(weights[i].name + length, which) == 0)
            return ts_constant(g, weights[i].name, &weights[i].value);
    return NULL;
}

ts_tensor parameter_trained(ts_graph *g, ts_tensor leaf, int n, const ts_given *weights)
{
    const ts_tensor whole = constant_of(g, leaf, "", n, weights); /* as leaf, [in, out] where it has factors */
    if (whole)
        return whole;
    const ts_tensor a = constant_of(g, leaf, ".lora_a", n, weights),
                    b = constant_of(g, leaf, ".lora_b", n, weights); /* [in, rank], [rank, out] */
    ts_update factor[2];
    ts_tensor merged; /* as leaf */
    if (!a || !b || ts_rank(a) != 2)
        return leaf;
    const int64_t rank = ts_shape(a)[1];
    merged = ts_lora(g, leaf, (int)rank, (double)rank, factor);
    return merged && ts_replace(g, 1, &merged, 2, (ts_tensor[]){factor[0].from, factor[1].from}, (ts_tensor[]){a, b},
                                &merged)
               ? merged
               : NULL;
}
