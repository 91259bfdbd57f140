/* write.c - a network as an ONNX file. Messages point at the numbers where they lie and are streamed, so that a model
 * of any size takes little memory. Numbers stand in the file itself up to the two gigabytes that a message may have, in
 * a file beside it from there on. */
#include "graph/ir/rule.h"
#include "import/onnx/body.h"
#include "import/onnx/write.h"
#include "import/writer.h"

#include <string.h>

typedef struct maker {
    arena *mem;
    const model_file *f;
    const char *beside; /* name of the file for numbers; NULL: everything in one file */
    int64_t offset;     /* of the next tensor in it */
} maker;

/* The format's version that came with an operator set (its Versioning document); functions came with version 8. */
static int ir_version(const model_file *f)
{
    enum { FIRST_WITH_FUNCTIONS = 8 };
    static const struct {
        int opset, ir;
    } table[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}, {13, 7}, {11, 6}, {10, 5}};
    for (int i = 0; i < f->n_opset; i++)
        for (int k = 0; !*f->opset[i].domain && k < COUNT(table); k++)
            if (f->opset[i].version >= table[k].opset)
                return f->n_function && table[k].ir < FIRST_WITH_FUNCTIONS ? FIRST_WITH_FUNCTIONS : table[k].ir;
    return f->n_function ? FIRST_WITH_FUNCTIONS : 4; /* 4: the first in which tensors need not be inputs */
}

