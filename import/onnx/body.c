/* body.c - nodes, tensors and ports of one graph of an ONNX file, and of the graphs inside its nodes. */
#include "import/onnx/body.h"
#include "import/name.h"

#include <stdio.h>
#include <string.h>

/* protobuf-c gives NULL for a text that is not there; ONNX does not tell that from an empty one. */
const char *onnx_text(const char *s)
{
    return s ? s : "";
}

/* Both names of the standard's own domain become "". */
const char *onnx_domain(const char *s)
{
    return s && strcmp(s, "ai.onnx") ? s : "";
}

/* Functions of one name are told apart by an overload, from IR 10 on. */
const char *onnx_overload(arena *mem, const char *name, const char *overload)
{
    return overload && *overload ? arena_format(mem, "%s:%s", onnx_text(name), overload) : onnx_text(name);
}

/* ---- ports ---- */
/* A free extent without a name gets one, by which --dim can bind it: "ids.0". */
static bool read_extents(model_file *f, const Onnx__TensorShape *shape, ts_port *p, const char *what, err *e)
{
    if (shape->n_dim > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "M020 %s: rank %zu, limit %d", what, shape->n_dim, MAX_RANK);
    p->rank = (int)shape->n_dim;
    for (int i = 0; i < p->rank; i++) {
        const Onnx__Dimension *d = shape->dim[i];
        const bool named = d->dim_param && *d->dim_param;
        if (d->has_dim_value && d->dim_value < -1) /* some exporters write -1 for "unknown" */
            return err_set(e, TS_BAD_INPUT, "M020 %s: dim[%d] = %lld", what, i, (long long)d->dim_value);
        p->dim[i] = d->has_dim_value && !named ? d->dim_value : -1;
        if (p->dim[i] < 0)
            p->symbol[i] = named ? d->dim_param : arena_format(&f->mem, "%s.%d", p->name, i);
    }
    return true;
}

/* "os" for an optional sequence; *t becomes the type within. */
static const char *read_form(model_file *f, const Onnx__Type **t)
{
    enum { DEEP = 8 }; /* sequences and optionals in each other */
    char form[DEEP + 1];
    int n = 0;
    for (; n < DEEP && *t && ((*t)->sequence_type || (*t)->optional_type); n++) {
        form[n] = (*t)->sequence_type ? 's' : 'o';
        *t = (*t)->sequence_type ? (*t)->sequence_type->elem_type : (*t)->optional_type->elem_type;
    }
    form[n] = 0;
    return n ? arena_string(&f->mem, form) : NULL;
}

/* role: "input" or "output" of the model; NULL: of a graph inside, whose steps will tell what is not supported. An
 * output of texts or maps is what its step makes of it: places of labels, probabilities. */
static bool read_port(model_file *f, const Onnx__ValueInfo *v, const char *role, ts_port *p, err *e)
{
    char what[NAME_MOST + 32];
    const bool model = role != NULL, made = model && *role == 'o';
    *p = (ts_port){.name = onnx_text(v->name), .dtype = TS_N_DTYPE, .rank = -1};
    snprintf(what, sizeof what, "%s \"%s\"", model ? role : "port", p->name);
    const Onnx__Type *inner = v->type;
    p->form = read_form(f, &inner);
    const Onnx__TensorType *t = inner ? inner->tensor_type : NULL;
    if (!t) {
        const bool other = inner && (inner->map_type || inner->opaque_type || inner->sparse_tensor_type);
        if (made && inner && inner->map_type)
            p->form = NULL;
        else if (other && model) /* a type that says nothing is one that is not stated */
            model_file_refuse(f, "M030 %s is not a tensor", what);
        return true;
    }
    err own = {0};
    if (t->elem_type && !onnx_element(t->elem_type, what, &p->dtype, &own)) {
        if (own.code != TS_UNSUPPORTED)
            return err_set(e, own.code, "%s", own.text);
        if (model && !(made && t->elem_type == ONNX_STRING))
            model_file_refuse(f, "%s: %s", what, own.text);
    }
    return !t->shape || read_extents(f, t->shape, p, what, e);
}

