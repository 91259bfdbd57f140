/* Graphs inside of steps, functions, sequences and optionals: gone once a model is bound, with what they compute
 * unchanged, and refused in clear words where they cannot be. */
#include "import/model.h"
#include "tests/check.h"
#include "tests/import/wire.h"
#include "tests/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char path[160];

static ts_model *open_text(text *file, err *e)
{
    *e = (err){0};
    CHECK(file_save(path, text_str(file), file->length, NULL));
    text_free(file);
    return ts_model_open(path, e);
}

static ts_model *open_model(wire_model *m, err *e)
{
    text file = {0};
    wire_end(m, &file);
    return open_text(&file, e);
}

static void said(const err *e, ts_code code, const char *part)
{
    CHECK(e->code == code);
    if (!CHECK(strstr(e->text, part)))
        fprintf(stderr, "  said: %s\n  want: %s\n", e->text, part);
}

/* Frees m. Outputs in order, of all elements together, on both targets. */
static void gives(ts_model *m, const ts_binding *b, int n, const double *want)
{
    static const char *const target[] = {"interp", "c"};
    err e = {0};
    if (!CHECK(m && ts_model_bind_values(m, b, &e)))
        fprintf(stderr, "  %s\n", e.text);
    for (int t = 0; m && !err_is(&e) && t < COUNT(target); t++) {
        int at = 0;
        ts_plan *p = ts_plan_make(m, &(ts_options){.target = target[t], .threads = 1}, &e);
        ts_port port;
        for (int i = 0; p && ts_model_input(m, i, &port); i++)
            CHECK(ts_plan_set(p, i, &b->value[port.whole].array, &e));
        if (!CHECK(p && ts_plan_run(p, &e)))
            fprintf(stderr, "  %s\n", e.text);
        for (int i = 0; !err_is(&e) && i < ts_model_outputs(m); i++) {
            ts_array got;
            if (!CHECK(ts_plan_get(p, i, &got, &e)))
                break;
            for (int64_t k = 0; k < ts_array_count(&got); k++, at++)
                if (!CHECK(at < n && ts_array_at(&got, k) == want[at]))
                    fprintf(stderr, "  %s, output %d: element %d is %g\n", target[t], i, (int)k, ts_array_at(&got, k));
            ts_array_free(&got);
        }
        CHECK(at == n);
        ts_plan_free(p);
    }
    ts_model_free(m);
}

static float x_data[] = {1, 2, 3};
static ts_value x_value(void)
{
    return (ts_value){.array = {TS_F32, 1, {3}, x_data}};
}

/* ---- If ---- */
static void make_branches(wire_model *m, wire_model *yes, wire_model *no, const char *no_node)
{
    wire_begin(m), wire_begin(yes), wire_begin(no);
    wire_input(m, "x f32 3");
    wire_input(m, "cond bool 1");
    wire_output(m, "y f32 *");
    wire_node(m, "square", "Mul x,x s"); /* taken by both branches from outside */
    wire_output(yes, "a f32 *");
    wire_node(yes, "double", "Add s,s a");
    wire_output(no, "b f32 *");
    wire_node(no, "other", no_node);
    wire_flow(m, "choose", "If cond y", 2, (const wire_graph[]){{"then_branch", yes}, {"else_branch", no}});
}

static void test_if(void)
{
    wire_model m, yes, no;
    unsigned char truth = 1;
    err e;
    ts_value in[] = {x_value(), {.array = {TS_BOOL, 1, {1}, &truth}}};
    make_branches(&m, &yes, &no, "ReduceSum s b keepdims=0");
    gives(open_model(&m, &e), &(ts_binding){.value = in}, 3, (const double[]){2, 8, 18});
    truth = 0;
    make_branches(&m, &yes, &no, "ReduceSum s b keepdims=0");
    gives(open_model(&m, &e), &(ts_binding){.value = in}, 1, (const double[]){14});
    in[1].array.data = NULL; /* decided at run time */
    make_branches(&m, &yes, &no, "ReduceSum s b keepdims=0");
    ts_model *opened = open_model(&m, &e);
    CHECK(!ts_model_bind_values(opened, &(ts_binding){.value = in}, &e));
    said(&e, TS_UNSUPPORTED,
         "If (opset 17, bool): a condition known only at run time decides between f32[3] and f32[]");
    ts_model_free(opened);
    make_branches(&m, &yes, &no, "Neg s b");
    opened = open_model(&m, &e);
    if (CHECK(ts_model_bind_values(opened, &(ts_binding){.value = in}, &e)))
        for (truth = 0; truth < 2; truth++) {
            ts_array got = {0};
            ts_plan *p = ts_plan_make(opened, &(ts_options){.target = "interp"}, &e);
            const ts_array cond = {TS_BOOL, 1, {1}, &truth};
            CHECK(ts_plan_set(p, 0, &in[0].array, &e) && ts_plan_set(p, 1, &cond, &e) && ts_plan_run(p, &e) &&
                  ts_plan_get(p, 0, &got, &e) && ts_array_at(&got, 2) == (truth ? 18 : -9));
            ts_array_free(&got);
            ts_plan_free(p);
        }
    ts_model_free(opened);
}

