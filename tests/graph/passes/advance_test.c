/* A causal model over a whole sequence, and the same going on by a place at a time: every row is the same; what cannot
 * be done so is refused by name. Through the public interface, on the interpreter. */
/* ctest: fast */
#include "tessera.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { T = 6, H = 2, C = 4, V = 7 };
static const ts_options options = {.target = "interp"};

typedef struct net {
    ts_graph *g;
    ts_tensor ids, out;
} net;

static ts_tensor weight(ts_graph *g, const char *name, int64_t rows, int64_t columns, uint64_t seed)
{
    return ts_weight(g, name, TS_F32, 2, (int64_t[]){rows, columns}, 0, 0.7, seed);
}

static ts_tensor heads(ts_graph *g, ts_tensor x, uint64_t seed) /* [1, T, H*C] -> [1, H, T, C] */
{
    const ts_tensor y = ts_call2(g, "matmul", x,
                                 weight(g,
                                        seed == 3   ? "q"
                                        : seed == 4 ? "k"
                                                    : "v",
                                        H * C, H * C, seed));
    return ts_call1(g, "transpose axes=[0,2,1,3]", ts_call1(g, "reshape shape=[1,6,2,4]", y));
}

/* Tokens and places, attention to what came before, a norm, logits [1, T, V]; through two dimensions on the way. */
static net make(void)
{
    net n = {.g = ts_graph_make()};
    ts_graph *g = n.g;
    n.ids = ts_input(g, "ids", TS_I64, 2, (int64_t[]){1, T});
    const ts_tensor table = weight(g, "table", V, H * C, 1), places = weight(g, "places", T, H * C, 2),
                    flat = ts_call1(g, "reshape shape=[6]", n.ids),
                    rows = ts_call1(g, "reshape shape=[1,6,8]", ts_call2(g, "gather axis=0", table, flat)),
                    x = ts_call2(g, "add", rows, places), q = heads(g, x, 3), k = heads(g, x, 4), v = heads(g, x, 5),
                    turned = ts_call1(g, "transpose axes=[0,1,3,2]", k), scores = ts_call2(g, "matmul", q, turned);
    float later[T * T];
    for (int i = 0; i < T * T; i++)
        later[i] = i % T > i / T ? -1e30f : 0;
    const ts_tensor mask = ts_constant(g, "mask", &(ts_array){TS_F32, 2, {T, T}, later}),
                    soft = ts_call1(g, "softmax axis=-1", ts_call2(g, "add", scores, mask)),
                    joined = ts_call1(g, "transpose axes=[0,2,1,3]", ts_call2(g, "matmul", soft, v)),
                    y = ts_call2(g, "add", x, ts_call1(g, "reshape shape=[1,6,8]", joined)),
                    scale = ts_weight(g, "scale", TS_F32, 1, (int64_t[]){H * C}, 1, 0.1, 6),
                    norm = ts_call2(g, "layer_norm axis=-1", y, scale);
    n.out = ts_call2(g, "matmul", ts_call1(g, "gelu", norm), weight(g, "out", H * C, V, 7));
    return n;
}

/* A recurrent network over the same tokens: states c and h, rows of inputs, what each place adds from a table, and the
 * number of the trip. back: the inputs' rows from the last one on. */
static net recurrent(bool back)
{
    net n = {.g = ts_graph_make()};
    ts_graph *g = n.g;
    n.ids = ts_input(g, "ids", TS_I64, 2, (int64_t[]){1, T});
    const ts_tensor rows = ts_call2(g, "gather axis=0", weight(g, "table", V, C, 1), n.ids), /* [1, T, C] */
        places = weight(g, "places", T, C, 2);
    ts_scan *s = ts_scan_begin(g, T);
    float none[C] = {0.5f, -0.25f, 0.125f, 1};
    const ts_tensor first = ts_constant(g, "first", &(ts_array){TS_F32, 1, {C}, none}), h = ts_scan_state(s, first),
                    c = ts_scan_state(s, ts_call2(g, "multiply", first, ts_scalar(g, TS_F32, 2))),
                    x = ts_scan_slice(s, ts_call1(g, "reshape shape=[6,4]", rows), back),
                    p = ts_scan_slice(s, places, true), number = ts_call1(g, "cast to=f32", ts_scan_trip(s)),
                    in = ts_call2(g, "add", ts_call2(g, "add", x, p),
                                  ts_call2(g, "matmul", h, weight(g, "w", C, C, 3))),
                    next = ts_call2(g, "add", ts_call2(g, "multiply", c, ts_scalar(g, TS_F32, 0.5)), in),
                    out = ts_call1(
                        g, "tanh",
                        ts_call2(g, "add", next, ts_call2(g, "multiply", number, ts_scalar(g, TS_F32, 0.1))));
    ts_scan_step(s, h, out), ts_scan_step(s, c, next), ts_scan_gather(s, out, false);
    ts_tensor all[3];
    ts_scan_end(s, all);
    n.out = ts_call1(g, "reshape shape=[1,6,7]", ts_call2(g, "matmul", all[2], weight(g, "out", C, V, 7)));
    return n;
}

