/* quantize.c - an ONNX file with the weights of its products in 8 or 4 bits. The file is unpacked only to find the
 * products; what is written are the bytes of the file itself, with other nodes and tensors in the place of a few. */
#include "graph/ir/rule.h"
#include "import/name.h"
#include "import/onnx/body.h"
#include "import/onnx/fewer.h"
#include "import/onnx/splice.h"
#include "import/onnx/write.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_BY_AXIS = 13, DEFAULT_BLOCK = 32, LEAST_BLOCK = 16, MOST_BLOCK = 256, SUFFIX = 32 };
/* fields of the format's messages */
enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, NODE_TYPE, NODE_ATTRIBUTE, NODE_DOMAIN = 7 };
enum { GRAPH_NODE = 1, GRAPH_TENSOR = 5, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { TENSOR_DIM = 1, TENSOR_TYPE, TENSOR_NAME = 8, TENSOR_RAW, TENSOR_ELSEWHERE = 13, TENSOR_LOCATION };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INT = 3, ATTRIBUTE_KIND = 20, KIND_INT = 2 };

typedef struct weight {
    ts_array value;
    bool known, fits, given; /* value was read; it can be quantized; it is an input, too */
    int uses, taken;         /* all, and those of products that are rewritten */
} weight;

/* A weight as the products want it that sum over the same axis of it. */
typedef struct form {
    int weight;
    bool swapped; /* [n, k] */
    matrix w;
    fewer q;
    const char *numbers, *scale, *zero, *real; /* names */
    bool written;
} form;

typedef struct beside {
    const char *name; /* of the file; NULL: everything lies in one */
    uint64_t at;
    splice bytes;
} beside;

typedef struct quantizer {
    arena *mem;
    const ts_quantization *how;
    onnx_source source;
    const Onnx__Graph *g;
    name_table initializer, names;
    weight *weight; /* of each initializer */
    int *product;   /* of each node: its form, or -1 */
    form *form;
    int n_form, cap_form, given; /* given: products whose weight is an input, too */
    beside beside;
    ts_quantized what;
} quantizer;

/* ---- names and uses ---- */
static bool read_uses(quantizer *q, size_t n, Onnx__Node *const *list, err *e);

static void use(quantizer *q, const char *name)
{
    const int i = name_find(&q->initializer, name);
    name_add(&q->names, name, 0);
    if (i >= 0)
        q->weight[i].uses++;
}

static bool check_inside(const Onnx__Tensor *t, err *e)
{
    if (!t || t->data_location != 1)
        return true;
    err_set(e, TS_UNSUPPORTED, "tensor \"%s\" of a node lies in another file; only those of the graph may",
            onnx_text(t->name));
    return err_hint(e, "save the model as one file, with no external data, or with those of initializers only");
}

static bool read_inner(quantizer *q, const Onnx__Graph *g, err *e)
{
    for (size_t i = 0; i < g->n_initializer; i++) {
        name_add(&q->names, onnx_text(g->initializer[i]->name), 0);
        if (!check_inside(g->initializer[i], e))
            return false;
    }
    for (size_t i = 0; i < g->n_input; i++)
        name_add(&q->names, onnx_text(g->input[i]->name), 0);
    for (size_t i = 0; i < g->n_output; i++)
        use(q, onnx_text(g->output[i]->name));
    return read_uses(q, g->n_node, g->node, e);
}

static bool read_attribute(quantizer *q, const Onnx__Attribute *a, err *e)
{
    bool ok = check_inside(a->t, e) && (!a->g || read_inner(q, a->g, e));
    for (size_t i = 0; ok && i < a->n_tensors; i++)
        ok = check_inside(a->tensors[i], e);
    for (size_t i = 0; ok && i < a->n_graphs; i++)
        ok = read_inner(q, a->graphs[i], e);
    return ok;
}

static bool read_uses(quantizer *q, size_t n, Onnx__Node *const *list, err *e)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < list[i]->n_input; k++)
            use(q, list[i]->input[k]);
        for (size_t k = 0; k < list[i]->n_output; k++)
            name_add(&q->names, list[i]->output[k], 0);
        for (size_t k = 0; k < list[i]->n_attribute; k++)
            if (!read_attribute(q, list[i]->attribute[k], e))
                return false;
    }
    return true;
}

