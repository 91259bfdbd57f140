/* scan_test.c - loops: what a scan gives against the same trips written out, to the bit, by the interpreter and by
 * programs of one part and of several; its text; and what is refused. */
#include "graph/ir/graph.h"
#include "tests/check.h"
#include "tests/scans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5 };

static ts_tensor input(ts_graph *g, const char *name, int rank, int64_t a, int64_t b)
{
    return ts_input(g, name, TS_F32, rank, (const int64_t[]){a, b});
}

/* ---- refusals ---- */
static void check_refused(ts_graph *g, const char *why)
{
    ts_error e = {0};
    CHECK(!ts_graph_ok(g, &e));
    CHECK_TEXT(e.text, why);
    ts_graph_free(g);
}

static void refuse_shape(void)
{
    ts_graph *g = ts_graph_make();
    ts_scan *s = ts_scan_begin(g, 4);
    ts_tensor h = ts_scan_state(s, input(g, "h", 1, N, 0));
    CHECK(!ts_scan_step(s, h, ts_call1(g, "expand_dims axes=[0]", h)));
    check_refused(g,
                  "scan: state 0 is f32[5], and a trip makes it f32[1,5]\n  hint: a state keeps its shape and dtype: "
                  "cast or reshape the next value, or gather it");
}

static void refuse_rows(void)
{
    ts_graph *g = ts_graph_make();
    ts_scan *s = ts_scan_begin(g, 4);
    CHECK(!ts_scan_slice(s, input(g, "x", 2, 3, N), false));
    check_refused(g, "scan: slice 0 has 3 rows for 4 trips, expected one a trip");
}

static void refuse_trips(void)
{
    ts_graph *g = ts_graph_make();
    CHECK(!ts_scan_begin(g, -1));
    check_refused(g, "scan: -1 trips, expected 0 or more");
}

static void refuse_until(void)
{
    ts_graph *g = ts_graph_make();
    ts_scan *s = ts_scan_begin(g, 4);
    CHECK(!ts_scan_until(s, ts_scan_state(s, input(g, "h", 1, N, 0))));
    check_refused(g, "given f32[5]; scan: one truth value for until expected");
}

static void refuse_nothing(void)
{
    ts_graph *g = ts_graph_make();
    ts_tensor out[1];
    CHECK(!ts_scan_end(ts_scan_begin(g, 4), out));
    check_refused(g, "scan: 0 states and 0 gathered rows, at least one of them expected");
}

static void refuse_call(void)
{
    ts_graph *g = ts_graph_make();
    CHECK(!ts_call1(g, "iterate trips=3 states=1", input(g, "h", 1, N, 0)));
    check_refused(g, "iterate: it has no trip: ts_scan_begin makes one");
}

/* What a trip computes is of no use outside of it: whoever takes it is told at once. */
static void refuse_outside(const char *why, ts_tensor (*take)(ts_graph *g, ts_tensor first, ts_tensor inner))
{
    ts_graph *g = ts_graph_make();
    ts_tensor out[1], first = input(g, "h", 1, N, 0);
    ts_scan *s = ts_scan_begin(g, 4);
    ts_tensor h = ts_scan_state(s, first), twice = ts_named(g, ts_call2(g, "add", h, h), "twice");
    CHECK(ts_scan_step(s, h, ts_call1(g, "tanh", twice)) && ts_scan_end(s, out));
    CHECK(!take(g, first, strstr(why, "state 0") ? h : twice));
    check_refused(g, why);
}

static ts_tensor take_call(ts_graph *g, ts_tensor first, ts_tensor inner)
{
    return ts_call2(g, "multiply", first, inner);
}

static ts_tensor take_gradient(ts_graph *g, ts_tensor first, ts_tensor inner)
{
    ts_tensor grad = NULL;
    ts_chain_rule(g, 1, &inner, &first, 1, &first, &grad);
    return grad;
}

static ts_tensor take_state(ts_graph *g, ts_tensor first, ts_tensor inner)
{
    (void)first;
    return ts_scan_state(ts_scan_begin(g, 2), inner);
}