/* protobuf-c's structures have no const. */
static char *loose(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void *made(maker *w, const ProtobufCMessageDescriptor *what) /* a message with nothing in it */
{
    void *message = arena_get(w->mem, what->sizeof_message);
    protobuf_c_message_init(what, message);
    return message;
}

/* ---- tensors ---- */
/* Elements of fewer than 8 bits share bytes in a file, the first one in the lowest bits. */
static int shared(dtype d)
{
    return dtype_bits(d) < 8 ? 8 / dtype_bits(d) : 1;
}

static int64_t bytes_of(const ts_array *a)
{
    const int each = shared(a->dtype);
    return (ts_array_count(a) + each - 1) / each * ts_dtype_bytes(a->dtype);
}

static void *packed(maker *w, const ts_array *a)
{
    const int each = shared(a->dtype), bits = dtype_bits(a->dtype);
    const uint8_t *from = a->data;
    if (each == 1)
        return a->data;
    uint8_t *to = arena_array(w->mem, (size_t)bytes_of(a) + 1, 1);
    for (int64_t i = 0, n = ts_array_count(a); i < n; i++)
        to[i / each] |= (uint8_t)((from[i] & ((1 << bits) - 1)) << (bits * (int)(i % each)));
    return to;
}

static void add_entry(maker *w, Onnx__Tensor *t, const char *key, const char *value)
{
    Onnx__StringStringEntry *one = made(w, &onnx__string_string_entry__descriptor);
    one->key = loose(key), one->value = loose(value);
    t->external_data[t->n_external_data++] = one;
}

static void place_beside(maker *w, Onnx__Tensor *t, int64_t size)
{
    t->external_data = arena_array(w->mem, 3, sizeof(void *));
    add_entry(w, t, "location", w->beside);
    add_entry(w, t, "offset", arena_format(w->mem, "%lld", (long long)w->offset));
    add_entry(w, t, "length", arena_format(w->mem, "%lld", (long long)size));
    t->has_data_location = true, t->data_location = 1;
    w->offset += (size + ONNX_ALIGNMENT - 1) / ONNX_ALIGNMENT * ONNX_ALIGNMENT;
}

static bool is_beside(const maker *w, const ts_array *a)
{
    return w->beside && shared(a->dtype) == 1 && bytes_of(a) >= ONNX_SMALL;
}

static Onnx__Tensor *make_tensor(maker *w, const char *name, const ts_array *a, bool may_leave)
{
    Onnx__Tensor *t = made(w, &onnx__tensor__descriptor);
    t->name = *name ? loose(name) : NULL;
    t->has_data_type = true, t->data_type = onnx_code(a->dtype);
    t->n_dims = (size_t)a->rank;
    t->dims = arena_array(w->mem, t->n_dims, sizeof *t->dims);
    for (int i = 0; i < a->rank; i++)
        t->dims[i] = a->dim[i];
    if (may_leave && is_beside(w, a)) {
        place_beside(w, t, bytes_of(a));
        return t;
    }
    t->has_raw_data = true;
    t->raw_data = (ProtobufCBinaryData){.len = (size_t)bytes_of(a), .data = packed(w, a)};
    return t;
}

/* ---- ports ---- */
static Onnx__Dimension *make_dimension(maker *w, const ts_port *p, int i)
{
    Onnx__Dimension *d = made(w, &onnx__dimension__descriptor);
    if (p->dim[i] >= 0)
        d->has_dim_value = true, d->dim_value = p->dim[i];
    else
        d->dim_param = loose(p->symbol[i]);
    return d;
}

static Onnx__Type *make_tensor_type(maker *w, const ts_port *p)
{
    Onnx__Type *of = made(w, &onnx__type__descriptor);
    Onnx__TensorType *t = of->tensor_type = made(w, &onnx__tensor_type__descriptor);
    t->has_elem_type = true, t->elem_type = onnx_code(p->dtype);
    if (p->rank < 0)
        return of;
    t->shape = made(w, &onnx__tensor_shape__descriptor);
    t->shape->n_dim = (size_t)p->rank;
    t->shape->dim = arena_array(w->mem, t->shape->n_dim, sizeof(void *));
    for (int i = 0; i < p->rank; i++)
        t->shape->dim[i] = make_dimension(w, p, i);
    return of;
}

/* What holds tensors of type `inner`, one step of a form further out. */
static Onnx__Type *make_holder(maker *w, char kind, Onnx__Type *inner)
{
    Onnx__Type *of = made(w, &onnx__type__descriptor);
    if (kind == 's') {
        of->sequence_type = made(w, &onnx__sequence_type__descriptor);
        of->sequence_type->elem_type = inner;
    } else {
        of->optional_type = made(w, &onnx__optional_type__descriptor);
        of->optional_type->elem_type = inner;
    }
    return of;
}

static Onnx__Type *make_type(maker *w, const ts_port *p)
{
    Onnx__Type *of = make_tensor_type(w, p);
    for (size_t n = p->form ? strlen(p->form) : 0; n > 0; n--)
        of = make_holder(w, p->form[n - 1], of);
    return of;
}

/* Graphs further in may leave the types of their inputs and outputs to their nodes. */
static Onnx__ValueInfo *make_port(maker *w, const ts_port *p)
{
    Onnx__ValueInfo *v = made(w, &onnx__value_info__descriptor);
    v->name = loose(p->name);
    if (p->dtype == TS_N_DTYPE)
        return v;
    v->type = make_type(w, p);
    return v;
}

static Onnx__ValueInfo **make_ports(maker *w, int n, const ts_port *p)
{
    Onnx__ValueInfo **all = arena_array(w->mem, (size_t)n, sizeof *all);
    for (int i = 0; i < n; i++)
        all[i] = make_port(w, &p[i]);
    return all;
}

/* ---- nodes ---- */
static float *make_floats(maker *w, const attr *a)
{
    float *v = arena_array(w->mem, (size_t)a->n, sizeof *v);
    for (int i = 0; i < a->n; i++)
        v[i] = (float)a->reals[i];
    return v;
}

static void make_texts(maker *w, const attr *a, Onnx__Attribute *out)
{
    const char *s = a->s;
    out->strings = arena_array(w->mem, (size_t)a->n, sizeof *out->strings);
    for (int i = 0; i < a->n; i++) {
        const size_t n = strcspn(s, "\n");
        out->strings[out->n_strings++] = (ProtobufCBinaryData){.len = n, .data = (uint8_t *)loose(s)};
        s += n + 1;
    }
}

static bool make_graph(maker *w, const body *b, bool outermost, Onnx__Graph **out, err *e);

static bool make_attribute(maker *w, const step *s, int i, Onnx__Attribute **out, err *e)
{
    const attr *a = &s->attr[i];
    Onnx__Attribute *m = *out = made(w, &onnx__attribute__descriptor);
    m->name = loose(a->name);
    m->has_type = true;
    m->type = onnx_kind((char)(a->kind == 'r' ? a->i : a->kind));
    switch (a->kind) {
    case 'i': m->has_i = true, m->i = a->i; return true;
    case 'f': m->has_f = true, m->f = (float)a->f; return true;
    case 's':
        m->has_s = true, m->s = (ProtobufCBinaryData){.len = strlen(a->s), .data = (uint8_t *)loose(a->s)};
        return true;
    case 'I': m->n_ints = (size_t)a->n, m->ints = (int64_t *)(uintptr_t)a->ints; return true;
    case 'F': m->n_floats = (size_t)a->n, m->floats = make_floats(w, a); return true;
    case 'S': make_texts(w, a, m); return true;
    case 't': m->t = make_tensor(w, "", s->tensor[i], false); return true;
    case 'y': m->tp = make_type(w, &s->types[a->i]); return true;
    case 'g': return make_graph(w, &s->body[a->i], false, &m->g, e);
    case 'r': m->has_type = m->type != ONNX__ATTRIBUTE__KIND__UNDEFINED, m->ref_attr_name = loose(a->s); return true;
    default: return err_set(e, TS_UNSUPPORTED, "attribute %s: nothing that ONNX has", a->name);
    }
}

static bool make_node(maker *w, const step *s, Onnx__Node **out, err *e)
{
    Onnx__Node *n = *out = made(w, &onnx__node__descriptor);
    if (s->refused)
        return err_set(e, TS_UNSUPPORTED, "%s \"%s\": %s", s->type, s->name, s->refused);
    n->op_type = loose(s->type), n->domain = *s->domain ? loose(s->domain) : NULL;
    n->name = *s->name ? loose(s->name) : NULL;
    n->n_input = (size_t)s->n_in, n->input = (char **)(uintptr_t)s->in;
    n->n_output = (size_t)s->n_out, n->output = (char **)(uintptr_t)s->out;
    n->attribute = arena_array(w->mem, (size_t)s->n_attr, sizeof *n->attribute);
    for (int i = 0; i < s->n_attr; i++, n->n_attribute++)
        if (!make_attribute(w, s, i, &n->attribute[i], e))
            return err_in(e, "%s \"%s\"", s->type, s->name);
    return true;
}

/* ---- graphs ---- */
static bool make_graph(maker *w, const body *b, bool outermost, Onnx__Graph **out, err *e)
{
    Onnx__Graph *g = *out = made(w, &onnx__graph__descriptor);
    g->name = outermost && *w->f->name ? loose(w->f->name) : loose("graph");
    g->n_input = (size_t)b->n_input, g->input = make_ports(w, b->n_input, b->input);
    g->n_output = (size_t)b->n_output, g->output = make_ports(w, b->n_output, b->output);
    g->initializer = arena_array(w->mem, (size_t)b->n_held, sizeof *g->initializer);
    for (int i = 0; i < b->n_held; i++) {
        if (b->held[i].refused)
            return err_set(e, TS_UNSUPPORTED, "tensor \"%s\": %s", b->held[i].name, b->held[i].refused);
        g->initializer[g->n_initializer++] = make_tensor(w, b->held[i].name, &b->held[i].value, outermost);
    }
    g->node = arena_array(w->mem, (size_t)b->n_step, sizeof *g->node);
    for (int i = 0; i < b->n_step; i++, g->n_node++)
        if (!make_node(w, &b->step[i], &g->node[i], e))
            return false;
    return true;
}

static Onnx__OperatorSetId **make_opsets(maker *w, int n, const opset *list)
{
    Onnx__OperatorSetId **all = arena_array(w->mem, (size_t)n, sizeof *all);
    for (int i = 0; i < n; i++) {
        Onnx__OperatorSetId *id = all[i] = made(w, &onnx__operator_set_id__descriptor);
        id->domain = loose(list[i].domain);
        id->has_version = true, id->version = list[i].version;
    }
    return all;
}

/* ---- functions ---- */

/* A function holds no tensors: nodes make them. */
static Onnx__Node *make_constant(maker *w, const held *h)
{
    Onnx__Node *n = made(w, &onnx__node__descriptor);
    Onnx__Attribute *a = made(w, &onnx__attribute__descriptor);
    n->op_type = loose("Constant");
    n->n_output = 1, n->output = arena_array(w->mem, 1, sizeof(char *)), n->output[0] = loose(h->name);
    n->n_attribute = 1, n->attribute = arena_array(w->mem, 1, sizeof(void *)), n->attribute[0] = a;
    a->name = loose("value"), a->has_type = true, a->type = onnx_kind('t');
    a->t = make_tensor(w, "", &h->value, false);
    return n;
}

static char **names_of(maker *w, int n, const ts_port *p)
{
    char **name = arena_array(w->mem, (size_t)n, sizeof *name);
    for (int i = 0; i < n; i++)
        name[i] = loose(p[i].name);
    return name;
}

/* Attributes that the body refers to, and that have no default: what a call gives. */
static void add_wanted(maker *w, const function *f, const body *b, Onnx__Function *out)
{
    for (int i = 0; i < b->n_step; i++)
        for (int k = 0; k < b->step[i].n_attr; k++) {
            const attr *a = &b->step[i].attr[k];
            bool known = a->kind != 'r';
            if (a->kind == 'g')
                add_wanted(w, f, &b->step[i].body[a->i], out);
            for (int j = 0; !known && j < f->n_attr; j++)
                known = !strcmp(f->attr[j].name, a->s);
            for (size_t j = 0; !known && j < out->n_attribute; j++)
                known = !strcmp(out->attribute[j], a->s);
            if (known)
                continue;
            out->attribute = arena_joined(w->mem, out->attribute, (int)out->n_attribute, NULL, 1, sizeof(char *));
            out->attribute[out->n_attribute++] = loose(a->s);
        }
}

static bool make_function(maker *w, const function *f, Onnx__Function **out, err *e)
{
    Onnx__Function *m = *out = made(w, &onnx__function__descriptor);
    const step defaults = {.n_attr = f->n_attr, .attr = f->attr, .tensor = f->tensor};
    const body *b = &f->body;
    m->name = loose(f->name), m->domain = loose(f->domain);
    m->n_input = (size_t)b->n_input, m->input = names_of(w, b->n_input, b->input);
    m->n_output = (size_t)b->n_output, m->output = names_of(w, b->n_output, b->output);
    m->opset_import = make_opsets(w, f->n_opset, f->opset), m->n_opset_import = (size_t)f->n_opset;
    m->attribute_proto = arena_array(w->mem, (size_t)f->n_attr, sizeof *m->attribute_proto);
    for (int i = 0; i < f->n_attr; i++, m->n_attribute_proto++)
        if (!make_attribute(w, &defaults, i, &m->attribute_proto[i], e))
            return false;
    add_wanted(w, f, b, m);
    m->node = arena_array(w->mem, (size_t)b->n_held + (size_t)b->n_step, sizeof *m->node);
    for (int i = 0; i < b->n_held; i++)
        m->node[m->n_node++] = make_constant(w, &b->held[i]);
    for (int i = 0; i < b->n_step; i++, m->n_node++)
        if (!make_node(w, &b->step[i], &m->node[m->n_node], e))
            return false;
    return true;
}

static bool make_functions(maker *w, Onnx__Model *m, err *e)
{
    const model_file *f = w->f;
    m->functions = arena_array(w->mem, (size_t)f->n_function, sizeof *m->functions);
    for (int i = 0; i < f->n_function; i++, m->n_functions++)
        if (!make_function(w, &f->function[i], &m->functions[i], e))
            return err_in(e, "function %s.%s", f->function[i].domain, f->function[i].name);
    return true;
}

/* ---- the model ---- */
static bool make_model(maker *w, Onnx__Model *m, err *e)
{
    onnx__model__init(m);
    if (w->f->n_scalar > 0) {
        err_set(e, TS_UNSUPPORTED, "ONNX has no form for scalar functions, as %s", w->f->scalar[0].head);
        return err_hint(e, "save the model as json");
    }
    m->has_ir_version = true, m->ir_version = ir_version(w->f);
    m->producer_name = loose("tessera"), m->producer_version = loose(TS_VERSION);
    m->opset_import = make_opsets(w, w->f->n_opset, w->f->opset), m->n_opset_import = (size_t)w->f->n_opset;
    return make_graph(w, &w->f->main, true, &m->graph, e) && make_functions(w, m, e);
}

/* ---- files ---- */
static bool save_beside(const maker *w, const char *folder, err *e)
{
    static const char zero[ONNX_ALIGNMENT];
    saver *s = saver_open(arena_format(w->mem, "%s%s", folder, w->beside), (size_t)w->offset);
    for (int i = 0; i < w->f->main.n_held; i++) {
        const ts_array *a = &w->f->main.held[i].value;
        if (!is_beside(w, a))
            continue;
        const size_t n = (size_t)bytes_of(a), rest = n % ONNX_ALIGNMENT;
        saver_add(s, a->data, n);
        saver_add(s, zero, rest ? ONNX_ALIGNMENT - rest : 0);
    }
    return saver_close(s, e);
}

typedef struct stream {
    ProtobufCBuffer base; /* first: protobuf-c gets a pointer to it */
    saver *to;
} stream;

static void append(ProtobufCBuffer *b, size_t n, const uint8_t *data)
{
    saver_add(((stream *)b)->to, data, n);
}

static bool write_onnx(const model_file *f, const char *path, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    maker w = {.mem = &mem, .f = f};
    Onnx__Model m;
    int64_t total = 0;
    for (int i = 0; i < f->main.n_held; i++)
        total += bytes_of(&f->main.held[i].value);
    if (total > ONNX_INLINE)
        w.beside = arena_format(&mem, "%s.data", base);
    bool ok = make_model(&w, &m, e) &&
              (!w.beside || save_beside(&w, arena_format(&mem, "%.*s", (int)(base - path), path), e));
    if (ok) {
        stream to = {{append}, saver_open(path, onnx__model__get_packed_size(&m))};
        onnx__model__pack_to_buffer(&m, &to.base);
        ok = saver_close(to.to, e);
    }
    return ok;
}

const writer writer_onnx = {
    .name = "onnx",
    .suffix = ".onnx",
    .typed = true,
    .write = write_onnx,
};
