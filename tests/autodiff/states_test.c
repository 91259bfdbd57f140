/* ctest: Og
 * Gradients of folds that a user writes over tuples: argmax, online softmax and Welford against what the table's own
 * operations have, on every target; tangents, batches, second derivatives; what is read by way of the states. */
#include "graph/base/base.h"
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, M = 11 };
static const int64_t dim[] = {N, M};

static void near(const char *what, int n, const ts_tensor *t, const ts_given *x, double tolerance)
{
    static const char *const targets[] = {"interp", "c"};
    for (int k = 0; k < COUNT(targets); k++) {
        ts_error e = {0};
        ts_array out[2] = {{0}};
        if (!CHECK(n == 2 && t[0] && t[1]) ||
            !CHECK(ts_eval(n, t, 1, x, &(ts_options){.target = targets[k], .threads = 2}, out, &e))) {
            printf("  %s, %s: %s\n", what, targets[k], e.text);
            continue;
        }
        CHECK(ts_array_count(&out[0]) == ts_array_count(&out[1]));
        for (int64_t i = 0; i < ts_array_count(&out[0]); i++) {
            const double got = ts_array_at(&out[0], i), want = ts_array_at(&out[1], i);
            if (!CHECK(fabs(got - want) <= tolerance * (1 + fabs(want)))) {
                printf("  %s, %s at %lld: %.17g, want %.17g\n", what, targets[k], (long long)i, got, want);
                break;
            }
        }
        ts_array_free(&out[0]), ts_array_free(&out[1]);
    }
}

static void report(ts_graph *g, const char *what)
{
    ts_error e = {0};
    if (!CHECK(ts_graph_recover(g, &e)))
        printf("  %s: %s\n", what, e.text);
}

/* The fold `call` of a has the derivatives of `known` of it. */
static void test_fold(const char *call, const char *known)
{
    double at[N * M];
    for (int i = 0; i < N * M; i++)
        at[i] = 0.3 * (i * 7 % 33) - 4;
    ts_graph *g = ts_graph_make();
    const ts_given given = {"x", {TS_F64, 2, {N, M}, at}};
    ts_tensor x = ts_input(g, "x", TS_F64, 2, dim), y[2], s[2], d[2], t[2], dd[2], all[2], dr[2];
    ts_tensor way = ts_weight(g, "way", TS_F64, 2, dim, 0, 1, 5);
    y[0] = ts_call1(g, call, x), y[1] = ts_call1(g, known, x);
    near(call, 2, y, &given, 1e-14);
    for (int k = 0; k < 2 && y[k]; k++) {
        s[k] = ts_call1(g, "sum", ts_call1(g, "sin", y[k]));
        CHECK(ts_chain_rule(g, 1, &s[k], NULL, 1, &x, &d[k]) && ts_pushforward(g, 1, &x, &way, 1, &y[k], &t[k]));
        s[k] = ts_call1(g, "sum", ts_call1(g, "square", d[k]));
        CHECK(ts_chain_rule(g, 1, &s[k], NULL, 1, &x, &dd[k]));
        report(g, call);
    }
    near(call, 2, d, &given, 1e-12), near(call, 2, t, &given, 1e-12), near(call, 2, dd, &given, 1e-11);
    ts_tensor one = ts_input(g, "one", TS_F64, 2, dim), rows = ts_call1(g, "reshape shape=[1,3,11]", x);
    for (int k = 0; k < 2; k++) { /* a gradient of a batch, and a batch of gradients */
        ts_tensor of = ts_call1(g, k ? known : call, one), sum = ts_call1(g, "sum", of), done;
        CHECK(ts_batch(g, 1, &of, 1, &one, &rows, &all[k]));
        sum = ts_call1(g, "sum", ts_call1(g, "square", all[k]));
        CHECK(ts_chain_rule(g, 1, &sum, NULL, 1, &x, &all[k]));
        sum = ts_call1(g, "sum", ts_call1(g, "square", of));
        CHECK(ts_chain_rule(g, 1, &sum, NULL, 1, &one, &done) && ts_batch(g, 1, &done, 1, &one, &rows, &dr[k]));
        report(g, call);
    }
    near(call, 2, all, &given, 1e-12), near(call, 2, dr, &given, 1e-12);
    near(call, 2, (ts_tensor[]){dr[0], ts_call1(g, "reshape shape=[1,3,11]", all[0])}, &given, 1e-12);
    ts_graph_free(g);
}

/* A parameter that all points read, a choice without which a place lies outside; the same operand twice over. */
static void test_reads(void)
{
    double at[] = {0.5, -1, 2, 3};
    ts_graph *g = ts_graph_make();
    const ts_given given = {"x", {TS_F64, 1, {4}, at}};
    ts_tensor x = ts_input(g, "x", TS_F64, 1, (const int64_t[]){4}), square = ts_call1(g, "square", x), d[2];
    ts_tensor y = ts_call2(g,
                           "fold dims=[] folds=[4] start=i64(0),0 step=s0+1,"
                           "s1*b[2]+a[i0]*select(lt(i0,3),b[i0+1]+0*s1,7.0) text=s1",
                           x, square);
    /* in order: s = s x2^2 + x[i] (i < 3 ? x[i+1]^2 : 7) */
    ts_tensor part[4], z = NULL;
    char words[64];
    for (int i = 0; i < 4; i++) {
        snprintf(words, sizeof words, "element dims=[] text=a[%d]*%s", i, i < 3 ? "b[0]" : "7");
        ts_tensor next = square;
        if (i < 3) {
            char cut[64];
            snprintf(cut, sizeof cut, "element dims=[1] text=a[%d+i0]", i + 1);
            next = ts_call1(g, cut, square);
        }
        part[i] = ts_call2(g, words, x, next);
        z = z ? ts_call2(g, "add", ts_call2(g, "element dims=[] text=a*b[2]", z, square), part[i]) : part[i];
    }
    near("reads", 2, (ts_tensor[]){y, z}, &given, 1e-14);
    CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &x, &d[0]) && ts_chain_rule(g, 1, &z, NULL, 1, &x, &d[1]));
    report(g, "reads");
    near("reads", 2, d, &given, 1e-13);
    ts_graph_free(g);
}

int main(void)
{
    test_fold("fold dims=[3] folds=[11] start=-inf,i64(-1) step=max(s0,a[i0,i1]),select(lt(s0,a[i0,i1]),i1,s1) text=s0",
              "max axes=[1]");
    test_fold("fold dims=[3] folds=[11] start=-inf,0 "
              "step=max(s0,a[i0,i1]),s1*exp(s0-max(s0,a[i0,i1]))+exp(a[i0,i1]-max(s0,a[i0,i1])) text=s0+log(s1)",
              "logsumexp axes=[1]");
    test_fold("fold dims=[3] folds=[11] start=0,0,0 step=s0+1,s1+(a[i0,i1]-s1)/(s0+1),"
              "s2+(a[i0,i1]-s1)*(a[i0,i1]-(s1+(a[i0,i1]-s1)/(s0+1))) text=s2/s0",
              "var axes=[1]");
    test_fold("fold dims=[] folds=[3,11] start=0,1 step=s0+a[i0,i1],s1*0.9+a[i0,i1]*f64(i0+1)/4 text=s0/33", "mean");
    test_reads();
    return check_done();
}
