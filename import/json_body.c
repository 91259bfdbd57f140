/* json_body.c - what a graph of graph/1 consists of, wherever it stands: ports, constants, nodes with their attributes,
 * graphs among them. */
#include "import/json_parts.h"

#include <string.h>

enum { FORM_DEPTH = 8 };

/* "" and "ai.onnx" are one domain: given twice, both have to be the same. */
bool json_opsets(arena *mem, const json *root, opset **out, int *n, err *e)
{
    const json *all;
    int64_t version;
    if (!json_need(root, "opset", JSON_OBJECT, &all, e))
        return false;
    *out = arena_array(mem, json_count(all), sizeof **out);
    for (const json *i = all->first; i; i = i->next) {
        if (json_comment(i))
            continue;
        err own = {0};
        if (!json_whole(i, &version))
            return json_expect(i, "an operator set's version from 1 on", e);
        if (!opset_add(*out, n, strcmp(i->key, "ai.onnx") ? i->key : "", version, &own))
            return json_refuse(e, i, own.code, "%s", own.text);
    }
    return true;
}

/* ---- ports ---- */

/* ["optional", "sequence"]: what holds the tensors, from outside in. */
static bool read_form(arena *mem, const json *list, const char **out, err *e)
{
    char form[FORM_DEPTH + 1];
    int n = 0;
    for (const json *i = list->first; i; i = i->next) {
        const bool sequence = i->kind == JSON_TEXT && !strcmp(i->text, "sequence");
        if ((!sequence && (i->kind != JSON_TEXT || strcmp(i->text, "optional"))) || n == FORM_DEPTH)
            return json_refuse(e, i, TS_BAD_INPUT, "a form is a list of \"sequence\" and \"optional\", at most %d",
                               FORM_DEPTH);
        form[n++] = sequence ? 's' : 'o';
    }
    form[n] = 0;
    *out = n ? arena_string(mem, form) : NULL;
    return true;
}

/* The dtype, shape and form of a port, of an object whose keys are checked. Shapes may be left to the values, dtypes to
 * the nodes. */
static bool read_port_type(arena *mem, const json *v, bool typed, ts_port *out, err *e)
{
    const json *dtype_given, *shape, *form;
    *out = (ts_port){.name = out->name, .dtype = TS_N_DTYPE, .rank = -1};
    if (!(typed ? json_need : json_member)(v, "dtype", JSON_TEXT, &dtype_given, e) ||
        !json_member(v, "shape", JSON_LIST, &shape, e) || !json_member(v, "form", JSON_LIST, &form, e))
        return false;
    return (!dtype_given || json_dtype(dtype_given, &out->dtype, e)) && (!shape || json_shape(shape, out, e)) &&
           (!form || read_form(mem, form, &out->form, e));
}

/* typed: the dtype must be there, as of a model's inputs. */
static bool read_port(arena *mem, const json *v, bool typed, ts_port *out, err *e)
{
    return json_want(v, JSON_OBJECT, e) && json_known(v, "name dtype shape form", e) &&
           json_need_name(v, "name", &out->name, e) && read_port_type(mem, v, typed, out, e);
}

/* No list is an empty one. */
bool json_ports(json_source *s, const json *list, bool typed, ts_port **out, int *n, err *e)
{
    *out = arena_array(s->mem, json_count(list), sizeof **out);
    for (const json *i = list ? list->first : NULL; i; i = i->next)
        if (!read_port(s->mem, i, typed, &(*out)[(*n)++], e))
            return false;
    return true;
}

/* Behind those that the weights' file gave; names of both are compared where links are made. */
bool json_constants(json_source *s, const json *root, body *out, err *e)
{
    const json *all;
    if (!json_member(root, "constants", JSON_OBJECT, &all, e))
        return false;
    held *list = arena_array(s->mem, json_count(all), sizeof *list);
    int n = 0;
    for (const json *i = all ? all->first : NULL; i; i = i->next) {
        if (json_comment(i))
            continue;
        list[n].name = i->key;
        if (!json_tensor(s, i, &list[n++], e))
            return false;
    }
    out->held = arena_joined(s->mem, out->held, out->n_held, list, n, sizeof *list);
    out->n_held += n;
    return true;
}

/* ---- attributes ---- */

