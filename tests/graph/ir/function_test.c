/* Scalar functions of a graph: what their texts say, derivatives, several results, on every target; what is refused.
 * ctest: Og */
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char relu3[] = "x < 0 ? 0.0 : x < 1 ? x*x*x/3 : x - 2/3.0";

/* Values of t, of which x is the only input, at the numbers given. */
static void holds_on(const char *target, ts_tensor t, int n, const double *at, const double *want)
{
    ts_error e = {0};
    ts_array x = {0}, y = {0};
    CHECK(t != NULL);
    CHECK(ts_array_make(&x, TS_F64, 1, (const int64_t[]){n}, &e));
    memcpy(x.data, at, (size_t)n * sizeof *at);
    const ts_options o = {.target = target};
    if (!ts_eval(1, &t, 1, &(ts_given){"x", x}, &o, &y, &e))
        CHECK_TEXT(e.text, "");
    for (int i = 0; i < n && y.data; i++) {
        const double got = ts_array_at(&y, i);
        if (!(fabs(got - want[i]) <= 1e-15 * (1 + fabs(want[i]))))
            printf("%s: at %g: got %.17g, want %.17g\n", target, at[i], got, want[i]);
        CHECK(fabs(got - want[i]) <= 1e-15 * (1 + fabs(want[i])));
    }
    ts_array_free(&x), ts_array_free(&y);
}

static void holds(ts_tensor t, int n, const double *at, const double *want)
{
    holds_on("interp", t, n, at, want);
    holds_on("c", t, n, at, want);
}

static ts_tensor input(ts_graph *g, int64_t n)
{
    return ts_input(g, "x", TS_F64, 1, &n);
}

static ts_tensor slope(ts_graph *g, ts_tensor y, ts_tensor x)
{
    ts_tensor sum = ts_call1(g, "sum", y), dx = NULL;
    ts_chain_rule(g, 1, &sum, NULL, 1, &x, &dx);
    return dx;
}

static void is_good(ts_graph *g)
{
    ts_error e = {0};
    if (!ts_graph_ok(g, &e))
        CHECK_TEXT(e.text, "");
    ts_graph_free(g);
}

static void test_relu3(void)
{
    const double at[] = {-1, 0.5, 2}, y[] = {0, 1 / 24.0, 4 / 3.0}, d[] = {0, 0.25, 1}, dd[] = {0, 1, 0};
    ts_graph *g = ts_graph_make();
    ts_tensor x = input(g, 3);
    CHECK(ts_function(g, "relu3(x)", relu3, NULL));
    CHECK(ts_function(g, "relu3(x)", relu3, NULL)); /* the same again */
    ts_tensor f = ts_call1(g, "relu3", x);
    holds(f, 3, at, y);
    holds(ts_call1(g, "formula text=\"relu3(a)\"", x), 3, at, y);
    ts_tensor first = slope(g, f, x);
    holds(first, 3, at, d);
    holds(slope(g, first, x), 3, at, dd);
    is_good(g);
}

static void test_given_derivative(void)
{
    const double at[] = {-1, 0.5, 2}, want[] = {70, 70, 70}, mul[] = {-14, 7, 28};
    ts_graph *g = ts_graph_make();
    ts_tensor x = input(g, 3);
    CHECK(ts_function(g, "odd(x)", "x * x", "7.0")); /* wrong, so that it shows */
    CHECK(ts_function(g, "two(x, z)", "x * z", "z, y / z * 10"));
    holds(slope(g, ts_call1(g, "formula text=\"odd(a) * 10\"", x), x), 3, at, want);
    ts_tensor seven = ts_scalar(g, TS_F64, 7);
    holds(slope(g, ts_call2(g, "two", seven, x), x), 3, at, want);
    CHECK(ts_function(g, "odd2(x)", "odd(x)", NULL)); /* and through who calls it */
    holds(ts_call2(g, "multiply", slope(g, ts_call1(g, "odd2", x), x), ts_call1(g, "formula text=\"a * 2\"", x)), 3, at,
          mul);
    is_good(g);
}

static void test_let_and_results(void)
{
    const double at[] = {1, 2, 3}, five[] = {5, 10, 15}, w = 0.92729521800161219, angle[] = {w, w, w};
    const double sum[] = {5.9272952180016122, 10.927295218001612, 15.927295218001612}, ones[] = {5, 5, 5};
    ts_graph *g = ts_graph_make();
    ts_tensor x = input(g, 3);
    CHECK(ts_function(g, "polar(x, y)", "let s = x*x + y*y; sqrt(s), atan2(y, x)", NULL));
    CHECK(ts_function(g, "both(x)", "let r, t = polar(3*x, 4*x); (let u = r; u + t)", NULL));
    ts_tensor p = ts_call2(g, "polar", ts_call1(g, "formula text=3*a", x), ts_call1(g, "formula text=4*a", x));
    holds(p, 3, at, five);
    holds(ts_output(g, p, 1), 3, at, angle);
    holds(ts_call1(g, "both", x), 3, at, sum);
    holds(slope(g, ts_call1(g, "both", x), x), 3, at, ones);
    holds(ts_call1(g, "formula text=\"polar.1(3*a, 4*a)\"", x), 3, at, angle);
    is_good(g);
}

