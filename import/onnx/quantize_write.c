/* quantize_write.c - the bytes of a file, with other nodes and tensors in the place of a few. */
#include "graph/ir/rule.h"
#include "import/onnx/body.h"
#include "import/onnx/quantize.h"
#include "import/onnx/write.h"

#include <string.h>

/* fields of the format's messages */
enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, NODE_TYPE, NODE_ATTRIBUTE, NODE_DOMAIN = 7 };
enum { GRAPH_NODE = 1, GRAPH_TENSOR = 5, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { TENSOR_DIM = 1, TENSOR_TYPE, TENSOR_NAME = 8, TENSOR_RAW, TENSOR_ELSEWHERE = 13, TENSOR_LOCATION };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INT = 3, ATTRIBUTE_KIND = 20, KIND_INT = 2 };

/* ---- tensors ---- */
static void add_pair(splice *t, const char *key, const char *value)
{
    splice pair = {.mem = t->mem};
    splice_text(&pair, 1, key), splice_text(&pair, 2, value);
    splice_message(t, TENSOR_ELSEWHERE, &pair);
}

static void add_payload(quantizer *q, splice *t, const void *p, size_t n)
{
    static const char zero[ONNX_ALIGNMENT];
    beside *b = &q->beside;
    if (!b->name || n < ONNX_SMALL) {
        splice_bytes(t, TENSOR_RAW, p, n);
        return;
    }
    add_pair(t, "location", b->name);
    add_pair(t, "offset", arena_format(q->mem, "%zu", b->bytes.size));
    add_pair(t, "length", arena_format(q->mem, "%zu", n));
    splice_number(t, TENSOR_LOCATION, 1);
    splice_add(&b->bytes, p, n);
    splice_add(&b->bytes, zero, (ONNX_ALIGNMENT - n % ONNX_ALIGNMENT) % ONNX_ALIGNMENT);
}

static void add_tensor(quantizer *q, splice *g, const char *name, const ts_array *a, size_t bytes)
{
    splice t = {.mem = q->mem};
    for (int i = 0; i < a->rank; i++)
        splice_number(&t, TENSOR_DIM, (uint64_t)a->dim[i]);
    splice_number(&t, TENSOR_TYPE, (uint64_t)onnx_code(a->dtype));
    splice_text(&t, TENSOR_NAME, name);
    add_payload(q, &t, a->data, bytes);
    splice_message(g, GRAPH_TENSOR, &t);
}

static void add_vector(quantizer *q, splice *g, const char *name, dtype d, int64_t n, const void *data)
{
    const ts_array a = {.dtype = d, .rank = n >= 0, .dim = {n}, .data = (void *)(uintptr_t)data};
    add_tensor(q, g, name, &a, (size_t)(ts_array_count(&a) * ts_dtype_bytes(d)));
}

static void add_form(quantizer *q, splice *g, const form *f)
{
    const int64_t scales = f->q.scales;
    ts_array numbers = q->weight[f->weight].value;
    numbers.data = f->q.numbers, numbers.dtype = TS_I8;
    if (!f->zero) {
        numbers.dtype = TS_U8, numbers.rank = 3;
        numbers.dim[0] = f->w.n, numbers.dim[1] = scales / f->w.n, numbers.dim[2] = q->how->block / 2;
    }
    add_tensor(q, g, f->numbers, &numbers, f->q.bytes);
    add_vector(q, g, f->scale, TS_F32, scales, f->q.scale);
    if (f->zero)
        add_vector(q, g, f->zero, TS_I8, scales, f->q.zeros);
}

/* One of the file: as it is, or without what said where its bytes lie. */
static bool copy_tensor(quantizer *q, splice *g, size_t i, const wire_field *from, err *e)
{
    const Onnx__Tensor *t = q->g->initializer[i];
    const weight *w = &q->weight[i];
    if (w->taken && w->taken == w->uses)
        return true;
    if (t->data_location != 1) {
        splice_add(g, from->whole.at, from->whole.size);
        return true;
    }
    splice to = {.mem = q->mem};
    wire_field field;
    ts_array a;
    size_t bytes;
    if (!onnx_external(&q->source, t, &a, &bytes, e))
        return false;
    for (piece rest = from->inner; wire_next(&rest, &field);)
        if (field.number != TENSOR_ELSEWHERE && field.number != TENSOR_LOCATION)
            splice_add(&to, field.whole.at, field.whole.size);
    add_payload(q, &to, a.data, bytes);
    splice_message(g, GRAPH_TENSOR, &to);
    return true;
}

