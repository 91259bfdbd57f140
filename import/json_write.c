/* json_write.c - a network as a folder: graph.json (graph/1, see json.c) and weights.safetensors. Integers and single
 * numbers, which steer shapes and scales, stand in the JSON for people to see; the rest lies in the weights. */
#include "import/json_parts.h"
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

/* Of f32: the shortest spelling that reads back to the same. */
static void add_float(text *t, double v)
{
    char s[40];
    int digits = 1;
    if (!isfinite(v)) {
        add_real(t, v);
        return;
    }
    do
        snprintf(s, sizeof s, "%.*g", digits, v);
    while (digits++ < 9 && strtof(s, NULL) != (float)v);
    text_add(t, "%s%s", s, strpbrk(s, ".e") ? "" : ".0");
}

/* Whole numbers as such, never by way of a double: i64 has 63 bits, a double 53. */
static void add_element(text *t, const ts_array *a, int64_t i)
{
    if (dtype_class(a->dtype) == D_REAL)
        add_real(t, load_real(a->dtype, a->data, i));
    else if (a->dtype == TS_BOOL)
        text_add(t, load_whole(a->dtype, a->data, i) ? "true" : "false");
    else
        text_add(t, "%lld", (long long)load_whole(a->dtype, a->data, i));
}

/* data: all elements in rows, whatever the rank. */
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

/* The shortest of two ways: a tensor stands in the text where it comes back from there bit by bit. A NaN's payload and
 * u64 beyond 2^53 would not. */
static bool comes_back(const ts_array *a)
{
    const int64_t n = ts_array_count(a);
    if (n > INLINE_ELEMENTS || a->dtype == TS_U64)
        return false;
    for (int64_t i = 0; i < n && dtype_class(a->dtype) == D_REAL; i++)
        if (!isfinite(load_real(a->dtype, a->data, i)))
            return false;
    return true;
}

/* What steers shapes and scales. */
static bool is_shown(const ts_array *a)
{
    return comes_back(a) && (dtype_class(a->dtype) != D_REAL || ts_array_count(a) <= 1);
}

typedef struct writing {
    arena *mem;
    text *t;
    const model_file *f;
    int n_weight, cap, n_inner;
    const held **weight; /* what the weights' file gets */
} writing;

/* Nothing is copied: the file is written from where the reader has it. */
static bool add_weight(writing *w, const held *h, err *e)
{
    if (h->refused || !safetensors_dtype(h->value.dtype))
        return err_set(e, TS_UNSUPPORTED, "tensor \"%s\": %s", h->name,
                       h->refused ? h->refused : "safetensors has no such dtype");
    if (w->n_weight == w->cap) {
        const int cap = w->cap ? 2 * w->cap : 64;
        const held **more = arena_array(w->mem, (size_t)cap, sizeof *more);
        if (w->n_weight > 0)
            memcpy(more, w->weight, (size_t)w->n_weight * sizeof *more);
        w->weight = more, w->cap = cap;
    }
    w->weight[w->n_weight++] = h;
    return true;
}

/* By a value of the outermost graph, whose names weights have. */
static bool is_taken(const writing *w, const char *key)
{
    for (int i = 0; i < w->f->main.n_held; i++)
        if (!strcmp(w->f->main.held[i].name, key))
            return true;
    return false;
}

