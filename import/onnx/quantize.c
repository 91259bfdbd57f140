/* quantize.c - which products of an ONNX file are rewritten, and what becomes of their weights. */
#include "import/name.h"
#include "import/onnx/body.h"
#include "import/onnx/quantize.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_BY_AXIS = 13, DEFAULT_BLOCK = 32, LEAST_BLOCK = 16, MOST_BLOCK = FEWER_BLOCK, SUFFIX = 32 };

/* ---- names and uses ---- */
static bool read_uses(quantizer *q, size_t n, Onnx__Node *const *list, err *e);

static void use(quantizer *q, const char *name)
{
    const int i = name_find(&q->initializer, name), t = name_find(&q->turned_of, name);
    name_add(&q->names, name, 0);
    if (i >= 0)
        q->weight[i].uses++;
    if (t >= 0)
        q->turned[t].uses++;
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

static const Onnx__Attribute *attribute(const Onnx__Node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (!strcmp(onnx_text(n->attribute[i]->name), name))
            return n->attribute[i];
    return NULL;
}

static void read_turned(quantizer *q)
{
    q->turned = arena_array(q->mem, q->g->n_node, sizeof *q->turned);
    for (size_t k = 0; k < q->g->n_node; k++) {
        const Onnx__Node *n = q->g->node[k];
        const bool is = !*onnx_domain(n->domain) && !strcmp(onnx_text(n->op_type), "Transpose") && n->n_input == 1 &&
                        n->n_output == 1;
        const int i = is ? name_find(&q->initializer, n->input[0]) : -1;
        const Onnx__Attribute *axes = i < 0 ? NULL : attribute(n, "perm");
        if (i < 0 || q->g->initializer[i]->n_dims != 2 || (axes && (axes->n_ints != 2 || axes->ints[0] != 1)))
            continue;
        const int new = (int)q->turned_of.n, t = name_add(&q->turned_of, n->output[0], new);
        q->turned[t].weight = i;
    }
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
    read_turned(q);
    for (size_t i = 0; i < g->n_output; i++)
        use(q, onnx_text(g->output[i]->name));
    for (size_t i = 0; i < m->n_functions; i++)
        if (!read_uses(&(quantizer){.mem = q->mem, .names = {.mem = q->mem}, .initializer = {.mem = q->mem}},
                       m->functions[i]->n_node, m->functions[i]->node, e))
            return false;
    return read_uses(q, g->n_node, g->node, e);
}

const char *quantizer_name(quantizer *q, const char *name, const char *ending)
{
    size_t n = strlen(name);
    if (n > NAME_MOST - SUFFIX)
        for (n = NAME_MOST - SUFFIX; ((unsigned char)name[n] & 0xC0) == 0x80;)
            n--;
    const char *made = arena_format(q->mem, "%.*s%s", (int)n, name, ending);
    while (name_find(&q->names, made) >= 0)
        made = arena_format(q->mem, "%.*s%s_%d", (int)n, name, ending, ++q->renamed);
    name_add(&q->names, made, 0);
    return made;
}

/* ---- products ---- */
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

static bool is_conv(const Onnx__Node *n)
{
    return !strcmp(n->op_type, "Conv");
}

/* The initializer that is the constant f32 matrix on the right of a product, or the filters of a Conv; or -1. */
static int weight_of(const quantizer *q, const Onnx__Node *n)
{
    const char *call = onnx_text(n->op_type);
    if (*onnx_domain(n->domain) || n->n_input < 2 || n->n_output != 1 ||
        (strcmp(call, "MatMul") != 0 && strcmp(call, "Gemm") != 0 && (strcmp(call, "Conv") != 0 || !q->how->observe)))
        return -1;
    const int k = is_conv(n) || (is_gemm(n) && is_set(n, "transB")) ? -1 : name_find(&q->turned_of, n->input[1]);
    const int i = k >= 0 ? q->turned[k].weight : name_find(&q->initializer, n->input[1]);
    if (i < 0)
        return -1;
    const Onnx__Tensor *t = q->g->initializer[i];
    dtype d;
    for (size_t axis = 0; axis < t->n_dims; axis++)
        if (t->dims[axis] <= 0)
            return -1;
    return onnx_element(t->data_type, "", &d, NULL) && d == TS_F32 && (is_conv(n) ? t->n_dims > 2 : t->n_dims == 2)
               ? i
               : -1;
}

/* Behind its first axis. */
static int64_t columns_of(const ts_array *a)
{
    return ts_array_count(a) / a->dim[0];
}

static bool read_weight(quantizer *q, int i, err *e)
{
    weight *w = &q->weight[i];
    if (w->known)
        return true;
    w->known = true;
    if (!onnx_tensor(&q->source, q->g->initializer[i], &w->value, e))
        return false;
    w->fits = fewer_fits(&(matrix){w->value.data, w->value.dim[0], columns_of(&w->value), 0, 0});
    return true;
}

/* The number of the one that a product takes; -1 with e set. */
static int form_of(quantizer *q, int i, way by, err *e)
{
    int *known = &q->weight[i].form[by];
    if (*known)
        return *known - 1;
    q->form = arena_grown(q->mem, q->form, q->n_form, &q->cap_form, sizeof *q->form);
    const int64_t rows = q->weight[i].value.dim[0], columns = columns_of(&q->weight[i].value);
    const char *name = q->g->initializer[i]->name;
    form *f = &q->form[q->n_form];
    *f = (form){.weight = i, .way = by};
    f->w = by != STRAIGHT ? (matrix){q->weight[i].value.data, columns, rows, 1, columns}
                          : (matrix){q->weight[i].value.data, rows, columns, columns, 1};
    if (!(q->how->bits == 8 ? fewer_by_column(&f->w, &f->q, e) : fewer_by_block(&f->w, q->how->block, &f->q, e)))
        return -1;
    f->numbers = quantizer_name(q, name, "_quantized"), f->scale = quantizer_name(q, name, "_scale");
    if (q->how->bits == 8)
        f->zero = quantizer_name(q, name, "_zero_point"), f->dequantized = quantizer_name(q, name, "_dequantized");
    f->real = by == TURNED && f->dequantized ? quantizer_name(q, name, "_turned") : f->dequantized;
    if (f->q.error >= q->what.error) {
        q->what.error = f->q.error;
        snprintf(q->what.worst, sizeof q->what.worst, "%s", name);
    }
    *known = ++q->n_form;
    return *known - 1;
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
    err_set(e, TS_UNSUPPORTED, "nothing to quantize: no %s has a constant f32 matrix on its right",
            q->how->observe ? "Conv has constant f32 filters, and no MatMul or Gemm" : "MatMul or Gemm");
    return err_hint(e, "tessera show lists the operators of a model");
}

static way way_of(const Onnx__Node *n, int t)
{
    return t >= 0 ? TURNED : is_conv(n) || (is_gemm(n) && is_set(n, "transB")) ? SWAPPED : STRAIGHT;
}

bool quantizer_drops(const quantizer *q, size_t i)
{
    const Onnx__Node *n = q->g->node[i];
    const int t = n->n_output == 1 ? name_find(&q->turned_of, n->output[0]) : -1;
    return t >= 0 && q->turned[t].taken && q->turned[t].taken == q->turned[t].uses;
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
        if (!q->weight[i].fits || (q->how->bits == 4 && !has_packed_form(n)) ||
            is_kept(q, n, q->g->initializer[i]->name)) {
            q->what.kept++;
            continue;
        }
        const int t = name_find(&q->turned_of, n->input[1]);
        q->product[k] = form_of(q, i, way_of(n, t), e);
        if (q->product[k] < 0)
            return false;
        *(t < 0 ? &q->weight[i].taken : &q->turned[t].taken) += 1, q->what.products++;
    }
    for (size_t t = 0; t < q->turned_of.n; t++)
        q->weight[q->turned[t].weight].taken += q->turned[t].taken && q->turned[t].taken == q->turned[t].uses;
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

/* ---- the file ---- */
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

static bool quantize(const char *path, const ts_quantization *how, const char *to, ts_quantized *what, err *e)
{
    model_file f = {.limits = limits_make()};
    quantizer q = {.mem = &f.mem, .how = how, .source = {.file = &f}};
    bool has_contrib = false;
    q.initializer.mem = q.names.mem = q.rounded.mem = q.turned_of.mem = &f.mem;
    const Onnx__Model *m = NULL;
    bool ok = file_map(path, &f.map, e) && external_open(&f.external, &f.mem, path, e);
    ok = ok && (m = onnx_unpack(&f, e)) != NULL;
    q.source.ir = ok ? m->ir_version : 0;
    ok = ok && read_graph(&q, m, e) && find_products(&q, e) && check_versions(&q, m, &has_contrib, e) &&
         count_outside(&q, e) && (!how->observe || quantizer_observe(&q, e));
    if (!ok && e && e->code != TS_FILES) /* those name it */
        err_in(e, "%s", path);
    ok = ok && quantizer_write(&q, to, has_contrib, e);
    if (ok && what)
        *what = q.what;
    for (int i = 0; i < q.n_form; i++)
        fewer_free(&q.form[i].q);
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
    if ((how->bits != 8 && how->bits != 4) || (how->bits == 4 && how->observe))
        return err_set(e, TS_USAGE, "weights of %d bits; 8%s expected", how->bits, how->observe ? "" : " or 4");
    if (full.block < LEAST_BLOCK || full.block > MOST_BLOCK || (full.block & (full.block - 1))) {
        err_set(e, TS_USAGE, "blocks of %d elements; a power of two from %d to %d expected", full.block, LEAST_BLOCK,
                MOST_BLOCK);
        return err_hint(e, "%d is usual: smaller blocks are more exact, larger ones take fewer bytes", DEFAULT_BLOCK);
    }
    return quantize(path, &full, to, what, e);
}
