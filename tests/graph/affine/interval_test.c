/* Bounds of expressions: exact at points, at the corners of boxes, through definitions and constants; unknown else. */
/* ctest: fast */
#include "graph/affine/interval.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

static arena mem;

static span at(const char *source, span i, span j)
{
    err e = {0};
    span_memo memo = {.mem = &mem};
    const names known = {.n = 2, .name = {"i", "j"}, .value = {x_axis(&mem, 0), x_axis(&mem, 1)}};
    const expr *x = x_parse(&mem, source, &known, &e);
    return CHECK(x) ? span_of(&(span_box){.memo = &memo, .axis = (span[]){i, j}}, x) : (span){NAN, NAN};
}

static void is(const char *source, span i, span j, double low, double high)
{
    const span s = at(source, i, j);
    if (!CHECK(s.low == low && s.high == high))
        printf("  %s: %.17g ... %.17g, not %.17g ... %.17g\n", source, s.low, s.high, low, high);
}

static void check_functions(void)
{
    const span a = {0, 7}, b = {-3, 4}, p = {5, 5};
    is("i + 2*j", a, b, -6, 15);
    is("i - j", a, b, -4, 10);
    is("i * j", a, b, -21, 28);
    is("i < j", (span){0, 3}, (span){4, 9}, 1, 1);
    is("i < j", (span){4, 9}, (span){0, 3}, 0, 0);
    is("i < j", a, b, 0, 1);
    is("i < 4 && j < -5", a, b, 0, 0);
    is("i < 8 ? j : -100", a, b, -3, 4);
    is("i < 4 ? j : -100", a, b, -100, 4);
    is("floordiv(i, 2)", a, b, 0, 3);
    is("i % 3", p, b, 2, 2);
    is("i == 5", p, b, 1, 1);
    is("f32(exp(f32(j - 108)))", a, b, 0, 0); /* of the size of 1e-45: 0 in this dtype */
    is("exp(f32(0.0 * j))", a, b, 1, 1);
    is("f32(0) / f32(j)", a, b, 0, 0); /* what it divides by is a number */
    CHECK(at("i % 3", a, b).high > 1e18 && at("f32(1) / f32(j)", a, b).high > 1e29 && at("sin(f32(i))", a, b).low < -1);
    CHECK(at("u8(i - 8)", a, b).high > 254); /* it wraps */
    CHECK(at("i4(i + 8)", a, b).low <= -8 && at("u2(i)", a, b).low == 0 && at("u2(i - 4)", a, b).high >= 3);
    is("i4(i)", a, b, 0, 7);
}

static span of_node(graph *g, const node *n, span i, span j)
{
    span_memo memo = {.mem = &mem};
    const expr *sub[] = {x_axis(&mem, 0), x_axis(&mem, 1)};
    (void)g;
    return span_of(&(span_box){.memo = &memo, .axis = (span[]){i, j}}, x_load(&mem, n, sub));
}

static void check_nodes(void)
{
    graph *g = ts_graph_make();
    const type t = {.dtype = TS_BOOL, .rank = 2, .dim = {3, 4}}, real = {.dtype = TS_F32, .rank = 2, .dim = {3, 4}};
    static const unsigned char bits[] = {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0};
    const node *c = g_const(g, NULL, &t, bits), *x = g_input(g, "x", &t, NULL), *y = g_input(g, "y", &real, NULL),
               *both = g_call2(g, "logical_and", c, x),
               *mask = g_call3(g, "where", both, g_scalar(g, TS_F32, 0), g_scalar(g, TS_F32, -3e38)),
               *s = g_call2(g, "add", y, mask);
    const span all = {0, 2}, top = {0, 1}, right = {2, 3}, left = {0, 0};
    CHECK(span_is(of_node(g, c, top, right), 0) && span_is(of_node(g, c, all, left), 1));
    CHECK(of_node(g, c, all, right).high == 1);
    CHECK(span_is(of_node(g, both, top, right), 0) && of_node(g, both, all, left).low == 0);
    CHECK(span_is(of_node(g, mask, top, right), (double)-3e38f) && of_node(g, mask, all, left).high == 0);
    CHECK(of_node(g, s, top, right).high < -2.9e38 && of_node(g, s, all, left).high > 1e30);
    CHECK(of_node(g, c, (span){0, 9}, left).low == 0); /* beyond it: nothing is known */
    ts_graph_free(g);
}

int main(void)
{
    check_functions();
    check_nodes();
    arena_free(&mem);
    return check_done();
}