/* A tensor that is no value of the outermost graph lies among the weights under a name that nothing has. */
static bool add_inner_weight(writing *w, const held *h, err *e)
{
    held *own = arena_get(w->mem, sizeof *own);
    *own = *h;
    do
        own->name = arena_format(w->mem, "inner.%d", w->n_inner++);
    while (is_taken(w, own->name));
    text_add(w->t, "{ \"weight\": \"%s\" }", own->name);
    return h->refused ? add_weight(w, h, e) : add_weight(w, own, e);
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

/* ---- attributes ---- */
/* JSON is UTF-8; ONNX allows any bytes in a text. */
static bool is_text(const char *s)
{
    for (uint32_t code; *s;) {
        const size_t n = utf8_next(s, &code);
        if (n == 0)
            return false;
        s += n;
    }
    return true;
}

/* JSON has no such numbers, so the reader takes these words for them. */
static bool is_number_word(const char *s, size_t n)
{
    static const char *const word[] = {"NaN", "Infinity", "-Infinity"};
    for (int i = 0; i < COUNT(word); i++)
        if (strlen(word[i]) == n && !memcmp(word[i], s, n))
            return true;
    return false;
}

/* [] alone would be read as a list of whole numbers. */
static void add_numbers(text *t, const attr *a)
{
    text_add(t, a->kind == 'F' && a->n == 0 ? "{ \"floats\": [" : "[");
    for (int i = 0; i < a->n; i++) {
        text_add(t, i ? ", " : "");
        if (a->kind == 'I')
            text_add(t, "%lld", (long long)a->ints[i]);
        else
            add_float(t, a->reals[i]);
    }
    text_add(t, a->kind == 'F' && a->n == 0 ? "] }" : "]");
}

/* Words for numbers alone would read as numbers. */
static void add_texts(writing *w, const attr *a)
{
    bool words = true;
    const char *s = a->s;
    for (int i = 0; i < a->n; i++, s += strcspn(s, "\n") + 1)
        words = words && is_number_word(s, strcspn(s, "\n"));
    text_add(w->t, words ? "{ \"strings\": [" : "[");
    s = a->s;
    for (int i = 0; i < a->n; i++, s += strcspn(s, "\n") + 1) {
        text_add(w->t, i ? ", " : "");
        text_json(w->t, arena_format(w->mem, "%.*s", (int)strcspn(s, "\n"), s));
    }
    text_add(w->t, words ? "] }" : "]");
}

static bool add_graph(writing *w, const body *b, err *e);

/* A rank below 0 is not known: then there is no shape at all, where [] is a single number. */
static void add_type(text *t, const ts_port *p)
{
    if (p->dtype != TS_N_DTYPE)
        text_add(t, ", \"dtype\": \"%s\"", ts_dtype_name(p->dtype));
    for (const char *f = p->form; f && *f; f++)
        text_add(t, "%s\"%s\"%s", f == p->form ? ", \"form\": [" : ", ", *f == 's' ? "sequence" : "optional",
                 f[1] ? "" : "]");
    for (int i = 0; i < p->rank; i++) {
        text_add(t, i ? ", " : ", \"shape\": [");
        if (p->dim[i] >= 0)
            text_add(t, "%lld", (long long)p->dim[i]);
        else
            text_json(t, p->symbol[i]);
    }
    text_add(t, p->rank > 0 ? "]" : p->rank == 0 ? ", \"shape\": []" : "");
}

/* One case for each kind of docs/formats, so that nothing is left out silently. */
static bool add_attribute(writing *w, const step *s, int i, err *e)
{
    const attr *a = &s->attr[i];
    text own = {0};
    text_json(w->t, a->name);
    text_add(w->t, ": ");
    if ((a->kind == 's' || a->kind == 'S') && !is_text(a->s))
        return err_set(e, TS_UNSUPPORTED, "attribute %s: its bytes are no UTF-8", a->name);
    switch (a->kind) {
    case 'i': text_add(w->t, "%lld", (long long)a->i); return true;
    case 'f':
        text_add(w->t, isfinite(a->f) ? "" : "{ \"float\": ");
        add_float(w->t, a->f);
        text_add(w->t, isfinite(a->f) ? "" : " }");
        return true;
    case 's': text_json(w->t, a->s); return true;
    case 'I':
    case 'F': add_numbers(w->t, a); return true;
    case 'S': add_texts(w, a); return true;
    case 'r':
        text_add(w->t, "{ \"ref\": ");
        text_json(w->t, a->s);
        if (json_kind_of(a->i))
            text_add(w->t, ", \"kind\": \"%s\"", json_kind_of(a->i));
        text_add(w->t, " }");
        return true;
    case 't':
        if (!comes_back(s->tensor[i]))
            return add_inner_weight(w, &(held){.name = a->name, .value = *s->tensor[i]}, e);
        add_tensor(w->t, s->tensor[i]);
        return true;
    case 'g': return add_graph(w, &s->body[a->i], e);
    case 'y':
        add_type(&own, &s->types[a->i]);
        text_add(w->t, "{ \"type\": {%s } }", text_str(&own) + (own.length > 0));
        text_free(&own);
        return true;
    default: return err_set(e, TS_UNSUPPORTED, "attribute %s: graph/1 has no such kind", a->name);
    }
}

static bool add_attributes(writing *w, const step *s, err *e)
{
    for (int i = 0; i < s->n_attr; i++) {
        text_add(w->t, i ? ", " : ", \"attr\": { ");
        if (!add_attribute(w, s, i, e))
            return false;
    }
    text_add(w->t, s->n_attr ? " }" : "");
    return true;
}

/* ---- nodes ---- */

/* "com.acme.Foo"; apart where the operator's own name has a point. */
static void add_operator(writing *w, const step *s)
{
    const bool apart = strchr(s->type, '.') != NULL;
    text_add(w->t, "\"op\": ");
    text_json(w->t, !apart && *s->domain ? arena_format(w->mem, "%s.%s", s->domain, s->type) : s->type);
    if (apart) {
        text_add(w->t, ", \"domain\": ");
        text_json(w->t, s->domain);
    }
}

static bool add_step(writing *w, const step *s, err *e)
{
    if (s->refused)
        return err_set(e, TS_UNSUPPORTED, "%s \"%s\": %s", s->type, s->name, s->refused);
    text_add(w->t, "    { ");
    if (*s->name) {
        text_add(w->t, "\"name\": ");
        text_json(w->t, s->name);
        text_add(w->t, ", ");
    }
    add_operator(w, s);
    add_names(w->t, "in", s->n_in, s->in);
    add_names(w->t, "out", s->n_out, s->out);
    if (!add_attributes(w, s, e))
        return err_in(e, "%s \"%s\"", s->type, s->name);
    text_add(w->t, " }");
    return true;
}

static bool add_steps(writing *w, const body *b, err *e)
{
    text_add(w->t, "  \"nodes\": [\n");
    for (int i = 0; i < b->n_step; i++) {
        if (!add_step(w, &b->step[i], e))
            return false;
        text_add(w->t, i + 1 < b->n_step ? ",\n" : "\n");
    }
    text_add(w->t, "  ]");
    return true;
}

/* ---- ports ---- */
static void add_port(text *t, const ts_port *p)
{
    text_add(t, "    { \"name\": ");
    text_json(t, p->name);
    add_type(t, p);
    text_add(t, " }");
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

/* ---- graphs ---- */

/* What stands in the text; the outermost graph has the rest among the weights under its own name. */
static bool add_constants(writing *w, const body *b, err *e)
{
    const bool main = b == &w->f->main;
    bool any = false;
    for (int i = 0; i < b->n_held; i++) {
        const held *h = &b->held[i];
        const bool shown = !h->refused && is_shown(&h->value);
        if (main && !shown) {
            if (!add_weight(w, h, e))
                return false;
            continue;
        }
        text_add(w->t, any ? ",\n    " : "  \"constants\": {\n    ");
        text_json(w->t, h->name);
        text_add(w->t, ": ");
        if (shown)
            add_tensor(w->t, &h->value);
        else if (!add_inner_weight(w, h, e))
            return false;
        any = true;
    }
    text_add(w->t, any ? "\n  },\n" : "");
    return true;
}

static bool add_body(writing *w, const body *b, err *e)
{
    add_ports(w->t, "inputs", b->n_input, b->input);
    add_ports(w->t, "outputs", b->n_output, b->output);
    return add_constants(w, b, e) && add_steps(w, b, e);
}

static bool add_graph(writing *w, const body *b, err *e)
{
    text_add(w->t, "{\n");
    const bool good = add_body(w, b, e);
    text_add(w->t, " }");
    return good;
}

static void add_opsets(text *t, int n, const opset *list)
{
    text_add(t, "\"opset\": { ");
    for (int i = 0; i < n; i++) {
        text_add(t, i ? ", " : "");
        text_json(t, list[i].domain);
        text_add(t, ": %d", list[i].version);
    }
    text_add(t, " }");
}

static void add_port_names(writing *w, const char *key, int n, const ts_port *p)
{
    const char **name = arena_array(w->mem, (size_t)n, sizeof *name);
    for (int i = 0; i < n; i++)
        name[i] = p[i].name;
    add_names(w->t, key, n, name);
}

static bool add_function(writing *w, const function *f, err *e)
{
    const step defaults = {.n_attr = f->n_attr, .attr = f->attr, .tensor = f->tensor};
    text_add(w->t, "    { \"name\": ");
    text_json(w->t, f->name);
    text_add(w->t, ", \"domain\": ");
    text_json(w->t, f->domain);
    text_add(w->t, ", ");
    add_opsets(w->t, f->n_opset, f->opset);
    add_port_names(w, "inputs", f->body.n_input, f->body.input);
    add_port_names(w, "outputs", f->body.n_output, f->body.output);
    if (!add_attributes(w, &defaults, e))
        return false;
    text_add(w->t, ",\n");
    if (!add_constants(w, &f->body, e) || !add_steps(w, &f->body, e))
        return false;
    text_add(w->t, " }");
    return true;
}

static bool add_functions(writing *w, err *e)
{
    const model_file *f = w->f;
    for (int i = 0; i < f->n_function; i++) {
        text_add(w->t, i ? ",\n" : ",\n  \"functions\": [\n");
        if (!add_function(w, &f->function[i], e))
            return err_in(e, "function %s.%s", f->function[i].domain, f->function[i].name);
    }
    text_add(w->t, f->n_function ? "\n  ]" : "");
    return true;
}

/* ---- the file ---- */
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
    text_add(t, ",\n  ");
    add_opsets(t, f->n_opset, f->opset);
    text_add(t, ",\n");
    add_rules(t, f);
}

static void add_scalars(writing *w)
{
    for (int i = 0; i < w->f->n_scalar; i++) {
        const scalar_text *s = &w->f->scalar[i];
        text_add(w->t, i ? ",\n    { \"name\": " : ",\n  \"scalars\": [\n    { \"name\": "), text_json(w->t, s->head);
        text_add(w->t, ", \"text\": "), text_json(w->t, s->text);
        if (s->derivative)
            text_add(w->t, ", \"derivative\": "), text_json(w->t, s->derivative);
        text_add(w->t, " }%s", i + 1 < w->f->n_scalar ? "" : "\n  ]");
    }
}

/* The weights' file first: a graph that names it by its hash never meets another one unnoticed. */
static bool save_weights(const writing *w, const char *folder, text *t, err *e)
{
    char hex[65];
    digest sum;
    if (w->n_weight == 0)
        return true;
    if (!safetensors_write(arena_format(w->mem, "%s/weights.safetensors", folder), w->n_weight, w->weight, &sum, e))
        return false;
    digest_hex(&sum, hex);
    text_add(t, "  \"weights\": { \"file\": \"weights.safetensors\", \"sha256\": \"%s\" },\n", hex);
    return true;
}

/* All that can be refused is found before the first byte is written. */
static bool write_json(const model_file *f, const char *path, err *e)
{
    text first = {0}, rest = {0};
    arena mem = {0};
    writing w = {.mem = &mem, .t = &rest, .f = f};
    add_head(&first, f);
    bool good = add_body(&w, &f->main, e) && add_functions(&w, e);
    add_scalars(&w);
    good = good && file_make_folder(path, e) && save_weights(&w, path, &first, e);
    if (good) {
        text_bytes(&first, text_str(&rest), rest.length);
        text_add(&first, "\n}\n");
        good = file_save(arena_format(&mem, "%s/graph.json", path), first.s, first.length, e);
    }
    text_free(&first);
    text_free(&rest);
    arena_free(&mem);
    return good;
}

const writer writer_json = {
    .name = "json",
    .write = write_json,
};