static void test_recursion_and_while(void)
{
    const double at[] = {1, 2, 3}, power[] = {1, 32, 243}, d[] = {5, 80, 405}, root[] = {1, sqrt(2), sqrt(3)};
    const double half[] = {1, /* no step was taken */ 0.5 / sqrt(2), 0.5 / sqrt(3)}, fact[] = {120, 240, 360};
    ts_graph *g = ts_graph_make();
    ts_tensor x = input(g, 3);
    CHECK(ts_function(g, "times(x, n)", "n == 0 ? 1 : x * times(x, n - 1)", NULL));
    CHECK(ts_function(g, "newton(x)", "let r = x; while (abs(r*r - x) > 1e-15 * x, 5) r = (r + x / r) / 2; r", NULL));
    CHECK(ts_function(g, "factorial(n)", "let p = 1; let k = 1; while (k <= n, 30) p = p * k, k = k + 1; p", NULL));
    ts_tensor p = ts_call1(g, "formula text=\"times(a, 5)\"", x);
    holds(p, 3, at, power);
    holds(slope(g, p, x), 3, at, d);
    holds(ts_call1(g, "newton", x), 3, at, root);
    holds(slope(g, ts_call1(g, "newton", x), x), 3, at, half);
    holds(ts_call1(g, "formula text=\"a * factorial(5)\"", x), 3, at, fact);
    is_good(g);
}

/* Loops that data decide grow as powers do where they are written out: a call of one becomes several nodes. */
static void test_long_loops(void)
{
    const double at[] = {0.75, 3, 100}, half[] = {0.75, 0.75, 0.78125}, d[] = {1, 0.25, 1 / 128.0};
    const double steps[] = {0, 2, 7}, root[] = {sqrt(0.75), sqrt(3), 10}, dr[] = {0.5 / root[0], 0.5 / root[1], 0.05};
    const double sum[] = {0.75 + root[0], 0.75 + root[1], 10.78125};
    ts_graph *g = ts_graph_make();
    ts_tensor x = input(g, 3);
    CHECK(ts_function(g, "halved(x)", "let n = 0; while (x > 1, 20) x = x / 2, n = n + 1; x, n", NULL));
    CHECK(ts_function(g, "newton(x, r)", "while (abs(r*r - x) > 1e-15 * x, 300) r = (r + x / r) / 2; r", NULL));
    CHECK(ts_function(g, "both(x)", "halved(x) + newton(x, x)", NULL));
    ts_tensor h = ts_call1(g, "halved", x), one = ts_scalar(g, TS_F64, 1), r = ts_call2(g, "newton", x, one);
    holds(h, 3, at, half), holds(slope(g, h, x), 3, at, d);
    holds(ts_call2(g, "multiply", ts_output(g, h, 1), one), 3, at, steps);
    CHECK(!ts_output(g, h, 2) && !ts_graph_recover(g, &(ts_error){0}));
    holds(r, 3, at, root), holds(slope(g, r, x), 3, at, dr);
    holds(ts_call1(g, "both", x), 3, at, sum);
    /* so does a call in a text: 20 steps that are written out double the text each */
    ts_tensor f = ts_call2(g, "formula text=\"both(a) - newton(b, b)\"", x, x);
    holds(f, 3, at, half), holds(slope(g, f, x), 3, at, d);
    is_good(g);
}

/* What a choice does not take may be anything: neither its value nor its derivative gets through. */
static void test_guards(void)
{
    const double at[] = {-1, 0, 4}, want[] = {0, 0, 0.25}, stopped[] = {-1, 0, 4};
    ts_graph *g = ts_graph_make();
    ts_tensor x = input(g, 3);
    CHECK(ts_function(g, "root(x)", "let r = sqrt(x); x > 0 ? r : 0", NULL));
    CHECK(ts_function(g, "guarded(x)", "x > 0 ? root(x) * exp(0 / x) : 0.0", NULL));
    holds(slope(g, ts_call1(g, "root", x), x), 3, at, want);
    holds(slope(g, ts_call1(g, "guarded", x), x), 3, at, want);
    ts_tensor s = ts_call1(g, "stop", x);
    holds(s, 3, at, stopped);
    holds(ts_call2(g, "add", slope(g, s, x), x), 3, at, stopped); /* 0, and x */
    holds(slope(g, ts_call1(g, "formula text=\"a * stop(a)\"", x), x), 3, at, stopped);
    is_good(g);
}

