/* export.c - a run's model as a file: the file it began with, its weights replaced, pooling and head appended in
 * operators that every version of the format has. */
#include "graph/base/err.h"
#include "train/ask.h"
#include "train/step.h"
#include "train/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IN = 3 };
typedef struct call { /* what comes in and goes out by name, NULL behind the last; an attribute, or NULL */
    const char *op, *in[MOST_IN], *out, *attr;
    double value;
} call;

static void add_node(cJSON *nodes, const call *c)
{
    cJSON *n = js_object(nodes, NULL), *ins;
    js_text(n, "op", c->op);
    ins = js_array(n, "in");
    for (int i = 0; i < MOST_IN && c->in[i]; i++)
        js_item(ins, c->in[i]);
    js_item(js_array(n, "out"), c->out);
    if (c->attr)
        js_number(js_object(n, "attr"), c->attr, c->value);
}

static void add_shape(cJSON *constants, const char *name, int n, const int *v)
{
    cJSON *c = js_object(constants, name);
    js_text(c, "dtype", "i64");
    cJSON_AddItemToArray(js_array(c, "shape"), cJSON_CreateNumber(n));
    cJSON_AddItemToObject(c, "data", cJSON_CreateIntArray(v, n));
}

static const char *mask_of(ts_model *m)
{
    ts_port p;
    for (int i = 0; i < ts_model_inputs(m); i++)
        if (ts_model_input(m, i, &p) && strstr(p.name, "mask"))
            return p.name;
    return NULL;
}

/* x[b, s, h] -> "head.pooled"[b, h] */
static void add_pool(cJSON *nodes, cJSON *constants, const net *n, const char *x, const char *mask)
{
    enum { FLAT, FIRST, ROW, COLUMN, MASK, MASK_ROW, MASK_COLUMN, SUM, COUNT, MEAN, POOLED, PARTS };
    static const char *const part[PARTS] = {"flat",        "first", "row",   "column", "mask",  "mask_row",
                                            "mask_column", "sum",   "count", "mean",   "pooled"};
    char is[PARTS][HEAD_NAME];
    for (int i = 0; i < PARTS; i++)
        net_head_name(n, part[i], is[i]);
    add_shape(constants, is[FLAT], 2, (int[]){0, -1});
    if (strcmp(n->asked->pool, "cls") == 0) {
        cJSON *first = js_object(constants, is[FIRST]);
        js_text(first, "dtype", "i64");
        js_array(first, "shape");
        cJSON_AddItemToObject(first, "data", cJSON_CreateIntArray((int[]){0}, 1));
        add_node(nodes, &(call){.op = "Gather", .in = {x, is[FIRST]}, .out = is[POOLED], .attr = "axis", .value = 1});
        return;
    }
    add_shape(constants, is[ROW], 3, (int[]){0, 1, -1}), add_shape(constants, is[COLUMN], 3, (int[]){0, -1, 1});
    add_node(nodes, &(call){.op = "Cast", .in = {mask}, .out = is[MASK], .attr = "to", .value = 1});
    add_node(nodes, &(call){.op = "Reshape", .in = {is[MASK], is[ROW]}, .out = is[MASK_ROW]});
    add_node(nodes, &(call){.op = "Reshape", .in = {is[MASK], is[COLUMN]}, .out = is[MASK_COLUMN]});
    add_node(nodes, &(call){.op = "MatMul", .in = {is[MASK_ROW], x}, .out = is[SUM]});
    add_node(nodes, &(call){.op = "MatMul", .in = {is[MASK_ROW], is[MASK_COLUMN]}, .out = is[COUNT]});
    add_node(nodes, &(call){.op = "Div", .in = {is[SUM], is[COUNT]}, .out = is[MEAN]});
    add_node(nodes, &(call){.op = "Reshape", .in = {is[MEAN], is[FLAT]}, .out = is[POOLED]});
}

static void add_extent(cJSON *shape, const char *name, int i, int64_t extent)
{
    char symbol[4200];
    snprintf(symbol, sizeof symbol, "%s.%d", name, i);
    cJSON_AddItemToArray(shape, extent >= 0 ? cJSON_CreateNumber((double)extent) : cJSON_CreateString(symbol));
}

