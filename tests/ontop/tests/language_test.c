/* language_test.c - what the generator writes in a language that the project does not know, run by its own back end, is
 * what the interpreter computes: under the guess of its target, and under loops with its roles, spaces and unit. */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const graphs[] = {
    "n0 = input \"x\" : f32[20,40]\n"
    "n1 = weight \"w\" mean=0 scale=0.2 seed=1 : f32[40,24]\n"
    "n2 = matmul(n0, n1) : f32[20,24]\n"
    "n3 = gelu(n2) : f32[20,24]\n"
    "n4 = softmax(n3) axis=1 : f32[20,24]\n"
    "return n2, n3, n4\n",
    /* a window over padding, and the largest of each */
    "n0 = input \"x\" : f32[2,3,9,9]\n"
    "n1 = weight \"w\" mean=0 scale=0.2 seed=1 : f32[8,3,3,3]\n"
    "n2 = conv2d(n0, n1) strides=[1,1] pads=[1,1,1,1] group=1 : f32[2,8,9,9]\n"
    "n3 = max(n2) axes=[2,3] keepdims=0 : f32[2,8]\n"
    "return n2, n3\n",
    /* rows that are looked up; sums along an axis; halves; whole numbers that wrap and are divided */
    "n0 = input \"i\" below=30 : i64[2,5]\n"
    "n1 = weight \"w\" mean=0 scale=1 seed=1 : f32[30,12]\n"
    "n2 = gather(n1, n0) axis=0 : f32[2,5,12]\n"
    "n3 = cumsum(n2) axis=1 : f32[2,5,12]\n"
    "n4 = cast(n3) to=f16 : f16[2,5,12]\n"
    "n5 = cast(n4) to=f32 : f32[2,5,12]\n"
    "n6 = subtract(n0, n0) : i64[2,5]\n"
    "n7 = formula(n0) text=a-20 : i64[2,5]\n"
    "n8 = floor_divide(n7, n0) : i64[2,5]\n"
    "return n3, n5, n6, n8\n",
    /* updates put where indices say */
    "n0 = input \"x\" : f32[6,4]\n"
    "n1 = input \"i\" below=6 : i64[3]\n"
    "n2 = input \"u\" : f32[3,4]\n"
    "n3 = scatter(n0, n1, n2) axis=0 reduce=add : f32[6,4]\n"
    "return n3\n",
    /* a product that ends within trips of the unit */
    "n0 = input \"x\" : f32[18,39]\n"
    "n1 = weight \"w\" mean=0 scale=0.2 seed=1 : f32[39,21]\n"
    "n2 = matmul(n0, n1) : f32[18,21]\n"
    "return n2\n",
};

static int give(const graph *g, ts_given *in, ts_error *e)
{
    int n = 0;
    for (int i = 0; i < g->n; i++) {
        const node *x = g->node[i];
        if (!x->leaf || x->leaf->kind != LEAF_INPUT)
            continue;
        in[n].name = x->label;
        if (ts_array_make(&in[n].value, x->type.dtype, x->type.rank, x->type.dim, e))
            ts_array_random(&in[n++].value, 3, x->leaf->below);
    }
    return n;
}

static bool same(const ts_array *a, const ts_array *b)
{
    double off = 0, largest = 0;
    for (int64_t i = 0; i < ts_array_count(b); i++) {
        off = fmax(off, fabs(ts_array_at(a, i) - ts_array_at(b, i)));
        largest = fmax(largest, fabs(ts_array_at(b, i)));
    }
    return off <= 0x1p-23 * 16 * largest; /* sums of up to 128 random numbers in f32 */
}

static void test(const char *source, const char *schema)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor t[4];
    ts_array judge[4] = {0}, ours[4] = {0};
    ts_given in[4] = {0};
    int n = 0;
    bool ok = ts_parse(g, source, COUNT(t), t, &n, &e);
    const int given = ok ? give(g, in, &e) : 0;
    ok = ok && ts_eval(n, t, given, in, &(ts_options){.target = "interp"}, judge, &e) &&
         ts_eval(n, t, given, in, &(ts_options){.target = "ontop", .schema = schema}, ours, &e);
    for (int i = 0; ok && i < n; i++)
        ok = CHECK(same(&ours[i], &judge[i]));
    if (!CHECK(ok))
        printf("%s%s\n", source, e.text);
    for (int i = 0; i < n; i++)
        ts_array_free(&judge[i]), ts_array_free(&ours[i]);
    for (int i = 0; i < given; i++)
        ts_array_free(&in[i].value);
    ts_graph_free(g);
}