static const dtype attribute_real = TS_F32; /* as in ONNX */

/* Whole numbers unless one of them has a point, or the list says that it is of reals. */
static bool read_numbers(arena *mem, const json *v, attr *out, err *e)
{
    const size_t n = json_count(v);
    int64_t *whole = arena_array(mem, n, sizeof *whole);
    double *real = arena_array(mem, n, sizeof *real);
    bool all_whole = true;
    for (const json *i = v->first; i; i = i->next, out->n++) {
        if (!json_real(i, attribute_real, &real[out->n], e))
            return false;
        all_whole = all_whole && json_whole(i, &whole[out->n]);
    }
    out->kind = all_whole && out->kind != 'F' ? 'I' : 'F';
    out->ints = out->kind == 'I' ? whole : NULL, out->reals = out->kind == 'F' ? real : NULL;
    return true;
}

/* Kept as one text of several lines, so that no text may hold a line feed. */
static bool read_texts(arena *mem, const json *v, attr *out, err *e)
{
    ENDED_BY(text_free) text all = {0};
    for (const json *i = v->first; i; i = i->next, out->n++) {
        if (i->kind != JSON_TEXT || strchr(i->text, '\n'))
            return json_expect(i, "a text of one line", e);
        text_add(&all, "%s%s", out->n ? "\n" : "", i->text);
    }
    out->kind = 'S', out->s = arena_string(mem, text_str(&all));
    return true;
}

/* Texts unless all of them are numbers in words. */
static bool read_list(arena *mem, const json *v, attr *out, err *e)
{
    bool real = true;
    for (const json *i = v->first; i; i = i->next)
        real = real && (i->kind != JSON_TEXT || json_is_real(i));
    return real ? read_numbers(mem, v, out, e) : read_texts(mem, v, out, e);
}

/* What would read as another kind says its own: {"float": "NaN"}, {"floats": []}, {"strings": []}. */
static bool read_said(json_source *s, const json *v, attr *out, err *e)
{
    const json *floats, *strings, *one = json_get(v, "float");
    if (!json_known(v, "float floats strings", e) || !json_member(v, "floats", JSON_LIST, &floats, e) ||
        !json_member(v, "strings", JSON_LIST, &strings, e))
        return false;
    if (json_count(v) != 1)
        return json_refuse(e, v, TS_BAD_INPUT, "one of \"float\", \"floats\" and \"strings\" is expected");
    out->kind = one ? 'f' : 'F';
    return one      ? json_real(one, attribute_real, &out->f, e)
           : floats ? read_numbers(s->mem, floats, out, e)
                    : read_texts(s->mem, strings, out, e);
}

static const struct {
    char letter;
    const char *name;
} kinds[] = {{'i', "int"},    {'f', "float"},   {'s', "string"}, {'t', "tensor"}, {'I', "ints"},
             {'F', "floats"}, {'S', "strings"}, {'g', "graph"},  {'y', "type"}};

const char *json_kind_of(int64_t letter)
{
    for (int i = 0; i < COUNT(kinds); i++)
        if (kinds[i].letter == letter)
            return kinds[i].name;
    return NULL;
}

/* {"ref": "alpha", "kind": "float"}: what the caller's attribute alpha is. */
static bool read_reference(const json_source *s, const json *v, attr *out, err *e)
{
    const json *kind;
    if (!json_known(v, "ref kind", e) || !json_need_name(v, "ref", &out->s, e) ||
        !json_member(v, "kind", JSON_TEXT, &kind, e))
        return false;
    out->kind = 'r';
    for (int i = 0; kind && i < COUNT(kinds); i++)
        if (!strcmp(kinds[i].name, kind->text))
            out->i = kinds[i].letter;
    if (kind && !out->i)
        return json_refuse(e, kind, TS_BAD_INPUT, "\"%s\" is no kind of attribute", kind->text);
    return s->in_function || json_refuse(e, v, TS_BAD_INPUT, "refers to a function's attribute outside of functions");
}

