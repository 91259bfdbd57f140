/* Building graphs from outside: what a mistake leaves behind, what belongs to which graph, names of inputs, random
 * numbers without a seed, more operands than one kernel reads. */
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t two[] = {2}, three[] = {3};

static void refused(ts_graph *g, const char *want)
{
    ts_error e = {0};
    CHECK(!ts_graph_recover(g, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, want);
}

/* A mistake stops every builder until its reason is taken; what was there before is as good as new. */
static void test_recover(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 1, two);
    CHECK(ts_graph_recover(g, &e));
    CHECK(!ts_call1(g, "rleu", x) && !ts_call1(g, "relu", x) && !ts_graph_ok(g, &e));
    refused(g, "no operation \"rleu\"; `tessera ops` lists them");
    ts_tensor y = ts_call1(g, "relu", x);
    CHECK(y && ts_graph_ok(g, &e));
    CHECK(!ts_call2(g, "add", x, ts_input(g, "z", TS_F32, 1, three)));
    CHECK(!ts_graph_recover(g, NULL) && ts_call1(g, "relu", x) == y);
    ts_graph_free(g);
}

static void test_two_graphs(void)
{
    static const char hint[] =
        "\n  hint: make both in one graph; ts_print and ts_parse copy a tensor from one to another";
    char want[512];
    ts_graph *g = ts_graph_make(), *h = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 1, two), w = ts_input(h, "w", TS_F32, 1, two), out;
    ts_tensor y = ts_call1(h, "exp", w), sum = ts_call1(g, "sum", x);
    CHECK(!ts_call2(g, "add", x, w));
    snprintf(want, sizeof want, "add: input \"w\" f32[2] is a tensor of another graph than input \"x\" f32[2]%s", hint);
    refused(g, want);
    CHECK(!ts_call1(g, "exp", y));
    snprintf(want, sizeof want, "exp: exp f32[2] is a tensor of another graph%s", hint);
    refused(g, want);
    CHECK(!ts_chain_rule(g, 1, &sum, NULL, 1, &w, &out));
    snprintf(want, sizeof want, "gradient: input \"w\" f32[2] is a tensor of another graph%s", hint);
    refused(g, want);
    CHECK(!ts_replace(g, 1, &sum, 1, &x, &w, &out));
    snprintf(want, sizeof want, "replacing by: input \"w\" f32[2] is a tensor of another graph%s", hint);
    refused(g, want);
    CHECK(!ts_named(g, y, "y") && !*ts_name(y)); /* whose label would end with g */
    snprintf(want, sizeof want, "naming: exp f32[2] is a tensor of another graph%s", hint);
    refused(g, want);
    ts_error e = {0};
    CHECK(!ts_plan_of(g, 1, &y, 0, NULL, NULL, &e));
    snprintf(want, sizeof want, "plan: exp f32[2] is a tensor of another graph%s", hint);
    CHECK_TEXT(e.text, want);
    e = (ts_error){0};
    ts_array got[2];
    CHECK(!ts_eval(2, (const ts_tensor[]){sum, y}, 0, NULL, NULL, got, &e));
    CHECK_TEXT(e.text, "exp \"\" and sum \"\" are tensors of different graphs\n"
                       "  hint: evaluate those of each graph by a call of their own");
    ts_graph_free(g), ts_graph_free(h);
}

