/* The 21 tensor puzzles, functions of numpy written without it: each is a few calls here, those whose places are data
 * (compress, bincount, scatter_add) too. Values by the interpreter and by C, and gradients run where reals come out. */
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a, b: f64[5]; m: f64[3,3]; k: i64[5]; n: i64[2]; t: bool[5]; q: f64[2,4]; s: the number 1 */
static const double a[5] = {3, -1, 4, 0, 5}, b[5] = {2, 7, 1, 8, -2}, m[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9},
                    q[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const int64_t k[5] = {2, 0, 2, 1, 2}, n[2] = {1, 3};
static const unsigned char t[5] = {0, 1, 1, 0, 1};
static const ts_given given[] = {{"a", {TS_F64, 1, {5}, (void *)a}},    {"b", {TS_F64, 1, {5}, (void *)b}},
                                 {"m", {TS_F64, 2, {3, 3}, (void *)m}}, {"q", {TS_F64, 2, {2, 4}, (void *)q}},
                                 {"k", {TS_I64, 1, {5}, (void *)k}},    {"n", {TS_I64, 1, {2}, (void *)n}},
                                 {"t", {TS_BOOL, 1, {5}, (void *)t}}};
enum { GIVEN = sizeof given / sizeof *given, MOST = 25 };

/* Steps: a result's letter, its operands' letters, the call; the last one is the answer. */
typedef struct puzzle {
    const char *name, *step[5];
    int count;
    double want[MOST];
} puzzle;
static const puzzle all[] = {
    {"ones", {"y s broadcast_to shape=[4]"}, 4, {1, 1, 1, 1}},
    {"sum", {"y a sum"}, 1, {11}},
    {"outer", {"y an einsum equation=i,j->ij"}, 10, {3, 9, -1, -3, 4, 12, 0, 0, 5, 15}},
    {"diag", {"y m einsum equation=ii->i"}, 3, {1, 5, 9}},
    {"eye", {"y s element dims=[3,3] text=a*f64(eq(i0,i1))"}, 9, {1, 0, 0, 0, 1, 0, 0, 0, 1}},
    {"triu", {"y s element dims=[3,3] text=a*f64(le(i0,i1))"}, 9, {1, 1, 1, 0, 1, 1, 0, 0, 1}},
    {"cumsum", {"y a cumsum axis=0"}, 5, {3, 2, 6, 6, 11}},
    {"diff", {"y a element dims=[5] text=a[i0]-select(le(1,i0),a[i0-1],0)"}, 5, {3, -4, 5, -4, 5}},
    {"vstack", {"y ab stack axis=0"}, 10, {3, -1, 4, 0, 5, 2, 7, 1, 8, -2}},
    {"roll", {"y a element dims=[5] text=a[(i0+1)%5]"}, 5, {-1, 4, 0, 5, 3}},
    {"flip", {"y a element dims=[5] text=a[4-i0]"}, 5, {5, 0, 4, -1, 3}},
    {"compress",
     {"c t cast to=i64", "p c cumsum axis=0", "w tp formula text=\"a ? b - 1 : 5\"", "z s element dims=[6] text=a*0",
      "y zwa scatter"},
     5,
     {-1, 4, 5, 0, 0}},
    {"pad_to", {"y a pad pads=[0,3]"}, 8, {3, -1, 4, 0, 5, 0, 0, 0}},
    {"sequence_mask", {"y qn element dims=[2,4] text=select(lt(i1,b[i0]),a[i0,i1],0)"}, 8, {1, 0, 0, 0, 5, 6, 7, 0}},
    {"bincount",
     {"o s broadcast_to shape=[5]", "z s element dims=[4] text=a*0", "y zko scatter reduce=add"},
     4,
     {1, 1, 3, 0}},
    {"scatter_add", {"z s element dims=[3] text=a*0", "y zka scatter reduce=add"}, 3, {-1, 0, 12}},
    {"flatten", {"y m reshape shape=[-1]"}, 9, {1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"linspace", {"y s element dims=[5] text=2*a+(4-2)*f64(i0)/4"}, 5, {2, 2.5, 3, 3.5, 4}},
    {"heaviside", {"y ab formula text=\"a == 0 ? b : a > 0 ? 1.0 : 0.0\""}, 5, {1, 0, 1, 8, 1}},
    {"repeat", {"y n broadcast_to shape=[3,2]"}, 6, {1, 3, 1, 3, 1, 3}},
    {"bucketize", {"y an element dims=[5] folds=[2] text=i64(le(b[i1],a[i0]))"}, 5, {2, 0, 2, 0, 2}}};
enum { PUZZLES = sizeof all / sizeof *all };

/* letter[c]: the input or result of that name */
static ts_tensor solve(ts_graph *g, const puzzle *p, ts_tensor *letter)
{
    ts_tensor y = NULL;
    for (int s = 0; s < 5 && p->step[s]; s++) {
        ts_tensor in[4];
        int count = 0;
        const char *at = p->step[s] + 2;
        for (; *at != ' '; at++)
            in[count++] = letter[(unsigned char)*at];
        y = letter[(unsigned char)*p->step[s]] = ts_call(g, at + 1, count, in);
    }
    return y;
}

/* Those of the inputs that are needed */
static int needed(int count, const ts_tensor *root, ts_given *out)
{
    ts_tensor leaf[GIVEN];
    const int n_leaf = ts_leaves(count, root, leaf);
    for (int i = 0; i < n_leaf; i++)
        for (int j = 0; j < GIVEN; j++)
            if (!strcmp(ts_name(leaf[i]), given[j].name))
                out[i] = given[j];
    return n_leaf;
}

static void judge(const puzzle *p, const char *target)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    ts_tensor letter[128] = {NULL}, root[2] = {NULL};
    for (int i = 0; i < GIVEN; i++)
        letter[(unsigned char)*given[i].name] = ts_input(g, given[i].name, given[i].value.dtype, given[i].value.rank,
                                                         given[i].value.dim);
    letter['s'] = ts_scalar(g, TS_F64, 1);
    root[0] = solve(g, p, letter);
    const bool real = root[0] && ts_type(root[0]) == TS_F64;
    const ts_tensor loss = real ? ts_call1(g, "sum", ts_call1(g, "square", root[0])) : NULL, of = letter['a'];
    if (real)
        ts_chain_rule(g, 1, &loss, NULL, 1, &of, &root[1]);
    ts_array out[2] = {{0}};
    ts_given need[GIVEN];
    const int count = real ? 2 : 1;
    if (!CHECK(root[0] && ts_graph_ok(g, &e) &&
               ts_eval(count, root, needed(count, root, need), need, &(ts_options){.target = target}, out, &e)))
        printf("  %s on %s: %s\n", p->name, target, (ts_graph_ok(g, &e), e.text));
    CHECK(out[0].data && ts_array_count(&out[0]) >= p->count);
    for (int i = 0; out[0].data && i < p->count; i++)
        if (!CHECK(ts_array_at(&out[0], i) == p->want[i]))
            printf("  %s on %s: element %d is %g, not %g\n", p->name, target, i, ts_array_at(&out[0], i), p->want[i]);
    for (int i = 0; i < 2; i++)
        ts_array_free(&out[i]);
    ts_graph_free(g);
}

int main(void)
{
    CHECK(PUZZLES == 21);
    for (int i = 0; i < PUZZLES; i++)
        judge(&all[i], "interp"), judge(&all[i], "c");
    return check_done();
}
