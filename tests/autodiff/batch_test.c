/* Batches: over every case of every operation, a batch of operands gives the batch of results, whichever operands are
 * batched; nested, with gradients; Jacobians, dense and compressed, against tangents; what is refused. */
#include "tests/autodiff/rows.h"
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3 };
static const char *only;
static int n_same, n_refused;

typedef struct probe {
    row r;
    int n;
    const node *from[ROW_OPERANDS], *to[ROW_OPERANDS];
} probe;

/* The value of n where each batched operand is its part i (-1: the batches themselves), another for each i. */
static bool value(const probe *p, const node *n, int part, ts_array *out, err *e)
{
    values v = values_make(&p->r, 0.1, 0.9, 7);
    bool ok = true;
    for (int k = 0; k < p->n && ok; k++) {
        const node *to = p->to[k];
        ts_array *own = &v.of[p->from[k]->id];
        if ((ok = values_add(&v, to, 5 + (uint64_t)k))) {
            double *all = v.of[to->id].data;
            const int64_t count = ts_array_count(own = &v.of[p->from[k]->id]);
            for (int64_t i = 0; i < BATCH * count; i++) /* near the values that the case is made for */
                all[i] = 0.01 * all[i] + ((const double *)own->data)[i % count];
            if (part >= 0 && count)
                memcpy(own->data, all + part * count, (size_t)count * sizeof *all);
        }
    }
    ok = ok && values_of(&v, n, out, e);
    values_free(&v);
    return ok;
}

static bool near(double a, double b, dtype d)
{
    static const double eps[TS_N_DTYPE] = {[TS_F64] = 1e-12, [TS_F32] = 1e-5, [TS_F16] = 1e-2, [TS_BF16] = 1e-1};
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= eps[d] * (1 + fabs(b));
}

static void compare(const probe *p, const node *y, const node *all, const char *where)
{
    ts_array whole, one;
    err e = {0};
    if (!value(p, y, 0, &one, &e)) /* the case's operands are out of range */
        return;
    ts_array_free(&one);
    if (!CHECK(value(p, all, -1, &whole, &e))) {
        printf("  %s: %s\n", where, e.text);
        return;
    }
    bool ok = true;
    for (int i = 0; i < BATCH && ok; i++) {
        if (!value(p, y, i, &one, &e))
            break;
        const int64_t n = ts_array_count(&one);
        for (int64_t k = 0; k < n && ok; k++) {
            const double a = ts_array_at(&whole, i * n + k), b = ts_array_at(&one, k);
            ok = near(a, b, y->type.dtype);
            if (!CHECK(ok))
                printf("  %s: part %d, element %lld: %.17g, want %.17g\n", where, i, (long long)k, a, b);
        }
        ts_array_free(&one);
    }
    n_same += ok;
    ts_array_free(&whole);
}

/* which: a set of operands. */
static bool check_case(const op *o, const char *line, uint32_t which)
{
    probe p = {.r = row_make(ts_graph_make(), o->name, line)};
    graph *g = p.r.g;
    const node *y = p.r.y, *all;
    char where[1200];
    const bool more = p.r.n > 1;
    for (int k = 0; k < p.r.n && y; k++) {
        const node *x = p.r.in[k];
        if (!(which >> k & 1) || x->leaf->kind != LEAF_INPUT || x->type.dtype != TS_F64 || x->type.rank >= MAX_RANK)
            continue;
        type t = {.dtype = TS_F64, .rank = x->type.rank + 1, .dim = {BATCH}};
        memcpy(t.dim + 1, x->type.dim, (size_t)x->type.rank * sizeof *t.dim);
        snprintf(where, sizeof where, "batch%d", k);
        p.from[p.n] = x, p.to[p.n++] = g_input(g, where, &t, NULL);
    }
    snprintf(where, sizeof where, "%s: %s, operands %#x", o->name, line, which);
    if (p.n && type_count(&y->type)) {
        if (!ts_batch(g, 1, &y, p.n, p.from, p.to, &all)) {
            n_refused++;
            if (!CHECK(g->err.code == TS_UNSUPPORTED && strstr(g->err.text, "batch of ")))
                printf("  %s: %s\n", where, g->err.text);
        } else if (CHECK(all->type.rank == y->type.rank + 1 && all->type.dim[0] == BATCH)) {
            if (only) {
                char *shown = ts_print(1, &all);
                printf("# %s\n%s", where, shown), ts_free(shown);
            }
            compare(&p, y, all, where);
        }
    }
    ts_graph_free(g);
    return more;
}