static void refuse_unended(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    ts_tensor out[1];
    ts_scan *outer = ts_scan_begin(g, 4), *s = ts_scan_begin(g, 3);
    ts_tensor h = ts_scan_state(outer, input(g, "h", 1, N, 0)), k = ts_scan_state(s, h);
    CHECK(ts_scan_step(s, k, ts_call2(g, "add", k, h)) && ts_scan_end(s, out));
    CHECK(!ts_plan_of(g, 1, out, 0, NULL, &(ts_options){.target = "interp"}, &e));
    CHECK_TEXT(e.text, "plan: it depends on state 0 of scan 0, which has not ended\n  hint: call ts_scan_end, and take "
                       "what that gives");
    ts_graph_free(g);
}

static void refuse_outsides(void)
{
    static const char *const hint = "\n  hint: take what ts_scan_end gave: last values of states, and of other tensors "
                                    "of a trip the rows that ts_scan_gather keeps";
    char why[4][400];
    const char *const of[4] = {"multiply: add \"twice\" f32[5]", "multiply: state 0 of scan 0 f32[5]",
                               "gradient: add \"twice\" f32[5]", "a trip: add \"twice\" f32[5]"};
    for (int i = 0; i < 4; i++)
        snprintf(why[i], sizeof why[i], "%s is of a trip of scan 0, which has ended%s", of[i], hint);
    refuse_outside(why[0], take_call), refuse_outside(why[1], take_call);
    refuse_outside(why[2], take_gradient), refuse_outside(why[3], take_state);
    refuse_unended();
}

static void refuse_text(const char *source, const char *why)
{
    ts_graph *g = ts_graph_make();
    ts_tensor out[1];
    ts_error e = {0};
    int n;
    CHECK(!ts_parse(g, source, 1, out, &n, &e));
    CHECK_TEXT(e.text, why);
    ts_graph_free(g);
}

static void refuse_texts(void)
{
    refuse_text("n0 = trip_operand \"0\" : f32[2]\nreturn n0\n",
                "graph text, line 1: an operand of a trip outside of one at \"\nreturn n0\n\"");
    refuse_text("n0 = input \"h\" : f32[2]\nn1 = iterate(n0) trips=3 states=1 : f32[2] {\n  n0 = trip_operand \"0\" : "
                "f32[3]\n  return n0\n}\nreturn n1\n",
                "graph text, line 2: iterate: operand 0 is f32[2], and its trip takes f32[3]");
    refuse_text("n0 = input \"h\" : f32[2]\nn1 = iterate(n0) trips=3 states=1 : f32[2] {\n  n0 = input \"h\" : "
                "f32[2]\n  return n0\n}\nreturn n1\n",
                "graph text, line 2: iterate: its trip reads \"h\", which is not one of its operands");
}

/* What a gradient reads of the costly values within a trip is kept, not computed again on the way back. */
static void check_inner(void)
{
    ts_graph *g = ts_graph_make();
    int n = 0;
    ts_tensor x = input(g, "x", 2, 7, N), out[2], slope;
    ts_scan *s = ts_scan_begin(g, 7);
    ts_tensor h = ts_scan_state(s, input(g, "h", 1, N, 0)),
              next = ts_call1(g, "tanh", ts_call2(g, "add", ts_call2(g, "multiply", h, h), ts_scan_slice(s, x, false)));
    ts_scan_step(s, h, next), ts_scan_gather(s, next, false);
    ts_scan_end(s, out);
    ts_tensor sum = ts_call1(g, "sum", out[0]);
    char *shown = ts_chain_rule(g, 1, &sum, NULL, 1, &x, &slope) ? ts_print(1, &slope) : NULL;
    for (const char *at = shown; at && (at = strstr(at, "tanh(")); at++)
        n++;
    CHECK(n == 1);
    ts_free(shown);
    ts_graph_free(g);
}

/* A plan that judges forms trips in f64, too: states of f32 go from one to the next unrounded, to rows and outputs;
 * where rows of other dtypes are gathered beside them, too. */
