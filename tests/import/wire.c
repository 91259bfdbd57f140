#include "tests/import/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, LENGTH = 2, FIXED32 = 5, MAX_WORDS = 16 };

void wire_varint(text *t, uint64_t v)
{
    char byte;
    for (; v >= 0x80; v >>= 7) {
        byte = (char)(v | 0x80);
        text_bytes(t, &byte, 1);
    }
    byte = (char)v;
    text_bytes(t, &byte, 1);
}

void wire_int(text *t, int field, uint64_t v)
{
    wire_varint(t, (uint64_t)field << 3 | VARINT);
    wire_varint(t, v);
}

void wire_bytes(text *t, int field, const void *p, size_t n)
{
    wire_varint(t, (uint64_t)field << 3 | LENGTH);
    wire_varint(t, n);
    text_bytes(t, p, n);
}

void wire_text(text *t, int field, const char *s)
{
    wire_bytes(t, field, s, strlen(s));
}

void wire_inner(text *t, int field, text *inner)
{
    wire_bytes(t, field, text_str(inner), inner->length);
    text_free(inner);
}

static void wire_float(text *t, int field, float v)
{
    wire_varint(t, (uint64_t)field << 3 | FIXED32);
    text_bytes(t, (const char *)&v, sizeof v);
}

/* Cuts s at each `separator`; gives the number of words. s is changed. */
static int split(char *s, const char *separator, char **word)
{
    int n = 0;
    char *rest = NULL;
    for (char *w = strtok_r(s, separator, &rest); w && n < MAX_WORDS; w = strtok_r(NULL, separator, &rest))
        word[n++] = w;
    return n;
}

static int type_number(const char *name)
{
    static const char *const names[] = {"",     "f32", "u8",  "i8",  "u16", "i16", "i32",  "i64", "str",
                                        "bool", "f16", "f64", "u32", "u64", "c64", "c128", "bf16"};
    for (int i = 1; i < COUNT(names); i++)
        if (!strcmp(names[i], name))
            return i;
    return (int)strtol(name, NULL, 10);
}

static void wire_port(text *graph, int field, const char *spec)
{
    char copy[512], *word[MAX_WORDS], *dim[MAX_WORDS];
    snprintf(copy, sizeof copy, "%s", spec);
    const int n = split(copy, " ", word);
    text port = {0}, type = {0}, tensor = {0}, shape = {0};
    wire_text(&port, 1, word[0]);
    wire_int(&tensor, 1, (uint64_t)type_number(word[1]));
    const int rank = n > 2 && strcmp(word[2], "*") ? split(word[2], ",", dim) : 0;
    for (int i = 0; i < rank; i++) {
        text d = {0};
        if (strspn(dim[i], "-0123456789") == strlen(dim[i]))
            wire_int(&d, 1, (uint64_t)strtoll(dim[i], NULL, 10));
        else if (strcmp(dim[i], "?"))
            wire_text(&d, 2, dim[i]);
        wire_inner(&shape, 1, &d);
    }
    if (n < 3 || strcmp(word[2], "*"))
        wire_inner(&tensor, 2, &shape);
    wire_inner(&type, 1, &tensor);
    wire_inner(&port, 2, &type);
    wire_inner(graph, field, &port);
}

void wire_begin(wire_model *m)
{
    *m = (wire_model){.opset = 17};
    wire_text(&m->graph, GRAPH_NAME, "test");
}

void wire_input(wire_model *m, const char *spec)
{
    wire_port(&m->graph, GRAPH_INPUT, spec);
}

void wire_output(wire_model *m, const char *spec)
{
    wire_port(&m->graph, GRAPH_OUTPUT, spec);
}

static void wire_list(text *a, char *value)
{
    char *entry[MAX_WORDS];
    const bool real = strchr(value, '.') != NULL;
    const int n = split(value, "[],", entry);
    for (int i = 0; i < n; i++)
        if (real)
            wire_float(a, ATTRIBUTE_FLOATS, strtof(entry[i], NULL));
        else
            wire_int(a, ATTRIBUTE_INTS, (uint64_t)strtoll(entry[i], NULL, 10));
    wire_int(a, ATTRIBUTE_KIND, real ? 6 : 7);
}

static void wire_attribute(text *node, char *given)
{
    char *value = strchr(given, '=');
    *value++ = 0;
    text a = {0};
    wire_text(&a, ATTRIBUTE_NAME, given);
    if (*value == '@') /* a function's attribute */
        wire_text(&a, ATTRIBUTE_REF, value + 1);
    else if (*value == '[')
        wire_list(&a, value);
    else if (strspn(value, "-0123456789") == strlen(value)) {
        wire_int(&a, ATTRIBUTE_INT, (uint64_t)strtoll(value, NULL, 10));
        wire_int(&a, ATTRIBUTE_KIND, 2);
    } else if (strspn(value, "-0123456789.e") == strlen(value)) {
        wire_float(&a, ATTRIBUTE_FLOAT, strtof(value, NULL));
        wire_int(&a, ATTRIBUTE_KIND, 1);
    } else {
        wire_text(&a, ATTRIBUTE_STRING, value);
        wire_int(&a, ATTRIBUTE_KIND, 3);
    }
    wire_inner(node, NODE_ATTRIBUTE, &a);
}

