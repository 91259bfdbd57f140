/* The wire scan: what it passes on, what it cuts out, and what it refuses in which words. */
#include "import/name.h"
#include "import/onnx/onnx.pb-c.h"
#include "import/onnx/scan.h"
#include "tests/check.h"
#include "tests/import/wire.h"

#include <stdio.h>
#include <string.h>

static bool scan(const text *file, text *lean, err *e)
{
    return onnx_scan((const unsigned char *)text_str(file), file->length, &onnx__model__descriptor, 1 << 27, lean, e);
}

/* Frees file. The scan must fail with code 3 and say `part`. */
static void refuse(text *file, const char *part)
{
    text lean = {0};
    err e = {0};
    CHECK(!scan(file, &lean, &e));
    if (!CHECK(strstr(e.text, part) != NULL))
        fprintf(stderr, "  said: %s\n  want: %s\n", e.text, part);
    CHECK(e.code == TS_BAD_INPUT);
    text_free(&lean);
    text_free(file);
}

static void small_model(text *out)
{
    wire_model m;
    const float w[3] = {1, 2, 3};
    wire_begin(&m);
    wire_input(&m, "x f32 batch,3");
    wire_output(&m, "y f32 batch,3");
    wire_tensor(&m, "w", 1, 1, (int64_t[]){3}, w, sizeof w);
    wire_node(&m, "add", "Add x,w y axes=[1,-2,300] alpha=0.5 mode=up");
    wire_end(&m, out);
}

static void test_passes_on(void)
{
    text file = {0}, lean = {0};
    err e = {0};
    small_model(&file);
    text doc = {0};
    for (int i = 0; i < 100000; i++)
        text_add(&doc, "documentation ");
    wire_inner(&file, 6, &doc); /* Model.doc_string: left out */
    CHECK(scan(&file, &lean, &e));
    CHECK(lean.length < 400);
    Onnx__Model *m = onnx__model__unpack(NULL, lean.length, (const uint8_t *)lean.s);
    if (CHECK(m && m->graph && m->graph->n_node == 1 && m->graph->n_initializer == 1)) {
        const Onnx__Node *n = m->graph->node[0];
        CHECK_TEXT(n->op_type, "Add");
        CHECK(n->n_input == 2 && n->n_attribute == 3);
        CHECK(n->attribute[0]->n_ints == 3 && n->attribute[0]->ints[1] == -2 && n->attribute[0]->ints[2] == 300);
        CHECK(n->attribute[1]->f == 0.5F);
        CHECK(n->attribute[2]->s.len == 2 && !memcmp(n->attribute[2]->s.data, "up", 2));
        const Onnx__Tensor *w = m->graph->initializer[0];
        span s = {0};
        if (CHECK(w->has_raw_data && w->raw_data.len == sizeof s)) {
            memcpy(&s, w->raw_data.data, sizeof s);
            CHECK(s.size == 12 && s.at + s.size <= file.length);
            CHECK(s.size == 12 && !memcmp(file.s + s.at, (const float[]){1, 2, 3}, 12));
        }
        CHECK_TEXT(m->graph->input[0]->type->tensor_type->shape->dim[0]->dim_param, "batch");
    }
    onnx__model__free_unpacked(m, NULL);
    text_free(&lean);
    text_free(&file);
}

/* Typed payloads, packed or entry by entry, become spans; a forged span in the file is data like any other. */
static void test_spans(void)
{
    text t = {0}, g = {0}, file = {0}, lean = {0}, packed = {0};
    err e = {0};
    wire_varint(&packed, 7);
    wire_varint(&packed, 1 << 20);
    wire_inner(&t, TENSOR_INT64S, &packed);
    wire_int(&t, TENSOR_INT64S, 5);
    wire_bytes(&t, TENSOR_RAW, (const uint64_t[]){0, UINT64_MAX}, 16);
    wire_inner(&g, GRAPH_TENSOR, &t);
    wire_inner(&file, MODEL_GRAPH, &g);
    CHECK(scan(&file, &lean, &e));
    Onnx__Model *m = onnx__model__unpack(NULL, lean.length, (const uint8_t *)lean.s);
    if (CHECK(m && m->graph->n_initializer == 1 && m->graph->initializer[0]->n_int64_data == 2)) {
        span s[3];
        memcpy(&s[0], m->graph->initializer[0]->int64_data[0].data, sizeof *s);
        memcpy(&s[1], m->graph->initializer[0]->int64_data[1].data, sizeof *s);
        memcpy(&s[2], m->graph->initializer[0]->raw_data.data, sizeof *s);
        CHECK(s[0].size == 4 && file.s[s[0].at] == 7);
        CHECK(s[1].size == 1 && file.s[s[1].at] == 5);
        CHECK(s[2].size == 16 && s[2].at + 16 == file.length);
    }
    onnx__model__free_unpacked(m, NULL);
    text_free(&lean);
    text_free(&file);
}

