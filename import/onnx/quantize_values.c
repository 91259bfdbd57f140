/* quantize_values.c - which values of an ONNX file are rounded to u8, by ranges that a run of the model gives. A
 * product takes them rounded; what Conv gives is rounded for whoever reads it, behind its activation: runtimes have
 * convolutions of integers that give integers, and sums of two such values. Elsewhere (residuals of transformers)
 * values stay f32. */
#include "import/onnx/body.h"
#include "import/onnx/quantize.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NOBODY = -1, SEVERAL = -2, LEVELS = 255 };

/* ---- which ---- */
/* By value: the node that alone reads it. */
typedef struct reading {
    name_table id;
    int *node;
} reading;

static reading read_readers(const quantizer *q)
{
    size_t all = 0;
    for (size_t i = 0; i < q->g->n_node; i++)
        all += q->g->node[i]->n_input;
    reading r = {.id = {.mem = q->mem}, .node = arena_array(q->mem, all + 1, sizeof *r.node)};
    for (size_t i = 0; i < q->g->n_node; i++)
        for (size_t k = 0; k < q->g->node[i]->n_input; k++) {
            const int new = (int)r.id.n, id = name_add(&r.id, q->g->node[i]->input[k], new);
            r.node[id] = id == new ? (int)i : SEVERAL;
        }
    return r;
}

static int reader_of(const reading *r, const char *value)
{
    const int id = name_find(&r->id, value);
    return id < 0 ? NOBODY : r->node[id];
}

static bool is_call(const Onnx__Node *n, const char *call)
{
    return !*onnx_domain(n->domain) && !strcmp(onnx_text(n->op_type), call);
}

static bool is_output(const quantizer *q, const char *value)
{
    for (size_t i = 0; i < q->g->n_output; i++)
        if (!strcmp(onnx_text(q->g->output[i]->name), value))
            return true;
    return false;
}

static void add(quantizer *q, const char *value, bool for_all)
{
    if (name_find(&q->initializer, value) >= 0)
        return;
    const int i = name_add(&q->rounded, value, q->n_rounding);
    if (i == q->n_rounding) {
        q->rounding = arena_grown(q->mem, q->rounding, q->n_rounding++, &q->cap_rounding, sizeof *q->rounding);
        q->rounding[i] = (rounding){.value = value,
                                    .numbers = quantizer_name(q, value, "_u8"),
                                    .scale = quantizer_name(q, value, "_u8_scale"),
                                    .zero = quantizer_name(q, value, "_u8_zero_point"),
                                    .real = quantizer_name(q, value, "_rounded")};
    }
    q->rounding[i].for_all |= for_all;
}

/* What a Conv gives, or what its activation makes of it where nobody else reads it. */
static void add_result(quantizer *q, const reading *r, const char *value)
{
    const int next = reader_of(r, value);
    if (is_output(q, value))
        return;
    if (next >= 0 && (is_call(q->g->node[next], "Relu") || is_call(q->g->node[next], "Clip")))
        value = q->g->node[next]->output[0];
    if (!is_output(q, value))
        add(q, value, true);
}

static void find(quantizer *q)
{
    const reading r = read_readers(q);
    for (size_t i = 0; i < q->g->n_node; i++) {
        const Onnx__Node *n = q->g->node[i];
        if (q->product[i] < 0)
            continue;
        add(q, n->input[0], false);
        if (is_call(n, "Conv"))
            add_result(q, &r, n->output[0]);
    }
}

/* ---- what nodes read ---- */
static const rounding *rounding_of(const quantizer *q, const char *value)
{
    const int i = name_find(&q->rounded, value);
    return i < 0 ? NULL : &q->rounding[i];
}

/* A sum of two rounded values, one of a Conv: one of integers, elsewhere. */
static bool is_sum(const quantizer *q, const Onnx__Node *n)
{
    if (!is_call(n, "Add") || n->n_input != 2)
        return false;
    const rounding *a = rounding_of(q, n->input[0]), *b = rounding_of(q, n->input[1]);
    return a && b && (a->for_all || b->for_all);
}