/* ---- Loop: s becomes s * 2 + x, gathered as it goes, until the condition or the count ends it ---- */
static void make_loop(wire_model *m, const char *condition)
{
    static wire_model inner;
    wire_begin(m), wire_begin(&inner);
    wire_input(m, "x f32 3");
    wire_input(m, "n i64");
    wire_output(m, "last f32 *");
    wire_output(m, "all f32 *");
    wire_tensor(m, "limit", 1, 0, NULL, (const float[]){8}, 4);
    wire_input(&inner, "i i64");
    wire_input(&inner, "go bool");
    wire_input(&inner, "s f32 *");
    wire_output(&inner, "on bool");
    wire_output(&inner, "t f32 *");
    wire_output(&inner, "t2 f32 *");
    wire_node(&inner, "twice", "Add s,s d");
    wire_node(&inner, "plus", "Add d,x t");
    wire_node(&inner, "copy", "Identity t t2");
    wire_node(&inner, "largest", "ReduceMax t top keepdims=0");
    wire_node(&inner, "below", condition);
    wire_flow(m, "loop", "Loop n,-,x last,all", 1, (const wire_graph[]){{"body", &inner}});
}

static void test_loop(void)
{
    wire_model m;
    int64_t n = 2;
    err e;
    ts_value in[] = {x_value(), {.array = {TS_I64, 0, {0}, &n}}};
    make_loop(&m, "Identity go on");
    gives(open_model(&m, &e), &(ts_binding){.value = in}, 9, (const double[]){7, 14, 21, 3, 6, 9, 7, 14, 21});
    n = 0; /* no trip: the type of what is gathered is known all the same */
    make_loop(&m, "Identity go on");
    ts_model *opened = open_model(&m, &e);
    ts_port p = {0};
    CHECK(ts_model_bind_values(opened, &(ts_binding){.value = in}, &e));
    CHECK(ts_model_output(opened, 1, &p) && p.rank == 2 && p.dim[0] == 0 && p.dim[1] == 3 && p.dtype == TS_F32);
    ts_model_free(opened);
    n = 100; /* 3 6 9, over the limit */
    make_loop(&m, "Less top,limit on");
    gives(open_model(&m, &e), &(ts_binding){.value = in}, 6, (const double[]){3, 6, 9, 3, 6, 9});
    n = 3000000;
    make_loop(&m, "Identity go on");
    opened = open_model(&m, &e);
    CHECK(!ts_model_bind_values(opened, &(ts_binding){.value = in}, &e));
    said(&e, TS_MEMORY, "more than 262144 steps when loops are unrolled");
    ts_model_free(opened);
    in[1].array.data = NULL;
    make_loop(&m, "Identity go on");
    opened = open_model(&m, &e);
    CHECK(!ts_model_bind_values(opened, &(ts_binding){.value = in}, &e));
    said(&e, TS_UNSUPPORTED,
         "Loop (opset 17, i64): the number of trips is known only at run time, and it gathers a result for every trip");
    ts_model_free(opened);
}

/* A loop that is bounded, whose end depends on the input, and that gathers nothing: its state stands still at the end.
 */
