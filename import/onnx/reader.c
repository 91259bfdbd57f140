/* reader.c - an ONNX file as values and steps. Only what belongs to the format is known here: its messages, its ways to
 * leave things out, its versions. What operators mean is the business of graph/ops. */
#include "import/name.h"
#include "import/names.h"
#include "import/onnx/scan.h"
#include "import/onnx/tensor.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { NEWEST_IR = 14, FIRST_IR_WITH_OPSETS = 3, NEWEST_OPSET = 28, MAX_PORTS = 4096 };

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static const char *domain_of(const char *s)
{
    return s && strcmp(s, "ai.onnx") ? s : "";
}

/* ---- versions ---- */
static bool read_opsets(model_file *f, const Onnx__Model *m, err *e)
{
    f->opset = arena_array(&f->mem, m->n_opset_import, sizeof *f->opset);
    for (size_t i = 0; i < m->n_opset_import; i++) {
        const char *domain = domain_of(m->opset_import[i]->domain);
        const int64_t version = m->opset_import[i]->version;
        if (version < 1)
            return err_set(e, TS_BAD_INPUT, "M010 opset %lld of domain \"%s\" is no version", (long long)version,
                           domain);
        if (!*domain && version > NEWEST_OPSET)
            return err_set(e, TS_UNSUPPORTED, "M010 opset %lld of domain \"\" is newer than %d", (long long)version,
                           NEWEST_OPSET);
        for (int k = 0; k < f->n_opset; k++)
            if (!strcmp(f->opset[k].domain, domain))
                return err_set(e, TS_BAD_INPUT, "M010 domain \"%s\" has two opsets, %d and %lld", domain,
                               f->opset[k].version, (long long)version);
        f->opset[f->n_opset++] = (opset){domain, version > INT_MAX ? INT_MAX : (int)version};
    }
    if (m->ir_version > NEWEST_IR)
        return err_set(e, TS_UNSUPPORTED, "M010 IR version %lld is newer than %d", (long long)m->ir_version, NEWEST_IR);
    if (f->n_opset > 0)
        return true;
    if (m->ir_version < FIRST_IR_WITH_OPSETS)
        return err_set(e, TS_UNSUPPORTED,
                       "M010 IR version %lld names no opset; the operators of opset 1 are not supported",
                       (long long)m->ir_version);
    return err_set(e, TS_BAD_INPUT, "M010 the model names no opset");
}

/* ---- ports ---- */
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

static bool read_port(model_file *f, const Onnx__ValueInfo *v, const char *role, ts_port *p, err *e)
{
    char what[NAME_MOST + 32];
    *p = (ts_port){.name = or_empty(v->name), .dtype = TS_N_DTYPE, .rank = -1};
    snprintf(what, sizeof what, "%s \"%s\"", role, p->name);
    const Onnx__TensorType *t = v->type ? v->type->tensor_type : NULL;
    if (!t) {
        if (v->type)
            model_file_refuse(f, "M030 %s is not a tensor", what);
        return true;
    }
    err own = {0};
    if (t->elem_type && !onnx_element(t->elem_type, what, &p->dtype, &own)) {
        if (own.code != TS_UNSUPPORTED)
            return err_set(e, own.code, "%s", own.text);
        model_file_refuse(f, "%s: %s", what, own.text);
    }
    return !t->shape || read_extents(f, t->shape, p, what, e);
}

/* A value given in the file is no input, even where it is listed as one: its default is what everybody means. */
static bool read_ports(model_file *f, const Onnx__Graph *g, const name_table *given, err *e)
{
    f->input = arena_array(&f->mem, g->n_input, sizeof *f->input);
    f->output = arena_array(&f->mem, g->n_output, sizeof *f->output);
    for (size_t i = 0; i < g->n_input; i++)
        if (name_find(given, or_empty(g->input[i]->name)) < 0) {
            if (f->n_input == MAX_PORTS)
                return err_set(e, TS_BAD_INPUT, "M005 more than %d inputs", MAX_PORTS);
            ts_port *p = &f->input[f->n_input++];
            if (!read_port(f, g->input[i], "input", p, e))
                return false;
            if (p->dtype == TS_N_DTYPE && f->n_refused == 0)
                return err_set(e, TS_BAD_INPUT, "M019 input \"%s\" has no element type", p->name);
        }
    if (g->n_output > MAX_PORTS)
        return err_set(e, TS_BAD_INPUT, "M005 more than %d outputs", MAX_PORTS);
    for (size_t i = 0; i < g->n_output; i++)
        if (!read_port(f, g->output[i], "output", &f->output[f->n_output++], e))
            return false;
    if (f->n_output == 0)
        return err_set(e, TS_BAD_INPUT, "M011 the model's graph has no outputs");
    return true;
}

/* ---- attributes ---- */
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

