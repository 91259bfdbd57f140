/* What the specification says of operators at their edges: element types, nothing to reduce, empty operands. */
#include "import/model.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *op;
    int opset, outputs;   /* the last one is looked at */
    const char *attr, *a; /* a: the operand's dtype, shape, data */
    dtype dtype;
    int rank;
    int64_t dim[3];
    double value[2];
} row;

static const row table[] = {
    {"ReduceMin", 17, 1, "", "\"u64\", \"shape\": [3], \"data\": [5, 4, 9]", TS_U64, 1, {1}, {4}},
    {"ArgMin", 17, 1, "", "\"u64\", \"shape\": [3], \"data\": [5, 4, 9]", TS_I64, 1, {1}, {1}},
    {"ReduceMin", 17, 1, "", "\"i64\", \"shape\": [0], \"data\": []", TS_I64, 1, {1}, {0x1p63}},
    {"ReduceL2",
     18,
     1,
     "\"noop_with_empty_axes\": 1",
     "\"f32\", \"shape\": [2], \"data\": [3, -4]",
     TS_F32,
     1,
     {2},
     {3, 4}},
    {"ReduceLogSum", 17, 1, "", "\"i32\", \"shape\": [2], \"data\": [20, 1]", TS_I32, 1, {1}, {3}},
    {"ReduceLogSumExp", 17, 1, "", "\"u32\", \"shape\": [2], \"data\": [9, 1]", TS_U32, 1, {1}, {9}},
    {"Erf", 17, 1, "", "\"i32\", \"shape\": [2], \"data\": [-9, 0]", TS_I32, 1, {2}, {-1, 0}},
    {"NonZero", 17, 1, "", "\"f32\", \"shape\": [], \"data\": [2]", TS_I64, 2, {0, 1}, {0}},
    {"NonZero", 17, 1, "", "\"f32\", \"shape\": [], \"data\": [0]", TS_I64, 2, {0, 0}, {0}},
    {"Cast", 5, 1, "\"to\": \"INT32\"", "\"f32\", \"shape\": [2], \"data\": [3.5, -4]", TS_I32, 1, {2}, {3, -4}},
    {"LayerNormalization", 17, 2, "", "\"f64\", \"shape\": [2], \"data\": [1, 3]", TS_F32, 1, {1}, {2}},
    /* the mean of two halves, which is none itself */
    {"LayerNormalization", 17, 2, "", "\"f16\", \"shape\": [2], \"data\": [2048, 2050]", TS_F32, 1, {1}, {2049}},
    /* ceil((4 - 2 + 1) / 3) places, in either mode */
    {"MaxPool",
     12,
     1,
     "\"kernel_shape\": [2], \"strides\": [3], \"auto_pad\": \"VALID\", \"ceil_mode\": 1",
     "\"f32\", \"shape\": [1, 1, 4], \"data\": [1, 2, 3, 4]",
     TS_F32,
     3,
     {1, 1, 1},
     {2}},
    {"LpPool",
     18,
     1,
     "\"kernel_shape\": [2], \"strides\": [3], \"auto_pad\": \"VALID\", \"ceil_mode\": 1, \"p\": 1",
     "\"f32\", \"shape\": [1, 1, 4], \"data\": [1, 2, 3, 4]",
     TS_F32,
     3,
     {1, 1, 1},
     {3}},
    {"Slice", 13, 1, "", "\"i64\", \"shape\": [3], \"data\": [7, 8, 9]", TS_I64, 1, {1}, {7}}, /* starts are clamped */
    {"ConvTranspose", /* one more than the stride, but less than the dilation */
     11,
     1,
     "\"strides\": [1], \"dilations\": [2], \"output_padding\": [1]",
     "\"f32\", \"shape\": [1, 1, 1], \"data\": [3]",
     TS_F32,
     3,
     {1, 1, 2},
     {9, 0}},
};