/* Files before this list weights among the inputs because they have to; in later ones that says what may be given. */
enum { FIRST_IR_WITH_DEFAULTS = 4 };

static bool read_default(onnx_source *s, const Onnx__ValueInfo *v, held *h, err *e)
{
    ts_port *p = arena_get(&s->file->mem, sizeof *p);
    h->input = p;
    return read_port(s->file, v, NULL, p, e);
}

bool onnx_ports(onnx_source *s, const Onnx__Graph *g, const name_table *given, body *out, err *e)
{
    model_file *f = s->file;
    const bool model = out == &f->main;
    out->input = arena_array(&f->mem, g->n_input, sizeof *out->input);
    out->output = arena_array(&f->mem, g->n_output, sizeof *out->output);
    for (size_t i = 0; i < g->n_input; i++) {
        const int by = name_find(given, onnx_text(g->input[i]->name));
        if (by >= 0 && model && s->ir >= FIRST_IR_WITH_DEFAULTS && !read_default(s, g->input[i], &out->held[by], e))
            return false;
        if (by < 0) {
            if (out->n_input == ONNX_PORTS)
                return err_set(e, TS_BAD_INPUT, "M005 %zu inputs and initializers, at most %d inputs expected",
                               g->n_input, ONNX_PORTS);
            ts_port *p = &out->input[out->n_input++];
            if (!read_port(f, g->input[i], model ? "input" : NULL, p, e))
                return false;
            if (model && p->dtype == TS_N_DTYPE && f->n_refused == 0)
                return err_set(e, TS_BAD_INPUT, "M019 input \"%s\" has no element type, one that ONNX names expected",
                               p->name);
        }
    }
    if (g->n_output > ONNX_PORTS)
        return err_set(e, TS_BAD_INPUT, "M005 %zu outputs, at most %d expected", g->n_output, ONNX_PORTS);
    for (size_t i = 0; i < g->n_output; i++)
        if (!read_port(f, g->output[i], model ? "output" : NULL, &out->output[out->n_output++], e))
            return false;
    return true;
}

/* ---- attributes ---- */
static const struct {
    char letter;
    Onnx__Attribute__Kind kind;
} kinds[] = {{'f', ONNX__ATTRIBUTE__KIND__FLOAT},     {'i', ONNX__ATTRIBUTE__KIND__INT},
             {'s', ONNX__ATTRIBUTE__KIND__STRING},    {'t', ONNX__ATTRIBUTE__KIND__TENSOR},
             {'g', ONNX__ATTRIBUTE__KIND__GRAPH},     {'F', ONNX__ATTRIBUTE__KIND__FLOATS},
             {'I', ONNX__ATTRIBUTE__KIND__INTS},      {'S', ONNX__ATTRIBUTE__KIND__STRINGS},
             {'y', ONNX__ATTRIBUTE__KIND__TYPE_PROTO}};

Onnx__Attribute__Kind onnx_kind(char letter)
{
    for (int i = 0; i < COUNT(kinds); i++)
        if (kinds[i].letter == letter)
            return kinds[i].kind;
    return ONNX__ATTRIBUTE__KIND__UNDEFINED;
}

/* 0 where the file does not say, or a kind that steps do not have. */
static char letter_of(const Onnx__Attribute *a)
{
    for (int i = 0; a->has_type && i < COUNT(kinds); i++)
        if (kinds[i].kind == a->type)
            return kinds[i].letter;
    return 0;
}

