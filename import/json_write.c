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

/* The shortest of two spellings that reads back to the same bits; of f32 the shortest of all. A point marks a real. */
static void add_real(text *t, double v, bool f32)
{
    char s[40];
    int digits = f32 ? 1 : 9;
    if (!isfinite(v)) {
        json_add(t, "%s", isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
        return;
    }
    snprintf(s, sizeof s, "%.*g", digits, v);
    while (digits < (f32 ? 9 : 17) && (f32 ? strtof(s, NULL) != (float)v : strtod(s, NULL) != v))
        snprintf(s, sizeof s, "%.*g", digits = f32 ? digits + 1 : 17, v);
    json_add_raw(t, s);
    text_add(t, strpbrk(s, ".e") ? "" : ".0");
}

/* Whole numbers as such, never by way of a double: i64 has 63 bits, a double 53. */
static void add_element(text *t, const ts_array *a, int64_t i)
{
    if (dtype_class(a->dtype) == D_REAL)
        add_real(t, load_real(a->dtype, a->data, i), false);
    else if (a->dtype == TS_BOOL)
        json_add(t, "%i", load_whole(a->dtype, a->data, i) != 0);
    else
        json_add(t, "%lld", (long long)load_whole(a->dtype, a->data, i));
}

/* data: all elements in rows, whatever the rank. */
static void add_tensor(text *t, const ts_array *a)
{
    json_add(t, "{ dtype:%s", ts_dtype_name(a->dtype));
    json_add_wholes(t, "shape", a->rank, a->dim);
    json_add(t, "data:[");
    for (int64_t i = 0; i < ts_array_count(a); i++)
        add_element(t, a, i);
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
    w->weight = arena_grown(w->mem, w->weight, w->n_weight, &w->cap, sizeof *w->weight);
    w->weight[w->n_weight++] = h;
    return true;
}

/* By a value of the outermost graph, whose names weights have. */
static bool is_taken(const writing *w, const char *key)
{
    return row_named(w->f->main.held, w->f->main.n_held, sizeof *w->f->main.held, key) >= 0;
}

/* A tensor that is no value of the outermost graph lies among the weights under a name that nothing has. */
static bool add_inner_weight(writing *w, const held *h, err *e)
{
    held *own = arena_get(w->mem, sizeof *own);
    *own = *h;
    do
        own->name = arena_format(w->mem, "inner.%d", w->n_inner++);
    while (is_taken(w, own->name));
    json_add(w->t, "{ weight:%s }", own->name);
    return h->refused ? add_weight(w, h, e) : add_weight(w, own, e);
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
    const bool none = a->kind == 'F' && a->n == 0;
    json_add(t, none ? "{ floats:[" : "[");
    for (int i = 0; i < a->n; i++)
        if (a->kind == 'I')
            json_add(t, "%lld", (long long)a->ints[i]);
        else
            add_real(t, a->reals[i], true);
    text_add(t, none ? "] }" : "]");
}

/* Words for numbers alone would read as numbers. */
static void add_texts(writing *w, const attr *a)
{
    bool words = true;
    const char *s = a->s;
    for (int i = 0; i < a->n; i++, s += strcspn(s, "\n") + 1)
        words = words && is_number_word(s, strcspn(s, "\n"));
    json_add(w->t, words ? "{ strings:[" : "[");
    s = a->s;
    for (int i = 0; i < a->n; i++, s += strcspn(s, "\n") + 1)
        json_add(w->t, "%.*s", (int)strcspn(s, "\n"), s);
    text_add(w->t, words ? "] }" : "]");
}

static bool add_graph(writing *w, const body *b, err *e);

/* A rank below 0 is not known: then there is no shape at all, where [] is a single number. */
static void add_type(text *t, const ts_port *p)
{
    if (p->dtype != TS_N_DTYPE)
        json_add(t, "dtype:%s", ts_dtype_name(p->dtype));
    for (const char *f = p->form; f && *f; f++)
        json_add(t, f == p->form ? "form:[%s" : "%s", *f == 's' ? "sequence" : "optional");
    text_add(t, p->form && *p->form ? "]" : "");
    if (p->rank >= 0)
        json_add(t, "shape:[");
    for (int i = 0; i < p->rank; i++)
        if (p->dim[i] >= 0)
            json_add(t, "%lld", (long long)p->dim[i]);
        else
            json_add(t, "%s", p->symbol[i]);
    text_add(t, p->rank >= 0 ? "]" : "");
}

/* One case for each kind of docs/formats, so that nothing is left out silently. */
static bool add_attribute(writing *w, const step *s, int i, err *e)
{
    const attr *a = &s->attr[i];
    json_add(w->t, i ? "%s:" : " %s:", a->name);
    if ((a->kind == 's' || a->kind == 'S') && !is_text(a->s))
        return err_set(e, TS_UNSUPPORTED, "attribute %s: its bytes are no UTF-8", a->name);
    switch (a->kind) {
    case 'i': json_add(w->t, "%lld", (long long)a->i); return true;
    case 'f':
        json_add(w->t, isfinite(a->f) ? "" : "{ float:");
        add_real(w->t, a->f, true);
        text_add(w->t, isfinite(a->f) ? "" : " }");
        return true;
    case 's': json_add(w->t, "%s", a->s); return true;
    case 'I':
    case 'F': add_numbers(w->t, a); return true;
    case 'S': add_texts(w, a); return true;
    case 'r':
        json_add(w->t, "{ ref:%s", a->s);
        if (json_kind_of(a->i))
            json_add(w->t, "kind:%s", json_kind_of(a->i));
        text_add(w->t, " }");
        return true;
    case 't':
        if (!comes_back(s->tensor[i]))
            return add_inner_weight(w, &(held){.name = a->name, .value = *s->tensor[i]}, e);
        add_tensor(w->t, s->tensor[i]);
        return true;
    case 'g': return add_graph(w, &s->body[a->i], e);
    case 'y':
        json_add(w->t, "{ type:{ ");
        add_type(w->t, &s->types[a->i]);
        text_add(w->t, " } }");
        return true;
    default: return err_set(e, TS_UNSUPPORTED, "attribute %s: graph/1 has no such kind", a->name);
    }
}

static bool add_attributes(writing *w, const step *s, err *e)
{
    if (s->n_attr)
        json_add(w->t, "attr:{");
    for (int i = 0; i < s->n_attr; i++)
        if (!add_attribute(w, s, i, e))
            return false;
    text_add(w->t, s->n_attr ? " }" : "");
    return true;
}

/* ---- nodes ---- */

/* "com.acme.Foo"; apart where the operator's own name has a point. */
static void add_operator(writing *w, const step *s)
{
    const bool apart = strchr(s->type, '.') != NULL;
    json_add(w->t, "op:%s", !apart && *s->domain ? arena_format(w->mem, "%s.%s", s->domain, s->type) : s->type);
    if (apart)
        json_add(w->t, "domain:%s", s->domain);
}

static bool add_step(writing *w, const step *s, err *e)
{
    if (s->refused)
        return err_set(e, TS_UNSUPPORTED, "%s \"%s\": %s", s->type, s->name, s->refused);
    json_add(w->t, *s->name ? "\n    { name:%s" : "\n    { ", s->name);
    add_operator(w, s);
    json_add_texts(w->t, "in", s->n_in, s->in);
    json_add_texts(w->t, "out", s->n_out, s->out);
    if (!add_attributes(w, s, e))
        return err_in(e, "%s \"%s\"", s->type, s->name);
    text_add(w->t, " }");
    return true;
}

static bool add_steps(writing *w, const body *b, err *e)
{
    json_add(w->t, "\n  nodes:[");
    for (int i = 0; i < b->n_step; i++)
        if (!add_step(w, &b->step[i], e))
            return false;
    text_add(w->t, "\n  ]");
    return true;
}

static void add_ports(text *t, const char *key, int n, const ts_port *p)
{
    json_add(t, "\n  %s:[", key);
    for (int i = 0; i < n; i++) {
        json_add(t, "\n    { name:%s", p[i].name);
        add_type(t, &p[i]);
        text_add(t, " }");
    }
    text_add(t, "\n  ]");
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
        json_add(w->t, any ? "\n    %s:" : "\n  constants:{\n    %s:", h->name);
        if (shown)
            add_tensor(w->t, &h->value);
        else if (!add_inner_weight(w, h, e))
            return false;
        any = true;
    }
    text_add(w->t, any ? "\n  }" : "");
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
    json_add(w->t, "{");
    const bool ok = add_body(w, b, e);
    text_add(w->t, " }");
    return ok;
}