static const struct refusal {
    row row;
    const char *says;
} refused[] = {
    {{"ConvTranspose",
      11,
      1,
      "\"strides\": [2], \"output_padding\": [2]",
      "\"f32\", \"shape\": [1, 1, 2], \"data\": [1, 2]",
      TS_F32,
      3,
      {0},
      {0}},
     "ConvTranspose: output_padding is 2 along spatial axis 0, less than its stride 2 or dilation 1 is wanted"},
};

static const int backwards[] = {-9, -99, 0, -2}; /* of Slice: start, end, axis, step */
static char path[160];

static ts_model *open_row(const row *r, err *e)
{
    text t = {0};
    const bool twice = !strcmp(r->op, "LayerNormalization") || !strcmp(r->op, "ConvTranspose"),
               slice = !strcmp(r->op, "Slice");
    text_add(&t, "{ \"format\": \"graph/1\", \"name\": \"one\", \"opset\": { \"\": %d }, \"inputs\": [],\n", r->opset);
    text_add(&t, "\"outputs\": [ { \"name\": \"%s\" } ],\n", r->outputs > 1 ? "z" : "y");
    text_add(&t, "\"constants\": { \"a\": { \"dtype\": %s }", r->a);
    for (int i = 0; slice && i < 4; i++)
        text_add(&t, ", \"s%d\": { \"dtype\": \"i64\", \"shape\": [1], \"data\": [%d] }", i, backwards[i]);
    text_add(&t, " },\n");
    text_add(&t, "\"nodes\": [ { \"name\": \"n\", \"op\": \"%s\", \"in\": [\"a\"%s], \"out\": [\"y\"%s], ", r->op,
             twice   ? ", \"a\""
             : slice ? ", \"s0\", \"s1\", \"s2\", \"s3\""
                     : "",
             r->outputs > 1 ? ", \"z\"" : "");
    text_add(&t, "\"attr\": { %s } } ] }\n", r->attr);
    CHECK(file_save(path, text_str(&t), t.len, NULL));
    text_free(&t);
    return ts_model_open(path, e);
}

static void run_row(const row *r)
{
    err e = {0};
    ts_array got = {0};
    ts_model *m = open_row(r, &e);
    ts_plan *p = m && ts_model_bind(m, 0, NULL, NULL, &e)
                     ? ts_plan_make(m, &(ts_options){.target = "interp", .threads = 1}, &e)
                     : NULL;
    if (!CHECK(p && ts_plan_run(p, &e) && ts_plan_get(p, 0, &got, &e)))
        fprintf(stderr, "  %s: %s\n", r->op, e.text);
    else {
        bool same = got.dtype == r->dtype && got.rank == r->rank;
        for (int i = 0; same && i < r->rank; i++)
            same = got.dim[i] == r->dim[i];
        for (int64_t i = 0; same && i < ts_array_count(&got); i++)
            same = ts_array_at(&got, i) == r->value[i];
        if (!CHECK(same))
            fprintf(stderr, "  %s of %s: %s of rank %d, first %g\n", r->op, r->a, ts_dtype_name(got.dtype), got.rank,
                    ts_array_count(&got) ? ts_array_at(&got, 0) : 0);
    }
    ts_array_free(&got);
    ts_plan_free(p);
    ts_model_free(m);
}

static void refuse_row(const struct refusal *r)
{
    err e = {0};
    ts_model *m = open_row(&r->row, &e);
    if (!CHECK(m && !ts_model_bind(m, 0, NULL, NULL, &e) && e.code == TS_BAD_INPUT && strstr(e.text, r->says)))
        fprintf(stderr, "  said: %s\n  want: %s\n", e.text, r->says);
    ts_model_free(m);
}

int main(void)
{
    scratch folder = scratch_make();
    snprintf(path, sizeof path, "%s/one.json", folder.path);
    for (int i = 0; i < COUNT(table); i++)
        run_row(&table[i]);
    for (int i = 0; i < COUNT(refused); i++)
        refuse_row(&refused[i]);
    scratch_remove(&folder);
    return check_done();
}