static Onnx__Attribute__Kind kind_of(const Onnx__Attribute *a)
{
    if (a->has_type && a->type != ONNX__ATTRIBUTE__KIND__UNDEFINED)
        return a->type;
    /* Files older than the type field: whatever is there. */
    return a->has_f       ? ONNX__ATTRIBUTE__KIND__FLOAT
           : a->has_i     ? ONNX__ATTRIBUTE__KIND__INT
           : a->has_s     ? ONNX__ATTRIBUTE__KIND__STRING
           : a->t         ? ONNX__ATTRIBUTE__KIND__TENSOR
           : a->g         ? ONNX__ATTRIBUTE__KIND__GRAPH
           : a->n_floats  ? ONNX__ATTRIBUTE__KIND__FLOATS
           : a->n_ints    ? ONNX__ATTRIBUTE__KIND__INTS
           : a->n_strings ? ONNX__ATTRIBUTE__KIND__STRINGS
                          : ONNX__ATTRIBUTE__KIND__UNDEFINED;
}

/* f32 in the file; attributes have f64. */
static const double *reals_of(model_file *f, const Onnx__Attribute *a)
{
    double *v = arena_array(&f->mem, a->n_floats, sizeof *v);
    for (size_t i = 0; i < a->n_floats; i++)
        v[i] = (double)a->floats[i];
    return v;
}

/* A text of ours ends with a NUL byte: one within it would cut it short unseen. */
static bool read_word(model_file *f, const Onnx__Attribute *a, attr *out, err *e)
{
    if (a->s.len > 0 && memchr(a->s.data, 0, a->s.len))
        return err_set(e, TS_BAD_INPUT, "M017 attribute %s: a NUL byte in its text", out->name);
    out->kind = 's';
    out->s = arena_format(&f->mem, "%.*s", (int)a->s.len, a->s.data ? (const char *)a->s.data : "");
    return true;
}

/* Several texts are one of several lines. */
static bool read_words(model_file *f, const Onnx__Attribute *a, attr *out, err *e)
{
    ENDED_BY(text_free) text all = {0};
    for (size_t i = 0; i < a->n_strings; i++) {
        const ProtobufCBinaryData *s = &a->strings[i];
        if (s->len > 0 && (memchr(s->data, 0, s->len) || memchr(s->data, '\n', s->len)))
            return err_set(e, TS_UNSUPPORTED, "M030 attribute %s: text %zu is not one line", out->name, i);
        text_add(&all, "%s%.*s", i ? "\n" : "", (int)s->len, s->data ? (const char *)s->data : "");
    }
    out->kind = 'S', out->n = (int)a->n_strings, out->s = arena_string(&f->mem, text_str(&all));
    return true;
}

static bool read_tensor_attribute(onnx_source *s, const Onnx__Attribute *a, attr *out, const ts_array **tensor, err *e)
{
    ts_array *value = arena_get(&s->file->mem, sizeof *value);
    if (!a->t)
        return err_set(e, TS_BAD_INPUT, "M017 attribute %s: its tensor is missing", out->name);
    out->kind = 't';
    *tensor = value;
    return onnx_tensor(s, a->t, value, e);
}