static void test_masked(void)
{
    wire_model m, inner;
    int64_t n = 5;
    err e;
    wire_begin(&m), wire_begin(&inner);
    wire_input(&m, "x f32 3");
    wire_output(&m, "last f32 *");
    wire_tensor(&m, "limit", 1, 0, NULL, (const float[]){10}, 4);
    wire_tensor(&m, "n", 7, 0, NULL, &n, 8);
    wire_input(&inner, "i i64");
    wire_input(&inner, "go bool");
    wire_input(&inner, "s f32 *");
    wire_output(&inner, "on bool");
    wire_output(&inner, "t f32 *");
    wire_node(&inner, "twice", "Add s,s t");
    wire_node(&inner, "largest", "ReduceMax t top keepdims=0");
    wire_node(&inner, "below", "Less top,limit on");
    wire_flow(&m, "loop", "Loop n,-,x last", 1, (const wire_graph[]){{"body", &inner}});
    ts_model *opened = open_model(&m, &e);
    ts_value shape = x_value();
    shape.array.data = NULL;
    CHECK(ts_model_bind_values(opened, &(ts_binding){.value = &shape}, &e));
    ts_plan *p = ts_plan_make(opened, &(ts_options){.target = "interp"}, &e);
    ts_array got = {0};
    CHECK(p && ts_plan_set(p, 0, &(ts_array){TS_F32, 1, {3}, x_data}, &e) && ts_plan_run(p, &e));
    CHECK(ts_plan_get(p, 0, &got, &e) && ts_array_at(&got, 0) == 4 && ts_array_at(&got, 2) == 12);
    ts_array_free(&got);
    ts_plan_free(p);
    ts_model_free(opened);
}

static double after(int trips, double x) /* s' = s / 2 + x, from x on */
{
    double s = x;
    for (int i = 0; i < trips; i++)
        s = s / 2 + x;
    return s;
}

/* How many trips is an input: one plan for every number, none among them. */
static void test_counted(const char *target, const char *condition, int64_t most)
{
    static const int64_t counts[] = {3, 0, 1, 40, -2};
    wire_model m, inner;
    err e;
    ts_value in[] = {x_value(), {.array = {TS_I64, 0, {0}, NULL}}};
    wire_begin(&m), wire_begin(&inner);
    wire_input(&m, "x f32 3");
    wire_input(&m, "n i64");
    wire_output(&m, "last f32 *");
    wire_tensor(&m, "limit", 7, 0, NULL, (const int64_t[]){17}, 8);
    wire_tensor(&m, "half", 1, 0, NULL, (const float[]){0.5F}, 4);
    wire_input(&inner, "i i64");
    wire_input(&inner, "go bool");
    wire_input(&inner, "s f32 *");
    wire_output(&inner, "on bool");
    wire_output(&inner, "t f32 *");
    wire_node(&inner, "less", "Mul s,half d");
    wire_node(&inner, "plus", "Add d,x t");
    wire_node(&inner, "below", condition);
    wire_flow(&m, "loop", "Loop n,-,x last", 1, (const wire_graph[]){{"body", &inner}});
    in[0].array.data = NULL;
    ts_model *opened = open_model(&m, &e);
    CHECK(ts_model_bind_values(opened, &(ts_binding){.value = in}, &e));
    ts_plan *p = ts_plan_make(opened, &(ts_options){.target = target, .threads = 1}, &e);
    for (int k = 0; k < COUNT(counts) && CHECK(p); k++) {
        int64_t n = counts[k];
        const int64_t trips = n < 0 ? 0 : n < most ? n : most;
        ts_array got = {0};
        CHECK(ts_plan_set(p, 0, &(ts_array){TS_F32, 1, {3}, x_data}, &e));
        CHECK(ts_plan_set(p, 1, &(ts_array){TS_I64, 0, {0}, &n}, &e) && ts_plan_run(p, &e));
        CHECK(ts_plan_get(p, 0, &got, &e));
        for (int i = 0; i < 3 && got.data; i++)
            if (!CHECK(fabs(ts_array_at(&got, i) - after((int)trips, x_data[i])) < 1e-6))
                fprintf(stderr, "  %s, %d trips: %g\n", target, (int)n, ts_array_at(&got, i));
        ts_array_free(&got);
    }
    ts_plan_free(p), ts_model_free(opened);
}

/* Many trips: a scan, of which nothing in the graph grows with them. s' = s / 2 + x, perhaps up to some trip */
static void make_many(wire_model *m, int64_t trips, const char *line, const char *condition)
{
    static wire_model inner;
    static int64_t n;
    n = trips;
    wire_begin(m), wire_begin(&inner);
    wire_input(m, "x f32 3");
    wire_output(m, "last f32 *");
    wire_tensor(m, "limit", 7, 0, NULL, (const int64_t[]){17}, 8);
    wire_tensor(m, "n", 7, 0, NULL, &n, 8);
    wire_tensor(m, "half", 1, 0, NULL, (const float[]){0.5F}, 4);
    wire_input(&inner, "i i64");
    wire_input(&inner, "go bool");
    wire_input(&inner, "s f32 *");
    wire_output(&inner, "on bool");
    wire_output(&inner, "t f32 *");
    wire_node(&inner, "less", "Mul s,half d");
    wire_node(&inner, "plus", "Add d,x t");
    wire_node(&inner, "below", condition);
    wire_flow(m, "loop", line, 1, (const wire_graph[]){{"body", &inner}});
}

