/* ctest: Og
 * Gradients of operations that a program defines: its own, of one and several outputs, asked for once a call; derived
 * from text; and what is refused. */
#include "graph/base/base.h"
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t dim[] = {5, 3};

/* ---- operations ---- */
typedef struct seen { /* by the gradient */
    int calls, n_dy;
    bool wrong;
} seen;

static bool pair_shape(const ts_use *u, ts_error *e)
{
    (void)e;
    u->out[0] = u->out[1] = u->in[0], u->out[1].rank = 1; /* x^2 [n, m], sum over m of x^3 [n] */
    u->out[2] = u->in[0], u->out[2].dtype = TS_BOOL;      /* x > 0 */
    return true;
}

static bool pair_kernel(const ts_use *u, ts_error *e)
{
    const int64_t n = u->in[0].dim[0], m = u->in[0].dim[1];
    const float *x = u->in[0].data;
    (void)e;
    for (int64_t i = n * u->part / u->parts; i < n * (u->part + 1) / u->parts; i++) {
        float sum = 0;
        for (int64_t j = i * m; j < (i + 1) * m; j++) {
            sum += x[j] * x[j] * x[j];
            ((float *)u->out[0].data)[j] = x[j] * x[j];
            if (u->n_out > 2)
                ((bool *)u->out[2].data)[j] = x[j] > 0;
        }
        ((float *)u->out[1].data)[i] = sum;
    }
    return true;
}

/* 2 x dy0 + 3 y0 dy1 */
static bool pair_gradient(ts_graph *g, const ts_use *u, ts_error *e)
{
    seen *s = u->user;
    (void)e;
    s->calls++;
    s->wrong = s->wrong || u->n_in != 1 || !u->dy[0] || !u->dy[1] || (u->n_out > 2 && u->dy[2]) ||
               ts_op_name(u->x[0]) == NULL || u->in[0].dim[0] != 5 || u->out[0].dim[1] != 3;
    ts_tensor wide = ts_call1(g, "expand_dims axes=[1]", u->dy[1]);
    ts_tensor first = ts_call2(g, "multiply", ts_call2(g, "multiply", u->x[0], ts_scalar(g, TS_F32, 2)), u->dy[0]);
    ts_tensor second = ts_call2(g, "multiply", ts_call2(g, "multiply", u->y[0], ts_scalar(g, TS_F32, 3)), wide);
    u->dx[0] = ts_call2(g, "add", first, second);
    return true;
}

static void define_pair(ts_graph *g, seen *s, bool mixed)
{
    CHECK(ts_define(g, &(ts_operation){.name = "pair",
                                       .n_in = 1,
                                       .n_out = mixed ? 3 : 2,
                                       .shape = pair_shape,
                                       .kernel = pair_kernel,
                                       .gradient = pair_gradient,
                                       .user = s}));
}

/* ---- values ---- */
/* The gradients of both losses by x are the same, on every target. */
static void same(ts_graph *g, ts_tensor x, const ts_tensor loss[2], double off)
{
    static const char *const targets[] = {"interp", "c"};
    ts_tensor grad[2];
    ts_array in, out[2] = {{0}};
    ts_error e = {0};
    const bool made = ts_chain_rule(g, 1, &loss[0], NULL, 1, &x, &grad[0]) &&
                      ts_chain_rule(g, 1, &loss[1], NULL, 1, &x, &grad[1]);
    if (!CHECK(made && ts_graph_ok(g, &e) && ts_array_make(&in, TS_F32, 2, dim, &e))) {
        ts_graph_ok(g, &e);
        printf("  %s\n", e.text);
        return;
    }
    ts_array_random(&in, 9, 0);
    for (int t = 0; t < COUNT(targets); t++) {
        if (!CHECK(ts_eval(2, grad, 1, &(ts_given){"x", in}, &(ts_options){.target = targets[t], .threads = 2}, out,
                           &e))) {
            printf("  %s: %s\n", targets[t], e.text);
            continue;
        }
        for (int64_t i = 0; i < ts_array_count(&in); i++)
            if (!CHECK(fabs(ts_array_at(&out[0], i) - ts_array_at(&out[1], i)) < off)) {
                printf("  %s at %lld: %g, wanted %g\n", targets[t], (long long)i, ts_array_at(&out[0], i),
                       ts_array_at(&out[1], i));
                break;
            }
        ts_array_free(&out[0]), ts_array_free(&out[1]);
    }
    ts_array_free(&in);
}

/* which: a set of the outputs that the loss reads */
static void test_outputs(int which, bool mixed)
{
    ts_graph *g = ts_graph_make();
    seen s = {0};
    define_pair(g, &s, mixed);
    ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), y = ts_call1(g, "sin", x);
    ts_tensor own = ts_call1(g, "pair", y), squares = ts_call2(g, "multiply", y, y);
    ts_tensor cubes = ts_call1(g, "sum axes=[1]", ts_call2(g, "multiply", squares, y));
    ts_tensor part[2][2] = {{own, ts_output(g, own, 1)}, {squares, cubes}}, loss[2];
    for (int i = 0; i < 2; i++) {
        ts_tensor a = ts_call1(g, "sum", ts_call2(g, "multiply", part[i][0], part[i][0]));
        ts_tensor b = ts_call1(g, "sum", ts_call1(g, "exp", part[i][1]));
        loss[i] = which == 1 ? a : which == 2 ? b : ts_call2(g, "add", a, b);
    }
    same(g, x, loss, 1e-4);
    CHECK(s.calls == 1 && !s.wrong);
    ts_graph_free(g);
}