/* TS_UNSUPPORTED: well-formed, but nothing that a step can carry. */
static bool read_attribute(onnx_source *s, const Onnx__Attribute *a, attr *out, const ts_array **tensor, err *e)
{
    *out = (attr){.name = onnx_text(a->name), .kind = '-'};
    if (a->ref_attr_name && *a->ref_attr_name) {
        out->kind = 'r', out->s = a->ref_attr_name, out->i = letter_of(a);
        return s->in_function ||
               err_set(e, TS_BAD_INPUT, "M017 attribute %s: refers to a function's attribute outside of functions",
                       out->name);
    }
    switch (kind_of(a)) {
    case ONNX__ATTRIBUTE__KIND__FLOAT: out->kind = 'f', out->f = (double)a->f; return true;
    case ONNX__ATTRIBUTE__KIND__INT: out->kind = 'i', out->i = a->i; return true;
    case ONNX__ATTRIBUTE__KIND__STRING: return read_word(s->file, a, out, e);
    case ONNX__ATTRIBUTE__KIND__STRINGS: return read_words(s->file, a, out, e);
    case ONNX__ATTRIBUTE__KIND__TENSOR: return read_tensor_attribute(s, a, out, tensor, e);
    case ONNX__ATTRIBUTE__KIND__INTS:
        *out = (attr){.name = out->name, .kind = 'I', .n = (int)a->n_ints, .ints = a->ints};
        return true;
    case ONNX__ATTRIBUTE__KIND__FLOATS:
        *out = (attr){.name = out->name, .kind = 'F', .n = (int)a->n_floats, .reals = reals_of(s->file, a)};
        return true;
    case ONNX__ATTRIBUTE__KIND__GRAPH:
        out->kind = 'g';
        return a->g || err_set(e, TS_BAD_INPUT, "M017 attribute %s: its graph is missing", out->name);
    case ONNX__ATTRIBUTE__KIND__TYPE_PROTO:
        out->kind = 'y';
        return a->tp || err_set(e, TS_BAD_INPUT, "M017 attribute %s: its type is missing", out->name);
    case ONNX__ATTRIBUTE__KIND__GRAPHS:
    case ONNX__ATTRIBUTE__KIND__TENSORS:
    case ONNX__ATTRIBUTE__KIND__SPARSE_TENSOR:
    case ONNX__ATTRIBUTE__KIND__SPARSE_TENSORS:
    case ONNX__ATTRIBUTE__KIND__TYPE_PROTOS:
        return err_set(e, TS_UNSUPPORTED,
                       "M030 attribute %s: sparse tensors, lists of graphs, tensors or types are not "
                       "supported",
                       out->name);
    default:
        return err_set(e, TS_BAD_INPUT, "M017 attribute %s: kind %d is none of the format's", out->name,
                       (int)kind_of(a));
    }
}

/* ---- steps ---- */
/* Few as a rule, then compared pair by pair; the limit of the scan allows enough for that to be slow. */
static bool has_twice(const Onnx__Node *n, const char **name)
{
    enum { FEW = 16 };
    ENDED_BY(arena_free) arena mem = {0};
    name_table seen = {.mem = &mem};
    bool twice = false;
    for (size_t i = 0; !twice && i < n->n_attribute; i++) {
        *name = onnx_text(n->attribute[i]->name);
        if (n->n_attribute > FEW)
            twice = name_add(&seen, *name, (int)i) != (int)i;
        else
            for (size_t k = 0; !twice && k < i; k++)
                twice = !strcmp(onnx_text(n->attribute[k]->name), *name);
    }
    return twice;
}

static bool read_graph(onnx_source *s, const Onnx__Graph *g, body *out, err *e)
{
    ENDED_BY(arena_free) arena scratch = {0};
    name_table given = {.mem = &scratch};
    return onnx_tensors(s, g, out, &given, e) && onnx_ports(s, g, &given, out, e) &&
           onnx_steps(s, g->n_node, g->node, out, e);
}

static bool read_graphs(onnx_source *s, size_t n, Onnx__Attribute *const *from, attr *list, step *out, err *e)
{
    for (size_t i = 0; i < n; i++)
        out->n_body += list[i].kind == 'g';
    out->body = arena_array(&s->file->mem, (size_t)out->n_body, sizeof *out->body);
    int k = 0;
    for (size_t i = 0; i < n; i++) {
        if (list[i].kind != 'g')
            continue;
        list[i].i = k;
        if (!read_graph(s, from[i]->g, &out->body[k++], e))
            return err_in(e, "%s", list[i].name);
    }
    return true;
}

static bool read_types(onnx_source *s, size_t n, Onnx__Attribute *const *from, attr *list, step *out, err *e)
{
    ts_port *all = arena_array(&s->file->mem, n, sizeof *all);
    int k = 0;
    for (size_t i = 0; i < n; i++) {
        if (list[i].kind != 'y')
            continue;
        const Onnx__ValueInfo v = {.name = (char *)(uintptr_t)list[i].name, .type = from[i]->tp};
        list[i].i = k;
        if (!read_port(s->file, &v, NULL, &all[k++], e))
            return err_in(e, "%s", list[i].name);
    }
    out->types = all;
    return true;
}

