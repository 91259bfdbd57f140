/* net.c - from the model's output to one number: [b, s, h] is pooled to [b, h], the head makes [b, c], a loss makes
 * []. */
#include "train/task.h"

#include "graph/base/base.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool net_bind(net *n, const data *d, ts_error *e); /* net_feed.c */

const task *task_named(const char *name, ts_error *e)
{
    const task *const *t = tasks;
    while (*t && strcmp((*t)->name, name))
        t++;
    if (!*t)
        err_set(e, TS_USAGE, "there is no task \"%s\"", name), err_hint(e, "those there are: %s", task_names);
    return *t;
}

const task *task_of(const train_options *w)
{
    const task *t = task_named(w->task, NULL);
    MUST(t);
    return t;
}

bool task_is_text(const train_options *w)
{
    return !w->data || !data_is_arrays(w->data);
}

bool net_is_built_in(const char *model)
{
    int i = 0;
    while (ts_builder_at(i) && strcmp(ts_builder_at(i)->name, model))
        i++;
    return ts_builder_at(i) != NULL;
}

ts_tensor *leaves_make(int n, const ts_tensor *root, int *count)
{
    *count = n ? ts_leaves(n, root, NULL) : 0;
    ts_tensor *all = heap_array((size_t)*count + 2, sizeof *all);
    if (n)
        ts_leaves(n, root, all);
    return all;
}

ts_tensor net_call(ts_graph *g, int count, const ts_tensor *in, const char *fmt, ...)
{
    char call[256];
    va_list list;
    va_start(list, fmt);
    vsnprintf(call, sizeof call, fmt, list);
    va_end(list);
    return ts_call(g, call, count, in);
}

/* ---- the model's output ---- */
static bool find_output(net *n, const char *name, ts_error *e)
{
    ENDED_BY(text_free) text list = {0};
    for (int i = 0; i < ts_model_outputs(n->model); i++) {
        ts_port p;
        ts_model_output(n->model, i, &p);
        if (!name || strcmp(p.name, name) == 0) {
            n->output = ts_model_tensor(n->model, i);
            return true;
        }
        text_add(&list, "%s%s", list.length ? ", " : "", p.name);
    }
    err_set(e, TS_USAGE, "the model has no output \"%s\"", name ? name : "");
    return err_hint(e, "its outputs are %s", text_str(&list));
}

bool net_wrong_rank(const net *n, const char *wanted, ts_error *e)
{
    const train_options *w = n->asked;
    ts_port first = {.name = ""};
    ts_model_output(n->model, 0, &first);
    err_set(e, TS_BAD_INPUT, "--%s %s: the output \"%s\" has rank %d, %s is wanted", w->loss ? "loss" : "task",
            w->loss ? w->loss : w->task,
            w->loss     ? w->loss
            : w->output ? w->output
                        : first.name,
            ts_rank(n->output), wanted);
    return err_hint(e, "--%s NAME chooses another one; tessera show MODEL lists them", w->loss ? "loss" : "output");
}

/* ---- pooling: [b, s, h] -> [b, h] ---- */
ts_tensor net_pooled(net *n)
{
    ts_graph *g = n->g;
    if (ts_rank(n->output) == 2)
        return n->output;
    if (strcmp(n->asked->pool, "cls") == 0)
        return net_call(g, 1, &n->output, "index key=:,0"); /* the first token: [b, h] */
    /* [b, s]: 1 at tokens, 0 at padding */
    n->mask = ts_input(n->g, "train.mask", TS_F32, 2, (int64_t[]){n->rows, n->length});
    /* column [b, s, 1], kept [b, s, h], sum [b, h], count [b, 1] */
    const ts_tensor column = net_call(g, 1, &n->mask, "expand_dims axes=[2]"),
                    kept = ts_call2(g, "multiply", n->output, column), sum = net_call(g, 1, &kept, "sum axes=[1]"),
                    count = net_call(g, 1, &n->mask, "sum axes=[1] keepdims=1");
    return ts_call2(g, "divide", sum, count);
}

