/* wire.h - writes ONNX files in memory for the tests of import, good ones and bad ones. Inner messages are built in
 * texts of their own and consumed by the message that takes them. */
#ifndef TS_TEST_WIRE_H
#define TS_TEST_WIRE_H
#include "graph/base/base.h"

void wire_varint(text *t, uint64_t v);
void wire_int(text *t, int field, uint64_t v);
void wire_bytes(text *t, int field, const void *p, size_t n);
void wire_text(text *t, int field, const char *s);
void wire_inner(text *t, int field, text *inner); /* frees inner */

/* Field numbers of the format, as far as the tests write them. */
enum {
    MODEL_IR = 1,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_TRAINING = 20,
    MODEL_FUNCTION = 25,
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_TENSOR = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_SPARSE = 15,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_TYPE = 4,
    NODE_ATTRIBUTE = 5,
    NODE_DOMAIN = 7,
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_FLOAT = 2,
    ATTRIBUTE_INT = 3,
    ATTRIBUTE_STRING = 4,
    ATTRIBUTE_TENSOR = 5,
    ATTRIBUTE_GRAPH = 6,
    ATTRIBUTE_FLOATS = 7,
    ATTRIBUTE_INTS = 8,
    ATTRIBUTE_KIND = 20,
    ATTRIBUTE_REF = 21,
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_SEGMENT = 3,
    TENSOR_FLOATS = 4,
    TENSOR_INT32S = 5,
    TENSOR_STRINGS = 6,
    TENSOR_INT64S = 7,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    TENSOR_DOUBLES = 10,
    TENSOR_UINT64S = 11,
    TENSOR_EXTERNAL = 13,
    TENSOR_LOCATION = 14
};

/* A model: opset 17, one graph. Words are separated by spaces; "-" is an absent name. */
typedef struct wire_model {
    text graph, opsets; /* opsets: further OperatorSetId fields */
    int opset;          /* of the standard domain; 0: none written */
} wire_model;
void wire_begin(wire_model *m);
/* "x f32 batch,3,?": inputs and outputs; no extents at all ("x f32") is rank 0, "x f32 *" no shape given. */
void wire_input(wire_model *m, const char *spec);
void wire_output(wire_model *m, const char *spec);
/* "Gemm a,b,c y alpha=0.5 axes=[1,2] axis=-1 mode=text": node of that name. */
void wire_node(wire_model *m, const char *name, const char *spec);
/* The same with graphs as attributes; consumes their texts. */
typedef struct wire_graph {
    const char *attribute;
    wire_model *inner;
} wire_graph;
void wire_flow(wire_model *m, const char *name, const char *spec, int n, const wire_graph *graphs);
/* "local.Twice a,b y,z": a function that does the nodes of inner, which is consumed; into *file, after wire_end. */
void wire_function(text *file, const char *spec, wire_model *inner);
void wire_tensor(wire_model *m, const char *name, int type, int rank, const int64_t *dim, const void *raw,
                 size_t bytes);
/* A tensor of one dimension, shape = {type, extent}, whose bytes lie in another file; NULL: key absent. */
void wire_external(wire_model *m, const char *name, const int64_t shape[2], const char *location, const char *offset,
                   const char *length);
void wire_end(wire_model *m, text *out);
#endif