static bool read_graph(quantizer *q, const Onnx__Model *m, err *e)
{
    const Onnx__Graph *g = q->g = m->graph;
    if (!g)
        return err_set(e, TS_BAD_INPUT, "M011 model has no graph");
    q->weight = arena_array(q->mem, g->n_initializer, sizeof *q->weight);
    q->product = arena_array(q->mem, g->n_node, sizeof *q->product);
    for (size_t i = 0; i < g->n_initializer; i++) {
        name_add(&q->initializer, onnx_text(g->initializer[i]->name), (int)i);
        name_add(&q->names, onnx_text(g->initializer[i]->name), 0);
    }
    for (size_t i = 0; i < g->n_input; i++) {
        const int k = name_find(&q->initializer, onnx_text(g->input[i]->name));
        name_add(&q->names, onnx_text(g->input[i]->name), 0);
        if (k >= 0)
            q->weight[k].given = true;
    }
    for (size_t i = 0; i < g->n_output; i++)
        use(q, onnx_text(g->output[i]->name));
    for (size_t i = 0; i < m->n_functions; i++)
        if (!read_uses(&(quantizer){.mem = q->mem, .names = {.mem = q->mem}, .initializer = {.mem = q->mem}},
                       m->functions[i]->n_node, m->functions[i]->node, e))
            return false;
    return read_uses(q, g->n_node, g->node, e);
}

/* name with an ending, unlike every other one; names have an upper bound, so a long one is cut. */
static const char *fresh(quantizer *q, const char *name, const char *ending)
{
    size_t n = strlen(name);
    if (n > NAME_MOST - SUFFIX)
        for (n = NAME_MOST - SUFFIX; ((unsigned char)name[n] & 0xC0) == 0x80;)
            n--;
    const char *made = arena_format(q->mem, "%.*s%s", (int)n, name, ending);
    for (int i = 2; name_find(&q->names, made) >= 0; i++)
        made = arena_format(q->mem, "%.*s%s_%d", (int)n, name, ending, i);
    name_add(&q->names, made, 0);
    return made;
}

/* ---- products ---- */
static const Onnx__Attribute *attribute(const Onnx__Node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (!strcmp(onnx_text(n->attribute[i]->name), name))
            return n->attribute[i];
    return NULL;
}

static bool is_set(const Onnx__Node *n, const char *name)
{
    const Onnx__Attribute *a = attribute(n, name);
    return a && a->i;
}

static bool is_one(const Onnx__Node *n, const char *name)
{
    const Onnx__Attribute *a = attribute(n, name);
    return !a || a->f == 1;
}

static bool is_gemm(const Onnx__Node *n)
{
    return !strcmp(n->op_type, "Gemm");
}

/* MatMulNBits has the product alone: a Gemm becomes it and a sum. */
static bool has_packed_form(const Onnx__Node *n)
{
    return !is_gemm(n) || (!is_set(n, "transA") && is_one(n, "alpha") && is_one(n, "beta"));
}

static bool is_kept(const quantizer *q, const Onnx__Node *n, const char *name)
{
    for (int i = 0; i < q->how->n_keep; i++)
        if (!fnmatch(q->how->keep[i], onnx_text(n->name), 0) || !fnmatch(q->how->keep[i], name, 0))
            return true;
    return false;
}

/* The initializer that is the constant f32 matrix on the right of a product, or -1. */
static int weight_of(const quantizer *q, const Onnx__Node *n)
{
    const char *call = onnx_text(n->op_type);
    if (*onnx_domain(n->domain) || (strcmp(call, "MatMul") != 0 && strcmp(call, "Gemm") != 0) || n->n_input < 2 ||
        n->n_output != 1)
        return -1;
    const int i = name_find(&q->initializer, n->input[1]);
    if (i < 0)
        return -1;
    const Onnx__Tensor *t = q->g->initializer[i];
    dtype d;
    return onnx_element(t->data_type, "", &d, NULL) && d == TS_F32 && t->n_dims == 2 && t->dims[0] > 0 && t->dims[1] > 0
               ? i
               : -1;
}

static bool read_weight(quantizer *q, int i, err *e)
{
    weight *w = &q->weight[i];
    if (w->known)
        return true;
    w->known = true;
    if (!onnx_tensor(&q->source, q->g->initializer[i], &w->value, e))
        return false;
    w->fits = fewer_fits(&(matrix){w->value.data, w->value.dim[0], w->value.dim[1], 0, 0});
    return true;
}