/* A reference, a kind that is said, else a tensor. */
static bool read_object(json_source *s, const json *v, attr *out, const ts_array **tensor, err *e)
{
    if (json_get(v, "ref"))
        return read_reference(s, v, out, e);
    if (json_get(v, "float") || json_get(v, "floats") || json_get(v, "strings"))
        return read_said(s, v, out, e);
    held *h = arena_get(s->mem, sizeof *h);
    out->kind = 't';
    *tensor = &h->value;
    return json_tensor(s, v, h, e) && (!h->refused || json_refuse(e, v, TS_UNSUPPORTED, "%s", h->refused));
}

static bool read_attribute(json_source *s, const json *v, attr *out, const ts_array **tensor, err *e)
{
    *out = (attr){.name = v->key};
    switch (v->kind) {
    case JSON_NUMBER: out->kind = json_whole(v, &out->i) ? 'i' : 'f'; return json_real(v, attribute_real, &out->f, e);
    case JSON_TRUTH: out->kind = 'i', out->i = v->truth; return true;
    case JSON_TEXT: out->kind = 's', out->s = v->text; return true;
    case JSON_LIST: return read_list(s->mem, v, out, e);
    case JSON_OBJECT: return read_object(s, v, out, tensor, e);
    case JSON_NULL: break;
    }
    return json_expect(v, "a number, a text, a list of either, a tensor or a graph", e);
}

/* {"type": {"dtype": "f32", "form": ["sequence"]}} */
static bool read_type(json_source *s, const json *v, ts_port *out, err *e)
{
    const json *t = json_get(v, "type");
    return json_known(v, "type", e) && json_want(t, JSON_OBJECT, e) && json_known(t, "dtype shape form", e) &&
           read_port_type(s->mem, t, true, out, e);
}

/* A graph within a step: it sees the values around it, and the depth of the file bounds how many lie in each other. */
static bool read_graph(json_source *s, const json *v, body *out, err *e);

static bool read_attributes(json_source *s, const json *v, step *out, err *e)
{
    body *inner = arena_array(s->mem, json_count(v), sizeof *inner);
    attr *list = arena_array(s->mem, json_count(v), sizeof *list);
    const ts_array **tensor = arena_array(s->mem, json_count(v), sizeof *tensor);
    ts_port *types = arena_array(s->mem, json_count(v), sizeof *types);
    int n_type = 0;
    for (const json *i = v ? v->first : NULL; i; i = i->next) {
        if (json_comment(i))
            continue;
        attr *a = &list[out->n_attr];
        if (i->kind == JSON_OBJECT && json_get(i, "nodes")) {
            *a = (attr){.name = i->key, .kind = 'g', .i = out->n_body};
            if (!read_graph(s, i, &inner[out->n_body++], e))
                return false;
        } else if (i->kind == JSON_OBJECT && json_get(i, "type")) {
            *a = (attr){.name = i->key, .kind = 'y', .i = n_type};
            if (!read_type(s, i, &types[n_type++], e))
                return false;
        } else if (!read_attribute(s, i, a, &tensor[out->n_attr], e))
            return false;
        out->n_attr++;
    }
    out->body = inner;
    out->attr = list;
    out->tensor = tensor;
    out->types = types;
    return true;
}

/* ---- nodes ---- */
static bool read_names(arena *mem, const json *list, const char *const **out, int *n, err *e)
{
    const char **name = arena_array(mem, json_count(list), sizeof *name);
    *n = 0;
    for (const json *i = list->first; i; i = i->next) {
        if (!json_name(i, e))
            return false;
        name[(*n)++] = i->text;
    }
    *out = name;
    return true;
}

/* "Gemm", or with its domain "com.microsoft.FastGelu". */
static void split_operator(arena *mem, const char *name, step *out)
{
    const char *dot = strrchr(name, '.');
    out->type = dot ? dot + 1 : name;
    out->domain = dot ? arena_format(mem, "%.*s", (int)(dot - name), name) : "";
    if (!strcmp(out->domain, "ai.onnx"))
        out->domain = "";
}

