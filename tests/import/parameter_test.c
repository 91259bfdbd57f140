/* Parameters of graph/1: weights from a seed, whose extents their first use may say, and which values can replace. */
/* ctest: fast */
#include "import/model.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static scratch folder;
static char path[160];

/* y = relu(x w1 + b1) w2; `shape` of w2, `last` what the last step is */
static ts_model *network(const char *shape, const char *last, err *e)
{
    char *s = NULL;
    static const char file[] =
        "{ \"format\": \"graph/1\", \"opset\": { \"\": 17, \"tessera\": 1 },\n"
        "  \"dims\": { \"batch\": { \"default\": 8 } },\n"
        "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"batch\", 64] } ],\n"
        "  \"outputs\": [ { \"name\": \"y\" } ],\n  \"nodes\": [\n"
        "    { \"name\": \"w1\", \"op\": \"tessera.parameter\", \"in\": [], \"out\": [\"w1\"],\n"
        "      \"attr\": { \"shape\": [-1, 32], \"mean\": 1, \"scale\": 0.5, \"seed\": 1 } },\n"
        "    { \"name\": \"b1\", \"op\": \"tessera.parameter\", \"in\": [], \"out\": [\"b1\"], \"attr\": { \"shape\": "
        "[-1] } },\n"
        "    { \"name\": \"w2\", \"op\": \"tessera.parameter\", \"in\": [], \"out\": [\"w2\"], \"attr\": { \"shape\": "
        "%s } },\n"
        "    { \"op\": \"Einsum\", \"in\": [\"x\", \"w1\"], \"out\": [\"h\"], \"attr\": { \"equation\": \"bi,io->bo\" "
        "} },\n"
        "    { \"op\": \"Add\", \"in\": [\"h\", \"b1\"], \"out\": [\"m\"] },\n"
        "    { \"op\": \"Relu\", \"in\": [\"m\"], \"out\": [\"r\"] },\n"
        "    %s ] }\n";
    if (CHECK(asprintf(&s, file, shape, last) > 0))
        CHECK(file_save(path, s, strlen(s), NULL));
    free(s);
    return ts_model_open(path, e);
}

static const char product[] = "{ \"op\": \"MatMul\", \"in\": [\"r\", \"w2\"], \"out\": [\"y\"] }";

static ts_tensor leaf_of(ts_model *m, const char *name)
{
    ts_tensor y = ts_model_tensor(m, 0), all[8];
    const int n = ts_leaves(1, &y, NULL);
    CHECK(n <= 8 && ts_leaves(1, &y, all) == n);
    for (int i = 0; i < n; i++)
        if (!strcmp(ts_name(all[i]), name))
            return all[i];
    return NULL;
}

static void test_said(void)
{
    err e = {0};
    ts_model *m = network("[-1, 10]", product, &e);
    if (!CHECK(m && ts_model_bind(m, 0, NULL, NULL, &e))) {
        printf("  %s\n", e.text);
        return;
    }
    const ts_tensor w = leaf_of(m, "w1"), b = leaf_of(m, "b1"), last = leaf_of(m, "w2");
    ts_array value = {0};
    CHECK(w && ts_shape(w)[0] == 64 && ts_shape(w)[1] == 32 && b && ts_shape(b)[0] == 32);
    CHECK(last && ts_shape(last)[0] == 32 && ts_shape(last)[1] == 10);
    CHECK(ts_leaf_value(w, &value, &e));
    for (int64_t i = 0; i < ts_array_count(&value); i++)
        CHECK(ts_array_at(&value, i) >= 0.5 && ts_array_at(&value, i) < 1.5);
    ((float *)value.data)[5] = 7;
    CHECK(ts_model_put(m, "w1", &value, &e) && ts_model_bind(m, 0, NULL, NULL, &e));
    ts_array again = {0};
    if (CHECK(leaf_of(m, "w1") && ts_leaf_value(leaf_of(m, "w1"), &again, &e)))
        CHECK(!memcmp(again.data, value.data, 64 * 32 * sizeof(float)));
    ts_array_free(&value), ts_array_free(&again);
    ts_model_free(m);
}