static void add_opsets(text *t, int n, const opset *list)
{
    json_add(t, "opset:{");
    for (int i = 0; i < n; i++)
        json_add(t, i ? "%s:%d" : " %s:%d", list[i].domain, list[i].version);
    text_add(t, " }");
}

static void add_port_names(writing *w, const char *key, int n, const ts_port *p)
{
    const char **name = arena_array(w->mem, (size_t)n, sizeof *name);
    for (int i = 0; i < n; i++)
        name[i] = p[i].name;
    json_add_texts(w->t, key, n, name);
}

static bool add_function(writing *w, const function *f, err *e)
{
    const step defaults = {.n_attr = f->n_attr, .attr = f->attr, .tensor = f->tensor};
    json_add(w->t, "\n    { name:%s,domain:%s", f->name, f->domain);
    add_opsets(w->t, f->n_opset, f->opset);
    add_port_names(w, "inputs", f->body.n_input, f->body.input);
    add_port_names(w, "outputs", f->body.n_output, f->body.output);
    if (!add_attributes(w, &defaults, e))
        return false;
    if (!add_constants(w, &f->body, e) || !add_steps(w, &f->body, e))
        return false;
    text_add(w->t, " }");
    return true;
}

static bool add_functions(writing *w, err *e)
{
    const model_file *f = w->f;
    if (f->n_function)
        json_add(w->t, "\n  functions:[");
    for (int i = 0; i < f->n_function; i++)
        if (!add_function(w, &f->function[i], e))
            return err_in(e, "function %s.%s", f->function[i].domain, f->function[i].name);
    text_add(w->t, f->n_function ? "\n  ]" : "");
    return true;
}

