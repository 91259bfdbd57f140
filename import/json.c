/* json.c - graph/1 files: the same steps as an ONNX file has, for people to write and to compare, with the weights
 * beside them in a safetensors file.
 *
 *   { "format": "graph/1", "name": "tiny", "opset": { "": 17 },
 *     "dims":    { "batch": { "min": 1, "max": 64, "default": 1 } },
 *     "inputs":  [ { "name": "x", "dtype": "f32", "shape": ["batch", 768] } ],
 *     "outputs": [ { "name": "y" } ],
 *     "weights": { "file": "tiny.safetensors", "sha256": "..." },
 *     "constants": { "one": { "dtype": "f32", "shape": [1], "data": [1.0] } },
 *     "functions": [ ... ],
 *     "scalars": [ { "name": "relu3(x)", "text": "x < 0 ? 0.0 : x*x*x/3", "derivative": "x < 0 ? 0.0 : x*x" } ],
 *     "nodes":   [ { "name": "fc", "op": "Gemm", "in": ["x", "w", "b"], "out": ["y"], "attr": { "transB": 1 } } ] } */
#include "import/json_parts.h"
#include "import/safetensors.h"

#include <string.h>

enum { HEAD_BYTES = 64 }; /* in which a file says that it is JSON */

/* ---- dimensions, weights ---- */
static bool read_rule(const json *v, dim_rule *out, err *e)
{
    static const char *const key[] = {"min", "max", "default"};
    int64_t *const to[] = {&out->least, &out->most, &out->fallback};
    *out = (dim_rule){.symbol = v->key, .fallback = -1};
    if (!json_want(v, JSON_OBJECT, e) || !json_known(v, "min max default", e))
        return false;
    for (int i = 0; i < COUNT(key); i++) {
        const json *given = json_get(v, key[i]);
        if (given && !json_extent(given, to[i], e))
            return false;
    }
    const int64_t most = out->most ? out->most : INT64_MAX;
    if (out->least > most)
        return json_refuse(e, v, TS_BAD_INPUT, "min %lld is above max %lld", (long long)out->least, (long long)most);
    if (out->fallback >= 0 && (out->fallback < out->least || out->fallback > most))
        return json_refuse(e, v, TS_BAD_INPUT, "default %lld is not from min to max", (long long)out->fallback);
    return true;
}

static bool read_rules(model_file *f, const json *root, err *e)
{
    const json *all;
    if (!json_member(root, "dims", JSON_OBJECT, &all, e))
        return false;
    f->rule = arena_array(&f->mem, json_count(all), sizeof *f->rule);
    for (const json *i = all ? all->first : NULL; i; i = i->next)
        if (!json_comment(i) && !read_rule(i, &f->rule[f->n_rule++], e))
            return false;
    return true;
}

static bool check_hash(const json *v, const mapping *m, err *e)
{
    char hex[65];
    hasher *h = hash_open();
    hash_bytes(h, m->at, m->size);
    const digest d = hash_close(h);
    digest_hex(&d, hex);
    return !strcmp(hex, v->text) || json_refuse(e, v, TS_BAD_INPUT, "the weights' SHA-256 is %s", hex);
}

