/* quantize.h - an ONNX file with the weights of its products in 8 or 4 bits. The file is unpacked only to find the
 * products (quantize.c) and the values that they take (quantize_values.c); what is written (quantize_write.c) are the
 * bytes of the file itself, with other nodes and tensors in the place of a few. Memory is of the file's arena, but for
 * the numbers of each form. */
#pragma once
#include "import/names.h"
#include "import/onnx/fewer.h"
#include "import/onnx/splice.h"
#include "import/onnx/tensor.h"

typedef struct weight {
    ts_array value;
    bool known, fits, given; /* value was read; it can be quantized; it is an input, too */
    int uses, taken;         /* all, and those of products that are rewritten */
    int form[3];             /* by `way`: one more than its number; 0: none */
} weight;

/* As products take a weight: [k, n]; [n, k]; [n, k] through a Transpose. */
typedef enum way { STRAIGHT, SWAPPED, TURNED } way;

/* What a Transpose makes of a weight: exporters write x W' so. */
typedef struct turned {
    int weight;
    int uses, taken;
} turned;

/* A weight as the products want it that sum over the same axis of it. */
typedef struct form {
    int weight;
    way way;
    matrix w;
    fewer q;
    const char *numbers, *scale, *zero, *dequantized, *real; /* names; real: what products read */
    bool written;
} form;

/* A value that is rounded to u8 behind the node that makes it. */
typedef struct rounding {
    const char *value, *numbers, *scale, *zero, *real; /* names */
    bool for_all;                                      /* whoever reads it reads it rounded, not products alone */
    float step;
    uint8_t zero_at;
} rounding;

/* The third operand of a product, in steps of the sums that it is added to. */
typedef struct bias {
    const char *numbers, *scale, *real; /* names; NULL: there is none, or it stays as it is */
    int32_t *number;
    float *step;
    int64_t n;
} bias;

typedef struct beside {
    const char *name; /* of the file; NULL: everything lies in one */
    splice bytes;
} beside;

typedef struct quantizer {
    arena *mem;
    const ts_quantization *how;
    onnx_source source;
    const Onnx__Graph *g;
    name_table initializer, names;
    weight *weight; /* of each initializer */
    name_table turned_of;
    turned *turned;
    int *product; /* of each node: its form, or -1 */
    form *form;
    bias *bias; /* of each node; NULL where values are not rounded */
    name_table rounded;
    rounding *rounding;
    int n_rounding, cap_rounding;
    int n_form, cap_form, given; /* given: products whose weight is an input, too */
    beside beside;
    int renamed; /* names that had to get a number */
    ts_quantized what;
} quantizer;

/* name with an ending, unlike every other one of the file; names have an upper bound, so a long one is cut. */
const char *quantizer_name(quantizer *q, const char *name, const char *ending);
/* The values that products take, and the ranges of them by running the model. */
bool quantizer_observe(quantizer *q, err *e);
bool quantizer_drops(const quantizer *q, size_t i); /* node i turns a weight that nobody reads any more */
/* What node i reads as its operand k. */
const char *quantizer_operand(const quantizer *q, size_t i, size_t k);
/* The products were found. has_contrib: the file states a version of com.microsoft. */
bool quantizer_write(quantizer *q, const char *to, bool has_contrib, err *e);
