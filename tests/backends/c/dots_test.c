/* Products of integers by the instructions of each set: whole and clipped vectors, few rows, one, sums longer than a
 * block, zeros, scales by column, what quantize made. Held against the interpreter. */
#include "graph/ir/graph.h"
#include "graph/ir/rule.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem {
    int rows, deep, columns;
    dtype a;
    bool scaled;      /* f32 that quantize made integers of, and dequantize reals again; else integers */
    const char *then; /* a transposition of a square weight; NULL: none */
} problem;

typedef struct image { /* a convolution of f32 that quantize made integers of, as is its weight */
    int inputs, height, width, outputs, kernel, stride, pad;
    dtype a;
    int zero, weight_zero;
    const char *more; /* attributes */
} image;

static const node *operand(graph *g, const problem *c)
{
    const type t = {TS_F32, 2, {c->rows, c->deep}}, i = {c->a, 2, {c->rows, c->deep}};
    const node *scale = g_scalar(g, TS_F32, 0.02), *zero = g_scalar(g, c->a, 3);
    if (!c->scaled)
        return g_leaf(g, op_find("input"), "x", &i, &(leaf){.kind = LEAF_INPUT});
    const node *x = g_leaf(g, op_find("input"), "x", &t, &(leaf){.kind = LEAF_INPUT});
    const attr to = attr_word("to", ts_dtype_name(c->a));
    x = g_make(g, op_find("quantize"), 3, (const node *const[]){x, scale, zero}, &to, 1);
    return g_make(g, op_find("dequantize"), 3, (const node *const[]){x, scale, zero}, NULL, 0);
}

static const node *weight(graph *g, const problem *c)
{
    const type t = {TS_I8, 2, {c->deep, c->columns}}, by = {TS_F32, 1, {c->columns}};
    int8_t *w = calloc((size_t)(c->deep * c->columns) + 1, 1);
    float *scale = calloc((size_t)c->columns + 1, sizeof *scale);
    MUST(w && scale);
    for (int i = 0; i < c->deep * c->columns; i++)
        w[i] = (int8_t)(i * 89 % 256 - 128);
    for (int i = 0; i < c->columns; i++)
        scale[i] = 0.001F * (float)(1 + i % 7);
    const node *y = g_const(g, "w", &t, w), *s = g_const(g, "s", &by, scale);
    free(w), free(scale);
    if (!c->scaled)
        return y;
    y = g_make(g, op_find("dequantize"), 3, (const node *const[]){y, s, g_scalar(g, TS_I8, 0)}, NULL, 0);
    return c->then ? g_call1(g, c->then, y) : y;
}

static bool fill(ts_array *x)
{
    for (int64_t i = 0; i < ts_array_count(x); i++)
        if (x->dtype == TS_F32)
            ((float *)x->data)[i] = 0.013F * (float)(i * 37 % 501 - 250);
        else
            ((uint8_t *)x->data)[i] = (uint8_t)(i * 151);
    return true;
}

/* y of x there and on the interpreter: off by a square of at most `by` of the largest */
static void held(const node *y, const type *x, const char *isa, double by, const char *what)
{
    ts_error e = {0};
    ts_given in = {.name = "x"};
    ts_array want = {0}, got = {0};
    const ts_options on = {.target = "c", .isa = isa};
    ts_tensor t = y;
    const bool ok = y && ts_array_make(&in.value, x->dtype, x->rank, x->dim, &e) && fill(&in.value) &&
                    ts_eval(1, &t, 1, &in, &(ts_options){.target = "interp"}, &want, &e) &&
                    ts_eval(1, &t, 1, &in, &on, &got, &e);
    if (!CHECK(ok))
        printf("%s %s: %s\n", isa, what, e.text);
    double off = 0, most = 0;
    for (int64_t i = 0; ok && i < ts_array_count(&want); i++) {
        const double w = ts_array_at(&want, i), d = ts_array_at(&got, i) - w;
        off = d * d > off * off ? d : off, most = w * w > most * most ? w : most;
    }
    if (!CHECK(off * off <= by * most * most))
        printf("%s %s: off by %g of %g\n", isa, what, off, most);
    ts_array_free(&in.value), ts_array_free(&want), ts_array_free(&got);
}

static void test(const problem *c, const char *isa)
{
    char what[80];
    ts_graph *g = ts_graph_make();
    const type t = {c->scaled ? TS_F32 : c->a, 2, {c->rows, c->deep}};
    snprintf(what, sizeof what, "%d x %d x %d of %s", c->rows, c->deep, c->columns, ts_dtype_name(c->a));
    held(g_call2(g, c->scaled ? "matmul" : "integer_matmul", operand(g, c), weight(g, c)), &t, isa,
         c->scaled ? 1e-11 : 0, what);
    ts_graph_free(g);
}

