/* ctest: Og
 * A convolution in fewer products: the same integers, and only where that is fewer. */
#include "tests/check.h"
#include "tests/graph/ops/way.h"

typedef struct shape {
    int64_t n, ic, oc, h, w;
    const char *how; /* attributes */
} shape;

static const node *convolution(graph *g, const shape *s, bool known)
{
    const type x = {.dtype = TS_F32, .rank = 4, .dim = {s->n, s->ic, s->h, s->w}},
               w = {.dtype = TS_F32, .rank = 4, .dim = {s->oc, s->ic, 3, 3}};
    float *data = arena_array(&g->mem, (size_t)type_count(&w), sizeof *data);
    for (int64_t i = 0; i < type_count(&w); i++)
        data[i] = (float)(i * 7 % 11 - 5);
    const node *weight = known ? g_weight(g, "w", &w, data) : g_input(g, "w", &w, NULL);
    return g_callf(g, 2, (const node *[]){g_input(g, "x", &x, NULL), weight}, "conv2d %s", s->how);
}

static void is_same(const shape *s, const char *target, int threads)
{
    graph *g = ts_graph_make();
    way_is_same(g, convolution(g, s, true), target, threads);
    ts_graph_free(g);
}

static void is_none(const shape *s, bool known)
{
    graph *g = ts_graph_make();
    way_is_none(convolution(g, s, known));
    ts_graph_free(g);
}

int main(void)
{
    static const shape gaining[] = {{1, 24, 24, 8, 8, "pads=[1,1,1,1]"},
                                    {2, 33, 20, 9, 12, "pads=[1,1,1,1]"},
                                    {1, 20, 40, 11, 10, "pads=[0,0,0,0]"},
                                    {1, 20, 20, 9, 9, "pads=[2,0,1,3]"}},
                       others[] = {{1, 24, 24, 8, 8, "pads=[1,1,1,1] strides=[2,2]"},
                                   {1, 24, 24, 12, 12, "dilations=[2,2]"},
                                   {1, 3, 64, 30, 30, "pads=[1,1,1,1]"},
                                   {1, 64, 64, 5, 5, "pads=[1,1,1,1]"}};
    for (size_t i = 0; i < sizeof gaining / sizeof *gaining; i++)
        is_same(&gaining[i], "interp", 1), is_same(&gaining[i], "c", 1 + (int)i % 3);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_none(&others[i], true);
    is_none(&gaining[0], false); /* weights that are not known would be turned in every run */
    return check_done();
}