static void check_many(int64_t trips, const char *condition, int made)
{
    wire_model m;
    err e;
    ts_port p = {0};
    ts_value shape = x_value();
    shape.array.data = NULL;
    make_many(&m, trips, "Loop n,-,x last", condition);
    ts_model *opened = open_model(&m, &e);
    CHECK(ts_model_bind_values(opened, &(ts_binding){.value = &shape}, &e));
    const ts_tensor last = ts_model_tensor(opened, 0);
    CHECK(ts_nodes(1, &last, NULL) < 12 && ts_model_output(opened, 0, &p));
    ts_plan *plan = ts_plan_make(opened, &(ts_options){.target = "interp"}, &e);
    ts_array got = {0};
    CHECK(plan && ts_plan_set(plan, 0, &(ts_array){TS_F32, 1, {3}, x_data}, &e) && ts_plan_run(plan, &e));
    CHECK(ts_plan_get(plan, 0, &got, &e));
    for (int i = 0; i < 3; i++)
        CHECK(fabs(ts_array_at(&got, i) - after(made, x_data[i])) < 1e-6);
    ts_array_free(&got);
    ts_plan_free(plan);
    ts_model_free(opened);
}

static void test_many(void)
{
    check_many(40, "Identity go on", 40);
    check_many(40, "Less i,limit on", 18); /* the trip of number 17 is the last one */
}

/* ---- Scan: running sums of rows, backwards ---- */
typedef struct sums {
    int opset;                          /* 0: the usual one */
    const char *x, *state, *row, *line; /* declarations, and the node */
    int rank;
    const int64_t *zero; /* shape of what it starts with */
    ts_array rows;
} sums;

static void check_sums(const sums *s)
{
    wire_model m, inner;
    err e;
    wire_begin(&m), wire_begin(&inner);
    m.opset = s->opset ? s->opset : m.opset;
    wire_input(&m, s->x);
    wire_tensor(&m, "zero", 1, s->rank, s->zero, (const float[]){0, 0}, 8);
    wire_output(&m, "last f32 *");
    wire_output(&m, "sums f32 *");
    wire_input(&inner, s->state);
    wire_input(&inner, s->row);
    wire_output(&inner, "t f32 *");
    wire_output(&inner, "u f32 *");
    wire_node(&inner, "add", "Add s,row t");
    wire_node(&inner, "copy", "Identity t u");
    wire_flow(&m, "scan", s->line, 1, (const wire_graph[]){{"body", &inner}});
    const ts_value in[] = {{.array = s->rows}};
    gives(open_model(&m, &e), &(ts_binding){.value = in}, 8, (const double[]){111, 222, 100, 110, 111, 200, 220, 222});
}

static void test_scan(void)
{
    float rows[] = {1, 2, 10, 20, 100, 200}, batch[] = {1, 10, 100, 2, 20, 200};
    check_sums(&(sums){0,
                       "x f32 3,2",
                       "s f32 2",
                       "row f32 2",
                       "Scan zero,x last,sums num_scan_inputs=1 scan_input_directions=[1] scan_output_axes=[1]",
                       1,
                       (const int64_t[]){2},
                       {TS_F32, 2, {3, 2}, rows}});
    /* In version 8 each entry of a batch by itself, and the directions have a name of their own. */
    check_sums(&(sums){8,
                       "x f32 2,3,1",
                       "s f32 1",
                       "row f32 1",
                       "Scan -,zero,x last,sums num_scan_inputs=1 directions=[1]",
                       2,
                       (const int64_t[]){2, 1},
                       {TS_F32, 3, {2, 3, 1}, batch}});
}