static void test_image(const image *c, const char *isa)
{
    char what[160];
    ts_graph *g = ts_graph_make();
    const type t = {TS_F32, 4, {2, c->inputs, c->height, c->width}},
               to = {TS_I8, 4, {c->outputs, c->inputs, c->kernel, c->kernel}}, by = {TS_F32, 4, {c->outputs, 1, 1, 1}};
    const int64_t n = type_count(&to);
    int8_t *w = calloc((size_t)n + 1, 1);
    float *scale = calloc((size_t)c->outputs + 1, sizeof *scale);
    MUST(w && scale);
    for (int64_t i = 0; i < n; i++)
        w[i] = (int8_t)(i * 89 % 256 - 128);
    for (int i = 0; i < c->outputs; i++)
        scale[i] = 0.001F * (float)(1 + i % 7);
    const attr as = attr_word("to", ts_dtype_name(c->a));
    const node *x = g_leaf(g, op_find("input"), "x", &t, &(leaf){.kind = LEAF_INPUT}),
               *step = g_scalar(g, TS_F32, 0.02), *zero = g_scalar(g, c->a, c->zero);
    x = g_make(g, op_find("quantize"), 3, (const node *const[]){x, step, zero}, &as, 1);
    x = g_make(g, op_find("dequantize"), 3, (const node *const[]){x, step, zero}, NULL, 0);
    const node *k = g_make(
        g, op_find("dequantize"), 3,
        (const node *const[]){g_const(g, "w", &to, w), g_const(g, "s", &by, scale), g_scalar(g, TS_I8, c->weight_zero)},
        NULL, 0);
    free(w), free(scale);
    snprintf(what, sizeof what, "conv2d strides=[%d,%d] pads=[%d,0,%d,%d]%s", c->stride, c->stride, c->pad, c->pad,
             c->pad, c->more);
    const node *y = g_call2(g, what, x, k);
    snprintf(what + strlen(what), sizeof what - strlen(what), " of %d x %d x %d by %d, %s %d", c->inputs, c->height,
             c->width, c->outputs, ts_dtype_name(c->a), c->zero);
    held(y, &t, isa, 1e-11, what);
    ts_graph_free(g);
}

int main(void)
{
    static const problem problems[] = {{5, 64, 48, TS_U8, false, NULL},
                                       {1, 96, 80, TS_U8, false, NULL},
                                       {9, 36, 53, TS_U8, false, NULL},
                                       {3, 2052, 32, TS_U8, false, NULL},
                                       {4, 37, 40, TS_U8, false, NULL},
                                       {5, 64, 48, TS_I8, true, NULL},
                                       {7, 128, 33, TS_U8, true, NULL},
                                       {1, 64, 96, TS_I8, true, NULL},
                                       {3, 48, 48, TS_U8, true, "transpose axes=[0,1]"},
                                       {3, 48, 48, TS_U8, true, "transpose axes=[1,0]"}};
    static const image images[] = {{32, 5, 9, 48, 1, 1, 0, TS_U8, 0, 0, ""},
                                   {20, 9, 7, 37, 3, 1, 1, TS_U8, 0, 0, ""},
                                   {16, 8, 8, 16, 3, 2, 1, TS_U8, 114, 0, ""},
                                   {64, 7, 7, 33, 3, 1, 1, TS_I8, -128, 0, ""},
                                   {24, 11, 6, 20, 2, 1, 1, TS_I8, 3, 0, " dilations=[2,3]"},
                                   {32, 6, 6, 24, 1, 2, 0, TS_I8, -7, 0, ""},
                                   {16, 6, 6, 24, 3, 1, 1, TS_U8, 7, 5, ""},
                                   {3, 12, 12, 16, 3, 2, 1, TS_U8, 99, 0, ""}};
    static const char *const sets[] = {"plain", "avx2", "avx512", "avx512vnni", "neon"};
    for (int i = 0; i < COUNT(sets); i++) {
        ts_error lacks = {0};
        char *machine = ts_machine_json(&(ts_options){.target = "c", .isa = sets[i]}, &lacks);
        for (int k = 0; machine && k < COUNT(problems); k++)
            test(&problems[k], sets[i]);
        for (int k = 0; machine && k < COUNT(images); k++)
            test_image(&images[k], sets[i]);
        free(machine);
    }
    return check_done();
}