/* ---- nodes ---- */
static void add_integer(splice *n, const char *name, int64_t v)
{
    splice a = {.mem = n->mem};
    splice_text(&a, ATTRIBUTE_NAME, name);
    splice_number(&a, ATTRIBUTE_INT, (uint64_t)v);
    splice_number(&a, ATTRIBUTE_KIND, KIND_INT);
    splice_message(n, NODE_ATTRIBUTE, &a);
}

/* in: names, ends with NULL */
static void begin_node(splice *n, const char *call, const char *const *in, const char *out)
{
    for (; *in; in++)
        splice_text(n, NODE_INPUT, *in);
    splice_text(n, NODE_TYPE, call);
    splice_text(n, NODE_OUTPUT, out);
}

enum { NO_AXIS = -1 };
/* A node that is called as what it makes. */
static void add_node(quantizer *q, splice *g, const char *call, const char *const *in, const char *out, int axis)
{
    splice n = {.mem = q->mem};
    begin_node(&n, call, in, out);
    splice_text(&n, NODE_NAME, out);
    if (axis != NO_AXIS)
        add_integer(&n, "axis", axis);
    splice_message(g, GRAPH_NODE, &n);
}

static void add_dequantize(quantizer *q, splice *g, form *f)
{
    if (f->written)
        return;
    f->written = true;
    add_node(q, g, "DequantizeLinear", (const char *const[]){f->numbers, f->scale, f->zero, NULL}, f->dequantized,
             f->way == STRAIGHT);
    if (f->way == TURNED)
        add_node(q, g, "Transpose", (const char *const[]){f->dequantized, NULL}, f->real, NO_AXIS);
}

static void add_bias(quantizer *q, splice *g, const bias *b)
{
    add_vector(q, g, b->numbers, TS_I32, b->n, b->number), add_vector(q, g, b->scale, TS_F32, b->n, b->step);
    add_node(q, g, "DequantizeLinear", (const char *const[]){b->numbers, b->scale, NULL}, b->real, 0);
}

/* Behind what makes the value. */
static void add_rounding(quantizer *q, splice *g, const char *value)
{
    const int i = name_find(&q->rounded, value);
    const rounding *r = i < 0 ? NULL : &q->rounding[i];
    if (!r)
        return;
    add_vector(q, g, r->scale, TS_F32, -1, &r->step), add_vector(q, g, r->zero, TS_U8, -1, &r->zero_at);
    add_node(q, g, "QuantizeLinear", (const char *const[]){r->value, r->scale, r->zero, NULL}, r->numbers, NO_AXIS);
    add_node(q, g, "DequantizeLinear", (const char *const[]){r->numbers, r->scale, r->zero, NULL}, r->real, NO_AXIS);
}

/* The node with other operands. */
static void copy_with(quantizer *q, splice *g, piece from, size_t i)
{
    splice n = {.mem = q->mem};
    wire_field field;
    size_t input = 0;
    while (wire_next(&from, &field))
        if (field.number == NODE_INPUT)
            splice_text(&n, NODE_INPUT, quantizer_operand(q, i, input++));
        else
            splice_add(&n, field.whole.at, field.whole.size);
    splice_message(g, GRAPH_NODE, &n);
}

/* What the node has beside its operator, as its documentation, stays. */
static void add_packed(quantizer *q, splice *g, piece from, const Onnx__Node *like, const form *f)
{
    splice n = {.mem = q->mem};
    wire_field field;
    const bool sum = like->n_input > 2 && *like->input[2];
    const char *y = sum ? quantizer_name(q, like->output[0], "_product") : like->output[0];
    begin_node(&n, "MatMulNBits", (const char *const[]){like->input[0], f->numbers, f->scale, NULL}, y);
    splice_text(&n, NODE_DOMAIN, "com.microsoft");
    add_integer(&n, "K", f->w.k), add_integer(&n, "N", f->w.n);
    add_integer(&n, "bits", q->how->bits), add_integer(&n, "block_size", q->how->block);
    while (wire_next(&from, &field))
        if (field.number == NODE_NAME || field.number > NODE_DOMAIN || field.number == NODE_DOMAIN - 1)
            splice_add(&n, field.whole.at, field.whole.size);
    splice_message(g, GRAPH_NODE, &n);
    if (!sum)
        return;
    splice add = {.mem = q->mem};
    begin_node(&add, "Add", (const char *const[]){y, like->input[2], NULL}, like->output[0]);
    splice_text(&add, NODE_NAME, quantizer_name(q, like->output[0], "_sum"));
    splice_message(g, GRAPH_NODE, &add);
}