static void test_not_onnx(void)
{
    text t = {0};
    refuse(&t, "M001 not an ONNX model: file is empty");
    text_add(&t, "{\"format\": 1}");
    refuse(&t, "M001 not an ONNX model: byte 0 is not a field tag");
    text_add(&t, "hello world");
    refuse(&t, "M001 not an ONNX model: byte 2 is not a field tag");
    text_bytes(&t, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12);
    refuse(&t, "M001 not an ONNX model: byte 0 is not a field tag");
}

/* Every proper prefix of a model is refused, or it ends between two fields of the outermost message. */
static void test_truncated(void)
{
    text file = {0}, t = {0}, lean = {0};
    small_model(&file);
    for (size_t n = 1; n < file.length; n++) {
        err e = {0};
        lean.length = 0;
        const bool ok = onnx_scan((const unsigned char *)file.s, n, &onnx__model__descriptor, 1 << 27, &lean, &e);
        CHECK(ok || strstr(e.text, "M002 truncated at byte ") != NULL);
        CHECK(!ok || n == 2 || n == file.length - 6);
    }
    text_free(&lean);
    text_bytes(&t, file.s, file.length - 40);
    refuse(&t, "M002 truncated at byte 132 of 166 in graph.node[0].attribute[0]");
    text_free(&file);
}

