/* body.h - the messages of an ONNX file that hold steps: its graph, graphs inside of nodes, functions.
 * What comes out points into the message and the file's mapping, and lives in the file's arena. */
#pragma once
#include "import/names.h"
#include "import/onnx/tensor.h"

enum { ONNX_PORTS = 4096 }; /* inputs or outputs of one graph */

const char *onnx_text(const char *s); /* "" for a field that is absent */
const char *onnx_overload(arena *mem, const char *name, const char *overload);
const char *onnx_domain(const char *s); /* "" for the standard one */

/* The mapped file, scanned and unpacked into f's arena; payloads are spans of it. */
const Onnx__Model *onnx_unpack(model_file *f, err *e);
/* Everything but ports; names of tensors are added to given. function: attributes may refer to a caller's. */
bool onnx_steps(onnx_source *s, size_t n, Onnx__Node *const *from, body *out, err *e);
bool onnx_tensors(onnx_source *s, const Onnx__Graph *g, body *out, name_table *given, err *e);
/* A value given in the file is no input, even where it is listed as one: from IR 4 on it is a default then. */
bool onnx_ports(onnx_source *s, const Onnx__Graph *g, const name_table *given, body *out, err *e);
Onnx__Attribute__Kind onnx_kind(char letter); /* of attr.kind; UNDEFINED for what the format has not */
bool onnx_attributes(onnx_source *s, size_t n, Onnx__Attribute *const *from, step *out, err *e);