static void check_op(const op *o)
{
    for (const char *at = o->cases; at && *at;) {
        char line[1024];
        const size_t n = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, at);
        at += n + (at[n] == '\n');
        if (check_case(o, line, ~0u))
            check_case(o, line, 1), check_case(o, line, 2);
    }
}

/* ---- Jacobians ---- */
static ts_array of(ts_tensor t, const ts_given *x)
{
    ts_error e = {0};
    ts_array out = {0};
    if (!CHECK(t && ts_eval(1, &t, 1, x, &(ts_options){.target = "interp"}, &out, &e)))
        printf("  %s\n", e.text);
    return out;
}

/* y[i] = sum over j of w[i,j] x[j]^2: as many rows as are wanted, so that both ways are gone */
static void test_dense(int64_t rows)
{
    enum { N = 3 };
    double at[N] = {0.5, -1, 2};
    ts_graph *g = ts_graph_make();
    const ts_given given = {"x", {TS_F64, 1, {N}, at}};
    ts_tensor x = ts_input(g, "x", TS_F64, 1, (const int64_t[]){N});
    ts_tensor w = ts_weight(g, "w", TS_F64, 2, (const int64_t[]){rows, N}, 0, 1, 3);
    ts_tensor y = ts_call2(g, "matmul", w, ts_call1(g, "square", x)), j = ts_jacobian(g, y, x, NULL, NULL);
    ts_error e = {0};
    if (!CHECK(ts_graph_ok(g, &e)))
        printf("  %s\n", e.text);
    ts_array got = of(j, &given), weights = {0};
    CHECK(ts_leaf_value(w, &weights, &e));
    CHECK(got.rank == 2 && got.dim[0] == rows && got.dim[1] == N);
    for (int64_t i = 0; got.data && i < rows * N; i++)
        CHECK(fabs(ts_array_at(&got, i) - 2 * ts_array_at(&weights, i) * at[i % N]) < 1e-14);
    ts_array_free(&got), ts_array_free(&weights);
    ts_graph_free(g);
}

/* Rows that do not know of each other: [n, 2] by [n, 3] is [n, 2, 3], with three seeds instead of 3 n. */
static void test_compressed(void)
{
    enum { N = 4 };
    double at[N * 3];
    int n = 0, pair[8][2];
    for (int i = 0; i < N * 3; i++)
        at[i] = 0.1 * i - 0.3;
    ts_graph *g = ts_graph_make();
    const ts_given given = {"x", {TS_F64, 2, {N, 3}, at}};
    ts_tensor x = ts_input(g, "x", TS_F64, 2, (const int64_t[]){N, 3});
    ts_tensor w = ts_weight(g, "w", TS_F64, 2, (const int64_t[]){3, 2}, 0, 1, 3);
    ts_tensor y = ts_call1(g, "sin", ts_call2(g, "matmul", x, w));
    ts_tensor dense = ts_jacobian(g, y, x, NULL, NULL), j = ts_jacobian(g, y, x, &n, pair);
    ts_error e = {0};
    if (!CHECK(ts_graph_ok(g, &e)))
        printf("  %s\n", e.text);
    CHECK(n == 1 && pair[0][0] == 0 && pair[0][1] == 0);
    ts_array all = of(dense, &given), got = of(j, &given);
    CHECK(all.rank == 4 && got.rank == 3 && got.dim[0] == N && got.dim[1] == 2 && got.dim[2] == 3);
    for (int i = 0; i < N && got.data && all.data; i++)
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < 3; l++) {
                CHECK(ts_array_at(&got, (i * 2 + k) * 3 + l) == ts_array_at(&all, ((i * 2 + k) * N + i) * 3 + l));
                CHECK(ts_array_at(&all, ((i * 2 + k) * N + (i + 1) % N) * 3 + l) == 0);
            }
    ts_array_free(&all), ts_array_free(&got);
    (void)ts_jacobian(g, ts_call1(g, "square", x), x, &n, pair);
    CHECK(n == 2 && pair[1][0] == 1 && pair[1][1] == 1);
    (void)ts_jacobian(g, ts_call1(g, "cumsum axis=0", x), x, &n, pair);
    CHECK(n == 1 && pair[0][0] == 1 && pair[0][1] == 1);
    ts_graph_free(g);
}

