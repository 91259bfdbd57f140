/* Operations that a program defines, as parts of a graph: what is refused, what is the same tensor, outputs, text. */
/* ctest: fast */
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <string.h>

static const int64_t dim[] = {2, 3};

static bool kernel(const ts_use *u, ts_error *e)
{
    (void)u, (void)e;
    return true;
}

static bool two_shapes(const ts_use *u, ts_error *e) /* f32 like operand 0, and its rows' numbers */
{
    (void)e;
    u->out[0] = u->in[0];
    u->out[1] = (ts_array){.dtype = u->user ? TS_I64 : u->in[0].dtype, .rank = 1, .dim = {u->in[0].dim[0]}};
    return true;
}

static void refused(ts_graph *g, bool done, const char *want)
{
    ts_error e = {0};
    CHECK(!done && !ts_graph_recover(g, &e));
    CHECK_TEXT(e.text, want);
}

static void refused_record(ts_operation o, const char *want)
{
    ts_graph *g = ts_graph_make();
    refused(g, ts_define(g, &o), want);
    ts_graph_free(g);
}

static void test_records(void)
{
    static const ts_operation text = {.name = "mine", .n_in = 1, .text = "a"};
    ts_operation o = {.name = "Mine-1", .n_in = 1, .kernel = kernel};
    refused_record(o, "define \"Mine-1\": a name is of lower-case letters, digits and _");
    o.name = NULL;
    refused_record(o, "define \"\": a name is of lower-case letters, digits and _");
    o.name = "softmax";
    refused_record(o, "define softmax: the table has an operation of that name\n  hint: give one of them another name");
    o.name = "result";
    refused_record(o, "define result: the table has an operation of that name\n  hint: give one of them another name");
    o.name = "mine", o.n_in = 11;
    refused_record(o, "define mine: n_in is 11, expected 0 to 10, or -1 for any number");
    o.n_in = 1, o.n_out = 9;
    refused_record(o, "define mine: n_out is 9, expected 1 to 8");
    o.n_out = 1, o.text = "a";
    refused_record(o, "define mine: it has both text and kernel; give one of them");
    o.text = NULL, o.kernel = NULL;
    refused_record(o, "define mine: it has neither text nor kernel; give one of them");
    o.kernel = kernel, o.n_in = 0;
    refused_record(o, "define mine: n_in is 0 and shape is NULL, one of them expected");
    o = text, o.n_in = 5;
    refused_record(o, "define mine: n_in is 5, text takes 1 to 4 operands");
    o = text, o.impure = true;
    refused_record(o,
                   "define mine: text says one output and its shape: n_out, shape, serial and impure are for kernels");
    o = text, o.text = "a + ";
    refused_record(o, "define mine: expression \"a + \", column 5: a value expected");
    o = text, o.text = "a + beta";
    refused_record(o, "define mine: expression \"a + beta\", column 5: nothing is called \"beta\", a expected");
    o = text, o.numbers = "beta=1 beta=2";
    refused_record(o, "define mine: numbers: \"beta\" stands there twice");
    o.numbers = "beta=1 b=2";
    refused_record(o, "define mine: numbers: \"b\" is an operand's name");
    o.numbers = "Beta";
    refused_record(o, "define mine: numbers: \"Beta\" is no name of lower-case letters, digits and _");
    o.numbers = "beta=one";
    refused_record(o, "define mine: numbers: beta=one has no number");
    o.numbers = "aa bb cc dd ee ff gg hh ii jj kk ll mm nn oo pp qq";
    refused_record(o, "define mine: numbers: qq is number 17, at most 16 expected");
}

/* The same again is no second definition; another one is refused; another graph knows nothing of it. */
static void test_names(void)
{
    ts_graph *g = ts_graph_make(), *h = ts_graph_make();
    ts_operation o = {.name = "scaled", .n_in = 1, .text = "a * by", .numbers = "by"}, p = o;
    p.text = "a / by";
    char numbers[] = "by";
    o.numbers = numbers;
    CHECK(ts_define(g, &o) && ts_define(g, &o));
    memset(numbers, 0, sizeof numbers); /* it was copied */
    refused(g, ts_define(g, &p),
            "define scaled: the graph has an operation of that name\n  hint: give one of them another name");
    ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), y = ts_call1(g, "scaled by=2", x);
    CHECK(y && y == ts_call1(g, "scaled by=2", x) && y != ts_call1(g, "scaled by=3", x));
    CHECK(y && !strcmp(ts_op_name(y), "scaled"));
    refused(g, ts_call1(g, "scaled", x), "scaled: attribute by is missing");
    refused(g, ts_call1(g, "scaled by=2 to=3", x), "scaled: no attribute \"to\"; it has: by");
    refused(g, ts_call2(g, "scaled by=2", x, x), "scaled: 2 operands given, takes 1");
    refused(h, ts_call1(h, "scaled by=2", ts_input(h, "x", TS_F32, 2, dim)),
            "no operation \"scaled\"; `tessera ops` lists them");
    ts_graph_free(g), ts_graph_free(h);
}

