/* json.c - graph/1 files: the same steps as an ONNX file has, for people to write and to compare, with the weights
 * beside them in a safetensors file.
 *
 *   { "format": "graph/1", "name": "tiny", "opset": { "": 17 },
 *     "dims":    { "batch": { "min": 1, "max": 64, "default": 1 } },
 *     "inputs":  [ { "name": "x", "dtype": "f32", "shape": ["batch", 768] } ],
 *     "outputs": [ { "name": "y" } ],
 *     "weights": { "file": "tiny.safetensors", "sha256": "..." },
 *     "constants": { "one": { "dtype": "f32", "shape": [1], "data": [1.0] } },
 *     "nodes":   [ { "name": "fc", "op": "Gemm", "in": ["x", "w", "b"], "out": ["y"], "attr": { "transB": 1 } } ] } */
#include "graph/base/json.h"
#include "import/name.h"
#include "import/reader.h"
#include "import/safetensors.h"

#include <math.h>
#include <string.h>

enum { FILE_BYTES = 256 << 20, FILE_DEPTH = 64, INLINE_ELEMENTS = 64, OPSET_MOST = 1000 };

static size_t length_of(const json *list)
{
    size_t n = 0;
    for (const json *i = list ? list->first : NULL; i; i = i->next)
        n++;
    return n;
}

static bool is_comment(const json *member)
{
    return member->key && !strcmp(member->key, "//");
}

/* ---- small values ---- */

/* The member `key`, which must be of the kind given; NULL where absent. */
static bool want(const json *object, const char *key, json_kind kind, const json **out, err *e)
{
    *out = json_get(object, key);
    return !*out || json_want(*out, kind, e);
}

static bool need(const json *object, const char *key, json_kind kind, const json **out, err *e)
{
    if (!want(object, key, kind, out, e))
        return false;
    return *out || json_refuse(e, object, TS_BAD_INPUT, "the key \"%s\" is missing", key);
}

static bool check_name(const json *v, err *e)
{
    err own = {0};
    if (!json_want(v, JSON_TEXT, e))
        return false;
    return name_check(v->text, strlen(v->text), NAME_MOST, "name", &own) ||
           json_refuse(e, v, TS_BAD_INPUT, "%s", own.text);
}

static bool need_name(const json *object, const char *key, const char **out, err *e)
{
    const json *v;
    if (!need(object, key, JSON_TEXT, &v, e) || !check_name(v, e))
        return false;
    if (!*v->text)
        return json_refuse(e, v, TS_BAD_INPUT, "an empty name");
    *out = v->text;
    return true;
}

static bool read_dtype(const json *v, dtype *out, err *e)
{
    return dtype_parse(v->text, out) || json_refuse(e, v, TS_BAD_INPUT, "\"%s\" is not a dtype", v->text);
}

static bool read_extent(const json *v, int64_t *out, err *e)
{
    if (json_whole(v, out) && *out >= 0 && *out <= MODEL_ELEMENTS)
        return true;
    return json_refuse(e, v, TS_BAD_INPUT, "an extent is a whole number from 0 to 2^40");
}

/* ---- versions, dimensions, ports ---- */
static bool read_opsets(model_file *f, const json *root, err *e)
{
    const json *all;
    int64_t version;
    if (!need(root, "opset", JSON_OBJECT, &all, e))
        return false;
    f->opset = arena_array(&f->mem, length_of(all), sizeof *f->opset);
    for (const json *i = all->first; i; i = i->next) {
        if (is_comment(i))
            continue;
        if (!json_whole(i, &version) || version < 1 || version > OPSET_MOST)
            return json_refuse(e, i, TS_BAD_INPUT, "the version of an operator set is a whole number from 1 on");
        f->opset[f->n_opset++] = (opset){strcmp(i->key, "ai.onnx") ? i->key : "", (int)version};
    }
    return true;
}

