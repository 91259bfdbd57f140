/* Replacing leaves and inner nodes: what depends on them is made again, the rest is shared, recipes stay recipes. */
/* ctest: fast */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static const node *doubled(void *user, const node *old, const node *now) /* tanh(a) becomes a + a */
{
    graph *g = user;
    (void)old;
    return strcmp(now->op->name, "tanh") ? now : ts_call2(g, "add", now->in[0], now->in[0]);
}

static const node *nothing(void *user, const node *old, const node *now)
{
    g_fail(user, TS_BAD_INPUT, "no");
    return old == now ? NULL : now;
}

static void rewrites(void) /* operands first: what stands for a node is built on what stands for its operands */
{
    graph *g = ts_graph_make();
    const int64_t dim[] = {2, 3};
    const ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), root = ts_call1(g, "tanh", ts_call1(g, "tanh", x));
    ts_tensor out = NULL;
    const ts_tensor twice = ts_call2(g, "add", x, x);
    CHECK(g_rewrite(g, 1, &root, doubled, g, &out) && out == ts_call2(g, "add", twice, twice));
    CHECK(g_rewrite(g, 1, &x, doubled, g, &out) && out == x);
    CHECK(!g_rewrite(g, 1, &root, nothing, g, &out));
    ts_graph_free(g);
}

static void outputs(void) /* of one operation know each other, also when they are made again */
{
    graph *g = ts_graph_make();
    const int64_t dim[] = {2, 3};
    const ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), y = ts_input(g, "y", TS_F32, 2, dim);
    const ts_tensor both[] = {ts_call1(g, "split axis=1 sizes=[1,2] part=0", x),
                              ts_call1(g, "split axis=1 sizes=[1,2] part=1", x)};
    ts_tensor out[2] = {0};
    CHECK(ts_index(both[0]) == 0 && ts_index(both[1]) == 1 && ts_origin(both[1]) == both[0]);
    CHECK(ts_index(x) == 0 && ts_origin(x) == x);
    CHECK(ts_replace(g, 2, both, 1, &x, &y, out) && out[1] != both[1]);
    CHECK(ts_index(out[1]) == 1 && ts_origin(out[1]) == out[0]);
    ts_graph_free(g);
}

int main(void)
{
    rewrites();
    outputs();
    graph *g = ts_graph_make();
    const int64_t dim[] = {2, 3};
    const ts_tensor w = ts_weight(g, "w", TS_F32, 2, dim, 0, 1, 1), x = ts_input(g, "x", TS_F32, 2, dim);
    const ts_tensor soft = ts_call1(g, "softmax axis=-1", ts_call2(g, "add", w, x)), other = ts_call1(g, "exp", x);
    const ts_tensor root[] = {ts_call2(g, "multiply", soft, other), other};
    const ts_tensor given = ts_input(g, "given", TS_F32, 2, dim);
    ts_tensor out[2] = {0}, found[4];
    const int n_group = g->n_group;
    CHECK(ts_replace(g, 2, root, 1, &w, &given, out));
    CHECK(out[1] == other && out[0] != root[0]);
    CHECK(g->n_group == n_group + 1 && !strcmp(g->group[n_group].op->name, "softmax"));
    CHECK(ts_leaves(1, out, found) == 2 && found[0] == x && found[1] == given);
    CHECK(ts_nodes(1, out, NULL) == ts_nodes(1, root, NULL));
    CHECK(ts_replace(g, 2, root, 1, &soft, &x, out) && out[0] == ts_call2(g, "multiply", x, other));
    /* A state: x becomes 2x in every run. */
    err e = {0};
    ts_array start = {0}, now = {0};
    const ts_tensor twice = ts_call2(g, "add", x, x), sum = ts_call1(g, "sum", x);
    ts_plan *p = ts_plan_of(g, 1, &sum, 1, &(ts_state){x, twice}, &(ts_options){.target = "interp"}, &e);
    CHECK(p && ts_array_make(&start, TS_F32, 2, dim, &e));
    for (int i = 0; i < 6; i++)
        ((float *)start.data)[i] = (float)i;
    if (!p)
        printf("%s\n", e.text);
    CHECK(ts_plan_find(p, "y") == -1 && ts_plan_find(p, "x") == 0 && ts_plan_set(p, 0, &start, &e));
    CHECK(ts_plan_run(p, &e) && ts_plan_run(p, &e) && ts_plan_value(p, 0, &now, &e));
    if (!CHECK(now.data && ((float *)now.data)[5] == 20))
        printf("%s\n", e.text);
    ts_array_free(&now);
    CHECK(ts_plan_get(p, 0, &now, &e) && ts_array_at(&now, 0) == 30 && !ts_plan_get(p, 1, &now, &e));
    ts_array_free(&now), ts_array_free(&start);
    ts_plan_free(p);
    const int64_t wrong[] = {3, 2};
    const ts_tensor bad = ts_input(g, "bad", TS_F32, 2, wrong);
    CHECK(!ts_replace(g, 1, root, 1, &w, &bad, out));
    e = (err){0};
    ts_graph_ok(g, &e);
    CHECK_TEXT(e.text, "replacing \"w\" by \"bad\", which has another shape or dtype");
    ts_graph_free(g);
    return check_done();
}