static void check_reference(int others)
{
    enum { TRIPS = 60 };
    static const char *const how[] = {"cast to=u8", "cast to=f16"};
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    float x[TRIPS];
    for (int t = 0; t < TRIPS; t++)
        x[t] = 0.7f * (float)((t * 37) % 23) / 23;
    ts_scan *s = ts_scan_begin(g, TRIPS);
    ts_tensor h = ts_scan_state(s, ts_constant(g, "h", &(ts_array){TS_F32, 0, {0}, (float[]){0.1f}})),
              row = ts_scan_slice(s, ts_input(g, "x", TS_F32, 1, (int64_t[]){TRIPS}), false), out[4];
    ts_tensor next = ts_call1(g, "sin",
                              ts_call2(g, "add", ts_call2(g, "multiply", h, ts_scalar(g, TS_F32, 1.25)), row));
    ts_scan_step(s, h, next);
    for (int i = 0; i < others; i++)
        ts_scan_gather(s, ts_call1(g, how[i], ts_call2(g, "multiply", h, ts_scalar(g, TS_F32, 40))), false);
    ts_scan_gather(s, h, false), ts_scan_end(s, out);
    for (int i = 0; i < 2 + others; i++)
        out[i] = ts_call1(g, "cast to=f64", out[i]);
    const ts_given given = {"x", {TS_F32, 1, {TRIPS}, x}};
    ts_array got[4] = {{0}};
    double want = 0.1f;
    if (!CHECK(ts_eval(2 + others, out, 1, &given, &(ts_options){.target = "c", .reference = true}, got, &e)))
        printf("%s\n", e.text);
    for (int t = 0; t <= TRIPS && got[1].data; t++) {
        const double is = t < TRIPS ? ts_array_at(&got[1 + others], t) : ts_array_at(&got[0], 0);
        if (!CHECK(fabs(is - want) < 1e-12))
            printf("  trip %d: %.17g, not %.17g\n", t, is, want);
        for (int i = 0; i < others && t < TRIPS; i++) /* of reals even f16 is held as f64 */
            CHECK(fabs(ts_array_at(&got[1 + i], t) - (i ? want * 40 : floor(want * 40))) < 1e-10);
        want = t < TRIPS ? sin(want * 1.25 + x[t]) : want;
    }
    for (int i = 0; i < 2 + others; i++)
        ts_array_free(&got[i]);
    ts_graph_free(g);
}

/* Operations of outer trips, each of which makes inner trips of h * h + h */
static double work(int outer, int inner)
{
    ts_graph *g = ts_graph_make();
    ts_tensor out[1], last[1];
    ts_scan *s = ts_scan_begin(g, outer), *in = ts_scan_begin(g, inner);
    ts_tensor h = ts_scan_state(s, input(g, "h", 1, N, 0)), k = ts_scan_state(in, h);
    CHECK(ts_scan_step(in, k, ts_call2(g, "add", ts_call2(g, "multiply", k, k), k)) && ts_scan_end(in, last));
    CHECK(ts_scan_step(s, h, last[0]) && ts_scan_end(s, out));
    int n = 0;
    double sum = 0;
    const node **all = g_reached_make(1, (const node *const *)out, &n);
    for (int i = 0; i < n; i++)
        sum += node_flops(all[i]);
    free(all), ts_graph_free(g);
    return sum;
}

static void check_work(void)
{
    CHECK(work(1, 1) == 2 * N && work(1, 20) == 2 * N * 20 && work(30, 20) == 2 * N * 20 * 30 && work(30, 0) == 0);
}

int main(void)
{
    static const scans_on on[] = {{{.target = "interp"}, true, 2},
                                  {{.target = "c", .threads = 1}, true, 0},
                                  {{.target = "c", .threads = 3}, true, 2},
                                  {{.target = "c", .reference = true}, false, 0}};
    check_inner(), check_work();
    for (int others = 0; others < 3; others++)
        check_reference(others);
    scans_check(COUNT(on), on);
    for (int every = 0; every <= 4; every += 1 + !every) /* 7 trips in stretches of 3, 2, 3, 4 */
        scans_check_keep(every, every % 3 == 0, &(ts_options){.target = every == 2 ? "c" : "interp", .threads = 2});
    refuse_shape(), refuse_rows(), refuse_trips(), refuse_until(), refuse_nothing(), refuse_call(), refuse_texts();
    refuse_outsides();
    scans_check_outside(&on[2].options);
    return check_done();
}