static bool map_weights(model_file *f, const json *v, held **out, int *n, err *e)
{
    const json *file, *sha;
    if (!json_known(v, "file sha256", e) || !json_need(v, "file", JSON_TEXT, &file, e) ||
        !json_member(v, "sha256", JSON_TEXT, &sha, e) || !json_name(file, e))
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

static bool read_weights(model_file *f, const json *root, json_source *s, err *e)
{
    const json *v;
    held *list = NULL;
    if (!json_member(root, "weights", JSON_OBJECT, &v, e) || (v && !map_weights(f, v, &list, &s->n_weight, e)))
        return false;
    s->weight = list;
    s->inner = arena_array(s->mem, (size_t)s->n_weight, sizeof *s->inner);
    for (int i = 0; i < s->n_weight; i++)
        name_add(&s->by_name, list[i].name, i);
    return true;
}

/* ---- scalar functions: their texts are read when the graph is built ---- */
static bool read_scalars(model_file *f, const json *root, err *e)
{
    const json *all, *name, *words, *derivative;
    if (!json_member(root, "scalars", JSON_LIST, &all, e))
        return false;
    f->scalar = arena_array(&f->mem, json_count(all), sizeof *f->scalar);
    for (const json *i = all ? all->first : NULL; i; i = i->next) {
        if (!json_want(i, JSON_OBJECT, e) || !json_known(i, "name text derivative", e) ||
            !json_need(i, "name", JSON_TEXT, &name, e) || !json_need(i, "text", JSON_TEXT, &words, e) ||
            !json_member(i, "derivative", JSON_TEXT, &derivative, e))
            return false;
        f->scalar[f->n_scalar++] = (scalar_text){name->text, words->text, derivative ? derivative->text : NULL};
    }
    return true;
}

/* What nothing takes under another name is a value of the outermost graph, before its constants. */
static void hold_weights(const json_source *s, body *b)
{
    held *all = arena_array(s->mem, (size_t)s->n_weight + (size_t)b->n_held, sizeof *all);
    int n = 0;
    for (int i = 0; i < s->n_weight; i++)
        if (!s->inner[i])
            all[n++] = s->weight[i];
    if (b->n_held > 0)
        memcpy(all + n, b->held, (size_t)b->n_held * sizeof *all);
    b->held = all, b->n_held += n;
}

/* ---- an addition ---- */
static bool read_addition(json_source *s, const json *root, body *to, err *e)
{
    const json *in, *outputs;
    body more = {0};
    if (!json_want(root, JSON_OBJECT, e) || !json_known(root, "inputs outputs constants nodes", e) ||
        !json_member(root, "inputs", JSON_LIST, &in, e) || !json_member(root, "outputs", JSON_LIST, &outputs, e) ||
        !json_ports(s, in, true, &more.input, &more.n_input, e) ||
        !json_ports(s, outputs, false, &more.output, &more.n_output, e) || !json_constants(s, root, to, e) ||
        !json_steps(s, root, &more, e))
        return false;
    to->input = arena_joined(s->mem, to->input, to->n_input, more.input, more.n_input, sizeof *to->input);
    to->step = arena_joined(s->mem, to->step, to->n_step, more.step, more.n_step, sizeof *to->step);
    to->n_input += more.n_input, to->n_step += more.n_step;
    if (more.n_output > 0)
        to->output = more.output, to->n_output = more.n_output;
    return true;
}

bool graph_json_add(model_file *f, const char *source, err *e)
{
    const json *root = json_read(&f->mem, "addition", source, strlen(source), GRAPH_DEPTH, e);
    json_source s = {.mem = &f->mem};
    return root && read_addition(&s, root, &f->main, e);
}

/* ---- the file ---- */
static bool read_graph(model_file *f, const json *root, err *e)
{
    const json *in, *to;
    body *b = &f->main;
    json_source s = {.mem = &f->mem, .by_name = {.mem = &f->mem}};
    if (!json_opsets(s.mem, root, &f->opset, &f->n_opset, e) || !read_rules(f, root, e) ||
        !json_need(root, "inputs", JSON_LIST, &in, e) || !json_need(root, "outputs", JSON_LIST, &to, e) ||
        !json_ports(&s, in, true, &b->input, &b->n_input, e) || !json_ports(&s, to, false, &b->output, &b->n_output, e))
        return false;
    if (b->n_output == 0)
        return json_refuse(e, to, TS_BAD_INPUT, "a graph has at least one output");
    if (!read_weights(f, root, &s, e) || !json_constants(&s, root, b, e) || !json_steps(&s, root, b, e) ||
        !json_functions(&s, root, f, e) || !read_scalars(f, root, e))
        return false;
    hold_weights(&s, b);
    return true;
}

static bool read_root(model_file *f, const json *root, err *e)
{
    const json *format, *name;
    if (!json_want(root, JSON_OBJECT, e) || !json_need(root, "format", JSON_TEXT, &format, e))
        return false;
    if (strcmp(format->text, "graph/1"))
        return json_refuse(e, format, TS_UNSUPPORTED, "format \"%s\" is not \"graph/1\"", format->text);
    if (!json_known(root, "format name opset dims inputs outputs weights constants nodes functions scalars meta", e) ||
        !json_member(root, "name", JSON_TEXT, &name, e))
        return false;
    f->name = name ? name->text : "";
    return read_graph(f, root, e);
}

static bool is_json(const char *path, const unsigned char *head, size_t n)
{
    const size_t length = strlen(path);
    if (length > 5 && !strcmp(path + length - 5, ".json"))
        return true;
    size_t i = 0;
    while (i < n && i < HEAD_BYTES && (head[i] == ' ' || head[i] == '\n' || head[i] == '\t' || head[i] == '\r'))
        i++;
    return i < n && head[i] == '{';
}

static bool read_json(const char *path, model_file *out, err *e)
{
    ENDED_BY(text_free) text source = {0};
    bool ok = false;
    if (!file_read(path, (size_t)out->limits.description, &source, e)) {
        if (e->code == TS_MEMORY)
            limits_hint("description", 2 * out->limits.description, e);
    } else if (external_open(&out->external, &out->mem, path, e)) {
        const json *root = json_read(&out->mem, path, source.s, source.length, GRAPH_DEPTH, e);
        ok = root && read_root(out, root, e);
        external_close(&out->external);
    }
    return ok;
}

const reader reader_json = {
    .name = "json",
    .in_folder = "graph.json",
    .is = is_json,
    .read = read_json,
};
