/* A convolution in fewer products: the same integers, and only where that is fewer. */
#include "graph/winograd.h"
#include "tests/check.h"

#include <stdio.h>

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

static void same_values(const shape *s)
{
    graph *g = ts_graph_make();
    const node *plain = convolution(g, s, true), *root[] = {plain, plain ? winograd_conv(g, plain) : NULL};
    const ts_options interp = {.target = "interp"};
    ts_array x = {0}, got[2] = {0};
    ts_error e = {0};
    if (CHECK(root[1] && type_equal(&root[0]->type, &root[1]->type)) &&
        CHECK(ts_array_make(&x, TS_F32, 4, plain->in[0]->type.dim, &e))) {
        for (int64_t i = 0; i < ts_array_count(&x); i++)
            ((float *)x.data)[i] = (float)(i * 5 % 13 - 6);
        if (!CHECK(ts_eval(2, root, 1, &(ts_given){"x", x}, &interp, got, &e)))
            printf("  %s\n", e.text);
        for (int64_t i = 0; got[1].data && i < ts_array_count(&got[0]); i++)
            if (!CHECK(ts_array_at(&got[0], i) == ts_array_at(&got[1], i)))
                break;
    }
    ts_array_free(&x), ts_array_free(&got[0]), ts_array_free(&got[1]);
    ts_graph_free(g);
}

static void left_alone(const shape *s, bool known)
{
    graph *g = ts_graph_make();
    const node *plain = convolution(g, s, known);
    CHECK(plain && !winograd_conv(g, plain));
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
        same_values(&gaining[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        left_alone(&others[i], true);
    left_alone(&gaining[0], false); /* weights that are not known would be turned in every run */
    return check_done();
}