static void test_bad_wire(void)
{
    text t = {0}, g = {0}, n = {0};
    wire_int(&t, MODEL_IR, 8);
    text_bytes(&t, "\x00\x01", 2); /* field 0 */
    refuse(&t, "M003 bad wire data at byte 2: field number out of range in the file");
    wire_int(&t, MODEL_IR, 8);
    text_bytes(&t, "\x3B", 1); /* field 7, start of a group */
    refuse(&t, "M003 bad wire data at byte 2: wire type of a group");
    text_bytes(&t, "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 12);
    refuse(&t, "M003 bad wire data at byte 1: a number of more than 10 bytes");
    wire_int(&n, NODE_INPUT, 3); /* a name written as a number */
    wire_inner(&g, GRAPH_NODE, &n);
    wire_inner(&t, MODEL_GRAPH, &g);
    refuse(&t, "wire type 0, 2 expected in graph.node[0].input");
    wire_varint(&n, NODE_NAME << 3 | 2);
    wire_varint(&n, 4294967295U);
    wire_inner(&g, GRAPH_NODE, &n);
    wire_text(&g, GRAPH_NAME, "after");
    wire_inner(&t, MODEL_GRAPH, &g);
    refuse(&t, "length 4294967295 exceeds 0 remaining in graph.node[0].name");
    wire_varint(&g, GRAPH_NODE << 3 | 2); /* an inner message longer than its graph */
    wire_varint(&g, 100);
    wire_inner(&t, MODEL_GRAPH, &g);
    wire_int(&t, MODEL_IR, 8);
    refuse(&t, "length 100 exceeds 0 remaining in graph.node");
    wire_varint(&t, MODEL_GRAPH << 3 | 2); /* a length that would wrap around */
    wire_varint(&t, UINT64_MAX - 2);
    refuse(&t, "M002 truncated");
    wire_int(&t, MODEL_IR, 8);
    wire_int(&t, MODEL_IR, 9);
    refuse(&t, "given twice in ir_version");
}

static void test_lists(void)
{
    text a = {0}, n = {0}, g = {0}, t = {0};
    wire_bytes(&a, ATTRIBUTE_INTS, "\x01\x80", 2); /* packed, the second number unfinished */
    wire_inner(&n, NODE_ATTRIBUTE, &a);
    wire_inner(&g, GRAPH_NODE, &n);
    wire_inner(&t, MODEL_GRAPH, &g);
    refuse(&t, "a list that ends within a number in graph.node[0].attribute[0].ints");
    wire_bytes(&a, ATTRIBUTE_FLOATS, "\0\0\0\0\0", 5);
    wire_inner(&n, NODE_ATTRIBUTE, &a);
    wire_inner(&g, GRAPH_NODE, &n);
    wire_inner(&t, MODEL_GRAPH, &g);
    refuse(&t, "a list that ends within a number in graph.node[0].attribute[0].floats");
}

/* node.attribute.g.node...: each level of graphs is three messages. */
static void nested(text *file, int graphs)
{
    text inner = {0};
    for (int i = 0; i < graphs; i++) {
        text a = {0}, n = {0}, g = {0};
        wire_inner(&a, ATTRIBUTE_GRAPH, &inner);
        wire_inner(&n, NODE_ATTRIBUTE, &a);
        wire_inner(&g, GRAPH_NODE, &n);
        inner = g;
    }
    wire_inner(file, MODEL_GRAPH, &inner);
}

static void test_depth(void)
{
    text t = {0}, lean = {0};
    err e = {0};
    nested(&t, 21); /* 1 + 21 * 3 = 64 messages */
    CHECK(scan(&t, &lean, &e));
    text_free(&lean);
    text_free(&t);
    nested(&t, 22);
    refuse(&t, "M004 messages nested 65 deep at byte ");
    nested(&t, 3000);
    refuse(&t, "M004 messages nested 65 deep at byte ");
}

static void named(text *file, const char *name, size_t n)
{
    text node = {0}, g = {0};
    wire_bytes(&node, NODE_NAME, name, n);
    wire_inner(&g, GRAPH_NODE, &node);
    wire_inner(file, MODEL_GRAPH, &g);
}

static void test_names(void)
{
    text t = {0}, lean = {0};
    err e = {0};
    char longest[NAME_MOST + 1];
    memset(longest, 'n', sizeof longest);
    named(&t, longest, sizeof longest - 1);
    CHECK(scan(&t, &lean, &e));
    text_free(&lean);
    text_free(&t);
    named(&t, longest, sizeof longest);
    refuse(&t, "M014 graph.node[0].name: 513 bytes, limit 512");
    named(&t, "a\0b", 3);
    refuse(&t, "M014 graph.node[0].name: control character U+0000 at byte 1");
    named(&t, "a\nb", 3);
    refuse(&t, "control character U+000A at byte 1");
    named(&t, "good\xC3", 5);
    refuse(&t, "M014 graph.node[0].name: invalid UTF-8 at byte 4");
    named(&t, "\xC0\x80", 2); /* not the shortest form */
    refuse(&t, "invalid UTF-8 at byte 0");
    named(&t, "größe/層.0::Add", sizeof "größe/層.0::Add" - 1);
    CHECK(scan(&t, &lean, &e));
    text_free(&lean);
    text_free(&t);
}

static void test_counts(void)
{
    text node = {0}, g = {0}, t = {0};
    for (int i = 0; i < 4097; i++)
        wire_text(&node, NODE_INPUT, "x");
    wire_inner(&g, GRAPH_NODE, &node);
    wire_inner(&t, MODEL_GRAPH, &g);
    refuse(&t, "M005 4097 entries at byte 12294, at most 4096 expected");
    for (int i = 0; i < 1025; i++)
        wire_text(&node, NODE_ATTRIBUTE, "");
    wire_inner(&g, GRAPH_NODE, &node);
    wire_inner(&t, MODEL_GRAPH, &g);
    refuse(&t, "in graph.node[0].attribute");
    for (int i = 0; i <= SCAN_MOST; i++)
        wire_text(&g, GRAPH_NODE, "");
    wire_inner(&t, MODEL_GRAPH, &g);
    refuse(&t, "M005 1000001 entries at byte 2000004, at most 1000000 expected");
}

int main(void)
{
    test_passes_on();
    test_spans();
    test_not_onnx();
    test_truncated();
    test_bad_wire();
    test_lists();
    test_depth();
    test_names();
    test_counts();
    return check_done();
}
