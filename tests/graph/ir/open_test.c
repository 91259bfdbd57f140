/* Extents that an input or weight leaves open are what its first use says; who contradicts it, or leaves them open, is
 * told which call said what. */
/* ctest: fast */
#include "graph/ir/graph.h"
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <string.h>

static const int64_t x_dim[] = {32, 64};

static void test_said(const char *call, int rank, const int64_t *open, const int64_t *want)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const ts_tensor x = ts_input(g, "x", TS_F64, 2, x_dim), w = ts_weight(g, "w", TS_F64, rank, open, 0, 1, 3);
    const ts_tensor y = ts_call2(g, call, x, w);
    if (!CHECK(y && ts_graph_ok(g, &e)))
        printf("  %s: %s\n", call, (ts_graph_ok(g, &e), e.text));
    for (int i = 0; i < rank; i++)
        CHECK(ts_shape(w)[i] == want[i]);
    CHECK(g_check(g, &e) && ts_rank(w) == rank);
    ts_graph_free(g);
}

static void test_refused(const char *first, const char *call, const char *want)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const ts_tensor x = ts_input(g, "x", TS_F64, 2, x_dim),
                    w = ts_weight(g, "w", TS_F64, 2, (int64_t[]){-1, 16}, 0, 1, 3);
    if (first)
        CHECK(ts_call2(g, first, x, w) != NULL);
    const ts_tensor in[] = {x, w};
    CHECK(!(*call == '1' ? ts_call1(g, call + 1, w) : ts_call(g, call, 2, in)) && !ts_graph_ok(g, &e));
    CHECK_TEXT(e.text, want);
    CHECK(g_check(g, &(ts_error){0}));
    ts_graph_free(g);
}

/* The weight, closed, is any other: values, gradients by it, and a second use. */
static void test_used(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const ts_tensor x = ts_input(g, "x", TS_F64, 2, x_dim),
                    w = ts_weight(g, "w", TS_F64, 2, (int64_t[]){-1, 16}, 0, 1, 3),
                    known = ts_weight(g, "known", TS_F64, 2, (int64_t[]){64, 16}, 0, 1, 3);
    const ts_tensor y = ts_call2(g, "matmul", x, w), z = ts_call2(g, "einsum equation=ij,jk->ik", x, known);
    const ts_tensor total = ts_call1(g, "sum", ts_call1(g, "square", y));
    ts_tensor grad, t[3] = {y, z, NULL};
    CHECK(ts_chain_rule(g, 1, &total, NULL, 1, &w, &grad) && ts_shape(grad)[0] == 64 && ts_shape(grad)[1] == 16);
    t[2] = ts_call2(g, "subtract", grad, w);
    double value[32 * 64];
    for (int i = 0; i < 32 * 64; i++)
        value[i] = i % 7 - 3;
    const ts_given given = {"x", {TS_F64, 2, {32, 64}, value}};
    ts_array out[3] = {{0}};
    if (CHECK(ts_graph_ok(g, &e) && ts_eval(3, t, 1, &given, &(ts_options){.target = "interp"}, out, &e)))
        for (int i = 0; i < 32 * 16; i++)
            CHECK(ts_array_at(&out[0], i) == ts_array_at(&out[1], i));
    for (int i = 0; i < 3; i++)
        ts_array_free(&out[i]);
    ts_graph_free(g);
}

/* y = gelu(x w1 + b1) w2', where only w2 says how many columns w1 has: what is computed of w1 before stays open, and is
 * what it would be had all been said at first. */
static ts_tensor network(ts_graph *g, int64_t hidden)
{
    const ts_tensor x = ts_input(g, "x", TS_F64, 2, x_dim),
                    w1 = ts_weight(g, "w1", TS_F64, 2, (int64_t[]){hidden < 0 ? -1 : 64, hidden}, 0, 1, 3),
                    b1 = ts_weight(g, "b1", TS_F64, 1, &hidden, 0, 1, 4),
                    w2 = ts_weight(g, "w2", TS_F64, 2, (int64_t[]){10, 48}, 0, 1, 5);
    const ts_tensor m = ts_call2(g, "matmul", x, w1), h = ts_call1(g, "gelu", ts_call2(g, "add", m, b1));
    CHECK(hidden > 0 || (m && ts_shape(m)[0] == 32 && ts_shape(m)[1] == -1 && ts_shape(w1)[0] == 64));
    const ts_tensor y = ts_call2(g, "matmul", h, ts_call1(g, "transpose", w2));
    CHECK(y && ts_shape(m)[1] == 48 && ts_shape(h)[1] == 48 && ts_shape(b1)[0] == 48 && ts_shape(w1)[1] == 48);
    CHECK(y == ts_call2(g, "matmul", h, ts_call1(g, "transpose", w2)) && m == ts_call2(g, "matmul", x, w1));
    return y;
}

static void test_late(void)
{
    char hash[2][65] = {"", ""};
    for (int i = 0; i < 2; i++) {
        ts_graph *g = ts_graph_make();
        ts_error e = {0};
        const ts_tensor y = network(g, i ? 48 : -1);
        if (CHECK(y && ts_graph_ok(g, &e) && g_check(g, &e)))
            ts_hash(1, &y, hash[i]);
        else
            printf("  %s\n", e.text);
        ts_graph_free(g);
    }
    CHECK(!strcmp(hash[0], hash[1]));
}