/* What is NULL or no dtype is refused as any other mistake is: what was there before is as good as new. */
static void test_missing(void)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 1, two), y = ts_call1(g, "sum", x), none = NULL, out[2];
    ts_update *update;
    ts_updates step;
    for (int i = 0; i < 3; i++) {
        const int number[] = {50, -1, TS_N_DTYPE};
        char want[64];
        CHECK(!ts_scalar(g, (ts_dtype)number[i], 1));
        snprintf(want, sizeof want, "data type number %d does not exist", number[i]);
        refused(g, want);
    }
    CHECK(!ts_input(g, "y", TS_F32, 1, NULL));
    refused(g, "the list of extents is missing: NULL was given");
    CHECK(!ts_weight(g, "y", TS_F32, 1, NULL, 0, 1, 1));
    refused(g, "the list of extents is missing: NULL was given");
    CHECK(!ts_constant(g, "y", NULL));
    refused(g, "the value of a constant is missing: NULL was given");
    CHECK(!ts_call(g, NULL, 1, &x));
    refused(g, "the operation to call is missing: NULL was given");
    CHECK(!ts_call(g, "concat", 2, NULL));
    refused(g, "the list of operands is missing: NULL was given");
    CHECK(!ts_call(g, "concat", -2000000, &x));
    refused(g, "concat: -2000000 operands, expected 0 or more");
    CHECK(!ts_named(g, y, NULL));
    refused(g, "the name of a tensor is missing: NULL was given");
    CHECK(!ts_define(g, NULL));
    refused(g, "the record to define is missing: NULL was given");
    CHECK(!ts_replace(g, 1, &y, 1, &none, &x, out));
    refused(g, "replacing: tensor 0 is missing");
    CHECK(!ts_replace(g, 1, &y, 1, &x, &none, out));
    refused(g, "replacing by: tensor 0 is missing");
    CHECK(ts_dropout(g, 1, &none, &(ts_dropout_options){.on = "*"}, out) == -1);
    refused(g, "dropout: tensor 0 is missing");
    CHECK(ts_dropout(g, 1, &y, NULL, out) == -1);
    refused(g, "what dropout is asked for is missing: NULL was given");
    CHECK(ts_batch_statistics(g, 1, &y, NULL, out, &update) == -1);
    refused(g, "what is asked of batch statistics is missing: NULL was given");
    CHECK(!ts_chain_rule(g, 1, &none, NULL, 1, &x, out) && !out[0]);
    refused(g, "gradient: tensor 0 is missing");
    CHECK(!ts_chain_rule(g, 1, &y, NULL, 1, &none, out));
    refused(g, "gradient: tensor 0 is missing");
    CHECK(!ts_pushforward(g, 1, &none, &x, 1, &y, out));
    refused(g, "tangent by: tensor 0 is missing");
    CHECK(!ts_pushforward(g, 1, &x, &none, 1, &y, out));
    refused(g, "tangent along: tensor 0 is missing");
    CHECK(!ts_batch(g, 1, &y, 1, &none, &x, out));
    refused(g, "batch for: tensor 0 is missing");
    CHECK(!ts_jacobian(g, y, NULL, NULL, NULL));
    refused(g, "jacobian: tensor 1 is missing");
    CHECK(!ts_lora_apply(g, 1, &none, 0, NULL, out));
    refused(g, "LoRA: tensor 0 is missing");
    CHECK(!ts_lora_apply(g, 1, &y, 1, &(ts_factors){.w = x}, out));
    refused(g, "LoRA's factors: tensor 1 is missing");
    CHECK(!ts_schedule(g, NULL, y));
    refused(g, "a schedule is missing: NULL was given");
    CHECK(!ts_schedule(g, &(ts_schedule_kind){0}, y));
    refused(g, "the name of a schedule is missing: NULL was given");
    CHECK(!ts_optimize(g, &(ts_optimizer){0}, 1, &x, &x, &step));
    refused(g, "the recipe of an optimizer is missing: NULL was given");
    CHECK(ts_call1(g, "sum", x) == y);
    ts_graph_free(g);
}

/* The same where the caller's error has the reason. */
static void test_missing_to_error(void)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 1, two), out;
    ts_steps steps;
    ts_array a;
    const ts_given unnamed = {0};
    int n;
    const char *want[] = {
        "source is NULL, the text of a graph expected",           "one place at a time: tensor 1 is missing",
        "an array of rank 1: the list of its extents is missing", "source of a function: its name is missing",
        "source of a function: value, jvp or vjp is missing",     "value 0 that is given has no name"};
    for (int i = 0; i < 6; i++) {
        ts_error e = {0};
        CHECK(!(i == 0   ? ts_parse(g, NULL, 1, &out, &n, &e)
                : i == 1 ? ts_advance(g, (ts_sequence){x, 0}, (ts_sequence){0}, &steps, &e)
                : i == 2 ? ts_array_make(&a, TS_F32, 1, NULL, &e)
                : i == 5 ? ts_eval(1, &x, 1, &unnamed, NULL, &a, &e)
                         : ts_function_source(g, i == 3 ? NULL : "gelu", i == 3 ? "value" : NULL, &e) != NULL));
        CHECK_TEXT(e.text, want[i]);
    }
    ts_graph_free(g);
}

