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
     "ConvTranspose: output_padding is 2 along spatial axis 0, less than its stride 2 or dilation 1 expected"},
};

static char path[160];

#define THREE "\"i64\", \"shape\": [3], \"data\": [7, 8, 9]"
#define EMPTY "\"f32\", \"shape\": [0, 3, 0], \"data\": []"
#define SLICE(a, ...)                      \
    {                                      \
        "Slice", 13, 1, "", a, __VA_ARGS__ \
    }
#define RESHAPE(attr, ...)                                 \
    {                                                      \
        "Reshape", 14, 1, attr, EMPTY, TS_F32, __VA_ARGS__ \
    }

static const struct listed {
    row row;
    const char *lists, *says; /* further operands, lists of i64: "[0] [1,2]"; the refusal, or NULL */
} listed[] = {
    /* starts are clamped; so are ends, those of steps backwards too: the greatest number is the last element */
    {SLICE(THREE, TS_I64, 1, {1}, {7}), "[-9] [-99] [0] [-2]", NULL},
    {SLICE(THREE, TS_I64, 1, {0}, {0}), "[2] [9223372036854775807] [0] [-1]", NULL},
    {SLICE(THREE, TS_I64, 1, {0}, {0}), "[9] [2147483647] [0] [-2]", NULL},
    {SLICE(THREE, TS_I64, 1, {1}, {9}), "[2] [9223372036854775807] [0] [1]", NULL},
    {SLICE(EMPTY, TS_F32, 3, {0, 2, 0}, {0}), "[-9,9,-1] [9,-9,-2147483648] [0,1,2] [1,-2,-1]", NULL},
    {SLICE(EMPTY, TS_F32, 3, {0, 0, 0}, {0}), "[0,9] [0,9223372036854775807] [-3,1] [3,-2]", NULL},
    /* 0 keeps the extent of that axis, or is one; nothing is left over for -1 where the others' product is 0 */
    {RESHAPE("", 3, {0, 1, 3}, {0}), "[0,1,3]", NULL},
    {RESHAPE("", 2, {0, 3}, {0}), "[-1,3]", NULL},
    {RESHAPE("\"allowzero\": 1", 2, {5, 0}, {0}), "[5,0]", NULL},
    {RESHAPE("", 0, {0}, {0}), "[1,1,1,0]",
     "Reshape: shape[3] is 0, which keeps the extent of axis 3; the operand has 3 axes\n"
     "  hint: allowzero=1, from operator set 14 on, makes it an extent of 0"},
    {RESHAPE("", 0, {0}, {0}), "[0,-1]", "0 elements do not fit the shape [0,-1]"},
    {RESHAPE("\"allowzero\": 1", 0, {0}, {0}), "[-1,0]", "0 elements do not fit the shape [-1,0]"},
};

/* The lists as constants s0, s1, ..., and their names as operands. */
static void add_lists(text *constants, text *operands, const char *at)
{
    for (int i = 0; at && *at; i++) {
        const int n = (int)strcspn(at, "]") + 1;
        int count = 1;
        for (int k = 0; k < n; k++)
            count += at[k] == ',';
        text_add(constants, ", \"s%d\": { \"dtype\": \"i64\", \"shape\": [%d], \"data\": %.*s }", i, count, n, at);
        text_add(operands, ", \"s%d\"", i);
        at += n, at += *at == ' ';
    }
}

static ts_model *open_row(const row *r, const char *lists, err *e)
{
    text t = {0}, operands = {0};
    const bool twice = !strcmp(r->op, "LayerNormalization") || !strcmp(r->op, "ConvTranspose");
    text_add(&t, "{ \"format\": \"graph/1\", \"name\": \"one\", \"opset\": { \"\": %d }, \"inputs\": [],\n", r->opset);
    text_add(&t, "\"outputs\": [ { \"name\": \"%s\" } ],\n", r->outputs > 1 ? "z" : "y");
    text_add(&t, "\"constants\": { \"a\": { \"dtype\": %s }", r->a);
    add_lists(&t, &operands, lists);
    text_add(&t, " },\n");
    text_add(&t, "\"nodes\": [ { \"name\": \"n\", \"op\": \"%s\", \"in\": [\"a\"%s], \"out\": [\"y\"%s], ", r->op,
             twice ? ", \"a\"" : text_str(&operands), r->outputs > 1 ? ", \"z\"" : "");
    text_add(&t, "\"attr\": { %s } } ] }\n", r->attr);
    CHECK(file_save(path, text_str(&t), t.length, NULL));
    text_free(&t), text_free(&operands);
    return ts_model_open(path, e);
}

static void run_row(const row *r, const char *lists)
{
    err e = {0};
    ts_array got = {0};
    ts_model *m = open_row(r, lists, &e);
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

static void refuse_row(const row *r, const char *lists, const char *says)
{
    err e = {0};
    ts_model *m = open_row(r, lists, &e);
    if (!CHECK(m && !ts_model_bind(m, 0, NULL, NULL, &e) && e.code == TS_BAD_INPUT && strstr(e.text, says)))
        fprintf(stderr, "  said: %s\n  want: %s\n", e.text, says);
    ts_model_free(m);
}

int main(void)
{
    scratch folder = scratch_make();
    snprintf(path, sizeof path, "%s/one.json", folder.path);
    for (int i = 0; i < COUNT(table); i++)
        run_row(&table[i], NULL);
    for (int i = 0; i < COUNT(refused); i++)
        refuse_row(&refused[i].row, NULL, refused[i].says);
    for (int i = 0; i < COUNT(listed); i++)
        if (listed[i].says)
            refuse_row(&listed[i].row, listed[i].lists, listed[i].says);
        else
            run_row(&listed[i].row, listed[i].lists);
    scratch_free(&folder);
    return check_done();
}
