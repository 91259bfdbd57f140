/* ctest: Og
 * Operations that a program defines, run: kernels over one and several outputs of one dtype and two, on both targets,
 * with threads, and in plans of reference; text; what fails while it runs; what cannot leave the process. */
#include "graph/base/base.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tessera.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 37, COLUMNS = 11 };
static const int64_t dim[] = {ROWS, COLUMNS};
static const struct {
    const char *name;
    ts_options o;
} targets[] = {{"interp", {.target = "interp"}},
               {"c", {.target = "c", .threads = 1}},
               {"c with threads", {.target = "c", .threads = 3}},
               {"c as reference", {.target = "c", .threads = 3, .reference = true}}};

/* ---- operations ---- */
static bool moments_shape(const ts_use *u, ts_error *e)
{
    if (u->in[0].rank != 2 || u->in[0].dtype != TS_F32)
        return snprintf(e->text, sizeof e->text, "takes f32[n,m]"), false;
    for (int k = 0; k < u->n_out; k++)
        u->out[k] = (ts_array){.dtype = TS_F32, .rank = 1, .dim = {u->in[0].dim[0]}};
    return true;
}

/* mean and sum of squares times `by` of each row [n, m]: a part takes rows of its own */
static bool moments(const ts_use *u, ts_error *e)
{
    const int64_t n = u->in[0].dim[0], m = u->in[0].dim[1];
    const float *x = u->in[0].data;
    float *mean = u->out[0].data, *squares = u->out[1].data;
    (void)e;
    for (int64_t i = n * u->part / u->parts; i < n * (u->part + 1) / u->parts; i++) {
        double sum = 0, square = 0;
        for (int64_t j = 0; j < m; j++)
            sum += x[i * m + j], square += (double)x[i * m + j] * x[i * m + j];
        mean[i] = (float)(sum / (double)m), squares[i] = (float)(square * u->number[0]);
    }
    return true;
}

static bool top_shape(const ts_use *u, ts_error *e)
{
    (void)e;
    u->out[0] = u->out[1] = u->in[0], u->out[0].rank = u->out[1].rank = 1;
    u->out[1].dtype = TS_I64;
    u->out[2] = u->in[0], u->out[2].dtype = TS_BOOL;
    return true;
}

/* the largest of each row, its place, and which elements are it */
static bool top(const ts_use *u, ts_error *e)
{
    const int64_t n = u->in[0].dim[0], m = u->in[0].dim[1];
    const float *x = u->in[0].data;
    (void)e;
    for (int64_t i = n * u->part / u->parts; i < n * (u->part + 1) / u->parts; i++) {
        int64_t best = 0;
        for (int64_t j = 0; j < m; j++)
            best = x[i * m + j] > x[i * m + best] ? j : best;
        ((float *)u->out[0].data)[i] = x[i * m + best], ((int64_t *)u->out[1].data)[i] = best;
        for (int64_t j = 0; j < m; j++)
            ((bool *)u->out[2].data)[i * m + j] = x[i * m + j] == x[i * m + best];
    }
    return true;
}

static bool counter_shape(const ts_use *u, ts_error *e)
{
    (void)e;
    u->out[0] = (ts_array){.dtype = TS_I32, .rank = 1, .dim = {4}};
    return true;
}

static bool counter(const ts_use *u, ts_error *e) /* without operands: how often it was called */
{
    (void)e;
    const int value = 1 + atomic_fetch_add((atomic_int *)u->user, 1);
    for (int i = 0; i < 4; i++)
        ((int32_t *)u->out[0].data)[i] = u->parts == 1 ? value : -1;
    return true;
}

static bool times(const ts_use *u, ts_error *e) /* operand 0 times what user says */
{
    const int64_t n = ts_array_count(&u->in[0]);
    (void)e;
    for (int64_t i = n * u->part / u->parts; i < n * (u->part + 1) / u->parts; i++)
        ((float *)u->out[0].data)[i] = ((const float *)u->in[0].data)[i] * *(const float *)u->user;
    return true;
}