/* ---- functions ---- */
static void test_functions(void)
{
    wire_model m, twice, inner;
    text file = {0};
    err e;
    wire_begin(&m), wire_begin(&twice), wire_begin(&inner);
    wire_input(&m, "x f32 3");
    wire_output(&m, "y f32 *");
    wire_node(&m, "call", "local.Outer x y slope=0.5");
    wire_node(&twice, "again", "local.Inner a b k=@slope");
    wire_node(&twice, "sum", "Add a,b z");
    wire_node(&inner, "leak", "LeakyRelu n l alpha=@k");
    wire_node(&inner, "soft", "Neg l m");
    wire_node(&inner, "leak2", "LeakyRelu m o alpha=@k");
    wire_end(&m, &file);
    wire_function(&file, "local.Outer a z", &twice);
    wire_function(&file, "local.Inner n o", &inner);
    const ts_value in[] = {x_value()};
    gives(open_text(&file, &e), &(ts_binding){.value = in}, 3, (const double[]){0.5, 1, 1.5});
    wire_begin(&m), wire_begin(&inner); /* one that calls itself */
    wire_input(&m, "x f32 3");
    wire_output(&m, "y f32 *");
    wire_node(&m, "call", "local.Deep x y");
    wire_node(&inner, "deeper", "local.Deep n o");
    file = (text){0};
    wire_end(&m, &file);
    wire_function(&file, "local.Deep n o", &inner);
    ts_model *opened = open_text(&file, &e);
    CHECK(!ts_model_bind_values(opened, &(ts_binding){.value = in}, &e));
    said(&e, TS_BAD_INPUT, "M004 graphs and functions are nested 49 deep, at most 48 expected");
    ts_model_free(opened);
    wire_begin(&m), wire_begin(&inner); /* what is not supported further in is said with its place */
    wire_input(&m, "x f32 3");
    wire_output(&m, "y f32 *");
    wire_node(&m, "call", "local.Odd x y");
    wire_node(&inner, "what", "com.acme.Foo n o");
    file = (text){0};
    wire_end(&m, &file);
    wire_function(&file, "local.Odd n o", &inner);
    opened = open_text(&file, &e);
    CHECK(!ts_model_bind_values(opened, &(ts_binding){.value = in}, &e));
    said(&e, TS_UNSUPPORTED, "com.acme.Foo (opset 1, f32); in node[0] \"call\", node[0] \"what\"");
    ts_model_free(opened);
}

/* ---- sequences ---- */
static void test_sequences(void)
{
    wire_model m;
    err e;
    const ts_value in[] = {x_value()};
    wire_begin(&m);
    wire_input(&m, "x f32 3");
    wire_output(&m, "y f32 *");
    wire_output(&m, "n i64");
    wire_tensor(&m, "one", 7, 0, NULL, (const int64_t[]){1}, 8);
    wire_node(&m, "double", "Add x,x d");
    wire_node(&m, "make", "SequenceConstruct x,d s");
    wire_node(&m, "insert", "SequenceInsert s,d,one t");
    wire_node(&m, "erase", "SequenceErase t,- u");
    wire_node(&m, "length", "SequenceLength u n");
    wire_node(&m, "join", "ConcatFromSequence u y axis=0");
    gives(open_model(&m, &e), &(ts_binding){.value = in}, 7, (const double[]){1, 2, 3, 2, 4, 6, 2});
    wire_begin(&m); /* a sequence as output comes apart */
    wire_input(&m, "x f32 3");
    wire_output(&m, "s f32 *");
    wire_node(&m, "split", "SplitToSequence x s");
    ts_model *opened = open_model(&m, &e);
    ts_port p = {0};
    CHECK(ts_model_bind_values(opened, &(ts_binding){.value = in}, &e) && ts_model_outputs(opened) == 3);
    CHECK(ts_model_output(opened, 2, &p) && p.whole == 0 && p.rank == 1 && p.dim[0] == 1);
    CHECK_TEXT(p.name, "s[2]");
    ts_model_free(opened);
    wire_begin(&m);
    wire_input(&m, "x f32 3");
    wire_output(&m, "y f32 *");
    wire_tensor(&m, "two", 7, 0, NULL, (const int64_t[]){2}, 8);
    wire_node(&m, "make", "SequenceConstruct x,x s");
    wire_node(&m, "at", "SequenceAt s,two y");
    opened = open_model(&m, &e);
    CHECK(!ts_model_bind_values(opened, &(ts_binding){.value = in}, &e));
    said(&e, TS_BAD_INPUT, "M024 node[1] \"at\" SequenceAt: position 2 in a sequence of 2, expected to be within it");
    ts_model_free(opened);
}

int main(void)
{
    scratch folder = scratch_make();
    snprintf(path, sizeof path, "%s/model.onnx", folder.path);
    test_if();
    test_loop();
    test_masked();
    test_counted("interp", "Identity go on", 100), test_counted("c", "Identity go on", 100);
    test_counted("interp", "Less i,limit on", 18), test_counted("c", "Less i,limit on", 18);
    test_many();
    test_scan();
    test_functions();
    test_sequences();
    scratch_free(&folder);
    return check_done();
}