/* ---- head: [b, h] -> [b, c] ---- */
const char *net_head_name(const net *n, const char *part, char out[HEAD_NAME])
{
    snprintf(out, HEAD_NAME, "%s.%s", n->head, part);
    return out;
}

static bool is_head_of(const net *n, ts_tensor t)
{
    char name[HEAD_NAME];
    return !strcmp(ts_name(t), net_head_name(n, "weight", name)) || !strcmp(ts_name(t), net_head_name(n, "bias", name));
}

/* A model that was trained before may have a head of that name: the new one is put on it under the next name. */
static void name_head(net *n)
{
    const int outputs = ts_model_outputs(n->model);
    ENDED_BY(heap_free) ts_tensor *output = heap_array((size_t)outputs + 1, sizeof *output);
    for (int i = 0; i < outputs; i++)
        output[i] = ts_model_tensor(n->model, i);
    int count;
    ENDED_BY(heap_free) ts_tensor *all = leaves_make(outputs, output, &count);
    snprintf(n->head, sizeof n->head, "head");
    for (int i = 0, next = 2; i < count; i++)
        if (is_head_of(n, all[i]))
            snprintf(n->head, sizeof n->head, "head%d", next++), i = -1;
}

static bool read_head(net *n, int64_t width, int64_t out, ts_error *e)
{
    static const char *const name[] = {"head.weight", "head.bias"};
    ts_array a[2] = {{0}, {0}};
    ts_tensors *file = ts_tensors_open(n->asked->head, e);
    bool ok = file || err_hint(e, "--head takes a .safetensors file with head.weight and head.bias, or none");
    for (int i = 0; ok && i < 2; i++)
        ok = ts_tensors_get(file, name[i], &a[i], e);
    if (ok && (a[0].rank != 2 || a[0].dim[0] != out || a[0].dim[1] != width || a[1].rank != 1 || a[1].dim[0] != out ||
               a[0].dtype != TS_F32 || a[1].dtype != TS_F32)) {
        ok = err_set(e, TS_BAD_INPUT, "'%s': head.weight and head.bias are not f32[%lld,%lld] and f32[%lld]",
                     n->asked->head, (long long)out, (long long)width, (long long)out);
        err_hint(e, "--labels says how many rows it has");
    }
    if (ok) {
        char own[HEAD_NAME];
        n->head_weight = ts_constant(n->g, net_head_name(n, "weight", own), &a[0]);
        n->head_bias = ts_constant(n->g, net_head_name(n, "bias", own), &a[1]);
    }
    ts_array_free(&a[0]), ts_array_free(&a[1]);
    ts_tensors_free(file);
    return ok;
}

static void draw_head(net *n, int64_t width, int64_t out)
{
    char own[HEAD_NAME];
    /* [c, h] of scale 1 / sqrt(h), which keeps the variance; the bias [c] is 0 */
    n->head_weight = ts_weight(n->g, net_head_name(n, "weight", own), TS_F32, 2, (int64_t[]){out, width}, 0,
                               1 / sqrt((double)width), (uint64_t)n->asked->seed + 1);
    n->head_bias = ts_weight(n->g, net_head_name(n, "bias", own), TS_F32, 1, &out, 0, 0, 1);
}

bool net_head(net *n, ts_tensor x, int64_t out, ts_error *e)
{
    if (ts_rank(x) != 2)
        return net_wrong_rank(n, "[batch, width], or [batch, sequence, width] to pool,", e);
    const int64_t width = ts_shape(x)[1];
    const bool none = n->asked->head && strcmp(n->asked->head, "none") == 0;
    if (none && out > width && !n->asked->labels) {
        err_set(e, TS_BAD_INPUT, "--head none: the data has labels up to %lld, the output %lld columns",
                (long long)out - 1, (long long)width);
        return err_hint(e, "correct the labels, or leave --head out for a head of %lld rows", (long long)out);
    }
    if (none && width != out && n->asked->labels)
        return err_set(e, TS_BAD_INPUT, "--head none: the output has %lld columns, --labels is %lld", (long long)width,
                       (long long)out),
               err_hint(e, "say --labels %lld, or leave --head out for a head of %lld rows", (long long)width,
                        (long long)out);
    n->logits = x;
    if (none)
        return true;
    name_head(n);
    if (!n->asked->head)
        draw_head(n, width, out);
    else if (!read_head(n, width, out, e))
        return false;
    const ts_tensor turned = net_call(n->g, 1, &n->head_weight, "transpose axes=[1,0]");  /* [h, c] */
    n->logits = ts_call2(n->g, "add", ts_call2(n->g, "matmul", x, turned), n->head_bias); /* [b, c] */
    return true;
}