static bool minus(const ts_use *u, ts_error *e) /* a - b */
{
    const int64_t n = ts_array_count(&u->in[0]);
    (void)e;
    for (int64_t i = n * u->part / u->parts; i < n * (u->part + 1) / u->parts; i++)
        ((float *)u->out[0].data)[i] = ((const float *)u->in[0].data)[i] - ((const float *)u->in[1].data)[i];
    return true;
}

static bool narrow(const ts_use *u, ts_error *e) /* values of two bytes as they are */
{
    (void)e;
    memcpy(u->out[0].data, u->in[0].data, 2 * (size_t)ts_array_count(&u->in[0]));
    return true;
}

static bool fails(const ts_use *u, ts_error *e)
{
    if (u->user)
        snprintf(e->text, sizeof e->text, "row %d holds no number", u->part * 0 + 5);
    return false;
}

/* ---- helpers ---- */
static ts_array noise(ts_dtype d, int rank, const int64_t *extent)
{
    ts_array a;
    ts_error e = {0};
    CHECK(ts_array_make(&a, d, rank, extent, &e));
    ts_array_random(&a, 3, 0);
    return a;
}

/* got[i] is within `off` of want[i], whatever their dtypes, on every target. */
static void same(int n, const ts_tensor *got, const ts_tensor *want, const ts_given *given, double off)
{
    enum { MOST = 8 };
    ts_tensor all[2 * MOST];
    ts_array out[2 * MOST] = {{0}};
    for (int i = 0; i < n; i++)
        all[i] = got[i], all[n + i] = want[i];
    for (int t = 0; t < COUNT(targets); t++) {
        ts_error e = {0};
        if (!CHECK(ts_eval(2 * n, all, 1, given, &targets[t].o, out, &e))) {
            printf("  %s: %s\n", targets[t].name, e.text);
            continue;
        }
        for (int i = 0; i < n; i++) {
            const int64_t count = ts_array_count(&out[i]);
            CHECK(count == ts_array_count(&out[n + i]));
            for (int64_t k = 0; k < count; k++)
                if (!CHECK(fabs(ts_array_at(&out[i], k) - ts_array_at(&out[n + i], k)) <= off)) {
                    printf("  %s: output %d at %lld: %g, wanted %g\n", targets[t].name, i, (long long)k,
                           ts_array_at(&out[i], k), ts_array_at(&out[n + i], k));
                    break;
                }
        }
        for (int i = 0; i < 2 * n; i++)
            ts_array_free(&out[i]);
    }
}

static const ts_operation moments_op = {
    .name = "moments", .n_in = 1, .n_out = 2, .numbers = "by=1", .shape = moments_shape, .kernel = moments};
static const ts_operation top_op = {.name = "top", .n_in = 1, .n_out = 3, .shape = top_shape, .kernel = top};

/* ---- values ---- */
/* Operands that are computed, outputs that are computed with, and some that nobody needs. */
static void test_outputs(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    ts_array x = noise(TS_F32, 2, dim);
    CHECK(ts_define(g, &moments_op) && ts_define(g, &top_op));
    ts_tensor in = ts_input(g, "x", TS_F32, 2, dim), y = ts_call1(g, "exp", in);
    ts_tensor mean = ts_call1(g, "moments by=0.5", y), squares = ts_output(g, mean, 1);
    ts_tensor best = ts_call1(g, "top", y), place = ts_output(g, best, 1), which = ts_output(g, best, 2);
    ts_tensor half = ts_scalar(g, TS_F32, 0.5);
    const ts_tensor got[] = {mean,  ts_call1(g, "sqrt", squares),
                             best,  place,
                             which, ts_call2(g, "add", ts_output(g, ts_call1(g, "moments by=3", in), 1), best)};
    const ts_tensor want[] = {
        ts_call1(g, "mean axes=[1]", y),
        ts_call1(g, "sqrt", ts_call2(g, "multiply", ts_call1(g, "sum axes=[1]", ts_call2(g, "multiply", y, y)), half)),
        ts_call1(g, "max axes=[1]", y),
        ts_call1(g, "argmax axis=1", y),
        ts_call2(g, "equal", y, ts_call1(g, "max axes=[1] keepdims=1", y)),
        ts_call2(g, "add",
                 ts_call2(g, "multiply", ts_call1(g, "sum axes=[1]", ts_call2(g, "multiply", in, in)),
                          ts_scalar(g, TS_F32, 3)),
                 ts_call1(g, "max axes=[1]", y))};
    if (!CHECK(ts_graph_ok(g, &e)))
        printf("  %s\n", e.text);
    else
        same(COUNT(got), got, want, &(ts_given){"x", x}, 1e-4);
    ts_array_free(&x), ts_graph_free(g);
}