/* Where a rewriting has put something between a call and its outputs, as mixed precision does. */
static void test_rewritten(void)
{
    ts_graph *g = ts_graph_make();
    seen s = {0};
    const int64_t w_dim[] = {3, 4};
    define_pair(g, &s, false);
    ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), w = ts_weight(g, "w", TS_F32, 2, w_dim, 0, 1, 3), narrow[2],
              loss[2];
    ts_tensor y[] = {ts_call2(g, "matmul", ts_call1(g, "pair", x), w),
                     ts_call2(g, "matmul", ts_call2(g, "multiply", x, x), w)};
    CHECK(ts_mixed_precision(g, 2, y, TS_F16, narrow) && narrow[0] != y[0]);
    for (int i = 0; i < 2; i++)
        loss[i] = ts_call1(g, "sum", ts_call1(g, "cast to=f32", narrow[i]));
    same(g, x, loss, 1e-2);
    CHECK(s.calls == 1 && !s.wrong);
    ts_graph_free(g);
}

static void test_text(void)
{
    ts_graph *g = ts_graph_make();
    CHECK(ts_define(g, &(ts_operation){.name = "bent", .n_in = 2, .numbers = "beta=2", .text = "a * exp(-beta * b)"}));
    ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), half = ts_scalar(g, TS_F32, 0.5);
    ts_tensor decay = ts_call1(g, "exp", ts_call2(g, "multiply", x, ts_scalar(g, TS_F32, -3)));
    const ts_tensor loss[] = {ts_call1(g, "sum", ts_call2(g, "bent beta=3", ts_call2(g, "multiply", x, half), x)),
                              ts_call1(g, "sum", ts_call2(g, "multiply", ts_call2(g, "multiply", x, half), decay))};
    same(g, x, loss, 1e-4);
    ts_graph_free(g);
}

static bool straight(ts_graph *g, const ts_use *u, ts_error *e) /* as if it were the identity */
{
    (void)g, (void)e;
    u->dx[0] = u->dy[0];
    return true;
}

/* A text with a gradient of its own: rounding that lets gradients through. Operand 1 gets nothing. */
static void test_straight(void)
{
    ts_graph *g = ts_graph_make();
    CHECK(ts_define(g,
                    &(ts_operation){.name = "rounded", .n_in = 2, .text = "floor(a + 0.5) * b", .gradient = straight}));
    ts_tensor x = ts_input(g, "x", TS_F32, 2, dim);
    ts_tensor y = ts_call2(g, "multiply", x, x);
    const ts_tensor loss[] = {ts_call1(g, "sum", ts_call2(g, "rounded", y, x)), ts_call1(g, "sum", y)};
    same(g, x, loss, 1e-4);
    ts_graph_free(g);
}

/* ---- refusals ---- */
static bool unable(ts_graph *g, const ts_use *u, ts_error *e)
{
    (void)g, (void)u;
    snprintf(e->text, sizeof e->text, "only once");
    return false;
}

static bool wrong_shape(ts_graph *g, const ts_use *u, ts_error *e)
{
    (void)e;
    u->dx[0] = ts_call1(g, "sum axes=[1]", u->dy[0]);
    return true;
}

static bool mistaken(ts_graph *g, const ts_use *u, ts_error *e)
{
    (void)e;
    u->dx[0] = ts_call1(g, "no_such", u->dy[0]);
    return u->dx[0] != NULL;
}

static bool copy(const ts_use *u, ts_error *e)
{
    (void)e;
    memcpy(u->out[0].data, u->in[0].data, sizeof(float) * (size_t)ts_array_count(&u->in[0]));
    return true;
}

static void test_refusals(void)
{
    static const struct {
        bool (*gradient)(ts_graph *g, const ts_use *u, ts_error *e);
        ts_code code;
        const char *want;
    } rows[] = {{NULL, TS_UNSUPPORTED,
                 "gradient of own: kernel own has none of its own\n  hint: give its ts_operation a gradient"},
                {unable, TS_FAILED, "gradient of own: only once"},
                {wrong_shape, TS_BAD_INPUT, "gradient of own: operand 0 is f32[5,3], its gradient was given as f32[5]"},
                {mistaken, TS_BAD_INPUT, "gradient of own: no operation \"no_such\"; `tessera ops` lists them"}};
    for (int i = 0; i < COUNT(rows); i++) {
        ts_graph *g = ts_graph_make();
        ts_error e = {0};
        CHECK(ts_define(g, &(ts_operation){.name = "own", .n_in = 1, .kernel = copy, .gradient = rows[i].gradient}));
        ts_tensor x = ts_input(g, "x", TS_F32, 2, dim), y = ts_call1(g, "sum", ts_call1(g, "own", x)), grad;
        CHECK(!ts_chain_rule(g, 1, &y, NULL, 1, &x, &grad) && !ts_graph_recover(g, &e) && e.code == rows[i].code);
        CHECK_TEXT(e.text, rows[i].want);
        ts_tensor other = ts_input(g, "z", TS_F32, 2, dim), sum = ts_call1(g, "sum", other); /* off the way */
        CHECK(ts_chain_rule(g, 1, (ts_tensor[]){ts_call2(g, "add", y, sum)}, NULL, 1, &other, &grad));
        ts_graph_free(g);
    }
}

int main(void)
{
    for (int mixed = 0; mixed < 2; mixed++)
        for (int which = 1; which <= 3; which++)
            test_outputs(which, mixed);
    test_rewritten();
    test_text();
    test_straight();
    test_refusals();
    return check_done();
}