static void wire_names(text *node, int field, char *list)
{
    char *name[MAX_WORDS];
    const int n = split(list, ",", name);
    for (int i = 0; i < n; i++)
        wire_text(node, field, strcmp(name[i], "-") ? name[i] : "");
}

void wire_flow(wire_model *m, const char *name, const char *spec, int n_graph, const wire_graph *graphs)
{
    char copy[512], *word[MAX_WORDS];
    snprintf(copy, sizeof copy, "%s", spec);
    const int n = split(copy, " ", word);
    text node = {0};
    wire_text(&node, NODE_NAME, name);
    char *dot = strrchr(word[0], '.');
    if (dot) {
        *dot = 0;
        wire_text(&node, NODE_DOMAIN, word[0]);
    }
    wire_text(&node, NODE_TYPE, dot ? dot + 1 : word[0]);
    wire_names(&node, NODE_INPUT, word[1]);
    wire_names(&node, NODE_OUTPUT, word[2]);
    for (int i = 3; i < n; i++)
        wire_attribute(&node, word[i]);
    for (int i = 0; i < n_graph; i++) {
        text a = {0};
        wire_text(&a, ATTRIBUTE_NAME, graphs[i].attribute);
        wire_inner(&a, ATTRIBUTE_GRAPH, &graphs[i].inner->graph);
        wire_int(&a, ATTRIBUTE_KIND, 5);
        wire_inner(&node, NODE_ATTRIBUTE, &a);
    }
    wire_inner(&m->graph, GRAPH_NODE, &node);
}

void wire_node(wire_model *m, const char *name, const char *spec)
{
    wire_flow(m, name, spec, 0, NULL);
}

static void begin_tensor(text *t, const char *name, int type, int rank, const int64_t *dim)
{
    for (int i = 0; i < rank; i++)
        wire_int(t, TENSOR_DIMS, (uint64_t)dim[i]);
    wire_int(t, TENSOR_TYPE, (uint64_t)type);
    wire_text(t, TENSOR_NAME, name);
}

void wire_tensor(wire_model *m, const char *name, int type, int rank, const int64_t *dim, const void *raw, size_t bytes)
{
    text t = {0};
    begin_tensor(&t, name, type, rank, dim);
    wire_bytes(&t, TENSOR_RAW, raw, bytes);
    wire_inner(&m->graph, GRAPH_TENSOR, &t);
}

static void wire_pair(text *tensor, const char *key, const char *value)
{
    text pair = {0};
    if (!value)
        return;
    wire_text(&pair, 1, key);
    wire_text(&pair, 2, value);
    wire_inner(tensor, TENSOR_EXTERNAL, &pair);
}

void wire_external(wire_model *m, const char *name, const int64_t shape[2], const char *location, const char *offset,
                   const char *length)
{
    text t = {0};
    begin_tensor(&t, name, (int)shape[0], 1, &shape[1]);
    wire_int(&t, TENSOR_LOCATION, 1);
    wire_pair(&t, "location", location);
    wire_pair(&t, "offset", offset);
    wire_pair(&t, "length", length);
    wire_inner(&m->graph, GRAPH_TENSOR, &t);
}

/* Nodes have field 1 in a graph and field 7 in a function. */
static void copy_nodes(const text *graph, text *to)
{
    for (size_t at = 0; at < graph->length;) {
        const unsigned char field = (unsigned char)graph->s[at++] >> 3;
        size_t length = 0;
        for (int shift = 0;; shift += 7) {
            const unsigned char byte = (unsigned char)graph->s[at++];
            length |= (size_t)(byte & 0x7F) << shift;
            if (byte < 0x80)
                break;
        }
        if (field == GRAPH_NODE)
            wire_bytes(to, 7, graph->s + at, length);
        at += length;
    }
}

void wire_function(text *file, const char *spec, wire_model *inner)
{
    char copy[512], *word[MAX_WORDS];
    snprintf(copy, sizeof copy, "%s", spec);
    split(copy, " ", word);
    text f = {0}, o = {0};
    char *dot = strrchr(word[0], '.');
    *dot = 0;
    wire_text(&f, 1, dot + 1);
    wire_text(&f, 10, word[0]);
    wire_names(&f, 4, word[1]);
    wire_names(&f, 5, word[2]);
    copy_nodes(&inner->graph, &f);
    wire_text(&o, 1, "");
    wire_int(&o, 2, (uint64_t)inner->opset);
    wire_inner(&f, 9, &o);
    wire_inner(file, MODEL_FUNCTION, &f);
    text_free(&inner->graph);
}

void wire_end(wire_model *m, text *out)
{
    wire_int(out, MODEL_IR, 8);
    wire_inner(out, MODEL_GRAPH, &m->graph);
    if (m->opset) {
        text o = {0};
        wire_text(&o, 1, "");
        wire_int(&o, 2, (uint64_t)m->opset);
        wire_inner(out, MODEL_OPSET, &o);
    }
    text_bytes(out, text_str(&m->opsets), m->opsets.length);
    text_free(&m->opsets);
}
