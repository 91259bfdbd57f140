/* Inputs whose values decide shapes: read while a model is bound, and held to that value when it runs. */
/* ctest: fast */
#include "import/model.h"
#include "tests/check.h"
#include "tests/import/wire.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[160];

static ts_model *open_reshape(void)
{
    wire_model m;
    text file = {0};
    wire_begin(&m);
    wire_input(&m, "x f32 6");
    wire_input(&m, "shape i64 2");
    wire_output(&m, "y f32 *");
    wire_node(&m, "r", "Reshape x,shape y");
    wire_end(&m, &file);
    CHECK(file_save(path, text_str(&file), file.length, NULL));
    text_free(&file);
    return ts_model_open(path, NULL);
}

static void test_values(void)
{
    int64_t to[] = {3, 2}, other[] = {2, 3};
    float x[] = {1, 2, 3, 4, 5, 6};
    ts_array given[] = {{TS_F32, 1, {6}, x}, {TS_I64, 1, {2}, to}},
             no_value[] = {{TS_F32, 1, {6}, x}, {TS_I64, 1, {2}, NULL}};
    ts_error e = {0};
    ts_port p;
    ts_model *m = open_reshape();
    CHECK(!ts_model_bind(m, 0, NULL, no_value, &e) && e.code == TS_UNSUPPORTED);
    CHECK(strstr(e.text, "input 1 decides a shape but depends on values known only at run time") != NULL);
    e = (ts_error){0};
    CHECK(ts_model_bind(m, 0, NULL, given, &e) && ts_model_output(m, 0, &p) && p.rank == 2 && p.dim[0] == 3);
    to[0] = 1; /* the model has a copy of its own */
    ts_plan *plan = ts_plan_make(m, &(ts_options){.target = "interp"}, &e);
    const ts_array wrong = {TS_I64, 1, {2}, other}, right = {TS_I64, 1, {2}, (int64_t[]){3, 2}};
    CHECK(plan && ts_plan_set(plan, 0, &given[0], &e));
    x[5] = 7; /* nothing was derived from x: any value will do */
    CHECK(ts_plan_set(plan, 0, &given[0], &e) && ts_plan_set(plan, 1, &right, &e) && ts_plan_run(plan, &e));
    ts_array y;
    if (CHECK(ts_plan_get(plan, 0, &y, &e))) {
        CHECK(((float *)y.data)[5] == 7);
        ts_array_free(&y);
    }
    CHECK(!ts_plan_set(plan, 1, &wrong, &e) && e.code == TS_USAGE);
    CHECK(strstr(e.text, "input 1 has another value than the one from which shapes were derived") != NULL);
    ts_plan_free(plan);
    ts_model_free(m);
}

/* Entries of a table: which ones is data, whatever a binding was given. */
static void test_indices(void)
{
    wire_model m;
    text file = {0};
    ts_error e = {0};
    float table[] = {1, 2, 4, 8};
    int64_t one[] = {2}, two[] = {3};
    const ts_array given[] = {{TS_F32, 1, {4}, table}, {TS_I64, 1, {1}, one}}, other = {TS_I64, 1, {1}, two};
    wire_begin(&m);
    wire_input(&m, "table f32 4");
    wire_input(&m, "at i64 1");
    wire_output(&m, "y f32 *");
    wire_node(&m, "g", "Gather table,at y");
    wire_end(&m, &file);
    CHECK(file_save(path, text_str(&file), file.length, NULL));
    text_free(&file);
    ts_model *t = ts_model_open(path, &e);
    ts_plan *plan = t && ts_model_bind(t, 0, NULL, given, &e) ? ts_plan_make(t, &(ts_options){.target = "interp"}, &e)
                                                              : NULL;
    ts_array y = {0};
    if (!CHECK(plan && ts_plan_set(plan, 0, &given[0], &e) && ts_plan_set(plan, 1, &other, &e) &&
               ts_plan_run(plan, &e) && ts_plan_get(plan, 0, &y, &e) && ts_array_at(&y, 0) == 8))
        fprintf(stderr, "  said: %s\n", e.text);
    ts_array_free(&y);
    ts_plan_free(plan);
    ts_model_free(t);
}

/* What decides a shape may follow from as many elements as it likes, as long as that takes no time to speak of. */
static void test_far(int64_t length, int steps, const char *refused)
{
    wire_model m;
    text file = {0}, input = {0};
    ts_error e = {0};
    ts_port p;
    unsigned char *l = calloc((size_t)length, 1);
    const ts_array given[] = {{TS_U8, 1, {length}, l}};
    wire_begin(&m);
    text_add(&input, "l u8 %lld", (long long)length);
    wire_input(&m, text_str(&input));
    wire_output(&m, "y f32 *");
    for (int i = 0; i < steps; i++) {
        char spec[32];
        snprintf(spec, sizeof spec, i ? "Abs a%d a%d" : "Abs l a1", i, i + 1);
        wire_node(&m, "", spec);
    }
    text_free(&input);
    text_add(&input, "Cast a%d wide to=7", steps);
    wire_node(&m, "", text_str(&input));
    wire_node(&m, "", "ReduceMax wide n keepdims=1");
    wire_node(&m, "fill", "ConstantOfShape n y");
    wire_end(&m, &file);
    CHECK(file_save(path, text_str(&file), file.length, NULL));
    text_free(&file), text_free(&input);
    l[length - 1] = 7;
    ts_model *t = ts_model_open(path, &e);
    const bool ok = t && ts_model_bind(t, 0, NULL, given, &e);
    if (refused)
        CHECK(!ok && e.code == TS_UNSUPPORTED && strstr(e.text, refused) && !ts_model_waits(t));
    else
        CHECK(ok && ts_model_output(t, 0, &p) && p.rank == 1 && p.dim[0] == 7);
    if (!ok != (refused != NULL) || (refused && !strstr(e.text, refused)))
        fprintf(stderr, "  %lld, %d steps: %s\n", (long long)length, steps, e.text);
    ts_model_free(t);
    free(l);
}

int main(void)
{
    scratch folder = scratch_make();
    snprintf(path, sizeof path, "%s/model.onnx", folder.path);
    test_values();
    test_indices();
    test_far(17, 1, NULL);
    test_far(100000, 40, NULL);
    test_far(
        1 << 21, 8,
        "input 0 decides a shape but depends on values known only at run time: from the values given they follow by "
        "more than 16777216 elements that would have to be computed while the model is bound\n  hint: make an input of "
        "what decides, and give its value with --in, or raise --limit known=268435456");
    scratch_free(&folder);
    return check_done();
}