static bool is_same(const quantizer *q, size_t i)
{
    const Onnx__Node *n = q->g->node[i];
    for (size_t k = 0; k < n->n_input; k++)
        if (quantizer_operand(q, i, k) != n->input[k])
            return false;
    return true;
}

static void copy_node(quantizer *q, splice *g, size_t i, const wire_field *from)
{
    const Onnx__Node *n = q->g->node[i];
    form *f = q->product[i] < 0 ? NULL : &q->form[q->product[i]];
    if (quantizer_drops(q, i))
        return;
    if (f && q->how->bits == 8)
        add_dequantize(q, g, f);
    if (q->bias && q->bias[i].real)
        add_bias(q, g, &q->bias[i]);
    if (f && q->how->bits == 4)
        add_packed(q, g, from->inner, n, f);
    else if (is_same(q, i))
        splice_add(g, from->whole.at, from->whole.size);
    else
        copy_with(q, g, from->inner, i);
    for (size_t k = 0; k < n->n_output; k++)
        add_rounding(q, g, n->output[k]);
}

/* ---- the file ---- */
static bool copy_graph(quantizer *q, splice *m, piece from, err *e)
{
    splice g = {.mem = q->mem};
    wire_field field;
    for (size_t i = 0; i < q->g->n_input; i++)
        add_rounding(q, &g, onnx_text(q->g->input[i]->name));
    for (size_t nodes = 0, tensors = 0; wire_next(&from, &field);) {
        if (field.number == GRAPH_NODE)
            copy_node(q, &g, nodes++, &field);
        else if (field.number != GRAPH_TENSOR)
            splice_add(&g, field.whole.at, field.whole.size);
        else if (!copy_tensor(q, &g, tensors++, &field, e))
            return false;
    }
    for (int i = 0; i < q->n_form; i++)
        add_form(q, &g, &q->form[i]);
    splice_message(m, MODEL_GRAPH, &g);
    return true;
}

static bool copy_model(quantizer *q, splice *m, bool has_contrib, err *e)
{
    const mapping *map = &q->source.file->map;
    splice id = {.mem = q->mem};
    wire_field field;
    for (piece rest = {map->at, map->size}; wire_next(&rest, &field);)
        if (field.number != MODEL_GRAPH)
            splice_add(m, field.whole.at, field.whole.size);
        else if (!copy_graph(q, m, field.inner, e))
            return false;
    if (q->how->bits == 8 || has_contrib)
        return true;
    splice_text(&id, 1, "com.microsoft"), splice_number(&id, 2, 1);
    splice_message(m, MODEL_OPSET, &id);
    return true;
}

static bool save(const splice *s, const char *path, err *e)
{
    saver *to = saver_open(path, s->size);
    for (int i = 0; i < s->n; i++)
        saver_add(to, s->all[i].at, s->all[i].size);
    return saver_close(to, e);
}

/* In one file if its tensors fit there: then nothing lies beside. */
bool quantizer_write(quantizer *q, const char *to, bool has_contrib, err *e)
{
    const char *slash = strrchr(to, '/'), *base = slash ? slash + 1 : to;
    splice m = {.mem = q->mem};
    if (!copy_model(q, &m, has_contrib, e))
        return false;
    if (m.size > ONNX_INLINE) {
        q->beside = (beside){.name = arena_format(q->mem, "%s.data", base), .bytes = {.mem = q->mem}};
        for (int i = 0; i < q->n_form; i++)
            q->form[i].written = false;
        m = (splice){.mem = q->mem};
        if (!copy_model(q, &m, has_contrib, e) ||
            !save(&q->beside.bytes, arena_format(q->mem, "%.*s%s", (int)(base - to), to, q->beside.name), e))
            return false;
    }
    q->what.after = (int64_t)(m.size + q->beside.bytes.size);
    return save(&m, to, e);
}