/* An output with all that readers want to be told; rows follow the examples that the model takes. */
static void add_logits(cJSON *outputs, const ts_model *m, const net *n, const char *name)
{
    ts_port p;
    int64_t rows = -1;
    const char *symbol = NULL;
    for (int i = 0; ts_model_input(m, i, &p); i++)
        for (int k = 0; k < n->n_feed; k++)
            if (strcmp(n->feed[k].port.name, p.name) == 0 && n->feed[k].role != FEED_EMPTY && p.rank > 0)
                rows = p.dim[0], symbol = p.symbol[0];
    cJSON *named = js_row(outputs, "name:%s,dtype:%s", name, "f32");
    cJSON *shape = js_array(named, "shape");
    if (rows < 0 && symbol)
        js_item(shape, symbol);
    else
        add_extent(shape, name, 0, rows);
    add_extent(shape, name, 1, ts_shape(n->logits)[1]);
}

/* "logits", or "head2.logits" where the model may have that name. */
static const char *logits_name(const ts_model *m, const net *n, char out[HEAD_NAME])
{
    ts_port p;
    bool taken = strcmp(n->head, "head") != 0;
    for (int i = 0; !taken && ts_model_output(m, i, &p); i++)
        taken = strcmp(p.name, "logits") == 0;
    return taken ? net_head_name(n, "logits", out) : "logits";
}

static bool add_head(ts_model *m, const run_weights *w, const net *n, ts_error *e)
{
    ts_port out = {.name = NULL}, p;
    for (int i = 0; i < ts_model_outputs(m); i++)
        if (ts_model_output(m, i, &p) && !out.name && (!w->asked.output || strcmp(p.name, w->asked.output) == 0))
            out = p;
    const char *mask = mask_of(m);
    const bool pools = ts_rank(n->output) == 3;
    if (pools && strcmp(w->asked.pool, "mean") == 0 && !mask) {
        err_set(e, TS_UNSUPPORTED, "the model has no mask input that says which positions its mean is over");
        return err_hint(e, "train with --pool cls");
    }
    cJSON *root = cJSON_CreateObject(), *constants = js_object(root, "constants"), *nodes = js_array(root, "nodes");
    char pooled[HEAD_NAME], weight[HEAD_NAME], bias[HEAD_NAME], own[HEAD_NAME];
    const char *logits = logits_name(m, n, own);
    net_head_name(n, "pooled", pooled), net_head_name(n, "weight", weight), net_head_name(n, "bias", bias);
    if (pools)
        add_pool(nodes, constants, n, out.name, mask);
    add_node(nodes, &(call){.op = "Gemm",
                            .in = {pools ? pooled : out.name, weight, bias},
                            .out = logits,
                            .attr = "transB",
                            .value = 1});
    add_logits(js_array(root, "outputs"), m, n, logits);
    ENDED_BY(heap_free) char *json = js_to_text(root, false);
    cJSON_Delete(root);
    return ts_model_extend(m, json, e);
}

/* A file of steps may leave dtypes and ranks of its outputs to them: they are known once it is bound. */
static bool add_types(ts_model *m, const run_weights *w, net *n, const data *d, ts_error *e)
{
    ts_port p, known;
    bool lacks = false;
    for (int i = 0; ts_model_output(m, i, &p); i++)
        lacks = lacks || p.dtype == TS_N_DTYPE || p.rank < 0;
    if (!lacks)
        return true;
    if (!n->asked && !net_make_least(n, &w->asked, d, 1, w->classes, e))
        return false;
    cJSON *root = cJSON_CreateObject(), *outputs = js_array(root, "outputs");
    js_array(root, "nodes");
    for (int i = 0; ts_model_output(m, i, &p) && ts_model_output(n->model, i, &known); i++) {
        cJSON *one = js_row(outputs, "name:%s,dtype:%s", p.name, ts_dtype_name(known.dtype));
        cJSON *shape = js_array(one, "shape");
        for (int k = 0; k < known.rank; k++)
            if (p.rank >= 0 && p.dim[k] < 0 && p.symbol[k])
                js_item(shape, p.symbol[k]);
            else
                add_extent(shape, p.name, k, p.rank >= 0 ? p.dim[k] : -1);
    }
    ENDED_BY(heap_free) char *json = js_to_text(root, false);
    cJSON_Delete(root);
    return ts_model_extend(m, json, e);
}

