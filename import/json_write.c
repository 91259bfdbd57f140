/* json_write.c - a network as a folder: graph.json (graph/1, see json.c) and weights.safetensors. Integers and single
 * numbers, which steer shapes and scales, stand in the JSON for people to see; the rest lies in the weights. */
#include "import/safetensors.h"
#include "import/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INLINE_ELEMENTS = 64 }; /* the format's limit */

/* The shortest of two spellings that reads back to the same bits. */
static void add_real(text *t, double v)
{
    char s[40];
    if (isnan(v) || isinf(v)) {
        text_add(t, isnan(v) ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    snprintf(s, sizeof s, "%.9g", v);
    if (strtod(s, NULL) != v)
        snprintf(s, sizeof s, "%.17g", v);
    /* A point marks it as real. */
    text_add(t, "%s%s", s, strpbrk(s, ".e") ? "" : ".0");
}

static void add_element(text *t, const ts_array *a, int64_t i)
{
    if (dtype_class(a->dtype) == D_REAL)
        add_real(t, load_real(a->dtype, a->data, i));
    else if (a->dtype == TS_BOOL)
        text_add(t, load_whole(a->dtype, a->data, i) ? "true" : "false");
    else
        text_add(t, "%lld", (long long)load_whole(a->dtype, a->data, i));
}

static void add_tensor(text *t, const ts_array *a)
{
    text_add(t, "{ \"dtype\": \"%s\", \"shape\": [", ts_dtype_name(a->dtype));
    for (int i = 0; i < a->rank; i++)
        text_add(t, "%s%lld", i ? ", " : "", (long long)a->dim[i]);
    text_add(t, "], \"data\": [");
    for (int64_t i = 0; i < ts_array_count(a); i++) {
        text_add(t, i ? ", " : "");
        add_element(t, a, i);
    }
    text_add(t, "] }");
}

/* A NaN's payload and u64 beyond 2^53 would not come back from text. */
static bool fits_inline(const ts_array *a)
{
    const int64_t n = ts_array_count(a);
    if (dtype_class(a->dtype) != D_REAL)
        return n <= INLINE_ELEMENTS && a->dtype != TS_U64;
    return n == 0 || (n == 1 && isfinite(load_real(a->dtype, a->data, 0)));
}

static void add_names(text *t, const char *key, int n, const char *const *name)
{
    text_add(t, ", \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        text_add(t, i ? ", " : "");
        text_json(t, name[i]);
    }
    text_add(t, "]");
}

static void add_list(text *t, const attr *a)
{
    text_add(t, "[");
    for (int i = 0; i < a->n; i++) {
        text_add(t, i ? ", " : "");
        if (a->kind == 'I')
            text_add(t, "%lld", (long long)a->ints[i]);
        else
            add_real(t, a->reals[i]);
    }
    text_add(t, "]");
}

static bool add_graph(text *t, const body *b, err *e);

static bool add_attribute(text *t, const step *s, int i, err *e)
{
    const attr *a = &s->attr[i];
    const ts_array *tensor = a->kind == 't' ? s->tensor[i] : NULL;
    text_json(t, a->name);
    text_add(t, ": ");
    switch (a->kind) {
    case 'i': text_add(t, "%lld", (long long)a->i); return true;
    case 'f': add_real(t, a->f); return true;
    case 's': text_json(t, a->s); return true;
    case 'I':
    case 'F': add_list(t, a); return true;
    case 't':
        if (ts_array_count(tensor) > INLINE_ELEMENTS)
            return err_set(e, TS_UNSUPPORTED, "attribute %s: a tensor of %lld elements, graph/1 has at most %d",
                           a->name, (long long)ts_array_count(tensor), INLINE_ELEMENTS);
        add_tensor(t, tensor);
        return true;
    case 'g': return add_graph(t, &s->body[a->i], e);
    default: return err_set(e, TS_UNSUPPORTED, "attribute %s: graph/1 has no such kind", a->name);
    }
}

static bool add_step(text *t, const step *s, err *e)
{
    text_add(t, "    { ");
    if (*s->name) {
        text_add(t, "\"name\": ");
        text_json(t, s->name);
        text_add(t, ", ");
    }
    text name = {0};
    text_add(&name, "%s%s%s", s->domain, *s->domain ? "." : "", s->type);
    text_add(t, "\"op\": ");
    text_json(t, text_str(&name));
    text_free(&name);
    add_names(t, "in", s->n_in, s->in);
    add_names(t, "out", s->n_out, s->out);
    for (int i = 0; i < s->n_attr; i++) {
        text_add(t, i ? ", " : ", \"attr\": { ");
        if (!add_attribute(t, s, i, e))
            return err_in(e, "%s \"%s\"", s->type, s->name);
    }
    text_add(t, s->n_attr ? " } }" : " }");
    return true;
}

static void add_port(text *t, const ts_port *p)
{
    text_add(t, "    { \"name\": ");
    text_json(t, p->name);
    if (p->dtype != TS_N_DTYPE)
        text_add(t, ", \"dtype\": \"%s\"", ts_dtype_name(p->dtype));
    for (int i = 0; i < p->rank; i++) {
        text_add(t, i ? ", " : ", \"shape\": [");
        if (p->dim[i] >= 0)
            text_add(t, "%lld", (long long)p->dim[i]);
        else
            text_json(t, p->symbol[i]);
    }
    text_add(t, p->rank > 0 ? "] }" : p->rank == 0 ? ", \"shape\": [] }" : " }");
}

static void add_ports(text *t, const char *key, int n, const ts_port *p)
{
    text_add(t, "  \"%s\": [\n", key);
    for (int i = 0; i < n; i++) {
        add_port(t, &p[i]);
        text_add(t, i + 1 < n ? ",\n" : "\n");
    }
    text_add(t, "  ],\n");
}

static void add_rules(text *t, const model_file *f)
{
    for (int i = 0; i < f->n_rule; i++) {
        const dim_rule *r = &f->rule[i];
        text_add(t, i ? ",\n    " : "  \"dims\": {\n    ");
        text_json(t, r->symbol);
        text_add(t, ": { \"min\": %lld", (long long)r->least);
        if (r->most > 0)
            text_add(t, ", \"max\": %lld", (long long)r->most);
        if (r->fallback >= 0)
            text_add(t, ", \"default\": %lld", (long long)r->fallback);
        text_add(t, " }");
    }
    text_add(t, f->n_rule ? "\n  },\n" : "");
}

static void add_head(text *t, const model_file *f)
{
    text_add(t, "{\n  \"format\": \"graph/1\",\n  \"name\": ");
    text_json(t, f->name);
    text_add(t, ",\n  \"opset\": { ");
    for (int i = 0; i < f->n_opset; i++) {
        text_add(t, i ? ", " : "");
        text_json(t, f->opset[i].domain);
        text_add(t, ": %d", f->opset[i].version);
    }
    text_add(t, " },\n");
    add_rules(t, f);
}

/* What stands in the text; the rest is for the weights. */
static void add_constants(text *t, const body *b)
{
    bool any = false;
    for (int i = 0; i < b->n_held; i++) {
        if (!fits_inline(&b->held[i].value))
            continue;
        text_add(t, any ? ",\n    " : "  \"constants\": {\n    ");
        text_json(t, b->held[i].name);
        text_add(t, ": ");
        add_tensor(t, &b->held[i].value);
        any = true;
    }
    text_add(t, any ? "\n  },\n" : "");
}

static bool add_steps(text *t, const body *b, err *e)
{
    text_add(t, "  \"nodes\": [\n");
    for (int i = 0; i < b->n_step; i++) {
        if (!add_step(t, &b->step[i], e))
            return false;
        text_add(t, i + 1 < b->n_step ? ",\n" : "\n");
    }
    text_add(t, "  ]\n");
    return true;
}

static bool add_body(text *t, const body *b, err *e)
{
    add_ports(t, "inputs", b->n_input, b->input);
    add_ports(t, "outputs", b->n_output, b->output);
    add_constants(t, b);
    return add_steps(t, b, e);
}

/* The weights are the outermost graph's. */
static bool add_graph(text *t, const body *b, err *e)
{
    for (int i = 0; i < b->n_held; i++)
        if (!fits_inline(&b->held[i].value))
            return err_set(e, TS_UNSUPPORTED, "tensor \"%s\" of an inner graph: graph/1 has none of that size there",
                           b->held[i].name);
    text_add(t, "{\n");
    const bool good = add_body(t, b, e);
    text_add(t, "}");
    return good;
}

/* The weights' file first: a graph that names it by its hash never meets another one unnoticed. */
static bool save_weights(const model_file *f, const char *folder, text *t, err *e)
{
    arena mem = {0};
    const held **all = arena_array(&mem, (size_t)f->main.n_held + 1, sizeof *all);
    char hex[65];
    digest sum;
    int n = 0;
    for (int i = 0; i < f->main.n_held; i++)
        if (!fits_inline(&f->main.held[i].value))
            all[n++] = &f->main.held[i];
    const bool good = n == 0 ||
                      safetensors_write(arena_format(&mem, "%s/weights.safetensors", folder), n, all, &sum, e);
    if (good && n > 0) {
        digest_hex(&sum, hex);
        text_add(t, "  \"weights\": { \"file\": \"weights.safetensors\", \"sha256\": \"%s\" },\n", hex);
    }
    arena_free(&mem);
    return good;
}

static bool check_file(const model_file *f, err *e)
{
    if (f->n_function > 0)
        return err_set(e, TS_UNSUPPORTED, "function \"%s\" of the model: graph/1 has no functions",
                       f->function[0].name);
    for (int i = 0; i < f->main.n_held; i++)
        if (f->main.held[i].refused || !safetensors_dtype(f->main.held[i].value.dtype))
            return err_set(e, TS_UNSUPPORTED, "tensor \"%s\": %s", f->main.held[i].name,
                           f->main.held[i].refused ? f->main.held[i].refused : "safetensors has no such dtype");
    return true;
}

static bool write_json(const model_file *f, const char *path, err *e)
{
    text head = {0}, tail = {0}; /* all that can be refused is found before the first byte is written */
    arena mem = {0};
    bool good = check_file(f, e);
    if (good) {
        add_head(&head, f);
        good = add_body(&tail, &f->main, e) && file_make_dir(path, e) && save_weights(f, path, &head, e);
        text_bytes(&head, text_str(&tail), tail.len);
        text_add(&head, "}\n");
        good = good && file_save(arena_format(&mem, "%s/graph.json", path), head.s, head.len, e);
    }
    text_free(&head);
    text_free(&tail);
    arena_free(&mem);
    return good;
}

const writer writer_json = {
    .name = "json",
    .doc = "a folder with graph.json (graph/1) and weights.safetensors",
    .write = write_json,
};