static int form_of(quantizer *q, int i, bool swapped)
{
    for (int k = 0; k < q->n_form; k++)
        if (q->form[k].weight == i && q->form[k].swapped == swapped)
            return k;
    q->form = arena_grown(q->mem, q->form, q->n_form, &q->cap_form, sizeof *q->form);
    const int64_t rows = q->weight[i].value.dim[0], columns = q->weight[i].value.dim[1];
    const char *name = q->g->initializer[i]->name;
    form *f = &q->form[q->n_form];
    *f = (form){.weight = i, .swapped = swapped};
    f->w = swapped ? (matrix){q->weight[i].value.data, columns, rows, 1, columns}
                   : (matrix){q->weight[i].value.data, rows, columns, columns, 1};
    f->q = q->how->bits == 8 ? fewer_by_column(q->mem, &f->w) : fewer_by_block(q->mem, &f->w, q->how->block);
    f->numbers = fresh(q, name, "_quantized"), f->scale = fresh(q, name, "_scale");
    if (q->how->bits == 8)
        f->zero = fresh(q, name, "_zero_point"), f->real = fresh(q, name, "_dequantized");
    if (f->q.error >= q->what.error) {
        q->what.error = f->q.error;
        snprintf(q->what.worst, sizeof q->what.worst, "%s", name);
    }
    return q->n_form++;
}

static bool nothing(const quantizer *q, err *e)
{
    if (q->what.kept) {
        err_set(e, TS_UNSUPPORTED, "nothing to quantize: all products with constant weights, %d, stay as they are",
                q->what.kept);
        return err_hint(e, "they match --keep, hold a NaN or an infinity, or scale what they give");
    }
    if (q->given) {
        err_set(e, TS_UNSUPPORTED, "nothing to quantize: the weights of products, %d, are inputs too", q->given);
        return err_hint(e, "a run may replace them; export the model without its initializers among its inputs");
    }
    err_set(e, TS_UNSUPPORTED, "nothing to quantize: no MatMul or Gemm has a constant f32 matrix on its right");
    return err_hint(e, "tessera show lists the operators of a model");
}

static bool find_products(quantizer *q, err *e)
{
    for (size_t k = 0; k < q->g->n_node; k++) {
        const Onnx__Node *n = q->g->node[k];
        const int i = weight_of(q, n);
        q->product[k] = -1;
        if (i < 0)
            continue;
        if (q->weight[i].given) {
            q->given++;
            continue;
        }
        if (!read_weight(q, i, e))
            return false;
        if (!q->weight[i].fits || (q->how->bits == 4 && !has_packed_form(n)) || is_kept(q, n, n->input[1])) {
            q->what.kept++;
            continue;
        }
        q->product[k] = form_of(q, i, is_gemm(n) && is_set(n, "transB"));
        q->weight[i].taken++, q->what.products++;
    }
    return q->what.products > 0 || nothing(q, e);
}

static bool check_versions(quantizer *q, const Onnx__Model *m, bool *has_contrib, err *e)
{
    int64_t version = 1;
    for (size_t i = 0; i < m->n_opset_import; i++) {
        if (!*onnx_domain(m->opset_import[i]->domain))
            version = m->opset_import[i]->version;
        *has_contrib |= !strcmp(onnx_text(m->opset_import[i]->domain), "com.microsoft");
    }
    if (q->how->bits == 4 || version >= FIRST_BY_AXIS)
        return true;
    err_set(e, TS_UNSUPPORTED, "opset %lld: DequantizeLinear has a scale for each column from opset %d on",
            (long long)version, FIRST_BY_AXIS);
    return err_hint(e, "export the model for opset %d or a newer one, or take --weights int4", FIRST_BY_AXIS);
}

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

