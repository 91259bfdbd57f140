/* line_test.c - lines of one operation as models: their ports, their values, and what is refused. */
/* ctest: fast */
#include "tessera.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static void test_ports(void)
{
    ts_error e = {0};
    ts_port p;
    ts_model *m = ts_model_open("gather f32[9,4] i64[2,3]<9 axis=0", &e);
    if (!CHECK(m && ts_model_bind(m, 0, NULL, NULL, &e)))
        fprintf(stderr, "  %s\n", e.text);
    CHECK(ts_model_inputs(m) == 2 && ts_model_outputs(m) == 1);
    CHECK(ts_model_input(m, 0, &p) && !strcmp(p.name, "x0") && p.dtype == TS_F32 && p.rank == 2 && p.dim[1] == 4);
    CHECK(ts_model_input(m, 1, &p) && p.dtype == TS_I64 && p.below == 9);
    CHECK(ts_model_output(m, 0, &p) && !strcmp(p.name, "y") && p.rank == 3 && p.dim[2] == 4);
    ts_model_free(m);
}

static void test_value(void) /* y = a b of 2 x 2 */
{
    float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, want[] = {19, 22, 43, 50};
    ts_error e = {0};
    ts_array y = {0};
    ts_model *m = ts_model_open("matmul f32[2,2] f32[2,2]", &e);
    CHECK(m && ts_model_bind(m, 0, NULL, NULL, &e));
    const ts_given given[] = {{"x0", {TS_F32, 2, {2, 2}, a}}, {"x1", {TS_F32, 2, {2, 2}, b}}};
    ts_tensor t = ts_model_tensor(m, 0);
    if (!CHECK(ts_eval(1, &t, 2, given, &(ts_options){.target = "interp"}, &y, &e)))
        fprintf(stderr, "  %s\n", e.text);
    for (int i = 0; i < 4; i++)
        CHECK(ts_array_at(&y, i) == want[i]);
    ts_array_free(&y);
    ts_model_free(m);
}

static void test_refused(void)
{
    static const struct row {
        const char *line, *text;
    } rows[] = {
        {"matmull f32[2,2] f32[2,2]",
         "there is no operation \"matmull\", with which \"matmull f32[2,2] f32[2,2]\" begins\n"
         "  hint: docs/gradients.md lists the operations"},
        {"matmul f32[2,2] f32[2,x]",
         "matmul: operand 1 is \"f32[2,x]\", expected a dtype with extents, as f32[2,3] or i64[4]<9"},
        {"relu f32[2", "relu: operand 0 is \"f32[2\", expected a dtype with extents, as f32[2,3] or i64[4]<9"},
        {"relu f32[-2]", "relu: operand 0 is \"f32[-2]\", expected a dtype with extents, as f32[2,3] or i64[4]<9"},
        {"relu f32[1,1,1,1,1,1,1,1,1]",
         "relu: operand 0 is \"f32[1,1,1,1,1,1,1,1,1]\", expected a dtype with extents, as f32[2,3] or i64[4]<9"},
        {"relu f32[2]?", "relu: operand 0 is \"f32[2]?\", expected a dtype with extents, as f32[2,3] or i64[4]<9"},
        {"relu f32[2]<0", "relu: operand 0 is \"f32[2]<0\", expected a dtype with extents, as f32[2,3] or i64[4]<9"},
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        ts_error e = {0};
        CHECK(!ts_model_open(rows[i].line, &e) && e.code == TS_USAGE);
        CHECK_TEXT(e.text, rows[i].text);
    }
}

static void test_operation_refuses(void)
{
    ts_error e = {0};
    ts_model *m = ts_model_open("matmul f32[2,3] f32[4,5]", &e);
    CHECK(m && !ts_model_bind(m, 0, NULL, NULL, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, "\"matmul f32[2,3] f32[4,5]\": matmul: inner extents 3 and 4 differ, equal ones expected");
    ts_model_free(m);
}

/* Whatever way it was spelled, a model of one operation has the name that its problem is printed as. */
static void test_name(void)
{
    static const char *const spelled[][2] = {
        {"matmul f32[02,3]  f32[4,5] ", "\"matmul f32[2,3] f32[4,5]\": "},
        {"concat f32[2,3] f32[4,5]  axis=0 ", "\"concat f32[2,3] f32[4,5] axis=0\": "},
    };
    for (int i = 0; i < 2; i++) {
        ts_error e = {0};
        ts_model *m = ts_model_open(spelled[i][0], &e);
        CHECK(m && !ts_model_bind(m, 0, NULL, NULL, &e));
        if (!CHECK(!strncmp(e.text, spelled[i][1], strlen(spelled[i][1]))))
            fprintf(stderr, "  %s\n", e.text);
        ts_model_free(m);
    }
}

int main(void)
{
    test_ports();
    test_value();
    test_refused();
    test_operation_refuses();
    test_name();
    return check_done();
}