/* Operands: a weight, a constant, the same twice, halves; scalars and values without elements. */
static void test_operands(void)
{
    static float two = 2;
    static const int64_t none[] = {0, 3};
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    ts_array x = noise(TS_F32, 2, dim);
    CHECK(ts_define(g, &(ts_operation){.name = "minus", .n_in = 2, .kernel = minus}));
    CHECK(ts_define(g, &(ts_operation){.name = "times", .n_in = 1, .kernel = times, .user = &two}));
    CHECK(ts_define(g, &(ts_operation){.name = "narrow", .n_in = 1, .kernel = narrow}));
    ts_tensor in = ts_input(g, "x", TS_F32, 2, dim), w = ts_weight(g, "w", TS_F32, 2, dim, 0, 1, 7);
    ts_tensor c = ts_scalar(g, TS_F32, 3), half = ts_call1(g, "cast to=f16", in);
    ts_tensor turned = ts_call1(g, "transpose", ts_call1(g, "transpose", in));
    ts_tensor empty = ts_call1(g, "times", ts_constant(g, NULL, &(ts_array){TS_F32, 2, {0, 3}, &two}));
    const ts_tensor got[] = {ts_call2(g, "minus", in, w), ts_call2(g, "minus", in, in),     ts_call1(g, "times", c),
                             ts_call1(g, "narrow", half), ts_call2(g, "minus", turned, in), empty};
    const ts_tensor want[] = {
        ts_call2(g, "subtract", in, w),  ts_call2(g, "subtract", in, in),
        ts_scalar(g, TS_F32, 6),         half,
        ts_call2(g, "subtract", in, in), ts_constant(g, NULL, &(ts_array){TS_F32, 2, {0, 3}, &two})};
    CHECK(empty && ts_shape(empty)[0] == none[0]);
    if (!CHECK(ts_graph_ok(g, &e)))
        printf("  %s\n", e.text);
    else
        same(COUNT(got), got, want, &(ts_given){"x", x}, 1e-6);
    ts_array_free(&x), ts_graph_free(g);
}