/* Per-sample gradients, a batch of a batch; what no batch goes through is shared. */
static void test_composed(void)
{
    double at[2 * 3 * 2] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    ts_graph *g = ts_graph_make();
    const ts_given given = {"x", {TS_F64, 3, {2, 3, 2}, at}};
    ts_tensor one = ts_input(g, "one", TS_F64, 1, (const int64_t[]){2}), d;
    ts_tensor w = ts_weight(g, "w", TS_F64, 1, (const int64_t[]){2}, 0.5, 0, 3), shared = ts_call1(g, "exp", w);
    ts_tensor y = ts_call1(g, "sum", ts_call2(g, "multiply", shared, ts_call1(g, "square", one)));
    ts_tensor rows = ts_input(g, "rows", TS_F64, 2, (const int64_t[]){3, 2}), dr;
    ts_tensor x = ts_input(g, "x", TS_F64, 3, (const int64_t[]){2, 3, 2}), dx;
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &one, &d));
    CHECK(ts_batch(g, 1, &d, 1, &one, &rows, &dr) && ts_batch(g, 1, &dr, 1, &rows, &x, &dx));
    ts_array got = of(dx, &given);
    for (int i = 0; i < 12 && got.data; i++)
        CHECK(fabs(ts_array_at(&got, i) - 2 * exp(0.5) * at[i]) < 1e-13);
    char *shown = dx ? ts_print(1, &dx) : NULL;
    CHECK(shown && strstr(shown, "exp(n") && strstr(strstr(shown, "exp(n"), "f64[2]"));
    ts_free(shown), ts_array_free(&got);
    ts_graph_free(g);
}

/* Orders along each axis, and the first of them: of every part by itself */
static void test_orders(void)
{
    static const char *const calls[] = {"sort axis=0", "sort axis=-1 descending=1", "argsort axis=1",
                                        "top_k k=2 axis=0", "top_k k=3 largest=0"};
    enum { PARTS = 3, ROWS = 4, WIDE = 5 };
    double at[PARTS * ROWS * WIDE];
    for (int i = 0; i < COUNT(at); i++)
        at[i] = (i * 37) % 11 - 5;
    for (int i = 0; i < COUNT(calls); i++) {
        ts_graph *g = ts_graph_make();
        ts_tensor x = ts_input(g, "x", TS_F64, 2, (const int64_t[]){ROWS, WIDE}), all;
        ts_tensor rows = ts_input(g, "rows", TS_F64, 3, (const int64_t[]){PARTS, ROWS, WIDE}),
                  y = ts_call1(g, calls[i], x);
        CHECK(ts_batch(g, 1, &y, 1, &x, &rows, &all));
        ts_array got = of(all, &(ts_given){"rows", {TS_F64, 3, {PARTS, ROWS, WIDE}, at}});
        for (int p = 0; p < PARTS; p++) {
            ts_array one = of(y, &(ts_given){"x", {TS_F64, 2, {ROWS, WIDE}, at + p * ROWS * WIDE}});
            const int64_t n = ts_array_count(&one);
            CHECK(got.rank == 3 && ts_array_count(&got) == PARTS * n);
            for (int64_t k = 0; k < n && got.data; k++)
                if (!CHECK(ts_array_at(&got, p * n + k) == ts_array_at(&one, k)))
                    printf("  %s, part %d, element %lld\n", calls[i], p, (long long)k);
            ts_array_free(&one);
        }
        ts_array_free(&got), ts_graph_free(g);
    }
}

