/* Convolutions whose weights change, both their gradients, and transposed ones without their strides: the same integers
 * from the C target on any number of threads as from the definitions in the interpreter.
 * ctest: Og */
#include "graph/ir/rule.h"
#include "tests/check.h"
#include "tests/graph/ops/way.h"

#include <stdio.h>

typedef struct shape {
    const char *op, *how;
    type x, w;
} shape;

#define T(...)                                                                                                     \
    {                                                                                                              \
        .dtype = TS_F32, .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .dim = { __VA_ARGS__ } \
    }

static const shape windows[] = {
    {"conv2d", "pads=[1,1,1,1]", T(2, 5, 9, 10), T(20, 5, 3, 3)},
    {"conv2d", "strides=[2,2] pads=[1,1,1,1]", T(2, 12, 9, 10), T(20, 12, 3, 3)},
    {"conv2d", "strides=[2,2]", T(3, 12, 8, 7), T(20, 12, 1, 1)},
    {"conv2d", "strides=[2,2] pads=[3,3,3,3]", T(2, 3, 17, 16), T(24, 3, 7, 7)},
    {"conv2d", "strides=[2,3] dilations=[3,2] pads=[2,1,0,4]", T(1, 9, 12, 13), T(17, 9, 3, 2)},
    {"conv2d", "strides=[4,2] dilations=[2,1] pads=[2,0,1,2]", T(2, 8, 13, 11), T(16, 8, 3, 5)},
    {"conv2d", "strides=[2,1] pads=[1,1,1,1] group=3", T(2, 6, 9, 8), T(9, 2, 3, 3)},
    {"conv1d", "strides=[3] pads=[2,2]", T(2, 16, 31), T(33, 16, 5)},
    {"conv3d", "strides=[2,1,2] pads=[1,0,1,1,1,1]", T(1, 8, 6, 5, 7), T(10, 8, 3, 2, 3)},
    {"conv_transpose", "pads=[1,1,1,1]", T(2, 9, 7, 8), T(9, 20, 3, 3)},
    {"conv_transpose", "strides=[2,2] pads=[1,1,1,1] output_padding=[1,0]", T(2, 9, 5, 6), T(9, 20, 3, 3)},
    {"conv_transpose", "strides=[2,2] pads=[-1,0,1,-2]", T(1, 9, 5, 6), T(9, 8, 2, 3)},
    {"conv_transpose", "strides=[2,3] dilations=[2,2] group=3", T(1, 9, 5, 4), T(9, 3, 3, 3)},
    {"conv_transpose", "strides=[3] output_padding=[4]", T(2, 4, 6), T(4, 3, 2)},
};

static void fill(ts_array *a, int by, int over)
{
    for (int64_t i = 0; i < ts_array_count(a); i++)
        ((float *)a->data)[i] = (float)(i * by % over - over / 2);
}

static void equal(const shape *s, int which, const ts_array *want, const ts_array *got, int threads)
{
    for (int64_t i = 0; i < ts_array_count(want); i++)
        if (!CHECK(ts_array_at(want, i) == ts_array_at(got, i))) {
            printf("  %s %s, %s, %d threads: element %lld is %g, not %g\n", s->op, s->how,
                   (const char *[]){"value", "gradient of x", "gradient of w"}[which], threads, (long long)i,
                   ts_array_at(got, i), ts_array_at(want, i));
            return;
        }
}

static void test_changing(const shape *s, int threads)
{
    enum { VALUES = 3 };
    graph *g = ts_graph_make();
    const node *in[] = {g_input(g, "x", &s->x, NULL), g_input(g, "w", &s->w, NULL)};
    const node *y = g_callf(g, 2, in, "%s %s", s->op, s->how), *out[VALUES] = {y};
    const node *dy = y ? g_input(g, "dy", &y->type, NULL) : NULL;
    ts_array of[VALUES] = {{0}}, want[VALUES] = {{0}};
    ts_error e = {0};
    if (!CHECK(dy && ts_chain_rule(g, 1, &y, &dy, 2, in, out + 1)))
        printf("  %s %s: %s\n", s->op, s->how, g->err.text);
    const type *t[] = {&s->x, &s->w, y ? &y->type : &s->x};
    for (int i = 0; i < VALUES; i++)
        if (CHECK(ts_array_make(&of[i], TS_F32, t[i]->rank, t[i]->dim, &e)))
            fill(&of[i], 3 + 2 * i, 5 + 2 * i);
    const ts_given given[] = {{"x", of[0]}, {"w", of[1]}, {"dy", of[2]}};
    ts_array got[VALUES] = {{0}};
    const ts_options o = {.target = "c", .threads = threads}, interp = {.target = "interp"};
    if (!CHECK(dy && of[2].data && ts_eval(VALUES, out, 3, given, &interp, want, &e) &&
               ts_eval(VALUES, out, 3, given, &o, got, &e)))
        printf("  %s %s: %s\n", s->op, s->how, e.text);
    for (int i = 0; i < VALUES && got[i].data; i++)
        equal(s, i, &want[i], &got[i], threads);
    for (int i = 0; i < VALUES; i++)
        ts_array_free(&of[i]), ts_array_free(&want[i]), ts_array_free(&got[i]);
    ts_graph_free(g);
}

static const node *known(graph *g, const shape *s)
{
    float *data = arena_array(&g->mem, (size_t)type_count(&s->w) + 1, sizeof *data);
    for (int64_t i = 0; i < type_count(&s->w); i++)
        data[i] = (float)(i * 7 % 11 - 5);
    const node *in[] = {g_input(g, "x", &s->x, NULL), g_weight(g, "w", &s->w, data)};
    return g_callf(g, 2, in, "%s %s", s->op, s->how);
}

/* Every part of a transposed convolution with strides has none. */
static void test_phases(void)
{
    static const shape taken[] = {
        {"conv_transpose", "strides=[2,2] pads=[1,1,1,1] output_padding=[1,1]", T(2, 6, 5, 4), T(6, 7, 3, 3)},
        {"conv_transpose", "strides=[2,2]", T(1, 6, 5, 4), T(6, 7, 1, 1)},
        {"conv_transpose", "strides=[1,4] dilations=[1,2] pads=[0,3,2,-1]", T(2, 4, 3, 5), T(4, 4, 2, 4)},
        {"conv_transpose", "strides=[2,2,2] pads=[1,0,0,0,1,2]", T(1, 2, 3, 3, 2), T(2, 3, 3, 2, 2)},
        {"conv_transpose", "strides=[3] dilations=[2] group=2 pads=[-2,1]", T(2, 4, 6), T(4, 3, 5)}};
    static const shape others[] = {{"conv_transpose", "", T(2, 6, 5, 4), T(6, 7, 3, 3)},
                                   {"conv_transpose", "strides=[16,16]", T(1, 6, 2, 2), T(6, 3, 16, 16)}};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        graph *g = ts_graph_make();
        way_is_same(g, known(g, &taken[i]), "interp", 1);
        way_is_same(g, known(g, &taken[i]), "c", 1 + (int)i % 3);
        ts_graph_free(g);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        graph *g = ts_graph_make();
        way_is_none(known(g, &others[i]));
        ts_graph_free(g);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        test_changing(&windows[i], 1 + (int)i % 3);
    test_phases();
    return check_done();
}