static const double *reals_of(model_file *f, const Onnx__Attribute *a)
{
    double *v = arena_array(&f->mem, a->n_floats, sizeof *v);
    for (size_t i = 0; i < a->n_floats; i++)
        v[i] = (double)a->floats[i];
    return v;
}

static bool read_word(model_file *f, const Onnx__Attribute *a, attr *out, err *e)
{
    if (a->s.len > 0 && memchr(a->s.data, 0, a->s.len))
        return err_set(e, TS_BAD_INPUT, "M017 attribute %s: a NUL byte in its text", out->name);
    out->kind = 's';
    out->s = arena_format(&f->mem, "%.*s", (int)a->s.len, a->s.data ? (const char *)a->s.data : "");
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
    *out = (attr){.name = or_empty(a->name), .kind = '-'};
    if (a->ref_attr_name && *a->ref_attr_name)
        return err_set(e, TS_BAD_INPUT, "M017 attribute %s: refers to a function's attribute outside of functions",
                       out->name);
    switch (kind_of(a)) {
    case ONNX__ATTRIBUTE__KIND__FLOAT: out->kind = 'f', out->f = (double)a->f; return true;
    case ONNX__ATTRIBUTE__KIND__INT: out->kind = 'i', out->i = a->i; return true;
    case ONNX__ATTRIBUTE__KIND__STRING: return read_word(s->file, a, out, e);
    case ONNX__ATTRIBUTE__KIND__TENSOR: return read_tensor_attribute(s, a, out, tensor, e);
    case ONNX__ATTRIBUTE__KIND__INTS:
        *out = (attr){.name = out->name, .kind = 'I', .n = (int)a->n_ints, .ints = a->ints};
        return true;
    case ONNX__ATTRIBUTE__KIND__FLOATS:
        *out = (attr){.name = out->name, .kind = 'F', .n = (int)a->n_floats, .reals = reals_of(s->file, a)};
        return true;
    case ONNX__ATTRIBUTE__KIND__GRAPH:
    case ONNX__ATTRIBUTE__KIND__GRAPHS: return err_set(e, TS_UNSUPPORTED, "M030 control flow is not supported");
    case ONNX__ATTRIBUTE__KIND__STRINGS:
    case ONNX__ATTRIBUTE__KIND__TENSORS:
    case ONNX__ATTRIBUTE__KIND__SPARSE_TENSOR:
    case ONNX__ATTRIBUTE__KIND__SPARSE_TENSORS:
    case ONNX__ATTRIBUTE__KIND__TYPE_PROTO:
    case ONNX__ATTRIBUTE__KIND__TYPE_PROTOS:
        return err_set(e, TS_UNSUPPORTED, "M030 attribute %s: strings, sparse tensors and types are not supported",
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
    arena mem = {0};
    name_table seen = {.mem = &mem};
    bool twice = false;
    for (size_t i = 0; !twice && i < n->n_attribute; i++) {
        *name = or_empty(n->attribute[i]->name);
        if (n->n_attribute > FEW)
            twice = name_add(&seen, *name, (int)i) != (int)i;
        else
            for (size_t k = 0; !twice && k < i; k++)
                twice = !strcmp(or_empty(n->attribute[k]->name), *name);
    }
    arena_free(&mem);
    return twice;
}

static bool read_attributes(onnx_source *s, const Onnx__Node *n, step *out, err *e)
{
    attr *list = arena_array(&s->file->mem, n->n_attribute, sizeof *list);
    const ts_array **tensor = arena_array(&s->file->mem, n->n_attribute, sizeof *tensor);
    for (size_t i = 0; i < n->n_attribute; i++)
        if (!read_attribute(s, n->attribute[i], &list[i], &tensor[i], e))
            return false;
    out->n_attr = (int)n->n_attribute;
    out->attr = list;
    out->tensor = tensor;
    return true;
}

/* Names in front of an error: node[3] "/layers.0/Add" Add. */
static bool in_node(const Onnx__Node *n, size_t i, err *e)
{
    return err_in(e, "node[%zu] \"%s\" %s", i, or_empty(n->name), or_empty(n->op_type));
}

static bool read_step(onnx_source *s, const Onnx__Node *n, size_t i, err *e)
{
    model_file *f = s->file;
    step *out = &f->step[f->n_step++];
    const char *twice;
    err own = {0};
    *out = (step){.type = or_empty(n->op_type), .domain = domain_of(n->domain), .name = or_empty(n->name)};
    out->n_in = (int)n->n_input, out->in = (const char *const *)n->input;
    out->n_out = (int)n->n_output, out->out = (const char *const *)n->output;
    if (!*out->type)
        err_set(&own, TS_BAD_INPUT, "M015 a node without an operator");
    else if (has_twice(n, &twice))
        err_set(&own, TS_BAD_INPUT, "M017 attribute %s is given twice", twice);
    else if (read_attributes(s, n, out, &own))
        return true;
    if (own.code != TS_UNSUPPORTED) {
        in_node(n, i, &own);
        return err_set(e, own.code, "%s", own.text);
    }
    out->refused = arena_string(&f->mem, own.text);
    return true;
}

static bool read_steps(onnx_source *s, const Onnx__Graph *g, err *e)
{
    s->file->step = arena_array(&s->file->mem, g->n_node, sizeof *s->file->step);
    for (size_t i = 0; i < g->n_node; i++)
        if (!read_step(s, g->node[i], i, e))
            return false;
    return true;
}

/* Calls of functions that the file itself defines: a definition of its own wins over a known operator of the same name.
 */
static void refuse_functions(model_file *f, const Onnx__Model *m)
{
    arena scratch = {0};
    name_table local = {.mem = &scratch};
    for (size_t i = 0; i < m->n_functions; i++)
        name_add(&local,
                 arena_format(&scratch, "%s.%s", domain_of(m->functions[i]->domain), or_empty(m->functions[i]->name)),
                 0);
    for (int i = 0; m->n_functions > 0 && i < f->n_step; i++)
        if (name_find(&local, arena_format(&scratch, "%s.%s", f->step[i].domain, f->step[i].type)) >= 0)
            f->step[i].refused = "M030 a function that the model itself defines";
    arena_free(&scratch);
}

/* ---- tensors ---- */
static bool read_tensors(onnx_source *s, const Onnx__Graph *g, name_table *given, err *e)
{
    model_file *f = s->file;
    f->held = arena_array(&f->mem, g->n_initializer + g->n_sparse_initializer, sizeof *f->held);
    for (size_t i = 0; i < g->n_initializer; i++) {
        held *h = &f->held[f->n_held];
        err own = {0};
        h->name = or_empty(g->initializer[i]->name);
        name_add(given, h->name, f->n_held++);
        if (onnx_tensor(s, g->initializer[i], &h->value, &own))
            continue;
        if (own.code != TS_UNSUPPORTED)
            return err_set(e, own.code, "%s", own.text);
        h->refused = arena_string(&f->mem, own.text);
    }
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        const Onnx__Tensor *values = g->sparse_initializer[i]->values;
        f->held[f->n_held] = (held){.name = or_empty(values ? values->name : ""), .refused = "M030 a sparse tensor"};
        name_add(given, f->held[f->n_held].name, f->n_held);
        f->n_held++;
    }
    return true;
}

/* ---- the file ---- */
static void *from_arena(void *mem, size_t size)
{
    return arena_get(mem, size);
}

static void leave(void *mem, void *p)
{
    (void)mem, (void)p;
}

/* The scanned message, unpacked into the file's arena. */
static const Onnx__Model *unpack(model_file *f, err *e)
{
    ProtobufCAllocator a = {.alloc = from_arena, .free = leave, .allocator_data = &f->mem};
    text lean = {0};
    const Onnx__Model *m = NULL;
    if (onnx_scan(f->map.at, f->map.size, &onnx__model__descriptor, &lean, e)) {
        m = onnx__model__unpack(&a, lean.len, (const uint8_t *)lean.s);
        if (!m)
            err_set(e, TS_BAD_INPUT, "M003 bad wire data that the scan let pass");
    }
    text_free(&lean);
    return m;
}

static bool read_model(model_file *f, const Onnx__Model *m, err *e)
{
    arena scratch = {0};
    name_table given = {.mem = &scratch};
    onnx_source s = {.file = f};
    f->name = or_empty(m->graph ? m->graph->name : "");
    const bool ok = m->graph ? read_opsets(f, m, e) && read_tensors(&s, m->graph, &given, e) &&
                                   read_ports(f, m->graph, &given, e) && read_steps(&s, m->graph, e)
                             : err_set(e, TS_BAD_INPUT, "M011 model has no graph");
    arena_free(&scratch);
    if (ok)
        refuse_functions(f, m);
    return ok;
}

static bool is_onnx(const char *path, const unsigned char *head, size_t n)
{
    const size_t len = strlen(path);
    if (len > 5 && !strcmp(path + len - 5, ".onnx"))
        return true;
    return n > 1 && head[0] == 0x08 && head[1] <= NEWEST_IR; /* field 1, the IR version: how writers begin */
}

static bool read_onnx(const char *path, model_file *out, err *e)
{
    if (!file_map(path, &out->map, e) || !external_open(&out->external, &out->mem, path, e))
        return false;
    const Onnx__Model *m = unpack(out, e);
    const bool ok = m && read_model(out, m, e);
    external_close(&out->external);
    return ok || err_in(e, "%s", path);
}

const reader reader_onnx = {.name = "onnx",
                            .doc = "ONNX, opset 7 to 28, with external data",
                            .in_folder = "model.onnx",
                            .is = is_onnx,
                            .read = read_onnx};