static void add_form(quantizer *q, splice *g, const form *f)
{
    const int64_t scales = f->q.scales;
    ts_array numbers = {.dtype = TS_I8, .rank = 2, .data = f->q.numbers};
    const ts_array scale = {.dtype = TS_F32, .rank = 1, .dim = {scales}, .data = f->q.scale};
    const ts_array zero = {.dtype = TS_I8, .rank = 1, .dim = {scales}};
    if (f->zero) {
        memcpy(numbers.dim, q->weight[f->weight].value.dim, sizeof numbers.dim);
    } else {
        numbers = (ts_array){.dtype = TS_U8, .rank = 3, .data = f->q.numbers};
        numbers.dim[0] = f->w.n, numbers.dim[1] = scales / f->w.n, numbers.dim[2] = q->how->block / 2;
    }
    add_tensor(q, g, f->numbers, &numbers, f->q.bytes);
    add_tensor(q, g, f->scale, &scale, (size_t)scales * sizeof *f->q.scale);
    if (f->zero) {
        ts_array zeros = zero;
        zeros.data = arena_array(q->mem, (size_t)scales, 1);
        add_tensor(q, g, f->zero, &zeros, (size_t)scales);
    }
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
static void begin_node(splice *n, const char *call, const char *const *in)
{
    for (; *in; in++)
        splice_text(n, NODE_INPUT, *in);
    splice_text(n, NODE_TYPE, call);
}

static void add_dequantize(quantizer *q, splice *g, form *f)
{
    splice n = {.mem = q->mem};
    if (f->written)
        return;
    f->written = true;
    begin_node(&n, "DequantizeLinear", (const char *const[]){f->numbers, f->scale, f->zero, NULL});
    splice_text(&n, NODE_OUTPUT, f->real);
    splice_text(&n, NODE_NAME, f->real);
    add_integer(&n, "axis", f->swapped ? 0 : 1);
    splice_message(g, GRAPH_NODE, &n);
}

/* The node with another weight. */
static void copy_product(quantizer *q, splice *g, piece from, form *f)
{
    splice n = {.mem = q->mem};
    wire_field field;
    int input = 0;
    add_dequantize(q, g, f);
    while (wire_next(&from, &field))
        if (field.number == NODE_INPUT && input++ == 1)
            splice_text(&n, NODE_INPUT, f->real);
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
    const char *y = sum ? fresh(q, like->output[0], "_product") : like->output[0];
    begin_node(&n, "MatMulNBits", (const char *const[]){like->input[0], f->numbers, f->scale, NULL});
    splice_text(&n, NODE_OUTPUT, y);
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
    begin_node(&add, "Add", (const char *const[]){y, like->input[2], NULL});
    splice_text(&add, NODE_OUTPUT, like->output[0]);
    splice_text(&add, NODE_NAME, fresh(q, like->output[0], "_sum"));
    splice_message(g, GRAPH_NODE, &add);
}

static void copy_node(quantizer *q, splice *g, size_t i, const wire_field *from)
{
    if (q->product[i] < 0)
        splice_add(g, from->whole.at, from->whole.size);
    else if (q->how->bits == 8)
        copy_product(q, g, from->inner, &q->form[q->product[i]]);
    else
        add_packed(q, g, from->inner, q->g->node[i], &q->form[q->product[i]]);
}

/* ---- the file ---- */
static bool copy_graph(quantizer *q, splice *m, piece from, err *e)
{
    splice g = {.mem = q->mem};
    wire_field field;
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

/* Bytes in other files that the model refers to. */
static bool count_outside(quantizer *q, err *e)
{
    q->what.before = (int64_t)q->source.file->map.size;
    for (size_t i = 0; i < q->g->n_initializer; i++) {
        ts_array a;
        size_t bytes;
        if (q->g->initializer[i]->data_location != 1)
            continue;
        if (!onnx_external(&q->source, q->g->initializer[i], &a, &bytes, e))
            return false;
        q->what.before += (int64_t)bytes;
    }
    return true;
}

/* In one file if its tensors fit there: then nothing lies beside. */
static bool write_model(quantizer *q, const char *to, bool has_contrib, err *e)
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

static bool quantize(const char *path, const ts_quantization *how, const char *to, ts_quantized *what, err *e)
{
    model_file f = {.limits = limits_make()};
    quantizer q = {.mem = &f.mem, .how = how, .source = {.file = &f}};
    bool has_contrib = false;
    q.initializer.mem = q.names.mem = &f.mem;
    const Onnx__Model *m = NULL;
    bool ok = file_map(path, &f.map, e) && external_open(&f.external, &f.mem, path, e);
    ok = ok && (m = onnx_unpack(&f, e)) != NULL;
    q.source.ir = ok ? m->ir_version : 0;
    ok = ok && read_graph(&q, m, e) && find_products(&q, e) && check_versions(&q, m, &has_contrib, e) &&
         count_outside(&q, e);
    ok = ok || (e->code == TS_FILES ? false : err_in(e, "%s", path));
    ok = ok && write_model(&q, to, has_contrib, e);
    if (ok && what)
        *what = q.what;
    model_file_free(&f);
    return ok;
}

bool ts_quantize(const char *path, const ts_quantization *how, const char *to, ts_quantized *what, ts_error *e)
{
    if (!err_given(path, "the path of a model", e) || !err_given(how, "how to quantize", e) ||
        !err_given(to, "the path of the file to write", e))
        return false;
    ts_quantization full = *how;
    full.block = how->block ? how->block : DEFAULT_BLOCK;
    if (how->bits != 8 && how->bits != 4)
        return err_set(e, TS_USAGE, "weights of %d bits; 8 or 4 expected", how->bits);
    if (full.block < LEAST_BLOCK || full.block > MOST_BLOCK || (full.block & (full.block - 1)))
        return err_set(e, TS_USAGE, "blocks of %d elements; a power of two from %d to %d expected", full.block,
                       LEAST_BLOCK, MOST_BLOCK);
    return quantize(path, &full, to, what, e);
}