static bool fails(const ts_use *u, ts_error *e)
{
    if (u->user)
        snprintf(e->text, sizeof e->text, "rank %d, expected 3", u->in[0].rank);
    return false;
}

static bool forgets(const ts_use *u, ts_error *e)
{
    (void)u, (void)e;
    return true;
}

static bool negative(const ts_use *u, ts_error *e)
{
    (void)e;
    u->out[0] = u->in[0], u->out[0].dim[1] = -1;
    return true;
}

static void test_shapes(void)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), many[11];
    for (int i = 0; i < 11; i++)
        many[i] = x;
    CHECK(ts_define(g, &(ts_operation){.name = "deep", .n_in = 1, .shape = fails, .kernel = kernel, .user = g}));
    CHECK(ts_define(g, &(ts_operation){.name = "mute", .n_in = 1, .shape = fails, .kernel = kernel}));
    CHECK(ts_define(g, &(ts_operation){.name = "idle", .n_in = 1, .shape = forgets, .kernel = kernel}));
    CHECK(ts_define(g, &(ts_operation){.name = "minus_one", .n_in = 1, .shape = negative, .kernel = kernel}));
    CHECK(ts_define(g, &(ts_operation){.name = "anything", .n_in = -1, .kernel = kernel}));
    CHECK(ts_define(g, &(ts_operation){.name = "plain", .n_in = 1, .text = "2"}));
    refused(g, ts_call1(g, "deep", x), "deep: rank 2, expected 3");
    refused(g, ts_call1(g, "mute", x), "mute: its shape failed and gave no reason");
    refused(g, ts_call1(g, "idle", x), "idle: its shape says no dtype, or no rank in 0...8, of output 0");
    refused(g, ts_call1(g, "minus_one", x), "minus_one: output 0: dim[1] = -1 is negative");
    refused(g, ts_call(g, "anything", 0, NULL),
            "anything: 0 operands are given, at least 1 expected, of which outputs have the shape");
    refused(g, ts_call(g, "anything", 11, many), "anything: 11 operands given, takes at most 10");
    refused(g, ts_call1(g, "plain", x), "plain: its text uses no operand, one of a, b, ... expected");
    ts_tensor y = ts_call(g, "anything", 10, many);
    CHECK(y && ts_rank(y) == 2 && ts_shape(y)[1] == 3);
    ts_graph_free(g);
}

