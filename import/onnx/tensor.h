/* tensor.h - tensors of an ONNX file as arrays that lie where the file has them. Bytes are decoded only where the
 * format does not keep them as they are in memory. Tensors come from a scanned file: their payloads are spans. Arrays
 * point into the file's mappings or lie in its arena, and end with it. */
#pragma once
#include "import/onnx/onnx.pb-c.h"
#include "import/reader.h"

enum { ONNX_DECODED = 1 << 30 }; /* bytes of decoded tensors in one file */

typedef struct onnx_source {
    model_file *file; /* its mappings are pointed into; decoded tensors go to its arena */
    size_t decoded;
    int64_t ir;       /* the format's version */
    bool in_function; /* attributes may refer to those of a function's caller */
} onnx_source;

ProtobufCAllocator onnx_allocator(arena *mem); /* what is unpacked dies with the arena */
/* Both give TS_UNSUPPORTED for what is well-formed but has no dtype here. */
bool onnx_element(int code, const char *what, dtype *out, err *e);
bool onnx_tensor(onnx_source *s, const Onnx__Tensor *t, ts_array *out, err *e);
/* The bytes of one that lies in another file, as they lie there: out->data, elements of few bits packed. */
bool onnx_external(onnx_source *s, const Onnx__Tensor *t, ts_array *out, size_t *bytes, err *e);
void onnx_hold_constants(arena *mem, body *b); /* steps that are constant tensors become held ones */
/* There are no tensors of texts. One that lists them, of which steps only take some (labels of classes), has their
 * places, 0, 1, ..., in its stead: the first notes them, the second lets those be used that may. */
enum { ONNX_STRING = 8 }; /* an element type */
void onnx_text_places(arena *mem, const Onnx__Tensor *t, ts_array *out);
void onnx_hold_texts(body *b);