static bool read_step(json_source *s, const json *v, step *out, err *e)
{
    const json *name, *domain, *in, *to, *attributes;
    const char *operator;
    *out = (step){.name = ""};
    if (!json_want(v, JSON_OBJECT, e) || !json_known(v, "name op domain in out attr", e) ||
        !json_need_name(v, "op", &operator, e) || !json_member(v, "name", JSON_TEXT, &name, e) ||
        !json_member(v, "domain", JSON_TEXT, &domain, e) || !json_need(v, "in", JSON_LIST, &in, e) ||
        !json_need(v, "out", JSON_LIST, &to, e) || !json_member(v, "attr", JSON_OBJECT, &attributes, e) ||
        (name && !json_name(name, e)) || (domain && !json_name(domain, e)))
        return false;
    if (name)
        out->name = name->text;
    if (domain)
        out->type = operator, out->domain = strcmp(domain->text, "ai.onnx") ? domain->text : "";
    else
        split_operator(s->mem, operator, out);
    return read_names(s->mem, in, &out->in, &out->n_in, e) && read_names(s->mem, to, &out->out, &out->n_out, e) &&
           read_attributes(s, attributes, out, e);
}

bool json_steps(json_source *s, const json *root, body *out, err *e)
{
    const json *all;
    if (!json_need(root, "nodes", JSON_LIST, &all, e))
        return false;
    out->step = arena_array(s->mem, json_count(all), sizeof *out->step);
    for (const json *i = all->first; i; i = i->next)
        if (!read_step(s, i, &out->step[out->n_step++], e))
            return false;
    return true;
}

static bool read_graph(json_source *s, const json *v, body *out, err *e)
{
    const json *in, *to;
    return json_known(v, "inputs outputs constants nodes", e) && json_need(v, "inputs", JSON_LIST, &in, e) &&
           json_need(v, "outputs", JSON_LIST, &to, e) && json_ports(s, in, false, &out->input, &out->n_input, e) &&
           json_ports(s, to, false, &out->output, &out->n_output, e) && json_constants(s, v, out, e) &&
           json_steps(s, v, out, e);
}

/* ---- functions ---- */

/* Inputs and outputs have names and nothing else. */
static bool read_named(json_source *s, const json *v, const char *key, ts_port **out, int *n, err *e)
{
    const json *list;
    const char *const *name;
    if (!json_need(v, key, JSON_LIST, &list, e) || !read_names(s->mem, list, &name, n, e))
        return false;
    *out = arena_array(s->mem, (size_t)*n, sizeof **out);
    for (int i = 0; i < *n; i++)
        (*out)[i] = (ts_port){.name = name[i], .dtype = TS_N_DTYPE, .rank = -1};
    return true;
}

static bool read_function(json_source *s, const json *v, function *out, err *e)
{
    const json *domain, *defaults;
    step own = {0};
    body *b = &out->body;
    if (!json_want(v, JSON_OBJECT, e) || !json_known(v, "name domain opset inputs outputs attr constants nodes", e) ||
        !json_need_name(v, "name", &out->name, e) || !json_member(v, "domain", JSON_TEXT, &domain, e) ||
        !json_member(v, "attr", JSON_OBJECT, &defaults, e) || (domain && !json_name(domain, e)) ||
        !json_opsets(s->mem, v, &out->opset, &out->n_opset, e) ||
        !read_named(s, v, "inputs", &b->input, &b->n_input, e) ||
        !read_named(s, v, "outputs", &b->output, &b->n_output, e) || !read_attributes(s, defaults, &own, e))
        return false;
    if (own.n_body > 0)
        return json_refuse(e, defaults, TS_UNSUPPORTED, "a graph is no attribute that a call may leave out");
    out->domain = domain ? domain->text : "";
    out->attr = own.attr, out->tensor = own.tensor, out->n_attr = own.n_attr;
    s->in_function = true;
    const bool ok = json_constants(s, v, b, e) && json_steps(s, v, b, e);
    s->in_function = false;
    return ok;
}

bool json_functions(json_source *s, const json *root, model_file *f, err *e)
{
    const json *all;
    if (!json_member(root, "functions", JSON_LIST, &all, e))
        return false;
    f->function = arena_array(s->mem, json_count(all), sizeof *f->function);
    for (const json *i = all ? all->first : NULL; i; i = i->next) {
        function *out = &f->function[f->n_function++];
        if (!read_function(s, i, out, e))
            return false;
        for (int k = 0; k + 1 < f->n_function; k++)
            if (!strcmp(f->function[k].name, out->name) && !strcmp(f->function[k].domain, out->domain))
                return json_refuse(e, i, TS_BAD_INPUT, "the function %s.%s is defined more than once", out->domain,
                                   out->name);
    }
    return true;
}