/* ---- the file ---- */
static void add_rules(text *t, const model_file *f)
{
    for (int i = 0; i < f->n_rule; i++) {
        const dim_rule *r = &f->rule[i];
        json_add(t, i ? "\n    %s:{ min:%lld" : "\n  dims:{\n    %s:{ min:%lld", r->symbol, (long long)r->least);
        if (r->most > 0)
            json_add(t, "max:%lld", (long long)r->most);
        if (r->fallback >= 0)
            json_add(t, "default:%lld", (long long)r->fallback);
        text_add(t, " }");
    }
    text_add(t, f->n_rule ? "\n  }" : "");
}

static void add_head(text *t, const model_file *f)
{
    json_add(t, "{\n  format:'graph/1',\n  name:%s,\n  ", f->name);
    add_opsets(t, f->n_opset, f->opset);
    add_rules(t, f);
}

static void add_scalars(writing *w)
{
    for (int i = 0; i < w->f->n_scalar; i++) {
        const scalar_text *s = &w->f->scalar[i];
        json_add(w->t, i ? "\n    { name:%s,text:%s" : "\n  scalars:[\n    { name:%s,text:%s", s->head, s->text);
        if (s->derivative)
            json_add(w->t, "derivative:%s", s->derivative);
        text_add(w->t, i + 1 < w->f->n_scalar ? " }" : " }\n  ]");
    }
}

/* The weights' file first: a graph that names it by its hash never meets another one unnoticed. */
static bool save_weights(const writing *w, const char *folder, text *t, err *e)
{
    char hex[65];
    digest sum;
    if (w->n_weight == 0)
        return true;
    if (!safetensors_write(arena_format(w->mem, "%s/weights.safetensors", folder), w->n_weight, w->weight, NULL, &sum,
                           e))
        return false;
    digest_hex(&sum, hex);
    json_add(t, "\n  weights:{ file:'weights.safetensors',sha256:%s }", hex);
    return true;
}

/* All that can be refused is found before the first byte is written. */
static bool write_json(const model_file *f, const char *path, err *e)
{
    text first = {.wide = true}, rest = {.wide = true};
    ENDED_BY(arena_free) arena mem = {0};
    writing w = {.mem = &mem, .t = &rest, .f = f};
    add_head(&first, f);
    bool ok = add_body(&w, &f->main, e) && add_functions(&w, e);
    add_scalars(&w);
    ok = ok && file_make_folder(path, e) && save_weights(&w, path, &first, e);
    if (ok) {
        text_add(&first, ",%s\n}\n", rest.s);
        ok = file_save(arena_format(&mem, "%s/graph.json", path), first.s, first.length, e);
    }
    text_free(&first);
    text_free(&rest);
    return ok;
}

const writer writer_json = {
    .name = "json",
    .write = write_json,
};