static void test_refused(const char *shape, const char *last, const char *want)
{
    err e = {0};
    ts_model *m = network(shape, last, &e);
    CHECK(m && !ts_model_bind(m, 0, NULL, NULL, &e));
    const char *said = strstr(e.text, ": M024 ");
    CHECK_TEXT(said ? said + 2 : e.text, want);
    ts_model_free(m);
}

/* Gemm turns its operands before it multiplies: what it says of b is said of w2 as it lies, and of a as well. */
static void test_gemm(const char *shape, const char *how, int64_t rows, int64_t columns)
{
    err e = {0};
    char last[200];
    snprintf(last, sizeof last, "{ \"op\": \"Gemm\", \"in\": [%s], \"out\": [\"y\"], \"attr\": { %s } }",
             strstr(how, "transA") ? "\"w2\", \"r\"" : "\"r\", \"w2\"", how);
    ts_model *m = network(shape, last, &e);
    if (!CHECK(m && ts_model_bind(m, 0, NULL, NULL, &e)))
        printf("  %s\n", e.text);
    const ts_tensor w = m && ts_model_tensor(m, 0) ? leaf_of(m, "w2") : NULL;
    CHECK(w && ts_shape(w)[0] == rows && ts_shape(w)[1] == columns);
    ts_model_free(m);
}

static void test_line(void)
{
    err e = {0};
    ts_port p;
    ts_model *m = ts_model_open("einsum f32[32,64] f32[?,16] equation=ij,jk->ik", &e);
    CHECK(m && ts_model_bind(m, 0, NULL, NULL, &e) && ts_model_input(m, 1, &p) && p.dim[0] == 64 && p.dim[1] == 16);
    ts_model_free(m);
    m = ts_model_open("einsum f32[32,64] f32[?,?] equation=ij,jk->ik", &e);
    CHECK(!m || !ts_model_bind(m, 0, NULL, NULL, &e));
    CHECK(strstr(e.text, "nothing says how long axis 1 of input \"x1\" is"));
    ts_model_free(m);
}

int main(void)
{
    folder = scratch_make();
    snprintf(path, sizeof path, "%s/graph.json", folder.path);
    test_said();
    test_refused("[-1, -1]", product,
                 "M024 output \"y\": no call says how long weight \"w2\" f32[32,?] is\n  hint: write its extents where "
                 "it is made; else an einsum, product or pointwise operation that takes it says them");
    test_refused(
        "[-1, 10]", "{ \"op\": \"MatMul\", \"in\": [\"r\", \"w1\"], \"out\": [\"y\"] }",
        "M024 node[6] \"\" MatMul: matmul: inner extents 32 and 64 differ, equal ones expected\n  hint: weight "
        "\"w1\" is f32[64,32] since einsum equation=bi,io->bo of f32[8,64] \"x\", f32[?,32] \"w1\" took it");
    test_refused("[-1, 10]", "{ \"op\": \"Transpose\", \"in\": [\"w2\"], \"out\": [\"y\"] }",
                 "M024 output \"y\": no call says how long weight \"w2\" f32[?,10] is\n  hint: write its extents where "
                 "it is made; else an einsum, product or pointwise operation that takes it says them");
    test_refused("[-1, 10]", "{ \"op\": \"ReduceSum\", \"in\": [\"w2\"], \"out\": [\"y\"] }",
                 "M024 node[6] \"\" ReduceSum: ReduceSum: no call says how long weight \"w2\" f32[?,10] is\n  hint: "
                 "write its extents where it is made; else an einsum, product or pointwise operation that takes it "
                 "says them");
    test_refused("[-5, 10]", product, "M024 node[2] \"w2\" parameter: dim[0] = -5 is negative");
    test_gemm("[-1, 10]", "\"alpha\": 2.0", 32, 10);
    test_gemm("[10, -1]", "\"transB\": 1", 10, 32);
    test_gemm("[-1, 10]", "\"transA\": 1", 8, 10);
    test_gemm("[-1, 8]", "\"transA\": 1, \"transB\": 1", 32, 8);
    test_line();
    scratch_free(&folder);
    return check_done();
}