static void test_one_name(void)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 1, two);
    CHECK(x && ts_input(g, "x", TS_F32, 1, two) == x);
    CHECK(!ts_input(g, "x", TS_F32, 1, three));
    refused(g, "input \"x\" is f32[2] already, and cannot be f32[3] too\n  hint: give one of them another name");
    CHECK(!ts_input(g, "x", TS_F64, 1, two));
    refused(g, "input \"x\" is f32[2] already, and cannot be f64[2] too\n  hint: give one of them another name");
    CHECK(ts_input(g, "y", TS_F64, 1, three) && ts_weight(g, "x", TS_F32, 1, three, 0, 1, 1));
    ts_graph_free(g);
}

/* No seed given: every call has numbers of its own, and a second graph made alike the same ones. */
static void test_unseeded(void)
{
    ts_array got[2][4];
    for (int k = 0; k < 2; k++) {
        ts_error e = {0};
        ts_graph *g = ts_graph_make();
        const ts_tensor y[] = {
            ts_call(g, "random_uniform shape=[40]", 0, NULL), ts_call(g, "random_uniform shape=[40]", 0, NULL),
            ts_call(g, "random_normal shape=[40]", 0, NULL), ts_call(g, "random_normal shape=[40]", 0, NULL)};
        CHECK(y[0] != y[1] && y[2] != y[3]);
        if (!CHECK(ts_eval(4, y, 0, NULL, &(ts_options){.target = "interp"}, got[k], &e)))
            exit(check_done());
        ts_graph_free(g);
    }
    CHECK(memcmp(got[0][0].data, got[0][1].data, 160) && memcmp(got[0][2].data, got[0][3].data, 160));
    for (int i = 0; i < 8; i++) {
        CHECK(!memcmp(got[0][i / 2].data, got[1][i / 2].data, 160));
    }
    for (int i = 0; i < 8; i++)
        ts_array_free(&got[i / 4][i % 4]);
}

enum { MANY = 70 };

/* y = concat(x0, ..., x69) and the gradient of sum(y * y): each operand's is twice itself. */
static void test_many(const char *target)
{
    ts_graph *g = ts_graph_make();
    ts_tensor x[MANY], y[MANY + 1];
    ts_given given[MANY];
    ts_array got[MANY + 1];
    char name[MANY][16];
    ts_error e = {0};
    for (int i = 0; i < MANY; i++) {
        snprintf(name[i], sizeof name[i], "x%d", i);
        x[i] = ts_input(g, name[i], TS_F32, 1, i % 2 ? two : three);
        given[i].name = name[i];
        CHECK(ts_array_make(&given[i].value, TS_F32, 1, i % 2 ? two : three, &e));
        ts_array_random(&given[i].value, (uint64_t)i, 0);
    }
    y[MANY] = ts_call(g, "concat", MANY, x);
    ts_tensor loss = y[MANY] ? ts_call1(g, "sum", ts_call2(g, "multiply", y[MANY], y[MANY])) : NULL;
    const ts_options o = {.target = target};
    if (!CHECK(ts_chain_rule(g, 1, &loss, NULL, MANY, x, y) && ts_eval(MANY + 1, y, MANY, given, &o, got, &e))) {
        ts_graph_recover(g, &e);
        fprintf(stderr, "  %s: %s\n", target, e.text);
        exit(check_done());
    }
    for (int64_t i = 0, at = 0; i < MANY; at += ts_array_count(&got[i]), i++)
        for (int64_t k = 0; k < ts_array_count(&got[i]); k++) {
            CHECK(ts_array_at(&got[MANY], at + k) == ts_array_at(&given[i].value, k));
            CHECK(ts_array_at(&got[i], k) == 2 * ts_array_at(&given[i].value, k));
        }
    for (int i = 0; i <= MANY; i++)
        ts_array_free(&got[i]);
    for (int i = 0; i < MANY; i++)
        ts_array_free(&given[i].value);
    x[MANY - 1] = ts_input(g, "matrix", TS_F32, 2, (const int64_t[]){2, 3});
    CHECK(!ts_call(g, "concat", MANY, x)); /* counted among all of them */
    refused(g, "concat: operand 70 is f32[2,3], the first is f32[3]: they differ beside axis 0");
    ts_graph_free(g);
}

int main(void)
{
    test_recover();
    test_two_graphs();
    test_missing();
    test_missing_to_error();
    test_one_name();
    test_unseeded();
    test_many("interp");
    test_many("c");
    return check_done();
}