/* What the language has no words for is refused: the text of a routine is C. */
static void test_refusal(void)
{
    ts_error e = {0};
    ts_array y = {0};
    ts_graph *g = ts_graph_make();
    float numbers[] = {3, 1, 2};
    const ts_given in = {"x", {.dtype = TS_F32, .rank = 1, .dim = {3}, .data = numbers}};
    ts_tensor t = ts_call1(g, "argsort", ts_input(g, "x", TS_F32, 1, in.value.dim));
    CHECK(!ts_eval(1, &t, 1, &in, &(ts_options){.target = "ontop"}, &y, &e));
    if (!CHECK(!strcmp(e.text, "argsort is a routine of C, which cannot be written in ontop")))
        printf("%s\n", e.text);
    ts_graph_free(g);
}

/* A copy, for which the workers of a group wait, inside a loop of which they make different trips */
static void test_divergent(void)
{
    ts_error e = {0};
    ts_tensor t[4];
    ts_array y[4] = {0};
    ts_given in[1] = {0};
    int n = 0;
    ts_graph *g = ts_graph_make();
    CHECK(ts_parse(g, graphs[0], COUNT(t), t, &n, &e) && give(g, in, &e) == 1);
    CHECK(!ts_eval(1, t, 1, in, &(ts_options){.target = "ontop", .schema = "skew"}, y, &e));
    if (!CHECK(!strcmp(e.text,
                       "matmul: workers of a group would wait for one another inside loop \"n_1\", of which each "
                       "makes other trips\n  hint: copy the operand at a loop outside of it")))
        printf("%s\n", e.text);
    ts_array_free(&in->value);
    ts_graph_free(g);
}

/* An index outside of its axis is seen. */
static void test_fault(void)
{
    ts_error e = {0};
    ts_array y = {0};
    ts_graph *g = ts_graph_make();
    float rows[] = {3, 1, 2, 4};
    int64_t at[] = {1, 4};
    const ts_given in[] = {{"x", {.dtype = TS_F32, .rank = 1, .dim = {4}, .data = rows}},
                           {"i", {.dtype = TS_I64, .rank = 1, .dim = {2}, .data = at}}};
    ts_tensor t = ts_call2(g, "gather axis=0", ts_input(g, "x", TS_F32, 1, in[0].value.dim),
                           ts_input(g, "i", TS_I64, 1, in[1].value.dim));
    CHECK(!ts_eval(1, &t, 2, in, &(ts_options){.target = "ontop"}, &y, &e));
    if (!CHECK(!strcmp(e.text, "gather: an index is outside its axis")))
        printf("%s\n", e.text);
    ts_graph_free(g);
}

/* Its own unit is what such loops are: the kernel's text says so. */
static void test_unit(void)
{
    ts_error e = {0};
    ts_tensor t[4];
    int n = 0;
    ts_graph *g = ts_graph_make();
    CHECK(ts_parse(g, graphs[0], COUNT(t), t, &n, &e));
    ts_plan *p = ts_plan_of(g, n, t, 0, NULL, &(ts_options){.target = "ontop", .schema = "fours"}, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL;
    if (!CHECK(json && strstr(json, "m@fours n@fours k@fours")))
        printf("%s%s\n", e.text, json ? json : "");
    ts_free(json), ts_plan_free(p), ts_graph_free(g);
}

int main(void)
{
    for (int i = 0; i < COUNT(graphs); i++)
        test(graphs[i], NULL);
    test(graphs[0], "desk");
    test(graphs[0], "fours");
    test(graphs[COUNT(graphs) - 1], "fours");
    test_unit();
    test_refusal();
    test_divergent();
    test_fault();
    return check_done();
}