static int64_t ids[T] = {3, 0, 6, 6, 1, 5};

static void give(ts_plan *p, const char *name, ts_array a)
{
    ts_error e = {0};
    if (!CHECK(ts_plan_find(p, name) >= 0 && ts_plan_set(p, ts_plan_find(p, name), &a, &e)))
        printf("%s: %s\n", name, e.text);
}

static void test_rows(net n)
{
    ts_error e = {0};
    ts_array whole = {0};
    const ts_given given = {"ids", {TS_I64, 2, {1, T}, ids}};
    ts_steps s;
    if (!CHECK(ts_graph_ok(n.g, &e) && ts_eval(1, &n.out, 1, &given, &options, &whole, &e)) ||
        !CHECK(ts_advance(n.g, (ts_sequence){n.out, 1}, (ts_sequence){n.ids, 1}, &s, &e))) {
        printf("%s\n", e.text);
        return;
    }
    CHECK(s.n == 2); /* keys and values; states */
    ts_plan *p = ts_plan_of(n.g, 1, &s.out, s.n, s.state, &options, &e);
    if (!CHECK(p != NULL)) {
        printf("%s\n", e.text);
        return;
    }
    for (int i = 0; i < s.n; i++) {
        ts_array zeros;
        CHECK(ts_array_make(&zeros, ts_type(s.of[i]), ts_rank(s.of[i]), ts_shape(s.of[i]), &e));
        CHECK(ts_shape(s.of[i])[s.axis[i]] == T);
        give(p, ts_name(s.state[i].from), zeros);
        ts_array_free(&zeros);
    }
    for (int64_t t = 0; t < T; t++) {
        ts_array row = {0};
        give(p, ts_name(s.place), (ts_array){TS_I64, 0, {0}, &t});
        give(p, ts_name(s.row), (ts_array){TS_I64, 2, {1, 1}, &ids[t]});
        if (!CHECK(ts_plan_run(p, &e) && ts_plan_get(p, 0, &row, &e))) {
            printf("%s\n", e.text);
            break;
        }
        CHECK(row.rank == 3 && row.dim[1] == 1 && row.dim[2] == V);
        for (int i = 0; i < V; i++)
            if (!CHECK(fabs(ts_array_at(&row, i) - ts_array_at(&whole, t * V + i)) < 1e-5))
                printf("  place %lld, logit %d: %g, not %g\n", (long long)t, i, ts_array_at(&row, i),
                       ts_array_at(&whole, t * V + i));
        ts_array_free(&row);
    }
    ts_array_free(&whole);
    ts_plan_free(p);
    ts_graph_free(n.g);
}

static void refused(const char *call, const char *why)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    const ts_tensor x = ts_input(g, "x", TS_F32, 2, (int64_t[]){1, T}),
                    y = ts_call2(g, "subtract", x, ts_call1(g, call, x));
    ts_steps s;
    CHECK(ts_graph_ok(g, &e) && !ts_advance(g, (ts_sequence){y, 1}, (ts_sequence){x, 1}, &s, &e) &&
          e.code == TS_UNSUPPORTED);
    if (!CHECK(strstr(e.text, why) != NULL))
        printf("  %s: %s\n", call, e.text);
    ts_graph_free(g);
}

static void refused_scan(void)
{
    ts_error e = {0};
    net n = recurrent(true);
    ts_steps s;
    CHECK(ts_graph_ok(n.g, &e) && !ts_advance(n.g, (ts_sequence){n.out, 1}, (ts_sequence){n.ids, 1}, &s, &e));
    CHECK_TEXT(e.text, "\"\" (iterate) goes from the last place to the first");
    ts_graph_free(n.g);
}

int main(void)
{
    test_rows(make()), test_rows(recurrent(false));
    refused_scan();
    refused("sum axes=[1] keepdims=1", "(sum) depends on all places at once");
    refused("cumsum axis=1", "goes through all places in order");
    return check_done();
}