static void test_text_form(void)
{
    ts_graph *g = ts_graph_make(), *h = ts_graph_make();
    ts_error e = {0};
    ts_tensor x = input(g, 3), back[2], all[2];
    int n = 0;
    CHECK(ts_function(g, "unused(x)", "x", NULL) && ts_function(g, "relu3(x)", relu3, NULL));
    CHECK(ts_function(g, "polar(x, y)", "sqrt(x*x + y*y), atan2(y, x)", "x/y, y/y, x, 0.5"));
    all[0] = slope(g, ts_call1(g, "relu3", x), x);
    all[1] = ts_output(g, ts_call2(g, "polar", x, x), 1);
    char *text = ts_print(2, all);
    CHECK(!strncmp(text, "function relu3(x) = \"x < 0", 26) && !strstr(text, "unused"));
    CHECK(ts_parse(h, text, 2, back, &n, &e) && n == 2);
    CHECK_TEXT(e.text, "");
    char *again = ts_print(2, back);
    CHECK_TEXT(again, text);
    const double at[] = {-1, 0.5, 2}, d[] = {0, 0.25, 1};
    holds(back[0], 3, at, d);
    ts_free(text), ts_free(again);
    ts_graph_free(h);
    is_good(g);
}

static void refused(const char *head, const char *text, const char *derivative, const char *want)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    CHECK(!ts_function(g, head, text, derivative) && !ts_graph_recover(g, &e));
    CHECK_TEXT(e.text, want);
    CHECK(ts_function(g, "fine(x)", "x", NULL));
    ts_graph_free(g);
}

static void refused_call(const char *head, const char *text, const char *call, const char *want)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    ts_tensor x = input(g, 3);
    CHECK(ts_function(g, head, text, NULL));
    CHECK(!ts_call1(g, call, x) && !ts_graph_recover(g, &e));
    CHECK_TEXT(e.text, want);
    ts_graph_free(g);
}

static void test_refusals(void)
{
    refused("relu3", "0", NULL, "function \"relu3\": expected a name and its parameters, as in \"relu3(x)\"");
    refused("Relu3(x)", "0", NULL, "function \"Relu3\": a name is of lower-case letters, digits and _");
    refused("f()", "0", NULL, "function f: it has 0 parameters, at least 1 expected");
    refused("f(x, x)", "0", NULL, "function f: parameter x stands there twice");
    refused("f(a,b,c,d,e)", "0", NULL, "function f: \"e\" is parameter 5, at most 4 expected");
    refused("f(x)", NULL, NULL, "function f: it has no text");
    refused("exp(x)", "x", NULL,
            "function exp: a function of the table has that name\n  hint: give one of them another name");
    refused("softmax(x)", "x", NULL,
            "function softmax: an operation has that name\n  hint: give one of them another name");
    refused("f(x)", "x +", NULL, "function f: expression \"x +\", column 4: a value expected");
    refused("f(x)", "x, y", NULL, "function f: expression \"x, y\", column 4: nothing is called \"y\", x expected");
    refused("f(x)", "g(x)", NULL,
            "function f: expression \"g(x)\", column 1: no function is called \"g\", one of the table or of the graph, "
            "or a dtype, expected");
    refused("f(x)", "x", "1, 2", "function f: derivative: expression \"1, 2\", column 2: end expected");
    refused("f(x)", "let t x; t", NULL, "function f: expression \"let t x; t\", column 7: '=' expected");
    refused(
        "f(x)", "while (x > 1) x = x / 2; x", NULL,
        "function f: expression \"while (x > 1) x = x / 2; x\", column 13: a number of steps from 1 to 1000 expected, "
        "as in while (x < 1, 20)");
    refused("f(x)", "let k = 0; while (k < 9, 5) k = k + 1; k", NULL,
            "function f: expression \"let k = 0; while (k < 9, 5) k = k + 1; k\", column 28: the condition still holds "
            "after the last step, more steps or a condition that ends expected");
    refused_call("f(x)", "f(x / 2) + 1", "f",
                 "f: function f: its calls are 200 deep and do not end\n  hint: a recursion ends by a choice that "
                 "numbers in the call decide: n == 0 ? ... : ...");
    refused_call(
        "f(n)", "n < 2 ? n : f(n - 1) + f(n - 2)", "formula text=\"a * f(60)\"",
        "formula: function f: its calls make more than 100000 others\n  hint: a recursion ends by a choice that "
        "numbers in the call decide: n == 0 ? ... : ...");
    refused_call("f(x)", "let r = x; while (r > 1, 40) r = r / 2 + r * x; r", "element dims=[3] text=\"f(a[i0]) + 1\"",
                 "element: its functions, written out, have 200001 parts or more, at most 200000 expected\n  hint: "
                 "take fewer steps, or call the "
                 "function as an operation of tensors, which becomes several");
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    CHECK(ts_function(g, "f(x)", "x", NULL) && !ts_function(g, "f(x)", "x * 2", NULL));
    CHECK(!ts_graph_recover(g, &e));
    CHECK_TEXT(e.text,
               "function f: the graph has another function of that name, another name or the same text expected");
    ts_graph_free(g);
}

int main(void)
{
    test_relu3();
    test_given_derivative();
    test_let_and_results();
    test_recursion_and_while();
    test_long_loops();
    test_guards();
    test_text_form();
    test_refusals();
    return check_done();
}