/* ---- losses ---- */
ts_tensor net_cross_entropy(net *n, ts_tensor logits, ts_tensor target) /* logits [..., c], target [...] -> [] */
{
    const ts_tensor in[] = {logits, target};
    return net_call(n->g, 2, in, "cross_entropy smoothing=%.17g", n->asked->smoothing);
}

static bool own_loss(net *n, ts_error *e)
{
    if (ts_rank(n->output) != 0 && !(ts_rank(n->output) == 1 && ts_shape(n->output)[0] == 1))
        return net_wrong_rank(n, "one number", e);
    n->loss = n->logits = n->output;
    return true;
}

/* A statistic that is read as something else too cannot follow the batches. */
static bool statistics_apart(const net *n, ts_error *e)
{
    int count;
    ENDED_BY(heap_free) ts_tensor *all = leaves_make(n->n_stat > 0, &n->output, &count);
    for (int i = 0; i < count && !e->code; i++)
        for (int k = 0; k < n->n_stat && !e->code; k++)
            if (all[i] == n->stat[k].start) {
                err_set(e, TS_UNSUPPORTED, "\"%s\" is a running statistic and another weight too, as one tensor",
                        ts_name(all[i]));
                err_hint(e, "--freeze '%s' keeps it as it is; or export the model with a tensor for each",
                         ts_name(all[i]));
            }
    return !e->code;
}

/* Norms use the batch's statistics and keep their own ones up to date, but for those of --freeze; factors beside
 * frozen weights leave all else as it is. */
static bool follow_statistics(net *n, ts_error *e)
{
    const ts_statistics how = {true, n->asked->lora ? "*" : n->asked->freeze};
    n->n_stat = ts_batch_statistics(n->g, 1, &n->output, &how, &n->output, &n->stat);
    return (n->n_stat >= 0 || ts_graph_ok(n->g, e)) && statistics_apart(n, e);
}

static bool make_loss(net *n, ts_error *e)
{
    const train_options *w = n->asked;
    const bool head = !w->loss && !n->task->stream;
    if (!find_output(n, w->loss ? w->loss : w->output, e) || !net_dropout(n, e) || !net_dropout_fits(n, head, e) ||
        !follow_statistics(n, e))
        return false;
    if (w->loss)
        return own_loss(n, e);
    return n->task->put(n, e) && ts_graph_ok(n->g, e);
}

bool net_open(net *n, const train_options *w, const data *d, int64_t batch, ts_error *e)
{
    *n = (net){.asked = w, .batch = batch, .rows = batch, .length = w->length};
    if (!(n->task = task_named(w->task, e)))
        return false;
    n->stream = n->task->stream, n->text = task_is_text(w);
    if (n->task->label == LABEL_TEXT)
        n->rows = 2 * batch;
    if (!(n->model = ts_model_open(w->model, e)) || !ts_model_separate(n->model, e) || !net_bind(n, d, e))
        return false;
    n->g = ts_model_graph(n->model);
    return true;
}

bool net_make(net *n, const train_options *w, const data *d, int64_t batch, int64_t classes, ts_error *e)
{
    if (!net_open(n, w, d, batch, e))
        return false;
    n->classes = classes;
    return make_loss(n, e) && ts_graph_ok(n->g, e);
}

bool net_make_least(net *n, const train_options *w, const data *d, int64_t least, int64_t classes, ts_error *e)
{
    ts_error fixed = {0};
    if (net_make(n, w, d, least, classes, &fixed))
        return true;
    net_free(n);
    return net_make(n, w, d, w->batch, classes, e);
}

void net_free(net *n)
{
    ts_model_free(n->model);
    *n = (net){0};
}
