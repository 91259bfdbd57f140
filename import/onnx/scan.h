/* scan.h - the wire format of a file nobody vouches for, checked before protobuf-c sees it. The scan walks the bytes
 * with an explicit stack under the message descriptors that onnx.proto generates: it bounds nesting, counts and name
 * lengths, checks names, and writes a lean copy that leaves out what is not declared and replaces every tensor payload
 * by a span. Unpacking the lean copy needs memory in proportion to the graph's description, not to its weights. The
 * copy is the caller's text; the file is only read, and has to outlive what uses the spans.
 * The room:  scan -> reader: body (tensor, constant) -> steps     write: steps -> a file     value: data of tests */
#pragma once
#include "graph/base/base.h"

#include <protobuf-c/protobuf-c.h>

enum {
    SCAN_DEPTH = 64,      /* messages within messages */
    SCAN_MOST = 1000000,  /* nodes, tensors, and entries of any list without a limit of its own */
    SCAN_LIST = 16 << 20, /* entries of an attribute's list of numbers */
    SCAN_PORTS = 4096,    /* inputs, and outputs, of a node */
    SCAN_WORDS = 1024,    /* attributes of a node */
};

/* Where a payload lies in the file: the 16 bytes that the lean copy holds instead of it. */
typedef struct span {
    uint64_t at, size;
} span;

/* p[0..n) is the file, root the type of its one message. On success lean holds the copy. */
bool onnx_scan(const unsigned char *p, size_t n, const ProtobufCMessageDescriptor *root, int64_t most, text *lean,
               err *e);