const char *quantizer_operand(const quantizer *q, size_t i, size_t k)
{
    const Onnx__Node *n = q->g->node[i];
    const rounding *r = rounding_of(q, n->input[k]);
    const bool product = q->product[i] >= 0;
    if (product && k == 1)
        return q->form[q->product[i]].real;
    if (product && k == 2 && q->bias && q->bias[i].real)
        return q->bias[i].real;
    return r && (r->for_all || (product && k == 0) || is_sum(q, n)) ? r->real : n->input[k];
}

/* ---- by how much ---- */
/* 0 is one of the steps: padding, and what an activation cuts off, stay exact. */
static bool set_steps(rounding *r, const ts_range *range, err *e)
{
    const double low = fmin(range->low, 0), high = fmax(range->high, 0);
    if (!isfinite(range->low) || !isfinite(range->high) || !(high - low <= FLT_MAX)) {
        err_set(e, TS_NUMERICS, "value \"%s\" goes from %g to %g, or has a NaN: only finite values can be rounded",
                r->value, range->low, range->high);
        return err_hint(e, "leave the products that take it as they are with --keep, or calibrate with other data");
    }
    r->step = high > low ? fmaxf((float)((high - low) / LEVELS), FLT_MIN) : 1;
    r->zero_at = (uint8_t)fmin(LEVELS, rint(-low / r->step));
    return true;
}

/* The constant that a product adds, as i32 in steps of the operand's times the weight's; false: it does not fit. */
static bool set_bias(quantizer *q, size_t i, int k, bias *b, err *e)
{
    const form *f = &q->form[q->product[i]];
    const rounding *r = rounding_of(q, q->g->node[i]->input[0]);
    ts_array value;
    if (!onnx_tensor(&q->source, q->g->initializer[k], &value, e))
        return false;
    if (!r || value.dtype != TS_F32 || value.rank != 1 || value.dim[0] != f->q.scales)
        return true;
    bias made = {.n = f->q.scales};
    made.number = arena_array(q->mem, (size_t)made.n, sizeof *made.number);
    made.step = arena_array(q->mem, (size_t)made.n, sizeof *made.step);
    for (int64_t j = 0; j < made.n; j++) {
        made.step[j] = r->step * f->q.scale[j];
        const double v = rint(ts_array_at(&value, j) / made.step[j]);
        if (!(fabs(v) <= INT32_MAX))
            return true;
        made.number[j] = (int32_t)v;
    }
    const char *name = q->g->initializer[k]->name;
    made.numbers = quantizer_name(q, name, "_i32"), made.scale = quantizer_name(q, name, "_i32_scale");
    made.real = quantizer_name(q, name, "_rounded");
    q->weight[k].taken++;
    *b = made;
    return true;
}

static bool set_biases(quantizer *q, err *e)
{
    q->bias = arena_array(q->mem, q->g->n_node, sizeof *q->bias);
    for (size_t i = 0; i < q->g->n_node; i++) {
        const Onnx__Node *n = q->g->node[i];
        const int k = q->product[i] < 0 || n->n_input < 3 ? -1 : name_find(&q->initializer, n->input[2]);
        if (k >= 0 && !q->weight[k].given && !set_bias(q, i, k, &q->bias[i], e))
            return false;
    }
    return true;
}

bool quantizer_observe(quantizer *q, err *e)
{
    find(q);
    const char **value = arena_array(q->mem, (size_t)q->n_rounding + 1, sizeof *value);
    ts_range *range = arena_array(q->mem, (size_t)q->n_rounding + 1, sizeof *range);
    for (int i = 0; i < q->n_rounding; i++)
        value[i] = q->rounding[i].value;
    if (!q->how->observe(q->how->user, q->n_rounding, value, range, e))
        return false;
    for (int i = 0; i < q->n_rounding; i++)
        if (!set_steps(&q->rounding[i], &range[i], e))
            return false;
    q->what.values = q->n_rounding;
    return set_biases(q, e);
}