static bool read_rule(const json *v, dim_rule *out, err *e)
{
    static const char *const key[] = {"min", "max", "default"};
    int64_t *const to[] = {&out->least, &out->most, &out->fallback};
    *out = (dim_rule){.symbol = v->key, .fallback = -1};
    if (!json_want(v, JSON_OBJECT, e) || !json_known(v, "min max default", e))
        return false;
    for (int i = 0; i < COUNT(key); i++) {
        const json *given = json_get(v, key[i]);
        if (given && !read_extent(given, to[i], e))
            return false;
    }
    return true;
}

static bool read_rules(model_file *f, const json *root, err *e)
{
    const json *all;
    if (!want(root, "dims", JSON_OBJECT, &all, e))
        return false;
    f->rule = arena_array(&f->mem, length_of(all), sizeof *f->rule);
    for (const json *i = all ? all->first : NULL; i; i = i->next)
        if (!is_comment(i) && !read_rule(i, &f->rule[f->n_rule++], e))
            return false;
    return true;
}

static bool read_shape(const json *list, ts_port *out, err *e)
{
    out->rank = 0;
    for (const json *i = list->first; i; i = i->next, out->rank++) {
        if (out->rank == MAX_RANK)
            return json_refuse(e, list, TS_BAD_INPUT, "more than %d dimensions", MAX_RANK);
        if (i->kind != JSON_TEXT) {
            if (!read_extent(i, &out->dim[out->rank], e))
                return false;
            continue;
        }
        if (!check_name(i, e))
            return false;
        out->dim[out->rank] = -1;
        out->symbol[out->rank] = i->text;
    }
    return true;
}

/* An output may leave its dtype and shape to the nodes. */
static bool read_port(const json *v, bool complete, ts_port *out, err *e)
{
    const json *dtype_given, *shape;
    *out = (ts_port){.dtype = TS_N_DTYPE, .rank = -1};
    if (!json_want(v, JSON_OBJECT, e) || !json_known(v, "name dtype shape", e) || !need_name(v, "name", &out->name, e))
        return false;
    if (!(complete ? need : want)(v, "dtype", JSON_TEXT, &dtype_given, e) ||
        !(complete ? need : want)(v, "shape", JSON_LIST, &shape, e))
        return false;
    return (!dtype_given || read_dtype(dtype_given, &out->dtype, e)) && (!shape || read_shape(shape, out, e));
}

static bool read_list_of_ports(arena *mem, const json *list, bool complete, ts_port **out, int *n, err *e)
{
    *out = arena_array(mem, length_of(list), sizeof **out);
    for (const json *i = list ? list->first : NULL; i; i = i->next)
        if (!read_port(i, complete, &(*out)[(*n)++], e))
            return false;
    return true;
}

static bool read_ports(arena *mem, const json *root, body *out, err *e)
{
    const json *in, *to;
    if (!need(root, "inputs", JSON_LIST, &in, e) || !need(root, "outputs", JSON_LIST, &to, e) ||
        !read_list_of_ports(mem, in, true, &out->input, &out->n_input, e) ||
        !read_list_of_ports(mem, to, false, &out->output, &out->n_output, e))
        return false;
    return out->n_output > 0 || json_refuse(e, to, TS_BAD_INPUT, "a graph has at least one output");
}