/* Twelve tensors joined are more than can be spelled out; of them one is batched, or all but one. */
static void test_many(void)
{
    enum { MANY = 12, N = 2, ROWS = 3 };
    double at[ROWS * N] = {1, 2, 3, 4, 5, 6};
    for (int lone = 0; lone < 2; lone++) {
        ts_graph *g = ts_graph_make();
        const ts_given given = {"x", {TS_F64, 2, {ROWS, N}, at}};
        ts_tensor one = ts_input(g, "one", TS_F64, 1, (const int64_t[]){N}), part[MANY], y;
        ts_tensor x = ts_input(g, "x", TS_F64, 2, (const int64_t[]){ROWS, N});
        ts_tensor w = ts_weight(g, "w", TS_F64, 1, (const int64_t[]){N}, 7, 0, 3);
        for (int i = 0; i < MANY; i++)
            part[i] = (i == 5) == lone ? one : w;
        ts_tensor all = ts_call(g, "stack axis=0", MANY, part);
        CHECK(ts_batch(g, 1, &all, 1, &one, &x, &y));
        ts_array got = of(y, &given);
        CHECK(got.rank == 3 && got.dim[0] == ROWS && got.dim[1] == MANY && got.dim[2] == N);
        for (int i = 0; got.data && i < ROWS * MANY * N; i++)
            CHECK(ts_array_at(&got, i) == ((i / N % MANY == 5) == lone ? at[i / N / MANY * N + i % N] : 7));
        ts_array_free(&got);
        ts_graph_free(g);
    }
}

/* How often `what` stands in the text of t */
static int counted(ts_tensor t, const char *what)
{
    char *shown = t ? ts_print(1, &t) : NULL;
    const int n = check_count(shown, what);
    if (!shown)
        return -1;
    return ts_free(shown), n;
}

/* Of y = [p, 2], a column each of u[p, 3]: both rows of the Jacobian are made apart, and what is the same for them is
 * made once; zeros are no part of sums. */
static void test_shared(void)
{
    enum { P = 5 };
    double at[P * 3];
    for (int i = 0; i < P * 3; i++)
        at[i] = 0.3 + 0.1 * i;
    ts_graph *g = ts_graph_make();
    const ts_given given = {"x", {TS_F64, 2, {P, 3}, at}};
    ts_tensor x = ts_input(g, "x", TS_F64, 2, (const int64_t[]){P, 3}), u[3];
    char words[64];
    for (int i = 0; i < 3; i++) {
        snprintf(words, sizeof words, "element dims=[%d] text=a[i0,%d]", P, i);
        u[i] = ts_call1(g, words, x);
    }
    ts_tensor s = ts_call2(g, "formula text=exp(a)*b", u[0], u[1]);
    ts_tensor y = ts_call2(g, "stack axis=1", s, ts_call2(g, "formula text=a*b", s, u[2]));
    int n, pair[8][2];
    ts_tensor j = ts_jacobian(g, y, x, &n, pair);
    ts_array got = of(j, &given);
    CHECK(n == 1 && got.rank == 3 && got.dim[0] == P && got.dim[1] == 2 && got.dim[2] == 3);
    for (int i = 0; got.data && i < P; i++) {
        const double *v = at + 3 * i, e = exp(v[0]);
        const double want[] = {e * v[1], e, 0, e * v[1] * v[2], e * v[2], e * v[1]};
        for (int k = 0; k < 6; k++)
            CHECK(fabs(ts_array_at(&got, 6 * i + k) - want[k]) <= 1e-15 * fabs(want[k]));
    }
    CHECK(counted(j, "concat") > 0 && counted(j, "select(eq") == 0);
    ts_array_free(&got);
    ts_tensor one = ts_input(g, "one", TS_F64, 0, NULL), many = ts_input(g, "many", TS_F64, 1, (const int64_t[]){9}), z;
    ts_tensor w = ts_call2(g, "formula text=a*sin(b)*sqrt(b)", one, ts_input(g, "w", TS_F64, 1, (const int64_t[]){4}));
    CHECK(ts_batch(g, 1, &w, 1, &one, &many, &z) && ts_shape(z)[0] == 9);
    CHECK(counted(z, "sin") == 1); /* of 4 numbers, not of 9 times 4 */
    char *shown = ts_print(1, &z);
    const char *sine = strstr(shown, "sin(");
    CHECK(sine && !strncmp(strstr(sine, " : "), " : f64[4]", 9));
    ts_free(shown);
    ts_graph_free(g);
}