/* Many that one call closes at once: nothing of the table of nodes is lost. */
static void test_many(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    enum { MANY = 700 };
    ts_tensor v = ts_weight(g, "v", TS_F64, 1, (int64_t[]){-1}, 0, 1, 1), all[MANY];
    const ts_tensor first = v;
    for (int i = 0; i < MANY; i++)
        v = all[i] = ts_call1(g, i % 2 ? "tanh" : "exp", v);
    CHECK(v && ts_call2(g, "add", v, ts_input(g, "x", TS_F64, 1, (int64_t[]){5})) && g_check(g, &e));
    v = first;
    for (int i = 0; i < MANY; i++) {
        v = ts_call1(g, i % 2 ? "tanh" : "exp", v);
        CHECK(v == all[i] && ts_shape(v)[0] == 5);
    }
    ts_graph_free(g);
}

/* Two that a call says of one: it may be as long as only one of them. */
static void test_contradicted(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const ts_tensor v = ts_weight(g, "v", TS_F64, 1, (int64_t[]){-1}, 0, 1, 1), u = ts_call1(g, "exp", v);
    const ts_tensor in[] = {u, ts_call1(g, "tanh", v), ts_input(g, "x", TS_F64, 2, (int64_t[]){4, 5})};
    CHECK(!ts_call(g, "einsum equation=i,j,ij->", 3, in) && !ts_graph_recover(g, &e));
    CHECK_TEXT(e.text,
               "einsum equation=i,j,ij-> of f64[?], f64[?], f64[4,5] \"x\": axis 0 of exp would be 4 and 5 long");
    ts_graph_free(g);
}

static void test_never(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const ts_tensor a = ts_input(g, "a", TS_F64, 1, (int64_t[]){-1}), y = ts_input(g, "y", TS_F64, 0, NULL);
    ts_tensor grad;
    CHECK(ts_input(g, "a", TS_F64, 1, (int64_t[]){-1}) == a);
    CHECK(!ts_chain_rule(g, 1, &y, NULL, 1, &a, &grad) && !ts_graph_recover(g, &e));
    CHECK_TEXT(e.text, "gradient: no call says how long input \"a\" f64[?] is\n  hint: write its extents where it is "
                       "made; else an einsum, product or pointwise operation that takes it says them");
    CHECK(ts_call2(g, "add", a, ts_input(g, "b", TS_F64, 1, (int64_t[]){5})) && ts_shape(a)[0] == 5);
    CHECK(ts_input(g, "a", TS_F64, 1, (int64_t[]){-1}) == a && ts_input(g, "a", TS_F64, 1, (int64_t[]){5}) == a);
    CHECK(!ts_input(g, "c", TS_F64, 1, (int64_t[]){-2}) && !ts_graph_ok(g, &e));
    ts_graph_free(g);
}

int main(void)
{
    test_said("einsum equation=ij,jk->ik", 2, (int64_t[]){-1, 16}, (int64_t[]){64, 16});
    test_said("einsum equation=\"row.in, in.out -> row.out\"", 2, (int64_t[]){-1, 16}, (int64_t[]){64, 16});
    test_said("einsum equation=\"row.o+k, k.o -> row.o\"", 2, (int64_t[]){3, -1}, (int64_t[]){3, 62});
    test_said("einsum equation=\"3j,j+i i -> i\"", 2, (int64_t[]){-1, 5}, (int64_t[]){68, 5});
    test_said("einsum equation=...j,j->...", 1, (int64_t[]){-1}, (int64_t[]){64});
    test_said("einsum equation=ij,jk->ik fold=max", 2, (int64_t[]){-1, 16}, (int64_t[]){64, 16});
    test_said("matmul", 2, (int64_t[]){-1, 16}, (int64_t[]){64, 16});
    test_said("matmul", 1, (int64_t[]){-1}, (int64_t[]){64});
    test_said("matmul", 3, (int64_t[]){2, -1, 16}, (int64_t[]){2, 64, 16});
    test_said("add", 1, (int64_t[]){-1}, (int64_t[]){64});
    test_said("formula text=\"a * exp(b)\"", 2, (int64_t[]){-1, -1}, x_dim);
    test_refused(
        "einsum equation=ij,jk->ik", "einsum equation=ji,jk->ik",
        "einsum: equation \"ji,jk->ik\": axis j has the extents 32 and 64, equal ones or 1 expected\n  hint: "
        "weight \"w\" is f64[64,16] since einsum equation=ij,jk->ik of f64[32,64] \"x\", f64[?,16] \"w\" took it");
    test_refused(
        NULL, "einsum equation=ij,kl->il",
        "einsum equation=ij,kl->il of f64[32,64] \"x\", f64[?,16] \"w\": nothing says how long axis 0 of weight "
        "\"w\" is\n  hint: write its extents where \"w\" is made");
    test_refused(NULL, "concat axis=0",
                 "concat of f64[32,64] \"x\", f64[?,16] \"w\": nothing says how long axis 0 of weight \"w\" is\n  "
                 "hint: write its extents where \"w\" is made");
    test_refused(NULL, "1sum",
                 "sum of f64[?,16] \"w\": nothing says how long axis 0 of weight \"w\" is\n  hint: write "
                 "its extents where \"w\" is made");
    test_late(), test_many(), test_contradicted();
    test_refused(
        NULL, "einsum equation=ij,jk,->ik",
        "einsum: given f64[32,64] and f64[?,16]; operands with the axes that equation \"ij,jk,->ik\" names expected");
    test_used();
    test_never();
    return check_done();
}
