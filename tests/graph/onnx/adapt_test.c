/* What adapters may rely on: attributes by name and kind, integers from constants. */
/* ctest: fast */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <string.h>

static void test_attributes(void)
{
    const int64_t axes[] = {0, -1};
    const attr given[] = {{.name = "axis", .kind = 'i', .i = -1},
                          {.name = "alpha", .kind = 'f', .f = 0.5},
                          {.name = "axes", .kind = 'I', .n = 2, .ints = axes}};
    graph *g = ts_graph_make();
    const node *in[] = {g_ints(g, 3, (const int64_t[]){4, 5, 6}), g_input(g, "x", &(type){.dtype = TS_I64}, 0), NULL};
    const onnx_call c = {.g = g, .type = "Test", .n_in = 3, .in = in, .n_attr = 3, .attr = given};
    int64_t v[3];
    int n;
    err e = {0};
    CHECK(onnx_int(&c, "axis", 7) == -1 && onnx_int(&c, "none", 7) == 7);
    CHECK(onnx_real(&c, "alpha", 7) == 0.5 && onnx_real(&c, "none", 7) == 7);
    CHECK(onnx_ints(&c, "axes", 0, v, 3, &n, &e) && n == 2 && v[0] == 0 && v[1] == -1);
    CHECK(onnx_ints(&c, "axis", 0, v, 3, &n, &e) && n == 1 && v[0] == -1);
    CHECK(onnx_ints(&c, "none", 0, v, 3, &n, &e) && n == 3 && v[2] == 6);
    CHECK(!onnx_ints(&c, "none", 0, v, 2, &n, &e) && strstr(e.text, "3 values, at most 2"));
    e = (err){0};
    CHECK(!onnx_ints(&c, "none", 1, v, 3, &n, &e) && e.code == TS_UNSUPPORTED);
    e = (err){0};
    CHECK(!onnx_ints(&c, "none", 2, v, 3, &n, &e) && e.code == TS_BAD_INPUT);
    e = (err){0};
    CHECK(!onnx_ints(&c, "alpha", -1, v, 3, &n, &e) && strstr(e.text, "attribute alpha is not a list of integers"));
    CHECK(onnx_int(&c, "alpha", 7) == 7 && !ts_graph_ok(g, NULL)); /* the wrong kind is on record */
    ts_graph_free(g);
}

static void test_apply(void)
{
    graph *g = ts_graph_make();
    const node *x = g_input(g, "x", &(type){.dtype = TS_F32, .rank = 1, .dim = {3}}, 0);
    const node *in[] = {x, x, NULL}, *out[1] = {NULL};
    onnx_call c = {.g = g, .type = "Add", .n_in = 3, .in = in, .n_out = 1};
    const onnx_rule *r;
    const op *add = op_for_onnx("", "Add", 17, &r);
    err e = {0};
    CHECK(onnx_apply(add, r, &c, out, &e) && out[0]->op == add); /* an absent operand at the end is none */
    c.in = (const node *const[]){NULL, x};
    c.n_in = 2;
    CHECK(!onnx_apply(add, r, &c, out, &e) && strstr(e.text, "input 0 is missing"));
    e = (err){0};
    c.in = in;
    c.n_attr = 1;
    c.attr = &(const attr){.name = "broadcast", .kind = 'i', .i = 1};
    CHECK(!onnx_apply(add, r, &c, out, &e) && e.code == TS_BAD_INPUT && strstr(e.text, "no attribute broadcast"));
    e = (err){0};
    c.attr = &(const attr){.name = "__mine", .kind = 'i', .i = 1}; /* a maker's own */
    CHECK(onnx_apply(add, r, &c, out, &e) && out[0]->op == add);
    ts_graph_free(g);
}

static void test_unaligned(void)
{
    char bytes[64];
    const float f = 1.5F;
    const int64_t i = -7;
    memcpy(bytes + 1, &f, sizeof f);
    memcpy(bytes + 13, &i, sizeof i);
    CHECK(load_real(TS_F32, bytes + 1, 0) == 1.5);
    CHECK(load_whole(TS_I64, bytes + 5, 1) == -7);
}

int main(void)
{
    test_attributes();
    test_apply();
    test_unaligned();
    return check_done();
}