bool onnx_attributes(onnx_source *s, size_t n, Onnx__Attribute *const *from, step *out, err *e)
{
    attr *list = arena_array(&s->file->mem, n, sizeof *list);
    const ts_array **tensor = arena_array(&s->file->mem, n, sizeof *tensor);
    for (size_t i = 0; i < n; i++)
        if (!read_attribute(s, from[i], &list[i], &tensor[i], e))
            return false;
    out->n_attr = (int)n;
    out->attr = list;
    out->tensor = tensor;
    return read_types(s, n, from, list, out, e) && read_graphs(s, n, from, list, out, e);
}

/* Names in front of an error: node[3] "/layers.0/Add" Add. */
static bool in_node(const Onnx__Node *n, size_t i, err *e)
{
    return err_in(e, "node[%zu] \"%s\" %s", i, onnx_text(n->name), onnx_text(n->op_type));
}

static bool read_step(onnx_source *s, const Onnx__Node *n, size_t i, step *out, err *e)
{
    const char *twice;
    err own = {0};
    *out = (step){.type = onnx_overload(&s->file->mem, n->op_type, n->overload),
                  .domain = onnx_domain(n->domain),
                  .name = onnx_text(n->name)};
    out->n_in = (int)n->n_input, out->in = (const char *const *)n->input;
    out->n_out = (int)n->n_output, out->out = (const char *const *)n->output;
    if (!*out->type)
        err_set(&own, TS_BAD_INPUT, "M015 a node without an operator");
    else if (has_twice(n, &twice))
        err_set(&own, TS_BAD_INPUT, "M017 attribute %s is given twice", twice);
    else if (onnx_attributes(s, n->n_attribute, n->attribute, out, &own))
        return true;
    if (own.code != TS_UNSUPPORTED) {
        in_node(n, i, &own);
        return err_set(e, own.code, "%s", own.text);
    }
    out->refused = arena_string(&s->file->mem, own.text);
    return true;
}

bool onnx_steps(onnx_source *s, size_t n, Onnx__Node *const *from, body *out, err *e)
{
    out->step = arena_array(&s->file->mem, n, sizeof *out->step);
    for (size_t i = 0; i < n; i++)
        if (!read_step(s, from[i], i, &out->step[out->n_step++], e))
            return false;
    onnx_hold_constants(&s->file->mem, out);
    onnx_hold_texts(out);
    return true;
}

/* ---- tensors ---- */
bool onnx_tensors(onnx_source *s, const Onnx__Graph *g, body *out, name_table *given, err *e)
{
    model_file *f = s->file;
    out->held = arena_array(&f->mem, g->n_initializer + g->n_sparse_initializer, sizeof *out->held);
    for (size_t i = 0; i < g->n_initializer; i++) {
        held *h = &out->held[out->n_held];
        err own = {0};
        h->name = onnx_text(g->initializer[i]->name);
        name_add(given, h->name, out->n_held++);
        if (onnx_tensor(s, g->initializer[i], &h->value, &own))
            continue;
        if (own.code != TS_UNSUPPORTED)
            return err_set(e, own.code, "%s", own.text);
        h->refused = arena_string(&f->mem, own.text);
        onnx_text_places(&f->mem, g->initializer[i], &h->value);
    }
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        const Onnx__Tensor *values = g->sparse_initializer[i]->values;
        out->held[out->n_held] = (held){.name = onnx_text(values ? values->name : ""),
                                        .refused = "M030 a sparse tensor"};
        name_add(given, out->held[out->n_held].name, out->n_held);
        out->n_held++;
    }
    return true;
}