/* ---- numbers in the file itself ---- */
static bool read_real(const json *v, double *out, err *e)
{
    static const struct {
        const char *name;
        double value;
    } special[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    for (int i = 0; v->kind == JSON_TEXT && i < COUNT(special); i++)
        if (!strcmp(v->text, special[i].name)) {
            *out = special[i].value;
            return true;
        }
    *out = v->number;
    return v->kind == JSON_NUMBER ||
           json_refuse(e, v, TS_BAD_INPUT, "a number, \"NaN\", \"Infinity\" or \"-Infinity\" is expected");
}

static bool read_element(const json *v, const ts_array *to, int64_t i, err *e)
{
    double real;
    int64_t whole;
    if (dtype_class(to->dtype) == D_REAL) {
        if (!read_real(v, &real, e))
            return false;
        store_real(to->dtype, to->data, i, real);
        return true;
    }
    if (v->kind == JSON_TRUTH && to->dtype == TS_BOOL)
        whole = v->truth;
    else if (!json_whole(v, &whole))
        return json_refuse(e, v, TS_BAD_INPUT, "a whole number is expected");
    store_whole(to->dtype, to->data, i, whole);
    return load_whole(to->dtype, to->data, i) == whole ||
           json_refuse(e, v, TS_BAD_INPUT, "%lld is not a value of %s", (long long)whole, ts_dtype_name(to->dtype));
}

/* {"dtype": "f32", "shape": [2], "data": [0.5, 1]}, row by row. */
static bool read_tensor(arena *mem, const json *v, ts_array *out, err *e)
{
    const json *d, *shape, *data;
    ts_port p;
    int64_t count = 1, n = 0;
    if (!json_want(v, JSON_OBJECT, e) || !json_known(v, "dtype shape data", e) || !need(v, "dtype", JSON_TEXT, &d, e) ||
        !need(v, "shape", JSON_LIST, &shape, e) || !need(v, "data", JSON_LIST, &data, e) ||
        !read_dtype(d, &out->dtype, e) || !read_shape(shape, &p, e))
        return false;
    out->rank = p.rank;
    for (int i = 0; i < p.rank; i++) {
        out->dim[i] = p.dim[i];
        if (p.dim[i] < 0 || !int_mul(count, p.dim[i], &count) || count > INLINE_ELEMENTS)
            return json_refuse(e, shape, TS_BAD_INPUT, "numbers within the file: at most %d; put more into the weights",
                               INLINE_ELEMENTS);
    }
    if ((int64_t)length_of(data) != count)
        return json_refuse(e, data, TS_BAD_INPUT, "%zu numbers, the shape needs %lld", length_of(data),
                           (long long)count);
    out->data = arena_array(mem, (size_t)count + 1, sizeof(double));
    for (const json *i = data->first; i; i = i->next)
        if (!read_element(i, out, n++, e))
            return false;
    return true;
}

static bool check_hash(const json *v, const mapping *m, err *e)
{
    char hex[65];
    hasher *h = hash_begin();
    hash_bytes(h, m->at, m->size);
    const digest d = hash_end(h);
    digest_hex(&d, hex);
    return !strcmp(hex, v->text) || json_refuse(e, v, TS_BAD_INPUT, "the weights' SHA-256 is %s", hex);
}

static bool read_weights(model_file *f, const json *v, held **out, int *n, err *e)
{
    const json *file, *sha;
    if (!json_known(v, "file sha256", e) || !need(v, "file", JSON_TEXT, &file, e) ||
        !want(v, "sha256", JSON_TEXT, &sha, e) || !check_name(file, e))
        return false;
    err own = {0};
    const mapping *m = external_map(&f->external, file->text, "weights", &own);
    if (!m)
        return json_refuse(e, file, own.code, "%s", own.text);
    if (sha && !check_hash(sha, m, e))
        return false;
    *out = safetensors_read(&f->mem, file->text, m, n, &own);
    return *out || json_refuse(e, file, own.code, "%s", own.text);
}

static void *joined(arena *mem, const void *a, int n, const void *b, int more, size_t size)
{
    char *all = arena_array(mem, (size_t)n + (size_t)more, size);
    if (n > 0)
        memcpy(all, a, (size_t)n * size);
    if (more > 0)
        memcpy(all + (size_t)n * size, b, (size_t)more * size);
    return all;
}

static bool read_constants(arena *mem, const json *root, body *out, err *e)
{
    const json *all;
    if (!want(root, "constants", JSON_OBJECT, &all, e))
        return false;
    held *list = arena_array(mem, length_of(all), sizeof *list);
    int n = 0;
    for (const json *i = all ? all->first : NULL; i; i = i->next) {
        if (is_comment(i))
            continue;
        list[n].name = i->key;
        if (!read_tensor(mem, i, &list[n++].value, e))
            return false;
    }
    out->held = joined(mem, out->held, out->n_held, list, n, sizeof *list);
    out->n_held += n;
    return true;
}

static bool read_held(model_file *f, const json *root, err *e)
{
    const json *weights;
    if (!want(root, "weights", JSON_OBJECT, &weights, e) ||
        (weights && !read_weights(f, weights, &f->main.held, &f->main.n_held, e)))
        return false;
    return read_constants(&f->mem, root, &f->main, e);
}

/* ---- nodes ---- */
static bool read_list(arena *mem, const json *v, attr *out, err *e)
{
    const size_t n = length_of(v);
    int64_t *whole = arena_array(mem, n, sizeof *whole);
    double *real = arena_array(mem, n, sizeof *real);
    bool all_whole = true;
    out->n = 0;
    for (const json *i = v->first; i; i = i->next, out->n++) {
        if (!read_real(i, &real[out->n], e))
            return false;
        all_whole = all_whole && json_whole(i, &whole[out->n]);
    }
    out->kind = all_whole ? 'I' : 'F';
    out->ints = whole;
    out->reals = real;
    return true;
}

static bool is_graph(const json *v)
{
    return v->kind == JSON_OBJECT && json_get(v, "nodes");
}

static bool read_attribute(arena *mem, const json *v, attr *out, const ts_array **tensor, err *e)
{
    *out = (attr){.name = v->key};
    switch (v->kind) {
    case JSON_NUMBER:
        out->kind = json_whole(v, &out->i) ? 'i' : 'f';
        out->f = v->number;
        return true;
    case JSON_TRUTH: out->kind = 'i', out->i = v->truth; return true;
    case JSON_TEXT: out->kind = 's', out->s = v->text; return true;
    case JSON_LIST: return read_list(mem, v, out, e);
    case JSON_OBJECT: {
        ts_array *a = arena_get(mem, sizeof *a);
        out->kind = 't';
        *tensor = a;
        return read_tensor(mem, v, a, e);
    }
    case JSON_NULL: break;
    }
    return json_refuse(e, v, TS_BAD_INPUT, "an attribute is a number, a text, a list of numbers or a tensor");
}

/* A graph within a step: it sees the values around it, and the depth of the file bounds how many lie in each other. */
static bool read_graph(arena *mem, const json *v, body *out, err *e);

static bool read_attributes(arena *mem, const json *v, step *out, err *e)
{
    body *inner = arena_array(mem, length_of(v), sizeof *inner);
    attr *list = arena_array(mem, length_of(v), sizeof *list);
    const ts_array **tensor = arena_array(mem, length_of(v), sizeof *tensor);
    for (const json *i = v ? v->first : NULL; i; i = i->next) {
        if (is_comment(i))
            continue;
        attr *a = &list[out->n_attr];
        if (is_graph(i)) {
            *a = (attr){.name = i->key, .kind = 'g', .i = out->n_body};
            if (!read_graph(mem, i, &inner[out->n_body++], e))
                return false;
        } else if (!read_attribute(mem, i, a, &tensor[out->n_attr], e))
            return false;
        out->n_attr++;
    }
    out->body = inner;
    out->attr = list;
    out->tensor = tensor;
    return true;
}

static bool read_names(arena *mem, const json *list, const char *const **out, int *n, err *e)
{
    const char **name = arena_array(mem, length_of(list), sizeof *name);
    *n = 0;
    for (const json *i = list->first; i; i = i->next) {
        if (!check_name(i, e))
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

static bool read_step(arena *mem, const json *v, step *out, err *e)
{
    const json *name, *in, *to, *attributes;
    const char *operator;
    *out = (step){.name = ""};
    if (!json_want(v, JSON_OBJECT, e) || !json_known(v, "name op in out attr", e) ||
        !need_name(v, "op", &operator, e) || !want(v, "name", JSON_TEXT, &name, e) ||
        !need(v, "in", JSON_LIST, &in, e) || !need(v, "out", JSON_LIST, &to, e) ||
        !want(v, "attr", JSON_OBJECT, &attributes, e) || (name && !check_name(name, e)))
        return false;
    if (name)
        out->name = name->text;
    split_operator(mem, operator, out);
    return read_names(mem, in, &out->in, &out->n_in, e) && read_names(mem, to, &out->out, &out->n_out, e) &&
           read_attributes(mem, attributes, out, e);
}

static bool read_steps(arena *mem, const json *root, body *out, err *e)
{
    const json *all;
    if (!need(root, "nodes", JSON_LIST, &all, e))
        return false;
    out->step = arena_array(mem, length_of(all), sizeof *out->step);
    for (const json *i = all->first; i; i = i->next)
        if (!read_step(mem, i, &out->step[out->n_step++], e))
            return false;
    return true;
}

static bool read_graph(arena *mem, const json *v, body *out, err *e)
{
    return json_known(v, "inputs outputs constants nodes", e) && read_ports(mem, v, out, e) &&
           read_constants(mem, v, out, e) && read_steps(mem, v, out, e);
}

/* ---- an addition ---- */
static bool read_addition(arena *mem, const json *root, body *to, err *e)
{
    const json *in, *outputs;
    body more = {0};
    if (!json_want(root, JSON_OBJECT, e) || !json_known(root, "inputs outputs constants nodes", e) ||
        !want(root, "inputs", JSON_LIST, &in, e) || !want(root, "outputs", JSON_LIST, &outputs, e) ||
        !read_list_of_ports(mem, in, true, &more.input, &more.n_input, e) ||
        !read_list_of_ports(mem, outputs, false, &more.output, &more.n_output, e) ||
        !read_constants(mem, root, to, e) || !read_steps(mem, root, &more, e))
        return false;
    to->input = joined(mem, to->input, to->n_input, more.input, more.n_input, sizeof *to->input);
    to->step = joined(mem, to->step, to->n_step, more.step, more.n_step, sizeof *to->step);
    to->n_input += more.n_input, to->n_step += more.n_step;
    if (more.n_output > 0)
        to->output = more.output, to->n_output = more.n_output;
    return true;
}

bool graph_json_add(model_file *f, const char *source, err *e)
{
    const json *root = json_read(&f->mem, "addition", source, strlen(source), FILE_DEPTH, e);
    return root && read_addition(&f->mem, root, &f->main, e);
}

/* ---- the file ---- */
static bool read_root(model_file *f, const json *root, err *e)
{
    const json *format, *name;
    if (!json_want(root, JSON_OBJECT, e) || !need(root, "format", JSON_TEXT, &format, e))
        return false;
    if (strcmp(format->text, "graph/1"))
        return json_refuse(e, format, TS_UNSUPPORTED, "format \"%s\" is not \"graph/1\"", format->text);
    if (!json_known(root, "format name opset dims inputs outputs weights constants nodes meta", e) ||
        !want(root, "name", JSON_TEXT, &name, e))
        return false;
    f->name = name ? name->text : "";
    return read_opsets(f, root, e) && read_rules(f, root, e) && read_ports(&f->mem, root, &f->main, e) &&
           read_held(f, root, e) && read_steps(&f->mem, root, &f->main, e);
}

static bool is_json(const char *path, const unsigned char *head, size_t n)
{
    const size_t len = strlen(path);
    if (len > 5 && !strcmp(path + len - 5, ".json"))
        return true;
    size_t i = 0;
    while (i < n && i < FILE_DEPTH && (head[i] == ' ' || head[i] == '\n' || head[i] == '\t' || head[i] == '\r'))
        i++;
    return i < n && head[i] == '{';
}

static bool read_json(const char *path, model_file *out, err *e)
{
    text source = {0};
    bool ok = false;
    if (file_read(path, FILE_BYTES, &source, e) && external_open(&out->external, &out->mem, path, e)) {
        const json *root = json_read(&out->mem, path, source.s, source.len, FILE_DEPTH, e);
        ok = root && read_root(out, root, e);
        external_close(&out->external);
    }
    text_free(&source);
    return ok;
}

const reader reader_json = {
    .name = "json",
    .doc = "graph/1: nodes as JSON, weights as safetensors",
    .in_folder = "graph.json",
    .is = is_json,
    .read = read_json,
};