/* As text it is one like those of the table: it fuses, and takes the dtype that it says. */
static void test_text(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    ts_array x = noise(TS_F32, 2, dim);
    CHECK(ts_define(g, &(ts_operation){.name = "bent", .n_in = 2, .numbers = "beta=2", .text = "a * exp(-beta * b)"}));
    CHECK(ts_define(g, &(ts_operation){.name = "below", .n_in = 2, .text = "a < b"}));
    ts_tensor in = ts_input(g, "x", TS_F32, 2, dim), one = ts_scalar(g, TS_F32, 1);
    ts_tensor y = ts_call2(g, "bent beta=0.5", in, one), z = ts_call2(g, "below", in, one);
    const ts_tensor got[] = {ts_call1(g, "relu", y), z};
    const ts_tensor want[] = {ts_call1(g, "relu", ts_call2(g, "multiply", in, ts_scalar(g, TS_F32, exp(-0.5)))),
                              ts_call2(g, "less", in, one)};
    CHECK(z && ts_type(z) == TS_BOOL && ts_type(y) == TS_F32);
    same(COUNT(got), got, want, &(ts_given){"x", x}, 1e-6);
    ts_plan *p = ts_plan_of(g, 1, got, 0, NULL, &(ts_options){.target = "c"}, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL;
    CHECK(json && strstr(json, "\"k0\"") && !strstr(json, "\"k1\""));
    ts_free(json), ts_plan_free(p);
    ts_array_free(&x), ts_graph_free(g);
}

/* What is impure is computed at every run and for every call, by one part where it says serial. */
static void test_impure(void)
{
    for (int t = 0; t < COUNT(targets); t++) {
        atomic_int calls = 0;
        ts_graph *g = ts_graph_make();
        ts_error e = {0};
        ts_array out[2] = {{0}};
        CHECK(ts_define(g, &(ts_operation){.name = "counter",
                                           .n_out = 1,
                                           .shape = counter_shape,
                                           .kernel = counter,
                                           .serial = true,
                                           .impure = true,
                                           .user = &calls}));
        const ts_tensor y[] = {ts_call(g, "counter", 0, NULL), ts_call(g, "counter", 0, NULL)};
        ts_plan *p = ts_plan_of(g, 2, y, 0, NULL, &targets[t].o, &e);
        CHECK(p && calls == 0 && ts_plan_run(p, &e) && ts_plan_run(p, &e) && calls == 4);
        CHECK(p && ts_plan_get(p, 0, &out[0], &e) && ts_plan_get(p, 1, &out[1], &e));
        CHECK(ts_array_at(&out[0], 3) + ts_array_at(&out[1], 3) == 3 + 4);
        if (e.code)
            printf("  %s: %s\n", targets[t].name, e.text);
        ts_array_free(&out[0]), ts_array_free(&out[1]);
        ts_plan_free(p), ts_graph_free(g);
    }
}

/* State: the kernel reads what a run left, and never finds its own results among its operands. */
static void test_state(void)
{
    static float two = 2;
    for (int t = 0; t < COUNT(targets); t++) {
        ts_graph *g = ts_graph_make();
        ts_error e = {0};
        ts_array x = noise(TS_F32, 2, dim), y = {0};
        CHECK(ts_define(g, &(ts_operation){.name = "times", .n_in = 1, .kernel = times, .user = &two}));
        ts_tensor in = ts_input(g, "x", TS_F32, 2, dim), next = ts_call1(g, "times", in);
        ts_tensor sum = ts_call1(g, "sum", in);
        ts_plan *p = ts_plan_of(g, 1, &sum, 1, &(ts_state){in, next}, &targets[t].o, &e);
        CHECK(p && ts_plan_set(p, 0, &x, &e));
        for (int i = 0; p && i < 3; i++)
            CHECK(ts_plan_run(p, &e));
        CHECK(p && ts_plan_value(p, 0, &y, &e) && ts_array_at(&y, 5) == 8 * ts_array_at(&x, 5));
        if (e.code)
            printf("  %s: %s\n", targets[t].name, e.text);
        ts_array_free(&x), ts_array_free(&y), ts_plan_free(p), ts_graph_free(g);
    }
}

/* Two graphs, one name, two functions; programs of the same text, alive at the same time. */
static void test_two_graphs(void)
{
    static float by[] = {2, 5};
    for (int t = 0; t < COUNT(targets); t++) {
        ts_graph *g[2];
        ts_plan *p[2];
        ts_error e = {0};
        ts_array x = noise(TS_F32, 2, dim), y = {0};
        for (int i = 0; i < 2; i++) {
            g[i] = ts_graph_make();
            CHECK(ts_define(g[i], &(ts_operation){.name = "times", .n_in = 1, .kernel = times, .user = &by[i]}));
            ts_tensor a = ts_call1(g[i], "times", ts_input(g[i], "x", TS_F32, 2, dim));
            p[i] = ts_plan_of(g[i], 1, &a, 0, NULL, &targets[t].o, &e);
            CHECK(p[i] && ts_plan_set(p[i], 0, &x, &e) && ts_plan_build(p[i], &e));
        }
        for (int i = 0; i < 2; i++) {
            CHECK(p[i] && ts_plan_run(p[i], &e) && ts_plan_get(p[i], 0, &y, &e));
            CHECK(y.data && ts_array_at(&y, 5) == (double)(by[i] * (float)ts_array_at(&x, 5)));
            ts_array_free(&y);
        }
        for (int i = 0; i < 2; i++)
            ts_plan_free(p[i]), ts_graph_free(g[i]);
        ts_array_free(&x);
    }
}

/* ---- failures ---- */
/* The reason with the place; the next run is as good as the first. */
static void test_failure(void)
{
    static float two = 2;
    for (int t = 0; t < COUNT(targets); t++) {
        bool named = true;
        for (int i = 0; i < 2; i++, named = false) {
            ts_graph *g = ts_graph_make();
            ts_error e = {0};
            ts_array x = noise(TS_F32, 2, dim);
            CHECK(
                ts_define(g, &(ts_operation){.name = "broken", .n_in = 1, .kernel = fails, .user = named ? g : NULL}));
            CHECK(ts_define(g, &(ts_operation){.name = "times", .n_in = 1, .kernel = times, .user = &two}));
            ts_tensor y = ts_call1(g, "broken", ts_input(g, "x", TS_F32, 2, dim));
            ts_tensor z = ts_call1(g, "times", named ? ts_named(g, y, "here") : y);
            ts_plan *p = ts_plan_of(g, 1, &z, 0, NULL, &targets[t].o, &e);
            CHECK(p && ts_plan_set(p, 0, &x, &e));
            for (int run = 0; p && run < 2; run++) {
                e = (ts_error){0};
                CHECK(!ts_plan_run(p, &e) && e.code == TS_FAILED);
                CHECK_TEXT(e.text, named ? "broken \"here\": row 5 holds no number"
                                         : "broken: its kernel failed and gave no reason");
            }
            ts_array_free(&x), ts_plan_free(p), ts_graph_free(g);
        }
    }
}

/* Kernel by kernel, as profiles are taken: the same values, and the same reason. */
static void test_kernels(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    ts_array x = noise(TS_F32, 2, dim), whole = {0}, parts = {0};
    ts_stray nan, infinite;
    CHECK(ts_define(g, &moments_op) && ts_define(g, &(ts_operation){.name = "broken", .n_in = 1, .kernel = fails}));
    ts_tensor in = ts_input(g, "x", TS_F32, 2, dim), y = ts_call1(g, "exp", ts_call1(g, "moments", in));
    ts_tensor bad = ts_call1(g, "broken", y);
    ts_plan *p = ts_plan_of(g, 1, &y, 0, NULL, &targets[2].o, &e),
            *q = ts_plan_of(g, 1, &bad, 0, NULL, &targets[2].o, &e);
    CHECK(p && ts_plan_set(p, 0, &x, &e) && ts_plan_run(p, &e) && ts_plan_get(p, 0, &whole, &e));
    CHECK(p && ts_plan_strays(p, &nan, &infinite, &e) && !nan.bad && !infinite.bad && ts_plan_get(p, 0, &parts, &e));
    CHECK(whole.data && parts.data && !memcmp(whole.data, parts.data, ROWS * sizeof(float)));
    CHECK(q && ts_plan_set(q, 0, &x, &e) && !ts_plan_strays(q, &nan, &infinite, &e));
    CHECK_TEXT(e.text, "broken: its kernel failed and gave no reason");
    ts_array_free(&x), ts_array_free(&whole), ts_array_free(&parts);
    ts_plan_free(p), ts_plan_free(q), ts_graph_free(g);
}

static void test_emit(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    scratch s = scratch_make();
    CHECK(ts_define(g, &moments_op));
    ts_tensor y = ts_named(g, ts_call1(g, "moments", ts_input(g, "x", TS_F32, 2, dim)), "mean");
    ts_plan *p = ts_plan_of(g, 1, &y, 0, NULL, NULL, &e);
    const char *path = scratch_in(&s, "out");
    CHECK(p && !ts_plan_emit(p, path, NULL, &e) && e.code == TS_UNSUPPORTED && scratch_count(&s) == 0);
    CHECK_TEXT(e.text, "moments \"mean\" is a function of this process, which a stand-alone program does not have\n"
                       "  hint: define it by text in place of a kernel, or compute it outside of what is emitted");
    ts_plan_free(p), scratch_free(&s), ts_graph_free(g);
}

/* ---- plans ---- */
static bool write_schema(const char *path, const char *op, const char *says)
{
    FILE *f = fopen(path, "w");
    const bool ok = f && fprintf(f,
                                 "{\"format\": \"tiling/1\", \"name\": \"own\", \"rules\": [{\"name\": \"mine\", "
                                 "\"match\": {\"op\": [\"%s\"]}, %s}]}",
                                 op, says) > 0;
    return f && !fclose(f) && ok;
}

/* Rules match the operation by its name, plans show it; another name is refused with the nearest one. */
static void test_rules(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    scratch s = scratch_make();
    char path[200], want[600];
    CHECK(ts_define(g, &(ts_operation){.name = "bent", .n_in = 1, .text = "a * exp(a)"}) && ts_define(g, &moments_op));
    ts_tensor in = ts_input(g, "x", TS_F32, 2, dim), y[] = {ts_call1(g, "bent", in), ts_call1(g, "moments", in)};
    snprintf(path, sizeof path, "%s/own.json", s.path);
    CHECK(write_schema(path, "bent", "\"loops\": [\"guess\"]"));
    ts_plan *p = ts_plan_of(g, 2, y, 0, NULL, &(ts_options){.target = "c", .schema = path}, &e);
    char *json = p ? ts_plan_json(p, &e) : NULL;
    CHECK(json && strstr(json, "\"mine\"") && strstr(json, "\"bent\"") && strstr(json, "\"moments\""));
    ts_free(json), ts_plan_free(p);
    CHECK(write_schema(path, "moment", "\"loops\": [\"guess\"]"));
    CHECK(!ts_plan_of(g, 2, y, 0, NULL, &(ts_options){.target = "c", .schema = path}, &e));
    snprintf(want, sizeof want,
             "%s:1:82 (/rules/0/match/op): no operation \"moment\"\n  hint: did you mean moments?\n"
             "  hint: tessera ops lists them",
             path);
    CHECK_TEXT(e.text, want);
    scratch_free(&s), ts_graph_free(g);
}

static bool counted(const ts_use *u, ts_error *e) /* operand 0 as it is */
{
    (void)e;
    atomic_fetch_add((atomic_int *)u->user, 1);
    memcpy(u->out[0].data, u->in[0].data, sizeof(float) * (size_t)ts_array_count(&u->in[0]));
    return true;
}

static bool passed_on(ts_graph *g, const ts_use *u, ts_error *e)
{
    (void)g, (void)e;
    u->dx[0] = u->dy[0];
    return true;
}

/* Checkpointing computes again in the backward pass what gives the same value again, and nothing else. */
static void test_recompute(bool impure)
{
    atomic_int calls = 0;
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    scratch s = scratch_make();
    ts_array x = noise(TS_F32, 2, dim);
    const char *path = scratch_in(&s, "own.json");
    CHECK(write_schema(path, "counted", "\"recompute\": true"));
    CHECK(ts_define(g, &(ts_operation){.name = "counted",
                                       .n_in = 1,
                                       .kernel = counted,
                                       .gradient = passed_on,
                                       .serial = true,
                                       .impure = impure,
                                       .user = &calls}));
    ts_tensor in = ts_input(g, "x", TS_F32, 2, dim), a = ts_call1(g, "counted", ts_call1(g, "exp", in)), grad;
    ts_tensor loss = ts_call1(g, "sum", ts_call1(g, "sin", a));
    CHECK(ts_chain_rule(g, 1, &loss, NULL, 1, &in, &grad));
    ts_plan *p = ts_plan_of(g, 2, (ts_tensor[]){loss, grad}, 0, NULL, &(ts_options){.target = "c", .schema = path}, &e);
    CHECK(p && ts_plan_set(p, 0, &x, &e) && ts_plan_run(p, &e));
    if (!CHECK(calls == (impure ? 1 : 2)))
        printf("  %d calls %s\n", calls, e.text);
    ts_array_free(&x), ts_plan_free(p), scratch_free(&s), ts_graph_free(g);
}

int main(void)
{
    test_outputs();
    test_operands();
    test_text();
    test_impure();
    test_state();
    test_two_graphs();
    test_failure();
    test_kernels();
    test_emit();
    test_rules();
    test_recompute(false);
    test_recompute(true);
    return check_done();
}