/* Outputs of one dtype and of two: numbered, found from each other, one tensor each. */
static void test_outputs(bool mixed)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const ts_operation o = {
        .name = "both", .n_in = 1, .n_out = 2, .shape = two_shapes, .kernel = kernel, .user = mixed ? g : NULL};
    CHECK(ts_define(g, &o));
    ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), a = ts_call1(g, "both", x), b = ts_output(g, a, 1);
    CHECK(a && b && a != b && ts_output(g, b, 0) == a && ts_output(g, b, 1) == b && ts_call1(g, "both", x) == a);
    CHECK(ts_index(a) == 0 && ts_index(b) == 1 && ts_origin(b) == a);
    CHECK(ts_type(a) == TS_F32 && ts_rank(a) == 2 && ts_shape(a)[0] == 2 && ts_shape(a)[1] == 3);
    CHECK(ts_type(b) == (mixed ? TS_I64 : TS_F32) && ts_rank(b) == 1 && ts_shape(b)[0] == 2);
    refused(g, ts_output(g, a, 2), "output 2 of both, which has 2");
    refused(g, ts_output(g, x, 1), "output 1 of input, which has 1");
    CHECK(ts_output(g, x, 0) == x);

    char *printed = ts_print(2, (ts_tensor[]){a, b});
    CHECK_TEXT(printed, mixed ? "n0 = input \"x\" : f32[2,3]\nn1 = both(n0) : u8[128]\n"
                                "n2 = result(n1) at=0 dims=[2,3] bytes=f32 : f32[2,3]\n"
                                "n3 = result(n1) at=64 dims=[2] bytes=i64 #1 : i64[2]\nreturn n2, n3\n"
                              : "n0 = input \"x\" : f32[2,3]\nn1 = both(n0) : f32[8]\n"
                                "n2 = result(n1) at=0 dims=[2,3] : f32[2,3]\n"
                                "n3 = result(n1) at=6 dims=[2] #1 : f32[2]\nreturn n2, n3\n");
    ts_tensor back[2];
    int n = 0;
    CHECK(ts_parse(g, printed, 2, back, &n, &e) && n == 2 && back[0] == a && back[1] == b);
    ts_graph *h = ts_graph_make();
    CHECK(!ts_parse(h, printed, 2, back, &n, &e));
    CHECK_TEXT(e.text, mixed ? "graph text, line 2: no operation is called \"both\", one of tessera ops expected at "
                               "\"(n0) : u8[128]\nn2 = \""
                             : "graph text, line 2: no operation is called \"both\", one of tessera ops expected at "
                               "\"(n0) : f32[8]\nn2 = r\"");
    e = (ts_error){0};
    ts_graph_free(h), h = ts_graph_make();
    CHECK(ts_define(h, &o) && ts_parse(h, printed, 2, back, &n, &e) && n == 2 && ts_index(back[1]) == 1);
    ts_free(printed);
    ts_graph_free(g), ts_graph_free(h);
}

/* What is packed is as good as any text that a person may write. */
static void test_results(void)
{
    static const struct {
        const char *call, *want;
    } rows[] = {{"result at=6 dims=[3]", "result: 3 from 6 on is beyond the 8 that there are"},
                {"result at=-1 dims=[3]", "result: 3 from -1 on is beyond the 8 that there are"},
                {"result at=0 dims=[3] bytes=f99",
                 "result: bytes: \"f99\" is not a dtype; known are f32, f64, f16, bf16, i64, i32, i16, i8, u64, u32, "
                 "u16, u8, bool, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1, i4, u4, i2, u2"},
                {"result at=0 dims=[3] bytes=i64", "result: takes outputs one after another, not f32 of rank 1"},
                {"result at=0 dims=[1,1,1,1,1,1,1,1,1]", "result: dims: rank 9 is not in 0...8"}};
    ts_graph *g = ts_graph_make();
    const int64_t flat = 8;
    ts_tensor x = ts_input(g, "x", TS_F32, 1, &flat);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refused(g, ts_call1(g, rows[i].call, x), rows[i].want);
    CHECK(ts_call1(g, "result at=2 dims=[2,3]", x));
    ts_graph_free(g);
}

/* Of an impure one no two calls are the same, and what stands in a text is the call that it was. */
static void test_impure(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    CHECK(ts_define(g, &(ts_operation){.name = "noise", .n_in = 1, .kernel = kernel, .impure = true}));
    CHECK(ts_define(g, &(ts_operation){.name = "clean", .n_in = 1, .kernel = kernel}));
    ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), a = ts_call1(g, "noise", x), b = ts_call1(g, "noise", x);
    CHECK(a && b && a != b && ts_call1(g, "clean", x) == ts_call1(g, "clean", x));
    char *printed = ts_print(1, &b);
    ts_tensor back;
    int n = 0;
    CHECK(ts_parse(g, printed, 1, &back, &n, &e) && back == b);
    ts_free(printed);
    /* nor is its value taken for known while a graph is built */
    ts_tensor known = ts_constant(g, NULL, &(ts_array){TS_F32, 2, {2, 3}, (float[6]){0}});
    ts_tensor few = ts_call1(g, "unique", ts_call1(g, "clean", known));
    CHECK(few && ts_shape(few)[0] == 1);
    refused(
        g, ts_call1(g, "unique", ts_call1(g, "noise", known)),
        "unique: nonzero: how many elements are not zero is the result's extent, but follows from values known only at "
        "run time");
    ts_graph_free(g);
}

int main(void)
{
    test_records();
    test_names();
    test_shapes();
    test_outputs(false);
    test_outputs(true);
    test_results();
    test_impure();
    return check_done();
}
