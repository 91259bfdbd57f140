/* tile_test.c - generated C against the interpreter where a tile's pointers are hard to place: indices that are
 * gathered, subscripts with divisions, copies made further out, extents of 0. */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

static const char *const graphs[] = {
    /* rows far apart, folded with the row axis inside the tile */
    "n0 = input \"i\" below=1024 : i64[1,5]\n"
    "n1 = weight \"w\" mean=0 scale=1 seed=1 : f32[1024,128]\n"
    "n2 = gather(n1, n0) axis=0 : f32[1,5,128]\n"
    "n3 = sum(n2) axes=[2] keepdims=1 : f32[1,5,1]\n"
    "return n3\n",
    "n0 = input \"i\" below=1024 : i64[1,5]\n"
    "n1 = weight \"w\" mean=0 scale=1 seed=1 : f32[3,1024,40]\n"
    "n2 = gather(n1, n0) axis=1 : f32[3,1,5,40]\n"
    "n3 = max(n2) axes=[0,3] keepdims=0 : f32[1,5]\n"
    "return n3\n",
    /* 7 + i places on, counted in other rows: floor((i + 7) / 6) is 1 where a tile starts */
    "n0 = weight \"w\" mean=0 scale=1 seed=1 : f32[11,6]\n"
    "n1 = reshape(n0) shape=[66] : f32[66]\n"
    "n2 = slice(n1) starts=[7] sizes=[50] : f32[50]\n"
    "n3 = input \"x\" : f32[50,20]\n"
    "n4 = transpose(n0) axes=[1,0] : f32[6,11]\n"
    "n5 = reshape(n4) shape=[66] : f32[66]\n"
    "n6 = slice(n5) starts=[7] sizes=[50] : f32[50]\n"
    "n7 = matmul(n6, n3) : f32[20]\n"
    "n8 = add(n2, n6) : f32[50]\n"
    "return n7, n8\n",
    /* an operand turned before rows are cut: the copy has all rows, a tile some of them */
    "n0 = input \"x\" : f32[2,64,3,3]\n"
    "n1 = input \"z\" : f32[2,256,2,2]\n"
    "n2 = weight \"w\" mean=0 scale=0.1 seed=1 : f32[256,64,1,1]\n"
    "n3 = conv2d(n0, n2) strides=[2,2] pads=[0,0,0,0] group=1 : f32[2,256,2,2]\n"
    "n4 = add(n3, n1) : f32[2,256,2,2]\n"
    "n5 = relu(n4) : f32[2,256,2,2]\n"
    "n6 = mean(n5) axes=[2,3] keepdims=0 : f32[2,256]\n"
    "return n6\n",
    /* keys that are a result, and are turned for the scores too */
    "n0 = input \"x\" : f32[1,5,256]\n"
    "n1 = slice(n0) starts=[0,0,128] sizes=[1,5,128] : f32[1,5,128]\n"
    "n2 = reshape(n1) shape=[1,5,2,64] : f32[1,5,2,64]\n"
    "n3 = transpose(n2) axes=[0,2,1,3] : f32[1,2,5,64]\n"
    "n4 = transpose(n3) axes=[0,1,3,2] : f32[1,2,64,5]\n"
    "n5 = slice(n0) starts=[0,0,0] sizes=[1,5,128] : f32[1,5,128]\n"
    "n6 = reshape(n5) shape=[1,5,2,64] : f32[1,5,2,64]\n"
    "n7 = transpose(n6) axes=[0,2,1,3] : f32[1,2,5,64]\n"
    "n8 = matmul(n7, n4) : f32[1,2,5,5]\n"
    "return n3, n8\n",
    /* zeros where a condition does not hold, copied in short rows: gcc 12.2 lost some of the conditions */
    "n0 = input \"m\" : bool[2,9,12]\n"
    "n1 = input \"x\" : f32[2,9,12]\n"
    "n2 = const {0} : f32[]\n"
    "n3 = where(n0, n1, n2) : f32[2,9,12]\n"
    "n4 = input \"w\" : f32[2,1,9]\n"
    "n5 = matmul(n4, n3) : f32[2,1,12]\n"
    "return n5\n",
    /* nothing at all */
    "n0 = input \"i\" below=9 : i64[0,5]\n"
    "n1 = weight \"w\" mean=0 scale=1 seed=1 : f32[9,128]\n"
    "n2 = gather(n1, n0) axis=0 : f32[0,5,128]\n"
    "n3 = weight \"v\" mean=0 scale=1 seed=2 : f32[128,64]\n"
    "n4 = matmul(n2, n3) : f32[0,5,64]\n"
    "n5 = mean(n4) axes=[2] keepdims=1 : f32[0,5,1]\n"
    "n6 = subtract(n4, n5) : f32[0,5,64]\n"
    "return n6\n",
};

static bool same(const ts_array *a, const ts_array *b)
{
    double off = 0, largest = 0;
    for (int64_t i = 0; i < ts_array_count(b); i++) {
        off = fmax(off, fabs(ts_array_at(a, i) - ts_array_at(b, i)));
        largest = fmax(largest, fabs(ts_array_at(b, i)));
    }
    return off <= 0x1p-23 * 16 * largest; /* sums of up to 128 random numbers in f32 */
}

/* Every input of g, random within what it allows. */
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

static void test(const char *source)
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
         ts_eval(n, t, given, in, &(ts_options){.target = "c"}, ours, &e);
    for (int i = 0; ok && i < n; i++)
        ok = same(&ours[i], &judge[i]);
    if (!CHECK(ok))
        printf("%s%s\n", source, e.text);
    for (int i = 0; i < n; i++)
        ts_array_free(&judge[i]), ts_array_free(&ours[i]);
    for (int i = 0; i < given; i++)
        ts_array_free(&in[i].value);
    ts_graph_free(g);
}

int main(void)
{
    for (int i = 0; i < COUNT(graphs); i++)
        test(graphs[i]);
    return check_done();
}
