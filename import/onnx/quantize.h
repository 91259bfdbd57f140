/* quantize.h - an ONNX file with the weights of its products in 8 or 4 bits. The file is unpacked only to find the
 * products (quantize.c); what is written (quantize_write.c) are the bytes of the file itself, with other nodes and
 * tensors in the place of a few. Memory is of the file's arena, but for
 * the numbers of each form. */
#ifndef TS_ONNX_QUANTIZE_H
#define TS_ONNX_QUANTIZE_H
#include "import/names.h"
#include "import/onnx/fewer.h"
#include "import/onnx/splice.h"
#include "import/onnx/tensor.h"

typedef struct weight {
    ts_array value;
    bool known, fits, given; /* value was read; it can be quantized; it is an input, too */
    int uses, taken;         /* all, and those of products that are rewritten */
    int form[2];             /* one more than the number of each, swapped last; 0: none */
} weight;

/* A weight as the products want it that sum over the same axis of it. */
typedef struct form {
    int weight;
    bool swapped; /* [n, k] */
    matrix w;
    fewer q;
    const char *numbers, *scale, *zero, *real; /* names */
    bool written;
} form;

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
    int *product;   /* of each node: its form, or -1 */
    form *form;
    int n_form, cap_form, given; /* given: products whose weight is an input, too */
    beside beside;
    int renamed; /* names that had to get a number */
    ts_quantized what;
} quantizer;

/* name with an ending, unlike every other one of the file; names have an upper bound, so a long one is cut. */
const char *quantizer_name(quantizer *q, const char *name, const char *ending);
/* The products were found. has_contrib: the file states a version of com.microsoft. */
bool quantizer_write(quantizer *q, const char *to, bool has_contrib, err *e);
#endif