/* d (a b) / d theta, [n, r, theta]: the tangents of b make one product of matrices, laid out as it is asked for. */
static void test_products(void)
{
    enum { N = 6, K = 4, R = 3, T = 2 };
    double at[T] = {0.5, -0.25};
    ts_graph *g = ts_graph_make();
    const ts_given given = {"t", {TS_F64, 1, {T}, at}};
    ts_tensor a = ts_weight(g, "a", TS_F64, 2, (const int64_t[]){N, K}, 0, 1, 3),
              t = ts_input(g, "t", TS_F64, 1, (const int64_t[]){T});
    ts_tensor b = ts_call1(g, "element dims=[4,3] text=sin(a[0]*f64(i0))*cos(a[1]*f64(i1))", t);
    ts_tensor j = ts_jacobian(g, ts_call2(g, "einsum equation=nk,kr->nr", a, b), t, NULL, NULL);
    ts_array got = of(j, &given), w = {0};
    ts_error e = {0};
    CHECK(ts_leaf_value(a, &w, &e) && got.rank == 3 && got.dim[0] == N && got.dim[1] == R && got.dim[2] == T);
    for (int i = 0; got.data && w.data && i < N * R; i++) {
        double want[T] = {0};
        for (int k = 0; k < K; k++) {
            const double v = ts_array_at(&w, i / R * K + k), r = i % R;
            want[0] += v * k * cos(at[0] * k) * cos(at[1] * r), want[1] -= v * sin(at[0] * k) * r * sin(at[1] * r);
        }
        for (int k = 0; k < T; k++)
            CHECK(fabs(ts_array_at(&got, i * T + k) - want[k]) < 1e-14);
    }
    CHECK(counted(j, "matmul") == 1 && counted(j, "folds=[4]") == 0);
    ts_array_free(&got), ts_array_free(&w);
    ts_graph_free(g);
}

static void refused(ts_graph *g, bool done, const char *want)
{
    ts_error e = {0};
    CHECK(!done && !ts_graph_recover(g, &e));
    CHECK_TEXT(e.text, want);
}

static void test_refusals(void)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F64, 1, (const int64_t[]){2}), y;
    ts_tensor two = ts_input(g, "two", TS_F64, 2, (const int64_t[]){5, 2});
    ts_tensor other = ts_input(g, "other", TS_F64, 2, (const int64_t[]){5, 3});
    ts_tensor z = ts_input(g, "z", TS_F64, 1, (const int64_t[]){2});
    ts_tensor six = ts_input(g, "six", TS_F64, 2, (const int64_t[]){6, 2});
    refused(g, ts_batch(g, 1, &x, 1, &x, &other, &y),
            "batch for \"x\": expected its dtype, and its shape behind one more axis");
    refused(g, ts_batch(g, 1, &x, 2, (ts_tensor[]){x, z}, (ts_tensor[]){two, six}, &y),
            "batch for \"z\" has 6 values, expected 5 as the first one");
    refused(g, ts_batch(g, 1, &x, 0, NULL, NULL, &y), "batch: 0 tensors given, at least 1 expected");
    ts_tensor z2 = ts_input(g, "z2", TS_F64, 2, (const int64_t[]){2, 3}), placed = ts_call1(g, "row_order", z2);
    ts_tensor three = ts_input(g, "three", TS_F64, 3, (const int64_t[]){5, 2, 3});
    refused(g, ts_batch(g, 1, &placed, 1, &z2, &three, &y),
            "batch of row_order: it goes through all places in order, elements that stand alone expected");
    ts_tensor whole = ts_input(g, "whole", TS_I64, 1, (const int64_t[]){2});
    refused(g, ts_jacobian(g, whole, x, NULL, NULL), "jacobian: values of dtype i64 have none, expected reals");
    ts_graph_free(g);
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : NULL;
    for (const op *o = op_next(NULL); o; o = op_next(o))
        if (!only || !strcmp(only, o->name))
            check_op(o);
    printf("%d batches, %d refused\n", n_same, n_refused);
    CHECK(only || n_same > 1000);
    test_dense(2), test_dense(5);
    test_compressed();
    test_composed();
    test_orders();
    test_many();
    test_shared();
    test_products();
    test_refusals();
    return check_done();
}