static bool is_factor(const char *name)
{
    const size_t n = strlen(name);
    return n > 7 && (strcmp(name + n - 7, ".lora_a") == 0 || strcmp(name + n - 7, ".lora_b") == 0);
}

/* Weights with factors, as one. */
static bool put_merged(ts_model *m, const run_weights *w, net *n, ts_error *e)
{
    int count;
    ENDED_BY(heap_free) ts_tensor *all = leaves_make(1, &n->loss, &count);
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        const bool given = strcmp(ts_op_name(all[i]), "input") == 0;
        const ts_tensor merged = given ? all[i] : parameter_trained(n->g, all[i], w->n, w->all); /* as all[i] */
        const ts_options usual = {0};
        ts_array a = {0};
        if (merged == all[i] || (merged && strcmp(ts_name(merged), ts_name(all[i])) == 0))
            continue;
        ok = merged ? ts_eval(1, &merged, 0, NULL, &usual, &a, e) && ts_model_put(m, ts_name(all[i]), &a, e)
                    : ts_graph_ok(n->g, e);
        ts_array_free(&a);
    }
    return ok;
}

/* What --freeze leaves as it was drawn or read is in no checkpoint. */
static bool put_frozen_head(ts_model *m, const run_weights *w, net *n, ts_error *e)
{
    const ts_tensor part[] = {n->head_weight, n->head_bias}; /* [c, h], [c] */
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        const ts_options usual = {0};
        ENDED_BY(ts_array_free) ts_array a = {0};
        if (parameter_trained(n->g, part[i], w->n, w->all) == part[i])
            ok = ts_eval(1, &part[i], 0, NULL, &usual, &a, e) && ts_model_put(m, ts_name(part[i]), &a, e);
    }
    return ok;
}

static bool has_head(const train_options *w)
{
    return task_of(w)->labels && !w->loss && !(w->head && strcmp(w->head, "none") == 0);
}

/* The model that the run began with; a built-in one as it is bound for one example, which is what is written of it. */
static ts_model *open_first(const run_weights *w, const data *d, ts_error *e)
{
    net n;
    if (!net_is_built_in(w->asked.model)) {
        ts_model *m = ts_model_open(w->asked.model, e);
        if (!m || ts_model_separate(m, e))
            return m;
        return ts_model_free(m), NULL;
    }
    if (net_open(&n, &w->asked, d, 1, e))
        return n.model;
    return net_free(&n), NULL;
}

bool run_export(const char *run, weights_reader *read_weights, const char *path, ts_error *e)
{
    run_weights w;
    net n = {.asked = NULL};
    data d = {.n = 0};
    if (!read_weights(run, &w, e))
        return run_weights_free(&w), false;
    const bool head = has_head(&w.asked);
    if (!task_is_text(&w.asked)) { /* shapes, where the data is still there */
        ts_error gone = {0};
        train_read_data(&w.asked, &(data_want){.files = w.asked.data, .classes = w.classes}, &d, &gone);
    }
    ts_model *m = open_first(&w, &d, e);
    bool ok = m != NULL;
    for (int i = 0; ok && i < w.n; i++)
        if (!w.asked.lora || !is_factor(w.all[i].name))
            ok = ts_model_put(m, w.all[i].name, &w.all[i].value, e);
    ok = ok && ts_model_trained(m, e);
    if (ok && (head || w.asked.lora)) /* the rank of the output is known once it is bound */
        ok = net_make_least(&n, &w.asked, &d, 1, w.classes, e) && (!w.asked.lora || put_merged(m, &w, &n, e)) &&
             (!head || (put_frozen_head(m, &w, &n, e) && add_head(m, &w, &n, e)));
    ok = ok && (head || add_types(m, &w, &n, &d, e)) && ts_model_save(m, "onnx", path, e);
    net_free(&n);
    data_free(&d);
    ts_model_free(m);
    run_weights_free(&w);
    return ok;
}
